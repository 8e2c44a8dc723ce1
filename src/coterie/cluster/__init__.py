"""Clusters of documents."""
