"""Confidence of texts: all of them, and topic by topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.figures.svg import SIDE, TOP, WIDTH, box, cut, framed, many, rule, words
from coterie.map.colours import Ground

BINS = 10
#: Height of the large drawing; rows, columns and the gap between them; the small drawing of a topic.
_HIGH, _ROW, _COLUMNS, _GAP, _SMALL = 130.0, 30.0, 2, 28.0, 130.0
_WIDE = (WIDTH - 2 * SIDE - _GAP) / _COLUMNS


def frame(
    topics: Mapping[int, str], own: npt.NDArray[np.int64], sure: npt.NDArray[np.float64]
) -> pl.DataFrame:
    """Texts by confidence in tenths, and its mean: of all texts (`topic` is empty), then of each topic."""
    groups: list[tuple[int | None, str, npt.NDArray[np.float64]]] = [(None, "all texts", sure)]
    groups += [(topic, label, sure[own == topic]) for topic, label in topics.items()]
    edges = np.arange(BINS + 1) / BINS
    rows = []
    for topic, label, values in groups:
        counts = np.bincount(np.clip((values * BINS).astype(np.int64), 0, BINS - 1), minlength=BINS)
        mean = float(values.mean()) if len(values) else None
        rows += [
            (topic, label, float(low), float(high), int(count), mean)
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    schema = {
        "topic": pl.Int64, "label": pl.String, "low": pl.Float64, "high": pl.Float64, "texts": pl.Int64,
        "mean": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def draw(
    data: pl.DataFrame, shown: int, title: str, note: str, colours: Mapping[int, str], ground: Ground
) -> str:
    """All texts above; below the `shown` largest topics, those that are least sure first."""
    whole, topics = data.filter(pl.col("topic").is_null()), data.filter(pl.col("topic").is_not_null())
    each = [own for _, own in topics.group_by("topic", maintain_order=True)][:shown]
    each.sort(key=lambda own: own["mean"][0] if own["mean"][0] is not None else 2.0)
    base = TOP + _HIGH
    parts = [
        _bars(
            whole["texts"].to_list(),
            SIDE,
            base,
            WIDTH - 2 * SIDE,
            _HIGH - 20,
            ground.bar,
            ground,
            counted=True,
        )
    ]
    for at, label in enumerate(f"{low:.1f}" for low in (*whole["low"], 1.0)):
        x = SIDE + (WIDTH - 2 * SIDE) * at / BINS
        anchor = "start" if not at else "end" if at == BINS else "middle"
        parts.append(words(label, x, base + 16, ground.quiet, 11, anchor=anchor))
    lines, top = -(-len(each) // _COLUMNS), base + 34
    for at, own in enumerate(each):
        x, y = SIDE + (at // lines) * (_WIDE + _GAP), top + _ROW * (at % lines)
        parts.append(_topic(own, x, y, colours[own["topic"][0]], ground))
    n_others = topics["topic"].n_unique() - len(each)
    if n_others:
        parts.append(words(f"and {many(n_others, 'other')}", SIDE, top + _ROW * lines + 14, ground.quiet))
    return framed(top + _ROW * (lines + bool(n_others)) + 4, title, note, ground, *parts)


def _topic(own: pl.DataFrame, x: float, y: float, colour: str, ground: Ground) -> str:
    label, mean = own["label"][0], own["mean"][0]
    base, begin = y + _ROW - 6, x + _WIDE - _SMALL - 42
    return "".join(
        [
            words(cut(label, begin - x - 10), x, base, ground.ink, tip=label),
            _bars(own["texts"].to_list(), begin, base, _SMALL, _ROW - 10, colour, ground),
            words("" if mean is None else f"{mean:.2f}", x + _WIDE, base, ground.quiet, anchor="end"),
        ]
    )


def _bars(
    counts: list[int],
    x: float,
    base: float,
    wide: float,
    high: float,
    colour: str,
    ground: Ground,
    *,
    counted: bool = False,
) -> str:
    step, most = wide / len(counts), max(*counts, 1)
    parts = [rule(x, base + 0.5, x + wide, base + 0.5, ground.line)]
    for at, count in enumerate(counts):
        tall = max(high * count / most, 1.0) if count else 0.0
        said = f"{at / BINS:.1f} to {(at + 1) / BINS:.1f}: {many(count, 'text')}"
        parts.append(box(x + at * step + 1, base - tall, step - 2, tall, colour, said))
        if counted and count:
            middle = x + (at + 0.5) * step
            parts.append(words(f"{count:,}", middle, base - tall - 5, ground.quiet, 11, anchor="middle"))
    return "".join(parts)


def chart(altair: Any, data: pl.DataFrame) -> Any:
    """Bars with Altair, a panel for all texts and for each topic."""
    order = data["label"].unique(maintain_order=True).to_list()
    return (
        altair.Chart(data)
        .mark_bar()
        .encode(
            x=altair.X("low:Q", bin=altair.Bin(step=1 / BINS), title="confidence"),
            y=altair.Y("texts:Q"),
            facet=altair.Facet("label:N", columns=4, sort=order, title=None),
        )
        .properties(width=150, height=70)
        .resolve_scale(y="independent")
    )
