"""An order of rows and columns that depends on the content of a matrix and not on how it was shuffled.

1. Equal rows become one row with a weight.
2. A row is identified by its weight, its values and their columns, and a column by its values and their rows:
   the keys of each side are mixed into those of the other until no more rows or columns can be distinguished.
   Keys are sums modulo 2⁶⁴, which do not depend on the order of summation.
3. Columns that still have equal keys are symmetric: swapping them together with their rows does not change
   the matrix. So any one of them can be marked, and the rows and columns connected to it become distinct.

Sorting by keys restores a shuffled matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components

Array = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_MARK = np.uint64(0xD6E8FEB86659FD93)
#: Most rounds of mixing and marking. Texts need three; a matrix constructed to need more keeps its order.
_ROUNDS = 32


@dataclass(frozen=True)
class Canonical:
    """A matrix in canonical order, and how it relates to the input.

    `X` has distinct rows; `weights` is the number of input rows that each represents; `rows[i]` is the row of
    `X` for input row i; column j of `X` is column `columns[j]` of the input.
    """

    X: csr_matrix
    weights: Array
    rows: Ints
    columns: Ints


def canonical(X: csr_matrix, weights: Array | None = None) -> Canonical:
    """Merge equal rows and order rows and columns by content.

    >>> ordered = canonical(csr_matrix([[0, 2], [1, 0], [0, 2]]))
    >>> ordered.weights[ordered.rows]
    array([2., 1., 2.])
    >>> ordered.X[ordered.rows][:, np.argsort(ordered.columns)].toarray()
    array([[0., 2.],
           [1., 0.],
           [0., 2.]])
    """
    X = _clean(X)
    first, rows, folded = _fold(X, np.ones(X.shape[0]) if weights is None else weights)
    distinct = X[first]
    order, columns = _orders(_Table(distinct), folded)
    ordered = distinct[order][:, columns].tocsr()
    ordered.sort_indices()
    return Canonical(ordered, folded[order], _inverse(order)[rows], columns)


def _clean(X: csr_matrix) -> csr_matrix:
    """Remove stored zeros and duplicate entries, which would change keys but not the matrix."""
    X = csr_matrix(X, dtype=np.float64, copy=False)
    if not X.has_canonical_format or not X.data.all():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _fold(X: csr_matrix, weights: Array) -> tuple[Ints, Ints, Array]:
    """One row number for each distinct row, the distinct row behind each row, and the sums of weights."""
    column_key = _mixed(np.arange(1, X.shape[1] + 1, dtype=np.uint64))
    key = _pieces(X.indptr, _value_keys(X.data) * column_key[X.indices])
    order = np.lexsort((weights, key))  # weights of equal rows in one order: their sum must not depend on it
    alike = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    # a key only says which rows may be equal
    differ = (X[order[alike]] != X[order[alike + 1]]).getnnz(axis=1) > 0
    first = np.ones(len(order), dtype=bool)
    first[alike[~differ] + 1] = False
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.cumsum(first) - 1
    folded = np.bincount(rows[order], weights[order], int(first.sum())).astype(np.float64)
    return order[first], rows, folded


def _orders(table: _Table, weights: Array) -> tuple[Ints, Ints]:
    """Rows and columns in canonical order."""
    row_key = _mixed(weights.astype(np.float32).view(np.uint32).astype(np.uint64))
    column_key = np.zeros(table.shape[1], dtype=np.uint64)
    row_key, column_key = table.distinguished(row_key, column_key)
    row_group, column_group = table.groups(_tied(row_key), _tied(column_key))
    for _ in range(_ROUNDS):
        marked = _first_tie(column_key, column_group)
        if not len(marked):
            break
        column_key[marked] = _mixed(column_key[marked] ^ _MARK)
        row_key, column_key = table.distinguished(row_key, column_key)
    return np.lexsort((row_group, row_key)), np.lexsort((column_group, column_key))


class _Table:
    """The entries of a matrix, row by row and column by column, as keys are mixed along them."""

    def __init__(self, X: csr_matrix):
        self.shape = X.shape
        self.by_row = X
        self.values = _value_keys(X.data)

    @cached_property
    def by_column(self) -> tuple[Ints, Ints, Keys]:
        """Ends of columns, and the row and the value of each entry, column by column."""
        X = self.by_row
        turned = csr_matrix((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).tocsc()
        return turned.indptr, turned.indices, self.values[turned.data]

    def distinguished(self, row_key: Keys, column_key: Keys) -> tuple[Keys, Keys]:
        """Mix the keys of each side into the other's until no more rows or columns differ."""
        X = self.by_row
        ends, row_of, values = self.by_column
        distinct = -1
        for _ in range(_ROUNDS):
            row_key = _mixed(row_key + _pieces(X.indptr, self.values * _mixed(column_key)[X.indices]))
            column_key = _mixed(column_key + _pieces(ends, values * _mixed(row_key)[row_of]))
            before, distinct = distinct, _n_distinct(row_key) + _n_distinct(column_key)
            if distinct in (before, sum(self.shape)):
                break
        return row_key, column_key

    def groups(self, rows: npt.NDArray[np.bool_], columns: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """The first column of the connected part that each of the chosen rows and columns belongs to.

        Parts that look the same can be exchanged as a whole, so any order among them will do; this one does
        not depend on the order of rows.
        """
        table = self.by_row.tocoo()
        inside = rows[table.row] & columns[table.col]
        column, row = table.col[inside], table.row[inside] + self.shape[1]
        n = sum(self.shape)
        graph = coo_matrix((np.ones(len(row)), (column, row)), shape=(n, n))
        _, part = connected_components(graph, directed=False)
        first = np.unique(part, return_index=True)[1][part]
        return first[self.shape[1] :], first[: self.shape[1]]


def _tied(keys: Keys) -> npt.NDArray[np.bool_]:
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[inverse] > 1


def _n_distinct(keys: Keys) -> int:
    return len(np.unique(keys))


def _first_tie(keys: Keys, groups: Ints) -> Ints:
    """In each group with equal keys, one position that has the smallest of these."""
    order = np.lexsort((keys, groups))
    group, key = groups[order], keys[order]
    tied = np.flatnonzero((group[1:] == group[:-1]) & (key[1:] == key[:-1]))
    return order[tied[np.unique(group[tied], return_index=True)[1]]]


def _value_keys(values: Array) -> Keys:
    return _mixed(np.ascontiguousarray(values).view(np.uint64)) | np.uint64(1)


def _pieces(ends: npt.NDArray[np.integer], per_entry: Keys) -> Keys:
    """Sums of consecutive pieces, modulo 2⁶⁴."""
    running = np.zeros(len(per_entry) + 1, dtype=np.uint64)
    np.cumsum(per_entry, out=running[1:])
    return running[ends[1:]] - running[ends[:-1]]


def _mixed(keys: Keys) -> Keys:
    """Spread the bits of each key over all its bits (the finaliser of splitmix64)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> _SHIFTS[0])) * _MIX[0]
    keys = (keys ^ (keys >> _SHIFTS[1])) * _MIX[1]
    return keys ^ (keys >> _SHIFTS[2])


def _inverse(order: Ints) -> Ints:
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position
