"""All methods that turn documents × terms into topics, by name.

    names()                             the available names
    make(name, n_topics, random_state)  an unfitted estimator
    topic_terms(model)                  the top terms of each topic of a fitted estimator, as columns

Estimators take counts: if a method weights terms, the weighting is part of the estimator. This is the one
place where a method is registered: `TopicModel`, saved models, ``coterie compare`` and the contract tests
read it. `coterie.methods.fitted` is what a topic model asks of a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie.errors import InputError, shown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Step:
    """A class of the package, by ``module:name``, and the settings it is made with."""

    home: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        """The class; its module is imported now."""
        module, _, name = self.home.partition(":")
        return getattr(import_module(module), name)


@dataclass(frozen=True, slots=True)
class Method:
    """A method: what it is in one line, and the steps of its estimator; the last one finds topics."""

    name: str
    about: str
    steps: tuple[Step, ...]

    def make(self, n_topics: int, random_state: Any = None) -> Any:
        """An estimator, or a pipeline where there are several steps."""
        *before, last = self.steps
        estimator = last.load()(n_topics, random_state=random_state, **last.settings)
        if not before:
            return estimator
        from sklearn.pipeline import make_pipeline

        return make_pipeline(*(_seeded(step, random_state) for step in before), estimator)


def _seeded(step: Step, random_state: Any) -> Any:
    made = step.load()(**step.settings)
    return made.set_params(random_state=random_state) if "random_state" in made.get_params() else made


def _method(name: str, about: str, home: str, *before: Step, **settings: Any) -> Method:
    return Method(name, about, (*before, Step(home, settings)))


_PAPER: dict[str, Any] = {"solver": "clip", "init": "rows"}  # Algorithm 1 of the CIKM 2012 paper
_COTERIE, _SPHERICAL = "coterie.cluster:Coterie", "coterie.cluster:SphericalKMeans"
_NMF, _TERM_NMF = "coterie.factor.nmf:NMF", "coterie.factor.term:TermNMF"
_SEMANTIC_NMF = "coterie.factor.semantic:SemanticNMF"
_ANCHORS, _NMTF = "coterie.baselines:AnchorWords", "coterie.baselines:WordCooccurrenceNMTF"
_GSDMM_PLUS = "coterie.baselines:GSDMMPlus"
_PCOR = Step("coterie.factor.nystrom:NystromSemantics", {"kind": "pcor"})
_IDF = Step("coterie.weights:IdfWeights")
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _method("coterie", "text vectors from word co-occurrence, clustered and refined", _COTERIE),
        _method("nmf", "NMF of binary texts", _NMF, weights="binary", **_PAPER),
        _method("nmf-idf", "NMF of idf-weighted texts", _NMF, weights="idf", **_PAPER),
        _method("nmf-ncut", "NMF of Ncut-weighted texts (CIKM 2012)", _NMF, weights="ncut", **_PAPER),
        _method(
            "nmf-ncut-cosine",
            "NMF of Ncut-weighted texts, affinity of terms by cosine",
            _NMF,
            weights="ncut-cosine",
            **_PAPER,
        ),
        _method("term-nmf", "NMF of term correlations (SDM 2013)", _TERM_NMF),
        _method("semantic-nmf", "joint NMF of texts and term co-occurrence (SIGIR 2017)", _SEMANTIC_NMF),
        _method("nystrom", "k-means in a sampled semantic space (WWW 2015, pcor)", _SPHERICAL, _PCOR),
        _method("spherical-kmeans", "spherical k-means on idf-weighted texts", _SPHERICAL, _IDF),
        _method("kmeans-idf", "ordinary k-means on idf-weighted texts", "coterie.baselines:KMeansIdf"),
        _method("rlsi", "regularised latent semantic indexing, idf weights", "coterie.baselines:RLSI"),
        _method("rlsi-ncut", "RLSI with Ncut weights", "coterie.baselines:RLSI", weights="ncut"),
        _method("onmf", "NMF with nearly orthogonal topics", "coterie.baselines:OrthogonalNMF"),
        _method("graph-nmf", "NMF regularised by a graph of similar texts", "coterie.baselines:GraphNMF"),
        _method("symmetric-nmf", "NMF of text similarities", "coterie.baselines:SymmetricNMF"),
        _method("lda", "LDA by Gibbs sampling (needs coterie[lda])", "coterie.baselines:GibbsLDA", alpha=0.1),
        _method("btm", "biterm topic model: topics of pairs of terms (WWW 2013)", "coterie.baselines:BTM"),
        _method("anchor-words", "topics from anchor words and co-occurrence (ICML 2013)", _ANCHORS),
        _method("gsdmm", "mixture with one topic per text, sampled (KDD 2014)", "coterie.baselines:GSDMM"),
        _method(
            "gsdmm-plus", "GSDMM with weighed words and merged clusters (2025)", "coterie.baselines:GSDMMPlus"
        ),
        _method("ptm", "LDA of pseudo-documents (KDD 2016; needs coterie[lda])", "coterie.baselines:PTM"),
        _method("wc-nmtf", "tri-factorisation of texts and co-occurrence (AAAI 2018)", _NMTF),
        _method("seanmf", "joint NMF of texts and contexts of terms (WWW 2018)", "coterie.baselines:SeaNMF"),
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
    coterie.errors.InputError: unknown method 'k-menas'; choose one of coterie, nmf, ..., seanmf
    """
    if not isinstance(name, str) or name not in METHODS:
        raise InputError(f"unknown method {shown(name)}; choose one of {', '.join(METHODS)}")
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
