"""Texts as the page shows them: with the reasons of their topics, and what was looked for marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.corpus.spelling import ARROW
from coterie.explore.caches import Once, Recent
from coterie.explore.marks import Located, Locator, Mark, joined
from coterie.explore.rows import Rows
from coterie.explore.schemas import Match, Text, Through
from coterie.explore.search import Words
from coterie.explore.selection import Filters
from coterie.results import Reason
from coterie.runs.vectors import KeptVectors
from coterie.topics import TopicModel
from coterie.topics.related import Meaning, Near

#: Characters of a text in a list, and of one that is looked at by itself.
SHOWN, WHOLE = 2000, 100_000
#: Pages of texts that are kept.
_PAGES = 32


class Texts:
    """The texts of a run. `ids` are the topics' ids by index, `meaning` tells what a query means.

    `vectors` are the embeddings that the run keeps.
    """

    def __init__(
        self,
        model: TopicModel,
        ids: list[int],
        rows: Callable[[], Rows],
        locator: Callable[[], Locator],
        meaning: Callable[[str], Meaning],
        vectors: Callable[[], KeptVectors | None],
    ):
        self._vectors = vectors
        self._model, self._ids, self._rows, self._locator, self._meaning = model, ids, rows, locator, meaning
        self._names = model.vectorizer_.vocabulary_.display
        self._columns_shown = Once(self._by_display)
        self._pages: Recent[tuple[bytes, str, str], list[Text]] = Recent(_PAGES)

    def at(self, rows: npt.NDArray[Any], filters: Filters | None = None, whole: bool = False) -> list[Text]:
        """Texts by row, with the reasons of their topics and what was looked for marked."""
        if not len(rows):
            return []
        if whole:
            return self._texts(rows, filters, whole)
        asked = ("", "") if filters is None else (filters.q, filters.mode)
        key = np.asarray(rows, dtype=np.uint32).tobytes(), *asked
        return self._pages.get(key, lambda: self._texts(rows, filters, whole))

    def _texts(self, rows: npt.NDArray[Any], filters: Filters | None, whole: bool) -> list[Text]:
        table = self._rows()
        cells = table.at(rows)
        texts = cells["text"].to_list()
        shown = [text[: WHOLE if whole else SHOWN] for text in texts]
        as_read = table.texts_of(cells)
        kept = self._vectors()
        answers = self._model.assign(as_read, embeddings=None if kept is None else kept.at(rows))
        located = self.located(shown, as_read)
        asked = Queried(filters, self._meaning, self._locator(), self._names)
        dates, classes = table.strings("date", cells), table.strings("label", cells)
        made, known = [], table.known()
        for number, row in enumerate(rows.tolist()):
            reason = answers.reason(number)
            cut = len(shown[number]) < len(texts[number])
            words = [w for w in located[number] if not cut or w.end < len(shown[number])]
            second = int(table.second[row])
            made.append(
                Text(
                    row=row,
                    text=shown[number],
                    cut=cut,
                    topic=self._ids[int(table.topic[row])] if known[row] else None,
                    second=None if second < 0 else self._ids[second],
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
            return self._locator().locate_tokens(as_read.to_list())
        return self._locator().locate(shown)

    def reason_marks(self, reason: Reason, words: Sequence[Located]) -> list[Mark]:
        """Marks of the words that decided."""
        by_display = self._columns_shown()
        columns = {column for word in reason.words for column in by_display.get(word, ())}
        meant = [word.rpartition(ARROW)[2] for word in reason.words if ARROW in word]  # arive → arrive
        columns.update(self._locator().columns(meant))
        return self._locator().marks(columns, words, "word")

    def _by_display(self) -> dict[str, list[int]]:
        columns: dict[str, list[int]] = {}
        for column, name in enumerate(self._names):
            columns.setdefault(name, []).append(column)
        return columns


class Queried:
    """What was looked for, to be found again in texts."""

    def __init__(
        self,
        filters: Filters | None,
        meaning: Callable[[str], Meaning],
        locator: Locator,
        names: Sequence[str],
    ):
        self._locator, self._names = locator, names
        self._words = self._meaning = None
        if filters is not None and filters.q:
            if filters.mode == "words":
                self._words = Words.of(filters.q)
            else:
                self._meaning = meaning(filters.q)

    def marks(self, text: str, words: Sequence[Located]) -> list[Mark]:
        """Where a text holds what was looked for."""
        if self._words is not None:
            return [(start, end, "query") for start, end in self._words.spans(text)]
        if self._meaning is None:
            return []
        near = {near.term for near in self._meaning.related}
        return [
            *self._locator.marks(set(self._meaning.known), words, "query"),
            *self._locator.marks(near, words, "related"),
        ]

    def match(self, words: Sequence[Located]) -> Match | None:
        """How a text fits what was meant."""
        meaning = self._meaning
        if meaning is None:
            return None
        names = self._names
        contained = {word.column for word in words}
        phrases = filter(self._locator.is_phrase, meaning.worth)
        contained |= {column for column in phrases if self._locator.marks({column}, words, "word")}
        near = [near for near in meaning.related if near.term in contained]
        return Match(
            score=round(
                sum(worth for column, worth in meaning.worth.items() if column in contained) / meaning.best, 4
            ),
            shared=[names[column] for column in meaning.known if column in contained],
            through=[through_of(one, names) for one in near],
        )


def through_of(near: Near, names: Sequence[str]) -> Through:
    """A related term, for people."""
    source = {"from": names[near.source]}
    return Through(term=names[near.term], similarity=round(near.similarity, 3), **source)
