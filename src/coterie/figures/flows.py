"""Where the texts of topics are in another model: two columns of topics with bands between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.figures.svg import (
    SIDE,
    TOP,
    WIDTH,
    box,
    cut,
    element,
    framed,
    many,
    percent,
    short,
    titled,
    words,
)
from coterie.map.colours import Ground
from coterie.results import Topic
from coterie.topics.fates import Fates

Ints = npt.NDArray[np.int64]

#: Room of names, width of a bar, height of a line and of the gap between two topics.
_NAMES, _BAR, _LINE, _GAP = 275.0, 12.0, 16.0, 4.0
#: The least height of all texts together, and for each topic; the least part of a topic that has a band.
_HIGH, _EACH, _LEAST = 320.0, 17.0, 0.01
_ABOVE = 22.0


@dataclass(frozen=True)
class Side:
    """Topics of one model from the top down: names, numbers of texts and colours."""

    labels: Sequence[str]
    counts: Ints
    colours: Sequence[str]


def frame(flows: Ints, topics: Sequence[Topic], others: Sequence[Topic], fate: Fates) -> pl.DataFrame:
    """Pairs of topics that share texts, the largest first; `became` says what the pair is of the change."""
    became = dict.fromkeys(fate.kept, "kept")
    became |= {(i, j): "merged" for j, of in fate.merged.items() for i in of}
    became |= {(i, j): "split" for i, to in fate.split.items() for j in to if (i, j) not in became}
    rows, columns = np.nonzero(flows)
    largest = np.argsort(-flows[rows, columns], kind="stable")
    left = np.maximum(flows.sum(axis=1), 1)
    table = []
    for i, j in zip(rows[largest].tolist(), columns[largest].tolist(), strict=True):
        one, other, texts = topics[i], others[j], int(flows[i, j])
        share = float(texts / left[i])
        table.append((one.id, one.label, other.id, other.label, texts, share, became.get((i, j), "")))
    schema = {
        "topic": pl.Int64, "label": pl.String, "other": pl.Int64, "other_label": pl.String, "texts": pl.Int64,
        "share": pl.Float64, "became": pl.String,
    }  # fmt: skip
    return pl.DataFrame(table, schema=schema, orient="row")


def sentence(fate: Fates, n_texts: int) -> str:
    """How many topics were kept and what became of the others, in words."""
    merged, split = (sum(map(len, found.values())) for found in (fate.merged, fate.split))
    said = [
        f"{len(fate.kept)} kept" if fate.kept else "",
        f"{merged} merged into {len(fate.merged)}" if merged else "",
        f"{len(fate.split)} split into {split}" if split else "",
        f"{len(fate.gone)} gone" if fate.gone else "",
        f"{len(fate.born)} new" if fate.born else "",
    ]
    away = f"{percent(fate.moved / max(n_texts, 1))} of {many(n_texts, 'text')}"
    return f"Topics: {', '.join(filter(None, said))}. {away} did not go where most of their topic went."


def draw(
    flows: Ints,
    left: Sequence[str],
    right: Sequence[str],
    colours: Sequence[str],
    title: str,
    note: str,
    ground: Ground,
) -> str:
    """Bands as high as texts are many. A topic on the right has the colour of where most of it comes
    from; those on the left without a colour are others."""
    colours = [*colours, *[ground.bar] * (len(left) - len(colours))]
    order = _ordered(flows)
    flows, right = flows[:, order], [right[j] for j in order]
    unit = max(_HIGH, _EACH * max(flows.shape)) / max(int(flows.sum()), 1)
    sides = (
        Side(left, flows.sum(axis=1), colours),
        Side(right, flows.sum(axis=0), [colours[i] for i in flows.argmax(axis=0)]),
    )
    starts = [_stacked(side.counts * unit) for side in sides]
    tall = max(float(start[-1]) for start in starts)
    starts = [start + (tall - start[-1]) / 2 for start in starts]
    x0, x1 = SIDE + _NAMES, WIDTH - SIDE - _NAMES
    parts = [*_bands(flows, starts, unit, x0 + _BAR, x1 - _BAR, sides, ground)]
    for side, start, x, name, anchor in zip(
        sides, starts, (x0, x1 - _BAR), (x0 - 8, x1 + 8), ("end", "start"), strict=True
    ):
        parts.append(_column(side, start, unit, x, name, anchor, ground))
    parts += [
        words("this model", x0 + _BAR, TOP + 6, ground.quiet, 11, anchor="end"),
        words("the other", x1 - _BAR, TOP + 6, ground.quiet, 11),
    ]
    return framed(TOP + _ABOVE + tall + 10, title, note, ground, *parts)


def _ordered(flows: Ints) -> list[int]:
    """Topics on the right in the order of where their texts come from, so that few bands cross."""
    middle = (np.cumsum(flows.sum(axis=1)) - flows.sum(axis=1) / 2) @ flows / np.maximum(flows.sum(axis=0), 1)
    order: list[int] = np.argsort(np.round(middle, 9), kind="stable").tolist()
    return order


def _stacked(heights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Where each topic begins, and where the last one ends: none has less room than its name."""
    return np.concatenate([[0.0], np.cumsum(np.maximum(heights, _LINE) + _GAP)])


