"""The methods as the papers compare them: adding one is a line in `CONTENDERS`.

Each has one label, colour, marker and dash on all pages. Colours are told apart by people who see no red or
green; where two are near, marker and dash differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

#: From the number of topics, the seed and the settings of a trial to an estimator on counts.
Make = Callable[[int, int, dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Contender:
    """A method: its label in pages and legends, how it is drawn, and how it is made."""

    name: str
    label: str
    colour: str
    make: Make
    marker: str = "o"
    dash: str = "-"


def _plain(home: str, **fixed: Any) -> Make:
    """A class `module:name`, imported when one is made; settings of the trial go before the fixed ones."""
    module, _, name = home.partition(":")

    def make(k: int, seed: int, settings: dict[str, Any]) -> Any:
        return getattr(import_module(module), name)(k, **{"random_state": seed, **fixed, **settings})

    return make


def _ours(name: str, **fixed: Any) -> Make:
    return _plain(f"coterie:{name}", **fixed)


def _baseline(name: str, **fixed: Any) -> Make:
    return _plain(f"coterie.baselines:{name}", **fixed)


def _kmeans_unit(k: int, seed: int, settings: dict[str, Any]) -> Any:
    from sklearn.cluster import KMeans
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    from coterie.weights import IdfWeights

    clusterer = KMeans(k, **{"n_init": 1, "random_state": seed, **settings})
    return make_pipeline(IdfWeights(), Normalizer(), clusterer)


def _spherical_idf(k: int, seed: int, settings: dict[str, Any]) -> Any:
    from sklearn.pipeline import make_pipeline

    from coterie import SphericalKMeans
    from coterie.weights import IdfWeights

    return make_pipeline(IdfWeights(), SphericalKMeans(k, **{"n_init": 1, "random_state": seed, **settings}))


#: Settings of the space; others are of the clusterer.
_SPACE = {
    "sampled": "n_sampled",
    "rank": "rank",
    "of": "sampled",
    "sampling": "sampling",
    "unit_rows": "unit_rows",
}


def _nystrom(kind: str, clusterer: str) -> Make:
    """A clusterer in a space of sampled terms.

    Of the settings, `sampled` (ℓ, None for the exact form), `rank`, `of` ("terms" or "texts"), `sampling` and
    `unit_rows` are of the space, others of the clusterer.
    """

    def make(k: int, seed: int, settings: dict[str, Any]) -> Any:
        from sklearn.cluster import KMeans
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer, Normalizer

        from coterie import NMF, NystromSemantics, SphericalKMeans

        rest = dict(settings)
        chosen = {name: rest.pop(own) for own, name in _SPACE.items() if own in rest}
        space = NystromSemantics(kind, **{"random_state": seed, **chosen})
        if clusterer == "spherical":
            return make_pipeline(space, SphericalKMeans(k, **{"n_init": 1, "random_state": seed, **rest}))
        if clusterer == "kmeans":
            return make_pipeline(space, KMeans(k, **{"n_init": 1, "random_state": seed, **rest}))
        nmf = NMF(k, **{"weights": None, "init": "rows", "random_state": seed, **rest})
        # at unit length λ means the same in all spaces
        return make_pipeline(space, Normalizer(), FunctionTransformer(both_signs), nmf)

    return make


def both_signs(W: Any) -> Any:
    """Positive and negative parts side by side: rows of either sign as NMF can have them, losing nothing."""
    import numpy as np

    return np.hstack([np.maximum(W, 0.0), np.maximum(-W, 0.0)])


#: Algorithm 1 of the CIKM 2012 paper.
_PAPER: dict[str, Any] = {"solver": "clip", "init": "rows"}
#: NMF of rows of unit length with nothing added, as other papers mean it.
_DIVERGENCE: dict[str, Any] = {"weights": "binary", "loss": "divergence", "l2": 0.0, "init": "random"}
_NYSTROM = {"assc": "#882255", "assc_n": "#CC6677", "cov": "#117733", "pcor": "#332288"}
_MARKERS = {"assc": "v", "assc_n": "^", "cov": "s", "pcor": "D"}

CONTENDERS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        # CIKM 2012
        Contender("kmeans-idf", "k-means + idf", "#999999", _baseline("KMeansIdf", n_init=1), "x", ":"),
        Contender("kmeans-idf-unit", "k-means + idf, unit rows", "#555555", _kmeans_unit, "+", "--"),
        Contender("rlsi-idf", "RLSI + idf", "#88CCEE", _baseline("RLSI", weights="idf"), "v", "--"),
        Contender("rlsi-ncut", "RLSI + Ncut", "#0072B2", _baseline("RLSI", weights="ncut"), "^", "--"),
        Contender("nmf-01", "NMF + 01", "#E69F00", _ours("NMF", weights="binary", **_PAPER), "s", "-."),
        Contender("nmf-idf", "NMF + idf", "#009E73", _ours("NMF", weights="idf", **_PAPER), "D", "-."),
        Contender("nmf-ncut", "NMF + Ncut", "#D55E00", _ours("NMF", weights="ncut", **_PAPER), "o", "-"),
        # SDM 2013
        Contender("lda-sampled", "LDA", "#7A5C3E", _plain("coterie_papers.tnmf_lda:SampledLDA"), "P", "--"),
        Contender("lda", "LDA, tuned", "#7A5C3E", _baseline("GibbsLDA", alpha=0.1), "X", ":"),
        Contender("nmf-e", "NMF_E", "#F0C000", _ours("NMF", weights="idf", **_PAPER), "s", "-."),
        Contender("nmf-i", "NMF_I", "#B8860B", _ours("NMF", **_DIVERGENCE), "D", "-."),
        Contender("gnmf-weak", "GNMF", "#44AA99",
                  _baseline("GraphNMF", regularization=0.01, init="rows"), "v", "--"),
        Contender("gnmf", "GNMF, tuned", "#44AA99", _baseline("GraphNMF"), "<", ":"),
        Contender("symnmf", "SymNMF", "#56B4E9", _baseline("SymmetricNMF", max_iter=60), "^", "--"),
        Contender("tnmf-e", "TNMF_E", "#AA4499", _ours("TermNMF"), "o", "-"),
        Contender("tnmf-i", "TNMF_I", "#661100",
                  _ours("TermNMF", inference="divergence"), "*", "-"),
        # WWW 2015
        Contender("spherical-idf", "spherical k-means + idf", "#555555", _spherical_idf, "+", ":"),
        *(
            Contender(f"nystrom-{kind}", f"{kind} + spherical k-means", colour, _nystrom(kind, "spherical"),
                      _MARKERS[kind], "-")
            for kind, colour in _NYSTROM.items()
        ),
        *(
            Contender(f"nystrom-{kind}-nmf", f"{kind} + NMF", colour, _nystrom(kind, "nmf"),
                      _MARKERS[kind], "--")
            for kind, colour in _NYSTROM.items()
        ),
        *(
            Contender(f"nystrom-{kind}-kmeans", f"{kind} + k-means", colour, _nystrom(kind, "kmeans"),
                      _MARKERS[kind], ":")
            for kind, colour in _NYSTROM.items()
        ),
        # SIGIR 2017
        Contender("spherical", "spherical k-means", "#222222", _ours("SphericalKMeans", n_init=1), "+", ":"),
        Contender("onmf", "ONMF", "#CC79A7", _baseline("OrthogonalNMF"), "s", "--"),
        Contender("senmf", "SeNMF", "#DC143C", _ours("SemanticNMF"), "o", "-"),
        Contender("nmf-plain", "NMF", "#4477AA", _plain("coterie_papers.semantic_kinds:PlainNMF"),
                  "D", "-."),
        Contender("senmf-printed", "SeNMF, updates as printed", "#003C5A",
                  _plain("coterie_papers.semantic_kinds:PrintedSemanticNMF"), "x", ":"),
        # WWW 2015, where no term is left out: Ncut weights that one rare term cannot scale
        Contender("nmf-ncut-95", "NMF + Ncut, 95th percentile as scale", "#E9967A",
                  _ours("NMF", weights="ncut", scale="quantile", **_PAPER), "p", "--"),
        # what came after the papers, for short texts
        Contender("gsdmm", "GSDMM", "#5C4B8A", _baseline("GSDMM"), "P", "-."),
        Contender("gsdmm-plus", "GSDMM+", "#8A5CB8", _baseline("GSDMMPlus"), "P", "-"),
        Contender("btm", "BTM", "#2E8B57", _baseline("BTM"), "X", "--"),
        Contender("ptm", "PTM", "#9C6644", _baseline("PTM"), "X", ":"),
        Contender("anchor-words", "anchor words", "#6B8E23", _baseline("AnchorWords"), "<", "--"),
        Contender("wc-nmtf", "WC-NMTF", "#C71585", _baseline("WordCooccurrenceNMTF"), ">", "-."),
        Contender("seanmf", "SeaNMF", "#1E6FB8", _baseline("SeaNMF"), "d", "-"),
        # of none of the papers, for comparison
        Contender("coterie", "Coterie", "#000000", _ours("Coterie"), "h", "-"),
    )
}  # fmt: skip
