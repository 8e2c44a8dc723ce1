"""How many texts that match are in each topic, value and period, and what sets them apart from the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.explore.facets import Facet, Periods
from coterie.explore.guard import Later
from coterie.explore.opened import OpenedRun
from coterie.explore.schemas_counts import (
    ColumnContrast,
    ColumnCounts,
    Contrast,
    Contrasts,
    Counts,
    PeriodCount,
    PeriodCounts,
    TopicContrast,
    TopicCount,
    ValueCount,
)
from coterie.explore.selection import Filters

Ints = npt.NDArray[np.int64]

#: Words that are shown, and the log-likelihood they need: chance gives one of 10,000 words as much.
_WORDS, _CLEAR = 15, 15.1
#: Texts that must have a word, and topics and values that are shown.
_LEAST, _TOPICS, _VALUES = 2, 8, 4


def counts(opened: OpenedRun, filters: Filters) -> Counts:
    """How many texts that match are where; each kind is counted without its own filter."""
    return Counts(
        total=len(_rows(opened, filters)),
        in_all_topics=len(_rows(opened, replace(filters, topics=()))),
        topics=_by_topic(opened, replace(filters, topics=())),
        columns=[_by_value(opened, filters, facet) for facet in opened.facets().columns()],
        over_time=_by_period(opened, replace(filters, since=None, until=None)),
    )


def _rows(opened: OpenedRun, filters: Filters) -> npt.NDArray[np.uint32]:
    chosen = opened.selection().chosen(filters)
    return np.arange(opened.rows().n, dtype=np.uint32) if chosen is None else chosen


def _numbers(codes: npt.NDArray[Any], n: int) -> Ints:
    return np.bincount(codes[codes >= 0], minlength=n)


def _topics(opened: OpenedRun) -> Ints:
    """The index of the topic of each row, −1 for texts without a known word."""
    rows = opened.rows()
    return np.where(rows.known(), rows.topic.astype(np.int64), -1)


def _by_topic(opened: OpenedRun, filters: Filters) -> list[TopicCount]:
    found = _numbers(_topics(opened)[_rows(opened, filters)], len(opened.ids))
    return [TopicCount(id=id, count=int(n)) for id, n in zip(opened.ids, found, strict=True)]


def _by_value(opened: OpenedRun, filters: Filters, facet: Facet) -> ColumnCounts:
    others = tuple(one for one in filters.only if one[0] != facet.column)
    without = replace(filters, only=others, classes=() if facet.is_class else filters.classes)
    found = _numbers(facet.codes[_rows(opened, without)], len(facet.values))
    everywhere = _numbers(facet.codes, len(facet.values))
    return ColumnCounts(
        column=facet.column,
        name=facet.name,
        is_class=facet.is_class,
        values=[
            ValueCount(name=name, count=int(n), texts=int(whole))
            for name, n, whole in zip(facet.values, found, everywhere, strict=True)
        ],
    )


def _by_period(opened: OpenedRun, filters: Filters) -> PeriodCounts | None:
    time = opened.facets().periods()
    if time is None:
        return None
    found = _numbers(time.codes[_rows(opened, filters)], len(time.names))
    everywhere = _numbers(time.codes, len(time.names))
    return PeriodCounts(
        every=time.unit,
        periods=[
            PeriodCount(name=name, first=first, last=last, count=int(n), texts=int(whole))
            for name, first, last, n, whole in zip(
                time.names, time.first, time.last, found, everywhere, strict=True
            )
        ],
    )


# --- against the rest


def contrasts(opened: OpenedRun, filters: Filters) -> Contrasts:
    """What sets the texts that match apart; what they were filtered by is left out."""
    chosen = _rows(opened, filters)
    rest = np.ones(opened.rows().n, dtype=bool)
    rest[chosen] = False
    others = np.flatnonzero(rest)
    time = opened.facets().periods() if filters.since is None and filters.until is None else None
    return Contrasts(
        total=len(chosen),
        rest=len(others),
        words=_words(opened, chosen, len(others)),
        topics=_topic_contrasts(opened, chosen, others),
        columns=[
            ColumnContrast(column=facet.column, name=facet.name, values=values)
            for facet in opened.facets().columns()
            if not _filtered_by(filters, facet) and (values := _value_contrasts(facet, chosen, others))
        ],
        every=None if time is None else time.unit,
        periods=[] if time is None else _period_contrasts(time, chosen, others),
    )


def _filtered_by(filters: Filters, facet: Facet) -> bool:
    return any(column == facet.column for column, *_ in filters.only) or (
        facet.is_class and bool(filters.classes)
    )


def _words(opened: OpenedRun, chosen: npt.NDArray[np.uint32], n_rest: int) -> list[Contrast] | None:
    """Words that the chosen texts have more often than the rest, and not by chance."""
    try:
        index = opened.counted.get().index
    except Later:
        return None
    if not len(chosen) or not n_rest:
        return []
    here = index.texts_with_each(chosen)
    there = index.texts_with_each() - here
    here[list(opened.model.state.edited.scorer.banned)] = 0
    share, elsewhere = here / len(chosen), there / n_rest
    clear = log_likelihood(here, len(chosen), there, n_rest)
    clear[(share <= elsewhere) | (here < _LEAST)] = 0
    best = np.argsort(-np.round(clear, 6), kind="stable")[:_WORDS]
    names = opened.model.vectorizer_.vocabulary_.display
    return [
        _contrast(names[at], here[at], share[at], elsewhere[at]) for at in best.tolist() if clear[at] > _CLEAR
    ]


def log_likelihood(here: Any, n_here: int, there: Any, n_there: int) -> Any:
    """Twice the log-likelihood by which two shares differ, for each pair of counts; 0 where they are equal.

    >>> log_likelihood(np.array([5.0, 5.0]), 10, np.array([50.0, 0.0]), 100).round(1).tolist()
    [0.0, 26.8]
    """
    both, n_both = here + there, n_here + n_there

    def part(observed: Any, expected: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(observed > 0, observed * np.log(observed / expected), 0.0)

    sides = ((here, n_here), (there, n_there))
    return 2 * sum(part(k, n * both / n_both) + part(n - k, n * (n_both - both) / n_both) for k, n in sides)


def _shares(codes: npt.NDArray[Any], n: int, rows: npt.NDArray[Any]) -> tuple[Ints, Any]:
    found = _numbers(codes[rows], n)
    return found, found / max(int(found.sum()), 1)


def _topic_contrasts(
    opened: OpenedRun, chosen: npt.NDArray[Any], others: npt.NDArray[Any]
) -> list[TopicContrast]:
    topics, n = _topics(opened), len(opened.ids)
    found, share = _shares(topics, n, chosen)
    elsewhere = _shares(topics, n, others)[1]
    return [
        TopicContrast(
            id=opened.ids[at],
            **_contrast(opened.topics[at].label, found[at], share[at], elsewhere[at]).model_dump(),
        )
        for at in np.argsort(-found, kind="stable")[:_TOPICS].tolist()
        if found[at]
    ]


def _value_contrasts(facet: Facet, chosen: npt.NDArray[Any], others: npt.NDArray[Any]) -> list[Contrast]:
    """Values that are clearly more frequent than in the rest, the clearest first."""
    n = len(facet.values)
    found, share = _shares(facet.codes, n, chosen)
    rest, elsewhere = _shares(facet.codes, n, others)
    if not found.sum() or not rest.sum():
        return []
    clear = log_likelihood(found, int(found.sum()), rest, int(rest.sum()))
    clear[share <= elsewhere] = 0
    best = np.argsort(-np.round(clear, 6), kind="stable")[:_VALUES].tolist()
    return [
        _contrast(facet.values[at], found[at], share[at], elsewhere[at]) for at in best if clear[at] > _CLEAR
    ]


def _period_contrasts(time: Periods, chosen: npt.NDArray[Any], others: npt.NDArray[Any]) -> list[Contrast]:
    n = len(time.names)
    found, share = _shares(time.codes, n, chosen)
    elsewhere = _shares(time.codes, n, others)[1]
    return [_contrast(name, found[at], share[at], elsewhere[at]) for at, name in enumerate(time.names)]


def _contrast(name: str, count: Any, share: Any, rest: Any) -> Contrast:
    return Contrast(name=name, count=int(count), share=round(float(share), 5), rest=round(float(rest), 5))
