"""WC-NMTF: each update against dense formulas, the objective of the factors, and that it never rises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import semantics
from coterie.baselines import WordCooccurrenceNMTF
from coterie.baselines import wcnmtf as kernels
from coterie.engines import Block
from coterie.factor import steps_semantic as steps
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import planted

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([WordCooccurrenceNMTF(max_iter=20)], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


def small(seed, n_texts=7, n_terms=6, n_topics=3):
    rng = np.random.default_rng(seed)
    X, M = rng.uniform(size=(n_texts, n_terms)), rng.uniform(size=(n_terms, n_terms))
    Q = rng.uniform(size=(n_topics, n_topics))
    Z, W = (rng.uniform(size=(n, n_topics)) for n in (n_texts, n_terms))
    return X, M + M.T, Z, rng.uniform(size=(n_topics, n_topics)), W, Q + Q.T


def loss(X, M, Z, S, W, Q):
    return 0.5 * np.sum((X - Z @ S @ W.T) ** 2) + 0.5 * np.sum((M - W @ Q @ W.T) ** 2)


@pytest.mark.parametrize("seed", range(5))
def test_each_step_is_the_formula_written_out_and_lowers_the_objective(seed):
    X, M, Z, S, W, Q = small(seed)
    copies = np.arange(len(X)) % 3 + 1.0
    written = np.repeat(np.arange(len(X)), copies.astype(int))
    terms = steps.TermFactors.of(W, Q, M)
    new, (XtZ, ZtZ) = kernels.move_texts(Block(csr_matrix(X), copies, 0), Z, S, terms)
    np.testing.assert_allclose(new, Z * (X @ W @ S.T) / (Z @ S @ W.T @ W @ S.T))
    values = [loss(X[written], M, rows[written], S, W, Q) for rows in (Z, new)]
    X, Z = X[written], new[written]
    np.testing.assert_allclose(XtZ, X.T @ Z)
    core = kernels.update_topic_core(S, XtZ, ZtZ, terms)
    np.testing.assert_allclose(core, S * (Z.T @ X @ W) / (Z.T @ Z @ S @ W.T @ W))
    values.append(loss(X, M, Z, core, W, Q))
    sums = steps.TextSums(XtZ @ core, core.T @ ZtZ @ core, np.sum(X**2))
    S = core
    gain, cost = X.T @ Z @ S + 2 * M @ W @ Q, W @ (S.T @ Z.T @ Z @ S + 2 * Q @ W.T @ W @ Q)
    np.testing.assert_allclose(steps.update_terms(terms, sums), W * gain / cost)
    moved = steps.descend_terms(terms, sums, M)
    values.append(loss(X, M, Z, S, moved.W, moved.S))
    assert values == sorted(values, reverse=True)
    assert steps.semantic_objective(moved, sums, np.sum(M**2)) == pytest.approx(values[-1])


@settings(max_examples=30)
@given(with_weights(count_matrices()), st.integers(1, 4), st.sampled_from([0.0, 0.1, 1.0, 10.0]))
def test_the_objective_never_rises(case, n_topics, strength):
    X, copies = case
    model = WordCooccurrenceNMTF(
        n_topics, regularization=strength, init="rows", tol=0.0, max_iter=30, random_state=0
    ).fit(X, sample_weight=copies)
    objective = np.array(model.objective_)
    assert (np.diff(objective) <= 1e-9 * (1 + objective[0])).all()


@pytest.mark.parametrize("strength", [0.5, 4.0])
def test_the_objective_weights_cooccurrence(strength):
    X, _ = planted(60, 3)
    model = WordCooccurrenceNMTF(
        3, regularization=strength, weights=None, max_iter=3000, tol=0.0, random_state=0
    )
    model.fit(X)
    M = semantics.ppmi(semantics.cooccurrence(X)).toarray()
    rows = X.toarray() / np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    topics, W = model.topic_core_ @ model.term_clusters_, model.term_clusters_.T
    np.testing.assert_allclose(model.components_, topics)
    Z = np.linalg.lstsq(topics.T, rows.T, rcond=None)[0].T  # not below what any Z ≥ 0 reaches
    miss = 0.5 * strength * np.sum((M - W @ model.semantic_core_ @ W.T) ** 2)
    least = 0.5 * np.sum((rows - Z @ topics) ** 2) + miss
    assert least <= model.objective_[-1] <= 1.05 * least


def test_planted_topics_are_found():
    X, truth = planted(300, 4)
    for init in ("kmeans", "rows"):
        model = WordCooccurrenceNMTF(4, init=init, random_state=0).fit(X)
        assert nmi(truth, model.labels_) > 0.9
