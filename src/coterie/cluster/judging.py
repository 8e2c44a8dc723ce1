"""How well held-out texts confirm topics: by words, and by a witness that played no part in finding them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.texts import FLOAT, Floats, Ints, Sample, Texts
from coterie.engines import Block, MemoryEngine
from coterie.linalg.spherical import spherical_kmeans

Mask = npt.NDArray[np.bool_]

#: Counts added to those of each term in each topic.
_SMOOTHING = 0.1
#: Penalty on coefficients of the embeddings, in texts.
_PENALTY = 3.0
#: Shuffled predictions whose mean information is taken off: many topics agree by chance.
_SHUFFLES = 3
#: Parts of the texts that are left out in turn to see how sure a difference is, and errors that make it sure.
_PARTS, _ERRORS = 20, 2.0
#: A witness that explains less than this share of the entropy of the topics is ignored.
_KNOWS = 0.1
#: Starts of the clusterings that say how far to trust embeddings.
_STARTS = 3


class Witness(Protocol):
    """What predicts topics of texts from something else than their words."""

    def predicted(self, texts: Sample, labels: Ints, n_topics: int, learned: Mask) -> Ints:
        """The topic of each text by a classifier that has learned from some."""


@dataclass(frozen=True)
class Counts:
    """Counts of terms, a row for each text: a multinomial Bayes classifier."""

    counts: csr_matrix

    def predicted(self, texts: Sample, labels: Ints, n_topics: int, learned: Mask) -> Ints:
        """The likeliest topic of each text by the counts of some."""

        def counted(block: Texts) -> tuple[Floats, Floats]:
            member = _members(block, labels, n_topics, learned)
            return self.counts[block.rows].T @ member, member.sum(axis=0)

        terms, sizes = texts.sum(counted)
        terms += FLOAT(_SMOOTHING)
        log_terms, log_sizes = np.log(terms / terms.sum(axis=0)), np.log(sizes + FLOAT(1))
        return texts.gather(lambda block: (self.counts[block.rows] @ log_terms + log_sizes).argmax(axis=1))


@dataclass(frozen=True)
class Embeddings:
    """Embeddings at unit length, a row for each text: ridge regression."""

    vectors: Floats

    def predicted(self, texts: Sample, labels: Ints, n_topics: int, learned: Mask) -> Ints:
        """The topic of each text by a regression on the embeddings of some."""

        def moments(block: Texts) -> tuple[Floats, Floats, Floats, Floats]:
            vectors, member = self.vectors[block.rows], _members(block, labels, n_topics, learned)
            weighted = vectors * (block.weights * learned[block.rows])[:, None]
            return weighted.T @ vectors, vectors.T @ member, weighted.sum(axis=0), member.sum(axis=0)

        gram, right, mean, sizes = texts.sum(moments)
        base = sizes / max(float(sizes.sum()), 1e-30)
        coefficients = np.linalg.solve(
            gram + _PENALTY * np.eye(len(gram), dtype=gram.dtype), right - np.outer(mean, base)
        )
        return texts.gather(lambda block: (self.vectors[block.rows] @ coefficients + base).argmax(axis=1))

    def trust(self, judge: Judge, n_topics: int, random: np.random.RandomState) -> float:
        """How much embeddings count as a witness beside words, from 0 to 1.

        Words predict clusters of the embeddings alone and clusters of the text vectors alone. If they do much
        worse on the former, the embeddings see something else in the texts.
        """
        texts, bits = judge.texts, []
        blocks = [Block(self.vectors[b.rows], b.weights, b.start) for b in texts.blocks]  # type: ignore[arg-type]
        for engine in (MemoryEngine(blocks, texts.threads), texts.as_engine()):
            centers = spherical_kmeans(engine, n_topics, random, n_init=_STARTS).centers
            labels = np.concatenate(list(engine.map(partial(_nearest, centers=centers))))
            bits.append(float(judge.predictions(labels, n_topics).bits[0, 0]))
        return float(np.clip(bits[0] / max(bits[1], 1e-300), 0.0, 1.0))


@dataclass(frozen=True)
class Predictions:
    """The topic of each text as predicted by words and by the witness, and as found."""

    words: Ints
    witness: Ints
    topics: Ints
    weights: npt.NDArray[np.float64]
    n_topics: int

    def contradicts(self, other: Predictions) -> bool:
        """Whether the witness clearly confirms this partition more than the other: by two standard errors."""
        more = self.bits[1:, 1] - other.bits[1:, 1]
        everything = mutual_information(self.topics, self.topics, self.weights, self.n_topics)
        if self.bits[0, 1] < _KNOWS * everything:
            return False
        return bool(more.mean() > _ERRORS * np.sqrt((_PARTS - 1) * more.var()))

    @cached_property
    def bits(self) -> npt.NDArray[np.float64]:
        """Information about the topic of a text, beyond chance, in bits: by words, and by the witness.

        The first row is that of all texts, each further one that of the texts without a part.
        """
        parts = np.arange(len(self.topics)) * _PARTS // max(len(self.topics), 1)
        whole = np.ones(len(self.topics), dtype=bool)
        some = [whole, *(parts != part for part in range(_PARTS))]
        columns = []
        for said in (self.words, self.witness):
            random = np.random.RandomState(0)
            chance = [self._information(random.permutation(said), whole) for _ in range(_SHUFFLES)]
            columns.append([self._information(said, these) - np.mean(chance) for these in some])
        return np.array(columns).T

    def _information(self, said: Ints, some: Mask) -> float:
        return mutual_information(said[some], self.topics[some], self.weights[some], self.n_topics)


@dataclass(frozen=True)
class Judge:
    """Judges partitions of the same texts.

    Classifiers trained on every other text predict the topics of the rest, and the other way round: once from
    words, once from the witness. The score is the mutual information of predicted and found topics, minus
    that of shuffled predictions. Texts are in the order of a hash of their content, so the halves do not
    depend on the order of the input.
    """

    texts: Sample
    witness: Witness

    def predictions(self, labels: Ints, n_topics: int) -> Predictions:
        """Predict the topic of each text, by words and by the witness."""
        odd = np.arange(len(labels)) % 2 == 1
        said = []
        for one in (self._words, self.witness):
            predicted = np.empty_like(labels)
            for learned in (odd, ~odd):
                predicted[~learned] = one.predicted(self.texts, labels, n_topics, learned)[~learned]
            said.append(predicted)
        weights = self.texts.gather(lambda block: block.weights).astype(np.float64)
        return Predictions(said[0], said[1], labels, weights, n_topics)

    @cached_property
    def _words(self) -> Counts:
        return Counts(self.texts.counts())


def _members(block: Texts, labels: Ints, n_topics: int, learned: Mask) -> Floats:
    """Texts × topics: the weight of each text that is learned from, in its topic."""
    member = np.zeros((len(block.weights), n_topics), dtype=FLOAT)
    member[np.arange(len(member)), labels[block.rows]] = block.weights * learned[block.rows]
    return member


def _nearest(block: Block, centers: Floats) -> Ints:
    return np.asarray((block.X @ centers.T).argmax(axis=1), dtype=np.int64)


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
