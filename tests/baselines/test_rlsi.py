"""RLSI against its formulas written out, and against the contract of all estimators."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import weights as term_weights
from coterie.baselines import RLSI
from coterie.baselines import rlsi as kernels
from coterie.engines import Block, MemoryEngine, as_engine
from coterie.metrics import ari, nmi, purity
from matrices import count_matrices, with_weights

WEIGHTS = ["idf", "ncut", "binary", None]
REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks(
    [RLSI(max_iter=20), RLSI(weights=None, max_iter=20)], expected_failed_checks=lambda _: REFUSED
)
def test_scikit_learn(estimator, check):
    check(estimator)


def planted(seed=0, n_rows=60, n_groups=3, terms_each=6):
    """Counts of texts of five words, nine of ten words from the text's own group of terms; the groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(n_groups, size=n_rows)
    X = np.zeros((n_rows, n_groups * terms_each))
    for row, own in enumerate(group):
        for _ in range(5):
            from_group = own if rng.random() < 0.9 else rng.integers(n_groups)
            X[row, from_group * terms_each + rng.integers(terms_each)] += 1
    return X, group


def in_blocks(X, size=7, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    cuts = [*range(0, len(X), size), len(X)]
    blocks = [Block(csr_matrix(X[a:b]), weights[a:b], a) for a, b in pairwise(cuts) if a < b]
    return [blocks[0], Block(csr_matrix((0, X.shape[1])), np.ones(0), blocks[0].X.shape[0]), *blocks[1:]]


# the formulas, one number at a time, over rows written out as often as they occur


def dense_weights(X, weights):
    held = (X > 0).astype(float)
    if weights == "idf":
        df = held.sum(axis=0)
        return X * np.log(len(X) / np.where(df > 0, df, len(X)))
    if weights == "ncut":
        degree = (held.T @ held).sum(axis=1)
        w = np.array([d**-0.5 if d else 0.0 for d in degree])
        return held * w / max(w.max(), 1e-300)
    return X if weights is None else held


def dense_update(Y, U, l1, l2, sweeps):
    K = U.shape[1]
    V = np.array([np.linalg.inv(U.T @ U + l2 * np.eye(K)) @ U.T @ y for y in Y])
    U = U.copy()
    for m in range(Y.shape[1]):
        for _ in range(sweeps):
            for k in range(K):
                rest = Y[:, m] - sum(V[:, j] * U[m, j] for j in range(K) if j != k)
                slope, length = V[:, k] @ rest, V[:, k] @ V[:, k]
                U[m, k] = np.sign(slope) * max(abs(slope) - l1 / 2, 0) / length if length > 0 else 0
    objective = ((Y - V @ U.T) ** 2).sum() + l1 * abs(U).sum() + l2 * (V**2).sum()
    return U, objective


@settings(max_examples=50)
@given(
    with_weights(count_matrices()),
    st.sampled_from(WEIGHTS),
    st.sampled_from([0.0, 0.03, 0.5]),
    st.sampled_from([0.01, 0.3, 2.0]),
    st.integers(1, 4),
)
def test_fitting_is_the_formula_written_out(case, weights, l1, l2, n_topics):
    X, times = case
    engine = MemoryEngine(in_blocks(X, 3, times.astype(float)), threads=1)
    model = RLSI(n_topics, weights=weights, l1=l1, l2=l2, max_iter=4, tol=0, random_state=0).fit(engine)

    Y = dense_weights(np.repeat(X, times, axis=0), weights)
    scale = np.sqrt((Y**2).sum() / len(Y)) or 1.0
    per_term, _ = kernels.unit_weights(engine, weights)
    rows = term_weights.weighted_rows(engine, per_term, weights)
    U = kernels.starting_topics(rows, n_topics, np.random.RandomState(0))
    expected = []
    for _ in range(model.n_iter_):
        U, objective = dense_update(Y / scale, U, l1, l2, kernels.SWEEPS)
        expected.append(objective)
    np.testing.assert_allclose(model.objective_, expected, rtol=1e-8, atol=1e-8)
    close = {"rtol": 1e-8, "atol": 1e-8 * max(1.0, abs(U).max())}
    np.testing.assert_allclose(np.abs(model.components_), np.abs(U.T), **close)
    U = model.components_.T  # signs: those of a topic and of its memberships turn together
    V = dense_weights_alone(X, Y, np.repeat(X, times, axis=0), weights) / scale
    V = V @ U @ np.linalg.inv(U.T @ U + l2 * np.eye(n_topics))
    np.testing.assert_allclose(model.transform(X), V, **close)


def dense_weights_alone(X, Y, unfolded, weights):
    """The weighted form of each distinct row, looked up among the rows written out."""
    return np.array([Y[np.flatnonzero((unfolded == row).all(axis=1))[0]] for row in X])


@settings(max_examples=30)
@given(with_weights(count_matrices()), st.sampled_from(WEIGHTS), st.integers(1, 9))
def test_the_objective_never_rises_and_all_numbers_are_finite(case, weights, n_topics):
    X, times = case
    for l1 in (0.0, 0.3):
        model = RLSI(n_topics, weights=weights, l1=l1, max_iter=30, tol=0, random_state=1)
        V = model.fit(X, sample_weight=times).transform(X)
        assert (np.diff(model.objective_) <= 1e-10 * times.sum()).all()
        for numbers in (V, model.components_, model.projection_, model.objective_):
            assert np.isfinite(numbers).all()


def test_soft_thresholding_makes_topics_sparse():
    X, _ = planted()
    zeros = [(RLSI(3, l1=l1, random_state=0).fit(X).components_ == 0).mean() for l1 in (0.0, 0.3, 3.0)]
    assert zeros[0] < 0.1 < zeros[1] < zeros[2]


def test_planted_groups_are_found_from_any_start():
    X, group = planted()
    for seed in range(10):
        assert ari(group, RLSI(3, random_state=seed).fit(X).labels_) > 0.85


def test_groups_without_a_common_term_are_found_from_any_start():
    X = np.kron(np.eye(3), np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]))
    for seed in range(10):
        labels = RLSI(3, random_state=seed).fit(X).labels_
        assert ari(np.repeat([0, 1, 2], 4), labels) == 1


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_scale_of_the_matrix_does_not_matter(weights):
    X, _ = planted()
    one, other = (RLSI(3, weights=weights, random_state=0).fit(as_engine(c * X)) for c in (1, 64))
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.transform(X), other.transform(64 * X), rtol=1e-9, atol=1e-12)


