"""Topics over time and by class, as counts; what cannot be counted is said instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.metrics import clustering_scores
from coterie.report.tally import Tally
from coterie.report.wording import points, shortened
from coterie.topics.changes import Changes, Comparison, changes, trend
from coterie.topics.trends import all_periods, chosen_period, numbered, periods

Ints = npt.NDArray[np.integer[Any]]

#: Years that are counted together where there are too many, and the most bars a timeline has.
_YEARS, _MOST_BARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000), 48
#: Classes that are listed, and how many of a topic; more columns make no table that a person reads.
MOST_CLASSES, _FIRST, MOST_COLUMNS = 200, 3, 60


def over_time(
    tally: Tally, groups: Ints, n_groups: int, found: Changes | None = None
) -> dict[str, Any] | None:
    """Texts of each group in each period, periods without a text included, and what `found` says of changes.

    `groups` are the topics or the classes of what was counted, negative for texts that do not count. None
    without dates.
    """
    name = shortened(tally.date_name, 60)
    if tally.days is None:
        return {"name": name, "note": tally.date_note} if tally.date_note else None
    dated, texts = tally.days.is_not_null().to_numpy(), _texts(tally)
    known, number, unit = numbered_periods(tally.days.drop_nulls())
    counts = _table(groups[dated], number, texts[dated], n_groups, len(known))
    return {
        "name": name,
        "unit": unit,
        "periods": [period_name(begin, unit) for begin in known],
        "totals": counts.sum(axis=0).tolist(),
        "texts": counts.tolist(),
        "undated": int(texts[~dated].sum()),
        "changes": changed(found),
        "note": "",
    }


def changes_of(tally: Tally, groups: Ints, n_groups: int) -> Changes | None:
    """What grew and fell; None without dates, or with all of them in one period."""
    return None if tally.days is None else changes(groups, n_groups, tally.days, texts=tally.texts)


def changed(found: Changes | None) -> dict[str, Any] | None:
    """What grew and fell, as the page shows it: for each group one entry for each comparison."""
    if found is None:
        return None
    return {
        "period": str(found.span),
        "against": [[one.name, str(one.span)] for one in found.comparisons],
        "texts": found.texts.tolist(),
        "shares": np.round(found.share, 6).tolist(),
        "changes": [
            [
                [round(float(one.change[group]), 6), _points(one, group), trend(one, found.share, group)]
                for one in found.comparisons
            ]
            for group in range(len(found.texts))
        ],
        "clearest": found.clearest.tolist(),
    }


def _points(one: Comparison, group: int) -> str:
    return points(float(one.change[group]), float(one.low[group]), float(one.high[group]))


def numbered_periods(dates: pl.Series) -> tuple[pl.Series, Ints, str]:
    """First days of all periods, the number of the period of each date, and how long a period is."""
    every = chosen_period(dates, "auto")
    begins = periods(dates, every)
    known = all_periods(begins, every)
    number = begins.replace_strict(known, np.arange(len(known)), return_dtype=pl.Int64).to_numpy()
    step = next((years for years in _YEARS if len(known) / years <= _MOST_BARS), _YEARS[-1])
    return (known[::step], number // step, f"{step} years") if step > 1 else (known, number, str(every))


def period_name(begin: Any, unit: str) -> str:
    """The first day of a period as people write the period."""
    if unit == "month":
        return f"{begin:%Y-%m}"
    if unit == "quarter":
        return f"{begin.year} Q{(begin.month + 2) // 3}"
    return str(begin.year) if "year" in unit else begin.isoformat()


def by_class(tally: Tally, n_topics: int) -> dict[str, Any] | None:
    """Texts of each topic in each class, and how far topics are classes; None without classes.

    A text without a known word, whose topic is negative, is in no cell; the scores count it as a topic of its
    own. The table of all pairs is there if classes are few enough.
    """
    name = shortened(tally.class_name, 60)
    if tally.classes is None:
        return {"name": name, "note": tally.class_note} if tally.class_note else None
    topics, texts = tally.topics, _texts(tally)
    number, known = numbered(tally.classes, len(topics))
    classed = number >= 0
    counts = _table(topics[classed], number[classed], texts[classed], n_topics, len(known))
    scores = clustering_scores(number[classed], topics[classed], weights=texts[classed])
    shown = np.argsort(-counts.sum(axis=0), kind="stable")[:MOST_CLASSES]
    # in the table, a class stands where the topic does that holds most of it: agreement shows as a diagonal
    order = shown[np.lexsort((shown, -counts.sum(axis=0)[shown], counts.argmax(axis=0)[shown]))]
    return {
        "name": name,
        "classes": [shortened(known[int(at)], 60) for at in order],
        "totals": counts.sum(axis=0)[order].tolist(),
        "texts": counts[:, order].tolist() if len(known) <= MOST_COLUMNS else None,
        "sizes": counts.sum(axis=1).tolist(),
        "largest": _largest(counts.T[order]),
        "largestClasses": _largest(counts[:, order]),
        "time": _classes_over_time(tally, np.where(topics >= 0, number, -1), len(known), order),
        "left": len(known) - len(order),
        "unclassed": int(texts[~classed].sum()),
        "scores": {
            key: round(float(getattr(scores, key)), 4) for key in ("purity", "nmi", "ari", "accuracy")
        },
        "note": "",
    }


def _largest(counts: Ints) -> list[list[list[int]]]:
    """For each row the columns that have most of it, with their counts."""
    best = np.argsort(-counts, axis=1, kind="stable")[:, :_FIRST]
    return [
        [[int(at), int(row[at])] for at in some if row[at]] for row, some in zip(counts, best, strict=True)
    ]


def _classes_over_time(tally: Tally, classes: Ints, n_classes: int, order: Ints) -> dict[str, Any] | None:
    """Texts of each class in each period, and what grew or fell; None without dates."""
    counted = over_time(tally, classes, n_classes, changes_of(tally, classes, n_classes))
    if counted is None or counted["note"]:
        return None
    counted["texts"] = [counted["texts"][at] for at in order]
    if changes := counted["changes"]:
        for key in ("texts", "shares", "changes", "clearest"):
            changes[key] = [changes[key][at] for at in order]
    return counted


def _texts(tally: Tally) -> Ints:
    return np.ones(len(tally.topics), dtype=np.int64) if tally.texts is None else tally.texts


def _table(rows: Ints, columns: Ints, texts: Ints, n_rows: int, n_columns: int) -> Ints:
    there = rows >= 0
    cells = rows[there].astype(np.int64) * n_columns + columns[there]
    counts = np.bincount(cells, texts[there], n_rows * n_columns)
    return counts.astype(np.int64).reshape(n_rows, n_columns)
