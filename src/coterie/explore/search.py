"""Search by meaning: a query is its terms and those that keep their company; texts are found through both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from coterie.explore.caches import Recent
from coterie.linalg.rows import unit_dense
from coterie.topics import TopicModel

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Terms related to one term of a query, and from which similarity on.
_MOST, _NEAR = 12, 0.2
#: A term in fewer texts has no company to speak of, and in so many it is half believed.
_LEAST_TEXTS, _HALF = 3, 5.0
#: A related word counts for less than the word itself.
_LESS = 0.7
_KEPT = 8


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
        placing = model._made.placing
        self._units: Floats = unit_dense(placing.space.vectors).astype(np.float32)
        self._weights = np.asarray(placing.space.weights, dtype=np.float64)
        texts = model.vectorizer_.vocabulary_.document_frequency
        self._trust: Floats = np.where(texts >= _LEAST_TEXTS, texts / (texts + _HALF), 0.0).astype(np.float32)
        self._trust[list(placing.banned)] = 0.0

    def near(self, columns: Ints, without: Ints, most: int = _MOST, least: float = _NEAR) -> list[Near]:
        """For each of the columns the nearest others, those of `without` left out."""
        found = []
        for column in columns.tolist():
            alike = self._units @ self._units[column] * self._trust
            alike[without] = -1.0
            best = np.argpartition(-alike, min(most, len(alike) - 1))[:most]
            best = best[np.lexsort((best, -np.round(alike[best], 6)))]
            found += [Near(int(at), column, float(alike[at])) for at in best if alike[at] >= least]
        return found

    def meaning(self, columns: Ints) -> Meaning:
        """What a query of these columns means."""
        best: dict[int, Near] = {}
        for near in self.near(columns, columns):
            if near.term not in best or near.similarity > best[near.term].similarity:
                best[near.term] = near
        related = sorted(best.values(), key=lambda near: (-round(near.similarity, 6), near.term))
        worth = {column: self.weight(column) for column in columns.tolist()}
        for near in related:  # a rare word is no better a sign of the query than the query itself
            telling = min(self.weight(near.term), self.weight(near.source))
            worth[near.term] = _LESS * near.similarity * telling
        return Meaning(tuple(columns.tolist()), tuple(related), worth)

    def telling(self, columns: Ints, most: int) -> Ints:
        """The most telling of some columns, in their order."""
        best = np.argsort(-np.round(self._weights[columns], 9), kind="stable")[:most]
        return columns[np.sort(best)]

    def weight(self, column: int) -> float:
        """How telling a term is."""
        return float(max(self._weights[column], 0.1))


class MeaningIndex:
    """Which texts hold each term: distinct texts by term, and the distinct text of each row."""

    def __init__(self, model: TopicModel):
        corpus = model._counted.corpus
        self._engine = corpus.engine
        by_term = corpus.matrix().tocsc()
        self._starts, self._texts = by_term.indptr, by_term.indices.astype(np.int32, copy=False)
        self._n_distinct = corpus.n_distinct
        self.rows = np.asarray(corpus.rows, dtype=np.int32)
        self._recent: Recent[tuple[int, ...], Floats] = Recent(_KEPT)

    def holding(self, column: int) -> npt.NDArray[np.int32]:
        """Distinct texts that hold a term."""
        return self._texts[self._starts[column] : self._starts[column + 1]]

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
        found: Floats = self.distinct_scores(meaning)[self.rows]
        return found
