"""Biterms, the pairs of terms that share a text: their sampler, and the topics of texts that follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines import Block
from coterie.errors import InputError

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Terms = npt.NDArray[np.int32]

#: Biterms that are kept in memory: 2 GB.
MOST_BITERMS = 1 << 27
#: Weights of biterms × topics that are formed at a time: 256 KB.
_CELLS = 1 << 15
#: A chunk is at most this share of all biterms.
SHARE = 0.01


@dataclass(frozen=True)
class Topics:
    """What is in each topic, priors included: biterms, words, and each term (terms × topics)."""

    biterms: Array
    totals: Array
    words: Array

    @classmethod
    def prior(cls, biterms: Array, words: Array) -> Topics:
        """Topics that hold nothing but their priors; `words` is terms × topics."""
        return cls(biterms.copy(), words.sum(axis=0), words.copy())


def biterms_of(rows: Block, owner: object) -> tuple[Terms, Terms]:
    """All pairs of different terms of each text, text by text, each text as often as its weight says.

    >>> first, second = biterms_of(Block(csr_matrix([[1, 2, 1], [0, 1, 1]]), np.ones(2), 0), None)
    >>> list(zip(first.tolist(), second.tolist()))
    [(0, 1), (0, 2), (1, 2), (1, 2)]
    """
    lengths = np.diff(rows.X.indptr).astype(np.int64)
    pairs = lengths * (lengths - 1) // 2
    n_biterms = float(rows.weights @ pairs)
    if n_biterms > MOST_BITERMS:
        raise InputError(
            f"X must have at most {MOST_BITERMS} pairs of terms that share a text "
            f"for {type(owner).__name__}, got {n_biterms:.0f}"
        )
    copies = rows.weights.astype(np.int64)
    begins = np.repeat(rows.X.indptr[:-1].astype(np.int64), copies)
    lengths, pairs = np.repeat(lengths, copies), np.repeat(pairs, copies)
    starts = np.cumsum(pairs) - pairs
    first, second = np.empty((2, int(pairs.sum())), dtype=np.int32)
    for length in np.unique(lengths):
        here = np.flatnonzero(lengths == length)
        left, right = np.triu_indices(length, 1)
        places = starts[here, None] + np.arange(len(left))
        first[places] = rows.X.indices[begins[here, None] + left]
        second[places] = rows.X.indices[begins[here, None] + right]
    return first, second


def sample(
    first: Terms, second: Terms, prior: Topics, n_iter: int, chunk_size: int, random: np.random.RandomState
) -> Topics:
    """The topics after the last round of collapsed Gibbs sampling.

    A biterm gets a new topic with ``p(k) ∝ (n_k + α) (n_ki + β) (n_kj + β) / (t_k (t_k + 1))``, where
    ``t_k = 2n_k + Mβ`` and nothing counts the biterm itself. The biterms of a chunk are drawn together,
    from the counts at its beginning.
    """
    n_topics = len(prior.biterms)
    topics = Topics.prior(prior.biterms, prior.words)
    labels = random.randint(n_topics, size=len(first))
    put(topics, first, second, labels, 1.0)
    step = chunk_of(len(first), chunk_size)
    for _ in range(n_iter):
        chances = random.uniform(size=len(first))
        for start in range(0, len(first), step):
            some = slice(start, start + step)
            left, right, old = first[some], second[some], labels[some].copy()
            new = drawn(topics, left, right, old, chances[some])
            put(topics, left, right, old, -1.0)
            put(topics, left, right, new, 1.0)
            labels[some] = new
    return topics


def chunk_of(n_biterms: int, chunk_size: int) -> int:
    """Biterms that are drawn together: a hundredth of all, and at most `chunk_size`."""
    return max(min(chunk_size, int(n_biterms * SHARE)), 1)


def put(topics: Topics, first: Terms, second: Terms, labels: Ints, sign: float) -> None:
    """Put biterms into topics, or take them out."""
    n_topics = len(topics.biterms)
    many = sign * np.bincount(labels, minlength=n_topics)
    topics.biterms[:] += many
    topics.totals[:] += 2.0 * many
    flat = topics.words.reshape(-1)
    np.add.at(flat, first.astype(np.int64) * n_topics + labels, sign)
    np.add.at(flat, second.astype(np.int64) * n_topics + labels, sign)


def drawn(topics: Topics, first: Terms, second: Terms, labels: Ints, chances: Array) -> Ints:
    """New topics of biterms, each from the counts without itself and by a chance from 0 to 1.

    Weights of biterms × topics are formed for a few biterms at a time, so that they stay in the cache.
    """
    n_topics = len(topics.biterms)
    together = max(_CELLS // n_topics, 1)
    buffers = np.empty((2, together, n_topics))
    new = np.empty(len(labels), dtype=np.int64)
    for start in range(0, len(labels), together):
        some = slice(start, start + together)
        weights = weights_of(topics, first[some], second[some], labels[some], buffers)
        running = np.cumsum(weights, axis=1, out=weights)
        # the chance may round up to the whole sum, and then no topic would be beyond it
        target = np.minimum(chances[some] * running[:, -1], np.nextafter(running[:, -1], 0.0))
        new[some] = (running > target[:, None]).argmax(axis=1)
    return new


def weights_of(topics: Topics, first: Terms, second: Terms, labels: Ints, buffers: Array) -> Array:
    """Biterms × topics: ``(n_k + α) (n_ki + β) (n_kj + β) / (t_k (t_k + 1))``, each without itself.

    `buffers` are two arrays of biterms × topics; the result is in the first of them.
    """
    weights, other = buffers[:, : len(labels)]
    np.take(topics.words, first, axis=0, out=weights, mode="clip")
    np.take(topics.words, second, axis=0, out=other, mode="clip")
    weights *= other
    weights *= topics.biterms / (topics.totals * (topics.totals + 1.0))
    inside = (topics.words[first, labels] - 1.0) * (topics.words[second, labels] - 1.0)
    total = topics.totals[labels] - 2.0
    weights[np.arange(len(labels)), labels] = inside * (
        (topics.biterms[labels] - 1.0) / (total * (total + 1.0))
    )
    return weights


def distributions(topics: Topics) -> Array:
    """Topics × terms: ``φ_kw = (n_kw + β) / (2n_k + Mβ)``."""
    total = topics.words.sum(axis=0)
    shares: Array = np.divide(topics.words, total, where=total > 0, out=np.zeros_like(topics.words))
    return np.ascontiguousarray(shares.T)


def shares_of_topics(X: csr_matrix, topics: Array, sizes: Array) -> Array:
    """``P(k|d) = Σ_b P(k|b) P(b|d)`` of each row: the mean over its biterms of ``P(k|b) ∝ θ_k φ_ki φ_kj``.

    A row of a single term has ``P(k|d) ∝ θ_k φ_kw``, one without a term of any topic has none. Rows are
    worked on one by one.
    """
    known = np.asarray(topics.any(axis=0))
    by_term = np.ascontiguousarray(topics.T)
    shares = np.zeros((X.shape[0], len(topics)))
    for row in range(X.shape[0]):
        terms = X.indices[X.indptr[row] : X.indptr[row + 1]]
        phi = by_term[terms[known[terms]]]
        if len(phi):
            shares[row] = _share(phi, sizes)
    return shares


def _share(phi: Array, sizes: Array) -> Array:
    """The topics of one text from ``φ`` of its terms (terms × topics)."""
    if len(phi) == 1:
        alone: Array = sizes * phi[0]
        return alone / alone.sum()
    # Σ_{i<j} θ_k φ_ki φ_kj / N_ij with N_ij = Σ_k θ_k φ_ki φ_kj, by products of matrices
    inverse = 1.0 / ((phi * sizes) @ phi.T)
    np.fill_diagonal(inverse, 0.0)
    share: Array = sizes * np.sum(phi * (inverse @ phi), axis=0)
    return share / (len(phi) * (len(phi) - 1))
