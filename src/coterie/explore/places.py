"""Points of the map: which lie in a view or a lasso, thinned by a priority that never changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Box = tuple[float, float, float, float]
Corner = tuple[float, float]


class Points:
    """Texts as points, in the order of their priority: the first of any selection are a fair sample of it."""

    def __init__(self, at: Floats, place: npt.NDArray[np.uint16], confidence: Floats):
        there = np.flatnonzero(np.isfinite(at).all(axis=1))
        order = there[np.argsort(priority(there), kind="stable")]
        self.rows = order.astype(np.uint32)
        self.x, self.y = (np.ascontiguousarray(at[order, axis], dtype=np.float32) for axis in (0, 1))
        self.place = place[order]
        self.sure = np.round(np.clip(confidence[order], 0.0, 1.0) * 255).astype(np.uint8)

    def __len__(self) -> int:
        return len(self.rows)

    def packed(self, box: Box | None, limit: int, mask: Bools | None = None) -> bytes:
        """The first points of a view as bytes, and how many are in it and in all; `mask` is by row."""
        chosen = None if mask is None else mask[self.rows]
        inside = chosen
        if box is not None:
            x0, y0, x1, y1 = box
            inside = (self.x >= x0) & (self.x <= x1)
            inside &= (self.y >= y0) & (self.y <= y1)
            if chosen is not None:
                inside &= chosen
        everyone = len(self) if chosen is None else int(chosen.sum())
        shown = np.arange(min(limit, len(self))) if inside is None else np.flatnonzero(inside)
        in_view = everyone if inside is None else len(shown)
        shown = shown[:limit]
        head = np.array([len(shown), in_view, everyone, 0], dtype="<u4")
        parts = (
            head,
            self.x[shown].astype("<f4"),
            self.y[shown].astype("<f4"),
            self.rows[shown].astype("<u4"),
            self.place[shown].astype("<u2"),
            self.sure[shown],
        )
        return b"".join(part.tobytes() for part in parts)


def priority(rows: Ints) -> npt.NDArray[np.uint64]:
    """A number for each row that looks random and depends on nothing else (splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def in_polygon(at: Floats, corners: Sequence[Corner]) -> Bools:
    """Which points lie inside a polygon; where it crosses itself, those it goes around once, or thrice.

    >>> in_polygon(np.array([[0.5, 0.5], [2.0, 0.5]], np.float32), [(0, 0), (1, 0), (1, 1), (0, 1)]).tolist()
    [True, False]
    """
    found = np.zeros(len(at), dtype=bool)
    if len(corners) < 3:
        return found
    polygon = np.asarray(corners, dtype=np.float64)
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    with np.errstate(invalid="ignore"):
        near = np.flatnonzero(((at >= low) & (at <= high)).all(axis=1))
    x, y = at[near, 0].astype(np.float64), at[near, 1].astype(np.float64)
    inside = np.zeros(len(near), dtype=bool)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        if ay == by:
            continue
        crossed = (y >= min(ay, by)) & (y < max(ay, by))  # a corner belongs to one of its sides
        inside ^= crossed & (x < ax + (y - ay) * ((bx - ax) / (by - ay)))
    found[near] = inside
    return found
