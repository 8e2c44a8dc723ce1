"""k-means on idf-weighted rows, the simplest baseline of the papers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags, vstack
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from coterie.engines import Engine
from coterie.estimator import Array, TopicEstimator, check_amount, check_count
from coterie.linalg.canonical import canonical
from coterie.weights import idf


class KMeansIdf(TopicEstimator):
    """Ordinary k-means on rows whose terms are weighted by idf.

    1. Terms are weighted by ``log(N / df)``. As in the papers, rows are not normalised: a short
       text is near the origin whatever it is about, which is why this baseline is weak.
    2. scikit-learn's k-means, with weights for folded duplicates, finds the centres.
    3. `transform` gives ``1 / (1 + distance)`` to each centre: 1 at the centre, towards 0 far away, larger
       is nearer. `predict` gives the nearest centre.

    The rows are kept in memory, even if an engine is given.

    Parameters
    ----------
    n_topics
        Number of clusters. With fewer distinct weighted rows there are spare centres: zero in
        `components_`, 0 in `transform`, and empty.
    n_init
        Number of starts; the one with the lowest sum of squared distances wins.
    max_iter
        Largest number of iterations of one start.
    tol
        A start has converged when its centres move less than this, relative to the variance of the columns.
    random_state
        Seed of the random starts.

    Attributes
    ----------
    components_
        Topics × terms, the centres of idf-weighted rows.
    idf_
        Weight of each term.
    used_
        Whether each centre is used.
    labels_
        The topic of each row; absent if an engine was fitted.
    inertia_
        Sum of squared distances to the nearest centre.
    n_iter_
        Iterations of the best start.

    >>> X = np.array([[2, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 3], [0, 0, 1, 3]])
    >>> model = KMeansIdf(n_topics=2, random_state=0).fit(X)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    >>> model.transform(X).max(axis=1).round(2)
    array([0.74, 0.74, 1.  , 1.  ])
    """

    _by_column = ("components_", "idf_")

    idf_: Array
    used_: npt.NDArray[np.bool_]
    inertia_: float
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        settings = {
            "n_init": check_count("n_init", self.n_init, self),
            "max_iter": check_count("max_iter", self.max_iter, self),
            "tol": check_amount("tol", self.tol, self),
        }
        self.idf_ = idf(documents)
        rows = vstack(list(documents.map(lambda block: self._weighted(block.X))), format="csr")
        weights = np.concatenate(list(documents.map(lambda block: block.weights)))
        # rows that differed only in terms of weight 0 are equal now
        n_centers = min(n_topics, canonical(rows).X.shape[0])
        # one thread: scikit-learn adds up the sums of threads in the order in which they come in
        with threadpool_limits(limits=1):
            fitted = KMeans(n_centers, random_state=random, **settings).fit(rows, sample_weight=weights)
        self.components_ = np.zeros((n_topics, documents.n_terms))
        self.components_[:n_centers] = fitted.cluster_centers_
        self.used_ = np.arange(n_topics) < n_centers
        self.inertia_, self.n_iter_ = float(fitted.inertia_), int(fitted.n_iter_)

    def _weighted(self, X: csr_matrix) -> csr_matrix:
        rows = (X @ diags(self.idf_)).tocsr()
        rows.eliminate_zeros()
        return rows

    def _memberships(self, X: csr_matrix) -> Array:
        """1 / (1 + distance), 0 for a spare centre."""
        distances = euclidean_distances(self._weighted(X), self.components_)
        return np.where(self.used_, 1.0 / (1.0 + distances), 0.0)
