"""Sizes of topics as bars, with names, first terms and what grew or fell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from coterie.figures.svg import SIDE, TOP, WIDTH, box, cut, framed, many, percent, words
from coterie.map.colours import Ground
from coterie.map.labels import line_width
from coterie.results import Topic

_ROW = 25.0
#: Where names end, bars and terms begin, and how long the bar of the largest topic is.
_NAME_END, _BAR, _TERMS, _LONGEST = 268.0, 280.0, 650.0, 210.0
#: What is shown for a trend, and the name of its colour.
TRENDS = {"grew": ("↑", "accent"), "new": ("new", "accent"), "fell": ("↓", "look")}


def frame(topics: Sequence[Topic], trends: Mapping[int, str] | None) -> pl.DataFrame:
    """What is shown of each topic; `trend` is empty without a clear change, and null without dates."""
    return pl.DataFrame(
        {
            "topic": [topic.id for topic in topics],
            "label": [topic.label for topic in topics],
            "size": [topic.size for topic in topics],
            "share": [topic.share for topic in topics],
            "terms": [list(topic.terms[:3]) for topic in topics],
            "trend": [None if trends is None else trends.get(topic.id, "") for topic in topics],
        },
        schema={
            "topic": pl.Int64, "label": pl.String, "size": pl.Int64, "share": pl.Float64,
            "terms": pl.List(pl.String), "trend": pl.String,
        },
    )  # fmt: skip


def draw(
    data: pl.DataFrame, shown: int, title: str, note: str, colours: Mapping[int, str], ground: Ground
) -> str:
    """The first `shown` rows; the others are one line."""
    rows, rest = data.head(shown).to_dicts(), data.slice(shown)
    most = max((row["size"] for row in rows), default=1)
    digits = max((line_width(f"{row['size']:,}", 12) for row in rows), default=0.0)
    parts = [_row(row, TOP + _ROW * at, most, digits, colours, ground) for at, row in enumerate(rows)]
    if len(rest):
        texts, share = int(rest["size"].sum()), float(rest["share"].sum())
        said = f"and {many(len(rest), 'other')}: {many(texts, 'text')}, {percent(share)}"
        parts.append(words(said, SIDE, TOP + _ROW * len(rows) + 16, ground.quiet))
    return framed(TOP + _ROW * (len(rows) + bool(len(rest))) + 10, title, note, ground, *parts)


def _row(
    row: dict[str, Any], y: float, most: int, digits: float, colours: Mapping[int, str], ground: Ground
) -> str:
    share, size = percent(row["share"]), row["size"]
    long = max(_LONGEST * size / max(most, 1), 1.5)
    end, base = _BAR + long + 7, y + 15
    sign, colour = TRENDS.get(row["trend"] or "", ("", "ink"))
    said = f"{row['label']}: {many(size, 'text')}, {share}"
    return "".join(
        [
            words(cut(row["label"], _NAME_END - SIDE), SIDE, base, ground.ink, tip=row["label"]),
            box(_BAR, y + 3, long, _ROW - 8, colours.get(row["topic"], ground.bar), said, rx=2),
            words(f"{size:,}", end, base, ground.ink),
            words(share, end + digits + 6, base, ground.quiet),
            words(sign, _TERMS - 12, base, getattr(ground, colour), weight=700, anchor="end") if sign else "",
            words(cut(", ".join(row["terms"]), WIDTH - SIDE - _TERMS), _TERMS, base, ground.quiet),
        ]
    )


def chart(altair: Any, data: pl.DataFrame) -> Any:
    """Bars with Altair."""
    shown = data.select("topic", "label", "size", "share")
    return (
        altair.Chart(shown)
        .mark_bar()
        .encode(
            x=altair.X("size:Q", title="texts"),
            y=altair.Y("label:N", sort="-x", title=None),
            tooltip=["label:N", "size:Q", altair.Tooltip("share:Q", format=".1%")],
        )
    )
