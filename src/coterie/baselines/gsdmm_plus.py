"""GSDMM+ (Cheng, Zhang, Yin, Song, Gan and Nie, 2025): many clusters, weighed words, clusters merged."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from coterie.baselines.counts import FRACTIONS, CountEstimator, Fractions, smoothed
from coterie.baselines.gsdmm import Ints, Text, Topics, drawn, put, shares_of_topics, texts_of, weights_of
from coterie.engines import Engine
from coterie.estimator import Array, check_choice, check_count, check_positive

#: The smallest share of a term in a cluster, so that no term has the weight 0.
LEAST_SHARE = 1e-10


class GSDMMPlus(CountEstimator):
    """GSDMM with a start of many clusters, a prior for each term, and clusters merged down to `n_topics`.

    1. `n_start` texts, drawn at random, begin a cluster each. All others are drawn into these, one after
       another, by the formula of `GSDMM` with β for every term.
    2. In each of `n_iter` rounds, each text is taken out and drawn anew, with a prior β_w for each term in
       place of β: ``p(k) ∝ (m_k + α) Π_w Π_{j<x_w} (n_kw + β_w + j) / Π_{i<x} (n_k + Σβ + i)``. A cluster
       that ran empty stays empty. In the last round, a text goes where p is largest.
    3. β_w is computed anew `n_updates` times a round: the entropy ``H_w = −Σ_k p_kw log₂ p_kw`` of
       ``p_kw = n_kw / n_w``, at least 1e-10, divided by the largest of any term. So a term of few clusters
       decides, and one that is everywhere says little.
    4. The two clusters with the largest cosine of tf-idf vectors are merged, until `n_topics` are left. The
       vector of a cluster is ``n_kw (log((1 + n_start) / (1 + clusters with w)) + 1)``.
    5. ``φ_kw = (n_kw + β_w) / (n_k + Σβ)`` and m_k are the model, and texts belong to topics as in `GSDMM`.

    The priors and the number of rounds are those of the authors' program. The texts are kept in memory.

    Parameters
    ----------
    n_topics
        Largest number of topics.
    n_start
        Number of clusters to begin with; there are at least `n_topics`, and no more than texts.
    alpha
        α, texts that every cluster is thought to have beforehand.
    beta
        β, occurrences of each term that every cluster is thought to have, before the first β_w.
    n_iter
        Rounds of sampling over all texts.
    n_updates
        How many times a round the β_w are computed anew.
    fractions
        What to do with values of X that are not whole numbers: "refuse" raises an error, "ceil" rounds up.
    random_state
        Seed of the sampler.

    Attributes
    ----------
    components_
        Topics × terms, φ; zero for an empty topic, and for a term in no text.
    topic_texts_
        m_k, the number of texts in each topic.
    term_priors_
        β_w of each term after the last round; 0 for a term in no text.
    n_clusters_
        Number of clusters before they were merged.
    labels_
        The topic of each row; absent if an engine was fitted.
    n_iter_
        Rounds made.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])
    >>> model = GSDMMPlus(n_topics=2, random_state=0).fit(np.tile(X, (4, 1)))
    >>> (model.labels_ == model.labels_[0])[:5].tolist()
    [True, True, True, False, False]
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_", "term_priors_")

    topic_texts_: Array
    term_priors_: Array
    n_clusters_: int
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        n_start: int = 500,
        alpha: float = 0.1,
        beta: float = 0.01,
        n_iter: int = 20,
        n_updates: int = 15,
        fractions: Fractions = "refuse",
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.n_start = n_start
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.n_updates = n_updates
        self.fractions = fractions
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        n_start = check_count("n_start", self.n_start, self)
        alpha = check_positive("alpha", self.alpha, self)
        beta = check_positive("beta", self.beta, self)
        n_iter = check_count("n_iter", self.n_iter, self)
        n_updates = check_count("n_updates", self.n_updates, self)
        check_choice("fractions", self.fractions, FRACTIONS, self)
        self._check_words(documents)
        rows = self._together(documents)
        used = np.bincount(rows.X.indices, minlength=documents.n_terms) > 0
        texts, prior = texts_of(rows), np.where(used, beta, 0.0)
        n_start = min(max(n_start, n_topics), len(texts))
        topics, self.term_priors_ = sample(
            texts, prior, n_start, alpha=alpha, n_iter=n_iter, n_updates=n_updates, random=random
        )
        self.n_clusters_ = len(topics.texts)
        sizes, counts = merged(topics, n_topics, n_start)
        self.topic_texts_ = np.zeros(n_topics)
        self.topic_texts_[: len(sizes)] = sizes
        self.components_ = np.zeros((n_topics, documents.n_terms))
        self.components_[: len(sizes)] = smoothed(counts, self.term_priors_, used)
        self.n_iter_ = n_iter

    def _memberships(self, X: csr_matrix) -> Array:
        return shares_of_topics(self._counts(X), self.components_, self.topic_texts_ + self.alpha)


