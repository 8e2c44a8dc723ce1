"""Every method of the package that turns documents × terms into topics, by name.

    names()                          what there is
    make(name, n_topics, seed)       an estimator of that name, not yet fitted
    topic_terms(model)               columns of the terms of each topic of a fitted one, the best first

An estimator takes counts: where a method wants weights on terms, they are part of it.
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

#: From the number of topics and the seed to an estimator.
Factory = Callable[[int, Any], Any]


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what it is in one line, and how it is made."""

    name: str
    about: str
    make: Factory


def _plain(home: str, **settings: Any) -> Factory:
    """An estimator `module:class` with settings; the module is imported when one is made."""
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
        Method("coterie", "texts enriched by the company of their words, then clustered", _ours("Coterie")),
        Method("nmf", "NMF of binary texts", _ours("NMF", weights="binary", **_PAPER)),
        Method("nmf-idf", "NMF of idf-weighted texts", _ours("NMF", weights="idf", **_PAPER)),
        Method("nmf-ncut", "NMF of Ncut-weighted texts (CIKM 2012)", _ours("NMF", weights="ncut", **_PAPER)),
        Method("term-nmf", "NMF of the correlations of terms (SDM 2013)", _ours("TermNMF", init="rows")),
        Method("semantic-nmf", "texts and the company of terms jointly (SIGIR 2017)", _ours("SemanticNMF")),
        Method("nystrom", "k-means in a sampled semantic space (WWW 2015, pcor)", _spherical_on_nystrom),
        Method("spherical-kmeans", "spherical k-means on idf-weighted texts", _spherical_on_idf),
        Method("kmeans-idf", "ordinary k-means on idf-weighted texts", _baseline("KMeansIdf")),
        Method("rlsi", "regularised latent semantic indexing, idf weights", _baseline("RLSI")),
        Method("rlsi-ncut", "the same with Ncut weights", _baseline("RLSI", weights="ncut")),
        Method("onmf", "NMF with nearly disjoint topics", _baseline("OrthogonalNMF")),
        Method("graph-nmf", "NMF that pulls texts towards their neighbours", _baseline("GraphNMF")),
        Method("symmetric-nmf", "NMF of the similarities of texts", _baseline("SymmetricNMF")),
        Method("lda", "LDA by Gibbs sampling (needs coterie[lda])", _baseline("GibbsLDA", alpha=0.1)),
    )
}


def names() -> list[str]:
    """Names that `make` knows.

    >>> names()[:3]
    ['coterie', 'nmf', 'nmf-idf']
    """
    return list(METHODS)


def find(name: str) -> Method:
    """The method of that name.

    >>> find("k-menas")
    Traceback (most recent call last):
    coterie.errors.InputError: there is no method 'k-menas'; there are coterie, nmf, ..., lda
    """
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
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
        Seed of what is random in the method.

    Examples
    --------
    >>> make("nmf-idf", 12, random_state=0)
    NMF(init='rows', n_topics=12, random_state=0, weights='idf')
    """
    return find(name).make(n_topics, random_state)


def topic_terms(model: Any, top_n: int = 10) -> list[npt.NDArray[np.int64]]:
    """Columns of the top terms of each topic of a fitted estimator or pipeline, the best first.

    They are `topic_terms_` where the estimator has a ranking of its own, else the largest entries of
    `components_`; a term that adds nothing to a topic is not among its terms, so a topic may have fewer, or
    none. Topics of a pipeline through a smaller space are carried back to terms.

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
