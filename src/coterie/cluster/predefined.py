"""Topics that are known beforehand: what stands for them, and the clusters that they begin as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.fusion import View
from coterie.cluster.space import Space
from coterie.cluster.texts import Floats, Ints, Sample, Texts
from coterie.embeddings import Vectors
from coterie.errors import InputError
from coterie.linalg.rows import unit_dense

#: The label of a text that belongs to no predefined topic yet.
FREE = -1


@dataclass(frozen=True)
class Predefined:
    """What stands for topics 0 … n − 1: rows of counts, each for one topic.

    A row is a list of `words` or a text about the topic, a description or an example. `topics` has the topic
    of each row, `is_words` says which are words. `vectors` are embeddings of the rows, if there are any.
    """

    n_topics: int
    counts: csr_matrix
    topics: Ints
    is_words: npt.NDArray[np.bool_]
    vectors: Vectors | None = None

    @classmethod
    def of_columns(cls, columns: Sequence[npt.ArrayLike], n_terms: int) -> Predefined:
        """Topics by their words alone, given as columns.

        >>> Predefined.of_columns([[0], [1, 2]], 3).counts.toarray().tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]
        """
        counts = np.zeros((len(columns), n_terms))
        for topic, some in enumerate(np.asarray(words, dtype=np.int64) for words in columns):
            if ((some < 0) | (some >= n_terms)).any():
                raise InputError(f"columns of words must be 0 to {n_terms - 1}; got {some.tolist()}")
            counts[topic, some] = 1.0
        topics = np.arange(len(columns))
        return cls(len(columns), csr_matrix(counts), topics, np.ones(len(columns), dtype=bool))

    def of_terms(self, columns: Ints) -> Predefined:
        """The same in other columns: some of these, or all in another order."""
        return replace(self, counts=self.counts[:, columns])

    def terms(self) -> npt.NDArray[np.bool_]:
        """Whether each term stands for a topic."""
        return np.bincount(self.counts.indices, minlength=self.counts.shape[1]) > 0

    def begin(self, counts: csr_matrix) -> Ints:
        """The topic that each text begins in: the only one of which it contains a word; else `FREE`.

        >>> known = Predefined.of_columns([[0], [1, 2]], 3)
        >>> known.begin(csr_matrix([[1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])).tolist()
        [0, 1, -1, -1]
        """
        rows = np.flatnonzero(self.is_words)
        of_topic = csr_matrix(
            (np.ones(len(rows)), (self.topics[rows], rows)), (self.n_topics, len(self.topics))
        )
        contained = (counts @ (of_topic @ self.counts).T).toarray() > 0
        return np.where(contained.sum(axis=1) == 1, contained.argmax(axis=1), FREE)

    def centers(self, texts: Sample, begin: Ints, space: Space, view: View | None) -> Floats:
        """The centre that each topic begins with, zeros for one of which nothing is known here.

        It lies between the texts that begin in the topic and what stands for it: words that co-occur with
        those of a description bring texts in that share no word with it.
        """
        own = texts.sum(lambda block: _sums(block, begin[block.rows], self.n_topics))
        vectors = space.text_vectors(self.counts)
        if view is not None:
            there = np.zeros((len(vectors), len(view.mean))) if self.vectors is None else self.vectors
            vectors = view.fused(vectors, there)
        said = np.zeros_like(own, dtype=np.float64)
        np.add.at(said, self.topics, vectors)
        return unit_dense(unit_dense(own) + unit_dense(said))


def _sums(block: Texts, begin: Ints, n_topics: int) -> Floats:
    some = np.flatnonzero(begin != FREE)
    member = csr_matrix((block.weights[some], (begin[some], some)), shape=(n_topics, len(begin)))
    return np.asarray(member @ block.text_vectors)
