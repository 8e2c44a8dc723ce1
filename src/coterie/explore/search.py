"""Search: by words, whatever their case and accents, or by meaning.

By meaning, a query is its terms and those that are used like them; texts are found through both.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix

from coterie.explore.caches import Recent
from coterie.text.unspaced import CHARACTER
from coterie.topics import TopicModel
from coterie.topics.collection import counts_of
from coterie.topics.related import Meaning

Floats = npt.NDArray[np.float32]

_KEPT = 8

#: Words of a query that are looked for.
_MOST_WORDS = 20
#: Texts that are looked through together: most words are found in the first of them.
_SLICE = 65_536
_PIECES = re.compile(r'"([^"]*)"?|(\S+)')
_UNSPACED = re.compile(CHARACTER)
#: Signs that mean something in a pattern; "\\<" would mean something where "<" does not.
_SIGNS = re.compile(r"[\\.+*?()|\[\]{}^$]")


# --- by words


def folded(text: pl.Expr) -> pl.Expr:
    """Texts without case and accents."""
    # null where there is nothing to do: that costs nothing
    wide = pl.when(text.str.len_bytes() != text.str.len_chars()).then(text)
    accented = wide.str.normalize("NFKD").str.replace_all(r"\p{Mn}", "").str.normalize("NFC")
    return pl.coalesce(accented, text).str.to_lowercase()


@dataclass(frozen=True)
class Words:
    """What is looked for: `parts` are words and phrases as they were written."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> Words:
        """The words of a query; what stands in quotes is a phrase.

        >>> Words.of('refund "late parcel"').parts
        ('refund', 'late parcel')
        """
        pieces = (phrase or word for phrase, word in _PIECES.findall(query))
        parts = [" ".join(part.split()) for part in pieces]
        return cls(tuple(dict.fromkeys(part for part in parts if part.strip('" ')))[:_MOST_WORDS])

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """A pattern for the folded form of each part, for Rust and Python alike."""
        spelled = pl.DataFrame({"part": self.parts}, schema={"part": pl.String}).select(
            folded(pl.col("part"))
        )
        return tuple(map(_pattern, spelled.to_series()))

    def within(self, texts: pl.Series) -> npt.NDArray[np.bool_]:
        """Which folded texts hold all of them."""
        matches = np.ones(len(texts), dtype=bool)
        for pattern in self.patterns:
            some = np.flatnonzero(matches)
            if not len(some):
                break
            inside = texts if len(some) == len(texts) else texts[some]
            matches[some] = inside.str.contains(pattern).to_numpy()
        return matches

    def absent(self, texts: pl.Series) -> tuple[str, ...]:
        """Those that none of the folded texts holds."""
        slices = list(texts.to_frame().iter_slices(_SLICE))
        return tuple(
            part
            for part, pattern in zip(self.parts, self.patterns, strict=True)
            if not any(some.to_series().str.contains(pattern).any() for some in slices)
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in a text, as it is written, they stand: in code points."""
        if not self.parts:
            return []
        plain, origin = _aligned(text)
        spans = []
        for pattern in self.patterns:
            for match in re.finditer(pattern, plain):
                start, end = match.span()
                if end > start:
                    spans.append((origin[start], _end(text, origin[end - 1] + 1)))
        return sorted(set(spans))


def _pattern(part: str) -> str:
    """A word begins where a word begins, unless its script has no spaces or it begins with a sign."""
    words = r"\s+".join(_SIGNS.sub(lambda sign: "\\" + sign.group(), word) for word in part.split())
    first = part[:1]
    begins = (first.isalnum() or first == "_") and not _UNSPACED.match(first)
    return (r"\b" if begins else "") + words


def _aligned(text: str) -> tuple[str, list[int]]:
    """A folded text, and for each of its characters the position of the one it came from."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    plain: list[str] = []
    origin: list[int] = []
    for position, sign in enumerate(text):
        if sign.isascii():
            piece = sign.lower()
        else:
            bare = "".join(c for c in unicodedata.normalize("NFKD", sign) if unicodedata.category(c) != "Mn")
            piece = unicodedata.normalize("NFC", bare).lower()
        plain.append(piece)
        origin += [position] * len(piece)
    return "".join(plain), origin


def _end(text: str, end: int) -> int:
    """Accents that follow belong to the letter before."""
    while end < len(text) and unicodedata.category(text[end]) == "Mn":
        end += 1
    return end


# --- by meaning


class MeaningIndex:
    """Which texts hold each term: distinct texts by term, and the distinct text of each row."""

    def __init__(self, model: TopicModel):
        assert model.collection is not None
        corpus = model.collection.corpus
        self._engine = corpus.engine
        by_term = corpus.matrix().tocsc()
        self._starts, self._texts = by_term.indptr, by_term.indices.astype(np.int32, copy=False)
        self._n_distinct = corpus.n_distinct
        self.rows = np.asarray(corpus.rows, dtype=np.int32)
        self._recent: Recent[tuple[int, ...], Floats] = Recent(_KEPT)

    def holding(self, column: int) -> npt.NDArray[np.int32]:
        """Distinct texts that hold a term."""
        return self._texts[self._starts[column] : self._starts[column + 1]]

    def texts_with_each(self, rows: npt.NDArray[Any] | None = None) -> npt.NDArray[np.float64]:
        """How many of some rows, or of all, hold each term."""
        chosen = self.rows if rows is None else self.rows[rows]
        weights = np.bincount(chosen, minlength=self._n_distinct).astype(np.float64)
        sums = np.concatenate([[0.0], np.cumsum(weights[self._texts])])
        held: npt.NDArray[np.float64] = sums[self._starts[1:]] - sums[self._starts[:-1]]
        return held

    def counts(self, texts: npt.NDArray[Any]) -> csr_matrix:
        """Counts of some distinct texts, which are in ascending order."""
        return counts_of(self._engine, texts)

    def distinct_scores(self, meaning: Meaning) -> Floats:
        """What each distinct text is worth for a query; 1 holds all of its terms."""

        def make() -> Floats:
            scores = np.zeros(self._n_distinct, dtype=np.float32)
            for column, worth in meaning.worth.items():
                scores[self.holding(column)] += worth / meaning.best
            return scores

        return self._recent.get(meaning.known, make)

    def scores(self, meaning: Meaning) -> Floats:
        """What the text of each row is worth."""
        scores: Floats = self.distinct_scores(meaning)[self.rows]
        return scores
