"""Topics over time and by class: counts, shares and characteristic words."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix
from scipy.stats import binom

from coterie.cluster.wording import distinctive
from coterie.engines import Block, Engine
from coterie.errors import InputError, shown
from coterie.text.dates import column_of, read_dates, spelled
from coterie.text.nulls import is_null_like
from coterie.topics.reshape import Ints

Period = Literal["auto", "day", "week", "month", "quarter", "year"]

#: How polars calls a period, and about how many days it has.
_PERIODS: dict[Period, tuple[str, int]] = {
    "day": ("1d", 1),
    "week": ("1w", 7),
    "month": ("1mo", 30),
    "quarter": ("1q", 91),
    "year": ("1y", 365),
}
#: "auto" takes the finest period that gives at most so many.
_MOST_PERIODS = 24
#: Terms of a topic in a group, and how probable it is that chance alone gives a topic one such term.
_TERMS, _CHANCE = 5, 0.05


def as_dates(values: Any, day_first: bool | None = None) -> pl.Series:
    """Dates of any kind as a column of dates, null where there is none; any other value is reported."""
    dates = read_dates(values, day_first)
    if dates.unread is not None:
        raise InputError(dates.unread.sentence)
    if dates.order.assumed:
        warnings.warn(f"{dates.order.sentence('dates')}; day_first=False reads them otherwise", stacklevel=3)
    return dates.days


def as_classes(values: Any) -> pl.Series:
    """Classes of any kind as a column of strings, null where there is none."""
    column = column_of(values, "classes")
    nested = isinstance(column, pl.Series) and column.dtype.is_nested()
    listed = next((v for v in column if isinstance(v, (list, tuple, dict, set))), None)
    if nested or listed is not None:
        raise InputError(f"a class must be a name or a number, got {listed!r:.60}")
    names = (spelled(value) for value in column)
    return pl.Series("class", [None if is_null_like(name or "") else name for name in names], dtype=pl.String)


def chosen_period(dates: pl.Series, every: Period) -> Period:
    """The length of a period: as asked for, or the finest that gives few enough.

    Dates that are all the first days of months, quarters or years stand for those.

    >>> chosen_period(pl.Series([dt.date(2026, 4, 1), dt.date(2026, 5, 1)]), "auto")
    'month'
    """
    if not isinstance(every, str) or every not in ("auto", *_PERIODS):
        raise InputError(f"every must be auto, {', '.join(_PERIODS)}; got {shown(every)}")
    if every != "auto":
        return every
    low, high = dates.min(), dates.max()
    span = (high - low).days if isinstance(low, dt.date) and isinstance(high, dt.date) else 0
    names = list(_PERIODS)
    if span:
        known = dates.drop_nulls().unique()
        firsts = [n for n, name in enumerate(names) if n > 1 and _are_firsts(known, _PERIODS[name][0])]
        names = names[max(firsts, default=0) :]
    return next((name for name in names if span / _PERIODS[name][1] <= _MOST_PERIODS), "year")


def _are_firsts(dates: pl.Series, unit: str) -> bool:
    return bool((dates.dt.truncate(unit) == dates).all())


def periods(dates: pl.Series, every: Period) -> pl.Series:
    """The first day of the period of each date."""
    return dates.dt.truncate(_PERIODS[chosen_period(dates, every)][0]).cast(pl.Date)


def last_day(start: dt.date, every: Period) -> dt.date:
    """The last day of the period that begins on a day.

    >>> last_day(dt.date(2024, 2, 1), "month")
    datetime.date(2024, 2, 29)
    """
    end: dt.date = pl.Series([start]).dt.offset_by(_PERIODS[every][0]).dt.offset_by("-1d")[0]
    return end


def all_periods(begins: pl.Series, every: Period) -> pl.Series:
    """The first days of all periods from the first to the last, those without a text included."""
    return pl.select(pl.date_range(begins.min(), begins.max(), _PERIODS[every][0])).to_series()  # type: ignore[arg-type]


def numbered(groups: pl.Series, n_texts: int) -> tuple[Ints, pl.Series]:
    """The number of the group of each text, −1 where it has none, and the groups in order.

    >>> number, known = numbered(pl.Series(["b", None, "a"]), 3)
    >>> number, known.to_list()
    (array([ 1, -1,  0]), ['a', 'b'])
    """
    if len(groups) != n_texts:
        raise InputError(f"one value per text is needed: got {len(groups):,} for {n_texts:,} texts")
    known = groups.drop_nulls().unique().sort()
    number = groups.replace_strict(known, np.arange(len(known)), default=-1, return_dtype=pl.Int64)
    return number.to_numpy(), known


def by_group(
    documents: Engine,
    rows: Ints,
    topic_columns: npt.NDArray[np.int32],
    groups: pl.Series,
    ids: Sequence[int],
    labels: Sequence[str],
    names: Sequence[str],
) -> pl.DataFrame:
    """Texts of each topic in each group (period or class): counts, share of the group, and its own words.

    `rows` is the distinct row of each text, `topic_columns` the column of the topic of each distinct row,
    −1 for texts that do not count. The words are those that the topic uses more in this group than otherwise.
    """
    number, known = numbered(groups, len(rows))
    rows = np.asarray(rows)
    there = (number >= 0) & (topic_columns[rows] >= 0)
    group, row = number[there], rows[there]
    cell = topic_columns[row].astype(np.int64) * max(len(known), 1) + group
    n_cells = len(ids) * len(known)
    member = csr_matrix((np.ones(len(row)), (cell, row)), shape=(n_cells, documents.n_rows))
    counts = documents.sum(lambda block: _counted(block, member))
    texts = np.bincount(cell, minlength=n_cells).reshape(len(ids), len(known))
    share = texts / np.maximum(texts.sum(axis=0), 1)
    return pl.DataFrame(
        {
            "topic": np.repeat(np.asarray(ids, dtype=np.int64), len(known)),
            "label": np.repeat(np.asarray(labels, dtype=object), len(known)).tolist(),
            groups.name: list(known) * len(ids),
            "texts": texts.ravel(),
            "share": share.ravel(),
            "terms": [
                words
                for topic in range(len(ids))
                for words in _own_words(counts, topic, len(known), names)
            ],
        },
        schema={
            "topic": pl.Int64, "label": pl.String, groups.name: known.dtype,
            "texts": pl.Int64, "share": pl.Float64, "terms": pl.List(pl.String),
        },
    )  # fmt: skip


def class_periods(classes: pl.Series, starts: pl.Series, there: npt.NDArray[np.bool_]) -> pl.DataFrame:
    """Texts of each class in each period, and their share of it; only texts that are `there` count."""
    both = pl.DataFrame({"class": classes, "period": starts}).filter(there).drop_nulls()
    every = both.select(pl.col("class").unique().sort()).join(
        both.select(pl.col("period").unique().sort()), how="cross"
    )
    counts = both.group_by("class", "period").agg(pl.len().cast(pl.Int64).alias("texts"))
    table = every.join(counts, on=["class", "period"], how="left", maintain_order="left")
    share = pl.col("texts") / pl.col("texts").sum().over("period")
    return table.with_columns(pl.col("texts").fill_null(0)).with_columns(share.alias("share"))


def _counted(block: Block, member: csr_matrix) -> csr_matrix:
    return (member[:, block.start : block.start + block.X.shape[0]] @ block.X).tocsr()


def _own_words(counts: csr_matrix, topic: int, n_groups: int, names: Sequence[str]) -> list[list[str]]:
    """For each group, the terms that the topic uses more often there than overall, and not by chance."""
    cells = counts[topic * n_groups : (topic + 1) * n_groups].toarray()
    whole = cells.sum(axis=0)
    total = float(whole.sum()) or 1.0
    chance = _CHANCE / max(int(np.count_nonzero(whole)) * n_groups, 1)
    words = []
    for row in cells:
        score = distinctive(row[None] / max(float(row.sum()), 1e-300), whole / total)[0]
        best = np.argsort(-np.round(score, 12), kind="stable")[: 4 * _TERMS]
        clear = binom.sf(row[best] - 1, whole[best], float(row.sum()) / total) < chance
        words.append([names[column] for column in best[clear][:_TERMS]])
    return words
