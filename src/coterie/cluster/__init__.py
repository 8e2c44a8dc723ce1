"""Clusters of documents."""

from coterie.cluster.spherical import SphericalClusters, SphericalKMeans, spherical_kmeans

__all__ = ["SphericalClusters", "SphericalKMeans", "spherical_kmeans"]
