"""How similar topics are: a table of squares, in the order of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.figures.svg import SIDE, TOP, WIDTH, cut, element, framed, short, titled, words
from coterie.map.colours import Ground
from coterie.map.svg import safe

#: Room of the names, and the sides of the largest and the smallest square.
_NAMES, _LARGEST, _SMALLEST = 250.0, 46.0, 13.0
#: Room of the numbers above; squares of this side have their value in them.
_ABOVE, _SPELLED = 26.0, 32.0


def frame(ids: Sequence[int], labels: Sequence[str], similarity: npt.NDArray[np.float64]) -> pl.DataFrame:
    """Each pair of topics once in each order, in the order of the figure."""
    n = len(ids)
    at, other = np.divmod(np.arange(n * n), max(n, 1))
    apart = at != other
    at, other = at[apart], other[apart]
    topic, name = np.array(ids, dtype=np.int64), pl.Series(labels, dtype=pl.String)
    return pl.DataFrame(
        {
            "topic": topic[at],
            "label": name.gather(at),
            "other": topic[other],
            "other_label": name.gather(other),
            "similarity": similarity[at, other],
        }
    )


def draw(data: pl.DataFrame, labels: dict[int, str], title: str, note: str, ground: Ground) -> str:
    """A row and a column for each topic of `labels`, which are in order."""
    n = max(len(labels), 1)
    cell = min(max(float((WIDTH - SIDE - _NAMES - SIDE) // n), _SMALLEST), _LARGEST)
    left, top = SIDE + _NAMES, TOP + _ABOVE
    at = {topic: number for number, topic in enumerate(labels)}
    most = max([*data["similarity"].to_list(), 1e-9])
    parts = []
    for topic, other, value in data.select("topic", "other", "similarity").iter_rows():
        x, y = left + cell * at[other], top + cell * at[topic]
        strong = 0.05 + 0.9 * (max(value, 0.0) / most) ** 1.5
        said = f"{cut(labels[topic], 150)} · {cut(labels[other], 150)}: {value:.2f}"
        side = short(cell - 1)
        square = f"M{short(x)} {short(y)}h{side}v{side}h-{side}z"
        parts.append(element("path", titled(said), d=square, fill=ground.accent, fill_opacity=strong))
        if cell >= _SPELLED:
            tone = ground.paper if strong > 0.55 else ground.ink
            parts.append(words(f"{value:.2f}", x + cell / 2, y + cell / 2 + 4, tone, 11, anchor="middle"))
    parts += [_names(topic, label, at[topic], cell, ground) for topic, label in labels.items()]
    width = max(WIDTH, left + cell * n + SIDE)
    return framed(top + cell * n + 14, title, note, ground, *parts, width=width)


def _names(topic: int, label: str, at: int, cell: float, ground: Ground) -> str:
    size = min(12.0, cell - 2)
    middle, above = TOP + _ABOVE + cell * (at + 0.5), SIDE + _NAMES + cell * (at + 0.5)
    base = middle + 0.35 * size
    return "".join(
        [
            words(cut(label, _NAMES - 40, size), SIDE, base, ground.ink, size, tip=label),
            words(str(topic), SIDE + _NAMES - 6, base, ground.quiet, size, anchor="end"),
            element(
                "text", safe(str(topic)), x=0, y=0, font_size=size, fill=ground.quiet,
                transform=f"translate({short(above + 0.35 * size)} {short(TOP + _ABOVE - 4)}) rotate(-90)",
            ),
        ]
    )  # fmt: skip


def chart(altair: Any, data: pl.DataFrame) -> Any:
    """Squares with Altair."""
    order = data["label"].unique(maintain_order=True).to_list()
    return (
        altair.Chart(data)
        .mark_rect()
        .encode(
            x=altair.X("other_label:N", sort=order, title=None),
            y=altair.Y("label:N", sort=order, title=None),
            color=altair.Color("similarity:Q"),
            tooltip=["label:N", "other_label:N", altair.Tooltip("similarity:Q", format=".2f")],
        )
    )
