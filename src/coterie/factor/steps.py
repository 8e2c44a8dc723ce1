"""One update each of non-negative factorisation. Arrays in, arrays out.

With one factor fixed, the rows of the other are independent least-squares problems that share their Gram
matrix. So one function serves both halves of an alternation: rows of ``V`` from ``A = YU, G = UᵀU``, rows of
``U`` from ``A = YᵀV, G = VᵀV``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags

Array = npt.NDArray[np.float64]

#: Iterations without progress after which a rule that may go up and down is taken as settled.
PATIENCE = 10
#: Eigenvalues below this share of the largest are taken as zero when a Gram matrix is inverted.
_RANK_TOLERANCE = 1e-12
#: Topics that a sweep of coordinate descent updates between two matrix products.
_TOPICS_TOGETHER = 32
#: Rows that a sweep updates together.
_ROWS_TOGETHER = 4096
#: Rows of a part of `in_parts`.
_ROWS_IN_PART = 1024
#: A product below this share of the largest membership is none: the term is without a topic.
_BARE = 1e-12
#: Entries of the dense product U[terms]·V[texts] that are formed at a time.
_ENTRIES_TOGETHER = 1 << 22


def inverse(gram: Array, l2: float) -> Array:
    """``(G + λI)⁻¹``; where that does not exist, the pseudo-inverse."""
    values, vectors = np.linalg.eigh(gram + l2 * np.asarray(np.eye(len(gram)), like=gram))
    kept = values > _RANK_TOLERANCE * max(values[-1], 0.0)
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T


def clipped(A: Any, gram: Array, l2: float) -> Any:
    """Least squares with negative entries set to zero, ``max(A (G + λI)⁻¹, 0)``."""
    solution = np.asarray(inverse(gram, l2), like=A)
    return in_parts(A, lambda part: np.maximum(part @ solution, 0.0))


def descend(rows: Array, A: Array, gram: Array, l2: float, sweeps: int = 1) -> Array:
    """Coordinate descent (HALS) on ``½ r(G + λI)rᵀ − r·a`` for every row r ≥ 0; never raises it.

    A sweep goes through the topics in order: ``r_k ← max(r_k + (a_k − r·g_k) / g_kk, 0)`` with λ added to
    the diagonal of G. Rows are taken a few thousand at a time, so that they stay in the cache.
    """
    H = gram + l2 * np.eye(len(gram))
    result = np.empty_like(rows)
    for start in range(0, len(rows), _ROWS_TOGETHER):
        some = slice(start, start + _ROWS_TOGETHER)
        R, pull = np.array(rows[some].T, order="C"), np.array(A[some].T, order="C")
        for _ in range(sweeps):
            _sweep(R, pull, H)
        result[some] = R.T
    return result


def _sweep(R: Array, pull: Array, H: Array) -> None:
    """One sweep in place; `R` and `pull` are topics × rows.

    Topics are taken in groups. What the others contribute to a group comes from one matrix product; inside
    the group one topic waits for another.
    """
    for first in range(0, len(H), _TOPICS_TOGETHER):
        group = slice(first, min(first + _TOPICS_TOGETHER, len(H)))
        inside = H[group, group]
        own = R[group]
        others = pull[group] - H[group] @ R + inside @ own if len(inside) < len(H) else pull
        for k in range(len(inside)):
            if inside[k, k] <= 0.0:  # a topic that no row has: it may be anything, so it is nothing
                own[k] = 0.0
                continue
            step = others[k] - inside[k] @ own
            step /= inside[k, k]
            step += own[k]
            np.maximum(step, 0.0, out=own[k])


def solve(A: Array, gram: Array, l2: float, most: int = 12, tolerance: float = 1e-3) -> Array:
    """Non-negative least squares for every row: coordinate descent from the clipped solution.

    A row rests when a sweep moves none of its entries by more than `tolerance` of the largest, or after
    `most` sweeps. It stays as it is then, whatever its neighbours do.
    """
    H, start = gram + l2 * np.eye(len(gram)), inverse(gram, l2)

    def part(A: Array) -> Array:
        pull = np.ascontiguousarray(A.T)
        R = np.maximum(start @ pull, 0.0)
        moving = np.ones(R.shape[1], dtype=bool)
        for _ in range(most):
            before = R.copy()
            _sweep(R, pull, H)
            R[:, ~moving] = before[:, ~moving]
            moving &= np.abs(R - before).max(axis=0, initial=0.0) > tolerance * R.max(axis=0, initial=0.0)
            if not moving.any():
                break
        return R.T

    return in_parts(A, part)


def in_parts(A: Any, function: Callable[[Any], Any]) -> Any:
    """`function` of rows, always as many at a time, padded with zeros.

    Matrix products round differently for different shapes. In parts of one shape a row alone goes through
    the same arithmetic as in a batch and comes out the same, to the last bit. This is not so on a graphics
    card, where all rows are taken at once.
    """
    if not isinstance(A, np.ndarray):
        return function(A)
    solution = np.empty_like(A)
    part = np.zeros((_ROWS_IN_PART, A.shape[1]))
    for start in range(0, len(A), _ROWS_IN_PART):
        here = A[start : start + _ROWS_IN_PART]
        part[: len(here)] = here
        part[len(here) :] = 0.0
        solution[start : start + len(here)] = function(part)[: len(here)]
    return solution


def euclidean_objective(energy: float, U: Array, YtV: Array, VtV: Array, l2: float) -> float:
    """``‖Y − VUᵀ‖² + λ(‖U‖² + ‖V‖²)`` from ``‖Y‖²``, ``YᵀV`` and ``VᵀV``."""
    UtU = U.T @ U
    fit = energy - 2.0 * float(np.einsum("mk,mk->", U, YtV)) + float(np.sum(UtU * VtV))
    return max(fit, 0.0) + l2 * float(np.trace(UtU) + np.trace(VtV))


def settled(objective: list[float], max_iter: int, tol: float, patience: int = 1) -> bool:
    """Whether iterations are used up, or the last few lowered the objective by no more than a share `tol`.

    A rule that may go up and down again needs patience: the best of the last few is compared with the best
    before them.
    """
    if len(objective) >= max_iter:
        return True
    if len(objective) <= patience:
        return False
    before = min(objective[:-patience])
    return before - min(objective[-patience:]) <= tol * abs(before)


def ratios(Y: csr_matrix, V: Array, U: Array) -> tuple[csr_matrix, Array]:
    """``Y / (VUᵀ)`` where Y is not zero, and ``(VUᵀ)`` at those entries."""
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    product = np.empty(Y.nnz)
    together = max(_ENTRIES_TOGETHER // max(U.shape[1], 1), 1)
    for start in range(0, Y.nnz, together):
        some = slice(start, start + together)
        product[some] = np.einsum("ik,ik->i", V[row[some]], U[Y.indices[some]])
    ratio = np.divide(Y.data, product, where=product > 0, out=np.zeros_like(product))
    return csr_matrix((ratio, Y.indices, Y.indptr), shape=Y.shape), product


def multiplied(rows: Array, pull: Array, cost: Array, l2: float) -> Array:
    """One multiplicative step for the I-divergence; never raises it.

    `pull` is ``(Y/(VUᵀ))·U`` and `cost` the column sums of U. Without λ the step is ``r ∘ pull / cost``. With
    λ‖r‖² it is the root of ``2λr² + cost·r − r_old·pull = 0``, written so that nothing cancels.
    """
    target = rows * pull
    below = cost + np.sqrt(cost**2 + 8.0 * l2 * target)
    return np.divide(2.0 * target, below, where=below > 0, out=np.zeros_like(target))


def infer_divergence(Y: csr_matrix, U: Array, l2: float, most: int = 500, tolerance: float = 1e-6) -> Array:
    """Rows of V that minimise the I-divergence with λ, by multiplicative steps from equal memberships.

    Rows that rest are set aside, so what becomes of a row does not depend on its neighbours.
    """
    sums = U.sum(axis=0)
    V = np.outer(np.asarray(Y.sum(axis=1)).ravel(), sums > 0) / max(float(sums.sum()), np.finfo(float).tiny)
    moving = np.flatnonzero(np.diff(Y.indptr))
    for _ in range(most):
        if not len(moving):
            break
        before = V[moving]
        some = Y[moving]
        after = multiplied(before, ratios(some, before, U)[0] @ U, sums, l2)
        V[moving] = after
        change = np.abs(after - before).max(axis=1, initial=0.0)
        moving = moving[change > tolerance * after.max(axis=1, initial=0.0)]
    return V


def newton(Y: csr_matrix, U: Array, sweeps: int = 100, tolerance: float = 1e-7) -> Array:
    """Rows of V that minimise the I-divergence ``D(Y ‖ VUᵀ)``, by Newton's method one coordinate at a time.

    Every row begins with equal memberships that sum up as the row does, and is set aside when it rests, so
    what becomes of a row does not depend on its neighbours. Words that no topic has tell nothing.
    """
    sums = U.sum(axis=0)
    used = (U > 0).any(axis=1).astype(np.float64)
    known = csr_matrix(Y @ diags(used))
    known.eliminate_zeros()
    V = np.zeros((Y.shape[0], U.shape[1]))
    not_empty = np.diff(known.indptr) > 0
    level = np.asarray(known.sum(axis=1)).ravel()[not_empty] / max(float(sums.sum()), np.finfo(float).tiny)
    V[not_empty] = level[:, None] * (sums > 0)
    moving = np.flatnonzero(not_empty)
    for _ in range(sweeps):
        if not len(moving):
            break
        before = V[moving]
        after = newton_sweep(known[moving], before, U, sums)
        V[moving] = after
        change = np.abs(after - before).max(axis=1, initial=0.0)
        moving = moving[change > tolerance * after.max(axis=1, initial=0.0)]
    return V


def newton_sweep(Y: csr_matrix, V: Array, U: Array, sums: Array) -> Array:
    """``v_k ← max(v_k − g/h, 0)`` for each topic in turn, all rows at once.

    ``g = Σ_i u_ik (1 − y_i/(Uv)_i)``, ``h = Σ_i y_i u_ik²/(Uv)_i²``. The sum of ``u_ik`` over all terms is a
    constant of U (`sums`), so a row touches only its own terms; it must have some. Where a step would leave
    one of its terms without any topic, nine tenths of the way are gone instead.
    """
    V = V.copy()
    starts = Y.indptr[:-1]
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    product = ratios(Y, V, U)[1]
    for k in range(U.shape[1]):
        u = U[Y.indices, k]
        pull = u * Y.data / product
        slope = sums[k] - np.add.reduceat(pull, starts)
        curvature = np.add.reduceat(pull * u / product, starts)
        step = np.divide(slope, curvature, where=curvature > 0, out=np.where(slope > 0, np.inf, 0.0))
        moved = np.maximum(V[:, k] - step, 0.0)
        bare = np.minimum.reduceat(product + u * (moved - V[:, k])[row], starts) <= _BARE * V.max(axis=1)
        moved = np.where(bare, 0.1 * V[:, k], moved)
        product += u * (moved - V[:, k])[row]
        V[:, k] = moved
    return V
