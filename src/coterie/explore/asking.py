"""Answers that the page asks for one at a time: a whole text, new texts, a file of what is selected."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.explore.guard import Later, Missing
from coterie.explore.marks import joined
from coterie.explore.opened import OpenedRun, points_of
from coterie.explore.schemas import Answer, Cell, Text, TopicShare, WholeText
from coterie.explore.selection import Filters
from coterie.map.file import placed
from coterie.storage.tables import ParquetWriter, SheetWriter
from coterie.text.inputs import text_batches

Rows32 = npt.NDArray[np.uint32]

#: Texts nearest to another that are told, and those among which they are looked for.
_SIMILAR, _LOOKED_AT = 5, 400
#: Terms of a text through which others are looked for: the most telling.
_TELLING = 60
_SHARES = 5
#: Characters of a cell.
_CELL = 10_000


def whole_text(opened: OpenedRun, row: int, filters: Filters) -> WholeText:
    """A text with all there is to it."""
    table = opened.rows()
    if row >= table.n:
        raise Missing(f"there is no row {row:,} in {opened.name}; it has {table.n:,} texts")
    rows = np.array([row], dtype=np.uint32)
    text = opened.texts_at(rows, filters, whole=True)[0]
    cells = table.cells(rows)
    at = None
    with suppress(Later):
        at = points_of(opened.text_map().at[rows])[0]
    return WholeText(
        **dict(text),
        columns=[_cell(name, _spelled(cells[name][0])) for name in cells.columns],
        similar=similar_texts(opened, row),
        at=at,
    )


def _cell(name: str, value: str | None) -> Cell:
    cut = value is not None and len(value) > _CELL
    return Cell(name=name, value=value[:_CELL] if value is not None else None, cut=cut)


def _spelled(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, pl.Series):
        return str(value.to_list())
    return str(value)


def similar_texts(opened: OpenedRun, row: int) -> list[Text]:
    """The texts nearest in meaning to that of a row, none of them the same; none before texts are counted."""
    if not opened.ready:
        return []
    index, model = opened.index(), opened.model
    counted, placing = model._counted, model._made.placing
    own = int(index.rows[row])
    columns = index.counts(np.array([own])).indices.astype(np.int64)
    if not len(columns):
        return []
    scores = index.distinct_scores(opened.terms().meaning(opened.terms().telling(columns, _TELLING)))
    most = min(_LOOKED_AT, len(scores) - 1)
    near = np.argpartition(-scores, most)[: most + 1]
    near = np.sort(near[(scores[near] > 0) & (near != own)])
    if not len(near):
        return []
    rows = np.sort(np.append(near, own))
    vectors = None if counted.vectors is None else np.asarray(counted.vectors)[rows]
    seen = placing.see(index.counts(rows), vectors).directions
    alike = np.round(seen[rows != own] @ seen[rows == own][0], 6)
    best = near[np.lexsort((near, -alike))][:_SIMILAR]
    return opened.texts_at(counted.first[best].astype(np.uint32))


def assigned(opened: OpenedRun, texts: list[str]) -> list[Answer]:
    """Where new texts belong, and why."""
    if not texts:
        return []
    model = opened.model
    series = next(text_batches(texts))
    seen = model._seen(series)
    found = model._answers(seen, series)
    located = opened.located(texts)
    memberships = seen.memberships[:, opened.order]
    try:
        at = points_of(placed(opened.text_map().topics, opened.order, seen))
    except Later:
        at = [None] * len(texts)
    return [
        Answer(
            topic=one.topic,
            label=one.label,
            confidence=round(one.confidence, 4),
            second=one.second,
            words=list(one.reason.words),
            related=list(one.reason.related),
            note=one.reason.note,
            marks=joined(opened.reason_marks(one.reason, words)),
            shares=_shares(opened, row),
            at=place,
            unknown=list(dict.fromkeys(text[w.start : w.end] for w in words if w.column < 0)),
        )
        for one, text, words, row, place in zip(found, texts, located, memberships, at, strict=True)
    ]


def _shares(opened: OpenedRun, memberships: npt.NDArray[Any]) -> list[TopicShare]:
    best = np.argsort(-np.round(memberships, 9), kind="stable")[:_SHARES]
    return [
        TopicShare(id=opened.ids[at], share=round(float(memberships[at]), 4))
        for at in best.tolist()
        if memberships[at] > 0
    ]


def exported(opened: OpenedRun, filters: Filters, kind: str, path: Path) -> None:
    """Write the rows that are selected, with all their columns, as CSV or Parquet."""
    table = opened.rows()
    chosen = opened.selection().chosen(filters)
    rows = np.arange(table.n, dtype=np.uint32) if chosen is None else chosen
    with (SheetWriter if kind == "csv" else ParquetWriter)(path) as writer:
        for batch in table.batches(rows):
            writer.write(batch)
