"""coterie: topics and clusters in short texts, using word co-occurrence.

The packages:

    coterie.topics     TopicModel: texts in, topics out; read this first
    coterie.runs       the run folder that ``coterie fit`` writes
    coterie.text       reading texts from files and lists, and cutting them into words
    coterie.corpus     texts as row blocks of counts, identical texts merged (Vectorizer)
    coterie.engines    map and sum over row blocks, in memory or from disk
    coterie.weights    term weights: binary, idf, Ncut
    coterie.semantics  relations between terms: co-occurrence, PPMI, correlations
    coterie.linalg     numerical functions: unit rows, singular vectors, k-means, canonical order
    coterie.factor     topics by factorisation: NMF, TermNMF, SemanticNMF, NystromSemantics
    coterie.cluster    Coterie, the default method; SphericalKMeans
    coterie.baselines  methods to compare with
    coterie.figures    pictures of a model, for notebooks and files (model.plot)
    coterie.map        positions of topics and texts on the map
    coterie.metrics    clustering scores, coherence, diversity, classification accuracy
    coterie.datasets   labelled data sets by name, and the built-in sample
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0.dev0"

# Names are resolved on first use: `import coterie` alone loads nothing heavy.
_NAMES: dict[str, str] = {
    "Coterie": "coterie.cluster",
    "NMF": "coterie.factor.nmf",
    "NystromSemantics": "coterie.factor.nystrom",
    "SemanticNMF": "coterie.factor.semantic",
    "SphericalKMeans": "coterie.cluster",
    "TermNMF": "coterie.factor.term",
    "TopicModel": "coterie.topics",
    "Vectorizer": "coterie.corpus",
    "open_run": "coterie.runs",
    "read_texts": "coterie.text",
}
#: Packages available as attributes, such as ``coterie.metrics``, without a separate import.
_PACKAGES = ("baselines", "corpus", "datasets", "engines", "methods", "metrics", "semantics", "weights")

__all__ = ["__version__", "datasets", *_NAMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"coterie.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
