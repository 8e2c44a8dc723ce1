"""The engine interface: map a function over row blocks, sum the results, and keep records of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines.records import MemoryRecords, Records
from coterie.progress import counted

T = TypeVar("T")

#: Neighbours that are added up at a time: blocks, then sums of blocks, then sums of those.
FAN = 8


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive rows of the documents × terms matrix.

    `weights[i]` is the number of identical texts in row i; `start` is the number of the first row.
    """

    X: csr_matrix
    weights: npt.NDArray[np.float64]
    start: int = 0


class Engine(ABC):
    """Row blocks with the operations map, sum and records. Algorithms use nothing else of the documents.

    Blocks, and the order in which they are summed, depend on the data alone: the number of threads,
    processes or machines changes when a block is processed, never the result.
    """

    n_rows: int
    n_terms: int
    n_blocks: int
    #: Whether all rows are in memory, so that other data with as many rows may be, too.
    in_memory: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of terms."""
        return self.n_rows, self.n_terms

    @abstractmethod
    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield `function(block)` for each block in order, with only a few blocks in memory at a time."""

    def sum(self, function: Callable[[Block], T], stage: str = "") -> T:
        """Add up `function(block)` over all blocks, along a tree that depends on the number of blocks alone.

        `function` returns a number, an array, a sparse matrix, a list, which is joined to the others, or a
        tuple of these. With a `stage`, progress is reported under that name.
        """
        return tree_sum(self.told(self.map(function), stage))

    def told(self, results: Iterable[T], stage: str) -> Iterable[T]:
        """Results of blocks, reported as they come."""
        return counted(results, stage, self.n_blocks, "blocks") if stage else results

    def records(self, dtype: npt.DTypeLike) -> Records:
        """Room for one record per row, which functions fill and read block by block.

        It lies beside the blocks, so that nothing of the size of the collection passes through the caller.
        """
        return MemoryRecords(self.n_rows, np.dtype(dtype))

    def mapped(self, change: Callable[[Block], Block]) -> Engine:
        """An engine over transformed blocks; by default, blocks are transformed again in every pass."""
        return Mapped(self, change)

    def accelerated(self, rows: Engine | None = None) -> Engine:
        """The same rows where long passes are fastest: on a graphics card, if the engine has one.

        `rows` are those of an engine that changes blocks of this one, and by default its own.
        """
        return self if rows is None else rows

    def here(self, array: Any) -> Any:
        """An array where the sums of this engine are: on the card, if its blocks are."""
        return array


class Mapped(Engine):
    """The blocks of another engine, transformed by a function in every pass."""

    def __init__(self, source: Engine, change: Callable[[Block], Block]):
        self.source = source
        self.change = change
        self.n_rows, self.n_terms = source.shape
        self.n_blocks, self.in_memory = source.n_blocks, source.in_memory

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield ``function(change(block))`` for each block, in block order."""
        return self.source.map(_Then(self.change, function))

    def sum(self, function: Callable[[Block], T], stage: str = "") -> T:
        """Add up ``function(change(block))`` where the blocks are."""
        return self.source.sum(_Then(self.change, function), stage)

    def records(self, dtype: npt.DTypeLike) -> Records:
        """Room for records beside the blocks of the other engine."""
        return self.source.records(dtype)

    def accelerated(self, rows: Engine | None = None) -> Engine:
        """The transformed rows where the other engine is fastest."""
        return self.source.accelerated(self if rows is None else rows)


@dataclass(frozen=True, slots=True)
class _Then:
    """One function after another; unlike a closure in `Mapped` it does not hold on to an engine."""

    change: Callable[[Block], Block]
    function: Callable[[Block], Any]

    def __call__(self, block: Block) -> Any:
        return self.function(self.change(block))


def tree_sum(results: Iterable[T]) -> T:
    """The sum of results, `FAN` neighbours at a time, then `FAN` of those sums, and so on.

    Whoever adds up groups of neighbours elsewhere gets the same to the last bit. At most one sum for each
    level of the tree is in memory.

    >>> tree_sum(iter([0.1] * 9)) == sum([0.1] * 8) + 0.1
    True
    """
    levels: list[tuple[Any, int]] = []  # a sum of so many neighbours, for each level
    for result in results:
        _put(levels, 0, _owned(result) if not levels or not levels[0][1] else result)
        del result  # a large one must not stay while the next is made
    if not levels:
        raise ValueError("there is nothing to add up")
    for level in count():
        total, many = levels[level]
        if many and not any(others for _, others in levels[level + 1 :]):
            return total
        levels[level] = (None, 0)
        if many:
            _put(levels, level + 1, total)
    raise AssertionError


def _put(levels: list[tuple[Any, int]], level: int, value: Any) -> None:
    """Add a value to the sum of a level; a sum of `FAN` goes up to the next."""
    while True:
        if level == len(levels):
            levels.append((None, 0))
        total, many = levels[level]
        levels[level] = (None, 0)
        value = add(total, value) if many else value
        if many + 1 < FAN:
            levels[level] = (value, many + 1)
            return
        level += 1


def _owned(value: Any) -> Any:
    """A value that can be changed in place: what a function returned may be a view of a block."""
    if isinstance(value, tuple):
        return tuple(_owned(part) for part in value)
    if isinstance(value, list):
        return list(value)
    return value.copy() if isinstance(value, np.ndarray) else value


def add(total: Any, value: Any) -> Any:
    """The sum of two results, in place if possible."""
    if isinstance(total, tuple):
        return tuple(add(left, right) for left, right in zip(total, value, strict=True))
    if isinstance(total, list):
        total.extend(value)
        return total
    if isinstance(total, np.ndarray) and total.ndim and np.can_cast(np.asarray(value).dtype, total.dtype):
        total += value
        return total
    return total + value


def csr_view(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> csr_matrix:
    """A CSR matrix from consistent arrays, without copying or checking them."""
    matrix = csr_matrix(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


# What functions of blocks do with a matrix besides products. On a graphics card it does them itself.


def pattern(X: Any) -> Any:
    """The binary form of a matrix: 1 where it is not zero."""
    if not isinstance(X, csr_matrix):
        return X.pattern()
    if X.data.all():
        return csr_view(np.ones(X.nnz), X.indices, X.indptr, X.shape)
    return (X != 0).astype(np.float64)


def squared(X: Any) -> Any:
    """A matrix with each entry squared."""
    return csr_view(X.data**2, X.indices, X.indptr, X.shape) if isinstance(X, csr_matrix) else X.squared()


def scaled_columns(X: Any, per_term: npt.NDArray[Any]) -> Any:
    """``X · diag(per_term)``."""
    if not isinstance(X, csr_matrix):
        return X.scaled_columns(per_term)
    return csr_view(X.data * per_term[X.indices], X.indices, X.indptr, X.shape)


def scaled_rows(X: Any, per_row: npt.NDArray[Any]) -> Any:
    """``diag(per_row) · X``."""
    if not isinstance(X, csr_matrix):
        return X.scaled_rows(per_row)
    return csr_view(X.data * np.repeat(per_row, np.diff(X.indptr)), X.indices, X.indptr, X.shape)
