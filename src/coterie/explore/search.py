"""Search: by words, whatever their case and accents, or by meaning.

By meaning, a query is its terms and those that are used like them; texts are found through both.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix, vstack

from coterie.explore.caches import Recent
from coterie.linalg.rows import unit_dense
from coterie.text.unspaced import CHARACTER
from coterie.topics import TopicModel

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer[Any]]

#: Terms related to one term of a query, and from which similarity on.
_MOST, _NEAR = 12, 0.2
#: A term in fewer texts says too little about its use; in so many it is half believed.
_LEAST_TEXTS, _HALF = 3, 5.0
#: A related word counts for less than the word itself.
_LESS = 0.7
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


@dataclass(frozen=True, slots=True)
class Near:
    """A term near to another: both are columns. `similarity` is the cosine, less for a rare term."""

    term: int
    source: int
    similarity: float


@dataclass(frozen=True)
class Meaning:
    """What a query means: columns it names, columns near to those, and what each is worth."""

    known: tuple[int, ...]
    related: tuple[Near, ...]
    worth: dict[int, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """What a text is worth that holds all terms of the query."""
        return sum(self.worth[column] for column in self.known) or 1.0


class Terms:
    """The terms of a model, and which of them are near each other."""

    def __init__(self, model: TopicModel):
        scorer = model.state.edited.scorer
        space = scorer.method.space
        self._units: Floats = unit_dense(space.vectors).astype(np.float32)
        self._weights = np.asarray(space.weights, dtype=np.float64)
        texts = model.vectorizer_.vocabulary_.document_frequency
        self._trust: Floats = np.where(texts >= _LEAST_TEXTS, texts / (texts + _HALF), 0.0).astype(np.float32)
        self._trust[list(scorer.banned)] = 0.0

    def near(self, columns: Ints, without: Ints, most: int = _MOST, least: float = _NEAR) -> list[Near]:
        """For each of the columns the nearest others, those of `without` left out."""
        related = []
        for column in columns.tolist():
            alike = self._units @ self._units[column] * self._trust
            alike[without] = -1.0
            best = np.argpartition(-alike, min(most, len(alike) - 1))[:most]
            best = best[np.lexsort((best, -np.round(alike[best], 6)))]
            related += [Near(int(at), column, float(alike[at])) for at in best if alike[at] >= least]
        return related

    def meaning(self, columns: Ints) -> Meaning:
        """What a query of these columns means."""
        best: dict[int, Near] = {}
        for near in self.near(columns, columns):
            if near.term not in best or near.similarity > best[near.term].similarity:
                best[near.term] = near
        related = sorted(best.values(), key=lambda near: (-round(near.similarity, 6), near.term))
        worth = {column: self.weight(column) for column in columns.tolist()}
        for near in related:  # a rare word is no better a sign of the query than the query itself
            distinctive = min(self.weight(near.term), self.weight(near.source))
            worth[near.term] = _LESS * near.similarity * distinctive
        return Meaning(tuple(columns.tolist()), tuple(related), worth)

    def distinctive(self, columns: Ints, most: int) -> Ints:
        """The most telling of some columns, in their order."""
        best = np.argsort(-np.round(self._weights[columns], 9), kind="stable")[:most]
        return columns[np.sort(best)]

    def weight(self, column: int) -> float:
        """How telling a term is."""
        return float(max(self._weights[column], 0.1))


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
        parts = []
        for block in self._engine.map(lambda block: block):
            here = texts[(texts >= block.start) & (texts < block.start + block.X.shape[0])]
            if len(here):
                parts.append(block.X[here - block.start])
        return vstack(parts, format="csr")

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
