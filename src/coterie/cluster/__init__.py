"""Clusters of documents: `Coterie`, the method to reach for first, and spherical k-means."""

from coterie.cluster.coterie import Coterie
from coterie.cluster.n_topics import NumberOfTopics, choose_n_topics
from coterie.cluster.spherical import SphericalKMeans
from coterie.linalg.spherical import SphericalClusters, spherical_kmeans

__all__ = [
    "Coterie",
    "NumberOfTopics",
    "SphericalClusters",
    "SphericalKMeans",
    "choose_n_topics",
    "spherical_kmeans",
]
