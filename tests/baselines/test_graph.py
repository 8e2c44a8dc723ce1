from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import GraphNMF, graph
from coterie.baselines.graph import neighbour_graph, roughness, update_smooth
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
    [GraphNMF(n_topics=3, weights=None, max_iter=30), GraphNMF(max_iter=20)],
    expected_failed_checks=lambda _: REFUSED,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def ratio(above, below):
    return np.vectorize(lambda a, b: a / b if b > 0 else 0.0)(above, below)


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, length, where=length > 0, out=np.zeros_like(X))


def literal_links(Y, times, p, edges):
    """Links as the docstring tells them: every pair looked at, none left to a sort."""
    n = len(Y)
    cosine = (csr_matrix(Y) @ csr_matrix(Y).T).toarray()
    chosen = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            before = [o for o in range(n) if o not in (i, j) and (cosine[i, o], -o) > (cosine[i, j], -j)]
            if i != j and cosine[i, j] > 0 and len(before) < p:
                chosen[i, j] = times[i] * (cosine[i, j] if edges == "cosine" else 1.0)
    return np.maximum(chosen, chosen.T)


@given(with_weights(count_matrices(max_rows=12)), st.integers(1, 4), st.sampled_from(["cosine", "binary"]))
def test_links_are_those_of_all_pairs(data, p, edges):
    X, times = data
    found = neighbour_graph(csr_matrix(unit(X)), times.astype(float), p, edges)
    np.testing.assert_allclose(found.toarray(), literal_links(unit(X), times, p, edges), rtol=1e-12)


def test_links_do_not_depend_on_how_many_rows_are_compared_at_a_time(monkeypatch):
    X = csr_matrix(unit(np.random.default_rng(0).poisson(0.3, (40, 12)).astype(float)))
    whole = neighbour_graph(X, np.ones(40), 3)
    monkeypatch.setattr(graph, "_PAIRS", 7 * 40)
    strips = neighbour_graph(X, np.ones(40), 3)
    np.testing.assert_array_equal(whole.toarray(), strips.toarray())
    assert (whole != whole.T).nnz == 0
    assert (whole.getnnz(axis=1) >= 3).sum() > 20


@st.composite
def problems(draw):
    X, times = draw(with_weights(count_matrices()))
    k, seed = draw(st.integers(1, 3)), draw(st.integers(0, 999))
    rng = np.random.default_rng(seed)
    A = np.triu(rng.random((len(X), len(X))) * (rng.random((len(X), len(X))) < 0.6), 1)
    V, U = rng.uniform(0.1, 1, (len(X), k)), rng.uniform(0.1, 1, (X.shape[1], k))
    return X, times.astype(float), A + A.T, V, U, draw(st.sampled_from([0.0, 0.1, 1.0, 100.0]))


@given(problems())
def test_the_update_is_the_published_one_and_never_raises_the_objective(problem):
    X, times, A, V, U, strength = problem
    moved = update_smooth(V, X @ U, U.T @ U, csr_matrix(A), times, strength)
    T, D = np.diag(times), np.diag(A.sum(axis=1))
    expected = V * ratio(T @ X @ U + strength * A @ V, T @ V @ U.T @ U + strength * D @ V)
    np.testing.assert_allclose(moved, expected, rtol=1e-8, atol=1e-8)
    assert roughness(V, csr_matrix(A)) == pytest.approx(np.trace(V.T @ (D - A) @ V), abs=1e-9)
    root = np.sqrt(T)

    def objective(V):
        return np.linalg.norm(root @ (X - V @ U.T)) ** 2 + strength * np.trace(V.T @ (D - A) @ V)

    assert objective(moved) <= objective(V) * (1 + 1e-12) + 1e-12


@pytest.mark.slow
@given(
    with_weights(count_matrices(max_rows=10)),
    st.integers(1, 3),
    st.sampled_from([0.0, 1.0, 100.0]),
    st.sampled_from(["cosine", "binary"]),
)
@settings(max_examples=50)
def test_the_estimator_is_the_literal_algorithm(data, k, strength, edges):
    X, times = data
    options = {"weights": None, "regularization": strength, "edges": edges, "n_neighbors": 2}
    model = GraphNMF(k, random_state=0, max_iter=6, tol=0, **options).fit(X, sample_weight=times)
    order = canonical(csr_matrix(X), times.astype(float))
    Y, root = unit(order.X.toarray()), np.sqrt(order.weights)[:, None]
    A = literal_links(Y, order.weights, 2, edges)
    D = np.diag(A.sum(axis=1))
    U = spherical_kmeans(as_engine(Y, order.weights), k, np.random.RandomState(0)).centers.T
    V, U = np.eye(k)[(Y @ U).argmax(axis=1)] + 0.2, U + 0.2 * U.mean()
    V, U = V * np.linalg.norm(U, axis=0), unit(U.T).T
    T, objective = np.diag(order.weights), []
    for _ in range(model.n_iter_):
        V = V * ratio(T @ Y @ U + strength * A @ V, T @ V @ U.T @ U + strength * D @ V)
        U = U * ratio(Y.T @ T @ V, U @ V.T @ T @ V)
        objective.append(np.linalg.norm(root * (Y - V @ U.T)) ** 2 + strength * np.trace(V.T @ (D - A) @ V))
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        model.components_, unit(U.T)[:, np.argsort(order.columns)], rtol=1e-8, atol=1e-8
    )
    scaled = V / np.maximum(np.linalg.norm(root * V, axis=0), 1e-300)
    first, second = np.sort(np.hstack([scaled, np.zeros((len(V), 1))]), axis=1)[:, [-1, -2]].T
    clear = (first > second + 1e-6)[order.rows]
    np.testing.assert_array_equal(model.labels_[clear], scaled.argmax(axis=1)[order.rows][clear])
    assert all(after <= before + 1e-12 * (1 + times.sum()) for before, after in pairwise(model.objective_))


def noisy(seed=0):
    rng = np.random.default_rng(seed)
    label = np.repeat([0, 1], 30)
    return rng.poisson(np.where(np.repeat(np.eye(2), 15, axis=1)[label] > 0, 0.5, 0.2)).astype(float)


def test_neighbours_decide_for_fitted_texts_and_not_for_new_ones():
    X = noisy()
    weak, strong = (GraphNMF(2, regularization=r, random_state=0).fit(X) for r in (0.0, 10.0))
    np.testing.assert_array_equal(weak.labels_, weak.predict(X))
    np.testing.assert_array_equal(strong.labels_, strong.fit_predict(X))
    assert (strong.labels_ != strong.predict(X)).any()
    # what is said of a text does not depend on the others that are asked about
    np.testing.assert_array_equal(strong.predict(X)[::7], strong.predict(X[::7]))


def test_linked_texts_agree_more_under_a_stronger_penalty():
    X = noisy()
    links = neighbour_graph(csr_matrix(unit(X)), np.ones(len(X)), 5).toarray()
    apart = []
    for strength in (0.0, 10.0):
        labels = GraphNMF(4, weights=None, regularization=strength, random_state=0).fit(X).labels_
        apart.append(links[labels[:, None] != labels].sum())
    assert apart[1] < 0.9 * apart[0]


@pytest.mark.slow
def test_titles(dataset):
    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    model = GraphNMF(20, random_state=1).fit(X)
    assert nmi(titles.labels, model.labels_) > 0.38
    assert (np.diff(model.objective_) <= 0).all()
