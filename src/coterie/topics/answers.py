"""What a fitted model says of texts that it is given: the same steps as in the fit, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.corpus.spelling import Typos
from coterie.embeddings import Vectors, known_only
from coterie.results import Assignments
from coterie.topics.collection import as_strings
from coterie.topics.describe import confidence_of, explained
from coterie.topics.memberships import calibrated
from coterie.topics.reshape import Array
from coterie.topics.scorer import NONE, Scored
from coterie.topics.scores import Look, Scores, look
from coterie.topics.vectors import new_vectors

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel


def topic_ids(model: TopicModel) -> npt.NDArray[np.int64]:
    """The id of the topic in each column of memberships; the last entry answers for `NONE` = −1."""
    return np.array([*model.state.edited.scorer.ids, NONE], dtype=np.int64)


def score_texts(
    model: TopicModel, texts: pl.Series, embeddings: Vectors | None = None
) -> tuple[Scored, Typos]:
    """Memberships and vectors of texts, and their misspelt words.

    Embeddings that are not given come from the encoder of the model.
    """
    counts, typos = model.vectorizer_.counts_and_typos(texts)
    if embeddings is None:
        embeddings = new_vectors(model, texts, counts)
    else:
        embeddings = known_only(embeddings, np.diff(counts.indptr) > 0)
    return model.state.edited.scorer.score(counts, embeddings), typos


def answers_to(model: TopicModel, batches: Iterable[tuple[pl.Series, Vectors | None]]) -> Assignments:
    """The assignments of texts, a batch at a time, with the embeddings given for them."""
    parts, misspelt, starts = [], [], [0]
    for texts, embeddings in batches:
        scored, typos = score_texts(model, texts, embeddings)
        parts.append(record(model, scored, texts))
        misspelt.append(typos)
        starts.append(starts[-1] + len(texts))
    return assignments(model, Scores.joined(parts), Typos.joined(misspelt, starts))


def memberships_of(model: TopicModel, texts: pl.Series, embeddings: Vectors | None = None) -> Array:
    """Memberships of texts, the largest of each text its confidence."""
    scored, _ = score_texts(model, texts, embeddings)
    seen = _looked_at(model, scored, texts)
    return calibrated(
        scored.memberships, seen.topic, confidence_of(model.state.description, seen, scored.vectors)
    )


def record(model: TopicModel, scored: Scored, texts: pl.Series) -> Scores:
    """The record of texts that were scored already."""
    seen = _looked_at(model, scored, texts)
    return explained(model.state.edited.scorer, model.state.description, scored.X, seen, scored.vectors)


def _looked_at(model: TopicModel, scored: Scored, texts: pl.Series) -> Look:
    """The topics of texts that were scored; those that are pinned have the topic of their pin."""
    edited = model.state.edited
    pins: dict[int, int] = {}
    if edited.pins:
        strings = as_strings(texts)
        for row in strings.is_in(list(edited.pins)).arg_true():
            pins[row] = edited.scorer.ids.index(edited.pins[strings[row]])
    return look(edited.scorer, scored, pins)[0]


def assignments(model: TopicModel, scores: Scores, typos: Typos) -> Assignments:
    """Records as people read them: topics by their ids, words as they are written.

    A misspelt word has a term of its own, which names both: "arive → arrive".
    """
    ids, terms, words = topic_ids(model), model.vectorizer_.vocabulary_.display, scores.words
    if len(typos.rows):
        words = words.copy()
        for at in range(words.shape[1]):
            named = words[typos.rows, at] == typos.columns
            words[typos.rows[named], at] = len(terms) + typos.numbers[named]
        terms = (*terms, *typos.spellings)
    return Assignments(
        ids[scores.topic],
        scores.confidence,
        ids[scores.second],
        words,
        scores.related,
        scores.note,
        terms,
        {topic.id: topic.label for topic in model.state.topics},
    )
