"""What was looked for, found again in the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coterie.explore.marks import Located, Mark
from coterie.explore.schemas import Match, Through
from coterie.explore.search import Near, Words
from coterie.explore.selection import Filters

if TYPE_CHECKING:
    from coterie.explore.opened import OpenedRun


class Queried:
    """What was looked for, to be found again in texts."""

    def __init__(self, opened: OpenedRun, filters: Filters | None):
        self._opened = opened
        self._words = self._meaning = None
        if filters is not None and filters.q:
            if filters.mode == "words":
                self._words = Words.of(filters.q)
            else:
                self._meaning = opened.meaning(filters.q)

    def marks(self, text: str, words: Sequence[Located]) -> list[Mark]:
        """Where a text holds what was looked for."""
        if self._words is not None:
            return [(start, end, "query") for start, end in self._words.spans(text)]
        if self._meaning is None:
            return []
        near = {near.term for near in self._meaning.related}
        return [
            *self._opened.marks_of(set(self._meaning.known), words, "query"),
            *self._opened.marks_of(near, words, "related"),
        ]

    def match(self, words: Sequence[Located]) -> Match | None:
        """How a text fits what was meant."""
        meaning = self._meaning
        if meaning is None:
            return None
        names = self._opened.model.vectorizer_.vocabulary_.display
        held = {word.column for word in words}
        phrases = filter(self._opened.locator().is_phrase, meaning.worth)
        held |= {column for column in phrases if self._opened.marks_of({column}, words, "word")}
        near = [near for near in meaning.related if near.term in held]
        return Match(
            score=round(
                sum(worth for column, worth in meaning.worth.items() if column in held) / meaning.best, 4
            ),
            shared=[names[column] for column in meaning.known if column in held],
            through=[through_of(one, names) for one in near],
        )


def through_of(near: Near, names: Sequence[str]) -> Through:
    """A related term, for people."""
    source = {"from": names[near.source]}
    return Through(term=names[near.term], similarity=round(near.similarity, 3), **source)
