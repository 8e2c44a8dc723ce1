"""What is measured for the Ncut paper besides clusters: the data, weights of terms, words of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.stats import kurtosis, rankdata, skew

from coterie import weights
from coterie_papers.bench.collections import Collection, collection
from coterie_papers.bench.kinds import kind, make, scores, timed
from coterie_papers.bench.trial import Trial

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_BINS = 30
#: Terms shown of those whose rank moves most, up and down.
_MOVED = 8
#: Terms whose power to distinguish classes is averaged, of those that move most in either direction.
_JUDGED = 50
#: Weights closer than this are the same weight.
_SAME = 1e-9


@kind("ncut-statistics")
def statistics(trial: Trial) -> dict[str, Any]:
    """The sizes that the paper's table of data sets has."""
    data = collection(trial.collection)
    return {
        "texts": data.X.shape[0],
        "terms": data.X.shape[1],
        "words": float(np.diff(data.X.indptr).mean()),
        "classes": len(set(data.labels)),
        "about": data.about,
        "rarest": int(np.bincount(data.X.indices, minlength=data.X.shape[1]).min()),
        "short": float((np.diff(data.X.indptr) < trial.setting("least", 4)).mean()),
    }


@kind("ncut-weights")
def term_weights(trial: Trial) -> dict[str, Any]:
    """How tf, idf and Ncut weights are distributed, and which terms the step from idf to Ncut moves most."""
    data = collection(trial.collection)
    frequencies, times = np.unique(data.X.data, return_counts=True)
    idf, ncut = weights.idf(data.X), weights.ncut(data.X)
    return {
        "tf": {"values": frequencies, "times": times},
        "tf_is_1": float((data.X.data == 1).mean()),
        "idf_highest": float(idf.max()),
        "idf_is_highest": float((idf > idf.max() - _SAME).mean()),
        **_distribution("idf", idf),
        **_distribution("ncut", ncut),
        **_moves(data, idf, ncut),
        "held_by": np.bincount(data.X.indices, minlength=data.X.shape[1]),
        "ncut": np.round(ncut, 4),
    }


def _distribution(name: str, values: Array) -> dict[str, Any]:
    counts, edges = np.histogram(values, _BINS)
    shares = counts[counts > 0] / counts.sum()
    return {
        f"{name}_counts": counts,
        f"{name}_edges": edges,
        f"{name}_skew": float(skew(values)),
        f"{name}_kurtosis": float(kurtosis(values)),
        # 1 where every bin of the histogram holds as many terms, 0 where one holds all
        f"{name}_flatness": float(-(shares * np.log(shares)).sum() / np.log(_BINS)),
    }


def _moves(data: Collection, idf: Array, ncut: Array) -> dict[str, Any]:
    """Terms by the change of their rank, in parts of the vocabulary; terms of equal weight share a rank."""
    before, after = rankdata(-idf), rankdata(-ncut)
    moved = before - after
    order = np.argsort(-moved, kind="stable")
    share = _largest_class(data)

    def rows(columns: npt.NDArray[np.int64]) -> list[list[Any]]:
        return [
            [data.terms[j], idf[j], before[j], ncut[j], after[j], moved[j], share[j]]
            for j in columns.tolist()
        ]

    return {
        "up": rows(order[:_MOVED]),
        "down": rows(order[::-1][:_MOVED]),
        "share_up": float(share[order[:_JUDGED]].mean()),
        "share_down": float(share[order[::-1][:_JUDGED]].mean()),
        "judged": _JUDGED,
    }


def _largest_class(data: Collection) -> Array:
    """For each term, the share of the texts that hold it which are of one class: its largest."""
    names, classes = np.unique(np.asarray(data.labels, dtype=object), return_inverse=True)
    held = (data.X > 0).astype(np.float64)
    per_class = np.stack([np.asarray(held[classes == c].sum(axis=0)).ravel() for c in range(len(names))])
    return np.asarray(per_class.max(axis=0) / np.maximum(per_class.sum(axis=0), 1.0))


@kind("ncut-criterion")
def criterion(trial: Trial) -> dict[str, Any]:
    """The Ncut criterion of the terms' strongest topics, and of the same sizes drawn at random.

    `gap` is how far Theorem 1 is from being an equation in numbers, as a share of ‖Y‖²: with the U of a
    partition, the least ``‖Y − UV‖²`` over V is ``‖Y‖² − K + 2 Ncut``.
    """
    data = collection(trial.collection)
    model = make(Trial("cluster", trial.collection, trial.method, trial.k, trial.seed)).fit(data.X)
    parts = model.components_.argmax(axis=0)
    drawn = np.random.default_rng(trial.seed).permutation(parts)
    return {
        "ncut": ncut_criterion(data.X, parts),
        "at_random": ncut_criterion(data.X, drawn),
        "gap": max(theorem_gap(data.X, some) for some in (parts, drawn)),
    }


