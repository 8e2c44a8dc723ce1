"""Agreement of clusters with known classes.

All scores come from one table: how many texts of each class are in each cluster. scikit-learn has most of
them, but without weights, and it overflows if counts are large; the tests compare with its scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from coterie.errors import InputError
from coterie.metrics.arguments import Counts, Labels, Weights, read_labels, read_weights

if TYPE_CHECKING:
    import polars as pl

#: Mutual information below this is 0 and the rest is rounding.
ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class ClusteringScores:
    """All agreement scores of one clustering; each is 1 for a perfect one."""

    purity: float
    accuracy: float
    nmi: float
    ari: float
    homogeneity: float
    completeness: float


def purity(labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None) -> float:
    """Share of texts that belong to the majority class of their cluster.

    It can only grow when clusters are split, so compare it at equal numbers of clusters.

    Parameters
    ----------
    labels_true, labels_pred
        Class and cluster of each text: numbers or strings.
    weights
        How often each text counts, a whole number: weight n is the same as the text given n times.

    Examples
    --------
    >>> purity(["cat", "cat", "dog", "dog"], [0, 0, 0, 1])
    0.75
    """
    return Contingency.of(labels_true, labels_pred, weights).purity()


def accuracy(labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None) -> float:
    """Share of texts in the right cluster when classes and clusters are matched one to one, in the best way.

    Texts of a cluster without a class count as wrong. Parameters as in `purity`.

    Examples
    --------
    >>> accuracy(["cat", "cat", "cat", "dog"], [0, 0, 1, 2])
    0.75
    """
    return Contingency.of(labels_true, labels_pred, weights).accuracy()


def nmi(labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None) -> float:
    """Mutual information of classes and clusters, divided by the arithmetic mean of their entropies.

    1 if there is only one class and one cluster, as in scikit-learn. Parameters as in `purity`.

    Examples
    --------
    >>> round(nmi(["cat", "cat", "dog", "dog"], [1, 1, 0, 0]), 6)
    1.0
    >>> nmi(["cat", "cat", "dog", "dog"], [0, 1, 0, 1])
    0.0
    """
    return Contingency.of(labels_true, labels_pred, weights).nmi()


def ari(labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None) -> float:
    """Adjusted Rand index: agreement over pairs of texts, 0 on average for random clusters.

    Parameters as in `purity`.

    Examples
    --------
    >>> ari(["cat", "cat", "dog", "dog"], [1, 1, 0, 0])
    1.0
    >>> ari(["cat", "cat", "dog", "dog"], [0, 1, 0, 1])
    -0.5
    """
    return Contingency.of(labels_true, labels_pred, weights).ari()


def homogeneity(labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None) -> float:
    """1 if no cluster mixes classes, 0 if clusters and classes are independent.

    Parameters as in `purity`.

    Examples
    --------
    >>> round(homogeneity(["cat", "cat", "dog", "dog"], [0, 1, 2, 2]), 6)
    1.0
    """
    return Contingency.of(labels_true, labels_pred, weights).homogeneity()


def completeness(labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None) -> float:
    """1 if no class is split between clusters, 0 if clusters and classes are independent.

    Parameters as in `purity`.

    Examples
    --------
    >>> completeness(["cat", "cat", "dog", "dog"], [0, 0, 0, 0])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, weights).completeness()


def clustering_scores(
    labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None
) -> ClusteringScores:
    """All scores at once. Parameters as in `purity`.

    Examples
    --------
    >>> scores = clustering_scores(["cat", "cat", "dog", "dog"], ["b", "b", "a", "a"])
    >>> scores.purity, scores.accuracy, scores.ari
    (1.0, 1.0, 1.0)
    """
    table = Contingency.of(labels_true, labels_pred, weights)
    return ClusteringScores(
        purity=table.purity(),
        accuracy=table.accuracy(),
        nmi=table.nmi(),
        ari=table.ari(),
        homogeneity=table.homogeneity(),
        completeness=table.completeness(),
    )


