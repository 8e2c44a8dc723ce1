"""Reasons: the words of a text that decided its topic, and related words of the topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.space import Space
from coterie.engines.base import csr_view
from coterie.linalg.rows import unit_dense

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]
Columns = npt.NDArray[np.int32]

#: Words named in a reason, and words of a topic that are looked at to find related ones.
_WORDS, _LOOKED_AT = 3, 20
#: A word is named if it says at least this part of what the strongest says.
_WORTH_SAYING = 0.15
#: A word is related to a text from this cosine on.
_NEAR = 0.3
#: Decimals that count: products with a batch of texts round differently from products with one.
_DECIMALS = 9


def deciding_words(evidence: csr_matrix) -> Columns:
    """The columns of each row that speak most for its topic, the strongest first: texts × 3, −1 for none.

    Only what is above zero, and not far below the strongest, is worth saying.

    >>> deciding_words(csr_matrix([[0.0, 3.0, 1.0], [-1.0, 0.0, 0.0], [0.1, 0.0, 2.0]])).tolist()
    [[1, 2, -1], [-1, -1, -1], [2, -1, -1]]
    """
    lengths = np.diff(evidence.indptr)
    words = np.full((len(lengths), _WORDS), -1, dtype=np.int32)
    rows = np.flatnonzero(lengths)
    if not len(rows):
        return words
    starts, ends = evidence.indptr[rows], evidence.indptr[rows + 1]
    row_of = np.repeat(np.arange(len(rows)), lengths[rows])
    said = np.round(evidence.data, _DECIMALS)
    entries = np.arange(evidence.nnz)
    least = np.zeros(len(rows))
    for rank in range(_WORDS):
        strongest = np.maximum.reduceat(said, starts)
        # of equals the first
        first = np.minimum.reduceat(np.where(said == strongest[row_of], entries, evidence.nnz), starts)
        value = evidence.data[np.minimum(first, ends - 1)]
        if not rank:
            least = _WORTH_SAYING * np.maximum(value, 0.0)
        named = (strongest > -np.inf) & (value > 0) & (value >= least)
        words[rows[named], rank] = evidence.indices[first[named]]
        said[first[first < evidence.nnz]] = -np.inf
    return words


def counted_evidence(
    X: csr_matrix, log_shares: Callable[[Ints, Ints], Array], topics: Ints, against: Ints
) -> csr_matrix:
    """The contribution of each word to its topic rather than another, from the word frequencies of topics.

    ``log_shares(topics, columns)`` says how likely a word of each of these topics is the term in the column.
    """
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    ratio = log_shares(topics[row], X.indices) - log_shares(against[row], X.indices)
    return csr_view(X.data * ratio, X.indices, X.indptr, X.shape)


def related_words(
    X: csr_matrix, vectors: Array, topics: Ints, topic_terms: Sequence[Ints], space: Space
) -> Columns:
    """For each text the terms of its topic that it does not use and that occur in texts like it.

    Texts × 3 columns of terms, the nearest first, −1 for none.
    """
    related = np.full((X.shape[0], _WORDS), -1, dtype=np.int32)
    own = unit_dense(vectors[:, : space.vectors.shape[1]])  # without embeddings
    order = np.argsort(topics, kind="stable")
    ends = np.searchsorted(topics[order], np.arange(len(topic_terms) + 1))
    rank = np.full(X.shape[1], -1, dtype=np.int64)
    for topic in np.unique(topics[topics >= 0]).tolist():
        rows, terms = order[ends[topic] : ends[topic + 1]], topic_terms[topic][:_LOOKED_AT]
        if not len(terms):
            continue
        near = own[rows] @ unit_dense(space.vectors[terms]).T
        rank[terms] = np.arange(len(terms))
        used = X[rows]
        at = rank[used.indices]
        row = np.repeat(np.arange(len(rows)), np.diff(used.indptr))
        near[row[at >= 0], at[at >= 0]] = -1.0
        rank[terms] = -1
        best = np.argsort(-np.round(near, _DECIMALS), axis=1, kind="stable")[:, :_WORDS]
        close = np.take_along_axis(near, best, axis=1) >= _NEAR
        related[rows, : best.shape[1]] = np.where(close, terms[best], -1)
    return related
