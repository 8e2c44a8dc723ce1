"""From counts to memberships in the topics as they are now: those of the method, then merged and split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.methods.fitted import FittedMethod
from coterie.topics.collection import without_columns
from coterie.topics.reshape import Array, Change, Ints, Merge, Split

#: The topic of a text that belongs to none.
NONE = -1


@dataclass(frozen=True)
class Scored:
    """Texts as a `Scorer` sees them: one row each.

    `X` are counts without banned terms, `base` memberships in the topics of the method, `memberships` those
    in topics as they are now, a column each; rows sum to 1, or to 0 for a text of which nothing is known.
    """

    X: csr_matrix
    base: Array
    memberships: Array
    vectors: Array

    @cached_property
    def topics(self) -> Ints:
        """The column of each text's topic, `NONE` for a text of which nothing is known."""
        return np.where(self.memberships.any(axis=1), self.memberships.argmax(axis=1), NONE)

    @property
    def n_words(self) -> Ints:
        """How many different known terms each text has."""
        return np.asarray(np.diff(self.X.indptr), dtype=np.int64)


@dataclass(frozen=True)
class Scorer:
    """Everything needed to assign a text.

    `order` lists the topics of the method from the largest to the smallest: topic id i is its topic
    ``order[i]`` until `changes` merge and split. Columns `banned` count for nothing.
    """

    method: FittedMethod
    order: Ints
    changes: tuple[Change, ...] = ()
    banned: tuple[int, ...] = ()

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """Ids of the topics as they are now, one for each column of memberships."""
        ids: tuple[int, ...] = tuple(range(len(self.order)))
        for change in self.changes:
            ids = change.ids(ids)
        return ids

    def changed(self, change: Change) -> Scorer:
        """The same with one more change."""
        return replace(self, changes=(*self.changes, change))

    def score(self, counts: csr_matrix, embeddings: Any = None) -> Scored:
        """Texts by their counts and, for a model with embeddings, their embeddings."""
        X = without_columns(counts, self.banned)
        if not X.shape[0]:
            none = np.zeros((0, len(self.order)))
            return Scored(X, none, np.zeros((0, len(self.ids))), np.zeros((0, self.method.dimensions)))
        base, vectors = self.method.score(X, embeddings)
        base = base[:, self.order]
        memberships, ids = base, tuple(range(len(self.order)))
        for change in self.changes:
            memberships, ids = change.memberships(memberships, ids, vectors), change.ids(ids)
        return Scored(X, base, memberships, vectors)

    def vectors(self, counts: csr_matrix, embeddings: Any = None) -> Array:
        """The vectors of texts, as `score` has them."""
        X = without_columns(counts, self.banned)
        return self.method.vectors(X, embeddings) if X.shape[0] else np.zeros((0, self.method.dimensions))

    def rivals(self, scored: Scored) -> tuple[Ints, Ints]:
        """The two topics that a reason is about: the best, and the best among the rest.

        They are numbered as the method numbers them. Of several topics of the method that are one now, the
        best stands for them.
        """
        inside = self._sources[np.maximum(scored.topics, 0)]
        one = np.where(inside, scored.base, -1.0).argmax(axis=1)
        other = np.where(inside, -1.0, scored.base).argmax(axis=1)
        return self.order[one], self.order[other]

    @cached_property
    def _sources(self) -> npt.NDArray[np.bool_]:
        """Topics as they are now × topics of the method that they were made of."""
        made = {topic: {topic} for topic in range(len(self.order))}
        for change in self.changes:
            if isinstance(change, Merge):
                made[change.into] = made[change.into].union(*(made[topic] for topic in change.others))
            elif isinstance(change, Split):
                made |= dict.fromkeys(change.parts, made[change.topic])
        sources = np.zeros((len(self.ids), len(self.order)), dtype=bool)
        for row, topic in enumerate(self.ids):
            sources[row, list(made[topic])] = True
        return sources
