"""What samplers need of documents: whole counts, whole numbers of copies, and all rows together."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from coterie.engines import Block, Engine
from coterie.engines.base import csr_view
from coterie.errors import InputError
from coterie.estimator import TopicEstimator

Array = npt.NDArray[np.float64]
Fractions = Literal["refuse", "ceil"]
FRACTIONS: tuple[Fractions, ...] = ("refuse", "ceil")

#: Words that a sampler can be given; more is a matrix that does not hold counts.
MOST_WORDS = 2**31 - 1


class CountEstimator(TopicEstimator):
    """Base class of models of words as they are counted: X holds whole numbers, and so do weights of rows."""

    fractions: Fractions

    def _counts(self, X: csr_matrix) -> csr_matrix:
        """Rows as whole numbers."""
        return whole(X, self.fractions, self)

    def _check_words(self, documents: Engine) -> None:
        """Refuse what cannot be counts before anything is written out word by word."""
        n_words = documents.sum(self._n_words)
        if n_words > MOST_WORDS:
            raise InputError(
                f"X must contain at most {MOST_WORDS} words for {type(self).__name__}, got {n_words:.0f}"
            )

    def _n_words(self, block: Block) -> float:
        copies = check_copies(block.weights, self)
        return float(copies @ (self._counts(block.X) @ np.ones(block.X.shape[1])))

    def _together(self, documents: Engine) -> Block:
        """All rows that have words, as one block."""
        blocks = list(documents.map(lambda block: Block(self._counts(block.X), block.weights, block.start)))
        X = vstack([block.X for block in blocks], format="csr")
        X.eliminate_zeros()
        X.sort_indices()
        filled = np.diff(X.indptr) > 0
        return Block(X[filled], np.concatenate([block.weights for block in blocks])[filled], 0)


def whole(X: csr_matrix, fractions: Fractions, owner: object) -> csr_matrix:
    """X with whole numbers only."""
    up = np.ceil(X.data)
    different = np.flatnonzero(up != X.data)
    if different.size and fractions == "refuse":
        raise InputError(
            f"X must contain counts for {type(owner).__name__}, got {X.data[different[0]]:g}; "
            "fractions='ceil' rounds up"
        )
    return csr_view(up, X.indices, X.indptr, X.shape) if different.size else X


def check_copies(weights: Array, owner: object) -> Array:
    """Weights of rows, which must be whole numbers: a text cannot be given to a sampler in part."""
    broken = weights[weights != np.rint(weights)]
    if broken.size:
        raise InputError(
            f"sample_weight must contain whole numbers for {type(owner).__name__}, got {broken[0]:g}"
        )
    return weights


def smoothed(counts: Array, prior: float | Array, used: npt.NDArray[np.bool_]) -> Array:
    """Distributions over the terms in use from counts (topics × terms): ``(n_kw + β) / (n_k + Mβ)``.

    >>> smoothed(np.array([[3.0, 0.0, 0.0]]), 0.5, np.array([True, True, False]))
    array([[0.875, 0.125, 0.   ]])
    """
    raised = np.where(used, counts + prior, 0.0)
    total = raised.sum(axis=1, keepdims=True)
    shares: Array = np.divide(raised, total, where=total > 0, out=np.zeros_like(raised))
    return shares