def _column(
    side: Side,
    start: npt.NDArray[np.float64],
    unit: float,
    x: float,
    name: float,
    anchor: str,
    ground: Ground,
) -> str:
    parts = []
    for at, (label, count, colour) in enumerate(
        zip(side.labels, side.counts.tolist(), side.colours, strict=True)
    ):
        room = start[at + 1] - start[at] - _GAP
        middle, tall = TOP + _ABOVE + start[at] + room / 2, max(count * unit, 1.5)
        said = f"{label}: {many(count, 'text')}"
        parts.append(box(x, middle - tall / 2, _BAR, tall, colour, said))
        parts.append(words(cut(label, _NAMES - 12), name, middle + 4, ground.ink, anchor=anchor, tip=said))
    return "".join(parts)


def _bands(
    flows: Ints,
    starts: Sequence[npt.NDArray[np.float64]],
    unit: float,
    x0: float,
    x1: float,
    sides: tuple[Side, Side],
    ground: Ground,
) -> list[str]:
    """Bands that matter: some part of both topics, or the largest of one of them."""
    rows, columns = flows.sum(axis=1, keepdims=True), flows.sum(axis=0, keepdims=True)
    large = (flows >= _LEAST * rows) & (flows >= _LEAST * columns)
    large |= (flows == flows.max(axis=1, keepdims=True)) | (flows == flows.max(axis=0, keepdims=True))
    large &= flows > 0
    # a topic with less than a line of texts is in the middle of its line
    tops = [
        start[:-1] + (np.diff(start) - _GAP - side.counts * unit) / 2
        for start, side in zip(starts, sides, strict=True)
    ]
    above_left, above_right = np.cumsum(flows, axis=1) - flows, np.cumsum(flows, axis=0) - flows
    middle, bands = (x0 + x1) / 2, []
    for i, j in zip(*(where.tolist() for where in np.nonzero(large)), strict=True):
        y0 = TOP + _ABOVE + tops[0][i] + above_left[i, j] * unit
        y1 = TOP + _ABOVE + tops[1][j] + above_right[i, j] * unit
        tall = float(flows[i, j] * unit)
        a, b, c = short(x0), short(middle), short(x1)
        way = (
            f"M{a} {short(y0)}C{b} {short(y0)} {b} {short(y1)} {c} {short(y1)}v{short(tall)}"
            f"C{b} {short(y1 + tall)} {b} {short(y0 + tall)} {a} {short(y0 + tall)}z"
        )
        texts = f"{many(int(flows[i, j]), 'text')}, {percent(flows[i, j] / rows[i, 0])}"
        said = f"{sides[0].labels[i]} → {sides[1].labels[j]}: {texts}"
        bands.append(element("path", titled(said), d=way, fill=sides[0].colours[i], fill_opacity=0.45))
    return bands


def grouped(flows: Ints, most: int) -> tuple[Ints, list[int], list[int]]:
    """The topics with most texts on both sides; the last row and column are the others, if there are any."""
    rows, columns = (
        np.sort(np.argsort(-flows.sum(axis=axis), kind="stable")[:most]).tolist() for axis in (1, 0)
    )
    table = _folded(_folded(flows, rows).T, columns).T
    if table.shape[0] > len(rows) and table.shape[1] > len(columns):
        table[-1, -1] = 0  # what others share with others is not of the topics that are shown
    return table, rows, columns


def names(topics: Sequence[Topic], kept: Sequence[int]) -> list[str]:
    """Labels of some topics, and how many others there are."""
    n_others = len(topics) - len(kept)
    return [topics[at].label for at in kept] + ([many(n_others, "other")] if n_others else [])


def _folded(table: Ints, kept: list[int]) -> Ints:
    """Some rows, and the sum of all others as the last."""
    others = np.delete(table, kept, axis=0)
    return np.vstack([table[kept], others.sum(axis=0)]) if len(others) else table[kept]


def chart(altair: Any, data: pl.DataFrame) -> Any:
    """Squares with Altair: a topic in each row, one of the other model in each column."""
    return (
        altair.Chart(data)
        .mark_rect()
        .encode(
            x=altair.X("other_label:N", title="the other"),
            y=altair.Y("label:N", title="this model"),
            color=altair.Color("share:Q"),
            tooltip=[
                "label:N",
                "other_label:N",
                "texts:Q",
                altair.Tooltip("share:Q", format=".1%"),
                "became:N",
            ],
        )
    )
