"""Rows at unit length, sparse and dense, and products with many of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse

from coterie.engines.base import csr_view
from coterie.engines.memory import rows as rows_of
from coterie.engines.threads import ordered_map, usable_threads

Floats = npt.NDArray[np.floating[Any]]

#: Multiplications from which a product is worth sharing out among threads.
_WORTH_IT = 1 << 24


def inverse_lengths(rows: Any) -> Floats:
    """1 / length of each row of a sparse or dense matrix, 0 for a row of zeros."""
    if issparse(rows):
        squares = csr_view(rows.data**2, rows.indices, rows.indptr, rows.shape)
        length = np.sqrt(squares @ np.ones(rows.shape[1]))
    else:
        length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.divide(1.0, length, where=length > 0, out=np.zeros_like(length))


def unit_rows(matrix: csr_matrix) -> csr_matrix:
    """Rows of a sparse matrix scaled to unit length; an empty row stays empty."""
    scale = np.repeat(inverse_lengths(matrix), np.diff(matrix.indptr))
    return csr_view(matrix.data * scale, matrix.indices, matrix.indptr, matrix.shape)


def unit_dense(rows: Floats) -> Floats:
    """Rows of an array scaled to unit length; a row of zeros stays."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    unit: Floats = rows / np.where(length > 0, length, np.ones_like(length))
    return unit


def row_product(matrix: csr_matrix, columns: Floats) -> Floats:
    """``matrix @ columns``, shared out among threads by rows: each row is computed as it is by one thread.

    >>> row_product(csr_matrix([[1.0, 2.0], [0.0, 3.0]]), np.eye(2)).tolist()
    [[1.0, 2.0], [0.0, 3.0]]
    """
    threads = usable_threads(None)
    if threads == 1 or matrix.nnz * columns.shape[1] < _WORTH_IT:
        return np.asarray(matrix @ columns)
    share = np.linspace(0, matrix.nnz, 4 * threads + 1)
    edges = np.unique([0, *np.searchsorted(matrix.indptr, share[1:-1]), matrix.shape[0]])
    parts = (rows_of(matrix, int(a), int(b)) for a, b in pairwise(edges))
    return np.concatenate(list(ordered_map(lambda part: np.asarray(part @ columns), parts, threads)))
