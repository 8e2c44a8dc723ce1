"""Points on a plane whose neighbours are those that they have among many dimensions.

This is t-SNE (van der Maaten and Hinton, 2008), with the repulsion of all points computed at once as a field
on a grid, by a Fourier transform (Linderman et al., 2019). There is no chance in it: the same points in the
same order give the same plane.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.fft import irfft2, next_fast_len, rfft2
from scipy.sparse import coo_matrix, csr_matrix, triu

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Neighbours that a point is drawn to.
NEIGHBOURS = 30
#: Steps, how much stronger neighbours draw than they would, and momentum: neighbours find each other, groups
#: part, and then each group spreads.
_PHASES = ((50, 12.0, 0.5), (110, 1.4, 0.8), (60, 0.75, 0.8))
#: A cell of the grid; points push each other away over a distance of about 1.
_CELL = 0.5
#: The grid never has more cells to a side.
_MOST_CELLS = 512
#: Columns of which only the largest entry is looked at first.
_GROUP = 4
#: Rows of similarities at a time.
_ROWS = 1_024


def neighbour_graph(vectors: npt.NDArray[np.float32], k: int = NEIGHBOURS) -> csr_matrix:
    """How much points draw each other: each its `k` nearest by cosine, made symmetric; entries sum to 1."""
    n = len(vectors)
    k = min(k, n - 1)
    nearest = np.empty((n, k), dtype=np.int64)
    for start in range(0, n, _ROWS):
        alike = vectors[start : start + _ROWS] @ vectors.T
        alike[np.arange(len(alike)), np.arange(start, start + len(alike))] = -np.inf
        nearest[start : start + _ROWS] = best_columns(alike, k)[0]
    rows = np.repeat(np.arange(n), k)
    graph = coo_matrix((np.full(n * k, 0.5 / (n * k)), (rows, nearest.ravel())), shape=(n, n)).tocsr()
    return (graph + graph.T).tocsr()


def best_columns(alike: npt.NDArray[np.float32], k: int) -> tuple[Ints, npt.NDArray[np.float32]]:
    """The `k` columns with the largest entries of each row, the largest first, and these entries.

    >>> best_columns(np.array([[0.1, 0.7, 0.4]], dtype=np.float32), 2)[0].tolist()
    [[1, 2]]
    """
    some = np.sort(few_columns(alike, k), axis=1)
    values = np.take_along_axis(alike, some, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(some, order, axis=1), np.take_along_axis(values, order, axis=1)


def few_columns(alike: npt.NDArray[np.float32], k: int) -> Ints:
    """The `k` columns with the largest entries of each row, in any order.

    They are in the groups of columns with the largest ones, so only these groups are looked at.
    """
    n_rows, n_columns = alike.shape
    n_groups = n_columns // _GROUP
    if n_groups <= 2 * k:
        return np.tile(np.arange(n_columns), (n_rows, 1))
    most = alike[:, : n_groups * _GROUP].reshape(n_rows, _GROUP, n_groups).max(axis=1)
    groups = np.argpartition(most, n_groups - k, axis=1)[:, n_groups - k :]
    inside = (groups[:, :, None] + n_groups * np.arange(_GROUP)).reshape(n_rows, k * _GROUP)
    rest = np.tile(np.arange(n_groups * _GROUP, n_columns), (n_rows, 1))
    columns = np.concatenate([inside, rest], axis=1)
    found = np.take_along_axis(alike, columns, axis=1)
    best = np.argpartition(found, columns.shape[1] - k, axis=1)[:, columns.shape[1] - k :]
    return np.take_along_axis(columns, best, axis=1)


def unfold(graph: csr_matrix, start: Array) -> Array:
    """Points × 2, near where they start, so that those that draw each other lie together."""
    n = len(start)
    if n < 3:
        return start.copy()
    at = 1e-2 * start / max(float(start.std()), 1e-12)
    pairs = triu(graph, 1, format="csr")
    first = np.repeat(np.arange(n), np.diff(pairs.indptr))
    speed, gains = np.zeros_like(at), np.ones_like(at)
    for steps, stronger, momentum in _PHASES:
        rate = n / stronger
        for _ in range(steps):
            slope = stronger * _attraction(pairs, first, at) - _repulsion(at)
            gains = np.where(slope * speed > 0, np.maximum(gains * 0.8, 0.01), gains + 0.2)
            speed = momentum * speed - 4.0 * rate * gains * slope
            at = at + speed
            at = at - at.mean(axis=0)
    return at


def _attraction(pairs: csr_matrix, first: Ints, at: Array) -> Array:
    """How neighbours draw each point; each pair is there once, and `first` are its rows."""
    gap = at[first] - at[pairs.indices]
    draw = pairs.data / (1.0 + np.einsum("ij,ij->i", gap, gap))
    pull = csr_matrix((draw, pairs.indices, pairs.indptr), pairs.shape)
    own = np.bincount(first, draw, len(at)) + np.bincount(pairs.indices, draw, len(at))
    return np.asarray(own[:, None] * at - pull @ at - pull.T @ at)


def _repulsion(at: Array) -> Array:
    """How the others push each point: minus half the slope of the sum of 1 / (1 + distance²), as shares."""
    low = at.min(axis=0)
    extent = float((at.max(axis=0) - low).max())
    cell = max(_CELL, extent / (_MOST_CELLS - 4))
    cells = int(extent / cell) + 4
    side = next_fast_len(2 * cells, real=True)
    place = (at - low) / cell + 1.0
    corner = np.floor(place).astype(np.int64)
    part = place - corner
    nodes, weights = _four_nodes(corner, part, side)
    charge = np.bincount(nodes.ravel(), weights.ravel(), side * side).reshape(side, side)
    field = irfft2(rfft2(charge) * _kernel(side, cell), (side, side))[: cells + 1, : cells + 1]
    down, across = np.gradient(field, cell)
    inside = nodes // side * (cells + 1) + nodes % side
    read = [(part_.ravel()[inside] * weights).sum(axis=1) for part_ in (field, down, across)]
    total = max(float(read[0].sum()) - len(at), 1e-9)  # a point does not push itself
    return -0.5 * np.column_stack(read[1:]) / total


def _four_nodes(corner: Ints, part: Array, side: int) -> tuple[Ints, Array]:
    """The nodes around each point, and its share of each."""
    first = corner[:, 0] * side + corner[:, 1]
    nodes = np.stack([first, first + 1, first + side, first + side + 1], axis=1)
    up, left = part[:, 0], part[:, 1]
    shares = [(1 - up) * (1 - left), (1 - up) * left, up * (1 - left), up * left]
    return nodes, np.stack(shares, axis=1)


@lru_cache(maxsize=2)  # most steps have the grid of the step before
def _kernel(side: int, cell: float) -> npt.NDArray[np.complex128]:
    away = np.minimum(np.arange(side), side - np.arange(side)) * cell
    kernel: npt.NDArray[np.complex128] = rfft2(1.0 / (1.0 + away[:, None] ** 2 + away[None, :] ** 2))
    kernel.setflags(write=False)
    return kernel
