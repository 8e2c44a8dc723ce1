"""Anchor words: co-occurrence, anchors and mixtures against formulas written out; topics that are known."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import AnchorWords
from coterie.baselines import anchors as kernels
from coterie.engines import Block
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import planted

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([AnchorWords()], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


@settings(max_examples=30)
@given(with_weights(count_matrices(max_rows=5, max_terms=4)))
def test_pairs_are_two_different_places_of_a_text(case):
    X, copies = case
    expected = np.zeros((X.shape[1], X.shape[1]))
    for row, n in zip(X, copies, strict=True):
        words = np.repeat(np.arange(len(row)), row.astype(int))
        pairs = list(permutations(words, 2))
        for i, j in pairs:
            expected[i, j] += n / len(pairs)
    found = kernels.pair_probabilities(Block(csr_matrix(X), copies.astype(float), 0))
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


def literal_anchors(rows, n_anchors):
    """Distances to the span by least squares, anew for every anchor."""
    found = []
    for _ in range(n_anchors):
        span = rows[found].T
        left = [np.linalg.norm(row - span @ np.linalg.lstsq(span, row, rcond=None)[0]) for row in rows]
        found.append(int(np.argmax(left)))
    return found


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 5))
def test_anchors_are_farthest_from_the_span_of_those_before(seed, n_anchors):
    rows = np.random.default_rng(seed).dirichlet(np.full(6, 0.3), 12)
    found = kernels.find_anchors(csr_matrix(rows), np.ones(12, dtype=bool), n_anchors)
    assert found.tolist() == literal_anchors(rows, n_anchors)


def test_there_are_no_more_anchors_than_the_rows_span_and_none_that_is_not_allowed():
    rows = csr_matrix(np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0.2, 0.8, 0], [0, 1.0, 0]]))
    every = np.ones(4, dtype=bool)
    assert sorted(kernels.find_anchors(rows, every, 4).tolist()) == [0, 3]
    assert 0 not in kernels.find_anchors(rows, np.array([False, True, True, True]), 4)


def test_candidates_are_frequent_or_the_most_frequent():
    df = np.array([12.0, 3.0, 30.0, 0.0, 9.0])
    assert kernels.candidates(df, 10, 2).tolist() == [True, False, True, False, False]
    assert kernels.candidates(df, 10, 3).tolist() == [True, False, True, False, True]
    assert kernels.candidates(df, 10, 9).tolist() == [True, True, True, False, True]


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 5))
def test_mixtures_are_the_best_of_the_simplex(seed, n_anchors):
    rng = np.random.default_rng(seed)
    anchors, rows = rng.dirichlet(np.full(8, 0.3), n_anchors), rng.dirichlet(np.full(8, 0.3), 4)
    found = kernels.simplex_mixtures(rows @ anchors.T, anchors @ anchors.T)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found >= 0).all()
    for row, mixture in zip(rows, found, strict=True):
        best = minimize(
            lambda c, row=row: np.sum((row - c @ anchors) ** 2),
            np.full(n_anchors, 1 / n_anchors),
            bounds=[(0, 1)] * n_anchors,
            constraints={"type": "eq", "fun": lambda c: c.sum() - 1},
            tol=1e-12,
        )
        assert np.sum((row - mixture @ anchors) ** 2) <= best.fun + 1e-6


def test_topics_with_anchors_are_recovered():
    """Texts drawn from topics that each have a word of their own: φ comes back, and the anchors are such words."""
    rng = np.random.default_rng(0)
    own, n_terms = 2, 30
    topics = np.zeros((3, n_terms))
    for k in range(3):
        topics[k, k * own : (k + 1) * own] = 0.15
        topics[k, 6:] = 0.7 * rng.dirichlet(np.full(n_terms - 6, 0.3))
    X = np.array(
        [rng.multinomial(12, rng.dirichlet(np.full(3, 0.2)) @ topics) for _ in range(6000)], dtype=float
    )
    model = AnchorWords(3).fit(X)
    assert sorted((model.anchors_ // own).tolist()) == [0, 1, 2]
    recovered = model.components_[np.argsort(model.anchors_ // own)]
    assert np.abs(recovered - topics).sum(axis=1).max() < 0.25


def test_planted_topics_are_found_and_nothing_is_random():
    X, truth = planted(400, 4)
    one, two = (AnchorWords(4, random_state=seed).fit(X) for seed in (0, 1))
    assert nmi(truth, one.labels_) > 0.8
    np.testing.assert_array_equal(one.components_, two.components_)
    shuffled = np.random.default_rng(0).permutation(X.shape[1])
    again = AnchorWords(4).fit(X[:, shuffled])
    np.testing.assert_array_equal(shuffled[again.anchors_], one.anchors_)
