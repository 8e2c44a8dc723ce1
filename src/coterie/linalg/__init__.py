"""Numerical functions shared by the methods: unit rows, singular vectors, k-means, canonical order."""
