"""Spherical k-means: clustering by the cosine between a row and the centre of its cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse

from coterie.engines import Block, Engine, MemoryEngine
from coterie.engines.memory import rows as rows_of
from coterie.engines.threads import one_blas_thread
from coterie.linalg.rows import inverse_lengths

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rows = Any  # a csr_matrix or a dense array: SciPy comes without types

#: Cosines that differ from 1 by less are 1, in double and in single precision: rounding must not separate
#: two parallel rows.
_SAME, _SAME_SINGLE = 1e-12, 1e-6
#: Objectives that differ by less are equal.
_EQUAL = 1e-9
#: A tolerance below the first is used only for the best few starts at the second.
_FINE, _ROUGHLY, _FINALISTS = 1e-4, 3e-4, 3
#: A block with more than this share of non-zero entries is processed as a dense array.
_DENSE = 0.25
#: Rows of a dense block. Fixed, so that sums have one order on any number of threads.
_DENSE_ROWS = 4096
#: Numbers in one product of rows and centres: small enough to stay in the cache of a core.
_PRODUCT = 1 << 18
#: Most numbers in the distances and centres of restarts processed together (128 MiB).
_TOGETHER = 1 << 24


@dataclass(frozen=True)
class SphericalClusters:
    """The result of `spherical_kmeans`.

    `centers` has a row of unit length for each cluster, or of zeros for an empty one.
    `objective` is the mean cosine between texts and their centres after each sweep; it never falls.
    """

    centers: Array
    objective: list[float]
    n_iter: int


@dataclass
class _Run:
    """One restart: its centres as columns (terms × clusters) and its objective after each sweep."""

    random: np.random.RandomState
    centers: Array
    objective: list[float] = field(default_factory=list)
    finished: bool = False


def spherical_kmeans(
    documents: Engine,
    n_clusters: int,
    random: np.random.RandomState,
    *,
    n_init: int = 1,
    max_iter: int = 100,
    tol: float = 1e-4,
    seeds: Sequence[int] | None = None,
) -> SphericalClusters:
    """Find unit vectors with the largest mean cosine to the rows nearest to them.

    1. Start with greedy k-means++: a row becomes a centre with a probability that grows with its weight
       times its cosine distance from the centres chosen so far; of a few rows drawn, the best stays.
    2. Sweep: each row goes to its nearest centre, each centre becomes the normalised sum of its unit
       rows. A centre without rows starts again from the row farthest from any centre.
    3. Stop when a sweep adds less than `tol` of the objective; a tolerance below 1e-4 is used only for the
       three starts that are best at 3e-4. The best of `n_init` starts wins, the first of equals.

    A sweep is one pass over the documents, and restarts share it; the start takes three passes a centre.
    Rows need not have unit length, and a row of zeros is ignored. With fewer distinct rows than
    clusters the spare centres are zero. Blocks may be dense arrays instead of sparse matrices.

    >>> from coterie.engines import as_engine
    >>> rows = np.array([[3.0, 0, 0], [2, 0, 0], [0, 1, 1], [0, 2, 2]])
    >>> clusters = spherical_kmeans(as_engine(rows), 2, np.random.RandomState(0))
    >>> np.sort(clusters.centers.round(2), axis=0)
    array([[0.  , 0.  , 0.  ],
           [1.  , 0.71, 0.71]])
    >>> round(clusters.objective[-1], 6)
    1.0
    """
    drawn = draw_seeds(random, n_init) if seeds is None else seeds
    documents = _dense_in_blocks(documents)
    weights = np.concatenate(list(documents.map(lambda block: _rows_and_lengths(block)[1])))
    if not weights.any():  # all rows are zero
        return SphericalClusters(np.zeros((n_clusters, documents.n_terms)), [0.0], 0)
    together = max(1, _TOGETHER // max(len(weights), n_clusters * documents.n_terms))
    best = _Run(random, np.zeros((documents.n_terms, n_clusters)), [-np.inf])
    # threads process separate blocks: more threads inside a product would only compete for cores
    with one_blas_thread():
        for first in range(0, n_init, together):
            states = [np.random.RandomState(seed) for seed in drawn[first : first + together]]
            runs = [_Run(state, np.zeros_like(best.centers)) for state in states]
            _seed(documents, runs, weights)
            total = float(weights.sum())
            _settle(documents, runs, total, max_iter, tol if tol >= _FINE else _ROUGHLY)
            if tol < _FINE:
                runs = _finalists(runs)
                _settle(documents, runs, total, max_iter, tol)
            best = reduce(_better, runs, best)
    return SphericalClusters(np.ascontiguousarray(best.centers.T), best.objective, len(best.objective))


def draw_seeds(random: np.random.RandomState, n_init: int) -> list[int]:
    """The seeds of so many starts, for a caller who runs them in several calls."""
    return [int(seed) for seed in random.randint(np.iinfo(np.int32).max, size=n_init)]


def _better(best: _Run, run: _Run) -> _Run:
    """The run that reached more; the first of two that differ by rounding, on any cut into blocks."""
    return run if run.objective[-1] > best.objective[-1] + _EQUAL else best


def _finalists(runs: list[_Run]) -> list[_Run]:
    """The runs that reached most, in the order they started; the first of those that differ by rounding."""
    ranked = sorted(range(len(runs)), key=lambda r: (-round(runs[r].objective[-1] / _EQUAL), r))
    return [runs[r] for r in sorted(ranked[:_FINALISTS])]


def _dense_in_blocks(documents: Engine) -> Engine:
    """Rows in memory that have few zeros as dense blocks, small enough for threads to share the work."""
    if not isinstance(documents, MemoryEngine) or any(_sparse(block.X) for block in documents.blocks):
        return documents
    blocks = []
    for block in documents.blocks:
        rows = np.ascontiguousarray(_dense(block.X))
        for a in range(0, max(len(rows), 1), _DENSE_ROWS):
            some = slice(a, a + _DENSE_ROWS)
            blocks.append(Block(rows[some], block.weights[some], block.start + a))
    return MemoryEngine(blocks, documents.threads)


def _sparse(rows: Rows) -> bool:
    return issparse(rows) and rows.nnz <= _DENSE * rows.shape[0] * rows.shape[1]


def _seed(documents: Engine, runs: list[_Run], weights: Array) -> None:
    """Greedy k-means++ for all runs together: every run holds one number a row, its weighted distance."""
    n_clusters = runs[0].centers.shape[1]
    left = np.tile(weights, (len(runs), 1))
    for k in range(n_clusters):
        n_drawn = 1 if k == 0 else 2 + int(np.log(n_clusters))
        drawn = np.stack([_draw(run.random, some, n_drawn) for run, some in zip(runs, left, strict=True)])
        candidates = _take(documents, drawn)
        better = documents.sum(partial(_sum_left, left=left, candidates=candidates)).argmin(axis=1)
        chosen = candidates[:, np.arange(len(runs)), better]
        for run, center in zip(runs, chosen.T, strict=True):
            run.centers[:, k] = center
        if k + 1 < n_clusters:
            left = np.hstack(list(documents.map(partial(_next_left, left=left, chosen=chosen))))


def _draw(random: np.random.RandomState, shares: Array, n_drawn: int) -> Ints:
    """Rows drawn with probabilities in proportion to `shares`."""
    running = np.cumsum(shares)
    drawn = np.searchsorted(running, random.uniform(size=n_drawn) * running[-1], side="right")
    return np.minimum(drawn, np.searchsorted(running, running[-1]))


def _take(documents: Engine, numbers: Ints) -> Array:
    """The rows of these numbers at unit length: terms × the shape of `numbers`."""

    def inside(block: Block) -> Array:
        local = numbers.ravel() - block.start
        here = (local >= 0) & (local < block.X.shape[0])
        taken = np.zeros((documents.n_terms, len(local)))
        if here.any():
            some = block.X[local[here]]
            taken[:, here] = (_dense(some) * inverse_lengths(some)[:, None]).T
        return taken

    return documents.sum(inside).reshape(documents.n_terms, *numbers.shape)


def _sum_left(block: Block, left: Array, candidates: Array) -> Array:
    """What each candidate would leave of the distances of each run, summed over rows."""
    nothing = np.zeros(candidates.shape[1:])
    return sum((remaining.sum(axis=0) for remaining in _left(block, left, candidates)), nothing)


def _next_left(block: Block, left: Array, chosen: Array) -> Array:
    """The distances that the chosen centres leave: runs × rows."""
    parts = [remaining[:, :, 0].T for remaining in _left(block, left, chosen[:, :, None])]
    return np.hstack(parts) if parts else left[:, :0]


def _left(block: Block, left: Array, candidates: Array) -> Iterator[Array]:
    """Weighted distances with one centre more, a few rows at a time: rows × runs × candidates."""
    rows, weights, inverse = _rows_and_lengths(block)
    before = left[:, block.start : block.start + len(weights)].T[:, :, None]
    # w·(1 − cos), so that the distance between parallel rows is 0 despite rounding
    slope, offset = (-weights * inverse)[:, None, None], (weights * (1.0 - _same(rows)))[:, None, None]
    for some, dots in _products(rows, candidates):
        np.multiply(dots, slope[some], out=dots)
        np.add(dots, offset[some], out=dots)
        np.maximum(dots, 0.0, out=dots)
        yield np.minimum(dots, before[some], out=dots)


def _settle(documents: Engine, runs: list[_Run], total: float, max_iter: int, tol: float) -> None:
    """Sweep until each run has settled; one that has is left out of the next sweeps."""
    for run in runs:
        run.finished = False
    for _ in range(max_iter):
        active = [run for run in runs if not run.finished]
        if not active:
            break
        sums, mass = documents.sum(partial(_sweep, centers=np.stack([run.centers for run in active], axis=1)))
        length = np.sqrt(np.einsum("mrk,mrk->rk", sums, sums))
        # no row is nearest (to a second centre of parallel rows, say), or the rows cancel out
        length[length <= _SAME * mass] = 0.0
        sums /= np.where(length > 0, length, np.inf)
        for r, run in enumerate(active):
            run.centers = sums[:, r]
            reached = float(length[r].sum() / total)
            before = run.objective[-1] if run.objective else -np.inf
            run.objective.append(max(reached, before))  # a decrease is only rounding
            refilled = _refill(documents, run)
            run.finished = not refilled and reached - before <= tol * reached
            if run.finished:
                run.centers = run.centers.copy()  # a view would keep the centres of all runs in memory


def _sweep(block: Block, centers: Array) -> tuple[Array, Array]:
    """Sums of the unit rows nearest to each centre (terms × runs × clusters), and their weights."""
    rows, weights, inverse = _rows_and_lengths(block)
    n_runs, n_clusters = centers.shape[1:]
    nearest = np.empty((len(weights), n_runs), dtype=np.int64)
    for some, dots in _products(rows, centers):
        np.argmax(dots, axis=2, out=nearest[some])
    mass = [np.bincount(nearest[:, r], weights, n_clusters) for r in range(n_runs)]
    return _sums(rows, nearest, weights * inverse, n_clusters), np.stack(mass)


def _sums(rows: Rows, labels: Ints, scale: Array, n_clusters: int) -> Array:
    """``Σ scale_i · row_i`` over the rows of each cluster of each run: terms × runs × clusters."""
    n_rows, n_terms = rows.shape
    n_runs = labels.shape[1]
    sums = np.zeros((n_terms, n_runs, n_clusters))
    if issparse(rows):
        n_entries = np.diff(rows.indptr)
        values = rows.data * np.repeat(scale, n_entries)
        first = rows.indices.astype(np.int64) * n_clusters
        for r in range(n_runs):
            cell = first + np.repeat(labels[:, r], n_entries)
            sums[:, r] = np.bincount(cell, values, n_terms * n_clusters).reshape(n_terms, n_clusters)
        return sums
    cluster = labels + np.arange(n_runs) * n_clusters
    for some in _pieces(n_rows, n_runs * n_clusters):
        here = rows[some]
        indptr = np.arange(len(here) + 1) * n_runs
        values = np.repeat(scale[some], n_runs)
        member = csr_matrix((values, cluster[some].ravel(), indptr), shape=(len(here), n_runs * n_clusters))
        sums += (member.T @ here).T.reshape(sums.shape)
    return sums


def _refill(documents: Engine, run: _Run) -> bool:
    """Set each centre that is zero to the row farthest from all others, if there is one."""
    empty = np.flatnonzero(~run.centers.any(axis=0))
    for k in empty:
        candidates = documents.map(partial(_farthest, centers=run.centers))
        cosine, row = min(candidates, key=lambda pair: pair[0])
        if cosine >= 1.0 - _same(row):
            return bool(k > empty[0])
        run.centers[:, k] = row
    return len(empty) > 0


def _farthest(block: Block, centers: Array) -> tuple[float, Array]:
    """The row of a block that is farthest from all centres, at unit length, with its largest cosine."""
    rows, weights, inverse = _rows_and_lengths(block)
    cosine = np.full(len(weights), np.inf)
    for some, dots in _products(rows, centers[:, centers.any(axis=0)]):
        largest = dots.max(axis=1, initial=-np.inf)
        np.multiply(largest, inverse[some], where=weights[some] > 0, out=cosine[some])
    if not (cosine < np.inf).any():
        return np.inf, np.zeros(rows.shape[1])
    farthest = int(np.argmin(cosine))
    return float(cosine[farthest]), _dense(rows[farthest : farthest + 1])[0] * inverse[farthest]


def _rows_and_lengths(block: Block) -> tuple[Rows, Array, Any]:
    """Rows in the form that is faster to multiply, weights (0 for a row of zeros), and 1 / lengths."""
    rows = block.X if _sparse(block.X) else _dense(block.X)
    inverse = inverse_lengths(rows)
    return rows, np.where(inverse > 0, block.weights, 0.0), inverse


def _same(rows: Rows) -> float:
    return _SAME_SINGLE if rows.dtype == np.float32 else _SAME


def _dense(rows: Rows) -> Array:
    dense: Array = rows.toarray() if issparse(rows) else rows
    return dense


def _products(rows: Rows, columns: Array) -> Iterator[tuple[slice, Array]]:
    """``rows @ columns``, a few rows at a time; `columns` has terms along its first axis."""
    # rows in single precision are worked on in single precision
    flat = columns.reshape(len(columns), -1)
    if rows.dtype == np.float32:
        flat = flat.astype(np.float32)
    for some in _pieces(rows.shape[0], flat.shape[1]):
        here = rows_of(rows, some.start, some.stop) if issparse(rows) else rows[some]
        with np.errstate(invalid="ignore"):  # a BLAS may raise the flag for numbers that lie beside the rows
            product = here @ flat
        yield some, product.reshape(here.shape[0], *columns.shape[1:])


def _pieces(n_rows: int, width: int) -> Iterator[slice]:
    step = max(256, _PRODUCT // max(width, 1))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))
