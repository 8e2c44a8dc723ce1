"""Clusters refined by what their texts say: a mixture in which words and vectors of texts both count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.cluster.leave_one_out import Coefficients
from coterie.cluster.texts import FLOAT, Floats, Ints, Sample, Texts
from coterie.engines.base import add

#: How much the cosine between a text and the centre of a cluster counts beside its words.
CONCENTRATION = 20.0
#: How much of a text is taken out of its own cluster before it is asked where it belongs.
_LEFT_OUT = 0.5
_MOST_SWEEPS = 20
#: It has settled when a sweep moves less than this share of the texts.
_SETTLED = 1e-3

#: How even the clusters must stay, as a share of how even they came.
_STILL_EVEN = 0.5

#: Of each cluster: counts of terms (terms × clusters), sum of vectors (dimensions × clusters), size.
Sums = tuple[Floats, Floats, Floats]


def refine_by_mixture(texts: Sample, labels: Ints, n_topics: int, pull: Floats | None = None) -> Ints:
    """Sweeps of expectation-maximisation from given clusters; returns the most likely cluster of each text.

    The log odds of a text i in cluster k are ``Σ_w x_iw log p(w|k) + κ cos(d_i, c_k) + γ log(n_k + 1)``:

    1. p(w|k) are counts smoothed by β, more where there are few tokens for each cluster and term;
    2. c_k is the direction of the sum of the cluster's texts;
    3. ``γ = √(1 − K_eff/K)``, with K_eff the number of equal clusters as uneven as these: sizes say nothing
       while they are equal and count in full where they are uneven;
    4. half of a text is left out of its own cluster, so that rare words do not hold it where it is.

    It stops before a sweep that would leave the clusters less than half as even as they came: where texts
    share few words, one cluster of everything else would grow without end.
    """
    best, share = labels.copy(), np.ones(len(labels), dtype=FLOAT)
    sums = texts.sum(lambda block: _hard_sums(block, labels[block.rows], n_topics))
    least = _STILL_EVEN * _equal_clusters(sums[2])
    for _ in range(_MOST_SWEEPS):
        before = best.copy()
        moved = _sweep(texts, _Mixture(sums, pull), best, share)
        sums = moved.sums
        if _equal_clusters(moved.sizes) < least:
            return before
        if moved.changed < _SETTLED * moved.sizes.sum():
            break
    return best


def mixture_coefficients(texts: Sample, labels: Ints, n_topics: int, idf: Floats) -> Coefficients:
    """What places a text where the mixture would, in units of a cosine.

    The words of a text enter at unit length, times the mean length of all texts: a text of many words would
    otherwise be placed by words alone. The sizes of clusters have no say.
    """
    sums = texts.sum(lambda block: _hard_sums(block, labels[block.rows], n_topics))
    model, total = _Mixture(sums), max(float(sums[2].sum()), 1e-30)

    def lengths(block: Texts) -> float:
        squares = block.counts.power(2) @ idf**2
        return float(block.weights @ np.sqrt(squares))

    scale = texts.sum(lengths) / (total * CONCENTRATION)
    terms = model.log_terms - model.log_terms.mean(axis=1, keepdims=True)
    return Coefficients((scale / idf)[:, None] * terms, model.centers / FLOAT(CONCENTRATION), sums[2] / total)


@dataclass(frozen=True)
class _Moved:
    changed: float
    sizes: Floats
    sums: Sums


def _sweep(texts: Sample, model: _Mixture, best: Ints, share: Floats) -> _Moved:
    """Put every text into its likeliest cluster, in place, and learn what the clusters then are."""
    changed, sizes = 0.0, np.zeros(len(model.log_sizes))
    sums: Sums | None = None

    def swept(block: Texts) -> tuple[Texts, Ints, Floats, Sums]:
        shares = model.shares(block, best, share)
        now = shares.argmax(axis=1)
        return block, now, shares[np.arange(len(now)), now], _soft_sums(block, shares)

    for block, now, certain, part in texts.map(swept):
        changed += float(block.weights @ (now != best[block.rows]))
        sizes += np.bincount(now, block.weights, len(sizes))
        best[block.rows], share[block.rows] = now, certain
        sums = part if sums is None else add(sums, part)
    assert sums is not None
    return _Moved(changed, sizes, sums)


class _Mixture:
    """Clusters as they are after a sweep."""

    def __init__(self, sums: Sums, pull: Floats | None = None):
        self.terms, text_vectors, sizes = sums
        n_terms, n_topics = self.terms.shape
        self.tokens = self.terms.sum(axis=0)
        self.smoothing = float(np.clip(0.25 * n_terms * n_topics / max(self.tokens.sum(), 1.0), 0.01, 5.0))
        self.log_terms = np.log(self.terms + FLOAT(self.smoothing))
        self.log_terms -= np.log(self.tokens + FLOAT(self.smoothing * n_terms))
        length = np.sqrt(np.einsum("ij,ij->j", text_vectors, text_vectors))
        centers = np.divide(text_vectors, length, where=length > 0, out=np.zeros_like(text_vectors))
        self.centers = FLOAT(CONCENTRATION) * (centers if pull is None else centers + pull)
        unevenness = 1.0 - _equal_clusters(sizes) / n_topics
        self.log_sizes = FLOAT(np.sqrt(max(unevenness, 0.0))) * np.log(sizes + FLOAT(1))

    def shares(self, block: Texts, best: Ints, share: Floats) -> Floats:
        """How likely each text belongs to each cluster, texts × clusters."""
        was = best[block.rows]
        odds: Floats = block.counts @ self.log_terms
        odds += block.text_vectors @ self.centers
        odds += self.log_sizes
        odds[np.arange(len(was)), was] += self._left_out(block, was, share[block.rows])
        odds -= odds.max(axis=1, keepdims=True)
        np.exp(odds, out=odds)
        odds /= odds.sum(axis=1, keepdims=True)
        return odds

    def _left_out(self, block: Texts, cluster: Ints, share: Floats) -> Floats:
        """What a text loses in its own cluster when a part of it is taken out of the counts there."""
        counts = block.counts
        row = np.repeat(np.arange(len(cluster)), np.diff(counts.indptr))
        out = _LEFT_OUT * share * block.weights
        before = self.terms[counts.indices, cluster[row]]
        after = np.maximum(before - out[row] * counts.data, 0.0)
        fewer = np.log((after + self.smoothing) / (before + self.smoothing))
        length = np.bincount(row, counts.data, len(cluster))
        prior = self.smoothing * counts.shape[1]
        total = self.tokens[cluster]
        shorter = np.log((np.maximum(total - out * length, 0.0) + prior) / (total + prior))
        change: Floats = np.bincount(row, counts.data * fewer, len(cluster)) - length * shorter
        return change


def _equal_clusters(sizes: Floats) -> float:
    """The number of equal clusters that are as uneven as these, ``1 / Σ p²``."""
    shares = sizes / max(float(sizes.sum()), 1e-30)
    return 1.0 / max(float(shares @ shares), 1e-30)


def _hard_sums(block: Texts, labels: Ints, n_topics: int) -> Sums:
    member = np.zeros((len(labels), n_topics), dtype=FLOAT)
    member[np.arange(len(labels)), labels] = 1.0
    return _soft_sums(block, member)


def _soft_sums(block: Texts, shares: Floats) -> Sums:
    weighted = shares * block.weights[:, None]
    return block.counts.T @ weighted, block.text_vectors.T @ weighted, weighted.sum(axis=0)
