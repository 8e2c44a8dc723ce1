"""Topics over time and by class, as counts; what cannot be counted is said instead."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.errors import InputError
from coterie.metrics import clustering_scores
from coterie.report.wording import shortened
from coterie.text.dates import read_dates
from coterie.topics.trends import Period, periods

Ints = npt.NDArray[np.integer[Any]]

#: Names of periods and about how many days they have; the finest that gives few enough is taken.
_PERIODS: tuple[tuple[Period, int], ...] = (
    ("day", 1), ("week", 7), ("month", 30), ("quarter", 91), ("year", 365),
)  # fmt: skip
_MOST_PERIODS = 24
#: Years that are counted together where there are too many, and the most bars a timeline has.
_YEARS, _MOST_BARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000), 48
#: More classes make no table that a person reads.
MOST_CLASSES = 60


@dataclass(frozen=True)
class Columns:
    """Columns of the input that the page shows topics by; None where there is none."""

    dates: pl.Series | None = None
    date_name: str = ""
    classes: pl.Series | None = None
    class_name: str = ""
    day_first: bool | None = None


def over_time(columns: Columns, topics: Ints, n_topics: int) -> dict[str, Any] | None:
    """Texts of each topic in each period, periods without a text included; None without dates.

    `topics` are the indexes of their topics, negative for texts that do not count.
    """
    if columns.dates is None:
        return None
    name = shortened(columns.date_name, 60)
    try:
        read = read_dates(columns.dates, columns.day_first)
        dates, bad = _one_each(read.days, len(topics)), read.unread
    except InputError as error:
        return {"name": name, "note": f"The dates could not be read: {shortened(str(error), 200)}."}
    dated = dates.is_not_null().to_numpy()
    if bad is not None and bad.count > dated.sum():  # this is no column of dates
        return {"name": name, "note": f"The dates could not be read: {shortened(bad.sentence, 200)}."}
    if not dated.any():
        return {"name": name, "note": "No text has a date."}
    unit, begins = _periods(dates.drop_nulls())
    known = _all_periods(begins, unit)
    number = begins.replace_strict(known, np.arange(len(known)), return_dtype=pl.Int64).to_numpy()
    step = next((years for years in _YEARS if len(known) / years <= _MOST_BARS), _YEARS[-1])
    if step > 1:
        number, known, unit = number // step, known[::step], f"{step} years"
    counts = _table(topics[dated], number, n_topics, len(known))
    return {
        "name": name,
        "unit": unit,
        "periods": [_spelled(begin, unit) for begin in known],
        "totals": counts.sum(axis=0).tolist(),
        "texts": counts.tolist(),
        "undated": int((~dated).sum()),
        "note": "",
    }


def _periods(dates: pl.Series) -> tuple[str, pl.Series]:
    low, high = dates.min(), dates.max()
    span = (high - low).days if isinstance(low, dt.date) and isinstance(high, dt.date) else 0
    fits = [unit for unit, days in _PERIODS if span / days <= _MOST_PERIODS]
    unit: Period = (fits or ["year"])[0]
    return unit, periods(dates, unit)


def _all_periods(begins: pl.Series, unit: str) -> pl.Series:
    every = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}[unit]
    return pl.select(pl.date_range(begins.min(), begins.max(), every)).to_series()  # type: ignore[arg-type]


def _spelled(begin: Any, unit: str) -> str:
    """The first day of a period as people write the period."""
    if unit == "month":
        return f"{begin:%Y-%m}"
    if unit == "quarter":
        return f"{begin.year} Q{(begin.month + 2) // 3}"
    return str(begin.year) if "year" in unit else begin.isoformat()


def by_class(columns: Columns, topics: Ints, n_topics: int, given: Ints) -> dict[str, Any] | None:
    """Texts of each topic in each class, and how far topics are classes; None without classes.

    A text without a known word, whose topic is negative, is in no cell; the scores are those of the topics
    that all texts are `given`.
    """
    if columns.classes is None:
        return None
    name = shortened(columns.class_name, 60)
    try:
        values = _one_each(columns.classes.cast(pl.String), len(topics))
    except InputError as error:
        return {"name": name, "note": f"{error}."}
    known = values.drop_nulls().unique().sort()
    if not len(known):
        return {"name": name, "note": "No text has a class."}
    if len(known) > MOST_CLASSES:
        return {"name": name, "note": f"There are {len(known):,} classes, too many for a table."}
    classed = values.is_not_null().to_numpy()
    number = values.drop_nulls().replace_strict(
        known, np.arange(len(known)), return_dtype=pl.Int64
    ).to_numpy()  # fmt: skip
    counts = _table(topics[classed], number, n_topics, len(known))
    scores = clustering_scores(number, given[classed])
    # a class stands where the topic does that holds most of it: agreement shows as a diagonal
    order = np.lexsort((-counts.sum(axis=0), counts.argmax(axis=0)))
    return {
        "name": name,
        "classes": [shortened(known[int(at)], 60) or "(empty)" for at in order],
        "totals": counts.sum(axis=0)[order].tolist(),
        "texts": counts[:, order].tolist(),
        "unclassed": int((~classed).sum()),
        "scores": {
            key: round(float(getattr(scores, key)), 4) for key in ("purity", "nmi", "ari", "accuracy")
        },
        "note": "",
    }


def _one_each(values: pl.Series, n_texts: int) -> pl.Series:
    if len(values) != n_texts:
        raise InputError(f"There are {len(values):,} values for {n_texts:,} texts")
    return values


def _table(rows: Ints, columns: Ints, n_rows: int, n_columns: int) -> Ints:
    there = rows >= 0
    cells = rows[there] * n_columns + columns[there]
    return np.bincount(cells, minlength=n_rows * n_columns).reshape(n_rows, n_columns)
