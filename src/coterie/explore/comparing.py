"""Two runs side by side: where the texts of each topic went, and what became of the topics.

Texts are matched by row where both runs have the same texts in the same order, else by being equal; one
that occurs several times counts as often as it does in both. Texts without a known word in either run are
left out, as they have no topic. `coterie.topics.fates` decides what became of topics.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import BaseModel, Field

from coterie.explore.opened import OpenedRun
from coterie.explore.schemas import Brief
from coterie.topics.fates import fates

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
