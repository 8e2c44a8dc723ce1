import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls
from scipy.sparse import csr_matrix

from coterie.engines import as_engine
from coterie.factor import steps
from coterie.linalg import svd
from matrices import count_matrices


def problem(seed, n=6, m=7, k=3):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) * (rng.random((n, m)) < 0.5)
    return Y, rng.random((m, k)), rng.random((n, k))


seeds = st.integers(0, 10_000)


@given(seeds, st.sampled_from([0.0, 0.1, 1.0]))
def test_clipped_is_the_formula(seed, l2):
    Y, U, _ = problem(seed)
    expected = np.maximum(Y @ U @ np.linalg.inv(U.T @ U + l2 * np.eye(3)), 0)
    np.testing.assert_allclose(steps.clipped(Y @ U, U.T @ U, l2), expected, atol=1e-8)


def test_clipped_of_a_singular_gram_is_finite():
    U = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    V = steps.clipped(np.array([[1.0, 2.0]]) @ U, U.T @ U, 0.0)
    np.testing.assert_allclose(V @ U.T, [[1.0, 2.0]])


def literal_sweep(V, Y, U, l2):
    """HALS one entry at a time."""
    V = V.copy()
    H = U.T @ U + l2 * np.eye(U.shape[1])
    for i in range(V.shape[0]):
        for k in range(V.shape[1]):
            gradient = V[i] @ H[:, k] - Y[i] @ U[:, k]
            V[i, k] = max(V[i, k] - gradient / H[k, k], 0)
    return V


@given(seeds, st.sampled_from([0.0, 0.5]), st.integers(1, 3), st.sampled_from([3, 20]))
def test_descend_equals_one_entry_at_a_time(seed, l2, sweeps, k):
    Y, U, V = problem(seed, m=25, k=k)
    expected = V
    for _ in range(sweeps):
        expected = literal_sweep(expected, Y, U, l2)
    np.testing.assert_allclose(steps.descend(V, Y @ U, U.T @ U, l2, sweeps), expected, atol=1e-8)


@pytest.mark.slow
@given(seeds)
def test_solve_finds_the_least_squares(seed):
    Y, U, _ = problem(seed)
    V = steps.solve(Y @ U, U.T @ U, 0.0, most=5000, tolerance=1e-10)
    for y, v in zip(Y, V, strict=True):
        np.testing.assert_allclose(v, nnls(U, y)[0], atol=1e-5)


@pytest.mark.slow
@settings(max_examples=30)
@given(seeds)
def test_a_row_is_solved_alone_as_in_a_batch(seed):
    Y, U, _ = problem(seed, n=3)
    for solve in (
        lambda rows: steps.solve(rows @ U, U.T @ U, 0.1),
        lambda rows: steps.newton(csr_matrix(rows), U),
        lambda rows: steps.infer_divergence(csr_matrix(rows), U, 0.1),
    ):
        together = solve(Y)
        for i in range(len(Y)):
            np.testing.assert_allclose(solve(Y[i : i + 1])[0], together[i], atol=1e-9)


def divergence(Y, V, U):
    P = V @ U.T
    held = Y > 0
    return float((Y[held] * np.log(Y[held] / P[held])).sum() - Y.sum() + P.sum())


@given(seeds)
def test_newton_sweep_is_the_formula(seed):
    Y, U, V = problem(seed)
    Y = Y[Y.any(axis=1)]
    V = expected = V[: len(Y)] + 0.5
    expected = expected.copy()
    for k in range(3):
        for i in range(len(Y)):
            product = U @ expected[i]
            g = sum(U[j, k] * (1 - Y[i, j] / product[j]) for j in range(len(U)))
            h = sum(Y[i, j] * U[j, k] ** 2 / product[j] ** 2 for j in range(len(U)))
            before = expected[i, k]
            expected[i, k] = max(before - g / h, 0) if h > 0 else before
            left = (U @ expected[i])[Y[i] > 0]
            if (left <= 1e-12).any():  # where a word would be left without any topic: nine tenths of the way
                expected[i, k] = 0.1 * before
    np.testing.assert_allclose(steps.newton_sweep(csr_matrix(Y), V, U, U.sum(axis=0)), expected, atol=1e-8)


