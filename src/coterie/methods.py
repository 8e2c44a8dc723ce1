"""All methods that turn documents × terms into topics, by name.

    names()                             the available names
    make(name, n_topics, random_state)  an unfitted estimator
    topic_terms(model)                  the top terms of each topic of a fitted estimator, as columns

Estimators take counts: if a method weights terms, the weighting is part of the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: Makes an estimator from the number of topics and the random state.
Factory = Callable[[int, Any], Any]


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its name, a one-line description, and how to make its estimator."""

    name: str
    about: str
    make: Factory


def _plain(home: str, **settings: Any) -> Factory:
    """A factory for `module:class` with settings; the module is imported on first use."""
    module, _, name = home.partition(":")

    def make(n_topics: int, random_state: Any) -> Any:
        return getattr(import_module(module), name)(n_topics, random_state=random_state, **settings)

    return make


def _spherical_on_idf(n_topics: int, random_state: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    from coterie.cluster import SphericalKMeans
    from coterie.weights import IdfWeights

    return make_pipeline(IdfWeights(), SphericalKMeans(n_topics, random_state=random_state))


def _spherical_on_nystrom(n_topics: int, random_state: Any) -> Any:
    from sklearn.pipeline import make_pipeline

    from coterie import NystromSemantics, SphericalKMeans

    semantics = NystromSemantics("pcor", random_state=random_state)
    return make_pipeline(semantics, SphericalKMeans(n_topics, random_state=random_state))


def _ours(name: str, **settings: Any) -> Factory:
    return _plain(f"coterie:{name}", **settings)


def _baseline(name: str, **settings: Any) -> Factory:
    return _plain(f"coterie.baselines:{name}", **settings)


_PAPER: dict[str, Any] = {"solver": "clip", "init": "rows"}  # Algorithm 1 of the CIKM 2012 paper
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("coterie", "text vectors from word co-occurrence, clustered and refined", _ours("Coterie")),
        Method("nmf", "NMF of binary texts", _ours("NMF", weights="binary", **_PAPER)),
        Method("nmf-idf", "NMF of idf-weighted texts", _ours("NMF", weights="idf", **_PAPER)),
        Method("nmf-ncut", "NMF of Ncut-weighted texts (CIKM 2012)", _ours("NMF", weights="ncut", **_PAPER)),
        Method("term-nmf", "NMF of term correlations (SDM 2013)", _ours("TermNMF", init="rows")),
        Method(
            "semantic-nmf", "joint NMF of texts and term co-occurrence (SIGIR 2017)", _ours("SemanticNMF")
        ),
        Method("nystrom", "k-means in a sampled semantic space (WWW 2015, pcor)", _spherical_on_nystrom),
        Method("spherical-kmeans", "spherical k-means on idf-weighted texts", _spherical_on_idf),
        Method("kmeans-idf", "ordinary k-means on idf-weighted texts", _baseline("KMeansIdf")),
        Method("rlsi", "regularised latent semantic indexing, idf weights", _baseline("RLSI")),
        Method(
            "rlsi-ncut",
            "regularised latent semantic indexing, Ncut weights",
            _baseline("RLSI", weights="ncut"),
        ),
        Method("onmf", "NMF with nearly orthogonal topics", _baseline("OrthogonalNMF")),
        Method("graph-nmf", "NMF regularised by a graph of similar texts", _baseline("GraphNMF")),
        Method("symmetric-nmf", "NMF of text similarities", _baseline("SymmetricNMF")),
        Method("lda", "LDA by Gibbs sampling (needs coterie[lda])", _baseline("GibbsLDA", alpha=0.1)),
    )
}


def names() -> list[str]:
    """Names that `make` accepts.

    >>> names()[:3]
    ['coterie', 'nmf', 'nmf-idf']
    """
    return list(METHODS)


def find(name: str) -> Method:
    """The method with this name.

    >>> find("k-menas")
    Traceback (most recent call last):
    coterie.errors.InputError: unknown method 'k-menas'; choose one of coterie, nmf, ..., lda
    """
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}")
    return METHODS[name]


def make(name: str, n_topics: int, random_state: Any = None) -> Any:
    """A new estimator on documents × terms; `fit_predict` gives the topic of each document.

    Parameters
    ----------
    name
        One of `names()`.
    n_topics
        Number of topics.
    random_state
        Seed of the random number generator.

    Examples
    --------
    >>> make("nmf-idf", 12, random_state=0)
    NMF(init='rows', n_topics=12, random_state=0, weights='idf')
    """
    return find(name).make(n_topics, random_state)


def topic_terms(model: Any, top_n: int = 10) -> list[npt.NDArray[np.int64]]:
    """Columns of the top terms of each topic of a fitted estimator or pipeline, the best first.

    These are `topic_terms_` if the estimator ranks terms itself, else the largest entries of `components_`.
    Terms with weight 0 are left out, so a topic may have fewer than `top_n` terms, or none. If a pipeline
    reduces dimensions first, topics are mapped back to terms.

    >>> import numpy as np
    >>> from coterie import SphericalKMeans
    >>> X = np.array([[2, 1, 0], [4, 1, 0], [0, 0, 3]])
    >>> sorted(terms.tolist() for terms in topic_terms(SphericalKMeans(2, random_state=0).fit(X)))
    [[0, 1], [2]]
    """
    import numpy as np

    *before, last = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    ranked = getattr(last, "topic_terms_", None)
    if ranked is not None:
        return [np.asarray(terms, dtype=np.int64)[:top_n] for terms in ranked]
    components = last.components_
    for step in reversed(before):
        if hasattr(step, "components_"):
            components = components @ step.components_
    best = np.argsort(-components, axis=1, kind="stable")[:, :top_n]
    return [columns[row[columns] > 0] for row, columns in zip(components, best, strict=True)]
