"""What clusters of one half of the texts say about the words of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

Ints = npt.NDArray[np.int64]

#: Words of the whole that are added to those of each cluster, and how often each word is counted unseen.
_PRIOR_WORDS, _UNSEEN = 200.0, 0.1


@dataclass(frozen=True)
class Halving:
    """Two halves of the rows, and the clusters of each: by its own centres, and by those of the other."""

    rows: tuple[Ints, Ints]
    own: tuple[Ints, Ints]
    foreign: tuple[Ints, Ints]

    def merged(self) -> Halving:
        """The same halves in one cluster."""
        one = np.zeros_like(self.own[0]), np.zeros_like(self.own[1])
        return Halving(self.rows, one, one)


@dataclass(frozen=True)
class Words:
    """Counts of terms, a row for each text, and the number of terms of the whole collection."""

    counts: csr_matrix
    n_terms: int

    @classmethod
    def of(cls, counts: csr_matrix, rows: Ints) -> Words:
        """Some of the texts. A term that no text has is no term."""
        return cls(counts[rows], max(int((counts.getnnz(axis=0) > 0).sum()), 1))

    def told(self, halving: Halving, n_clusters: int) -> float:
        """Bits that the cluster of a text tells about each of its words, beyond how common the word is.

        Each cluster is a distribution of words, learned from one half and smoothed by that of all its texts;
        texts of the other half are in the cluster with the nearest centre. Mean of both directions.
        """
        both = [self._told(halving, n_clusters, asked) for asked in (0, 1)]
        return (both[0] + both[1]) / 2

    def _told(self, halving: Halving, n_clusters: int, asked: int) -> float:
        learned = 1 - asked
        known, numbers = self._cells(halving.rows[learned], halving.own[learned], n_clusters)
        cells, times = self._cells(halving.rows[asked], halving.foreign[asked], n_clusters)
        cell, inverse = np.unique(known, return_inverse=True)
        counted = np.append(np.bincount(inverse, numbers, len(cell)), 0.0)
        place = np.searchsorted(cell, cells)
        found = np.append(cell, -1)[place] == cells
        inside = np.where(found, counted[place], 0.0)
        size = np.bincount(known % n_clusters, numbers, n_clusters)[cells % n_clusters]
        term = np.bincount(known // n_clusters, numbers, self.counts.shape[1])
        common = (term + _UNSEEN) / (term.sum() + _UNSEEN * self.n_terms)
        smooth = (inside / common[cells // n_clusters] + _PRIOR_WORDS) / (size + _PRIOR_WORDS)
        return float((times * np.log2(smooth)).sum() / max(times.sum(), 1.0))

    def _cells(self, rows: Ints, clusters: Ints, n_clusters: int) -> tuple[Ints, npt.NDArray[np.float64]]:
        """For each word of each text: one number for the word and the cluster, and how often it is there."""
        counts = self.counts[rows]
        cluster = np.repeat(clusters, np.diff(counts.indptr))
        return counts.indices.astype(np.int64) * n_clusters + cluster, counts.data.astype(np.float64)
