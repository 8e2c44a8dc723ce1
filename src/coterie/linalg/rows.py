"""Rows at unit length, sparse and dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags, issparse

from coterie.engines.base import csr_view

Floats = npt.NDArray[np.floating[Any]]


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
    return (diags(inverse_lengths(matrix)) @ matrix).tocsr()


def unit_dense(rows: Floats) -> Floats:
    """Rows of an array scaled to unit length; a row of zeros stays."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    unit: Floats = np.divide(rows, length, where=length > 0, out=np.zeros_like(rows))
    return unit
