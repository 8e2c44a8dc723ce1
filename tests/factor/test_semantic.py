from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract import same_topics
from coterie import SemanticNMF, SphericalKMeans, semantics, weights
from coterie.baselines import GraphNMF, OrthogonalNMF
from coterie.cluster import spherical_kmeans
from coterie.corpus import Vectorizer
from coterie.corpus.sequences import Sequences
from coterie.engines import Block, MemoryEngine, as_engine
from coterie.errors import InputError
from coterie.factor import steps_semantic as steps
from coterie.linalg.canonical import canonical
from coterie.metrics import nmi
from matrices import count_matrices, with_weights

REFUSED = {"check_clustering": "feeds negative numbers, which are refused"}


@pytest.mark.slow
@parametrize_with_checks(
    [SemanticNMF(n_topics=3, weights=None, max_iter=30), SemanticNMF(max_iter=20)],
    expected_failed_checks=lambda _: REFUSED,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# --- the formulas, dense, as printed -------------------------------------------------------------------------


def ratio(above, below):
    return np.vectorize(lambda a, b: a / b if b > 0 else 0.0)(above, below)


def literal_z(X, Z, W):
    return Z * ratio(X @ W, Z @ W.T @ W)


def literal_w(X, M, Z, W, S):
    return W * ratio(X.T @ Z + 2 * M @ W @ S, W @ (2 * S @ W.T @ W @ S + Z.T @ Z))


def literal_s(M, W, S):
    return S * ratio(W.T @ M @ W, W.T @ W @ S @ W.T @ W)


def literal_objective(X, M, Z, W, S):
    return 0.5 * np.linalg.norm(X - Z @ W.T) ** 2 + 0.5 * np.linalg.norm(M - W @ S @ W.T) ** 2


def literal_idf_rows(X):
    df = (X > 0).sum(axis=0)
    Y = X * np.array([np.log(len(X) / d) if d else 0.0 for d in df])
    length = np.linalg.norm(Y, axis=1)
    return np.array([y / n if n else y for y, n in zip(Y, length, strict=True)])


def literal_sppmi(X, negatives):
    B = (X > 0).astype(float)
    C = B.T @ B - np.diag(B.sum(axis=0))
    M = np.zeros_like(C)
    for i, j in np.argwhere(C):
        M[i, j] = max(np.log(C[i, j] * C.sum() / (C[i].sum() * C[:, j].sum())) - np.log(negatives), 0)
    return M


@st.composite
def problems(draw):
    """X with weights of rows, symmetric M, and a positive start."""
    X, times = draw(with_weights(count_matrices(max_rows=7, max_terms=6)))
    k, seed = draw(st.integers(1, 4)), draw(st.integers(0, 999))
    pull = draw(st.sampled_from([0.0, 0.3, 3.0]))
    rng = np.random.default_rng(seed)
    A = pull * rng.random((X.shape[1], X.shape[1])) * (rng.random((X.shape[1], X.shape[1])) < 0.5)
    Z, W, S = (rng.uniform(0.1, 1, (n, k)) for n in (len(X), X.shape[1], k))
    return X, times, A + A.T, Z, W, S + S.T


def sums_of(X, times, Z):
    block = Block(csr_matrix(X), times.astype(float))
    return steps.TextSums(*steps.text_sums(block, Z), steps.squared_norm(block))


@pytest.mark.slow
@given(problems())
def test_updates_are_the_printed_ones_on_unfolded_rows(problem):
    X, times, M, Z, W, S = problem
    unfolded, Zu, Wu, Su = np.repeat(X, times, axis=0), np.repeat(Z, times, axis=0), W, S
    for _ in range(6):
        Z = steps.update_texts(Z, csr_matrix(X) @ W, W.T @ W)
        sums = sums_of(X, times, Z)
        W = steps.update_terms(steps.TermFactors.of(W, S, csr_matrix(M)), sums)
        terms = steps.TermFactors.of(W, S, csr_matrix(M))
        S = steps.update_core(terms)
        Zu = literal_z(unfolded, Zu, Wu)
        Wu = literal_w(unfolded, M, Zu, Wu, Su)
        Su = literal_s(M, Wu, Su)
        objective = steps.semantic_objective(steps.TermFactors.of(W, S, M), sums, (M**2).sum())
        np.testing.assert_allclose(np.repeat(Z, times, axis=0), Zu, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(W, Wu, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(S, Su, rtol=1e-8, atol=1e-8)
        assert objective == pytest.approx(literal_objective(unfolded, M, Zu, Wu, Su), rel=1e-8, abs=1e-8)


@pytest.mark.slow
@given(problems())
def test_guarded_steps_never_raise_the_objective(problem):
    X, times, M, Z, W, S = problem
    terms = steps.TermFactors.of(W, S, M)
    for _ in range(8):
        before = steps.semantic_objective(terms, sums_of(X, times, Z), (M**2).sum())
        Z = steps.update_texts(Z, X @ terms.W, terms.WtW)
        sums = sums_of(X, times, Z)
        between = steps.semantic_objective(terms, sums, (M**2).sum())
        terms = steps.descend_terms(terms, sums, M)
        after = steps.semantic_objective(terms, sums, (M**2).sum())
        slack = 1e-12 * (1 + (X**2).sum() + (M**2).sum())
        assert after <= between + slack <= before + 2 * slack


def printed(terms, sums, M):
    """W and S after the printed updates, whatever they do to the objective."""
    W = steps.update_terms(terms, sums)
    return steps.TermFactors.of(W, steps.update_core(steps.TermFactors.of(W, terms.S, M)), M)


@given(problems())
def test_the_guard_leaves_alone_what_does_not_rise(problem):
    X, times, M, Z, W, S = problem
    terms, sums = steps.TermFactors.of(W, S, M), sums_of(X, times, Z)
    moved = printed(terms, sums, M)
    if steps.semantic_objective(moved, sums, 0.0) < steps.semantic_objective(terms, sums, 0.0):
        guarded = steps.descend_terms(terms, sums, M)
        np.testing.assert_array_equal(guarded.W, moved.W)
        np.testing.assert_array_equal(guarded.S, moved.S)


def test_the_guard_is_needed():
    M = np.array([[7.0, 400.0, 242.0], [400.0, 4.5, 163.0], [242.0, 163.0, 0.0]])
    terms = steps.TermFactors.of(np.array([[4.6], [0.14], [0.32]]), np.array([[0.021]]), M)
    sums = steps.TextSums(np.array([[0.11], [0.065], [0.075]]), np.array([[0.026]]), 1.4)
    before = steps.semantic_objective(terms, sums, (M**2).sum())
    assert steps.semantic_objective(printed(terms, sums, M), sums, (M**2).sum()) > 1.1 * before
    assert steps.semantic_objective(steps.descend_terms(terms, sums, M), sums, (M**2).sum()) < before


@pytest.mark.parametrize("seed", range(20))
def test_the_estimator_is_the_literal_algorithm(seed):
    k = 1 + seed % 4
    X = np.random.default_rng(seed).poisson(0.25, (10, 14)).astype(float)
    model = SemanticNMF(k, random_state=seed, max_iter=6, tol=0).fit(X)
    Y, M = literal_idf_rows(X), literal_sppmi(X, 2)
    assert M.any()
    # the start, from the same centres
    order = canonical(csr_matrix(X))
    distinct = Y[np.unique(order.rows, return_index=True)[1]]
    rows = as_engine(distinct[:, order.columns], order.weights)
    found = spherical_kmeans(rows, k, np.random.RandomState(seed)).centers
    centers = found[:, np.argsort(order.columns)]
    Z, W = np.eye(k)[(Y @ centers.T).argmax(axis=1)] + 0.2, centers.T + 0.2 * centers.mean()
    strength = np.array([w @ M @ w / (w @ w) ** 2 for w in W.T])
    S = np.diag(strength) + 0.2 * strength.mean()
    objective = []
    for _ in range(6):
        Z = literal_z(Y, Z, W)
        W = literal_w(Y, M, Z, W, S)
        S = literal_s(M, W, S)
        objective.append(literal_objective(Y, M, Z, W, S))
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-8)
    np.testing.assert_allclose(model.components_, W.T, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.semantic_core_, S, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@given(count_matrices(max_rows=12), st.integers(1, 4), st.sampled_from(["idf", "binary", None]))
@settings(max_examples=60)
def test_the_objective_never_rises(X, k, chosen):
    objective = SemanticNMF(k, weights=chosen, random_state=0, max_iter=60, tol=0).fit(X).objective_
    scale = 1e-12 * (1 + X.shape[0] + (literal_sppmi(X, 2) ** 2).sum())
    assert all(after <= before + scale for before, after in pairwise(objective))
    assert np.isfinite(objective).all()


def test_inference_is_non_negative_least_squares():
    rng = np.random.default_rng(0)
    topics = np.eye(3, 6) * 2 + rng.random((3, 6)) * [[0.1], [1.0], [9.0]]
    X = rng.random((20, 6)) * (rng.random((20, 6)) < 0.6)
    unit = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    expected = [nnls(unit.T, x)[0] for x in X]
    np.testing.assert_allclose(steps.infer(csr_matrix(X), topics, 3000), expected, atol=1e-4)
    np.testing.assert_allclose(steps.infer(csr_matrix(X), topics), expected, atol=0.05)


# --- what all estimators with multiplicative updates keep ----------------------------------------------------

MODELS = [SemanticNMF, OrthogonalNMF, GraphNMF]
every_model = pytest.mark.parametrize("model", MODELS)


def planted(seed=0, rows=60, terms=24, groups=3):
    """Counts in which texts of a group use the terms of that group, and which group a text has."""
    rng = np.random.default_rng(seed)
    label = rng.integers(groups, size=rows)
    own = (np.arange(terms) % groups)[None, :] == label[:, None]
    X = rng.poisson(np.where(own, 1.2, 0.08)).astype(float)
    X[:, 0] += 0.5  # a term that every text holds
    return X, label


def blocks_of(X, times, cuts=(0, 7, 30)):
    ends = [*cuts[1:], len(X)]
    return [Block(csr_matrix(X[a:b]), times[a:b], a) for a, b in zip(cuts, ends, strict=True)]


@every_model
def test_planted_groups_are_found(model):
    X, label = planted()
    for init in ("kmeans", "rows"):
        found = model(3, init=init, random_state=1).fit(X)
        assert nmi(label, found.labels_) > (0.8 if init == "kmeans" else 0.5)
    assert same_topics(model(3, random_state=0).fit_predict(X), model(3, random_state=0).fit(X).labels_)


@every_model
def test_columns_of_memberships_have_unit_length_over_fitted_texts(model):
    X, _ = planted()
    times = 1 + np.arange(len(X)) % 4
    fitted = model(3, random_state=0).fit(X, sample_weight=times)
    np.testing.assert_allclose(times @ fitted.transform(X) ** 2, 1.0)


@every_model
def test_where_no_term_tells_texts_apart_there_are_no_topics(model):
    for X in (np.ones((1, 4)), np.ones((5, 4)), np.array([[1.0, 2.0], [3.0, 1.0]]), np.zeros((3, 2))):
        fitted = model(3, random_state=0).fit(X)
        assert not fitted.components_.any()
        assert (fitted.labels_ == 0).all()
        assert (fitted.predict(X) == 0).all()


@every_model
def test_equal_rows_have_equal_topics_and_one_topic_takes_all(model):
    X = np.repeat(np.eye(3), 4, axis=0)
    fitted = model(6, random_state=0).fit(X)  # more topics than distinct rows
    assert same_topics(fitted.labels_, np.repeat([0, 1, 2], 4))
    X, _ = planted()
    assert (model(1, random_state=0).fit(X).labels_ == 0).all()


@pytest.mark.parametrize("model", [SemanticNMF, OrthogonalNMF])
def test_blocks_that_do_not_follow_each_other_are_refused(model):
    blocks = [Block(csr_matrix(np.eye(3)), np.ones(3)), Block(csr_matrix(np.eye(3)), np.ones(3))]
    with pytest.raises(InputError, match="X must have blocks that start where the last ended: 3, got 0"):
        model(2).fit(MemoryEngine(blocks))


# --- co-occurrence that is given -----------------------------------------------------------------------------

TEXTS = [
    "red apple pie",
    "apple pie crust",
    "red apple tart crust",
    "stock market falls",
    "market stock bond",
    "bond falls",
]


@pytest.fixture(scope="module")
def corpus():
    return Vectorizer(stem=False, stop_words=None).fit_corpus(TEXTS * 3)


def test_document_counts_given_are_those_that_are_counted():
    X, _ = planted()
    times = 1.0 + np.arange(len(X)) % 2
    given_counts = semantics.cooccurrence(X, times)
    one = SemanticNMF(3, random_state=0).fit(X, sample_weight=times)
    for counts in (given_counts, given_counts.toarray()):
        other = SemanticNMF(3, random_state=0).fit(X, sample_weight=times, cooccurrence=counts)
        np.testing.assert_allclose(one.components_, other.components_, rtol=1e-9)
        np.testing.assert_allclose(one.semantic_core_, other.semantic_core_, rtol=1e-9)
        np.testing.assert_array_equal(one.labels_, other.labels_)


def test_given_counts_follow_the_columns():
    X, _ = planted()
    rng = np.random.default_rng(5)
    A = rng.integers(0, 9, (24, 24)).astype(float)
    counts, columns = A + A.T, rng.permutation(24)
    one = SemanticNMF(3, random_state=0).fit(X, cooccurrence=counts)
    shuffled = counts[columns][:, columns]
    other = SemanticNMF(3, random_state=0).fit(X[:, columns], cooccurrence=csr_matrix(shuffled))
    np.testing.assert_allclose(one.components_[:, columns], other.components_, rtol=1e-9)
    elsewhere = SemanticNMF(3, random_state=0).fit(X[:, columns], cooccurrence=counts)
    assert not np.allclose(one.components_[:, columns], elsewhere.components_, rtol=1e-3)


def test_given_counts_bring_terms_together_that_share_no_text():
    # a third group of texts shares no term with the others; counts from elsewhere tie it to the first
    X = np.kron(np.eye(3), np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]))
    counts = np.kron(np.eye(3) + np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]]), np.full((3, 3), 5.0))
    np.fill_diagonal(counts, 0.0)
    for seed in range(5):
        labels = SemanticNMF(2, negatives=1, random_state=seed).fit(X, cooccurrence=counts).labels_
        assert same_topics(labels, np.repeat([0, 1, 0], 3))


