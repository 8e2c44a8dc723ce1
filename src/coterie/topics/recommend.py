"""Recommendation: from texts that somebody read to others like them, which are not all alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError, shown
from coterie.estimator import check_count
from coterie.linalg.rows import unit_dense
from coterie.results import Recommended
from coterie.topics.collection import as_strings, without_columns

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]

#: Decimals that count: vectors are learned in single precision, and products with a batch of texts round
#: differently from products with one.
_DECIMALS = 6


def recommend(
    model: TopicModel, history: Any, candidates: Any, top: int, diversity: float
) -> list[Recommended]:
    """What `TopicModel.recommend` answers.

    1. Texts become vectors, and the history the direction of their sum. Relevance is the cosine with it.
    2. Candidates are taken one after another, each time the one with the largest
       ``(1 − diversity) · relevance − diversity · largest cosine with those taken before``.
    """
    check_count("top", top, model)
    if isinstance(diversity, bool) or not isinstance(diversity, (int, float)) or not 0 <= diversity <= 1:
        raise InputError(f"diversity must be a number from 0 to 1, got {shown(diversity)}")
    with one_blas_thread():
        read, vectors_read = _vectors(model, history)
        if not read:
            raise InputError("history must have at least one text, got none")
        texts, vectors = _vectors(model, candidates)
        profile = unit_dense(vectors_read.sum(axis=0, keepdims=True))[0]
        relevance = np.round(vectors @ profile, _DECIMALS)
        taken = diverse(vectors, relevance, _new(texts, read, relevance), top, diversity)
        like = np.argmax(np.round(vectors[taken] @ vectors_read.T, _DECIMALS), axis=1)
    return [
        Recommended(row, texts[row], float(relevance[row]), read[near])
        for row, near in zip(taken, like.tolist(), strict=True)
    ]


def diverse(vectors: Array, relevance: Array, rows: Ints, top: int, diversity: float) -> list[int]:
    """Up to `top` of some rows: relevant, and unlike those taken before (maximal marginal relevance).

    >>> same = unit_dense(np.array([[1.0, 0.1], [1.0, 0.0], [0.8, 0.6]]))
    >>> diverse(same, np.array([0.9, 0.8, 0.7]), np.arange(3), 2, 0.0)
    [0, 1]
    >>> diverse(same, np.array([0.9, 0.8, 0.7]), np.arange(3), 2, 0.5)
    [0, 2]
    """
    taken: list[int] = []
    left = np.asarray(rows)
    alike = np.zeros(len(left))
    while len(taken) < top and len(left):
        worth = np.round((1 - diversity) * relevance[left] - diversity * alike, _DECIMALS)
        best = int(np.argmax(worth))
        row = int(left[best])
        near = vectors[left] @ vectors[row]
        alike = near if not taken else np.maximum(alike, near)
        taken.append(row)
        left, alike = np.delete(left, best), np.delete(alike, best)
    return taken


def _vectors(model: TopicModel, texts: Any) -> tuple[list[str], Array]:
    """Texts and their vectors, without embeddings."""
    scorer = model.state.edited.scorer
    strings: list[pl.Series] = []
    vectors = []
    for batch, _ in model._batches(texts):
        counts = without_columns(model.vectorizer_.counts_and_typos(batch)[0], scorer.banned)
        strings.append(as_strings(batch))
        vectors.append(np.asarray(scorer.method.space.text_vectors(counts), dtype=np.float64))
    return pl.concat(strings).to_list(), np.concatenate(vectors)


def _new(texts: list[str], read: list[str], relevance: Array) -> Ints:
    """Rows that can be recommended: relevant, not read before, and the first of copies."""
    known, new = set(read), []
    for row, text in enumerate(texts):
        if text not in known and relevance[row] > 0:
            known.add(text)
            new.append(row)
    return np.array(new, dtype=np.int64)
