"""Row blocks on disk; only the blocks being processed are in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from coterie.engines.base import Block, Engine
from coterie.engines.threads import ordered_map, usable_threads
from coterie.errors import InputError

T = TypeVar("T")

_INDEX = "blocks.json"


class DiskEngine(Engine):
    """Blocks in a folder, written by `write_blocks`, read again in every pass."""

    def __init__(self, folder: str | Path, threads: int | None = None):
        self.folder = Path(folder)
        try:
            index = json.loads((self.folder / _INDEX).read_text())
            self.n_terms = int(index["n_terms"])
            self._starts = [int(start) for start in index["starts"]]
            self.n_rows = int(index["n_rows"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self.folder} does not contain readable row blocks: {error}") from error
        self.threads = usable_threads(threads)

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block in order, with one block per thread in memory."""
        read = range(len(self._starts))
        return ordered_map(lambda i: function(self._read(i)), read, min(self.threads, len(read)))

    def _read(self, number: int) -> Block:
        part = {name: np.load(path) for name, path in _files(self.folder, number).items()}
        weights = part.pop("weights")
        X = csr_matrix((part["data"], part["indices"], part["indptr"]), shape=(len(weights), self.n_terms))
        return Block(X, weights, self._starts[number])


def write_blocks(folder: str | Path, blocks: Iterable[Block]) -> None:
    """Write blocks in order; the index is written last, so a folder without one is incomplete."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    starts: list[int] = []
    n_rows = n_terms = 0
    for number, block in enumerate(blocks):
        paths = _files(folder, number)
        for name, path in paths.items():
            np.save(path, block.weights if name == "weights" else getattr(block.X, name), allow_pickle=False)
        starts.append(block.start)
        n_rows, n_terms = n_rows + block.X.shape[0], block.X.shape[1]
    if not starts:
        raise InputError("an engine needs at least one block")
    (folder / _INDEX).write_text(json.dumps({"n_rows": n_rows, "n_terms": n_terms, "starts": starts}))


def _files(folder: Path, number: int) -> dict[str, Path]:
    return {
        name: folder / f"block-{number:05d}-{name}.npy" for name in ("data", "indices", "indptr", "weights")
    }
