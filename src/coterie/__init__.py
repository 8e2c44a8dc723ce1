"""coterie: topics and clusters in short texts, through the company words keep.

The way through the package:

    coterie.topics     TopicModel: texts in, topics out; read this first
    coterie.text       files and lists of texts → tokens → vocabulary and counts (Vectorizer)
    coterie.corpus     the counts as row blocks: identical texts folded, in one canonical order
    coterie.engines    map and sum over row blocks, in memory or from disk
    coterie.weights    how much a term counts: binary, idf, Ncut
    coterie.semantics  what terms tell about each other: co-occurrence, PPMI, correlations
    coterie.factor     topics by factorisation: NMF, TermNMF, SemanticNMF, NystromSemantics
    coterie.cluster    Coterie, the method to reach for first; SphericalKMeans
    coterie.baselines  what the papers compare with
    coterie.metrics    clustering scores, coherence, diversity, classification accuracy
    coterie.datasets   named labelled texts, and the built-in sample
    coterie.runs       the run folder that ``coterie fit`` writes
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0.dev0"

# Names are resolved on first use: `import coterie` alone loads nothing heavy.
_MODULES = (
    "baselines",
    "cluster",
    "corpus",
    "datasets",
    "engines",
    "factor",
    "metrics",
    "runs",
    "semantics",
    "text",
    "topics",
    "weights",
)
_NAMES: dict[str, str] = {
    "Corpus": "coterie.corpus",
    "Coterie": "coterie.cluster",
    "NMF": "coterie.factor.nmf",
    "NystromSemantics": "coterie.factor.nystrom",
    "SemanticNMF": "coterie.factor.semantic",
    "SphericalKMeans": "coterie.cluster",
    "TermNMF": "coterie.factor.term",
    "TopicModel": "coterie.topics",
    "Vectorizer": "coterie.text",
    "open_run": "coterie.runs",
}

__all__ = [  # noqa: PLE0604
    "__version__",
    *_MODULES,
    *_NAMES,
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"coterie.{name}")
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'coterie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
