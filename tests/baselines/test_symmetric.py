"""Symmetric NMF against its formulas over the full similarities, and against the contract of all estimators."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import SymmetricNMF
from coterie.baselines import symmetric as kernels
from coterie.engines import Block, MemoryEngine, as_engine
from coterie.errors import InputError
from coterie.metrics import ari, nmi, purity
from matrices import count_matrices, with_weights

WEIGHTS = ["idf", "ncut", "binary", None]
REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks(
    [SymmetricNMF(max_iter=20), SymmetricNMF(weights=None, max_iter=20)],
    expected_failed_checks=lambda _: REFUSED,
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


# the formulas over documents × documents, one number at a time, rows written out as often as they occur


def dense_unit(X, weights):
    held = (X > 0).astype(float)
    if weights == "idf":
        df = held.sum(axis=0)
        Y = X * np.log(len(X) / np.where(df > 0, df, len(X)))
    elif weights == "ncut":
        degree = (held.T @ held).sum(axis=1)
        w = np.array([d**-0.5 if d else 0.0 for d in degree])
        Y = held * w / max(w.max(), 1e-300)
    else:
        Y = X if weights is None else held
    return np.array([y / np.linalg.norm(y) if y.any() else y for y in Y])


def dense_round(S, H):
    """Coordinate descent of each row on ‖S_i − Hh‖², then the best step towards where it ends."""
    goal = H.copy()
    for i in range(len(H)):
        for k in range(H.shape[1]):
            length = H[:, k] @ H[:, k]
            if length > 0:
                rest = S[i] - sum(H[:, j] * goal[i, j] for j in range(H.shape[1]) if j != k)
                goal[i, k] = max(H[:, k] @ rest / length, 0)
    D = goal - H
    # S − (H + tD)(H + tD)ᵀ = E + tF + t²G
    E, F, G = S - H @ H.T, -(H @ D.T + D @ H.T), -D @ D.T
    quartic = [(G * G).sum(), 2 * (F * G).sum(), (F * F).sum() + 2 * (E * G).sum(), 2 * (E * F).sum(), 0]
    roots = np.roots(np.polyder(quartic)).real
    steps = [0.0, 1.0, *(t for t in roots if 0 < t < 1)]
    return H + min(steps, key=lambda t: np.polyval(quartic, t)) * D


def dense_start(Z, distinct, chosen):
    """The similarity to what was chosen, at the best scale."""
    H = distinct @ chosen
    square = sum((Z.T @ H).ravel() ** 2) / (sum((H.T @ H).ravel() ** 2) or 1)
    return H * np.sqrt(square)


@settings(max_examples=50)
@given(with_weights(count_matrices()), st.sampled_from(WEIGHTS), st.integers(1, 4))
def test_fitting_is_the_formula_written_out(case, weights, n_topics):
    X, times = case
    engine = MemoryEngine(in_blocks(X, 3, times.astype(float)), threads=1)
    model = SymmetricNMF(n_topics, weights=weights, max_iter=4, tol=0, random_state=0).fit(engine)

    Z = dense_unit(np.repeat(X, times, axis=0), weights)
    first = np.cumsum(times) - times  # of each row's copies
    rows = MemoryEngine(in_blocks(Z[first], 3, times.astype(float)), threads=1)
    chosen = kernels.starting_topics(rows, n_topics, np.random.RandomState(0))
    S, H = Z @ Z.T, dense_start(Z, Z, chosen)
    for value in model.objective_:
        H = dense_round(S, H)
        error = ((S - H @ H.T) ** 2).sum()
        np.testing.assert_allclose(value + (S**2).sum(), error, rtol=1e-8, atol=1e-8 * (S**2).sum())
    np.testing.assert_allclose(model.gram_, H.T @ H, rtol=1e-8, atol=1e-8)
    sums = model.components_ * model.topic_weights_[:, None]
    np.testing.assert_allclose(sums, H.T @ Z, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.topic_weights_, H.sum(axis=0), rtol=1e-8, atol=1e-8)


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_memberships_are_non_negative_least_squares(seed, n_topics):
    rng = np.random.default_rng(seed)
    H = rng.random((12, n_topics)) + np.eye(12, n_topics)
    s = rng.normal(size=(4, 12))
    found = kernels.nonnegative(H.T @ s.T, H.T @ H)
    np.testing.assert_allclose(found.T, [nnls(H, row)[0] for row in s], rtol=1e-7, atol=1e-8)


def test_transform_gives_back_what_was_fitted():
    X, _ = planted()
    model = SymmetricNMF(3, max_iter=3000, tol=0, random_state=0).fit(X)
    H = model.transform(X)
    np.testing.assert_allclose(H.T @ H, model.gram_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(H.sum(axis=0), model.topic_weights_, rtol=1e-5)


@settings(max_examples=30)
@given(with_weights(count_matrices()), st.sampled_from(WEIGHTS), st.integers(1, 9))
def test_the_objective_never_rises_and_all_numbers_are_finite(case, weights, n_topics):
    X, times = case
    model = SymmetricNMF(n_topics, weights=weights, max_iter=60, tol=0, random_state=1)
    H = model.fit(X, sample_weight=times).transform(X)
    assert (np.diff(model.objective_) <= 1e-12 * times.sum() ** 2).all()
    assert (H >= 0).all()
    for numbers in (H, model.components_, model.gram_, model.objective_):
        assert np.isfinite(numbers).all()


def test_it_ends_below_the_rules_of_the_papers():
    X, _ = planted(2)
    model = SymmetricNMF(4, max_iter=300, tol=0, random_state=0).fit(as_engine(X))
    Z = dense_unit(X, "idf")
    S = Z @ Z.T
    start = kernels.starting_topics(as_engine(Z), 4, np.random.RandomState(0))
    clip = multiply = dense_start(Z, Z, start)
    lowest = np.inf
    for _ in range(300):
        clip = np.maximum(S @ clip @ np.linalg.pinv(clip.T @ clip), 0)
        multiply = multiply * (0.5 + 0.5 * (S @ multiply) / (multiply @ (multiply.T @ multiply)))
        lowest = min(lowest, ((S - clip @ clip.T) ** 2).sum())
    reached = model.objective_[-1] + (S**2).sum()
    assert reached <= lowest * (1 + 1e-9)
    assert reached <= ((S - multiply @ multiply.T) ** 2).sum() * (1 + 1e-9)


def test_planted_groups_are_found_from_any_start():
    X, group = planted()
    for seed in range(10):
        assert ari(group, SymmetricNMF(3, random_state=seed).fit(X).labels_) > 0.85


def test_groups_without_a_common_term_are_found_from_any_start():
    X = np.kron(np.eye(3), np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]))
    for seed in range(10):
        labels = SymmetricNMF(3, random_state=seed).fit(X).labels_
        assert ari(np.repeat([0, 1, 2], 4), labels) == 1


def test_topics_are_means_of_their_members():
    X = np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 3, 4], [0, 0, 3, 4]])
    model = SymmetricNMF(2, weights=None, max_iter=1000, tol=0, random_state=0).fit(X)
    expected = np.array([[0.5**0.5, 0.5**0.5, 0, 0], [0, 0, 0.6, 0.8]])
    np.testing.assert_allclose(model.components_[model.labels_[[0, 2]]], expected, atol=1e-7)
    np.testing.assert_allclose(model.transform(X).max(axis=1), 1, rtol=1e-7)


def test_blocks_must_know_where_they_start():
    X, _ = planted()
    engine = MemoryEngine([Block(csr_matrix(X), np.ones(60)), Block(csr_matrix(X), np.ones(60))])
    with pytest.raises(InputError, match="X must have blocks that start one after another, got 0, not 60"):
        SymmetricNMF(3).fit(engine)


def test_one_topic_is_the_leading_eigenvector():
    X, _ = planted()
    model = SymmetricNMF(1, weights=None, max_iter=500, tol=0, random_state=0).fit(X)
    Z = dense_unit(X, None)
    values, vectors = np.linalg.eigh(Z @ Z.T)
    h = np.abs(vectors[:, -1]) * np.sqrt(values[-1])
    np.testing.assert_allclose(model.transform(X)[:, 0], h, rtol=1e-6)


def test_titles(dataset):
    from coterie import Vectorizer

    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    found = [SymmetricNMF(9, random_state=seed).fit(X).labels_ for seed in range(3)]
    scores = [np.mean([score(titles.labels, labels) for labels in found]) for score in (purity, nmi, ari)]
    assert (np.array(scores) >= (0.40, 0.21, 0.10)).all(), scores
