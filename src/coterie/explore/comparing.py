"""Two runs side by side: where the texts of each topic went, and what became of the topics.

Texts are matched by row where both runs have the same texts in the same order, else by being equal; one
that occurs several times counts as often as it does in both. Texts without a known word in either run are
left out: no topic is theirs.

A topic of `a` **goes** to one of `b` if more than half of its texts are there; a topic of `b` **comes** from
one of `a` if more than half of its texts were there. Either is a link; links say what became of topics:

- gone: a topic of `a` without a link; born: a topic of `b` without one
- merged: a topic of `b` to which two or more go
- split: a topic of `a` from which two or more come
- kept: all other links, the strongest where a topic has several

A text has moved if it is not in the topic of `b` to which most texts of its topic of `a` went.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import BaseModel, Field

from coterie.explore.opened import OpenedRun
from coterie.explore.schemas import Brief

Ints = npt.NDArray[np.int64]


class Flow(BaseModel):
    """Texts that are in one topic of `a` and in one of `b`."""

    from_: int = Field(serialization_alias="from")
    to: int
    count: int


class Kept(BaseModel):
    """A topic of `a` that goes on as one of `b`; `share` is the part of its texts that is there."""

    from_: int = Field(serialization_alias="from")
    to: int
    share: float


class Merged(BaseModel):
    """Topics of `a` that became one of `b`."""

    into: int
    from_: list[int] = Field(serialization_alias="from")


class SplitUp(BaseModel):
    """A topic of `a` that became several of `b`."""

    from_: int = Field(serialization_alias="from")
    into: list[int]


class Comparison(BaseModel):
    """What became of the topics of `a` in `b`. Texts without a known word are left out."""

    a: list[Brief]
    b: list[Brief]
    same_texts: bool = Field(description="matched by row; else by equal text")
    common: int = Field(description="texts found in both")
    moved: int = Field(description="texts that moved differently from most of their topic")
    moved_share: float
    flows: list[Flow]
    kept: list[Kept]
    born: list[int]
    gone: list[int]
    merged: list[Merged]
    split: list[SplitUp]


@dataclass(frozen=True)
class Fates:
    """What became of topics, which are named by their index in the table of flows."""

    kept: list[tuple[int, int]]
    born: list[int]
    gone: list[int]
    merged: dict[int, list[int]]
    split: dict[int, list[int]]
    moved: int


def compare(a: OpenedRun, b: OpenedRun) -> Comparison:
    """Compare two runs."""
    same = a.run.info["data"].get("sha256") == b.run.info["data"].get("sha256") is not None
    same = same and a.rows().n == b.rows().n
    flows = _by_row(a, b) if same else _by_text(a, b)
    fate = fates(flows)
    common = int(flows.sum())
    left = flows.sum(axis=1)
    rows, columns = np.nonzero(flows)
    largest = np.argsort(-flows[rows, columns], kind="stable")
    return Comparison(
        a=a.panel.briefs(),
        b=b.panel.briefs(),
        same_texts=bool(same),
        common=common,
        moved=fate.moved,
        moved_share=round(fate.moved / max(common, 1), 6),
        flows=[
            Flow(from_=a.ids[i], to=b.ids[j], count=int(flows[i, j]))
            for i, j in zip(rows[largest], columns[largest], strict=True)
        ],
        kept=[
            Kept(from_=a.ids[i], to=b.ids[j], share=round(float(flows[i, j] / left[i]), 4))
            for i, j in fate.kept
        ],
        born=[b.ids[j] for j in fate.born],
        gone=[a.ids[i] for i in fate.gone],
        merged=[Merged(into=b.ids[j], from_=[a.ids[i] for i in of]) for j, of in fate.merged.items()],
        split=[SplitUp(from_=a.ids[i], into=[b.ids[j] for j in to]) for i, to in fate.split.items()],
    )


def fates(flows: Ints) -> Fates:
    """What became of topics, from the number of texts that went from each of `a` (rows) to each of `b`.

    >>> fates(np.array([[5, 0], [4, 0], [0, 3]])).merged
    {0: [0, 1]}
    """
    goes = 2 * flows > flows.sum(axis=1, keepdims=True)
    comes = 2 * flows > flows.sum(axis=0, keepdims=True)
    links = goes | comes
    merged = {j: np.flatnonzero(goes[:, j]).tolist() for j in range(flows.shape[1]) if goes[:, j].sum() > 1}
    split = {i: np.flatnonzero(comes[i]).tolist() for i in range(flows.shape[0]) if comes[i].sum() > 1}
    reported = {(i, j) for j, of in merged.items() for i in of} | {
        (i, j) for i, to in split.items() for j in to
    }
    strength = np.where(links, flows, 0)
    kept = [
        (i, j)
        for i, j in zip(*(where.tolist() for where in np.nonzero(links)), strict=True)
        if (i, j) not in reported and strength[i].argmax() == j and strength[:, j].argmax() == i
    ]
    stayed = flows.max(axis=1).sum() if flows.shape[1] else 0
    return Fates(
        kept,
        born=np.flatnonzero(~links.any(axis=0)).tolist(),
        gone=np.flatnonzero(~links.any(axis=1)).tolist(),
        merged=merged,
        split=split,
        moved=int(flows.sum() - stayed),
    )


def _by_row(a: OpenedRun, b: OpenedRun) -> Ints:
    known = a.rows().known() & b.rows().known()
    return _counted(
        a, b, a.rows().topic[known], b.rows().topic[known], np.ones(int(known.sum()), dtype=np.int64)
    )


def _by_text(a: OpenedRun, b: OpenedRun) -> Ints:
    """Equal texts are in the same topic of a run, for the topic is read off the text."""
    ours, theirs = (_distinct(run) for run in (a, b))
    both = ours.join(theirs, on="text", how="inner")
    many = both.select(pl.min_horizontal("len", "len_right")).to_series().to_numpy()
    return _counted(a, b, both["topic"].to_numpy(), both["topic_right"].to_numpy(), many)


def _distinct(run: OpenedRun) -> pl.DataFrame:
    rows = run.rows()
    table = pl.DataFrame({"text": rows.frame["text"], "topic": rows.topic, "known": rows.known()})
    return table.filter("known").group_by("text").agg(pl.col("topic").first(), pl.len())


def _counted(
    a: OpenedRun, b: OpenedRun, left: npt.NDArray[np.integer], right: npt.NDArray[np.integer], many: Ints
) -> Ints:
    shape = len(a.ids), len(b.ids)
    codes = left.astype(np.int64) * shape[1] + right
    return np.bincount(codes, many, shape[0] * shape[1]).astype(np.int64).reshape(shape)
