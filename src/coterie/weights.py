"""Term weights: binary, idf, Ncut. Each function returns one number per term.

`X` is documents × terms, a sparse or dense matrix or an engine over row blocks; `weights` is the number of
identical texts that each row represents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie.engines import Block, Engine, as_engine, to_host
from coterie.engines.base import pattern, scaled_columns
from coterie.errors import InputError

Kind = Literal["ncut", "ncut-cosine", "idf", "binary"] | None
KINDS: tuple[Kind, ...] = ("ncut", "ncut-cosine", "idf", "binary", None)
#: Weights of terms that a text has or has not, however often.
_OF_BINARY: tuple[Kind, ...] = ("ncut", "ncut-cosine", "binary")
Affinity = Literal["inner", "cosine"]
Scale = bool | Literal["max", "quantile"]

#: Quantile by which `scale="quantile"` divides: one very rare term must not set the scale of all others.
SCALE_QUANTILE = 0.95


def binary(X: Any) -> npt.NDArray[np.float64]:
    """Weight 1 for every term."""
    return np.ones(X.shape[1])


def document_frequency(X: Any, weights: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
    """The number of texts that contain each term."""
    engine = as_engine(X, weights)
    return to_host(engine.sum(lambda block: term_sums(block, block.weights)))


def idf(X: Any, weights: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
    """Inverse document frequency, ``log(N / df)``; 0 for a term in no text or in every text.

    >>> idf(np.array([[1, 1], [1, 0]])).round(3)
    array([0.   , 0.693])
    """
    engine = as_engine(X, weights)
    df, n_texts = to_host(
        engine.sum(lambda block: (term_sums(block, block.weights), float(block.weights.sum())))
    )
    return np.log(n_texts / np.where(df > 0, df, max(n_texts, 1.0)), where=n_texts > 0, out=np.zeros_like(df))


def ncut(
    X: Any, affinity: Affinity = "inner", scale: Scale = True, weights: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """Ncut weights, ``d ** -0.5`` with d the degree of a term in the graph of terms that share texts.

    The affinity of two terms is ``S = XᵀX`` of the binary X, or the same with the columns of X at unit
    length (``affinity="cosine"``). S is never formed: ``d = S·1 = Xᵀ(X·1)`` is two passes over X.

    Parameters
    ----------
    scale
        True or "max" divides by the largest weight, as in the paper. "quantile" divides by the 95th
        percentile and caps at 1. False leaves the weights as they are.

    A term that occurs in no text has weight 0.

    >>> ncut(np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0]])).round(3)
    array([0.632, 1.   , 1.   ])
    """
    if affinity not in ("inner", "cosine"):
        raise InputError(f"affinity must be 'inner' or 'cosine', got {affinity!r}")
    engine = as_engine(X, weights)
    if affinity == "inner":
        degree = to_host(engine.sum(_degrees))
    else:
        length = _power(document_frequency(engine), -0.5)
        degree = length * to_host(engine.sum(lambda block: _degrees(block, length)))
    return _scaled(_power(degree, -0.5), scale)


def of_terms(X: Any, kind: Kind, scale: Scale = True) -> npt.NDArray[np.float64]:
    """The weights of this kind; 1 for every term if the kind is "binary" or None."""
    if kind in ("ncut", "ncut-cosine"):
        return ncut(X, "inner" if kind == "ncut" else "cosine", scale=scale)
    return idf(X) if kind == "idf" else binary(X)


def weighted(X: csr_matrix, per_term: npt.NDArray[np.float64], kind: Kind) -> csr_matrix:
    """``Y = X·diag(w)``; Ncut and binary weights are applied to the binary form of X."""
    return scaled_columns(pattern(X) if kind in _OF_BINARY else X, per_term)


def weighted_rows(documents: Engine, per_term: npt.NDArray[np.float64], kind: Kind) -> Engine:
    """Row blocks of Y."""
    return documents.mapped(lambda block: replace(block, X=weighted(block.X, per_term, kind)))


def _scaled(weight: npt.NDArray[np.float64], scale: Scale) -> npt.NDArray[np.float64]:
    used = weight[weight > 0]
    if scale is False or not len(used):
        return weight
    if scale in (True, "max"):
        return weight / used.max()
    if scale == "quantile":
        return np.minimum(weight / np.quantile(used, SCALE_QUANTILE), 1.0)
    raise InputError(f"scale must be True, False, 'max' or 'quantile', got {scale!r}")


def term_sums(block: Block, per_row: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``Bᵀ per_row`` with B the binary form of the block: the sum over the rows that contain each term."""
    sums: npt.NDArray[np.float64] = pattern(block.X).T @ per_row
    return sums


def _degrees(block: Block, length: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
    """``Bᵀ(B·length)``, and with no lengths ``Bᵀ(B·1)``, where B·1 is the number of terms of each row."""
    present = pattern(block.X)
    per_row = np.diff(present.indptr) if length is None else present @ length
    degrees: npt.NDArray[np.float64] = present.T @ (block.weights * per_row)
    return degrees


def _power(values: npt.NDArray[np.float64], exponent: float) -> npt.NDArray[np.float64]:
    """Elementwise power in which zero stays zero."""
    return np.power(values, exponent, where=values > 0, out=np.zeros_like(values))


class IdfWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiply each term by its inverse document frequency in the fitted texts.

    New texts get the weights of the fitted ones, so a text gives the same row alone and in a batch.

    Attributes
    ----------
    idf_
        ``log(N / df)`` of each term.

    >>> X = np.array([[2, 1], [1, 0]])
    >>> IdfWeights().fit_transform(X).toarray().round(3)
    array([[0.   , 0.693],
           [0.   , 0.   ]])
    """

    idf_: npt.NDArray[np.float64]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the texts that contain each term."""
        self.idf_ = idf(self._checked(X, reset=True))
        return self

    def transform(self, X: Any) -> csr_matrix:
        """``X·diag(idf)``."""
        check_is_fitted(self, "idf_")
        return weighted(self._checked(X, reset=False), self.idf_, "idf")

    def _checked(self, X: Any, *, reset: bool) -> csr_matrix:
        checked = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True, reset=reset
        )
        matrix = csr_matrix(checked)
        if not matrix.has_canonical_format:  # the caller's matrix stays as it is
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
