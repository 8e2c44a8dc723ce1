"""Spherical k-means as an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines import Engine
from coterie.estimator import Array, TopicEstimator, check_amount, check_count
from coterie.linalg.rows import inverse_lengths
from coterie.linalg.spherical import spherical_kmeans


class SphericalKMeans(TopicEstimator):
    """Clusters of documents by the cosine to a centre.

    1. Rows are compared by direction alone, so a long text weighs no more than a short one.
    2. The kernel is `spherical_kmeans`: greedy k-means++, sweeps, the best of `n_init` starts.
    3. `transform` gives cosines to the centres, `predict` the nearest centre; a row of zeros, or one that
       shares no term with any centre, goes to the largest cluster.

    Values may be negative. Weights on terms are left to the caller: ``X @ diags(idf(X))`` is customary.

    Parameters
    ----------
    n_topics
        Number of clusters. With fewer vectors in the data the spare centres are zero and stay empty.
    n_init
        Number of starts; the one with the best objective wins.
    max_iter
        Most sweeps of one start.
    tol
        A start has settled when a sweep adds less than this share of the objective.
    random_state
        Seed of the starts.

    Attributes
    ----------
    components_
        Topics × terms, rows of unit length; `cluster_centers_` is the same.
    labels_
        The topic of each row; absent if an engine was fitted.
    objective_
        Mean cosine between texts and their centres after each sweep.
    n_iter_
        Number of sweeps.

    >>> X = np.array([[2, 1, 0, 0], [4, 1, 0, 0], [0, 0, 1, 3], [0, 0, 2, 5]])
    >>> model = SphericalKMeans(n_topics=2, random_state=0).fit(X)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    >>> model.transform(X).max(axis=1).round(2)
    array([0.99, 0.99, 1.  , 1.  ])
    """

    _non_negative = False

    objective_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        clusters = spherical_kmeans(
            documents,
            check_count("n_topics", self.n_topics, self),
            random,
            n_init=check_count("n_init", self.n_init, self),
            max_iter=check_count("max_iter", self.max_iter, self),
            tol=check_amount("tol", self.tol, self),
        )
        self.components_, self.objective_, self.n_iter_ = (
            clusters.centers,
            clusters.objective,
            clusters.n_iter,
        )

    @property
    def cluster_centers_(self) -> Array:
        """Topics × terms."""
        return self.components_

    def _memberships(self, X: csr_matrix) -> Array:
        """Cosines between rows and centres."""
        cosines: Array = (X @ self.components_.T) * inverse_lengths(X)[:, None]
        return cosines

    def open_topics(self) -> npt.NDArray[np.bool_]:
        """The topics that some document belongs to."""
        return np.asarray(self.components_.any(axis=1))