def sample(
    texts: list[Text],
    prior: Array,
    n_start: int,
    *,
    alpha: float,
    n_iter: int,
    n_updates: int,
    random: np.random.RandomState,
) -> tuple[Topics, Array]:
    """The clusters after the last round, and the prior of each term; `prior` is the one to begin with."""
    topics, labels = first_clusters(texts, prior, n_start, alpha, random)
    if n_start < 2:  # nothing to choose from, and entropies are all 0
        return topics, prior
    every = max(len(texts) // n_updates, 1)
    used, total = prior > 0, prior.sum()
    for later in range(n_iter)[::-1]:
        topics, labels = without_empty(topics, labels)
        draws = random.uniform(size=len(texts))
        for i, text in enumerate(texts):
            put(topics, text, labels[i], -1.0)
            if i % every == 0:
                prior = np.where(used, entropies(topics.words, n_start), 0.0)
                prior /= prior.max()
                total = prior.sum()
            weights = weights_of(topics, text, sizes_of(topics, alpha), prior, total)
            labels[i] = drawn(weights, draws[i]) if later else weights.argmax()
            put(topics, text, labels[i], 1.0)
    return without_empty(topics, labels)[0], prior


def first_clusters(
    texts: list[Text], prior: Array, n_start: int, alpha: float, random: np.random.RandomState
) -> tuple[Topics, Ints]:
    """Clusters begun by texts at random, to which all others were added one by one."""
    topics = Topics(np.zeros(n_start), np.zeros(n_start), np.zeros((len(prior), n_start)))
    labels = np.full(len(texts), -1)
    labels[random.permutation(len(texts))[:n_start]] = np.arange(n_start)
    for i in np.flatnonzero(labels >= 0):
        put(topics, texts[i], labels[i], 1.0)
    total = prior.sum()
    for i, chance in zip(np.flatnonzero(labels < 0), random.uniform(size=len(texts)), strict=False):
        labels[i] = drawn(weights_of(topics, texts[i], sizes_of(topics, alpha), prior, total), chance)
        put(topics, texts[i], labels[i], 1.0)
    return topics, labels


def without_empty(topics: Topics, labels: Ints) -> tuple[Topics, Ints]:
    """The clusters that have texts, and the cluster of each text among them; empty ones only take time."""
    kept = topics.texts > 0
    fewer = Topics(topics.texts[kept], topics.totals[kept], np.ascontiguousarray(topics.words[:, kept]))
    return fewer, (np.cumsum(kept) - 1)[labels]


def sizes_of(topics: Topics, alpha: float) -> Array:
    """``m_k + α``; 0 for an empty cluster, which stays empty."""
    return np.where(topics.texts > 0, topics.texts + alpha, 0.0)


def entropies(words: Array, n_start: int) -> Array:
    """``−Σ_k p log₂ p`` over `n_start` clusters of each term, ``p = max(n_kw / n_w, 1e-10)``.

    `words` (terms × clusters) may leave out clusters without texts.

    >>> entropies(np.array([[2.0, 2.0], [3.0, 0.0]]), 2).round(6)
    array([1., 0.])
    """
    term, cluster = words.nonzero()
    counts = words[term, cluster]
    p = counts / np.bincount(term, counts)[term]
    inside = np.bincount(term, -p * np.log2(p), len(words))
    elsewhere = n_start - np.bincount(term, minlength=len(words))
    found: Array = inside - elsewhere * LEAST_SHARE * np.log2(LEAST_SHARE)
    return found


def merged(topics: Topics, n_topics: int, n_start: int) -> tuple[Array, Array]:
    """Texts of each cluster, and clusters × terms, when at most `n_topics` are left.

    The two most similar ones are merged first. Similarities with a merged cluster are computed anew, from
    tf-idf as it is then.
    """
    texts, words = topics.texts.copy(), np.ascontiguousarray(topics.words.T)
    vectors = tf_idf(words, n_start)
    cosine = vectors @ vectors.T
    np.fill_diagonal(cosine, -1.0)
    for _ in range(len(texts) - n_topics):
        kept, gone = np.unravel_index(cosine.argmax(), cosine.shape)
        words[kept] += words[gone]
        texts[kept] += texts[gone]
        words[gone] = texts[gone] = 0.0
        vectors = tf_idf(words, n_start)
        similar = np.where(texts > 0, vectors @ vectors[kept], -1.0)
        similar[kept] = -1.0
        cosine[gone] = cosine[:, gone] = -1.0
        cosine[kept] = cosine[:, kept] = similar
    return texts[texts > 0], words[texts > 0]


def tf_idf(words: Array, n_start: int) -> Array:
    """Clusters × terms at unit length, a term weighed by the clusters that have it."""
    weighted = words * (np.log((1 + n_start) / (1 + np.count_nonzero(words, axis=0))) + 1.0)
    lengths = np.sqrt(np.einsum("kw,kw->k", weighted, weighted))[:, None]
    vectors: Array = np.divide(weighted, lengths, where=lengths > 0, out=np.zeros_like(weighted))
    return vectors
