"""Where in a text its terms stand, in code points of the text as it was written.

The vectorizer reads a text that was brought to one form: entities undone, Unicode normalised, invisible
characters gone. So a text is cut into short segments each of which changes by itself, and a token is traced
back to the segments it came from.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from coterie.corpus import Vectorizer
from coterie.corpus.counting import form_table
from coterie.text import tokens
from coterie.text.analyzer import LEFT_OUT, Analyzer
from coterie.text.markup import FILL

Span = tuple[int, int]
MarkKind = Literal["query", "related", "word"]
Mark = tuple[int, int, MarkKind]
#: Kinds of marks, those that go first where two would overlap.
KINDS: tuple[MarkKind, ...] = get_args(MarkKind)
#: Marks of one text: nobody reads more, and a browser would choke on them.
MOST_MARKS = 1000
_ENTITY = re.compile(r"&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)")


@dataclass(frozen=True, slots=True)
class Located:
    """A word in a text: its span, its term, and the column of that if the model knows it (else −1)."""

    start: int
    end: int
    term: str
    column: int


class Locator:
    """Finds the terms of texts."""

    def __init__(self, vectorizer: Vectorizer):
        self._vectorizer = vectorizer
        self._analyzer = vectorizer.analyzer()
        self._whitespace = vectorizer.tokenizer == "whitespace"
        self._single = vectorizer.phrases_.n_terms
        self._keys = vectorizer.phrases_.keys

    def locate(self, texts: Sequence[str]) -> list[list[Located]]:
        """The words of each text that are counted, in reading order."""
        counted = self._vectorizer.counted_texts(pl.Series(texts, dtype=pl.String))  # of the same length
        pieces = [list(_between_spaces(text)) for text in counted]
        distinct = list(dict.fromkeys(piece for found in pieces for _, piece in found))
        forms = dict(zip(distinct, self._forms(distinct), strict=True))
        every = list(dict.fromkeys(form for found in forms.values() for form, _, _ in found))
        terms = dict(zip(every, self._terms(every, self._analyzer), strict=True))
        return [
            [
                Located(start + a, _filled(text, start + b), term, column)
                for start, piece in found
                for form, a, b in forms[piece]
                for term, column in (terms[form],)
                if term is not None
            ]
            for text, found in zip(counted, pieces, strict=True)
        ]

    def locate_tokens(self, texts: Sequence[Sequence[str]]) -> list[list[Located]]:
        """The same for texts that came as tokens, which are shown with spaces between them."""
        located = []
        every = list(dict.fromkeys(word for words in texts for word in words))
        terms = dict(zip(every, self._terms(every, None), strict=True))
        for words in texts:
            start, row = 0, []
            for word in words:
                row.append(Located(start, start + len(word), word, terms[word][1]))
                start += len(word) + 1
            located.append(row)
        return located

    def marks(self, columns: set[int], words: Sequence[Located], kind: MarkKind) -> list[Mark]:
        """Marks of the words that are one of the terms; of n-grams, all their words."""
        marked = [(word.start, word.end, kind) for word in words if word.column in columns]
        known = [word for word in words if word.column >= 0]
        for run in map(self.sequence, filter(self.is_phrase, columns)):
            for start in range(len(known) - len(run) + 1):
                some = known[start : start + len(run)]
                if tuple(word.column for word in some) == run:
                    marked += [(word.start, word.end, kind) for word in some]
        return marked

    def columns(self, words: list[str]) -> list[int]:
        """The columns of words, −1 for one that the model does not know."""
        return [column for _, column in self._terms(words, self._analyzer)] if words else []

    def is_phrase(self, column: int) -> bool:
        """Whether a term is made of several words."""
        return column >= self._single

    def sequence(self, column: int) -> tuple[int, ...]:
        """The columns of the words that a term is made of: an n-gram has several."""
        words: list[int] = []
        length, base = len(self._keys), self._single + sum(map(len, self._keys))
        while column >= self._single:
            base -= len(self._keys[length - 1])
            if column >= base:
                key = int(self._keys[length - 1][column - base])
                words.append(key % self._single)
                shorter = key // self._single
                column = shorter if length == 1 else base - len(self._keys[length - 2]) + shorter
            length -= 1
        return (column, *reversed(words))

    def _terms(self, forms: list[str], analyzer: Analyzer | None) -> Iterable[tuple[str | None, int]]:
        """The term of each form, None for a stop word, and its column."""
        table = form_table(pl.Series(forms, dtype=pl.String), analyzer)
        columns, _ = self._vectorizer.columns_of(table, verbatim=analyzer is None)
        return zip(table["term"].to_list(), columns.tolist(), strict=True)

    def _forms(self, pieces: list[str]) -> list[list[tuple[str, int, int]]]:
        """Forms of each piece, with spans in the piece."""
        series = pl.Series(pieces, dtype=pl.String)
        if self._whitespace:
            return [
                _spans(piece, found, piece, range(len(piece) + 1))
                for piece, found in zip(pieces, series.str.extract_all(r"\S+"), strict=True)
            ]
        plain = series.str.contains(self._analyzer.simple_pattern)
        others = series.filter(~plain)
        prepared = tokens.prepare(others)
        cut = tokens.extract(prepared)
        kinds = iter(tokens.kinds(cut.explode(empty_as_null=False)))
        origins = _segments(others.to_list(), prepared.to_list())
        rest = iter(
            [
                self._traced(ready, found, kinds, origin)
                for ready, found, origin in zip(prepared, cut.to_list(), origins, strict=True)
            ]
        )
        return [
            [(piece, 0, len(piece))] if simple else next(rest)
            for piece, simple in zip(pieces, plain, strict=True)
        ]

    def _traced(
        self, ready: str, found: list[str], kinds: Iterator[Any], segments: list[Span]
    ) -> list[tuple[str, int, int]]:
        """The forms of a prepared piece with the spans that they came from."""
        traced: list[tuple[str, int, int]] = []
        cursor = 0
        for token in found:
            kind = next(kinds)
            start_at = ready.find(token, cursor)
            if start_at < 0:  # cannot be: tokens are pieces of the text, in order
                continue
            cursor = start_at + len(token)
            for form, a, b in self._inside(token, kind):
                start, end = segments[start_at + a][0], segments[start_at + b - 1][1]
                traced.append((form, start, end))
        return traced

    def _inside(self, token: str, kind: Any) -> Iterable[tuple[str, int, int]]:
        """The forms of a token with their spans in it."""
        start_at, end = -1, 0
        for number, form in enumerate(self._analyzer._forms(token, kind)):
            if form == LEFT_OUT:
                continue
            if number == 0 and form == token:
                yield form, 0, len(form)
                continue
            # pairs of characters overlap, words follow each other
            options = (
                (start_at + 1, end) if self._analyzer.segmenter_used == "bigrams" else (end, start_at + 1)
            )
            near = [at for at in options if token.startswith(form, at)]
            start_at = near[0] if near else token.find(form, max(start_at, 0))
            if start_at < 0:
                return
            end = start_at + len(form)
            yield form, start_at, end


def _filled(text: str, end: int) -> int:
    """The end of a word with what is left of an entity that it ends with."""
    while text.startswith(FILL, end):
        end += 1
    return end


def _between_spaces(text: str) -> Iterable[tuple[int, str]]:
    start = 0
    for piece in text.split(" "):
        if piece:
            yield start, piece
        start += len(piece) + 1


def _spans(piece: str, found: Iterable[str], ready: str, at: Sequence[int]) -> list[tuple[str, int, int]]:
    spans, cursor = [], 0
    for token in found:
        start_at = ready.find(token, cursor)
        cursor = start_at + len(token)
        spans.append((token, at[start_at], at[cursor]))
    return spans


def _segments(pieces: Sequence[str], ready: Sequence[str]) -> list[list[Span]]:
    """For each character of each prepared piece the span of the piece that it came from."""
    cuts = [[] if piece == made else list(_cuts(piece)) for piece, made in zip(pieces, ready, strict=True)]
    parts = [piece[a:b] for piece, spans in zip(pieces, cuts, strict=True) for a, b in spans]
    prepared = iter(tokens.prepare(pl.Series(parts, dtype=pl.String)))
    return [
        _traced_back(piece, made, spans, [next(prepared) for _ in spans])
        for piece, made, spans in zip(pieces, ready, cuts, strict=True)
    ]


def _traced_back(piece: str, ready: str, cuts: list[Span], made: list[str]) -> list[Span]:
    if not cuts:
        return [(at, at + 1) for at in range(len(piece))]
    if "".join(made) != ready:  # parts change each other: the piece as a whole is all that can be said
        return [(0, len(piece))] * len(ready)
    return [span for span, part in zip(cuts, made, strict=True) for _ in part]


def _cuts(piece: str) -> Iterable[Span]:
    """Entities, and letters with the marks that follow them."""
    at = 0
    while at < len(piece):
        entity = _ENTITY.match(piece, at)
        end = entity.end() if entity and html.unescape(entity.group()) != entity.group() else at + 1
        while end < len(piece) and _joins(piece[end - 1], piece[end]):
            end += 1
        yield at, end
        at = end


def _joins(before: str, sign: str) -> bool:
    """Whether a character may become one with the one before: accents, vowel signs, parts of Hangul."""
    if unicodedata.category(sign)[0] == "M" or unicodedata.combining(sign):
        return True
    jamo = "\u1100" <= sign <= "\u11ff" or "\uff9e" <= sign <= "\uff9f" or "\uffa0" <= sign <= "\uffdc"
    return jamo and not before.isascii()


def joined(marks: Iterable[Mark], most: int = MOST_MARKS) -> list[Mark]:
    """Marks in order, none over another: the kind that comes first in `KINDS` wins, equal ones join.

    Of more than `most`, the first of the kinds that come first are kept.
    """
    every = list(marks)
    taken: list[Mark] = []
    for kind in KINDS:
        free = _outside(_united([(a, b) for a, b, other in every if other == kind]), taken)
        taken = sorted([*taken, *((*span, kind) for span in free[: most - len(taken)])])
    return taken


def _united(spans: list[Span]) -> list[Span]:
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _outside(spans: list[Span], taken: list[Mark]) -> list[Span]:
    """Spans on which nothing else stands; both are in order, and neither overlaps itself."""
    outside, at = [], 0
    for start, end in spans:
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        if at == len(taken) or end <= taken[at][0]:
            outside.append((start, end))
    return outside
