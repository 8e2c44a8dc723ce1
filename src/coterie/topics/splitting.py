"""A topic cut into parts: clusters of its own texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.engines import Block, Engine, as_engine
from coterie.errors import InputError
from coterie.linalg.spherical import spherical_kmeans
from coterie.topics.reshape import Array, Split
from coterie.topics.scorer import Scorer
from coterie.topics.scores import Scores

#: Texts of the topic that parts are learned from.
_MOST = 50_000
_STARTS = 20


def split_topic(
    documents: Engine,
    scorer: Scorer,
    scores: Scores,
    column: int,
    n_parts: int,
    new: int,
    embeddings: Any = None,
) -> Split:
    """Clusters of the texts of one topic by their vectors, the largest first; new ids count from `new`."""
    topic = scorer.ids[column]
    member = (scores.topic == column) & (scores.note == 0)

    def texts(block: Block) -> tuple[Array, Array]:
        inside = np.flatnonzero(member[block.start : block.start + block.X.shape[0]])
        own = None if embeddings is None else embeddings[block.start + inside]
        return scorer.score(block.X[inside], own).vectors, block.weights[inside]

    found = list(documents.map(texts))
    step = max(sum(len(weights) for _, weights in found) // _MOST, 1)
    vectors, weights = (np.concatenate([part[i] for part in found])[::step] for i in (0, 1))
    random = np.random.RandomState(0)
    parts = spherical_kmeans(as_engine(vectors, weights), n_parts, random, n_init=_STARTS, tol=1e-6)
    if not parts.centers.any(axis=1).all():
        raise InputError(
            f"topic {topic} cannot be split into {n_parts}: it has too few texts, or they are too much alike"
        )
    sizes = np.bincount((vectors @ parts.centers.T).argmax(axis=1), weights, n_parts)
    largest_first = np.argsort(-sizes, kind="stable")
    centers = np.ascontiguousarray(parts.centers[largest_first])
    return Split(topic, tuple(range(new, new + n_parts - 1)), centers)
