"""Results of passes over row blocks in files, so that work which was stopped goes on from the last one.

The same program over the same blocks asks for the same passes in the same order. A pass that was finished
before is read from its file; the first that was not is computed, and so are those after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TypeVar

import numpy.typing as npt

from coterie.engines.base import Block, Engine
from coterie.engines.records import Records
from coterie.engines.values import NotPlain, read_value, whole, write_value

T = TypeVar("T")


class Journal(Engine):
    """The blocks of another engine; what a pass gives is kept in a folder.

    A pass whose results are not plain numbers and arrays is computed every time.
    """

    def __init__(self, engine: Engine, folder: Path):
        self.engine, self.folder = engine, folder
        self.n_rows, self.n_terms = engine.shape
        self.n_blocks, self.in_memory = engine.n_blocks, engine.in_memory
        self.threads = getattr(engine, "threads", None)
        self._passes = count()

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block, in order."""
        return self._mapped(function, next(self._passes))

    def _mapped(self, function: Callable[[Block], T], number: int) -> Iterator[T]:
        done = self.folder / f"{number:04d}-map"
        if done.exists():
            for block in range(int(done.read_text())):
                yield read_value(self._result(number, block))
            return
        blocks, plain = 0, True
        for result in self.engine.map(function):
            if plain:
                try:
                    write_value(self._result(number, blocks), result)
                except NotPlain:
                    plain = False
            blocks += 1
            yield result
        if plain:
            with whole(done) as file:
                file.write(str(blocks).encode())

    def sum(self, function: Callable[[Block], T], stage: str = "") -> T:
        """Add up `function(block)` over all blocks."""
        path = self.folder / f"{next(self._passes):04d}-sum"
        if not path.exists():
            total = self.engine.sum(function, stage)
            write_value(path, total)
            return total
        return read_value(path)

    def records(self, dtype: npt.DTypeLike) -> Records:
        """Room for records beside the blocks; those of an earlier attempt are still there."""
        return self.engine.records(dtype)

    def _result(self, number: int, block: int) -> Path:
        return self.folder / f"{number:04d}-map-{block:06d}"
