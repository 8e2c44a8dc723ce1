"""What an engine is: something that holds row blocks and can map over them and sum what comes back."""

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

    `weights[i]` is how many identical texts row i stands for; `start` is the number of its first row.
    """

    X: csr_matrix
    weights: npt.NDArray[np.float64]
    start: int = 0


class Engine(ABC):
    """Row blocks and the two verbs over them. Algorithms know nothing else of the documents.

    Blocks, and the order in which they are summed, depend on the data alone: the number of threads,
    processes or machines changes when a block is worked on, never what comes out.
    """

    n_rows: int
    n_terms: int
    #: Whether all rows are in memory, so that as many rows of something else may be too.
    in_memory: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and terms, as a matrix would tell them."""
        return self.n_rows, self.n_terms

    @abstractmethod
    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block, in block order, holding only a few blocks at a time."""

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
        """An engine over changed blocks; here each block is changed anew on every pass."""
        return Mapped(self, change)


class Mapped(Engine):
    """The blocks of another engine, each changed by a function when it is its turn."""

    def __init__(self, source: Engine, change: Callable[[Block], Block]):
        self.source = source
        self.change = change
        self.n_rows, self.n_terms = source.shape
        self.in_memory = source.in_memory

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield ``function(change(block))`` for each block, in block order."""
        return self.source.map(lambda block: function(self.change(block)))


def _owned(value: Any) -> Any:
    """A value that may be added to in place: what a function returned may be a view of a block."""
    if isinstance(value, tuple):
        return tuple(_owned(part) for part in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def add(total: Any, value: Any) -> Any:
    """The sum of two results, in place where the first is an array that can take it."""
    if isinstance(total, tuple):
        return tuple(add(left, right) for left, right in zip(total, value, strict=True))
    if isinstance(total, np.ndarray) and total.ndim and np.can_cast(np.asarray(value).dtype, total.dtype):
        total += value
        return total
    return total + value


def csr_view(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> csr_matrix:
    """A CSR matrix over arrays that are known to fit, without copying them or looking through them again."""
    matrix = csr_matrix(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def pattern(X: csr_matrix) -> csr_matrix:
    """The binary form of a matrix: 1 where it is not zero."""
    if X.data.all():
        return csr_view(np.ones(X.nnz), X.indices, X.indptr, X.shape)
    return (X != 0).astype(np.float64)
