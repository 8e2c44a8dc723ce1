"""What grew and what fell: the shares of the last period against those before it.

1. Shares are compared, not counts, so a period that is not over yet does not look like a fall.
2. Texts come in bursts: forty tickets about one outage are not forty independent voices. The *dispersion* of
   a topic is how much more its share varies than that of independent texts would. It is measured from day to
   day on both sides of the comparison, and from period to period before the last one; the largest counts,
   and never less than that of the middle topic. Texts divided by dispersion are the *effective* number.
3. The limits of a share are the exact ones of Clopper and Pearson for effective numbers; those of a
   difference follow from the limits of both shares (the square-and-add method of Zou and Donner).
4. Intervals hold for all topics and both comparisons at once: in a file where nothing changed, with a
   probability of at most `FALSE_ALARMS`, some interval does not contain 0. A change is clear if its interval
   does not contain 0.

Topics are only one way to group texts; classes are compared in the same way.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.stats import beta, chi2, norm
from scipy.stats import t as student

from coterie.errors import InputError
from coterie.topics.trends import Period, chosen_period, last_day, periods

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]
Trend = Literal["new", "grew", "fell", ""]

#: The most probable that some change looks clear in a file where nothing changed.
FALSE_ALARMS = 0.05
#: The probability that a share is beyond one limit of its own interval.
_TAIL = 0.025
#: What grew from less than this part of its share now is new.
NEW = 0.1
#: How much a median tells of what the mean of normal values tells.
_MEDIAN = 2 / np.pi
#: Columns of a data frame of changes, after those that name the groups.
_COLUMNS: dict[str, Any] = {
    "period": pl.String, "texts": pl.Int64, "share": pl.Float64, "against": pl.String,
    "period_before": pl.String, "texts_before": pl.Int64, "share_before": pl.Float64, "change": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "trend": pl.String,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """Days from the first to the last, both included."""

    first: dt.date
    last: dt.date

    def __str__(self) -> str:
        return spelled(self)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The last period against an earlier span; arrays have one entry per group."""

    name: str
    span: Span
    texts: Ints
    share: Array
    change: Array
    low: Array
    high: Array

    @property
    def clear(self) -> Ints:
        """1 for a share that clearly grew, −1 for one that clearly fell, 0 otherwise."""
        return (self.low > 0).astype(np.int64) - (self.high < 0).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Changes:
    """The last period, and what it is compared with: the period before, and up to a year before."""

    unit: str
    span: Span
    texts: Ints
    share: Array
    comparisons: tuple[Comparison, ...]

    @property
    def main(self) -> Comparison:
        """The comparison with the most texts: the year before, or all there is."""
        return self.comparisons[-1]

    @property
    def clearest(self) -> Ints:
        """For each group the number of the comparison to tell: the main one unless only another is clear."""
        at = np.full(len(self.texts), len(self.comparisons) - 1)
        for number in range(len(self.comparisons) - 1):
            at[(self.main.clear == 0) & (self.comparisons[number].clear != 0)] = number
        return at

    @property
    def trends(self) -> list[Trend]:
        """For each group, whether it is new, grew or fell; empty where no change is clear."""
        return [trend(self.comparisons[at], self.share, group) for group, at in enumerate(self.clearest)]


def frame(found: Changes | None, groups: dict[str, pl.Series]) -> pl.DataFrame:
    """One row per group and comparison; `groups` are the columns that name the groups."""
    schema = {**{name: column.dtype for name, column in groups.items()}, **_COLUMNS}
    parts = [pl.DataFrame(schema=schema)]
    for one in found.comparisons if found else ():
        assert found is not None
        said = {
            "period": str(found.span),
            "texts": found.texts,
            "share": found.share,
            "against": one.name,
            "period_before": str(one.span),
            "texts_before": one.texts,
            "share_before": one.share,
            "change": one.change,
            "low": one.low,
            "high": one.high,
            "trend": [trend(one, found.share, group) for group in range(len(found.texts))],
        }
        parts.append(pl.DataFrame({**groups, **said}, schema=schema))
    return pl.concat(parts)


def trend(one: Comparison, share: Array, group: int) -> Trend:
    """What a comparison says about a group."""
    clear = one.clear[group]
    if clear > 0:
        return "new" if one.share[group] < NEW * share[group] else "grew"
    return "fell" if clear < 0 else ""


