"""Leading singular vectors of documents × terms from products alone, and a non-negative start from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.engines import Engine
from coterie.engines.base import Block

Array = npt.NDArray[np.float64]

_OVERSAMPLED = 10
_ITERATIONS = 8


def term_vectors(documents: Engine, rank: int) -> tuple[Array, Array]:
    """The leading right singular vectors (terms × rank) and singular values of documents × terms."""
    return leading_vectors(
        lambda Q: documents.sum(lambda block: _gram_product(block, Q)), documents.n_terms, rank
    )


def leading_vectors(
    product: Callable[[Array], npt.NDArray[Any]], n_terms: int, rank: int, iterations: int = _ITERATIONS
) -> tuple[Array, Array]:
    """Leading right singular vectors (terms × rank) and values of a matrix Y known by ``product(Q) = YᵀYQ``.

    Subspace iteration, ``Q ← orth(YᵀYQ)``, with one more product at the end. The start is fixed, so equal
    matrices give equal vectors. Vectors beyond the rank of Y are zero.
    """
    width = min(rank + _OVERSAMPLED, n_terms)
    Q = np.linalg.qr(np.random.RandomState(0).standard_normal((n_terms, width)))[0]
    for _ in range(iterations):
        Q = np.linalg.qr(product(Q))[0]
    image = product(Q)
    values, rotation = np.linalg.eigh((Q.T @ image + image.T @ Q) / 2.0)
    order = np.argsort(-values, kind="stable")[:rank]
    values = np.maximum(values[order], 0.0)
    vectors = Q @ rotation[:, order]
    vectors[:, values <= 1e-12 * max(float(values[:1].sum()), 1e-300)] = 0.0  # the first is the largest
    return _padded(vectors, rank), _padded(np.sqrt(values)[None, :], rank)[0]


def nonnegative_start(documents: Engine, rank: int) -> Array:
    """Terms × topics ≥ 0: of each singular pair the larger of its positive and negative part (NNDSVD).

    A pair ``σ u vᵀ`` is split into its positive and its negative part on both sides, and the part whose
    sides have the larger product of lengths stays, ``√(σ‖u⁺‖‖v⁺‖) · v⁺/‖v⁺‖``. That choice also fixes signs.
    """
    vectors, values = term_vectors(documents, rank)
    safe = np.where(values > 0, values, 1.0)
    above, below = documents.sum(lambda block: _halves(block, vectors / safe))
    sides = {
        sign: (np.sqrt(texts), np.linalg.norm(np.maximum(sign * vectors, 0.0), axis=0))
        for sign, texts in ((1.0, above), (-1.0, below))
    }
    strength = {sign: texts * terms for sign, (texts, terms) in sides.items()}
    start = np.zeros_like(vectors)
    for k in range(rank):
        sign = 1.0 if strength[1.0][k] >= strength[-1.0][k] else -1.0
        length = sides[sign][1][k]
        if length > 0:
            half = np.maximum(sign * vectors[:, k], 0.0)
            start[:, k] = np.sqrt(values[k] * strength[sign][k]) * half / length
    return start


def _gram_product(block: Block, Q: Array) -> Array:
    return block.X.T @ (block.weights[:, None] * (block.X @ Q))


def _halves(block: Block, vectors: Array) -> tuple[Array, Array]:
    """Squared lengths of the positive and of the negative part of each left singular vector."""
    texts = block.X @ vectors
    return block.weights @ np.maximum(texts, 0.0) ** 2, block.weights @ np.maximum(-texts, 0.0) ** 2


def _padded(columns: Array, rank: int) -> Array:
    """As many columns as asked for; those that do not exist are zero."""
    return np.pad(columns, ((0, 0), (0, rank - columns.shape[1])))
