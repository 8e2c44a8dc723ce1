"""A shuffled matrix is put back, duplicates fold, and nothing is lost on the way."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import coo_matrix, csr_matrix, random

from coterie.linalg import canonical as module
from coterie.linalg.canonical import canonical
from matrices import count_matrices, with_weights


def shuffled(X, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    return X[rows][:, columns], rows, columns


def linked():
    """Two parts that look the same, each with two kinds of columns: naming one must name what hangs on it."""
    part = np.array([[1, 1, 0], [1, 0, 2]])
    return np.block([[part, np.zeros_like(part)], [np.zeros_like(part), part]]).astype(float)


def ring(n):
    """Every column looks like every other; only the way around tells them apart."""
    return np.eye(n) + np.roll(np.eye(n), 1, axis=1)


@pytest.mark.slow
@settings(max_examples=300)
@given(count_matrices(), st.integers(0, 1000))
@example(linked(), 1)
@example(np.eye(5), 2)
@example(1 - np.eye(6), 3)
@example(ring(7), 4)
@example(np.zeros((3, 4)), 5)
def test_a_shuffled_matrix_is_put_back(X, seed):
    other, _, _ = shuffled(X, seed)
    one, two = canonical(csr_matrix(X)), canonical(csr_matrix(other))
    np.testing.assert_array_equal(one.X.toarray(), two.X.toarray())
    np.testing.assert_array_equal(one.weights, two.weights)


@given(count_matrices(), st.integers(0, 1000))
@example(linked(), 1)
@example(np.eye(5), 2)
def test_the_order_of_rows_changes_no_column(X, seed):
    rows = np.random.default_rng(seed).permutation(len(X))
    one, two = canonical(csr_matrix(X)), canonical(csr_matrix(X[rows]))
    np.testing.assert_array_equal(one.columns, two.columns)
    np.testing.assert_array_equal(one.rows[rows], two.rows)


@given(with_weights(count_matrices()))
def test_weights_are_copies(drawn):
    X, weights = drawn
    one = canonical(csr_matrix(X), weights.astype(float))
    two = canonical(csr_matrix(np.repeat(X, weights, axis=0)))
    np.testing.assert_array_equal(one.X.toarray(), two.X.toarray())
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.columns, two.columns)
    np.testing.assert_array_equal(np.repeat(one.rows, weights), two.rows)


@given(count_matrices())
def test_the_way_back(X):
    found = canonical(csr_matrix(X))
    np.testing.assert_array_equal(found.X.toarray()[found.rows][:, np.argsort(found.columns)], X)
    np.testing.assert_array_equal(found.weights, np.bincount(found.rows))
    assert len(np.unique(X, axis=0)) == found.X.shape[0]


@given(hnp.arrays(np.float64, 6, elements=st.floats(0.01, 10)), st.integers(0, 1000))
def test_weights_that_are_fractions_add_up_in_one_order(weights, seed):
    X = np.array([[1.0, 2], [1, 2], [1, 2], [0, 3], [0, 3], [4, 0]])
    rows = np.random.default_rng(seed).permutation(6)
    one, two = canonical(csr_matrix(X), weights), canonical(csr_matrix(X[rows]), weights[rows])
    np.testing.assert_array_equal(one.weights, two.weights)  # to the last bit
    np.testing.assert_array_equal(one.X.toarray(), two.X.toarray())


def test_rows_that_only_share_a_key_stay_apart(monkeypatch):
    monkeypatch.setattr(module, "_pieces", lambda ends, keys: np.zeros(len(ends) - 1, dtype=np.uint64))
    X = np.array([[1.0, 2], [3, 4], [1, 2], [1, 2]])
    found = canonical(csr_matrix(X))
    np.testing.assert_array_equal(found.X.toarray()[found.rows][:, np.argsort(found.columns)], X)


def test_weights_tell_rows_apart():
    X = np.eye(2)
    one = canonical(csr_matrix(X), np.array([1.0, 5.0]))
    two = canonical(csr_matrix(X), np.array([5.0, 1.0]))
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.X.toarray(), two.X.toarray())


def test_how_a_matrix_is_stored_does_not_matter():
    entries = ([1.0, 1.0, 2.0, 0.0], ([0, 0, 1, 1], [1, 1, 0, 1]))
    twice = csr_matrix((2, 2))
    twice.data, twice.indices, twice.indptr = (
        np.array([1.0, 1.0, 2.0, 0.0]),
        np.array([1, 1, 0, 1], dtype=np.int32),
        np.array([0, 2, 4], dtype=np.int32),
    )
    plain = canonical(csr_matrix([[0.0, 2.0], [2.0, 0.0]]))
    for X in (coo_matrix(entries, shape=(2, 2)).tocsr(), twice):
        before = X.data.copy()
        found = canonical(X)
        np.testing.assert_array_equal(found.X.toarray(), plain.X.toarray())
        np.testing.assert_array_equal(X.data, before)  # the caller's matrix is left alone


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (3, 0), (0, 3)])
def test_thin_matrices(shape):
    found = canonical(csr_matrix(np.zeros(shape)))
    assert found.X.shape == (min(shape[0], 1), shape[1])
    assert sorted(found.columns) == list(range(shape[1]))
    assert found.rows.shape == (shape[0],)


def test_a_large_matrix_is_put_back():
    X = random(2000, 300, 0.02, format="csr", rng=np.random.default_rng(0))
    X.data = np.ceil(X.data * 2)
    other, _, _ = shuffled(X, 1)
    one, two = canonical(X), canonical(other)
    assert (one.X != two.X).nnz == 0
    np.testing.assert_array_equal(one.weights, two.weights)
