"""A place to compute: workers, and a folder that all of them see."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from coterie.engines.base import FAN, Block, Engine, tree_sum
from coterie.engines.disk import DiskEngine, read_block
from coterie.engines.executors import Workers, ordered, workers_of
from coterie.engines.journal import Journal
from coterie.engines.sharing import Shared
from coterie.engines.threads import ordered_map, usable_threads
from coterie.engines.values import read_value, write_value
from coterie.errors import InputError
from coterie.progress import counted
from coterie.storage.files import faults_reported

S = TypeVar("S")
T = TypeVar("T")


class Cluster:
    """Workers and a folder that all of them see, where large collections are counted and learned from.

    Parameters
    ----------
    workers
        A `distributed.Client`, any `concurrent.futures.Executor`, or None for threads of this process.
    folder
        An existing folder, the same path on all machines. Blocks of counts, and whatever else has the size
        of the collection, are written there, and nothing of that size passes through this process.
    threads
        Number of threads where `workers` is None; by default as many as there are cores.
    journal
        Whether the results of each pass stay in the folder, so that work which was stopped goes on from the
        last one.
    memory
        Bytes that a fit may take in this process, and in each worker. One that needs more is refused once its
        terms are counted.

    >>> import tempfile
    >>> cluster = Cluster(folder=tempfile.mkdtemp())
    >>> list(cluster.run(lambda number: number**2, [1, 2, 3]))
    [1, 4, 9]
    """

    def __init__(
        self,
        workers: Any = None,
        *,
        folder: str | Path,
        threads: int | None = None,
        journal: bool = False,
        memory: int | None = None,
    ):
        self.folder = Path(folder).absolute()
        if not self.folder.is_dir():
            raise InputError(f"the folder of a cluster must exist, and all workers must see it: {folder}")
        self.workers: Workers | None = None if workers is None else workers_of(workers)
        if self.workers is not None and self.workers.in_process:
            threads, self.workers = threads or self.workers.n_workers(), None
        self.threads = usable_threads(threads)
        self.journal, self.memory = journal, memory
        self._in_use: list[tuple[Path, ...]] = []

    def run(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """`map(function, items)` on the workers: same results, same order, a few items ahead."""
        if self.workers is None:
            return ordered_map(function, items, self.threads)
        return self._sent(self.workers, function, items)

    def _sent(self, workers: Workers, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        shared = Shared(function, self.inside("shared"))
        self._in_use.append(shared.files)
        yield from ordered(workers, shared, items)
        # arrays that the last passes did not need are not needed any more
        for path in {path for files in self._in_use[:-2] for path in files}.difference(*self._in_use[-2:]):
            path.unlink(missing_ok=True)
        del self._in_use[:-2]

    def run_once(self, name: str, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """As `run`, but with a journal what was done before is not done again.

        Results are plain numbers and arrays; each has a file, called by `name` and its number.
        """
        if not self.journal:
            return self.run(function, items)
        return self.run(_Once(function, self.inside("tasks"), name), enumerate(items))

    def inside(self, name: str) -> Path:
        """A folder of that name inside the folder, made where it is missing."""
        path = self.folder / name
        with faults_reported(path):
            path.mkdir(exist_ok=True)  # but not the folder itself, if that is gone
        return path

    def clear(self) -> None:
        """Forget what was counted, to count in another way; texts stay."""
        for name in ("tasks", "corpus", "blocks", "passes-blocks"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def engine(self, blocks: Path) -> Engine:
        """The row blocks in a folder, which is inside of this one, as an engine."""
        engine = DiskEngine(blocks, self.threads) if self.workers is None else SharedBlocks(blocks, self)
        engine.keeps_records = self.journal
        return Journal(engine, self.inside(f"passes-{blocks.name}")) if self.journal else engine

    def __reduce__(self) -> Any:
        raise TypeError("a cluster stays where it is: a task must not use it")


class SharedBlocks(DiskEngine):
    """Row blocks that are read and processed by the workers of a cluster."""

    def __init__(self, blocks: Path, cluster: Cluster):
        super().__init__(blocks, 1)
        self._cluster = cluster
        self._sums = itertools.count()

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block, in order; results travel, so they should be small."""
        return self._cluster.run(self._on_blocks(function), range(len(self.starts)))

    def sum(self, function: Callable[[Block], T], stage: str = "") -> T:
        """Add up along the tree: workers add what they have read, then what others have written."""
        with self._room() as folder:
            numbers = range(len(self.starts))
            fold = _Fold(self._on_blocks(function), folder)
            groups = _groups(numbers)
            names = list(counted(self._cluster.run(fold, groups), stage, len(groups), "groups of blocks"))
            while len(names) > 1:
                names = list(self._cluster.run(_add_files, _groups(names)))
            return read_value(names[0])

    def _on_blocks(self, function: Callable[[Block], T]) -> _OnBlock:
        return _OnBlock(function, self.folder, tuple(self.starts), self.n_terms)

    @contextmanager
    def _room(self) -> Iterator[Path]:
        folder = self._cluster.inside(f"sum-{self.folder.name}-{next(self._sums):04d}")
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Once:
    """A function whose results are kept in files."""

    function: Callable[[Any], Any]
    folder: Path
    name: str

    def __call__(self, task: tuple[int, Any]) -> Any:
        number, item = task
        path = self.folder / f"{self.name}-{number:06d}"
        if path.exists():
            return read_value(path)
        result = self.function(item)
        write_value(path, result)
        return result


@dataclass(frozen=True, slots=True)
class _OnBlock:
    """A function of blocks as a function of their numbers."""

    function: Callable[[Block], Any]
    folder: Path
    starts: tuple[int, ...]
    n_terms: int

    def __call__(self, number: int) -> Any:
        return self.function(read_block(self.folder, number, self.starts[number], self.n_terms))


@dataclass(frozen=True, slots=True)
class _Fold:
    """Adds up what a function gives for neighbouring blocks, and writes the sum to a file."""

    function: _OnBlock
    folder: Path

    def __call__(self, numbers: Sequence[int]) -> Path:
        path = self.folder / f"0-{numbers[0]:06d}"
        write_value(path, tree_sum(map(self.function, numbers)))
        return path


def _add_files(paths: Sequence[Path]) -> Path:
    """Add up the sums in neighbouring files."""
    level, first = paths[0].name.split("-")
    path = paths[0].with_name(f"{int(level) + 1}-{first}")
    write_value(path, tree_sum(map(read_value, paths)))
    return path


def _groups(items: Sequence[S]) -> list[Sequence[S]]:
    return [items[start : start + FAN] for start in range(0, len(items), FAN)]
