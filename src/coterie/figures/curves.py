"""How plausible each number of topics is, with the choice, the interval and other numbers that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from coterie.figures.svg import SIDE, TOP, WIDTH, box, element, framed, line, rule, words
from coterie.map.colours import Ground

if TYPE_CHECKING:
    from coterie.cluster.n_topics import NumberOfTopics

_HIGH, _TICKS = 210.0, (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800)
#: Numbers nearer than this are not written beside each other.
_APART = 30.0


def frame(found: NumberOfTopics) -> pl.DataFrame:
    """The curve, and which numbers lie inside the interval."""
    schema = {"n_topics": pl.Int64, "plausibility": pl.Float64}
    curve = pl.DataFrame(list(found.curve), schema=schema, orient="row")
    return curve.with_columns(in_interval=pl.col("n_topics").is_between(found.low, found.high))


def sentences(found: NumberOfTopics) -> tuple[str, str]:
    """What the figure says: the choice, and how sure it is."""
    if not found.structured:
        return "1 topic", "The texts show no more structure than the same words dealt out at random."
    also = f"; {_listed(found.peaks)} would fit, too" if found.peaks else ""
    title = f"{found.n_topics} topics" if found.n_topics > 1 else "1 topic"
    return title, f"Chosen from the texts. Plausible: {found.low} to {found.high}{also}."


def _listed(numbers: tuple[int, ...]) -> str:
    said = [str(number) for number in numbers]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def draw(found: NumberOfTopics, ground: Ground) -> str:
    """The curve over the logarithm of the number of topics."""
    title, note = sentences(found)
    if not found.curve:
        return framed(TOP, title, note, ground)
    k, plausible = (np.array(values, dtype=np.float64) for values in zip(*found.curve, strict=True))
    first, last = min(k[0], found.low), max(k[-1], found.high, 2)
    left, right, top, base = SIDE + 16, WIDTH - SIDE - 16, TOP + 26, TOP + _HIGH
    span = max(float(np.log(last / first)), 1e-9)

    def x(n: float) -> float:
        return float(left + np.log(n / first) / span * (right - left))

    def y(n: float) -> float:
        return float(base - np.interp(np.log(n), np.log(k), plausible) * (base - top))

    def mark(n: int, strong: bool) -> str:
        ink: dict[str, Any] = {"stroke": ground.accent, "stroke_width": 2.0 if strong else 1.0}
        dashes = None if strong else "3 3"
        return "".join(
            [
                element("line", x1=x(n), x2=x(n), y1=base, y2=y(n), stroke_dasharray=dashes, **ink),
                element(
                    "circle",
                    cx=x(n),
                    cy=y(n),
                    r=5 if strong else 3.5,
                    fill=ground.accent if strong else ground.paper,
                    **ink,
                ),
                words(str(n), x(n), y(n) - 10, ground.ink, 12, weight=600, anchor="middle"),
            ]
        )

    ticks = [n for n in _TICKS if first <= n <= last]
    peaks = [n for n in found.peaks if abs(x(n) - x(found.n_topics)) > _APART]
    return framed(
        base + 44,
        title,
        note,
        ground,
        _interval(x(found.low), x(found.high), top - 22, base, ground),
        line([(x(n), y(n)) for n in k.tolist()], ground.accent),
        rule(left, base + 0.5, right, base + 0.5, ground.line),
        *(words(str(n), x(n), base + 17, ground.quiet, 11, anchor="middle") for n in ticks),
        words("number of topics", (left + right) / 2, base + 35, ground.quiet, 11, anchor="middle"),
        *(mark(n, False) for n in peaks),
        mark(found.n_topics, True),
    )  # fmt: skip


def _interval(first: float, last: float, top: float, base: float, ground: Ground) -> str:
    wide = max(last - first, 2)
    return box(first, top, wide, base - top, ground.accent, "plausible numbers", fill_opacity=0.1)


def chart(altair: Any, data: pl.DataFrame) -> Any:
    """A line with Altair."""
    return (
        altair.Chart(data)
        .mark_line(point=True)
        .encode(
            x=altair.X("n_topics:Q", scale=altair.Scale(type="log"), title="number of topics"),
            y=altair.Y("plausibility:Q"),
            tooltip=["n_topics:Q", "plausibility:Q"],
        )
    )