def changes(
    groups: Ints, n_groups: int, dates: pl.Series, every: Period = "auto", texts: Ints | None = None
) -> Changes | None:
    """The last period against those before it; None where there is only one period.

    `groups` is the number of the group of each text, negative for texts that do not count, `dates` a column
    of dates, null for texts without one. With `texts`, an entry stands for so many texts.

    >>> months = pl.Series([dt.date(2024, month, day) for month in (1, 2) for day in range(1, 29)] * 20)
    >>> groups = np.where(months.dt.month() == 2, np.arange(1120) % 2, 0)  # the second group begins then
    >>> found = changes(groups, 2, months, "month")
    >>> found.trends, str(found.span), str(found.main.span)
    (['fell', 'new'], '1 to 28 February 2024', 'January 2024')
    """
    if len(groups) != len(dates):
        raise InputError(f"one value per text is needed: got {len(dates):,} for {len(groups):,} texts")
    there = dates.is_not_null().to_numpy() & (np.asarray(groups) >= 0)
    dates, groups = dates.filter(there), np.asarray(groups)[there]
    texts = None if texts is None else texts[there]
    unit = chosen_period(dates, every)
    starts = periods(dates, unit)
    known, days = starts.unique().sort().to_list(), sorted(dates.unique())
    if len(known) < 2:
        return None
    year = pl.Series(known[-1:]).dt.offset_by("-1y")[0]
    earlier = [start for start in known[:-1] if start >= year] or known[-2:-1]
    names = [f"{unit} before", "year before" if days[0] <= year else f"earlier {unit}s"]
    compared = {names[0]: earlier[-1:]} | ({names[1]: earlier} if len(earlier) > 1 else {})
    cells = Cells.count(groups, n_groups, dates, starts, texts)
    seen = int(cells.of([*earlier, known[-1]]).any(axis=1).sum())
    tail = FALSE_ALARMS / (2 * seen * len(compared))
    now, wobble = cells.of(known[-1:]), dispersion(cells.by_period(earlier), tail)

    def against(name: str, some: list[dt.date]) -> Comparison:
        before = cells.of(some)
        found = difference(now, before, wobble, tail)
        return Comparison(
            name,
            Span(max(some[0], days[0]), last_day(some[-1], unit)),
            before.sum(axis=1),
            shares(before),
            *found,
        )

    span = Span(max(known[-1], days[0]), days[-1])
    found = tuple(against(name, some) for name, some in compared.items())
    return Changes(unit, span, now.sum(axis=1), shares(now), found)


def share_limits(
    groups: Ints, n_groups: int, dates: pl.Series | None = None, texts: Ints | None = None
) -> tuple[Array, Array]:
    """The limits of the share of each group in all texts, 95 % each; bursts are seen where there are dates.

    With `texts`, an entry stands for so many texts.

    >>> [limit.round(2).tolist() for limit in share_limits(np.array([0, 0, 0, 1]), 2)]
    [[0.19, 0.01], [0.99, 0.81]]
    """
    groups = np.asarray(groups)
    there = groups >= 0
    sizes = _counted(groups[there], None if texts is None else texts[there], n_groups)
    spread = np.ones(n_groups)
    if dates is not None:
        there &= dates.is_not_null().to_numpy()
        days, texts = dates.filter(there), None if texts is None else texts[there]
        spread = dispersion(Cells.count(groups[there], n_groups, days, days, texts).counts, _TAIL)
    return limits(sizes, int(sizes.sum()), spread, _TAIL)


# --- counting


@dataclass(frozen=True)
class Cells:
    """Texts of each group on each day that has any: `counts` is groups × days, `starts` are their periods."""

    counts: Ints
    starts: pl.Series

    @classmethod
    def count(
        cls, groups: Ints, n_groups: int, dates: pl.Series, starts: pl.Series, texts: Ints | None = None
    ) -> Cells:
        """Count texts by group and day."""
        day, first = np.unique(dates.to_physical().to_numpy(), return_index=True)
        number = np.searchsorted(day, dates.to_physical().to_numpy())
        counts = _counted(groups.astype(np.int64) * len(day) + number, texts, n_groups * len(day))
        return cls(counts.reshape(n_groups, len(day)), starts[first])

    def of(self, some: Sequence[dt.date]) -> Ints:
        """The days of some periods."""
        return self.counts[:, self.starts.is_in(list(some)).to_numpy()]

    def by_period(self, some: Sequence[dt.date]) -> Ints:
        """Texts of each group in each of some periods."""
        return np.stack([self.of([start]).sum(axis=1) for start in some], axis=1)


def _counted(numbers: Ints, texts: Ints | None, many: int) -> Ints:
    """How many texts have each number."""
    counts = np.bincount(numbers, texts, many)  # of floats where there are weights, all of them whole
    return counts.astype(np.int64)


