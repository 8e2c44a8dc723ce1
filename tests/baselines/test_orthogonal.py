import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import OrthogonalNMF
from coterie.baselines.orthogonal import update_free, update_orthogonal
from coterie.cluster import spherical_kmeans
from coterie.corpus import Vectorizer
from coterie.engines import as_engine
from coterie.linalg.canonical import canonical
from coterie.metrics import nmi
from matrices import count_matrices, with_weights

# what holds for all estimators with multiplicative updates is tested in tests/factor/test_semantic.py
REFUSED = {"check_clustering": "feeds negative numbers, which are refused"}


@pytest.mark.slow
@parametrize_with_checks(
    [OrthogonalNMF(n_topics=3, weights=None, max_iter=30), OrthogonalNMF(max_iter=20)],
    expected_failed_checks=lambda _: REFUSED,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def ratio(above, below):
    return np.vectorize(lambda a, b: a / b if b > 0 else 0.0)(above, below)


def literal(X, Z, W, iterations):
    """Updates on the Stiefel manifold with columns of Z at unit length, dense; what becomes of the objective."""
    history = []
    for iteration in range(iterations + 1):
        if iteration:
            Z = Z * ratio(X @ W, Z @ (W.T @ X.T @ Z))
        length = np.linalg.norm(Z, axis=0)
        Z = np.divide(Z, length, where=length > 0, out=np.zeros_like(Z))
        W = W * length
        if iteration:
            W = W * ratio(X.T @ Z, W @ Z.T @ Z)
            history.append(
                (0.5 * np.linalg.norm(X - Z @ W.T) ** 2, np.linalg.norm(Z.T @ Z - np.diag(np.diag(Z.T @ Z))))
            )
    return W, np.array(history).reshape(-1, 2)


@pytest.mark.slow
@given(with_weights(count_matrices()), st.integers(1, 3), st.integers(0, 999))
def test_updates_are_the_printed_ones_on_unfolded_rows(data, k, seed):
    X, times = data
    rng = np.random.default_rng(seed)
    Z, W = rng.uniform(0.1, 1, (len(X), k)), rng.uniform(0.1, 1, (X.shape[1], k))
    unfolded, Zu = np.repeat(X, times, axis=0), np.repeat(Z, times, axis=0)
    weighted = X * times[:, None]
    moved = update_orthogonal(Z, csr_matrix(X) @ W, W.T @ weighted.T @ Z)
    expected = Zu * ratio(unfolded @ W, Zu @ W.T @ unfolded.T @ Zu)
    np.testing.assert_allclose(np.repeat(moved, times, axis=0), expected, rtol=1e-8, atol=1e-8)
    free = update_free(W, weighted.T @ Z, (Z * times[:, None]).T @ Z)
    np.testing.assert_allclose(free, W * ratio(unfolded.T @ Zu, W @ Zu.T @ Zu), rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@given(with_weights(count_matrices(max_rows=10)), st.integers(1, 3), st.integers(0, 20))
@settings(max_examples=50)
def test_the_estimator_is_the_literal_algorithm(data, k, seed):
    X, times = data
    model = OrthogonalNMF(k, weights=None, random_state=seed, max_iter=6, tol=0).fit(X, sample_weight=times)
    order = canonical(csr_matrix(X), times.astype(float))
    length = np.linalg.norm(order.X.toarray(), axis=1, keepdims=True)
    Y = np.divide(order.X.toarray(), length, where=length > 0, out=np.zeros(order.X.shape))
    centers = spherical_kmeans(as_engine(Y, order.weights), k, np.random.RandomState(seed)).centers
    repeats = order.weights.astype(int)
    Z = np.repeat(np.eye(k)[(Y @ centers.T).argmax(axis=1)] + 0.2, repeats, axis=0)
    W, history = literal(np.repeat(Y, repeats, axis=0), Z, centers.T + 0.2 * centers.mean(), model.n_iter_)
    np.testing.assert_allclose(model.components_, W.T[:, np.argsort(order.columns)], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.objective_, history[:, 0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.orthogonality_, history[:, 1], rtol=1e-8, atol=1e-8)


def test_columns_become_orthogonal_where_they_can():
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1, 2], 20)
    X = rng.random((60, 30)) * (np.repeat(np.eye(3), 10, axis=1)[label])
    X += 0.05 * rng.random(X.shape)
    model = OrthogonalNMF(3, weights=None, random_state=0, max_iter=500, tol=1e-9).fit(X)
    assert model.orthogonality_[-1] < 0.1 * model.orthogonality_[0]
    assert nmi(label, model.labels_) == pytest.approx(1.0)


def test_the_length_of_a_single_column_does_not_swing():
    X = np.random.default_rng(0).random((12, 5))
    one = OrthogonalNMF(1, weights=None, max_iter=30, tol=0, random_state=0).fit(X)
    other = OrthogonalNMF(1, weights=None, max_iter=31, tol=0, random_state=0).fit(X)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-6)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    # Z is the leading left singular vector, so W is σ times the right one
    assert np.linalg.norm(one.components_) == pytest.approx(np.linalg.svd(unit)[1][0])


def test_titles(dataset):
    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    model = OrthogonalNMF(20, random_state=0).fit(X)
    assert nmi(titles.labels, model.labels_) > 0.34
    assert model.orthogonality_[-1] < model.orthogonality_[0]
    assert model.objective_[-1] == min(model.objective_)
