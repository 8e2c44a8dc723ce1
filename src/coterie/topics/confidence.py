"""The confidence of assignments, learned without labels.

1. Agreement: halves of the texts are clustered again, into as many clusters as there are topics. The other
   texts in the cluster of a text should belong to its topic; the more of them do, the surer it is.
2. Lead: the best topic of a text should have a much larger share of it than the second.
3. Agreement of the whole collection: where it is low, topics are largely a matter of chance, and no single
   text is sure.
4. A text of few words is less sure.
5. Number of topics and texts per topic: many topics, and many texts, agree also where they are wrong.

A logistic model turns these into one number: about the chance that a text is in the class of most texts
of its topic. Its coefficients were fitted once, to labelled sets, by ``benchmarks/confidence.py``; how
far the number can be trusted is in docs/confidence.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from coterie.engines import Block, MemoryEngine
from coterie.engines.threads import one_blas_thread, ordered_map, usable_threads
from coterie.linalg.spherical import draw_seeds, spherical_kmeans

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.integer[Any]]

#: Of the logistic model: constant, lead, agreement of the text, agreement of all texts, few words, number of
#: topics, texts per topic. The last two are the same for all texts of a model, so they join its constant.
COEFFICIENTS = (1.40, 0.50, 0.53, 0.92, -1.75, -0.23, -0.15)
#: Numbers that a model keeps of them.
N_KEPT = 5
#: Texts per topic count from here on, and texts up to here: labelled collections have no fewer and few more.
_LEAST_PER_TOPIC, _MOST_COUNTED = 20.0, 16_000.0
#: Fewest and most clusterings; between them there are so many that they have about this number of clusters in
#: all. One start each: where starts end differently, topics could have come out differently too.
_FEWEST, _MOST, _CLUSTERS = 10, 24, 400
#: Ways of cutting the texts into halves.
_CUTS = 5
#: Opinions are formed on at most so many distinct texts.
_MOST_TEXTS = 8_000
#: A clustering need not be polished: sweeps of k-means, and the share that a further one must add.
_SWEEPS, _TOLERANCE = 15, 1e-3
#: So many texts, spread like all texts, are added to each cluster of a clustering: few texts prove little.
_PRIOR = 2.0
#: Added to both sides of odds, so that no share is beyond doubt.
_DOUBT = 0.1
#: The agreement of all texts counts up to here: no labelled set goes further, and a text that no clustering
#: puts with its topic must not be sure because all others are.
_MOST_AGREEMENT = 0.9
#: Decimals that count: products with a batch of texts round differently from products with one.
_COSINE_DECIMALS, _DECIMALS = 9, 6
#: Rows worked on together.
_ROWS = 2_048


@dataclass(frozen=True)
class Confidence:
    """The result of `learn_confidence`, which gives the confidence of any text.

    `centers` are clusterings × clusters × dimensions: unit vectors, or zeros for a cluster without a text.
    `purity` is clusterings × clusters × topics: how far texts of the cluster are of the topic beyond what all
    texts are, from 0 (no more than all) to 1 (every one). `agreement` is the mean over the texts
    that were learned from. `coefficients` are those of the logistic model, the constant with what the numbers
    of topics and texts add; they are kept so that a saved model answers as it did when a later version has
    others.
    """

    centers: Floats
    purity: Floats
    agreement: float
    coefficients: tuple[float, ...]

    def of(self, memberships: npt.ArrayLike, text_vectors: npt.ArrayLike, n_words: npt.ArrayLike) -> Array:
        """The confidence of each text in its topic, from 0 to 1.

        A text gets the same answer alone and among others. One of which nothing is known, whose memberships
        are all zero, gets 0. With a single topic there is nothing to tell apart, and all are low.

        Parameters
        ----------
        memberships
            Texts × topics, rows that sum to 1 or are zero.
        vectors
            Texts × dimensions, rows of unit length or zero.
        n_words
            Number of distinct known terms of each text.
        """
        shares = np.asarray(memberships, dtype=np.float64)
        sure = self.of_best(shares.argmax(axis=1), _lead(shares), text_vectors, n_words)
        sure[~shares.any(axis=1)] = 0.0
        return sure

    def of_best(
        self, topics: Ints, lead: Array, text_vectors: npt.ArrayLike, n_words: npt.ArrayLike
    ) -> Array:
        """The same from the best topic of each text and by how much it leads over the second."""
        # not a matrix product: its rounding depends on how many rows there are
        constant, *factors = self.coefficients
        scores = (self._evidence(topics, lead, text_vectors, n_words) * factors).sum(axis=1) + constant
        sure: Array = np.round(1.0 / (1.0 + np.exp(-scores)), _DECIMALS)
        return sure

    def evidence(
        self, memberships: npt.ArrayLike, text_vectors: npt.ArrayLike, n_words: npt.ArrayLike
    ) -> Array:
        """Features of the logistic model: texts × the coefficients that a model keeps, less the constant."""
        shares = np.asarray(memberships, dtype=np.float64)
        return self._evidence(shares.argmax(axis=1), _lead(shares), text_vectors, n_words)

    def _evidence(
        self, topics: Ints, lead: Array, text_vectors: npt.ArrayLike, n_words: npt.ArrayLike
    ) -> Array:
        columns = (
            _log_odds(lead),
            _log_odds(self._purity(topics, np.asarray(text_vectors))),
            np.full(len(topics), _log_odds(min(self.agreement, _MOST_AGREEMENT))),
            1.0 / (1.0 + np.asarray(n_words, dtype=np.float64)),
        )
        return np.stack(columns, axis=1)

    def for_topics(
        self,
        memberships: npt.ArrayLike,
        text_vectors: npt.ArrayLike,
        n_words: npt.ArrayLike,
        weights: npt.ArrayLike,
    ) -> Confidence:
        """The same clusterings about other topics, for which the texts of `learn_confidence` are given again.

        Merging or splitting topics then changes the confidence of their texts and of no others.
        """
        vectors, topics, counted = _learned_from(memberships, text_vectors, n_words, weights)
        n_topics = np.shape(memberships)[1]
        tables = [
            _purity_of(_nearest(vectors, clustering), topics, counted, (len(clustering), n_topics))
            for clustering in self.centers
        ]
        return replace(self, purity=np.stack(tables))

    def _purity(self, topics: Ints, text_vectors: Floats) -> Array:
        """Cluster purity of each text, averaged over the resampled clusterings; 0 without a vector."""
        purity_of_text = np.zeros(len(topics))
        for a in range(0, len(topics), _ROWS):
            some = slice(a, a + _ROWS)
            for centers, purity in zip(self.centers, self.purity, strict=True):
                purity_of_text[some] += purity[_nearest(text_vectors[some], centers), topics[some]]
        purity_of_text[~text_vectors.any(axis=1)] = 0.0
        return purity_of_text / len(self.centers)


def learn_confidence(
    memberships: npt.ArrayLike,
    text_vectors: npt.ArrayLike,
    n_words: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    random_state: Any = 0,
) -> Confidence:
    """Compute the resampled clusterings that confidence is based on.

    It asks nothing of the method that gave the memberships. Of many texts every n-th is taken, so rows should
    stand in an order that has nothing to do with what they are about.

    Parameters
    ----------
    memberships
        Distinct texts × topics, rows that sum to 1 or are zero.
    vectors
        Texts × dimensions, rows of unit length or zero.
    n_words
        Number of distinct known terms of each text.
    weights
        How many texts each row stands for.
    random_state
        Random state of the clusterings.

    >>> vectors = np.repeat(np.eye(3), [40, 40, 40], axis=0)[np.arange(120) * 7 % 120]
    >>> memberships = 0.9 * vectors + 0.1 / 3
    >>> memberships[0] = [0.4, 0.3, 0.3]
    >>> sure = learn_confidence(memberships, vectors, np.full(120, 8), np.ones(120))
    >>> sure.of(memberships[:2], vectors[:2], [8, 8]).round(1)
    array([0.9, 1. ])
    """
    vectors, topics, counted = _learned_from(memberships, text_vectors, n_words, weights)
    n_topics = np.shape(memberships)[1]
    n_clusters = max(1, int(np.count_nonzero(np.bincount(topics, counted, n_topics))))
    random = check_random_state(random_state)
    halves = _halves(len(vectors), int(np.clip(_CLUSTERS // n_clusters, _FEWEST, _MOST)))
    seeds = [draw_seeds(random, 1) for _ in halves]
    parts = ordered_map(
        lambda part: _clustering(vectors, counted * part[0], n_clusters, part[1]),
        zip(halves, seeds, strict=True),
        min(usable_threads(None), len(halves)),
    )
    with one_blas_thread():
        centers = np.stack(list(parts))
    purity, agreement = [], 0.0
    for clustering in centers:
        nearest = _nearest(vectors, clustering)
        purity.append(_purity_of(nearest, topics, counted, (n_clusters, n_topics)))
        agreement += float(counted @ purity[-1][nearest, topics]) / max(float(counted.sum()), 1e-300)
    return Confidence(
        centers,
        np.stack(purity),
        round(agreement / len(centers), _DECIMALS),
        kept_coefficients(n_clusters, n_known(memberships, text_vectors, n_words, weights)),
    )


def kept_coefficients(n_topics: int, n_texts: float) -> tuple[float, ...]:
    """The coefficients for a collection: what its numbers of topics and texts add joins the constant.

    >>> few, many = kept_coefficients(5, 1000), kept_coefficients(100, 20_000)
    >>> len(few) == len(many) == N_KEPT and few[0] > many[0] and few[1:] == many[1:]
    True
    """
    constant, *factors = COEFFICIENTS[:N_KEPT]
    added = float(np.dot(COEFFICIENTS[N_KEPT:], size_evidence(n_topics, n_texts)))
    return round(constant + added, _DECIMALS), *factors


def size_evidence(n_topics: int, n_texts: float) -> tuple[float, float]:
    """Features that all texts share: logarithms of the number of topics and of the texts per topic."""
    per_topic = max(min(n_texts, _MOST_COUNTED) / n_topics, _LEAST_PER_TOPIC)
    return float(np.log(n_topics)), float(np.log(per_topic))


def n_known(
    memberships: npt.ArrayLike, text_vectors: npt.ArrayLike, n_words: npt.ArrayLike, weights: npt.ArrayLike
) -> float:
    """How many texts something is known of."""
    known = _known(np.asarray(memberships), np.asarray(text_vectors), np.asarray(n_words))
    return float(np.asarray(weights, dtype=np.float64)[known].sum())


def _known(shares: Floats, vectors: Floats, n_words: Ints) -> npt.NDArray[np.bool_]:
    return np.asarray(shares.any(axis=1) & vectors.any(axis=1) & (n_words > 0))


def _learned_from(
    memberships: npt.ArrayLike, text_vectors: npt.ArrayLike, n_words: npt.ArrayLike, weights: npt.ArrayLike
) -> tuple[Floats, Ints, Array]:
    """Vectors, topics and weights of some of the texts; one of which nothing is known teaches nothing."""
    shares, vectors = np.asarray(memberships), np.asarray(text_vectors)
    some = slice(None, None, max(1, -(-len(shares) // _MOST_TEXTS)))
    shares, vectors = shares[some], vectors[some]
    known = _known(shares, vectors, np.asarray(n_words)[some])
    return vectors, shares.argmax(axis=1), np.where(known, np.asarray(weights, dtype=np.float64)[some], 0.0)


def _halves(n_rows: int, n_halves: int) -> list[npt.NDArray[np.bool_]]:
    """Split into every second row and the rest, every second pair of rows and the rest, and so on."""
    rows = np.arange(n_rows)
    return [(rows >> half // 2 % _CUTS) % 2 == half % 2 for half in range(n_halves)]


def _clustering(text_vectors: Floats, weights: Array, n_clusters: int, seeds: list[int]) -> Floats:
    """Cluster centres of the texts with a positive weight."""
    chosen = weights > 0
    block = Block(text_vectors[chosen].astype(np.float32), weights[chosen])
    engine = MemoryEngine([block])
    random = np.random.RandomState(seeds[0])
    clusters = spherical_kmeans(engine, n_clusters, random, max_iter=_SWEEPS, tol=_TOLERANCE, seeds=seeds)
    return clusters.centers.astype(np.float32)


def _nearest(text_vectors: Floats, centers: Floats) -> Ints:
    """The nearest centre; of those that are equal to nine decimals the first."""
    cosines = text_vectors.astype(np.float64) @ centers.T.astype(np.float64)
    nearest = cosines.argmax(axis=1)
    # rounding all of them would take longer than the product
    least = cosines[np.arange(len(cosines)), nearest] - 2 * 10.0**-_COSINE_DECIMALS
    unclear = np.flatnonzero(np.count_nonzero(cosines >= least[:, None], axis=1) > 1)
    nearest[unclear] = np.round(cosines[unclear], _COSINE_DECIMALS).argmax(axis=1)
    return nearest


def _purity_of(clusters: Ints, topics: Ints, weights: Array, shape: tuple[int, int]) -> Floats:
    """Clusters × topics: the share of the topic in the cluster, from its share in all texts (0) to 1."""
    n_clusters, n_topics = shape
    counts = np.bincount(clusters * n_topics + topics, weights, n_clusters * n_topics).reshape(shape)
    base = counts.sum(axis=0) / max(float(counts.sum()), 1e-300)
    inside = (counts + _PRIOR * base) / (counts.sum(axis=1, keepdims=True) + _PRIOR)
    # if every text is in one topic, agreement with it means nothing
    beyond = np.divide(inside - base, 1.0 - base, where=base < 1.0, out=np.zeros(shape))
    return np.clip(beyond, 0.0, 1.0).astype(np.float32)


def _lead(shares: Array) -> Array:
    """The margin between the first and the second topic of each text."""
    if shares.shape[1] < 2:
        return shares.sum(axis=1)
    second, first = np.partition(shares, -2, axis=1)[:, -2:].T
    return np.clip(first - second, 0.0, 1.0)


def _log_odds(share: Any) -> Any:
    return np.log((share + _DOUBT) / (1.0 - share + _DOUBT))