def shares(counts: Ints) -> Array:
    """The share of each group in all cells together."""
    share: Array = counts.sum(axis=1) / max(counts.sum(), 1)
    return share


# --- the statistics


def dispersion(counts: Ints, tail: float) -> Array:
    """How much more shares vary between cells (days or periods) than those of independent texts: at least 1.

    The variance of a share with cells as clusters, divided by that of independent texts. A group gets no less
    than the middle group: what wobbles everywhere wobbles here, too. The median is made unbiased, and larger
    where few cells or groups make it uncertain, as quantiles of Student's t exceed those of the normal
    distribution at a probability of `tail`.

    >>> steady, wild = np.array([[5, 5, 5, 5], [5, 5, 5, 5]]), np.array([[9, 1, 9, 1], [1, 9, 1, 9]])
    >>> dispersion(steady, 0.025).round(1), dispersion(wild, 0.025).round(1)
    (array([1., 1.]), array([22.5, 22.5]))
    """
    totals = counts.sum(axis=0)
    counts, totals = counts[:, totals > 0], totals[totals > 0]
    free, share = len(totals) - 1, shares(counts)
    alone = totals.sum() * share * (1 - share)
    varies = alone > 0
    if free < 1 or not varies.any():
        return np.ones(len(counts))
    squares = ((counts - share[:, None] * totals) ** 2).sum(axis=1) * (free + 1) / free
    own = np.divide(squares, alone, out=np.ones(len(counts)), where=varies)
    middle = np.median(own[varies]) * free / chi2.median(free)
    certain = free * varies.sum() * _MEDIAN  # degrees of freedom of the median
    middle *= (student.isf(tail, certain) / norm.isf(tail)) ** 2
    return np.maximum(np.maximum(own, middle), 1.0)


def limits(texts: Ints, total: int, dispersion: Array, tail: float) -> tuple[Array, Array]:
    """The exact limits of shares for effective numbers of texts; each is missed with a probability of `tail`.

    >>> [limit.round(3).tolist() for limit in limits(np.array([0, 5]), 50, np.ones(2), 0.025)]
    [[0.0, 0.033], [0.071, 0.218]]
    """
    hits, misses = texts / dispersion, (total - texts) / dispersion
    with np.errstate(invalid="ignore"):  # where there is none, the limit is that of all shares
        low = np.where(hits > 0, beta.ppf(tail, hits, misses + 1), 0.0)
        high = np.where(misses > 0, beta.ppf(1 - tail, hits + 1, misses), 1.0)
    return low, high


def difference(now: Ints, before: Ints, wobble: Array, tail: float) -> tuple[Array, Array, Array]:
    """The change of shares from the days before, and its limits; `wobble` is the dispersion of periods."""
    then = np.maximum(dispersion(before, tail), wobble)
    here = np.maximum(dispersion(now, tail), then)  # the last period may be too short to show its own
    one, other = shares(now), shares(before)
    low, high = limits(now.sum(axis=1), int(now.sum()), here, tail)
    least, most = limits(before.sum(axis=1), int(before.sum()), then, tail)
    change = one - other
    return change, change - np.hypot(one - low, most - other), change + np.hypot(high - one, other - least)


# --- words


def spelled(span: Span) -> str:
    """Days as people write them.

    >>> day = dt.date
    >>> print(Span(day(2025, 10, 1), day(2025, 10, 31)), Span(day(2025, 10, 1), day(2025, 10, 9)), sep="; ")
    October 2025; 1 to 9 October 2025
    >>> print(Span(day(2024, 1, 1), day(2025, 12, 31)), Span(day(2025, 3, 5), day(2025, 3, 5)), sep="; ")
    2024 to 2025; 5 March 2025
    >>> print(Span(day(2024, 12, 30), day(2025, 1, 5)), Span(day(2025, 1, 1), day(2025, 3, 31)), sep="; ")
    30 December 2024 to 5 January 2025; January to March 2025
    """
    first, last = span.first, span.last
    if (first.day, first.month, last.day, last.month) == (1, 1, 31, 12):
        begin, end = [f"{first.year}"], [f"{last.year}"]
    elif first.day == 1 and (last + dt.timedelta(days=1)).day == 1:
        begin, end = f"{first:%B %Y}".split(), f"{last:%B %Y}".split()
    else:
        begin, end = f"{first.day} {first:%B %Y}".split(), f"{last.day} {last:%B %Y}".split()
    own = [word for at, word in enumerate(begin) if begin[at:] != end[at:]]  # without what both end with
    return " ".join([*own, "to", *end] if own else end)