@pytest.mark.slow
@settings(max_examples=20)
@given(seeds)
def test_newton_and_multiplying_find_the_same_minimum(seed):
    Y, U, _ = problem(seed)
    Y = Y[Y.any(axis=1)]
    one = steps.newton(csr_matrix(Y), U, sweeps=500)
    other = steps.infer_divergence(csr_matrix(Y), U, 0.0, most=3_000, tolerance=1e-10)
    assert divergence(Y, one, U) == pytest.approx(divergence(Y, other, U), abs=1e-5)


def test_newton_agrees_with_a_general_optimiser():
    Y, U, _ = problem(3)
    for i, y in enumerate(Y):
        found = minimize(
            lambda v, y=y: divergence(y[None], np.maximum(v, 1e-12)[None], U), np.full(3, 0.3),
            bounds=[(1e-12, None)] * 3, tol=1e-12,
        )  # fmt: skip
        ours = steps.newton(csr_matrix(Y), U)[i]
        assert divergence(y[None], ours[None], U) <= found.fun + 1e-6


@pytest.mark.slow
@given(count_matrices(), seeds)
def test_inference_is_finite_for_any_counts(X, seed):
    rng = np.random.default_rng(seed)
    U = rng.random((X.shape[1], 3)) * (rng.random((X.shape[1], 3)) < 0.4)
    for V in (
        steps.newton(csr_matrix(X), U),
        steps.infer_divergence(csr_matrix(X), U, 0.5),
        steps.solve(X @ U, U.T @ U, 0.0),
    ):
        assert np.isfinite(V).all()
        assert (V >= 0).all()


def literal_multiplied(V, Y, U, l2):
    pull = (Y / (V @ U.T)) @ U
    cost = U.sum(axis=0)
    if l2 == 0:
        return V * pull / cost
    return (-cost + np.sqrt(cost**2 + 8 * l2 * V * pull)) / (4 * l2)


@given(seeds, st.sampled_from([0.0, 0.3]))
def test_multiplied_is_the_formula_and_never_raises_the_divergence(seed, l2):
    Y, U, V = problem(seed)
    V = V + 0.1
    moved = steps.multiplied(V, steps.ratios(csr_matrix(Y), V, U)[0] @ U, U.sum(axis=0), l2)
    np.testing.assert_allclose(moved, literal_multiplied(V, Y, U, l2), atol=1e-8)
    before, after = (divergence(Y, F, U) + l2 * (F**2).sum() for F in (V, np.maximum(moved, 1e-300)))
    assert after <= before + 1e-9


@given(count_matrices(max_rows=12), st.integers(1, 4))
def test_singular_vectors_are_those_of_a_dense_decomposition(X, rank):
    vectors, values = svd.term_vectors(as_engine(csr_matrix(X)), rank)
    expected = np.zeros(rank)
    dense = np.linalg.svd(X, compute_uv=False)[:rank]
    expected[: len(dense)] = dense
    np.testing.assert_allclose(values, expected, atol=1e-5)
    # the projection onto the leading directions keeps their share of the matrix
    kept = np.linalg.norm(X @ vectors) ** 2
    assert kept == pytest.approx((expected**2).sum(), abs=1e-5)


@given(count_matrices(), st.integers(1, 5))
def test_the_start_is_not_negative_and_the_same_each_time(X, rank):
    one, other = (svd.nonnegative_start(as_engine(csr_matrix(X)), rank) for _ in range(2))
    assert (one >= 0).all()
    np.testing.assert_array_equal(one, other)


def test_settled():
    assert not steps.settled([], 10, 1e-4)
    assert not steps.settled([5.0], 10, 1e-4)
    assert steps.settled([5.0, 4.9999], 10, 1e-4)
    assert not steps.settled([5.0, 4.0], 10, 1e-4)
    assert steps.settled([5.0, 4.0], 2, 1e-4)
    assert not steps.settled([5.0, 4.0, 4.5], 10, 1e-4, patience=2)
    assert steps.settled([5.0, 4.0, 4.5, 4.5], 10, 1e-4, patience=2)
