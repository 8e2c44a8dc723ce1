"""How well topics predict words that they were not shown: the score of a model on texts.

1. The known terms of each text are cut into two halves.
2. The memberships of the text are read off one half alone.
3. A topic is a distribution of terms: those of its fitted texts, smoothed by those of all. Memberships mix
   the topics, and the mixture is asked for the terms of the other half.
4. The score is what that tells about each term beyond how common the term is, in bits, as a mean over terms.

A model with one topic has 0. Topics that are too coarse tell little, and topics that are too fine are wrong
about the other half, so the score of texts left out can choose the number of topics.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

from coterie.embeddings import is_given, vectors_of
from coterie.errors import InputError
from coterie.topics.describe import confidence_of
from coterie.topics.memberships import calibrated
from coterie.topics.reshape import Array
from coterie.topics.scores import look

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

#: Terms of the whole that are added to those of each topic, and how often each term is counted unseen.
_PRIOR_TERMS, _UNSEEN = 200.0, 0.1


def bits_per_term(model: TopicModel, batches: Iterable[pl.Series]) -> float:
    """The score of texts; 0 if no text has a known term."""
    if is_given(model.embeddings_):
        raise InputError(
            "a score needs embeddings of halves of texts, and this model has no encoder to make them",
            python="TopicModel(embeddings=encoder) has one",
        )
    topics = model.state.description.counts
    used = topics.sum(axis=0) + _UNSEEN
    common = used / used.sum()
    lift = (topics / common + _PRIOR_TERMS) / (topics.sum(axis=1, keepdims=True) + _PRIOR_TERMS)
    bits, terms = 0.0, 0.0
    for texts in batches:
        counts = model.vectorizer_.counts_and_typos(texts)[0]
        for shown, hidden in _both_ways(counts):
            rows = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))
            gain = np.einsum("nt,tn->n", _shares(model, shown)[rows], lift[:, hidden.indices])
            bits += float(hidden.data @ np.log2(gain))
            terms += float(hidden.data.sum())
    return bits / terms if terms else 0.0


def _both_ways(counts: csr_matrix) -> list[tuple[csr_matrix, csr_matrix]]:
    """The first, third … term of each text and its other terms; and the other way round."""
    counts = counts.sorted_indices()
    number = np.arange(counts.nnz) - np.repeat(counts.indptr[:-1], np.diff(counts.indptr))
    halves = []
    for odd in (0, 1):
        half = counts.copy()
        half.data = np.where(number % 2 == odd, half.data, 0.0)
        half.eliminate_zeros()
        halves.append(half)
    return [(halves[0], halves[1]), (halves[1], halves[0])]


def _shares(model: TopicModel, counts: csr_matrix) -> Array:
    """Memberships of texts by their counts alone; the sizes of topics where nothing is known."""
    vectors = None
    if (source := model.embeddings_) is not None:
        names, cuts = np.array(model.vectorizer_.vocabulary_.display), counts.indptr
        texts = [" ".join(names[counts.indices[a:b]]) for a, b in pairwise(cuts)]
        vectors = vectors_of(source, texts, np.diff(cuts) > 0)
    scorer, described = model.state.edited.scorer, model.state.description
    scored = scorer.score(counts, vectors)
    seen, _ = look(scorer, scored, {})
    shares = calibrated(scored.memberships, seen.topic, confidence_of(described, seen, scored.vectors))
    usual = (described.sizes + _UNSEEN) / (described.sizes + _UNSEEN).sum()
    return np.where(shares.any(axis=1, keepdims=True), shares, usual)
