"""Landmarks: some texts laid out by their neighbours, and a formula that puts any other text among them.

A text that is placed later moves no other one, and lies where it would lie alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines.threads import one_blas_thread
from coterie.map.unfold import few_columns, neighbour_graph, unfold

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int16]

#: Texts that are laid out by their neighbours.
MOST = 4_000
#: Landmarks that say where a text lies, and those that are looked at to find them.
_NEAREST, _CANDIDATES = 15, 24
#: The distance over which landmarks agree, as a part of the map.
_REACH = 0.015
#: A text may lie off its landmarks by the way to this one of them, and by no more than this part of the map.
_ROOM, _FAR = 4, 0.02
#: Places are rounded before points move: what differs by less must not grow.
_DIGITS = 6
#: Rows placed at a time.
_ROWS = 2_048
#: A vector of unit length in whole numbers.
_ONE = 32_767
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Landmarks:
    """Vectors of some texts, of unit length and in steps of 1 / 32,767, and where they lie.

    The map is one unit wide and its middle is at (0, 0).
    """

    vectors: Whole
    at: Array

    @classmethod
    def learn(cls, vectors: Array, keys: Keys, start: Array) -> Landmarks:
        """Lay out some of the texts; `keys` choose which, whatever the order of the texts.

        `start` has a rough place for each text; neighbours come from the vectors.
        """
        rounded = _rounded(vectors)
        order = np.lexsort((*rounded.T[:3], keys))
        order = order[np.any(rounded[order] != 0, axis=1)]
        _, first = np.unique(rounded[order], axis=0, return_index=True)
        chosen = order[np.sort(first)[:MOST]]
        with one_blas_thread():
            at = _laid_out(rounded[chosen], start[chosen])
        return cls(rounded[chosen], at)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the map."""
        if not len(self.at):
            return (-0.5, -0.5, 0.5, 0.5)
        (left, top), (right, bottom) = self.at.min(axis=0), self.at.max(axis=0)
        return float(left), float(top), float(right), float(bottom)

    def place(self, vectors: Array) -> Array:
        """Where texts lie: texts × 2; nan for a text whose vector is zero."""
        at = np.full((len(vectors), 2), np.nan)
        known = np.flatnonzero(np.any(vectors != 0, axis=1)) if len(self.at) else np.zeros(0, dtype=np.int64)
        marks = _as_floats(self.vectors)
        for begin in range(0, len(known), _ROWS):
            rows = known[begin : begin + _ROWS]
            at[rows] = self._placed(_rounded(vectors[rows]), marks)
        return at

    def _placed(self, rounded: Whole, marks: Floats) -> Array:
        """A text lies among its nearest landmarks, where most of them are.

        1. The nearest landmarks count by how much nearer they are than the next one.
        2. It starts at the one that has most of the others around it.
        3. It moves to the mean of those around it; landmarks far away hardly count.
        4. It lies off that by what it differs from the first, so that texts do not lie on each other.
        """
        near, close = _nearest(_as_floats(rounded), marks)
        weights = close - close[:, -1:] + 1e-6
        places = self.at[near]
        across, along = places[:, :, 0], places[:, :, 1]
        gaps = (across[:, :, None] - across[:, None]) ** 2 + (along[:, :, None] - along[:, None]) ** 2
        company = (weights[:, None] / (1.0 + gaps / _REACH**2)).sum(axis=2)
        best = np.argmax(np.round(company, 9), axis=1)
        each = np.arange(len(places))
        away = gaps[each, best]
        count = weights / (1.0 + away / _REACH**2)
        at = (count[:, :, None] * places).sum(axis=1) / count.sum(axis=1, keepdims=True)
        room = np.sqrt(np.sort(away, axis=1)[:, min(_ROOM, away.shape[1] - 1)])
        other = _as_floats(rounded) - marks[near[each, best]]
        return at + np.minimum(room, _FAR)[:, None] * _off(other.astype(np.float64))


def text_keys(X: csr_matrix) -> Keys:
    """A number for each row that depends on its terms and counts alone.

    >>> keys = text_keys(csr_matrix([[1, 0, 2], [0, 1, 0], [1, 0, 2]]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    parts = _mixed(X.indices.astype(np.uint64) + np.uint64(1)) * X.data.astype(np.int64).astype(np.uint64)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(parts, dtype=np.uint64)])
    return _mixed(sums[X.indptr[1:]] - sums[X.indptr[:-1]])


def _mixed(keys: Keys) -> Keys:
    """Numbers in which each bit depends on all bits of those given."""
    for shift in (30, 27, 31):
        keys = (keys ^ (keys >> np.uint64(shift))) * _ODD
    return keys ^ (keys >> np.uint64(32))


def _off(differences: Array) -> Array:
    """Differences as steps in a plane, of a length below 2; none for none."""
    length = np.sqrt((differences**2).sum(axis=1, keepdims=True))
    angles = 2.4 * np.arange(differences.shape[1])
    axes = np.sqrt(2.0) * np.column_stack([np.cos(angles), np.sin(angles)])
    steps = np.divide(differences @ axes, length, where=length > 1e-3, out=np.zeros((len(differences), 2)))
    return np.asarray(steps / np.sqrt(1.0 + (steps**2).sum(axis=1, keepdims=True) / 4))


def _rounded(vectors: Array) -> Whole:
    length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    unit = np.divide(vectors, length, where=length > 0, out=np.zeros_like(vectors))
    return np.rint(_ONE * unit).astype(np.int16)


def _as_floats(vectors: Whole) -> Floats:
    return vectors.astype(np.float32) / np.float32(_ONE)


def _laid_out(vectors: Whole, start: Array) -> Array:
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2))
    start = np.round(start + 0.2 * _along(vectors / _ONE), _DIGITS)
    at = upright(unfold(neighbour_graph(_as_floats(vectors)), start))
    at = at - (at.max(axis=0) + at.min(axis=0)) / 2
    return np.round(at / max(float(np.ptp(at, axis=0).max()), 1e-12), _DIGITS)


def _along(vectors: Array) -> Array:
    """Where rows lie along the two directions in which they differ most, of unit spread."""
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    along = np.zeros((len(vectors), 2))
    for column in range(min(2, vectors.shape[1])):
        values = centred @ signed(directions[:, -1 - column])
        along[:, column] = values / max(float(values.std()), 1e-9)
    return along


def signed(vector: Array) -> Array:
    """A vector or its opposite, the one whose largest entry is positive."""
    rounded = np.round(np.abs(vector), 9)
    return vector if vector[int(np.argmax(rounded))] >= 0 else -vector


def upright(points: Array) -> Array:
    """Centred, the widest extent from left to right."""
    points = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(points.T @ points)
    turned = points @ vectors[:, ::-1]
    return np.column_stack([signed(turned[:, 0]), signed(turned[:, 1])])


def _nearest(vectors: Floats, marks: Floats) -> tuple[Ints, Array]:
    """The nearest landmarks of each text and their cosines, one more than count; the nearest first."""
    most = min(_CANDIDATES, len(marks))
    with one_blas_thread():
        found = np.sort(few_columns(vectors @ marks.T, most), axis=1)
    exact = np.einsum("id,ijd->ij", vectors, marks[found], dtype=np.float64)
    order = np.argsort(-np.round(exact, 9), axis=1, kind="stable")[:, : _NEAREST + 1]  # of equals the first
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(exact, order, axis=1)