def test_running_texts_are_counted_by_window(corpus):
    X, texts = corpus.unfolded(), Sequences.concatenate(list(corpus.sequences())).take(corpus.rows)
    times = 1.0 + np.arange(len(TEXTS) * 3) % 3
    for window in (1, 10):
        counts = semantics.window_cooccurrence(texts, X.shape[1], window, times)
        one = SemanticNMF(2, random_state=0).fit(X, sample_weight=times, cooccurrence=counts)
        model = SemanticNMF(2, window=window, random_state=0)
        halves = [texts.take(np.arange(7)), texts.take(np.arange(7, len(texts)))]
        for given_texts in (texts, halves, iter(halves)):
            other = model.fit(X, sample_weight=times, cooccurrence=given_texts)
            np.testing.assert_allclose(one.components_, other.components_, rtol=1e-12)
    assert "_cooccurrence" not in vars(model)
    near = SemanticNMF(2, window=1, random_state=0).fit(X, cooccurrence=texts)
    assert not np.allclose(near.components_, model.fit(X, cooccurrence=texts).components_)


def test_an_engine_and_its_running_texts_go_together(corpus, tmp_path):
    fitted = SemanticNMF(2, random_state=0).fit(corpus.engine, cooccurrence=corpus.sequences())
    on_disk = Vectorizer(stem=False, stop_words=None).fit_corpus(TEXTS * 3, folder=tmp_path)
    other = SemanticNMF(2, random_state=0).fit(on_disk.engine, cooccurrence=on_disk.sequences())
    np.testing.assert_array_equal(fitted.components_, other.components_)
    labels = fitted.fit_predict(corpus.engine, cooccurrence=corpus.sequences())[corpus.rows]
    assert same_topics(labels, [0, 0, 0, 1, 1, 1] * 3)
    memberships = fitted.fit_transform(corpus.engine, cooccurrence=corpus.sequences())
    np.testing.assert_array_equal(memberships, fitted.transform(corpus.engine))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones((2, 2)), r"cooccurrence must be 3 × 3, as X has 3 terms, got shape \(2, 2\)"),
        (np.full((3, 3), np.nan), "cooccurrence must be finite"),
        (-np.eye(3), "cooccurrence must be finite and non-negative"),
        (np.triu(np.ones((3, 3))), "cooccurrence must be symmetric"),
        ([[1, 2, 3]], "cooccurrence must be counts of terms × terms, or Sequences; got list"),
        (Sequences.from_tokens([["a"]], {"a": 0}), "one text for each of the 3 rows of X, got 1"),
        ([Sequences.from_tokens([["a"]] * 2, {"a": 0})] * 2, "one text for each of the 3 rows of X, got 4"),
        (Sequences.from_tokens([["a"]] * 3, {"a": 7}), "cooccurrence has a term 7, but X has only 3 terms"),
    ],
)
def test_what_cannot_be_cooccurrence_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        SemanticNMF(2).fit(np.eye(3), cooccurrence=wrong)


