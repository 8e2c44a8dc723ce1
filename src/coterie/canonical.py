"""An order of rows and columns that depends on what a matrix holds and not on how it was shuffled.

A row is known by its values and by the columns they stand in, a column by its values and the rows: each
side's keys are mixed into the other's, a few rounds long. Keys are sums modulo 2⁶⁴, which come out the same
in any order of summation. Sorting by them puts a shuffled matrix back; rows with equal keys are equal rows,
and become one row with a weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

Keys = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

_ROUNDS = 3
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
#: Weights are counted in this fraction of a text when they are mixed into keys.
_WEIGHT_STEPS = 1 << 20


@dataclass(frozen=True)
class Canonical:
    """A matrix in canonical order, and the way back.

    `X` has distinct rows; `weights` says how many rows of the input each stands for; `rows[i]` is the row of
    `X` that row i of the input became; column j of `X` is column `columns[j]` of the input.
    """

    X: csr_matrix
    weights: npt.NDArray[np.float64]
    rows: Ints
    columns: Ints


def canonical(X: csr_matrix, weights: npt.NDArray[np.float64] | None = None) -> Canonical:
    """Fold equal rows and order rows and columns by content."""
    X = _clean(X)
    n_rows, n_columns = X.shape
    weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
    row_key, column_key = _keys(X, weights)
    columns = np.lexsort((np.arange(n_columns), column_key))
    # a second key that knows each column apart, also columns that only differ by where they stand
    place = np.empty(n_columns, dtype=np.uint64)
    place[columns] = np.arange(n_columns, dtype=np.uint64)
    content = _row_sums(X, _value_keys(X.data) * _mixed(place + np.uint64(1))[X.indices])
    order = np.lexsort((content, row_key))
    first = np.ones(n_rows, dtype=bool)
    first[1:] = (row_key[order][1:] != row_key[order][:-1]) | (content[order][1:] != content[order][:-1])
    position = np.cumsum(first) - 1
    rows = np.empty(n_rows, dtype=np.int64)
    rows[order] = position
    folded = np.bincount(rows, weights, minlength=int(first.sum())).astype(np.float64)
    ordered = X[order[first]][:, columns].tocsr()
    ordered.sort_indices()
    return Canonical(ordered, folded, rows, columns)


def _clean(X: csr_matrix) -> csr_matrix:
    """No stored zeros, no entry twice: they would change keys without changing the matrix."""
    X = csr_matrix(X, dtype=np.float64, copy=False)
    if not X.has_canonical_format or (X.data == 0).any():
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X


def _keys(X: csr_matrix, weights: npt.NDArray[np.float64]) -> tuple[Keys, Keys]:
    """Keys of rows and of columns that do not depend on the order of either."""
    values = _value_keys(X.data)
    by_column = csr_matrix((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).tocsc()
    entry = by_column.data.astype(np.int64)  # entries of X, column by column
    row_of_entry = by_column.indices
    times = np.rint(weights * _WEIGHT_STEPS).astype(np.int64).astype(np.uint64)
    column_key = np.zeros(X.shape[1], dtype=np.uint64)
    row_key = np.zeros(X.shape[0], dtype=np.uint64)
    for _ in range(_ROUNDS):
        row_key = _mixed(_row_sums(X, values * _mixed(column_key)[X.indices]))
        weighted = times * _mixed(row_key)
        column_key = _mixed(_pieces(by_column.indptr, values[entry] * weighted[row_of_entry]))
    return row_key, column_key


def _value_keys(values: npt.NDArray[np.float64]) -> Keys:
    return _mixed(np.ascontiguousarray(values).view(np.uint64)) | np.uint64(1)


def _row_sums(X: csr_matrix, per_entry: Keys) -> Keys:
    return _pieces(X.indptr, per_entry)


def _pieces(indptr: npt.NDArray[np.integer], per_entry: Keys) -> Keys:
    """Sums of consecutive pieces, modulo 2⁶⁴."""
    running = np.zeros(len(per_entry) + 1, dtype=np.uint64)
    np.cumsum(per_entry, out=running[1:])
    return running[indptr[1:]] - running[indptr[:-1]]


def _mixed(keys: Keys) -> Keys:
    """Spread the bits of each key over all its bits (the finaliser of splitmix64)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> _SHIFTS[0])) * _MIX[0]
    keys = (keys ^ (keys >> _SHIFTS[1])) * _MIX[1]
    return keys ^ (keys >> _SHIFTS[2])
