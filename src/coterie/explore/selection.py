"""Which rows, in which order, and where on the map: filters as data, their answers kept for the last few."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError
from coterie.explore.caches import Recent
from coterie.explore.facets import Facets
from coterie.explore.rows import NO_DAY, NONE, Rows, day
from coterie.explore.search import Words

Rows32 = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
Box = tuple[float, float, float, float]
Corner = tuple[float, float]
Sort = Literal["row", "confidence", "topic", "date", "class", "length", "match"]

#: Selections and orders that are kept.
_KEPT, _ORDERS = 12, 4
#: Queries whose texts are kept: each part of the page asks for them with other filters.
_QUERIES = 2
#: Queries for which it is kept which words no text holds.
_ABSENT = 64
#: Corners of a lasso.
MOST_CORNERS = 200


@dataclass(frozen=True)
class Filters:
    """Conditions that all hold; those that are empty or None say nothing.

    `only` are numbers of columns with a value: a text has one of the values that are named for a column.
    """

    q: str = ""
    mode: Literal["words", "meaning"] = "words"
    topics: tuple[int, ...] = ()
    least: float | None = None
    most: float | None = None
    classes: tuple[str, ...] = ()
    only: tuple[tuple[int, str], ...] = ()
    since: dt.date | None = None
    until: dt.date | None = None
    lasso: tuple[Corner, ...] = ()
    rows: tuple[int, ...] = ()
    known: bool | None = None


class Selection:
    """Rows chosen by filters. `at` gives the positions of all, `scores` how well each matches a query."""

    def __init__(
        self,
        rows: Rows,
        ids: list[int],
        facets: Facets,
        at: Callable[[], Floats],
        scores: Callable[[str], Floats | None],
    ):
        self._rows, self._ids, self._facets, self._at, self._scores = rows, ids, facets, at, scores
        self._found: Recent[tuple[str, str], Bools | None] = Recent(_QUERIES)
        self._chosen: Recent[Filters, Rows32 | None] = Recent(_KEPT)
        self._orders: Recent[tuple[Filters, Sort, bool], Rows32] = Recent(_ORDERS)
        self._absent: Recent[str, tuple[str, ...]] = Recent(_ABSENT)

    def chosen(self, filters: Filters) -> Rows32 | None:
        """The rows in their order; None for all."""
        return self._chosen.get(filters, lambda: self._choose(filters))

    def mask(self, filters: Filters) -> Bools | None:
        """Which rows; None for all."""
        chosen = self.chosen(filters)
        if chosen is None:
            return None
        mask = np.zeros(self._rows.n, dtype=bool)
        mask[chosen] = True
        return mask

    def ordered(self, filters: Filters, sort: Sort, descending: bool) -> Rows32:
        """The rows in an order; those that are equal stand as they came."""
        return self._orders.get((filters, sort, descending), lambda: self._order(filters, sort, descending))

    def absent(self, q: str) -> tuple[str, ...]:
        """Words of a query that no text holds."""

        def make() -> tuple[str, ...]:
            found = self.chosen(Filters(q=q))
            if found is None or len(found):
                return ()
            return Words.of(q).absent(self._rows.frame["folded"])

        return self._absent.get(q, make)

    # --- choosing

    def _choose(self, filters: Filters) -> Rows32 | None:
        parts = [part for part in self._conditions(filters) if part is not None]
        if not parts:
            return None
        return np.flatnonzero(np.logical_and.reduce(parts)).astype(np.uint32)

    def _conditions(self, filters: Filters) -> Any:
        rows = self._rows
        if filters.rows:
            yield self._numbered(filters.rows)
        if filters.topics:
            wanted = [index for index, topic in enumerate(self._ids) if topic in set(filters.topics)]
            yield np.isin(rows.topic, np.array(wanted, dtype=np.uint16)) & rows.known()
        if filters.least is not None:
            yield rows.confidence >= np.float32(filters.least)
        if filters.most is not None:
            yield rows.confidence <= np.float32(filters.most)
        if filters.known is not None:
            yield rows.known() == filters.known
        if filters.classes:
            yield self._classed(filters.classes)
        for column in dict.fromkeys(column for column, _ in filters.only):
            yield self._valued(column, {value for number, value in filters.only if number == column})
        if filters.since is not None or filters.until is not None:
            yield self._dated(filters.since, filters.until)
        if filters.lasso:
            yield in_polygon(self._at(), filters.lasso)
        if filters.q:
            yield self._found.get((filters.mode, filters.q), lambda: self._searched(filters))

    def _numbered(self, numbers: tuple[int, ...]) -> Bools:
        mask = np.zeros(self._rows.n, dtype=bool)
        wanted = np.array(numbers, dtype=np.int64)
        mask[wanted[wanted < self._rows.n]] = True
        return mask

    def _classed(self, names: tuple[str, ...]) -> Bools:
        classes = self._rows.classes()
        if classes is None:
            raise InputError("this run has no column of classes to filter by")
        codes, known = classes
        wanted = set(names)
        numbers = [number for number, name in enumerate(known) if name in wanted]
        return np.isin(codes, np.array(numbers, dtype=np.int16))

    def _valued(self, column: int, values: set[str]) -> Bools:
        facet = self._facets.of(column)
        if facet is None:
            raise InputError(f"this run has no column {column} of few values to filter by")
        numbers = [number for number, name in enumerate(facet.values) if name in values]
        return np.isin(facet.codes, np.array(numbers, dtype=np.int16))

    def _dated(self, since: dt.date | None, until: dt.date | None) -> Bools:
        days = self._rows.days()
        if days is None:
            raise InputError("this run has no column of dates to filter by")
        mask = days != NO_DAY
        if since is not None:
            mask &= days >= day(since)
        if until is not None:
            mask &= days <= day(until)
        return mask

    def _searched(self, filters: Filters) -> Bools | None:
        if filters.mode == "meaning":
            scores = self._scores(filters.q)
            return np.zeros(self._rows.n, dtype=bool) if scores is None else scores > 0
        words = Words.of(filters.q)
        return words.within(self._rows.frame["folded"]) if words.parts else None

    # --- ordering

    def _order(self, filters: Filters, sort: Sort, descending: bool) -> Rows32:
        chosen = self.chosen(filters)
        rows = np.arange(self._rows.n, dtype=np.uint32) if chosen is None else chosen
        key = self._key(filters, sort)
        if key is None:
            return rows[::-1] if descending and sort == "row" else rows
        values, missing = key
        values = values[rows]
        order = np.argsort(-values if descending else values, kind="stable")
        if missing is not None:  # what has no value stands at the end, whatever the direction
            gone = missing[rows][order]
            order = np.concatenate([order[~gone], order[gone]])
        return rows[order]

    def _key(self, filters: Filters, sort: Sort) -> tuple[Any, Bools | None] | None:
        """What to sort by, and where that is missing; None where there is nothing to sort by."""
        rows = self._rows
        key: tuple[Any, Bools | None] | None = None
        if sort == "confidence":
            key = rows.confidence, None
        elif sort == "topic":
            key = rows.topic.astype(np.int32), ~rows.known()
        elif sort == "length":
            key = rows.lengths().astype(np.int64), None
        elif sort == "date" and (days := rows.days()) is not None:
            key = days.astype(np.int64), days == NO_DAY
        elif sort == "class" and (classes := rows.classes()) is not None:
            key = classes[0].astype(np.int32), classes[0] == NONE
        elif sort == "match" and filters.q and filters.mode == "meaning":
            scores = self._scores(filters.q)
            key = None if scores is None else (np.round(scores, 6), None)
        return key


# --- the map


class Points:
    """Texts as points, in the order of their priority: the first of any selection are a fair sample of it."""

    def __init__(self, at: Floats, topic: npt.NDArray[np.uint16], confidence: Floats):
        there = np.flatnonzero(np.isfinite(at).all(axis=1))
        order = there[np.argsort(priority(there), kind="stable")]
        self.rows = order.astype(np.uint32)
        self.x, self.y = (np.ascontiguousarray(at[order, axis], dtype=np.float32) for axis in (0, 1))
        self.topic = topic[order]
        self.sure = np.round(np.clip(confidence[order], 0.0, 1.0) * 255).astype(np.uint8)

    def __len__(self) -> int:
        return len(self.rows)

    def packed(
        self,
        box: Box | None,
        limit: int,
        mask: Bools | None = None,
        groups: npt.NDArray[np.int16] | None = None,
    ) -> bytes:
        """The first points of a view as bytes, and how many are in it and in all.

        `mask` and `groups`, by which points can be coloured, are by row.
        """
        chosen = None if mask is None else mask[self.rows]
        inside = chosen
        if box is not None:
            x0, y0, x1, y1 = box
            with np.errstate(over="ignore"):  # of a view wider than numbers of four bytes reach
                inside = (self.x >= x0) & (self.x <= x1)
                inside &= (self.y >= y0) & (self.y <= y1)
            if chosen is not None:
                inside &= chosen
        everyone = len(self) if chosen is None else int(chosen.sum())
        shown = np.arange(min(limit, len(self))) if inside is None else np.flatnonzero(inside)
        in_view = everyone if inside is None else len(shown)
        shown = shown[:limit]
        head = np.array([len(shown), in_view, everyone, int(groups is not None)], dtype="<u4")
        grouped = () if groups is None else (groups[self.rows[shown]].astype("<i2"),)
        parts = (
            head,
            self.x[shown].astype("<f4"),
            self.y[shown].astype("<f4"),
            self.rows[shown].astype("<u4"),
            *grouped,
            self.topic[shown].astype("<u2"),
            self.sure[shown],
        )
        return b"".join(part.tobytes() for part in parts)


def priority(rows: Ints) -> npt.NDArray[np.uint64]:
    """A number for each row that looks random and depends on nothing else (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def in_polygon(at: Floats, corners: Sequence[Corner]) -> Bools:
    """Which points lie inside a polygon; where it crosses itself, those it goes around once, or thrice.

    >>> in_polygon(np.array([[0.5, 0.5], [2.0, 0.5]], np.float32), [(0, 0), (1, 0), (1, 1), (0, 1)]).tolist()
    [True, False]
    """
    found = np.zeros(len(at), dtype=bool)
    if len(corners) < 3:
        return found
    polygon = np.asarray(corners, dtype=np.float64)
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero(((at >= low) & (at <= high)).all(axis=1))
    x, y = at[near, 0].astype(np.float64), at[near, 1].astype(np.float64)
    inside = np.zeros(len(near), dtype=bool)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if ay == by:
            continue
        crossed = (y >= min(ay, by)) & (y < max(ay, by))  # a corner belongs to one of its sides
        inside ^= crossed & (x < ax + (y - ay) * ((bx - ax) / (by - ay)))
    found[near] = inside
    return found
