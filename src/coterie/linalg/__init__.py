"""Numerical work that methods share: rows of unit length, singular vectors, k-means, a canonical order."""
