"""A run as the page asks it: topics at once, texts by row, and what needs counted texts when they are."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.embeddings.named import is_named
from coterie.explore.caches import Background, Once, Recent
from coterie.explore.facets import Facets
from coterie.explore.guard import Later, Missing
from coterie.explore.marks import Locator, joined
from coterie.explore.panel import Panel
from coterie.explore.rows import NO_DAY, Rows, date_of
from coterie.explore.schemas import (
    Answer,
    Cell,
    Check,
    ClassCount,
    Dates,
    EditEntry,
    Overview,
    Query,
    Text,
    TopicShare,
    WholeText,
)
from coterie.explore.search import MeaningIndex, Words
from coterie.explore.selection import Filters, Points, Selection
from coterie.explore.texts import Texts, through_of
from coterie.map.file import TextMap
from coterie.map.layout import TopicMap
from coterie.report import checks
from coterie.results import Topic
from coterie.runs import Run
from coterie.runs.record import REPORT
from coterie.storage.tables import ParquetWriter, SheetWriter
from coterie.text.inputs import text_batches
from coterie.topics import TopicModel
from coterie.topics.answers import assignments, record, score_texts
from coterie.topics.memberships import calibrated
from coterie.topics.related import Meaning, Terms

Floats = npt.NDArray[np.float32]

#: Queries whose meaning is kept.
_MEANINGS = 32
#: One at a time: counting texts quiets warnings meanwhile, which threads share.
_COUNTING = threading.Lock()
#: Most classes listed as filters; classes with longer names are left out.
_CLASSES, _LONGEST_CLASS = 200, 1000
_PATH = re.compile(r"[/\\~.]|[A-Za-z]:[/\\]")
#: Similar texts that are shown, and candidates among which they are chosen.
_SIMILAR, _LOOKED_AT = 5, 400
#: Terms of a text through which others are looked for: the most telling.
_TELLING = 60
_SHARES = 5
#: Characters of a cell.
_CELL = 10_000


@dataclass(frozen=True)
class Counted:
    """What counted texts give: texts by term, and the map of a run that was written without one."""

    index: MeaningIndex
    map: TextMap | None


class OpenedRun:
    """A run that is asked by many threads at once; it never changes, a changed run is opened anew."""

    def __init__(self, run: Run, name: str, version: str):
        self.run, self.name, self.version = run, name, version
        self.model = run.model
        topics = run.model.topics
        #: Positions in `model.topics`, from the largest topic on: the index of a topic is its number here.
        self.order = sorted(range(len(topics)), key=lambda at: (-topics[at].size, topics[at].id))
        self.topics: list[Topic] = [topics[at] for at in self.order]
        self.ids = [topic.id for topic in self.topics]
        self.rows = Once(lambda: Rows(run, self.ids))
        self.terms = Once(lambda: Terms(self.model))
        self.locator = Once(lambda: Locator(self.model.vectorizer_))
        self.points = Once(lambda: Points(self.text_map().at, self.rows().topic, self.rows().confidence))
        self.facets = Once(lambda: Facets(self.rows()))
        self.selection = Once(
            lambda: Selection(self.rows(), self.ids, self.facets(), lambda: self.text_map().at, self._scores)
        )
        self.classes = Once(lambda: class_counts(self))
        self.dates = Once(lambda: first_and_last(self))
        self.copies = Once(self._most_copied)
        self._stored = Once(self.run.map)
        self._rough = Once(lambda: TopicMap.rough(self.model.state.description.centers[self.order]))
        self._meanings: Recent[str, Meaning] = Recent(_MEANINGS)
        self.counted = Background(
            self._count,
            f"coterie-count-{name}",
            later=f"the words of {run.model.n_texts_:,} texts are still being counted; try again in a second",
            fault=f"the texts of {name} cannot be counted",
        )
        self.texts = Texts(
            self.model, self.ids, self.rows, self.locator, self.meaning, Once(self.run.vectors)
        )
        self.panel = Panel(self.model, self.order, self.rows, self.terms, self.topic_map, self.texts)

    def _count(self) -> Counted:
        self.copies()
        with _COUNTING:
            model = self.run.with_texts(self.rows().texts())
        return Counted(MeaningIndex(model), _map_of_all(model) if self._stored() is None else None)

    def _most_copied(self) -> tuple[int, int, str]:
        """How many different texts there are, how often the most frequent one occurs, and that."""
        counts = self.rows().frame.lazy().group_by("text").len("times")
        most = pl.col("times").max()
        text = pl.col("text").filter(pl.col("times") == most).min()
        distinct, times, first = counts.select(pl.len().alias("n"), most, text).collect().row(0)
        return distinct, times, first

    def topic_place(self, topic: int) -> int:
        """The index of a topic by its id."""
        if topic not in self.ids:
            raise Missing(f"there is no topic {topic} in {self.name}")
        return self.ids.index(topic)

    # --- the map

    def text_map(self) -> TextMap:
        """Where topics and texts lie."""
        if (text_map := self._map()) is None:
            text_map = self.counted.get().map
        assert text_map is not None  # counting makes one where none was stored
        return text_map

    def _map(self) -> TextMap | None:
        """The map, if there is one by now."""
        made = self.counted.get().map if self.counted.ready else None
        return self._stored() or made

    def topic_map(self) -> TopicMap:
        """Where topics lie; about where, until the texts of a run without a map are counted."""
        if (text_map := self._map()) is not None:
            return text_map.topics
        return self._rough()

    # --- queries

    def meaning(self, q: str) -> Meaning:
        """What a query means."""

        def make() -> Meaning:
            columns = np.unique(self.model.vectorizer_.counts_and_typos([q])[0].indices).astype(np.int64)
            return self.terms().meaning(columns)

        return self._meanings.get(q, make)

    def _scores(self, q: str) -> Floats | None:
        index = self.counted.get().index
        meaning = self.meaning(q)
        return index.scores(meaning) if meaning.known else None

    def query(self, filters: Filters) -> Query | None:
        """How a query was understood."""
        if not filters.q:
            return None
        if filters.mode == "words":
            absent = self.selection().absent(filters.q)
            known = [part for part in Words.of(filters.q).parts if part not in absent]
            return Query(known=known, unknown=list(absent), related=[], indexed=self.counted.ready)
        meaning, names = self.meaning(filters.q), self.model.vectorizer_.vocabulary_.display
        located = self.locator().locate([filters.q])[0]
        unknown = [filters.q[w.start : w.end] for w in located if w.column < 0]
        return Query(
            known=[names[column] for column in meaning.known],
            unknown=list(dict.fromkeys(unknown)),
            related=[through_of(near, names) for near in meaning.related],
            indexed=self.counted.ready,
        )


def _map_of_all(model: TopicModel) -> TextMap:
    """The map of a run that was written without one, once its texts are scored."""
    collection, scores, described = model.collection, model.state.scores, model.state.description
    assert collection is not None
    assert scores is not None
    assert described.map is not None
    assert described.known is not None
    at = scores.position[collection.corpus.rows]
    return TextMap(described.map, described.by_size, at, described.known)


# --- the run as a whole


def overview(opened: OpenedRun) -> Overview:
    """What the page shows first."""
    info, data, model = opened.run.info, opened.run.info["data"], opened.model
    applied = info.get("edits_applied")
    return Overview(
        name=opened.name,
        version=opened.version,
        source=file_name(data.get("source", "")),
        column=data["column"],
        date=data.get("date") or None,
        label=data.get("label") or None,
        classes=opened.classes(),
        dates=opened.dates(),
        texts=model.n_texts_,
        known=model.n_known_,
        distinct=_distinct(opened),
        made=str(info.get("made", "")),
        parameters={name: _no_path(value) for name, value in info["parameters"].items()},
        warnings=_warnings(opened),
        findings=opened.panel.findings(),
        checks=_checks(opened),
        topics=opened.panel.briefs(),
        extent=opened.topic_map().landmarks.extent,
        edits=[EditEntry(number=i, sentence=str(edit)) for i, edit in enumerate(model.edits, start=1)],
        left_out=0 if applied is None else max(len(model.edits) - applied, 0),
        can_undo=bool(model.edits),
        ready=opened.counted.ready,
        has_report=REPORT in info["files"],
    )


def _warnings(opened: OpenedRun) -> list[str]:
    """What was said when it was fitted, the file by its name alone."""
    source = str(opened.run.info["data"].get("source", ""))
    said: list[str] = opened.run.info["warnings"]
    return [sentence.replace(source, file_name(source)) for sentence in said] if source else said


def class_counts(opened: OpenedRun) -> list[ClassCount] | None:
    """The largest classes; None without a column of them."""
    classes = opened.rows().classes()
    if classes is None:
        return None
    codes, names = classes
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    largest = np.argsort(-counts, kind="stable").tolist()
    shown = [at for at in largest if len(names[at]) <= _LONGEST_CLASS][:_CLASSES]
    return [ClassCount(name=names[at], count=int(counts[at])) for at in shown]


def first_and_last(opened: OpenedRun) -> Dates | None:
    """The days of the first and the last text; None without dates."""
    days = opened.rows().days()
    there = None if days is None else days[days != NO_DAY]
    if there is None or not len(there):
        return None
    return Dates(first=date_of(int(there.min())), last=date_of(int(there.max())))


def _distinct(opened: OpenedRun) -> int:
    distinct = opened.run.info.get("distinct")
    return distinct if isinstance(distinct, int) else opened.copies()[0]


def _checks(opened: OpenedRun) -> list[Check]:
    model = opened.model
    said = [
        *checks.run_warnings(_warnings(opened)),
        *checks.boilerplate(model.boilerplate_, model.n_texts_),
        checks.unknown(model.n_known_, model.n_texts_, opened.run.info.get("non_answers") or 0),
        checks.tiny(opened.topics),
        checks.overlaps(opened.panel.similarity(), opened.ids),
        checks.unsure(
            int((opened.rows().confidence.astype(np.float64) < checks.UNSURE).sum()), model.n_texts_
        ),
    ]
    if opened.counted.ended:  # takes a while for a million texts
        distinct, most, text = opened.copies()
        said.append(checks.copies(distinct, model.n_texts_, most, text))
    said.sort(key=lambda remark: not remark["look"])
    return [Check(look=one["look"], well=one["well"], text=_with_quote(one, opened)) for one in said]


def _with_quote(remark: dict[str, Any], opened: OpenedRun) -> str:
    """A check as one sentence: what it quotes or names stands behind it."""
    label = {topic.id: topic.label for topic in opened.topics}
    text = str(remark["text"])
    if "quote" in remark:
        return f"{text} “{remark['quote']}”"
    if "pairs" in remark:
        said = "; ".join(f"{label[a]} – {label[b]} ({value})" for a, b, value in remark["pairs"])
        return f"{text} {said}"
    if "topics" in remark:
        return f"{text} {'; '.join(label[topic] for topic in remark['topics'])}"
    return text


def file_name(path: Any) -> str:
    """The last part of a path of any system: where a file lies is nobody's business.

    >>> file_name("C:\\\\texts\\\\tickets.csv")
    'tickets.csv'
    """
    return str(path).replace("\\", "/").rstrip("/").split("/")[-1]


def _no_path(value: Any) -> Any:
    """A parameter, which may be a file, or a model in a folder."""
    library, colon, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    if colon and is_named(value) and _PATH.match(name):
        return f"{library}:{file_name(name)}"
    return file_name(value) if isinstance(value, str) and _PATH.match(value) else value


# --- one text, new texts, a file of what is selected


def whole_text(opened: OpenedRun, row: int, filters: Filters) -> WholeText:
    """A text with all there is to it."""
    table = opened.rows()
    if row >= table.n:
        raise Missing(f"there is no row {row:,} in {opened.name}; it has {table.n:,} texts")
    rows = np.array([row], dtype=np.uint32)
    text = opened.texts.at(rows, filters, whole=True)[0]
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
    if not opened.counted.ready:
        return []
    index, model = opened.counted.get().index, opened.model
    collection, scorer = model.collection, model.state.edited.scorer
    assert collection is not None
    own = int(index.rows[row])
    columns = index.counts(np.array([own])).indices.astype(np.int64)
    if not len(columns):
        return []
    scores = index.distinct_scores(opened.terms().meaning(opened.terms().distinctive(columns, _TELLING)))
    most = min(_LOOKED_AT, len(scores) - 1)
    near = np.argpartition(-scores, most)[: most + 1]
    near = np.sort(near[(scores[near] > 0) & (near != own)])
    if not len(near):
        return []
    rows = np.sort(np.append(near, own))
    embeddings = None if collection.embeddings is None else np.asarray(collection.embeddings)[rows]
    vectors = scorer.score(index.counts(rows), embeddings).vectors
    alike = np.round(vectors[rows != own] @ vectors[rows == own][0], 6)
    best = near[np.lexsort((near, -alike))][:_SIMILAR]
    return opened.texts.at(collection.first[best].astype(np.uint32))


def assigned(opened: OpenedRun, texts: list[str]) -> list[Answer]:
    """Where new texts belong, and why."""
    if not texts:
        return []
    model = opened.model
    series = next(text_batches(texts))
    scored, typos = score_texts(model, series)
    scores = record(model, scored, series)
    answers = assignments(model, scores, typos)
    located = opened.texts.located(texts)
    memberships = calibrated(scored.memberships, scores.topic, scores.confidence)[:, opened.order]
    try:
        places = opened.text_map().topics.landmarks.place(scored.vectors)
        places[~scored.memberships.any(axis=1)] = np.nan
        at = points_of(places)
    except Later:
        at = [None] * len(texts)
    return [
        Answer(
            topic=one.topic,
            label=one.label or "",
            confidence=round(one.confidence, 4),
            second=one.second,
            words=list(one.reason.words),
            related=list(one.reason.related),
            note=one.reason.note,
            marks=joined(opened.texts.reason_marks(one.reason, words)),
            shares=_shares(opened, row),
            at=position,
            unknown=list(dict.fromkeys(text[w.start : w.end] for w in words if w.column < 0)),
        )
        for one, text, words, row, position in zip(answers, texts, located, memberships, at, strict=True)
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


def points_of(at: npt.NDArray[Any]) -> list[tuple[float, float] | None]:
    """Places for JSON; None where there is none."""
    return [
        (round(float(x), 5), round(float(y), 5)) if np.isfinite(x) and np.isfinite(y) else None for x, y in at
    ]
