"""From counts to memberships in topics as they are now: the method's own, then merged and split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster import Coterie
from coterie.cluster.space import Space
from coterie.engines import Block
from coterie.topics.evidence import counted_evidence
from coterie.topics.reshape import Array, Change, Ints, Merge

#: The place of a text that belongs to no topic.
NOWHERE = -1


@dataclass(frozen=True)
class Seen:
    """Texts as the model sees them: rows are texts.

    `X` are counts without banned terms, `base` memberships in the topics of the method, `memberships` those
    in topics as they are now, one column each; rows sum to 1, or to 0 for a text of which nothing is known.
    """

    X: csr_matrix
    base: Array
    memberships: Array
    directions: Array

    @cached_property
    def places(self) -> Ints:
        """The column of each text's topic, `NOWHERE` for a text of which nothing is known."""
        return np.where(self.memberships.any(axis=1), self.memberships.argmax(axis=1), NOWHERE)

    @property
    def n_words(self) -> Ints:
        """How many different known terms each text holds."""
        return np.asarray(np.diff(self.X.indptr), dtype=np.int64)

    def rows(self, chosen: Ints) -> Seen:
        """Some of the texts."""
        return Seen(self.X[chosen], self.base[chosen], self.memberships[chosen], self.directions[chosen])

    @classmethod
    def joined(cls, parts: Sequence[Seen]) -> Seen:
        """Texts of several parts, one after another."""
        from scipy.sparse import vstack

        return cls(
            vstack([part.X for part in parts], format="csr"),
            np.concatenate([part.base for part in parts]),
            np.concatenate([part.memberships for part in parts]),
            np.concatenate([part.directions for part in parts]),
        )


@dataclass(frozen=True)
class Placing:
    """What puts a text into a topic.

    `estimator` is the fitted method, `order` its topics from the largest to the smallest: topic id i is its
    topic ``order[i]`` until `changes` merge and split. Columns `banned` count for nothing.
    """

    estimator: Any
    space: Space
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

    @property
    def dimensions(self) -> int:
        """Length of directions: those of the space, and of vectors from elsewhere."""
        view = self.estimator.view_ if isinstance(self.estimator, Coterie) else None
        return int(self.space.vectors.shape[1] + (0 if view is None else view.axes.shape[1]))

    def changed(self, change: Change) -> Placing:
        """The same with one more change."""
        return replace(self, changes=(*self.changes, change))

    def see(self, counts: csr_matrix, vectors: Any = None) -> Seen:
        """Texts by their counts and, for a method with embeddings, their vectors."""
        X = without_columns(counts, self.banned)
        base, directions = self._base(X, vectors)
        memberships, ids = base, tuple(range(len(self.order)))
        for change in self.changes:
            memberships, ids = change.memberships(memberships, ids, directions), change.ids(ids)
        return Seen(X, base, memberships, directions)

    def see_block(self, block: Block, vectors: Any = None) -> Seen:
        """The texts of a row block; `vectors` are those of all rows."""
        some = slice(block.start, block.start + block.X.shape[0])
        return self.see(block.X, None if vectors is None else vectors[some])

    def evidence(self, seen: Seen, log_shares: Array) -> csr_matrix:
        """What each word of each text says for its topic, and against the next best."""
        first = np.maximum(seen.places, 0)
        if not len(first):
            return seen.X
        if isinstance(self.estimator, Coterie):
            inside = self._sources()[first]  # of several topics of the method that are one now, the best
            one = np.where(inside, seen.base, -1.0).argmax(axis=1)
            other = np.where(inside, -1.0, seen.base).argmax(axis=1)
            return self.estimator.evidence(seen.X, self.order[one], self.order[other])
        rest = seen.memberships.copy()
        rest[np.arange(len(first)), first] = -1.0
        return counted_evidence(seen.X, log_shares, first, rest.argmax(axis=1))

    def _base(self, X: csr_matrix, vectors: Any) -> tuple[Array, Array]:
        """Memberships in topics of the method, the largest first, and directions."""
        if not X.shape[0]:
            return np.zeros((0, len(self.order))), np.zeros((0, self.dimensions))
        if isinstance(self.estimator, Coterie):
            shares = self.estimator.transform(X, embeddings=vectors)
            directions = self.estimator.embed(X, embeddings=vectors)
            return shares[:, self.order], np.asarray(directions, dtype=np.float64)
        found = np.maximum(np.asarray(self.estimator.transform(X), dtype=np.float64), 0.0)
        found[:, ~_open_topics(self.estimator)] = 0.0
        found[np.diff(X.indptr) == 0] = 0.0  # some methods have a topic for a text without a word
        total = found.sum(axis=1, keepdims=True)
        shares = np.divide(found, total, where=total > 0, out=np.zeros_like(found))
        return shares[:, self.order], np.asarray(self.space.directions(X), dtype=np.float64)

    def _sources(self) -> npt.NDArray[np.bool_]:
        """Topics as they are now × topics of the method that they were made of."""
        made = {topic: {topic} for topic in range(len(self.order))}
        for change in self.changes:
            if isinstance(change, Merge):
                made[change.into] = made[change.into].union(*(made[topic] for topic in change.others))
            else:
                made |= dict.fromkeys(change.parts, made[change.topic])
        found = np.zeros((len(self.ids), len(self.order)), dtype=bool)
        for row, topic in enumerate(self.ids):
            found[row, list(made[topic])] = True
        return found


def _open_topics(estimator: Any) -> npt.NDArray[np.bool_]:
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    return np.asarray(last._open(), dtype=bool)


def without_columns(counts: csr_matrix, columns: Sequence[int]) -> csr_matrix:
    """Counts in which some terms do not occur; the number of columns stays."""
    if not columns:
        return counts
    changed = counts.copy()
    changed.data[np.isin(changed.indices, columns)] = 0.0
    changed.eliminate_zeros()
    return changed
