"""What is measured for the paper on statistical semantics: spaces of sampled terms, and clusters in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags
from sklearn.cluster import KMeans

from coterie import NMF, NystromSemantics, SphericalKMeans, weights
from coterie.engines.base import pattern
from coterie.linalg.rows import unit_rows
from coterie.metrics import nmi
from coterie.semantics import TermGram
from coterie.weights import IdfWeights
from coterie_papers.bench.collections import collection
from coterie_papers.bench.contenders import both_signs
from coterie_papers.bench.kinds import kind, scores, timed
from coterie_papers.bench.trial import Trial

Array = npt.NDArray[np.float64]
Found = tuple[npt.NDArray[np.int64], int]

#: Drawings of labels by lot for the NMI of clusters that know nothing.
_LOTS = 5
#: Pairs of texts drawn for cosines, and the parts that the cosines from 0 to 1 are counted in.
_PAIRS, _BINS = 200_000, 25


@kind("nystrom-data")
def data(trial: Trial) -> dict[str, Any]:
    """Sizes of a collection, the NMI that chance gives there, and what Ncut weights cost.

    `weights_seconds` is the time of the weights, `affinity_seconds` that of forming the matrix of terms that
    share texts, sparse, which they do not need.
    """
    found = collection(trial.collection)
    random = np.random.default_rng(trial.seed)
    labels = np.asarray(found.labels, dtype=object)
    _, sizes = np.unique(labels, return_counts=True)
    _, weights_seconds = timed(lambda: weights.ncut(found.X))
    held = pattern(found.X)
    affinity, affinity_seconds = timed(lambda: held.T.tocsr() @ held)
    return {
        "texts": found.X.shape[0],
        "terms": found.X.shape[1],
        "words": float(np.diff(found.X.indptr).mean()),
        "classes": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "about": found.about,
        "chance": float(np.mean([nmi(labels, random.permutation(labels)) for _ in range(_LOTS)])),
        "weights_seconds": weights_seconds,
        "affinity_seconds": affinity_seconds,
        "affinity_density": affinity.nnz / found.X.shape[1] ** 2,
    }


@kind("nystrom")
def nystrom(trial: Trial) -> dict[str, Any]:
    """Clusters in a space of sampled terms of one rank, which is made for this trial alone.

    Settings: `sampled` is ℓ, `rank` is k, `by` are clusterers as "spherical,kmeans,nmf", `iterations` bounds
    NMF; and of the space `sampling`, `of` ("texts") and `unit_rows`, where they are not the usual ones.
    Nothing is done where ℓ is no less than the number of terms.
    """
    found = collection(trial.collection)
    if int(trial.setting("sampled")) >= found.X.shape[1]:
        return {"made": False}
    X = IdfWeights().fit_transform(found.X)
    W, seconds = timed(lambda: _space(trial).fit_transform(X))
    measured: dict[str, Any] = {"made": True, "space_seconds": seconds}
    for name in trial.setting("by").split(","):
        (clusters, steps), more = timed(lambda name=name: _CLUSTERERS[name](W, trial))  # type: ignore[misc]
        score = scores(found.labels, clusters)
        measured |= {
            f"{name}_nmi": score["nmi"],
            f"{name}_ari": score["ari"],
            f"{name}_used": len(np.unique(clusters)),
            f"{name}_iterations": steps,
            f"{name}_seconds": seconds + more,
        }
    return measured


@kind("nystrom-beside")
def beside(trial: Trial) -> dict[str, Any]:
    """CPU seconds of spherical k-means alone and in a space, one directly after the other."""
    X = IdfWeights().fit_transform(collection(trial.collection).X)
    _, plain = timed(lambda: _spherical(X, trial))
    W, space = timed(lambda: _space(trial).fit_transform(X))
    _, clusters = timed(lambda: _spherical(W, trial))
    return {"plain": plain, "space": space, "clusters": clusters, "ratio": (space + clusters) / plain}


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


@kind("nystrom-cosines")
def cosines(trial: Trial) -> dict[str, Any]:
    """How similar texts of one class and of two are, by the words they share and in a space: counts of pairs.

    `same` and `other` are shares of the pairs in parts of equal width from 0 to 1, and `nothing` is the share
    of pairs with a cosine of 0 or less.
    """
    found = collection(trial.collection)
    X = IdfWeights().fit_transform(found.X)
    W = _space(trial).fit_transform(X)
    first, second = np.random.default_rng(0).integers(X.shape[0], size=(2, _PAIRS))
    different = first != second
    first, second = first[different], second[different]
    labels = np.asarray(found.labels, dtype=object)
    alike = labels[first] == labels[second]
    measured: dict[str, Any] = {}
    by_words = np.asarray(unit_rows(X)[first].multiply(unit_rows(X)[second]).sum(axis=1)).ravel()
    in_space = np.einsum("ij,ij->i", _unit(W)[first], _unit(W)[second])
    for name, values in (("words", by_words), ("space", in_space)):
        for which, some in (("same", values[alike]), ("other", values[~alike])):
            counts, _ = np.histogram(np.clip(some, 0, 1), _BINS, (0, 1))
            measured[f"{name}_{which}"] = (counts / len(some)).tolist()
            measured[f"{name}_{which}_nothing"] = float((some <= 0).mean())
            measured[f"{name}_{which}_mean"] = float(some.mean())
    return measured


def _space(trial: Trial) -> NystromSemantics:
    """The space of a trial, unfitted."""
    return NystromSemantics(
        _semantics(trial),
        n_sampled=int(trial.setting("sampled")),
        rank=int(trial.setting("rank")),
        sampled=trial.setting("of", "terms"),
        sampling=trial.setting("sampling", "length"),
        unit_rows=trial.setting("unit_rows", True),
        random_state=trial.seed,
    )


def _semantics(trial: Trial) -> Any:
    """The semantics of a trial: its method is "nystrom-pcor", say."""
    return trial.method.removeprefix("nystrom-")


def _spherical(rows: Any, trial: Trial) -> Found:
    model = SphericalKMeans(trial.k, n_init=1, random_state=trial.seed)
    return model.fit_predict(rows), model.n_iter_


def _kmeans(rows: Array, trial: Trial) -> Found:
    model = KMeans(trial.k, n_init=1, random_state=trial.seed)
    return np.asarray(model.fit_predict(rows), dtype=np.int64), model.n_iter_


def _nmf(rows: Array, trial: Trial) -> Found:
    """NMF of the positive and the negative parts of rows of unit length: λ = 1 then means the same to all."""
    most = int(trial.setting("iterations"))
    model = NMF(trial.k, weights=None, init="rows", max_iter=most, random_state=trial.seed)
    return model.fit_predict(both_signs(_unit(rows))), model.n_iter_


_CLUSTERERS: dict[str, Callable[[Array, Trial], Found]] = {
    "spherical": _spherical,
    "kmeans": _kmeans,
    "nmf": _nmf,
}


def _unit(rows: Array) -> Array:
    """Rows at unit length."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, where=length > 0, out=np.zeros_like(rows))
