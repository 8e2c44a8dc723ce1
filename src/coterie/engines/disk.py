"""Row blocks on disk; only the blocks being processed are in memory."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from coterie.engines.base import Block, Engine, csr_view
from coterie.engines.records import FileRecords, Records
from coterie.engines.threads import ordered_map, usable_threads
from coterie.engines.values import save_array, whole
from coterie.errors import InputError

T = TypeVar("T")

_INDEX = "blocks.json"


class DiskEngine(Engine):
    """Blocks in a folder, written by `write_blocks`, read again in every pass."""

    #: Whether records stay in the folder after this object is gone.
    keeps_records = False

    def __init__(self, folder: str | Path, threads: int | None = None):
        self.folder = Path(folder)
        try:
            index = json.loads((self.folder / _INDEX).read_text())
            self.n_terms = int(index["n_terms"])
            self.starts = [int(start) for start in index["starts"]]
            self.n_rows = int(index["n_rows"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self.folder} does not contain readable row blocks: {error}") from error
        self.n_blocks, self.threads = len(self.starts), usable_threads(threads)
        self._records = itertools.count()

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block in order, with one block per thread in memory."""
        read = range(len(self.starts))
        return ordered_map(lambda i: function(self.read(i)), read, min(self.threads, len(read)))

    def records(self, dtype: npt.DTypeLike) -> Records:
        """Room for records in a file beside the blocks."""
        path = self.folder / f"records-{next(self._records):04d}"
        return FileRecords(path, self.n_rows, dtype, kept=self.keeps_records)

    def read(self, number: int) -> Block:
        """One of the blocks."""
        return read_block(self.folder, number, self.starts[number], self.n_terms)


def read_block(folder: Path, number: int, start: int, n_terms: int) -> Block:
    """A block that was written to a folder."""
    with _file(folder, number).open("rb") as file:
        data, indices, indptr, weights = (np.load(file) for _ in range(4))
    return Block(csr_view(data, indices, indptr, (len(weights), n_terms)), weights, start)


def write_block(folder: Path, number: int, block: Block) -> None:
    """Write one block; it can be read together with others once there is an index of them."""
    with whole(_file(folder, number)) as file:
        for array in (block.X.data, block.X.indices, block.X.indptr, block.weights):
            save_array(file, array)


def write_index(folder: Path, starts: list[int], n_rows: int, n_terms: int) -> None:
    """Say which blocks a folder has; without an index it is incomplete."""
    with whole(folder / _INDEX) as file:
        file.write(json.dumps({"n_rows": n_rows, "n_terms": n_terms, "starts": starts}).encode())


def write_blocks(folder: str | Path, blocks: Iterable[Block]) -> None:
    """Write blocks in order, then their index."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    starts: list[int] = []
    n_rows = n_terms = 0
    for number, block in enumerate(blocks):
        write_block(folder, number, block)
        starts.append(block.start)
        n_rows, n_terms = n_rows + block.X.shape[0], block.X.shape[1]
    if not starts:
        raise InputError("an engine needs at least one block")
    write_index(folder, starts, n_rows, n_terms)


def _file(folder: Path, number: int) -> Path:
    return folder / f"block-{number:05d}.npy"