@pytest.mark.parametrize(("name", "value"), [("negatives", 0), ("window", 0), ("window", "all")])
def test_own_parameters_are_judged_by_fit(name, value):
    for given_counts in (None, np.ones((3, 3))):
        with pytest.raises(InputError, match=f"{name!r} of SemanticNMF must be"):
            SemanticNMF(**{name: value}).fit(np.eye(3), cooccurrence=given_counts)


# --- real texts ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("k", "least"), [(9, 0.44), (20, 0.41)])
def test_titles(dataset, k, least):
    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    assert X.shape == (2630, 1403)
    models = [SemanticNMF(k, random_state=seed).fit(X) for seed in range(3)]
    assert np.mean([nmi(titles.labels, model.labels_) for model in models]) > least
    assert all((np.diff(model.objective_) <= 0).all() for model in models)
    kmeans = SphericalKMeans(k, n_init=1, random_state=0).fit(X.multiply(weights.idf(X)).tocsr())
    assert nmi(titles.labels, models[0].labels_) > nmi(titles.labels, kmeans.labels_) + 0.02


@pytest.mark.slow
def test_classic4_with_windows(dataset):
    classic4 = dataset("classic4")
    corpus = Vectorizer(min_df=3).fit_corpus(classic4.texts)
    model = SemanticNMF(4, window=10, random_state=0).fit(corpus.engine, cooccurrence=corpus.sequences())
    labels = model.predict(corpus.engine)[corpus.rows]
    assert nmi(classic4.labels, labels) > 0.70
    assert (np.diff(model.objective_) <= 0).all()
    assert model.n_iter_ < model.max_iter
