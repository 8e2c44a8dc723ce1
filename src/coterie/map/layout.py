"""The map: where topics lie on a plane, and a formula that puts any text among them.

A text that is placed later moves no other one: nothing here is fitted to texts but the map itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.map.colours import shade_beside, shades

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Sweeps of stress majorisation, and of pushing discs apart.
_SWEEPS, _PUSHES = 150, 200
#: The part of the map that the discs of all topics would fill if none overlapped.
_FILLED = 0.40
#: Memberships to this power say where between topics a text lies.
_SHARPNESS = 2.0
#: A topic with a smaller share of a text moves it by less than anybody sees.
_UNSEEN = 1e-3
#: Distances to this power: a topic unlike all others shall not press those into a corner.
_CLOSER = 0.6
#: Screens are wider than high.
_WIDER = 1.25
_SMALL = 1e-9


@dataclass(frozen=True)
class Known:
    """Where topics lie that people know by now, by id, those that are gone included.

    A topic that comes back finds its position and its colour again.
    """

    ids: list[int]
    positions: Array
    shades: Array


@dataclass(frozen=True)
class TopicMap:
    """Topics as discs in the plane, and the axes along which the texts of each differ most.

    `positions` are topics × 2 and `radii` one for each; the map is about one unit wide. `axes` are
    topics × dimensions × 2, square to the centres: what a text differs by from each centre. `shades` are
    topics × (lightness, hue).
    """

    positions: Array
    radii: Array
    axes: Array
    shades: Array

    @classmethod
    def learn(
        cls,
        centers: Array,
        shares: Array,
        vectors: Array,
        topics: Ints,
        ids: Sequence[int] = (),
        known: Known | None = None,
    ) -> TopicMap:
        """Lay out topics by their centres and sizes.

        `vectors` of some texts and their `topics` tell how texts differ within a topic. Topics whose `ids`
        are `known` stay where they are, and new ones find room beside the nearest.

        1. Distances of topics are a power of 1 − cosine of their centres; stress majorisation puts them on a
           plane.
        2. A topic is a disc whose area is its share of the texts; discs that overlap are pushed apart.
        3. Within a disc, texts lie along the two leading directions of their differences.
        """
        radii = np.sqrt(_FILLED * shares / np.pi)
        stay = [] if known is None else [n for n, topic in enumerate(ids) if topic in known.ids]
        if known is None or not stay:
            positions = _apart(_plane(_distances(centers)), radii)
            shaded = shades(positions)
        else:
            positions, shaded = _beside(centers, radii, np.array(stay), ids, known)
        axes = np.stack(
            [_axes(vectors[topics == topic], center) for topic, center in enumerate(centers)]
            or [np.zeros((centers.shape[1], 2))]
        )
        return cls(positions, radii, axes, shaded)

    def remembered(self, ids: Sequence[int], known: Known | None) -> Known:
        """Where the topics with these ids lie, and what was known of those that are gone."""
        gone = [] if known is None else [n for n, topic in enumerate(known.ids) if topic not in set(ids)]
        if known is None or not gone:
            return Known(list(ids), self.positions, self.shades)
        return Known(
            [*ids, *(known.ids[n] for n in gone)],
            np.concatenate([self.positions, known.positions[gone]]),
            np.concatenate([self.shades, known.shades[gone]]),
        )

    def place(self, sharp: csr_matrix, vectors: Array) -> Array:
        """Where texts lie: texts × 2; nan for a text without any membership.

        A text lies at the mean of its topics, by its `sharp_memberships`, and off that by what it differs
        from their centres: never further than the radius of a disc.
        """
        at = np.asarray(sharp @ self.positions)
        by_topic = sharp.tocsc()
        for topic, (radius, axes) in enumerate(zip(self.radii, self.axes, strict=True)):
            some = slice(by_topic.indptr[topic], by_topic.indptr[topic + 1])
            rows = by_topic.indices[some]
            at[rows] += by_topic.data[some, None] * radius * _in_disc(vectors[rows] @ axes)
        at[np.diff(sharp.indptr) == 0] = np.nan
        return at


def sharp_memberships(memberships: Array) -> csr_matrix:
    """Squared memberships as shares of each text, those that nobody would see left out."""
    sharp = memberships**_SHARPNESS
    sharp[sharp <= _UNSEEN * sharp.sum(axis=1, keepdims=True)] = 0.0
    total = sharp.sum(axis=1, keepdims=True)
    return csr_matrix(np.divide(sharp, total, where=total > 0, out=sharp))


def _in_disc(offsets: Array) -> Array:
    """Points of a normal cloud spread evenly over the unit disc, each in its direction."""
    length = np.maximum(np.sqrt((offsets**2).sum(axis=1, keepdims=True)), _SMALL)
    return offsets / length * np.sqrt(-np.expm1(-(length**2) / 2))


def _axes(directions: Array, center: Array) -> Array:
    """The two directions in which rows differ most, square to their centre and divided by their spread."""
    n_dims = directions.shape[1]
    differences = directions - (directions @ center)[:, None] * center
    values, vectors = np.linalg.eigh(differences.T @ differences / max(len(differences), 1))
    axes = np.zeros((n_dims, 2))
    for column, value in enumerate(values[::-1][:2]):
        if value > _SMALL:
            axes[:, column] = _signed(vectors[:, n_dims - 1 - column]) / np.sqrt(value)
    return axes


def _signed(vector: Array) -> Array:
    """A vector or its opposite, the one whose largest entry is positive."""
    rounded = np.round(np.abs(vector), 9)
    return vector if vector[int(np.argmax(rounded))] >= 0 else -vector


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
    return _upright(points)


def _classical(away: Array) -> Array:
    n = len(away)
    middle = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * middle @ away**2 @ middle)
    points = np.zeros((n, 2))
    for column in range(2):
        root = np.sqrt(max(values[n - 1 - column], 0.0))
        points[:, column] = _signed(vectors[:, n - 1 - column]) * root
    return points


def _upright(points: Array) -> Array:
    """Centred, the widest extent from left to right."""
    points = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(points.T @ points)
    turned = points @ vectors[:, ::-1]
    return np.column_stack([_signed(turned[:, 0]), _signed(turned[:, 1])])


def _sunflower(n: int) -> Array:
    """Points that fill a disc evenly: they part points that lie on each other."""
    angle = np.arange(n) * np.pi * (3 - np.sqrt(5))
    return np.sqrt((np.arange(n) + 0.5) / n)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def _between(points: Array) -> Array:
    gap = points[:, None, :] - points[None, :, :]
    return np.sqrt((gap**2).sum(axis=2))


def _apart(points: Array, radii: Array) -> Array:
    """Scale points to a map one unit wide, and push discs apart that overlap."""
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    points = points / extent if extent > _SMALL else points + 1e-3 * _sunflower(len(points))
    points = points * np.array([_WIDER, 1.0])
    points = points - (points.max(axis=0) + points.min(axis=0)) / 2 if len(points) else points
    wanted = (radii[:, None] + radii[None, :]) * 1.05
    heavy = radii**2 + _SMALL
    part = heavy[None, :] / (heavy[:, None] + heavy[None, :])  # the lighter disc moves more
    for _ in range(_PUSHES):
        gap = points[:, None, :] - points[None, :, :]
        now = np.sqrt((gap**2).sum(axis=2))
        short = np.clip(wanted - now, 0.0, None)
        np.fill_diagonal(short, 0.0)
        if float(short.max(initial=0.0)) < 1e-4:
            break
        push = (short * part / np.maximum(now, _SMALL))[:, :, None] * gap
        points = points + 0.5 * push.sum(axis=1)
    return points


def _beside(
    centers: Array, radii: Array, stay: Ints, ids: Sequence[int], known: Known
) -> tuple[Array, Array]:
    """Positions and shades of all topics, those of an earlier map unchanged."""
    positions, shaded = np.zeros((len(centers), 2)), np.zeros((len(centers), 2))
    before = [known.ids.index(ids[topic]) for topic in stay]
    positions[stay], shaded[stay] = known.positions[before], known.shades[before]
    new = np.setdiff1d(np.arange(len(centers)), stay)
    away = _sunflower(len(new))
    for number, topic in enumerate(new):
        nearest = stay[int(np.argmax(np.round(centers[stay] @ centers[topic], 9)))]
        positions[topic] = positions[nearest] + radii[nearest] * away[number]
        shaded[topic] = shade_beside(shaded[nearest], len(centers))
    wanted = (radii[:, None] + radii[None, :]) * 1.05
    for _ in range(_PUSHES if len(new) else 0):
        gap = positions[new, None, :] - positions[None, :, :]
        now = np.sqrt((gap**2).sum(axis=2))
        short = np.clip(wanted[new] - now, 0.0, None)
        short[np.arange(len(new)), new] = 0.0
        if float(short.max()) < 1e-4:
            break
        positions[new] += 0.5 * ((short / np.maximum(now, _SMALL))[:, :, None] * gap).sum(axis=1)
    return positions, shaded