def ncut_criterion(X: csr_matrix, parts: Ints) -> float:
    """``½ Σ_k S(G_k, G∖G_k) / S(G_k, G)`` for groups of terms, with ``S = XXᵀ`` of the binary X.

    Inner weights of a group are the squares of how many of its terms each text has; S is never formed. Here
    X is texts × terms.

    >>> ncut_criterion(csr_matrix([[1, 1, 0], [0, 0, 1]]), np.array([0, 0, 1]))
    0.0
    >>> ncut_criterion(csr_matrix([[1, 1], [1, 1]]), np.array([0, 1]))
    0.5
    """
    held, degree = _graph(X)
    groups = _indicator(parts)
    inner = np.asarray((held @ groups).power(2).sum(axis=0)).ravel()
    whole = groups.T @ degree
    used = whole > 0
    return float(((whole[used] - inner[used]) / whole[used]).sum() / 2)


def theorem_gap(X: csr_matrix, parts: Ints) -> float:
    """How far the two sides of Theorem 1 differ for a partition of terms, as a share of ‖Y‖².

    >>> theorem_gap(csr_matrix([[1, 1, 0], [0, 1, 1]]), np.array([0, 0, 1])) < 1e-15
    True
    """
    held, degree = _graph(X)
    Y = held.toarray() / np.sqrt(np.where(degree > 0, degree, 1.0))  # texts × terms
    groups = _indicator(parts).toarray()
    whole = groups.T @ degree
    U = np.sqrt(degree)[:, None] * groups[:, whole > 0] / np.sqrt(whole[whole > 0])  # Equation 3
    V = np.linalg.lstsq(U, Y.T, rcond=None)[0]
    least = float(np.sum((Y.T - U @ V) ** 2))
    energy = float(np.sum(Y * Y))
    return abs(least - (energy - U.shape[1] + 2 * ncut_criterion(X, parts))) / energy


def _graph(X: csr_matrix) -> tuple[csr_matrix, Array]:
    """The binary form of X, and the degrees of its terms."""
    held = csr_matrix(X > 0, dtype=np.float64)
    return held, np.asarray(held.T @ np.asarray(held.sum(axis=1)).ravel())


def _indicator(parts: Ints) -> csr_matrix:
    n = len(parts)
    return csr_matrix((np.ones(n), (np.arange(n), parts)), shape=(n, int(parts.max()) + 1))


@kind("ncut-bounds")
def bounds(trial: Trial) -> dict[str, Any]:
    """Largest singular values: of D^(−½)X, and of Y with each weight; from those on λ leaves only zero."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import svds

    held, degree = _graph(collection(trial.collection).X)

    def largest(weight: Array) -> float:
        return float(svds(held @ diags(weight), k=1, return_singular_vectors=False, random_state=0)[0])

    return {
        "unscaled": largest(degree**-0.5),
        "largest": largest(weights.ncut(held)),
        "largest_01": largest(np.ones(len(degree))),
        "largest_idf": largest(weights.idf(held)),
        "least_degree": float(degree.min()),
    }


@kind("ncut-words")
def words(trial: Trial) -> dict[str, Any]:
    """Top terms of the topics that match the largest classes, and the coherence of all topics.

    A class is matched with the topic whose texts have the highest F1 with it. Coherence is the NPMI of
    the top terms over the texts themselves.
    """
    from coterie.methods import topic_terms
    from coterie.metrics import coherence

    data = collection(trial.collection)
    top, shown = int(trial.setting("top")), int(trial.setting("classes"))
    model = make(Trial("cluster", trial.collection, trial.method, trial.k, trial.seed))
    found, seconds = timed(lambda: model.fit_predict(data.X))
    topics = [[data.terms[j] for j in columns] for columns in topic_terms(model, top)]
    return {
        **scores(data.labels, found),
        "seconds": seconds,
        "npmi": coherence(topics, (data.sequences().known(), data.terms), "npmi", top_n=top),
        "matched": [
            [c.name, c.size, c.usual, topics[c.topic], c.f1] for c in _matched(data, found, shown, top)
        ],
    }


class _Match:
    """A class, and the topic that is most like it."""

    def __init__(self, data: Collection, found: npt.NDArray[np.int64], name: str, top: int):
        of_class = np.asarray(data.labels, dtype=object) == name
        sizes = np.bincount(found)
        both = np.bincount(found[of_class], minlength=len(sizes))
        f1 = 2 * both / np.maximum(sizes + of_class.sum(), 1)
        holding = np.asarray((data.X[of_class] > 0).sum(axis=0)).ravel()
        self.name, self.size = name, int(of_class.sum())
        self.topic, self.f1 = int(f1.argmax()), float(f1.max())
        self.usual = [data.terms[j] for j in np.argsort(-holding, kind="stable")[:top]]


def _matched(data: Collection, found: npt.NDArray[np.int64], n: int, top: int) -> list[_Match]:
    names, sizes = np.unique(np.asarray(data.labels, dtype=object), return_counts=True)
    largest = names[np.argsort(-sizes, kind="stable")[:n]]
    return [_Match(data, found, str(name), top) for name in largest]
