"""The layout of the map before texts were laid out by their neighbours, to compare with: topics as discs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from coterie.map.landmarks import signed as _signed
from coterie.map.layout import _distances, _plane, _sunflower

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_PUSHES, _FILLED, _WIDER, _SMALL = 200, 0.40, 1.25, 1e-9


def former_layout(centers: Array, shares: Array, vectors: Array, topics: Ints, memberships: Array) -> Array:
    """Where texts lay: at the mean of the discs of their topics, off that by what they differ from the centres."""
    radii = np.sqrt(_FILLED * shares / np.pi)
    positions = _apart(_plane(_distances(centers)), radii)
    sharp = memberships**2
    sharp[sharp <= 1e-3 * sharp.sum(axis=1, keepdims=True)] = 0.0
    sharp /= np.maximum(sharp.sum(axis=1, keepdims=True), 1e-300)
    at = sharp @ positions
    for topic, (radius, center) in enumerate(zip(radii, centers, strict=True)):
        at += sharp[:, topic, None] * radius * _in_disc(vectors @ _axes(vectors[topics == topic], center))
    return np.asarray(at)


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
