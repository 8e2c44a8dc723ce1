"""The map: texts by their neighbours, and where the topics lie among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from coterie.map.colours import shade_beside, shades
from coterie.map.landmarks import Keys, Landmarks, signed, upright

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Sweeps of stress majorisation.
_SWEEPS = 150
#: Distances to this power: a topic unlike all others shall not press those into a corner.
_CLOSER = 0.6
#: Steps to where the texts of a topic are dense, and the part of them that its radius holds.
_STEPS, _INSIDE = 20, 0.6
#: Texts of a topic that say where it lies.
_TEXTS = 80
_SMALL = 1e-9


@dataclass(frozen=True)
class Known:
    """What people know by now: landmarks, and where topics lie, by id, those that are gone included.

    A topic that comes back finds its position and its colour again.
    """

    ids: list[int]
    positions: Array
    shades: Array
    landmarks: Landmarks


@dataclass(frozen=True)
class TopicMap:
    """Landmarks that place texts, and the topics among them.

    `positions` are topics × 2, where the texts of each are dense; a part of them lies within the `radii`.
    `shades` are topics × (lightness, hue).
    """

    landmarks: Landmarks
    positions: Array
    radii: Array
    shades: Array

    @classmethod
    def learn(
        cls,
        centers: Array,
        vectors: Array,
        keys: Keys,
        topics: Ints,
        ids: Sequence[int] = (),
        known: Known | None = None,
    ) -> TopicMap:
        """Lay out texts by their `vectors`, and find the `topics` among them (−1: none).

        `keys` tell which texts are landmarks. Landmarks that are `known` stay, as do topics with known `ids`;
        other topics get the place of their texts.
        """
        if known is None:
            apart = _plane(_distances(centers))
            start = np.vstack([apart / max(float(apart.std()), _SMALL), np.zeros((1, 2))])
            landmarks = Landmarks.learn(vectors * (topics >= 0)[:, None], keys, start[topics])
        else:
            landmarks = known.landmarks
        some = _of_each(topics, keys, len(centers))
        positions, radii = _where(landmarks.place(vectors[some]), topics[some], len(centers))
        if known is None:
            return cls(landmarks, positions, radii, shades(positions))
        positions, shaded = _kept(positions, ids, known)
        return cls(landmarks, positions, radii, shaded)

    @classmethod
    def rough(cls, centers: Array) -> TopicMap:
        """Topics by their centres alone, as long as nothing is known of their texts."""
        positions = _plane(_distances(centers))
        positions = positions / max(float(np.ptp(positions, axis=0).max(initial=0.0)), _SMALL)
        none = Landmarks(np.zeros((0, centers.shape[1]), dtype=np.int16), np.zeros((0, 2)))
        return cls(none, positions, np.full(len(centers), 0.05), shades(positions))

    def remembered(self, ids: Sequence[int], known: Known | None) -> Known:
        """Where the topics with these ids lie, and what was known of those that are gone."""
        gone = [] if known is None else [n for n, topic in enumerate(known.ids) if topic not in set(ids)]
        if known is None or not gone:
            return Known(list(ids), self.positions, self.shades, self.landmarks)
        return Known(
            [*ids, *(known.ids[n] for n in gone)],
            np.concatenate([self.positions, known.positions[gone]]),
            np.concatenate([self.shades, known.shades[gone]]),
            self.landmarks,
        )


def _of_each(topics: Ints, keys: Keys, n_topics: int) -> Ints:
    """Some texts of each topic, by their keys."""
    order = np.lexsort((keys, topics))
    begins = np.searchsorted(topics[order], np.arange(n_topics + 1))
    return np.concatenate(
        [order[begin : min(begin + _TEXTS, end)] for begin, end in pairwise(begins)] or [order[:0]]
    )


def _where(at: Array, topics: Ints, n_topics: int) -> tuple[Array, Array]:
    """Where the texts of each topic are dense, and how far most of them are from there."""
    positions, radii = np.zeros((n_topics, 2)), np.zeros(n_topics)
    there = np.isfinite(at[:, 0])
    for topic in range(n_topics):
        own = at[there & (topics == topic)]
        if len(own):
            positions[topic] = dense_place(own)
            away = np.sqrt(((own - positions[topic]) ** 2).sum(axis=1))
            radii[topic] = float(np.quantile(away, _INSIDE))
    return np.round(positions, 6), np.maximum(radii, 0.01)


def dense_place(points: Array) -> Array:
    """The middle of the largest crowd among some points: their mean, where far ones hardly count.

    >>> dense_place(np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]])).round(1).tolist()
    [0.1, 0.0]
    """
    place = np.median(points, axis=0)
    spread = float(np.median(np.sqrt(((points - place) ** 2).sum(axis=1))))
    for step in range(_STEPS):
        reach = max(spread * (1.0 - 0.8 * step / _STEPS), _SMALL)
        count = 1.0 / (1.0 + ((points - place) ** 2).sum(axis=1) / reach**2)
        place = (count[:, None] * points).sum(axis=0) / count.sum()
    return np.asarray(place)


def _kept(positions: Array, ids: Sequence[int], known: Known) -> tuple[Array, Array]:
    """Positions and shades of all topics, those of known ones unchanged."""
    positions, shaded = positions.copy(), np.zeros((len(positions), 2))
    before = {topic: at for at, topic in enumerate(known.ids)}
    stay = [at for at, topic in enumerate(ids) if topic in before]
    for at in stay:
        positions[at], shaded[at] = known.positions[before[ids[at]]], known.shades[before[ids[at]]]
    for at in (at for at in range(len(positions)) if at not in stay):
        away = ((known.positions - positions[at]) ** 2).sum(axis=1)
        nearest = known.shades[int(np.argmin(away))] if len(away) else np.array([0.6, 250.0])
        shaded[at] = shade_beside(nearest, len(positions))
    return positions, shaded


def _distances(centers: Array) -> Array:
    away = np.clip(1.0 - centers @ centers.T, 0.0, None) ** _CLOSER
    np.fill_diagonal(away, 0.0)
    return (away + away.T) / 2


def _plane(away: Array) -> Array:
    """Points whose distances are about those given: classical scaling, then majorised stress."""
    n = len(away)
    if n < 2:
        return np.zeros((n, 2))
    points = _classical(away) + 1e-3 * _sunflower(n)
    weights = 1.0 / np.maximum(away, 0.05)  # near topics shall be near; far ones only far
    np.fill_diagonal(weights, 0.0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_SWEEPS):
        now = _between(points)
        ratio = np.divide(weights * away, now, where=now > _SMALL, out=np.zeros_like(away))
        points = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ points)
    return upright(points)


def _classical(away: Array) -> Array:
    n = len(away)
    middle = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * middle @ away**2 @ middle)
    points = np.zeros((n, 2))
    for column in range(2):
        root = np.sqrt(max(values[n - 1 - column], 0.0))
        points[:, column] = signed(vectors[:, n - 1 - column]) * root
    return points


def _sunflower(n: int) -> Array:
    """Points that fill a disc evenly: they part points that lie on each other."""
    angle = np.arange(n) * np.pi * (3 - np.sqrt(5))
    return np.sqrt((np.arange(n) + 0.5) / n)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def _between(points: Array) -> Array:
    gap = points[:, None, :] - points[None, :, :]
    return np.sqrt((gap**2).sum(axis=2))
