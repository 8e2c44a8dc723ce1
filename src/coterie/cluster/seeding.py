"""Seed words: which texts contain them, and the clusters that these begin with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.texts import Floats, Ints, Sample, Texts
from coterie.engines import Block, MemoryEngine
from coterie.linalg.rows import unit_dense
from coterie.linalg.spherical import spherical_kmeans

#: The label of a text that belongs to no seed.
FREE = -1


def seed_of_text(seed_columns: Sequence[npt.ArrayLike], counts: csr_matrix) -> Ints:
    """The seed of each text, by number: the only one of which it contains a word; else `FREE`.

    >>> seed_of_text([[0], [1, 2]], csr_matrix([[1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]])).tolist()
    [0, 1, -1, -1]
    """
    words = np.zeros((counts.shape[1], len(seed_columns)))
    for number, columns in enumerate(seed_columns):
        words[np.asarray(columns, dtype=np.int64), number] = 1.0
    contained = (counts @ words) > 0
    return np.where(contained.sum(axis=1) == 1, contained.argmax(axis=1), FREE)


def centers_around(
    texts: Sample, seeds: Ints, n_seeds: int, n_topics: int, random: np.random.RandomState, **settings: float
) -> Floats:
    """Initial centres: of the texts of each seed, then of clusters of the texts that are free."""
    sums = texts.sum(lambda block: _sums(block, seeds[block.rows], n_seeds))
    seeded = unit_dense(sums)
    if n_topics == n_seeds:
        return seeded
    free = [
        Block(block.text_vectors, np.where(seeds[block.rows] == FREE, block.weights, 0.0), block.start)
        for block in texts.blocks
    ]
    clusters = spherical_kmeans(
        MemoryEngine(free, texts.threads),
        n_topics - n_seeds,
        random,
        **settings,  # type: ignore[arg-type]
    )
    return np.vstack([seeded, clusters.centers])


def _sums(block: Texts, seeds: Ints, n_seeds: int) -> Floats:
    some = np.flatnonzero(seeds != FREE)
    member = csr_matrix((block.weights[some], (seeds[some], some)), shape=(n_seeds, len(seeds)))
    return np.asarray(member @ block.text_vectors)
