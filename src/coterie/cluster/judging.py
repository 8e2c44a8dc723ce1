"""How much words and embeddings, each alone, tell of topics on texts that they were not shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from coterie.cluster.texts import FLOAT, Floats, Ints, Sample, Texts

#: Counts added to those of each term in each topic.
_SMOOTHING = 0.1
#: Penalty on coefficients of the embeddings, in texts.
_PENALTY = 3.0
#: Shuffled predictions whose mean information is taken off: many topics agree by chance.
_SHUFFLES = 3
#: Parts of the texts that are left out in turn to see how sure a difference is, and errors that make it sure.
_PARTS, _ERRORS = 20, 2.0


@dataclass(frozen=True)
class Told:
    """What was predicted of a partition: topics by words, and by embeddings, beside those that are judged."""

    words: Ints
    embeddings: Ints
    topics: Ints
    weights: npt.NDArray[np.float64]
    n_topics: int

    @cached_property
    def bits(self) -> float:
        """Information about the topic of a text that words and embeddings tell, in bits, added up."""
        whole = np.ones(len(self.topics), dtype=bool)
        return sum(
            self._information(said, whole) - self._by_chance(said) for said in (self.words, self.embeddings)
        )

    def contradicts(self, other: Told) -> bool:
        """Whether the embeddings tell clearly more of this partition than of the other."""
        parts = np.arange(len(self.topics)) * _PARTS // max(len(self.topics), 1)
        more = np.array(
            [self._beyond(parts != part) - other._beyond(parts != part) for part in range(_PARTS)]
        )
        return bool(more.mean() > _ERRORS * np.sqrt((_PARTS - 1) * more.var()))

    def _beyond(self, some: npt.NDArray[np.bool_]) -> float:
        """What the embeddings tell beyond chance, on some of the texts."""
        return self._information(self.embeddings, some) - self._embeddings_by_chance

    @cached_property
    def _embeddings_by_chance(self) -> float:
        return self._by_chance(self.embeddings)

    def _by_chance(self, said: Ints) -> float:
        """The information in shuffled predictions: the more topics, and the more even, the more there is."""
        random, whole = np.random.RandomState(0), np.ones(len(said), dtype=bool)
        return float(np.mean([self._information(random.permutation(said), whole) for _ in range(_SHUFFLES)]))

    def _information(self, said: Ints, some: npt.NDArray[np.bool_]) -> float:
        return mutual_information(said[some], self.topics[some], self.weights[some], self.n_topics)


@dataclass(frozen=True)
class Judge:
    """Judges partitions of the same texts.

    Every other text teaches a classifier the topics, the rest are asked, and the other way round. Words are
    asked by a multinomial Bayes classifier, embeddings by ridge regression. What counts is the mutual
    information between the topics predicted and those that are judged, less what shuffled predictions have.
    Texts come in the order of a hash of their content, so the halves do not depend on the order of the input.
    """

    texts: Sample
    #: One embedding for each text, rows of unit length.
    embeddings: Floats

    def ask(self, labels: Ints, n_topics: int) -> Told:
        """What is told of a partition."""
        odd = np.arange(len(labels)) % 2 == 1
        by_words, by_embeddings = np.empty_like(labels), np.empty_like(labels)
        for learned in (odd, ~odd):
            words = partial(_likeliest, words=self._words(labels, n_topics, learned))
            by_words[~learned] = self.texts.gather(words)[~learned]
            by_embeddings[~learned] = self._by_embeddings(labels, n_topics, learned)[~learned]
        weights = self.texts.gather(lambda block: block.weights).astype(np.float64)
        return Told(by_words, by_embeddings, labels, weights, n_topics)

    def _words(self, labels: Ints, n_topics: int, learned: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Logarithms of how likely each term is in each topic, and of the sizes of topics."""

        def counted(block: Texts) -> tuple[Floats, Floats]:
            member = _members(block, labels, n_topics, learned)
            return block.counts.T @ member, member.sum(axis=0)

        counts, sizes = self.texts.sum(counted)
        counts += FLOAT(_SMOOTHING)
        return np.log(counts / counts.sum(axis=0)), np.log(sizes + FLOAT(1))

    def _by_embeddings(self, labels: Ints, n_topics: int, learned: npt.NDArray[np.bool_]) -> Ints:
        """The topic of each text by a ridge regression on the embeddings of some."""

        def moments(block: Texts) -> tuple[Floats, Floats, Floats]:
            vectors, member = self.embeddings[block.rows], _members(block, labels, n_topics, learned)
            weighted = vectors * (block.weights * learned[block.rows])[:, None]
            return weighted.T @ vectors, vectors.T @ member, member.sum(axis=0)

        gram, right, sizes = self.texts.sum(moments)
        base = sizes / max(float(sizes.sum()), 1e-30)
        mean = self.texts.sum(
            lambda block: self.embeddings[block.rows].T @ (block.weights * learned[block.rows])
        )
        coefficients = np.linalg.solve(
            gram + _PENALTY * np.eye(len(gram), dtype=gram.dtype), right - np.outer(mean, base)
        )
        return self.texts.gather(
            lambda block: (self.embeddings[block.rows] @ coefficients + base).argmax(axis=1)
        )


def _members(block: Texts, labels: Ints, n_topics: int, learned: npt.NDArray[np.bool_]) -> Floats:
    """Texts × topics: the weight of each text that is learned from, in its topic."""
    member = np.zeros((len(block.weights), n_topics), dtype=FLOAT)
    member[np.arange(len(member)), labels[block.rows]] = block.weights * learned[block.rows]
    return member


def _likeliest(block: Texts, words: tuple[Floats, Floats]) -> Ints:
    log_terms, log_sizes = words
    return np.asarray((block.counts @ log_terms + log_sizes).argmax(axis=1), dtype=np.int64)


def mutual_information(one: Ints, other: Ints, weights: npt.NDArray[np.float64], n_topics: int) -> float:
    """Mutual information of two partitions of weighted texts, in bits.

    >>> halves = np.array([0, 0, 1, 1])
    >>> mutual_information(halves, halves, np.ones(4), 2)
    1.0
    """
    pairs = np.bincount(one * n_topics + other, weights, n_topics * n_topics)
    joint = (pairs / max(float(pairs.sum()), 1e-300)).reshape(n_topics, n_topics)
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    return float((joint[some] * np.log2(joint[some] / apart[some])).sum())
