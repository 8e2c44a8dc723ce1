"""A run as the page asks it: topics at once, texts by row, and what needs counted texts when they are."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.errors import InputError
from coterie.explore.caches import Once, Recent
from coterie.explore.guard import Invalid, Later, Missing
from coterie.explore.marks import Located, Locator, Mark, MarkKind, joined
from coterie.explore.overview import class_counts, first_and_last, overview
from coterie.explore.queried import Queried, through_of
from coterie.explore.rows import Rows
from coterie.explore.schemas import Brief, Overview, Query, Text
from coterie.explore.search import Meaning, MeaningIndex, Terms, Words
from coterie.explore.selection import Filters, Points, Selection
from coterie.map.colours import colours
from coterie.map.file import TextMap, learn_map, placed, with_texts
from coterie.map.layout import TopicMap
from coterie.report import wording
from coterie.results import Reason, Topic
from coterie.runs import Run
from coterie.text.inputs import text_batches

if TYPE_CHECKING:
    from coterie.explore.panel import Panel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

#: Characters of a text in a list, and of one that is looked at by itself.
SHOWN, WHOLE = 2000, 100_000
#: Seconds the counting of texts waits, so that what is asked first is answered first.
_PATIENCE = 0.3
_TERMS = 8
#: Queries whose meaning is kept, and pages of texts.
_MEANINGS, _PAGES = 32, 32
#: One at a time: counting texts quiets warnings meanwhile, which threads share.
_COUNTING = threading.Lock()
_log = logging.getLogger("coterie.explore")


class OpenedRun:
    """A run that is asked by many threads at once; it never changes, a changed run is opened anew."""

    def __init__(self, run: Run, name: str, version: str):
        self.run, self.name, self.version = run, name, version
        self.model = run.model
        topics = run.model.topics
        #: Positions in `model.topics`, from the largest topic on: the place of a topic is its number here.
        self.order = sorted(range(len(topics)), key=lambda at: (-topics[at].size, topics[at].id))
        self.topics: list[Topic] = [topics[at] for at in self.order]
        self.ids = [topic.id for topic in self.topics]
        self.place_of = {topic: place for place, topic in enumerate(self.ids)}
        self.rows = Once(lambda: Rows(run, self.ids))
        self.terms = Once(lambda: Terms(self.model))
        self.locator = Once(lambda: Locator(self.model.vectorizer_))
        self.points = Once(lambda: Points(self.text_map().at, self.rows().place, self.rows().confidence))
        self.selection = Once(
            lambda: Selection(self.rows(), self.ids, lambda: self.text_map().at, self._scores)
        )
        self.briefs = Once(self._briefs)
        self.classes = Once(lambda: class_counts(self))
        self.dates = Once(lambda: first_and_last(self))
        self.panel = Once(self._panel)
        self.means = Once(self._means)
        self._stored = Once(self.run.map)
        self.copies = Once(self._most_copied)
        self._columns_shown = Once(self._by_display)
        self._meanings: Recent[str, Meaning] = Recent(_MEANINGS)
        self._pages: Recent[tuple[bytes, str, str], list[Text]] = Recent(_PAGES)
        self._counted: MeaningIndex | None = None
        self._computed: TextMap | None = None
        #: Why texts cannot be counted, if they cannot.
        self.problem: str | None = None
        self._closed = threading.Event()
        self._done = threading.Event()
        self._begun = threading.Lock()

    # --- counting texts in the background

    @property
    def ready(self) -> bool:
        """Whether texts are counted."""
        return self._counted is not None

    @property
    def counted(self) -> bool:
        """Whether texts are counted, or cannot be."""
        return self._done.is_set()

    def warm_up(self) -> None:
        """Begin to count texts in the background, unless that was begun before."""
        if self._begun.acquire(blocking=False):
            threading.Thread(target=self._count, name=f"coterie-count-{self.name}", daemon=True).start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until texts are counted; False if that did not happen."""
        self.warm_up()
        self._done.wait(seconds)
        return self.ready

    def close(self) -> None:
        """Nobody asks any more."""
        self._closed.set()

    def _count(self) -> None:
        try:
            if self._closed.wait(_PATIENCE):
                return
            self.copies()
            with _COUNTING:
                model = self.run.with_texts(self.rows().texts())
            if self._stored() is None:
                self._computed = self._map_of_all()
            self._counted = MeaningIndex(model)
        except InputError as error:
            self.problem = str(error)
        except Exception:
            _log.exception("texts of %s cannot be counted", self.name)
            self.problem = f"the texts of {self.name} cannot be counted; the terminal shows why"
        finally:
            self._done.set()

    def index(self) -> MeaningIndex:
        """Texts by term, once they are counted."""
        if self._counted is None:
            raise self._not_yet()
        return self._counted

    def _not_yet(self) -> Exception:
        if self.problem:
            return Invalid(self.problem)
        self.warm_up()
        return Later(
            f"the words of {self.model.n_texts_:,} texts are still being counted; try again in a second"
        )

    def _map_of_all(self) -> TextMap:
        """The map of a run that was written without one."""
        points, order = learn_map(self.model)
        counted, placing = self.model._counted, self.model._made.placing
        parts = counted.corpus.engine.map(
            lambda block: placed(points, order, placing.see_block(block, counted.vectors))
        )
        return with_texts(self.model, points, order, np.concatenate(list(parts))[counted.corpus.rows])

    # --- the map

    def text_map(self) -> TextMap:
        """Where topics and texts lie."""
        found = self._stored() or self._computed
        if found is None:
            raise self._not_yet()
        return found

    def topic_map(self) -> TopicMap:
        """Where topics lie; this needs no texts."""
        found = self._stored() or self._computed
        if found is not None:
            return found.topics
        centers = self.model._description.centers[self.order]
        shares = np.array([topic.share for topic in self.topics])
        none = np.zeros((0, centers.shape[1])), np.zeros(0, dtype=np.int64)
        return TopicMap.learn(centers, shares, *none)

    def place(self, texts: Sequence[str]) -> list[tuple[float, float] | None]:
        """Where new texts lie on the map: nothing else moves."""
        seen = self.model._seen(next(text_batches(list(texts))))
        return points_of(placed(self.text_map().topics, self.order, seen))

    # --- the run

    def overview(self) -> Overview:
        """What the page shows first."""
        return overview(self)

    def _most_copied(self) -> tuple[int, int, str]:
        """How many different texts there are, how often the most frequent one occurs, and that."""
        counts = self.rows().frame.lazy().group_by("text").len("times")
        most = pl.col("times").max()
        text = pl.col("text").filter(pl.col("times") == most).min()
        distinct, times, first = counts.select(pl.len().alias("n"), most, text).collect().row(0)
        return distinct, times, first

    def likeness(self) -> Any:
        """Cosines of the centres of topics, by place."""
        centers = self.model._description.centers[self.order]
        return np.round(centers @ centers.T, 6)

    def _means(self) -> Any:
        """The mean confidence of the texts of each topic, those without a known word left out."""
        rows = self.rows()
        known = rows.known()
        total = np.bincount(rows.place[known], rows.confidence[known], len(self.ids))
        return total / np.maximum(np.bincount(rows.place[known], minlength=len(self.ids)), 1)

    def _briefs(self) -> list[Brief]:
        points, means = self.topic_map(), self.means()
        shades = colours(points.shades)
        return [
            Brief(
                id=topic.id,
                label=topic.label,
                named=topic.id in self.model._made.names,
                size=topic.size,
                share=topic.share,
                terms=list(topic.terms[:_TERMS]),
                coherence=round(topic.coherence, 4),
                coherence_words=wording.coherence(topic.coherence),
                distinctiveness=round(topic.distinctiveness, 4),
                confidence=round(float(means[place]), 4),
                colour=shades[place],
                at=tuple(np.round(points.positions[place], 5).tolist()),
                radius=round(float(points.radii[place]), 5),
            )
            for place, topic in enumerate(self.topics)
        ]

    def topic_place(self, topic: int) -> int:
        """The place of a topic by its id."""
        if topic not in self.place_of:
            raise Missing(f"there is no topic {topic} in {self.name}")
        return self.place_of[topic]

    def _panel(self) -> Panel:
        from coterie.explore.panel import Panel

        return Panel(self)

    # --- texts

    def texts_at(
        self, rows: npt.NDArray[Any], filters: Filters | None = None, whole: bool = False
    ) -> list[Text]:
        """Texts by row, with the reasons of their topics and what was looked for marked."""
        if not len(rows):
            return []
        if whole:
            return self._texts(rows, filters, whole)
        asked = ("", "") if filters is None else (filters.q, filters.mode)
        key = np.asarray(rows, dtype=np.uint32).tobytes(), *asked
        return self._pages.get(key, lambda: self._texts(rows, filters, whole))

    def _texts(self, rows: npt.NDArray[Any], filters: Filters | None, whole: bool) -> list[Text]:
        table = self.rows()
        found = table.at(rows)
        texts = found["text"].to_list()
        shown = [text[: WHOLE if whole else SHOWN] for text in texts]
        as_read = table.texts_of(found)
        answers = self.model.assign(as_read)
        located = self.located(shown, as_read)
        asked = Queried(self, filters)
        dates, classes = table.strings("date", found), table.strings("label", found)
        made = []
        for number, row in enumerate(rows.tolist()):
            reason = answers.reasons[number]
            cut = len(shown[number]) < len(texts[number])
            words = [w for w in located[number] if not cut or w.end < len(shown[number])]
            second = int(table.second[row])
            made.append(
                Text(
                    row=row,
                    text=shown[number],
                    cut=cut,
                    topic=self.ids[int(table.place[row])],
                    second=None if second < 0 else self.ids[second],
                    confidence=round(float(table.confidence[row]), 4),
                    words=list(reason.words),
                    related=list(reason.related),
                    note=reason.note,
                    marks=joined([*self.reason_marks(reason, words), *asked.marks(shown[number], words)]),
                    date=dates[number],
                    match=asked.match(located[number]),
                    **{"class": classes[number]},
                )
            )
        return made

    def located(self, shown: Sequence[str], as_read: pl.Series | None = None) -> list[list[Located]]:
        """Where the terms of texts stand."""
        if as_read is not None and as_read.dtype != pl.String:
            return self.locator().locate_tokens(as_read.to_list())
        return self.locator().locate(shown)

    def reason_marks(self, reason: Reason, words: Sequence[Located]) -> list[Mark]:
        """Marks of the words that decided."""
        by_display = self._columns_shown()
        columns = {column for word in reason.words for column in by_display.get(word, ())}
        return self.marks_of(columns, words, "word")

    def marks_of(self, columns: set[int], words: Sequence[Located], kind: MarkKind) -> list[Mark]:
        """Marks of the words that are one of the terms; of n-grams, all their words."""
        found = [(word.start, word.end, kind) for word in words if word.column in columns]
        known = [word for word in words if word.column >= 0]
        for run in map(self.locator().sequence, filter(self.locator().is_phrase, columns)):
            for start in range(len(known) - len(run) + 1):
                some = known[start : start + len(run)]
                if tuple(word.column for word in some) == run:
                    found += [(word.start, word.end, kind) for word in some]
        return found

    def _by_display(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for column, name in enumerate(self.model.vectorizer_.vocabulary_.display):
            found.setdefault(name, []).append(column)
        return found

    # --- queries

    def meaning(self, q: str) -> Meaning:
        """What a query means."""

        def make() -> Meaning:
            columns = np.unique(self.model.vectorizer_.transform([q]).indices).astype(np.int64)
            return self.terms().meaning(columns)

        return self._meanings.get(q, make)

    def unknown(self, words: Sequence[Located]) -> list[str]:
        """Terms that the model does not know, each once."""
        return list(dict.fromkeys(word.term for word in words if word.column < 0))

    def _scores(self, q: str) -> Floats | None:
        index = self.index()
        meaning = self.meaning(q)
        return index.scores(meaning) if meaning.known else None

    def query(self, filters: Filters) -> Query | None:
        """How a query was understood."""
        if not filters.q:
            return None
        if filters.mode == "words":
            absent = self.selection().absent(filters.q)
            known = [part for part in Words.of(filters.q).parts if part not in absent]
            return Query(known=known, unknown=list(absent), related=[], indexed=self.ready)
        meaning, names = self.meaning(filters.q), self.model.vectorizer_.vocabulary_.display
        located = self.locator().locate([filters.q])[0]
        unknown = [filters.q[w.start : w.end] for w in located if w.column < 0]
        return Query(
            known=[names[column] for column in meaning.known],
            unknown=list(dict.fromkeys(unknown)),
            related=[through_of(near, names) for near in meaning.related],
            indexed=self.ready,
        )


def points_of(at: npt.NDArray[Any]) -> list[tuple[float, float] | None]:
    """Places for JSON; None where there is none."""
    return [
        (round(float(x), 5), round(float(y), 5)) if np.isfinite(x) and np.isfinite(y) else None for x, y in at
    ]
