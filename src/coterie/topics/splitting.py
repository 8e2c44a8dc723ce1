"""A topic cut into parts: clusters of its own texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.engines import Block, Engine, as_engine
from coterie.errors import InputError
from coterie.linalg.spherical import spherical_kmeans
from coterie.topics.placing import Placing
from coterie.topics.reshape import Array, Split

#: Texts of the topic that parts are learned from.
_MOST = 50_000
_STARTS = 20


def split_topic(
    documents: Engine, placing: Placing, column: int, parts: int, new: int, vectors: Any = None
) -> Split:
    """Clusters of the texts of one topic by their directions, the largest first; new ids count from `new`."""
    topic = placing.ids[column]

    def texts(block: Block) -> tuple[Array, Array]:
        seen = placing.see_block(block, vectors)
        there = seen.places == column
        return seen.directions[there], block.weights[there]

    found = list(documents.map(texts))
    step = max(sum(len(weights) for _, weights in found) // _MOST, 1)
    directions, weights = (np.concatenate([part[i] for part in found])[::step] for i in (0, 1))
    random = np.random.RandomState(0)
    centers = spherical_kmeans(
        as_engine(directions, weights), parts, random, n_init=_STARTS, tol=1e-6
    ).centers
    if not centers.any(axis=1).all():
        raise InputError(
            f"topic {topic} cannot be split into {parts}: its texts are too few or too much alike"
        )
    sizes = np.bincount((directions @ centers.T).argmax(axis=1), weights, parts)
    largest_first = np.argsort(-sizes, kind="stable")
    return Split(topic, tuple(range(new, new + parts - 1)), np.ascontiguousarray(centers[largest_first]))
