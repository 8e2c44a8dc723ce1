"""SeaNMF: its steps and its objective against dense formulas, and that the objective never rises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import semantics
from coterie.baselines import SeaNMF
from coterie.baselines import seanmf as kernels
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import planted

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([SeaNMF(max_iter=20)], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


def small(seed, n_texts=7, n_terms=6, n_topics=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n_texts, n_terms)).astype(float)
    M = np.triu(rng.uniform(size=(n_terms, n_terms)), 1)
    return X, M + M.T, *(rng.uniform(size=(n, n_topics)) for n in (n_texts, n_terms, n_terms))


def loss(X, M, H, W, C, alpha):
    return np.sum((X - H @ W.T) ** 2) + alpha * np.sum((M - W @ C.T) ** 2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.0, 0.3, 2.0])
def test_the_step_of_terms_is_the_formula_written_out(seed, alpha):
    X, M, H, W, C = small(seed)
    found, contexts, sums = kernels.update_terms(W, C, csr_matrix(M), kernels.Texts(X.T @ H, H.T @ H), alpha)
    before = loss(X, M, H, W, C, alpha)
    W, C = W.copy(), C.copy()
    for k in range(C.shape[1]):
        w = W[:, k]
        C[:, k] = np.maximum(C[:, k] + (M @ w - C @ (W.T @ w)) / (w @ w), 0)
    np.testing.assert_allclose(contexts, C, rtol=1e-9, atol=1e-12)
    for k in range(W.shape[1]):
        h, c = H[:, k], C[:, k]
        pull = X.T @ h + alpha * M @ c - W @ (H.T @ h + alpha * C.T @ c)
        W[:, k] = np.maximum(W[:, k] + pull / (h @ h + alpha * c @ c), 0)
    np.testing.assert_allclose(found, W, rtol=1e-9, atol=1e-12)
    norms = np.sum(X**2), np.sum(M**2)
    after = kernels.objective(found, kernels.Texts(X.T @ H, H.T @ H), sums, norms, alpha)
    assert after == pytest.approx(loss(X, M, H, W, C, alpha))
    assert after < before


@settings(max_examples=30)
@given(with_weights(count_matrices()), st.integers(1, 4), st.sampled_from([0.0, 0.1, 1.0, 10.0]))
def test_the_objective_never_rises(case, n_topics, alpha):
    X, copies = case
    model = SeaNMF(n_topics, alpha=alpha, tol=0.0, max_iter=30, random_state=0).fit(X, sample_weight=copies)
    objective = np.array(model.objective_)
    assert (np.diff(objective) <= 1e-9 * (1 + objective[0])).all()


def test_the_objective_is_that_of_the_fitted_factors():
    X, _ = planted(80, 3)
    model = SeaNMF(3, alpha=0.5, max_iter=400, tol=0.0, random_state=0).fit(X)
    M = semantics.ppmi(semantics.cooccurrence(X)).toarray()
    # H is not kept, but at rest it is the best one for W, as `transform` finds it
    H, W, C = model.transform(X), model.components_.T, model.contexts_.T
    assert loss(X.toarray(), M, H, W, C, 0.5) == pytest.approx(model.objective_[-1], rel=1e-3)
    np.testing.assert_allclose(np.linalg.norm(W, axis=0), 1.0)


def test_planted_topics_are_found_and_the_seed_decides():
    X, truth = planted(300, 4)
    models = [SeaNMF(4, random_state=seed).fit(X) for seed in (0, 0, 1)]
    assert all(nmi(truth, model.labels_) > 0.9 for model in models)
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
    assert (models[0].components_ != models[2].components_).any()


def test_cooccurrence_counts_as_alpha_says():
    X, _ = planted(100, 3)
    M = semantics.ppmi(semantics.cooccurrence(X)).toarray()
    models = [SeaNMF(3, alpha=alpha, random_state=0).fit(X) for alpha in (0.01, 100.0)]
    misses = [np.sum((M - model.components_.T @ model.contexts_) ** 2) for model in models]
    assert misses[1] < misses[0]
