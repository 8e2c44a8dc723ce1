"""The engine interface: map a function over row blocks, and sum the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows of the documents × terms matrix.

    `weights[i]` is the number of identical texts in row i; `start` is the number of the first row.
    """

    X: csr_matrix
    weights: npt.NDArray[np.float64]
    start: int = 0


class Engine(ABC):
    """Row blocks with the two operations map and sum. Algorithms use nothing else of the documents.

    Blocks, and the order in which they are summed, depend on the data alone: the number of threads,
    processes or machines changes when a block is processed, never the result.
    """

    n_rows: int
    n_terms: int
    #: Whether all rows are in memory, so that other data with as many rows may be, too.
    in_memory: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of terms."""
        return self.n_rows, self.n_terms

    @abstractmethod
    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block in order, with only a few blocks in memory at a time."""

    def sum(self, function: Callable[[Block], T]) -> T:
        """Add up `function(block)` over all blocks, in block order.

        `function` returns a number, an array, a sparse matrix, or a tuple of these.
        """
        results = self.map(function)
        total: Any = _owned(next(results))
        for result in results:
            total = add(total, result)
        return total

    def mapped(self, change: Callable[[Block], Block]) -> Engine:
        """An engine over transformed blocks; by default, blocks are transformed again in every pass."""
        return Mapped(self, change)


class Mapped(Engine):
    """The blocks of another engine, transformed by a function in every pass."""

    def __init__(self, source: Engine, change: Callable[[Block], Block]):
        self.source = source
        self.change = change
        self.n_rows, self.n_terms = source.shape
        self.in_memory = source.in_memory

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield ``function(change(block))`` for each block, in block order."""
        return self.source.map(lambda block: function(self.change(block)))


def _owned(value: Any) -> Any:
    """A value that can be changed in place: what a function returned may be a view of a block."""
    if isinstance(value, tuple):
        return tuple(_owned(part) for part in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def add(total: Any, value: Any) -> Any:
    """The sum of two results, in place if possible."""
    if isinstance(total, tuple):
        return tuple(add(left, right) for left, right in zip(total, value, strict=True))
    if isinstance(total, np.ndarray) and total.ndim and np.can_cast(np.asarray(value).dtype, total.dtype):
        total += value
        return total
    return total + value


def csr_view(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> csr_matrix:
    """A CSR matrix from consistent arrays, without copying or checking them."""
    matrix = csr_matrix(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def pattern(X: csr_matrix) -> csr_matrix:
    """The binary form of a matrix: 1 where it is not zero."""
    if X.data.all():
        return csr_view(np.ones(X.nnz), X.indices, X.indptr, X.shape)
    return (X != 0).astype(np.float64)
