"""What a fitted model says of texts that it is given: the same steps as in the fit, a batch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.embeddings import vectors_of
from coterie.results import Assignments
from coterie.text.markup import without_gaps
from coterie.topics.collection import as_strings
from coterie.topics.describe import confidence_of, explained
from coterie.topics.memberships import calibrated
from coterie.topics.reshape import Array
from coterie.topics.scorer import NONE, Scored
from coterie.topics.scores import Look, Scores, look

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel


def topic_ids(model: TopicModel) -> npt.NDArray[np.int64]:
    """The id of the topic in each column of memberships; the last entry answers for `NONE` = −1."""
    return np.array([*model.state.edited.scorer.ids, NONE], dtype=np.int64)


def score_texts(model: TopicModel, texts: pl.Series) -> Scored:
    """Memberships and vectors of texts."""
    counts = model.vectorizer_.transform(texts)
    vectors = None
    if (source := model.embeddings_) is not None:
        counted = without_gaps(as_strings(model.vectorizer_.counted_texts(texts)))
        vectors = vectors_of(source, counted.to_list(), np.diff(counts.indptr) > 0)
    return model.state.edited.scorer.score(counts, vectors)


def scores_of(model: TopicModel, texts: pl.Series) -> Scores:
    """The record of texts, as the fit keeps it for its own."""
    return record(model, score_texts(model, texts), texts)


def memberships_of(model: TopicModel, texts: pl.Series) -> Array:
    """Memberships of texts, the largest of each text its confidence."""
    scored = score_texts(model, texts)
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
    return look(edited.scorer, scored, pins)


def assignments(model: TopicModel, scores: Scores) -> Assignments:
    """Records as people read them: topics by their ids, words as they are written."""
    ids = topic_ids(model)
    return Assignments(
        ids[scores.topic],
        scores.confidence,
        ids[scores.second],
        scores.words,
        scores.related,
        scores.note,
        model.vectorizer_.vocabulary_.display,
        {topic.id: topic.label for topic in model.state.topics},
    )
