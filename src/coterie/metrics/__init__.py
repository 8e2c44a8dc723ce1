"""Quality of topics and clusters: agreement with classes, coherence, diversity, classification accuracy."""

# What is heavy (scikit-learn, polars, scipy.optimize) is imported by the functions that need it. The modules
# here are imported at once: `coherence` is a module and a function, and the name must mean the function.
from coterie.metrics.classification import SvmScores, svm_accuracy, svm_scores
from coterie.metrics.clustering import (
    ClusteringScores,
    accuracy,
    ari,
    cluster_table,
    clustering_scores,
    completeness,
    homogeneity,
    nmi,
    purity,
)
from coterie.metrics.coherence import coherence, diversity

__all__ = [
    "ClusteringScores",
    "SvmScores",
    "accuracy",
    "ari",
    "cluster_table",
    "clustering_scores",
    "coherence",
    "completeness",
    "diversity",
    "homogeneity",
    "nmi",
    "purity",
    "svm_accuracy",
    "svm_scores",
]
