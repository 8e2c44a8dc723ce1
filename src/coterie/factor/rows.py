"""A factor with a row for each document, which an iteration leaves for the next."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.engines import Block, Engine
from coterie.engines.base import add
from coterie.errors import InputError

Array = npt.NDArray[np.float64]


class RowFactor:
    """Documents × topics. It lies in memory where the documents do, else in a temporary file.

    An update is a map over blocks that returns new rows: nothing changes behind the back of an engine.
    """

    def __init__(self, documents: Engine, n_topics: int):
        shape = (documents.n_rows, n_topics)
        if documents.in_memory or not documents.n_rows:
            self.values: Array = np.zeros(shape)
        else:
            with TemporaryFile() as file:  # the mapping outlives the name, and takes the file with it
                self.values = np.memmap(file, np.float64, "w+", shape=shape)

    @classmethod
    def of(cls, documents: Engine, start: Callable[[Block], Array], n_topics: int) -> RowFactor:
        """With the rows that `start` gives for each block."""
        factor = cls(documents, n_topics)
        end = 0
        for first, values in documents.map(lambda block: (block.start, start(block))):
            if first != end:
                raise InputError(f"X must have blocks that start where the last ended: {end}, got {first}")
            end += len(values)
            factor.values[first:end] = values
        return factor

    def update(self, documents: Engine, step: Callable[[Block, Array], tuple[Array, Any]]) -> Any:
        """Put new rows in the place of old ones, block by block, and add up what comes with them.

        ``step(block, rows)`` returns the new rows and something to sum over blocks.
        """

        def moved(block: Block) -> tuple[int, Array, Any]:
            rows, part = step(block, self.values[block.start : block.start + block.X.shape[0]])
            return block.start, rows, part

        total = None
        for start, rows, part in documents.map(moved):
            self.values[start : start + len(rows)] = rows
            total = part if total is None else add(total, part)
        return total
