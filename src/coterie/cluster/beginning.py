"""Where clusters begin that are partly known beforehand: predefined topics first, then new ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.cluster.leave_one_out import Coefficients
from coterie.cluster.predefined import FREE, Predefined
from coterie.cluster.refining import Found, Representation
from coterie.cluster.space import Space
from coterie.cluster.texts import FLOAT, Floats, Ints, Sample
from coterie.engines import Block, MemoryEngine
from coterie.errors import InputError
from coterie.linalg.spherical import spherical_kmeans


@dataclass(frozen=True)
class Beginning:
    """Centres to begin with, and the cluster that each text begins in, `FREE` for most.

    `known` are the numbers of the predefined topics of which something is known here. They are the first
    clusters; of the `n_predefined` topics the others stay empty.
    """

    centers: Floats
    topics: Ints
    known: Ints
    n_predefined: int

    @classmethod
    def of(
        cls,
        predefined: Predefined,
        given: Representation,
        space: Space,
        n_topics: int,
        random: np.random.RandomState,
        settings: dict[str, Any],
    ) -> Beginning:
        """Predefined topics, and new ones up to `n_topics`; `settings` are those of k-means."""
        texts, n_new = given.texts, n_topics - predefined.n_topics
        begin = texts.gather(lambda block: predefined.begin(block.counts))
        centers = predefined.centers(texts, begin, space, given.view)
        known = np.flatnonzero(centers.any(axis=1))
        if not len(known) and not n_new:
            raise InputError(
                "none of the predefined topics has a word that occurs in enough texts; "
                "describe them in words of the texts, or ask for more topics than these"
            )
        number = np.append(np.cumsum(centers.any(axis=1)) - 1, FREE)
        begin, centers = number[begin], centers[known].astype(FLOAT)
        if n_new:
            centers = np.vstack([centers, _new(texts, begin, centers, n_new, random, settings)])
        return cls(centers, begin, known, predefined.n_topics)

    def spread(self, found: Found) -> Found:
        """The topics that were found, with empty ones where nothing is known of a predefined topic."""
        n_new = len(self.centers) - len(self.known)
        places = np.concatenate([self.known, self.n_predefined + np.arange(n_new)])

        def spread(columns: Floats) -> Floats:
            wider = np.zeros((*columns.shape[:-1], self.n_predefined + n_new), dtype=columns.dtype)
            wider[..., places] = columns
            return wider

        learned = found.coefficients
        wide = Coefficients(spread(learned.terms), spread(learned.axes), spread(np.asarray(learned.base)))
        return replace(found, coefficients=wide)


def _new(
    texts: Sample,
    begin: Ints,
    centers: Floats,
    n_new: int,
    random: np.random.RandomState,
    settings: dict[str, Any],
) -> Floats:
    """Centres of new topics: clusters of the texts that are free, less those of predefined topics.

    A predefined topic in which no text begins, because it has no words but a description or examples, stands
    for one of these clusters: each for another one, with the largest sum of cosines.
    """
    from scipy.optimize import linear_sum_assignment  # takes long to import

    apart = np.bincount(begin[begin != FREE], minlength=len(centers)) == 0
    blocks = [
        Block(block.text_vectors, np.where(begin[block.rows] == FREE, block.weights, 0.0), block.start)
        for block in texts.blocks
    ]
    engine = MemoryEngine(blocks, texts.threads)
    found = spherical_kmeans(engine, n_new + int(apart.sum()), random, **settings).centers
    _, taken = linear_sum_assignment(-np.round(centers[apart] @ found.T, 6))
    return np.delete(found, taken, axis=0)
