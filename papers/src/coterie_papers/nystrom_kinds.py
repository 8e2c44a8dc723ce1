"""What is measured for the paper on statistical semantics: spaces of sampled terms, and clusters in them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags

from coterie import NMF, NystromSemantics, SphericalKMeans, weights
from coterie.engines.base import pattern
from coterie.linalg.rows import unit_rows
from coterie.metrics import nmi
from coterie.semantics import TermGram
from coterie.weights import IdfWeights
from coterie_papers.bench.collections import Collection, collection
from coterie_papers.bench.contenders import both_signs
from coterie_papers.bench.kinds import kind, scores, timed
from coterie_papers.bench.trial import Trial

Array = npt.NDArray[np.float64]
Found = tuple[npt.NDArray[np.int64], int]

#: Drawings of labels by lot for the NMI of clusters that know nothing.
_LOTS = 5


@kind("nystrom-data")
def data(trial: Trial) -> dict[str, Any]:
    """Sizes of a collection, the NMI that chance gives there, and what Ncut weights cost.

    `weights_seconds` is the time of the weights, `affinity_seconds` that of forming the matrix of terms that
    share texts, sparse, which they do not need.
    """
    found = collection(trial.collection)
    random = np.random.default_rng(trial.seed)
    labels = np.asarray(found.labels, dtype=object)
    _, weights_seconds = timed(lambda: weights.ncut(found.X))
    held = pattern(found.X)
    affinity, affinity_seconds = timed(lambda: held.T.tocsr() @ held)
    return {
        "texts": found.X.shape[0],
        "terms": found.X.shape[1],
        "words": float(np.diff(found.X.indptr).mean()),
        "classes": len(set(found.labels)),
        "about": found.about,
        "chance": float(np.mean([nmi(labels, random.permutation(labels)) for _ in range(_LOTS)])),
        "weights_seconds": weights_seconds,
        "affinity_seconds": affinity_seconds,
        "affinity_density": affinity.nnz / found.X.shape[1] ** 2,
    }


@kind("nystrom")
def nystrom(trial: Trial) -> dict[str, Any]:
    """Clusters in one space of sampled terms, cut at several ranks.

    The space is made once, at the highest rank: its first columns are the space of a lower one. Settings:
    `sampled` is ℓ; `ranks` and `nmf_ranks` are the ranks for either clusterer, as "5,20,100"; `iterations`
    bounds NMF. Nothing is done where ℓ is no less than the number of terms.
    """
    found = collection(trial.collection)
    sampled, n_terms = int(trial.setting("sampled")), found.X.shape[1]
    if sampled >= n_terms:
        return {"terms": n_terms, "made": False}
    ranks, nmf_ranks = (
        [rank for rank in numbers(trial.setting(name)) if rank <= sampled] for name in ("ranks", "nmf_ranks")
    )
    model = NystromSemantics(
        _semantics(trial), n_sampled=sampled, rank=max(ranks + nmf_ranks), random_state=trial.seed
    )
    X = IdfWeights().fit_transform(found.X)
    W, seconds = timed(lambda: model.fit_transform(X))
    most = int(trial.setting("iterations"))
    return {
        "terms": n_terms,
        "made": True,
        "space_seconds": seconds,
        "spherical": _along(found, W, ranks, lambda rows: _spherical(rows, trial), seconds),
        "nmf": _along(found, W, nmf_ranks, lambda rows: _nmf(rows, trial, most), seconds),
    }


@kind("nystrom-space")
def space(trial: Trial) -> dict[str, Any]:
    """CPU seconds of a space of sampled terms at one rank, nothing else."""
    X = IdfWeights().fit_transform(collection(trial.collection).X)
    sampled, rank = int(trial.setting("sampled")), int(trial.setting("rank"))
    model = NystromSemantics(_semantics(trial), n_sampled=sampled, rank=rank, random_state=trial.seed)
    return {"seconds": timed(lambda: model.fit_transform(X))[1]}


@kind("nystrom-full")
def full(trial: Trial) -> dict[str, Any]:
    """Spherical k-means with all terms and at full rank, for semantics that are not centred.

    ``X G Xᵀ = W Wᵀ`` also holds for ``W = X A Xᵀ``, texts × texts and sparse: no eigenvalues are needed.
    """
    found = collection(trial.collection)
    X = unit_rows(IdfWeights().fit_transform(found.X))  # as `NystromSemantics` has them

    def work() -> Found:
        W = csr_matrix(X @ diags(TermGram.of(X, _semantics(trial)).scale) @ X.T)
        return _spherical(W, trial)

    (clusters, _), seconds = timed(work)
    return {**scores(found.labels, clusters), "seconds": seconds}


def numbers(listed: str) -> list[int]:
    """Numbers between commas.

    >>> numbers("5,20")
    [5, 20]
    """
    return [int(number) for number in listed.split(",") if number]


def _semantics(trial: Trial) -> Any:
    """The semantics of a trial: its method is "nystrom-pcor", say."""
    return trial.method.removeprefix("nystrom-")


def _along(
    found: Collection, W: Array, ranks: list[int], cluster: Callable[[Array], Found], before: float
) -> dict[str, list[float]]:
    """Scores and seconds at each rank; `before` is the time of the space."""
    measured: dict[str, list[float]] = {
        name: [] for name in ("rank", "nmi", "ari", "used", "iterations", "seconds")
    }
    for rank in ranks:
        began = time.process_time()
        clusters, iterations = cluster(W[:, :rank])
        seconds = before + time.process_time() - began
        score = scores(found.labels, clusters)
        row = (rank, score["nmi"], score["ari"], len(np.unique(clusters)), iterations, seconds)
        for name, value in zip(measured, row, strict=True):
            measured[name].append(value)
    return measured


def _spherical(rows: Any, trial: Trial) -> Found:
    model = SphericalKMeans(trial.k, n_init=1, random_state=trial.seed)
    return model.fit_predict(rows), model.n_iter_


def _nmf(rows: Array, trial: Trial, most: int) -> Found:
    """NMF of the positive and the negative parts of rows of unit length: λ = 1 then means the same to all."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, length, where=length > 0, out=np.zeros_like(rows))
    model = NMF(trial.k, weights=None, init="rows", max_iter=most, random_state=trial.seed)
    return model.fit_predict(both_signs(unit)), model.n_iter_
