"""Counts of a fitted model over time and by class, as tables of polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from coterie.topics import changes as compared
from coterie.topics.reshape import Ints
from coterie.topics.trends import Period, as_classes, as_dates, by_group, class_periods, numbered, periods

if TYPE_CHECKING:
    from coterie.topics.collection import Collection
    from coterie.topics.model import TopicModel


def over_time(
    model: TopicModel, dates: Any, every: Period, classes: Any, day_first: bool | None
) -> pl.DataFrame:
    """See `TopicModel.over_time`."""
    texts = _collection(model).texts
    starts = periods(as_dates(model.columns.dates_for(dates, texts), day_first), every).rename("period")
    if classes is None:
        return _by(model, starts)
    there = _counted_texts(model) >= 0
    classes = as_classes(model.columns.classes_for(classes, texts))
    for column in (starts, classes):
        numbered(column, len(there))
    return class_periods(classes, starts, there)


def changes(
    model: TopicModel, dates: Any, every: Period, classes: Any, day_first: bool | None
) -> pl.DataFrame:
    """See `TopicModel.changes`."""
    groups, texts = _counted_texts(model), _collection(model).texts
    names: dict[str, list[Any]] = {
        "topic": [topic.id for topic in model.topics],
        "label": [topic.label for topic in model.topics],
    }
    if classes is not None:
        numbers, known = numbered(as_classes(model.columns.classes_for(classes, texts)), len(groups))
        groups, names = np.where(groups >= 0, numbers, -1), {"class": known.to_list()}
    days = as_dates(model.columns.dates_for(dates, texts), day_first)
    found = compared.changes(groups, len(next(iter(names.values()))), days, every)
    return compared.frame(found, {name: pl.Series(name, values) for name, values in names.items()})


def by_class(model: TopicModel, classes: Any) -> pl.DataFrame:
    """See `TopicModel.by_class`."""
    return _by(model, as_classes(model.columns.classes_for(classes, _collection(model).texts)))


def _collection(model: TopicModel) -> Collection:
    return model._with_texts("counts over time and by class need the fitted texts")


def _counted_texts(model: TopicModel) -> Ints:
    """The number of the topic of each text, −1 for one without a known word."""
    collection = _collection(model)
    assert model.state.scores is not None
    columns: Ints = model.state.scores.topic[collection.corpus.rows]
    return columns


def _by(model: TopicModel, groups: pl.Series) -> pl.DataFrame:
    collection, scorer, scores = _collection(model), model.state.edited.scorer, model.state.scores
    assert scores is not None
    labels = [topic.label for topic in model.topics]
    names = model.vectorizer_.vocabulary_.display
    engine = collection.engine(scorer.banned)
    return by_group(engine, collection.corpus.rows, scores.topic, groups, scorer.ids, labels, names)
