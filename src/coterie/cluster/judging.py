"""How much words and embeddings, each alone, tell of topics on texts that they were not shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from coterie.cluster.texts import FLOAT, Floats, Ints, Sample, Texts
from coterie.engines import Block, MemoryEngine
from coterie.linalg.spherical import spherical_kmeans

#: Counts added to those of each term in each topic.
_SMOOTHING = 0.1
#: Penalty on coefficients of the embeddings, in texts.
_PENALTY = 3.0
#: Shuffled predictions whose mean information is taken off: many topics agree by chance.
_SHUFFLES = 3
#: Parts of the texts that are left out in turn to see how sure a difference is, and errors that make it sure.
_PARTS, _ERRORS = 20, 2.0
#: Starts of the clusterings that say how far to trust embeddings.
_STARTS = 3


@dataclass(frozen=True)
class Told:
    """What was predicted of a partition: topics by words, and by embeddings, beside those that are judged."""

    words: Ints
    embeddings: Ints
    topics: Ints
    weights: npt.NDArray[np.float64]
    n_topics: int

    def clearly_more_than(self, other: Told, words: float, embeddings: float) -> bool:
        """Whether more is told of this partition, by two errors, if words and embeddings count so much."""
        more = (self.bits[1:] - other.bits[1:]) @ np.array([words, embeddings])
        return bool(more.mean() > _ERRORS * np.sqrt((_PARTS - 1) * more.var()))

    @cached_property
    def bits(self) -> npt.NDArray[np.float64]:
        """Information about the topic of a text, beyond chance, in bits: by words, and by embeddings.

        The first row is that of all texts, each further one that of the texts without a part.
        """
        parts = np.arange(len(self.topics)) * _PARTS // max(len(self.topics), 1)
        whole = np.ones(len(self.topics), dtype=bool)
        some = [whole, *(parts != part for part in range(_PARTS))]
        columns = []
        for said in (self.words, self.embeddings):
            random = np.random.RandomState(0)
            chance = [self._information(random.permutation(said), whole) for _ in range(_SHUFFLES)]
            columns.append([self._information(said, these) - np.mean(chance) for these in some])
        return np.array(columns).T

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

    def trust(self, n_topics: int, random: np.random.RandomState) -> float:
        """How much embeddings count as witnesses beside words, from 0 to 1.

        Clusters of the embeddings alone, and clusters of the text vectors alone: words tell something of
        both. Where they tell little of the former, the embeddings see something else in the texts.
        """
        told = []
        for engine in (self.as_engine(), self.texts.as_engine()):
            centers = spherical_kmeans(engine, n_topics, random, n_init=_STARTS).centers
            labels = np.concatenate(list(engine.map(partial(_nearest, centers=centers))))
            told.append(float(self.ask(labels, n_topics).bits[0, 0]))
        return float(np.clip(told[0] / max(told[1], 1e-300), 0.0, 1.0))

    def as_engine(self) -> MemoryEngine:
        """The embeddings as row blocks."""
        blocks = [
            Block(self.embeddings[block.rows], block.weights, block.start)  # type: ignore[arg-type]
            for block in self.texts.blocks
        ]
        return MemoryEngine(blocks, self.texts.threads)

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


def _nearest(block: Block, centers: Floats) -> Ints:
    return np.asarray((block.X @ centers.T).argmax(axis=1), dtype=np.int64)


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
