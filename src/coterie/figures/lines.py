"""Shares of topics over time: one small drawing for each, all on the same scale."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from coterie.figures.bars import TRENDS
from coterie.figures.svg import (
    SIDE,
    TOP,
    WIDTH,
    cut,
    element,
    framed,
    line,
    percent,
    rule,
    short,
    titled,
    words,
)
from coterie.map.colours import Ground

_COLUMNS, _GAP = 4, 22.0
_WIDE = (WIDTH - 2 * SIDE - (_COLUMNS - 1) * _GAP) / _COLUMNS
#: Height of the name, the drawing and the dates of a panel, and of all of it.
_NAME, _HIGH, _PANEL = 20.0, 74.0, 132.0
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def draw(
    data: pl.DataFrame,
    topics: Sequence[int],
    trends: Mapping[int, str],
    title: str,
    note: str,
    colours: Mapping[int, str],
    ground: Ground,
) -> str:
    """A panel for each of `topics`."""
    rows = data.filter(pl.col("topic").is_in(topics))
    most = max([*rows["share"].to_list(), 1e-9])
    begin, end = rows["period"].min(), rows["period"].max()
    parts = []
    for at, topic in enumerate(topics):
        own = rows.filter(pl.col("topic") == topic).sort("period")
        x = SIDE + (at % _COLUMNS) * (_WIDE + _GAP)
        y = TOP + (at // _COLUMNS) * _PANEL
        span = (begin, end)
        parts.append(_panel(own, span, most, x, y, trends.get(topic, ""), colours[topic], ground))
    return framed(TOP + -(-len(topics) // _COLUMNS) * _PANEL, title, note, ground, *parts)


def _panel(
    own: pl.DataFrame,
    span: tuple[Any, Any],
    most: float,
    x: float,
    y: float,
    trend: str,
    colour: str,
    ground: Ground,
) -> str:
    base, days = y + _NAME + _HIGH, max((span[1] - span[0]).days, 1)
    points = [
        (x + _WIDE * (day - span[0]).days / days, base - (_HIGH - 14) * share / most)
        for day, share in own.select("period", "share").iter_rows()
    ]
    label, shares = own["label"][0], own["share"]
    at_most = int(shares.arg_max() or 0)
    sign, tone = TRENDS.get(trend, ("", "ink"))
    room = _WIDE - (34 if sign else 0)
    area = "M" + "L".join(
        f"{short(a)} {short(b)}" for a, b in [(points[0][0], base), *points, (points[-1][0], base)]
    )
    tips = "; ".join(f"{day}: {percent(share)}" for day, share in own.select("period", "share").iter_rows())
    (top_x, top_y), (first, last) = points[at_most], _spelled(span)
    return "".join(
        [
            words(cut(label, room, 12, 600), x, y + 12, ground.ink, weight=600, tip=label),
            words(sign, x + _WIDE, y + 12, getattr(ground, tone), weight=700, anchor="end") if sign else "",
            rule(x, base + 0.5, x + _WIDE, base + 0.5, ground.line),
            element("path", titled(f"{label}. {tips}"), d=area, fill=colour, fill_opacity=0.25),
            line(points, colour),
            element("circle", cx=top_x, cy=top_y, r=2.5, fill=colour),
            words(
                percent(shares[at_most]),
                min(max(top_x, x + 20), x + _WIDE - 20),
                top_y - 5,
                ground.quiet,
                10.5,
                anchor="middle",
            ),
            words(first, x, base + 14, ground.quiet, 10.5),
            words(last, x + _WIDE, base + 14, ground.quiet, 10.5, anchor="end") if last != first else "",
        ]
    )


def _spelled(days: tuple[dt.date, dt.date]) -> list[str]:
    """First and last period, as short as they can be written.

    >>> _spelled((dt.date(2025, 4, 1), dt.date(2025, 9, 1)))
    ['Apr 2025', 'Sep 2025']
    """
    if any(day.day > 1 for day in days):
        return [day.isoformat() for day in days]
    if any(day.month > 1 for day in days):
        return [f"{_MONTHS[day.month - 1]} {day.year}" for day in days]
    return [str(day.year) for day in days]


def chart(altair: Any, data: pl.DataFrame) -> Any:
    """Lines with Altair."""
    return (
        altair.Chart(data.select("label", "period", "texts", "share"))
        .mark_line()
        .encode(
            x=altair.X("period:T", title=None),
            y=altair.Y("share:Q", axis=altair.Axis(format="%")),
            color=altair.Color("label:N", title=None),
            tooltip=["label:N", "period:T", "texts:Q", altair.Tooltip("share:Q", format=".1%")],
        )
    )
