"""Related terms: those that are used like the terms of a text, and what each is worth beside them.

Search by meaning, on the live page and by `TopicModel.search`, has related terms for each word of a query;
`TopicModel.expand` has those near to a text as a whole, which finds more (docs/uses.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.linalg.rows import unit_dense

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer[Any]]

#: Terms related to one term of a query, and from which similarity on.
_MOST, _NEAR = 12, 0.2
#: A term in fewer texts says too little about its use; in so many it is half believed.
_LEAST_TEXTS, _HALF = 3, 5.0
#: A related word counts for less than the word itself.
_LESS = 0.7
#: Words that say at least this part of what the strongest says have brought a term.
_STRONG = 0.5


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


@dataclass(frozen=True, slots=True)
class Added:
    """A term near to a whole text, `weight` beside a word of the text, and the `sources` that brought it."""

    term: int
    weight: float
    sources: tuple[int, ...]


class Terms:
    """The terms of a model, and which of them are near each other."""

    def __init__(self, model: TopicModel):
        scorer = model.state.edited.scorer
        space = scorer.method.space
        self._vectors = space.vectors
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

    def added(self, text: csr_matrix, most: int) -> list[Added]:
        """Terms that a text, one row of counts, does not have but whose vectors are nearest to its own.

        The words that brought a term are those whose vectors agree most with its vector.
        """
        columns = text.indices
        if not len(columns):
            return []
        alike = self._units @ unit_dense(text @ self._vectors)[0].astype(np.float32) * self._trust
        alike[columns] = -1.0
        rounded = np.round(alike, 6)
        best = np.argsort(-rounded, kind="stable")[:most]
        best = best[rounded[best] >= _NEAR]
        shares = text.data[:, None] * (self._vectors[columns] @ self._vectors[best].T)
        strong = shares >= _STRONG * shares.max(axis=0, initial=0.0)
        most_telling = max(map(self.weight, columns.tolist()))
        return [
            Added(
                term,
                # a rare word is no better a sign of the text than the text itself
                _LESS * float(rounded[term]) * min(1.0, most_telling / self.weight(term)),
                tuple(columns[strong[:, number] & (shares[:, number] > 0)].tolist()),
            )
            for number, term in enumerate(best.tolist())
        ]

    def distinctive(self, columns: Ints, most: int) -> Ints:
        """The most telling of some columns, in their order."""
        best = np.argsort(-np.round(self._weights[columns], 9), kind="stable")[:most]
        return columns[np.sort(best)]

    def weight(self, column: int) -> float:
        """How telling a term is."""
        return float(max(self._weights[column], 0.1))
