"""coterie: topics and clusters in short texts, through the company words keep.

The way through the package:

    coterie.topics     TopicModel: texts in, topics out; read this first
    coterie.runs       the run folder that ``coterie fit`` writes
    coterie.text       files and lists of texts, read in batches; words
    coterie.corpus     texts as row blocks of counts: identical texts folded, in one order (Vectorizer)
    coterie.engines    map and sum over row blocks, in memory or from disk
    coterie.weights    how much a term counts: binary, idf, Ncut
    coterie.semantics  what terms tell about each other: co-occurrence, PPMI, correlations
    coterie.linalg     rows of unit length, singular vectors, k-means, a canonical order
    coterie.factor     topics by factorisation: NMF, TermNMF, SemanticNMF, NystromSemantics
    coterie.cluster    Coterie, the method to reach for first; SphericalKMeans
    coterie.baselines  what the papers compare with
    coterie.map        where topics and texts lie on a plane
    coterie.metrics    clustering scores, coherence, diversity, classification accuracy
    coterie.datasets   named labelled texts, and the built-in sample
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
#: Packages that are there as attributes, such as ``coterie.metrics``, without an import of their own.
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
