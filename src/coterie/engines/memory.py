"""Row blocks in memory, processed by threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse

from coterie.engines.base import Block, Engine, csr_view
from coterie.engines.threads import ordered_map, usable_threads
from coterie.errors import InputError

T = TypeVar("T")

#: Most and fewest rows of a block, if there are that many.
BLOCK_ROWS = 65_536
LEAST_BLOCK_ROWS = 4_096


class MemoryEngine(Engine):
    """Blocks in memory.

    >>> import numpy as np
    >>> engine = as_engine(np.eye(3))
    >>> engine.sum(lambda block: block.X.T @ block.weights)
    array([1., 1., 1.])
    """

    def __init__(self, blocks: Sequence[Block], threads: int | None = None):
        if not blocks:
            raise InputError("an engine needs at least one block")
        self.blocks = list(blocks)
        self.threads = usable_threads(threads)
        self.n_blocks = len(self.blocks)
        self.n_rows = sum(block.X.shape[0] for block in self.blocks)
        self.n_terms = self.blocks[0].X.shape[1]

    in_memory = True

    def mapped(self, change: Callable[[Block], Block]) -> Engine:
        """An engine over transformed blocks, transformed once."""
        return MemoryEngine(list(self.map(change)), self.threads)

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block, in block order."""
        return ordered_map(function, self.blocks, min(self.threads, len(self.blocks)))


def as_engine(X: Any, weights: npt.ArrayLike | None = None, threads: int | None = None) -> Engine:
    """An engine over `X`: `X` itself if it is one, else a matrix (sparse or dense) in blocks.

    `weights` is the number of identical texts that each row represents.
    """
    if isinstance(X, Engine):
        if weights is not None:
            raise InputError("weights cannot be combined with an engine, whose blocks have their own weights")
        return X
    matrix = X.tocsr() if issparse(X) else csr_matrix(np.atleast_2d(np.asarray(X, dtype=np.float64)))
    n_rows = matrix.shape[0]
    row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if row_weights.shape != (n_rows,):
        raise InputError(
            f"weights must have one number for each of the {n_rows} rows, got shape {row_weights.shape}"
        )
    size = block_rows(matrix.shape[1])
    starts = range(0, max(n_rows, 1), size)
    blocks = [Block(rows(matrix, a, a + size), row_weights[a : a + size], a) for a in starts]
    return MemoryEngine(blocks, threads)


def block_rows(n_terms: int) -> int:
    """Rows of a block: few, so that threads can share the work, but enough to be worth a sum over all terms.

    It depends on the matrix alone, so that sums have one order on any number of threads.
    """
    return min(max(n_terms // 2, LEAST_BLOCK_ROWS), BLOCK_ROWS)


def rows(matrix: csr_matrix, start: int, stop: int) -> csr_matrix:
    """Rows start … stop of a CSR matrix, sharing its memory."""
    indptr = matrix.indptr[start : stop + 1]
    first, last = indptr[0], indptr[-1]
    shape = (len(indptr) - 1, matrix.shape[1])
    return csr_view(matrix.data[first:last], matrix.indices[first:last], indptr - first, shape)