def cluster_table(
    labels_true: Labels, labels_pred: Labels, *, weights: Weights | None = None
) -> pl.DataFrame:
    """The content of each cluster, the largest first. Parameters as in `purity`.

    Returns
    -------
    polars.DataFrame
        One row per cluster: ``cluster``, ``size``, ``share`` of all texts, ``majority_class``, ``purity``
        (share of that class in the cluster), ``n_classes``, and ``entropy`` of the classes in bits (0: one
        class; 1: as mixed as two equal classes). Equal sizes and equal majorities are ordered by name.

    Examples
    --------
    >>> table = cluster_table(["cat", "dog", "dog", "cat"], ["a", "a", "b", "a"])
    >>> table.select("cluster", "size", "majority_class")
    shape: (2, 3)
    ┌─────────┬──────┬────────────────┐
    │ cluster ┆ size ┆ majority_class │
    │ ---     ┆ ---  ┆ ---            │
    │ str     ┆ i64  ┆ str            │
    ╞═════════╪══════╪════════════════╡
    │ a       ┆ 3    ┆ cat            │
    │ b       ┆ 1    ┆ dog            │
    └─────────┴──────┴────────────────┘
    """
    import polars as pl

    table = Contingency.of(labels_true, labels_pred, weights)
    cells = table.counts.tocoo()
    rows = (
        pl.DataFrame({"class": cells.row, "cluster": cells.col, "count": cells.data})
        .sort("cluster", "count", "class", descending=[False, True, False])
        .group_by("cluster", maintain_order=True)
        .agg(
            pl.col("count").sum().alias("size"),
            pl.col("class").first().alias("majority_class"),
            (pl.col("count").first() / pl.col("count").sum()).alias("purity"),
            pl.len().cast(pl.Int64).alias("n_classes"),
            pl.col("count").entropy(base=2).alias("entropy"),
        )
        .sort("size", "cluster", descending=[True, False])
    )
    return rows.select(
        pl.Series("cluster", table.clusters, strict=False).gather(rows["cluster"]),
        "size",
        (pl.col("size") / pl.col("size").sum()).alias("share"),
        pl.Series("majority_class", table.classes, strict=False).gather(rows["majority_class"]),
        "purity",
        "n_classes",
        "entropy",
    )


@dataclass(frozen=True, slots=True)
class Contingency:
    """The contingency table of classes (rows) and clusters (columns), and the scores computed from it."""

    classes: list[Any]
    clusters: list[Any]
    counts: csr_array[np.int64, tuple[int, int]]

    @classmethod
    def of(cls, labels_true: Labels, labels_pred: Labels, weights: Weights | None) -> Contingency:
        """Count; a class or cluster that only has texts of weight 0 is left out."""
        classes, row = read_labels(labels_true, "labels_true")
        clusters, column = read_labels(labels_pred, "labels_pred")
        if len(row) != len(column):
            raise InputError(
                f"labels_pred and labels_true must have the same length, got {len(column)} and {len(row)}"
            )
        count = read_weights(weights, len(row))
        table = coo_array((count, (row, column)), shape=(len(classes), len(clusters))).tocsr()
        table.eliminate_zeros()
        rows, columns = np.flatnonzero(table.sum(axis=1)), np.flatnonzero(table.sum(axis=0))
        return cls([classes[i] for i in rows], [clusters[j] for j in columns], table[rows][:, columns])

    def purity(self) -> float:
        """Share of texts in the majority class of their cluster."""
        return float(self.counts.max(axis=0).sum() / self.counts.sum())

    def accuracy(self) -> float:
        """Share of texts on the best one-to-one matching of classes and clusters."""
        from scipy.optimize import linear_sum_assignment

        dense = self.counts.toarray()
        return float(dense[linear_sum_assignment(dense, maximize=True)].sum() / dense.sum())

    def nmi(self) -> float:
        """Mutual information over the mean of the two entropies."""
        return self._information_over((entropy(self._class_sizes()) + entropy(self._cluster_sizes())) / 2)

    def homogeneity(self) -> float:
        """Mutual information over the entropy of the classes."""
        return self._information_over(entropy(self._class_sizes()))

    def completeness(self) -> float:
        """Mutual information over the entropy of the clusters."""
        return self._information_over(entropy(self._cluster_sizes()))

    def ari(self) -> float:
        """Adjusted Rand index, from ordered pairs of texts, in integers of Python that do not overflow."""
        n = int(self.counts.sum())
        together = sum_of_squares(self.counts.data)  # in one class and one cluster, each text with itself too
        same_class, same_cluster = sum_of_squares(self._class_sizes()), sum_of_squares(self._cluster_sizes())
        tp, fn, fp = together - n, same_class - together, same_cluster - together
        tn = n * n - together - fn - fp
        if fn == fp == 0:
            return 1.0
        return 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn))

    def _information_over(self, limit: float) -> float:
        """Mutual information as a share of its maximum; 1 if the maximum is 0."""
        if limit == 0:
            return 1.0
        cells = self.counts.tocoo()
        class_share, cluster_share = share(self._class_sizes()), share(self._cluster_sizes())
        joint = share(cells.data)
        information = float((joint * np.log(joint / class_share[cells.row] / cluster_share[cells.col])).sum())
        return min(information / limit, 1.0) if information > ROUNDING else 0.0

    def _class_sizes(self) -> Counts:
        return self.counts.sum(axis=1)

    def _cluster_sizes(self) -> Counts:
        return self.counts.sum(axis=0)


def share(counts: Counts) -> npt.NDArray[np.float64]:
    """Each count as a part of their sum."""
    shares: npt.NDArray[np.float64] = counts / counts.sum()
    return shares


def entropy(counts: Counts) -> float:
    """Entropy in nats of positive counts."""
    return float(-(share(counts) * np.log(share(counts))).sum())


def sum_of_squares(counts: Counts) -> int:
    """Exact, also where the squares do not fit into 64 bits."""
    return sum(count * count for count in counts.tolist())