def test_a_topic_sums_to_more_than_zero():
    X, _ = planted(1)
    assert (RLSI(6, random_state=2).fit(X).components_.sum(axis=1) >= 0).all()


def test_terms_that_every_text_holds_have_no_idf():
    model = RLSI(3, random_state=0).fit([[1, 1]] * 4)
    assert not model.components_.any()
    assert model.labels_.tolist() == [0] * 4


def test_a_topic_pressed_to_nothing_takes_no_document():
    X, _ = planted()
    model = RLSI(12, l1=3.0, l2=0.3, random_state=0).fit(X)
    used = model.components_.any(axis=1)
    assert 0 < used.sum() < 12
    assert used[model.labels_].all()
    # a document whose memberships in all other topics are negative
    lone = np.argmax(used)
    model.components_[np.arange(12) != lone] = 0
    model.projection_[:] = 0
    model.projection_[lone] = -1
    assert model.predict(X[:3]).tolist() == [lone] * 3


def test_titles(dataset):
    from coterie import Vectorizer

    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    assert X.shape == (2630, 1403)
    for weights, least in (("idf", (0.40, 0.21, 0.10)), ("ncut", (0.55, 0.42, 0.28))):
        found = [RLSI(9, weights=weights, random_state=seed).fit(X).labels_ for seed in range(3)]
        scores = [np.mean([score(titles.labels, labels) for labels in found]) for score in (purity, nmi, ari)]
        assert (np.array(scores) >= least).all(), (weights, scores)
