import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract import same_topics
from coterie import NMF, weights
from coterie.corpus import Vectorizer
from coterie.errors import InputError
from coterie.metrics import nmi, purity
from matrices import count_matrices

pytestmark = pytest.mark.filterwarnings("ignore:only .* topics are used")

VARIANTS = [
    {"solver": "clip"},
    {"solver": "hals"},
    {"loss": "divergence"},
]


@pytest.mark.slow
@parametrize_with_checks(
    [NMF(n_topics=2, **variant) for variant in VARIANTS],
    expected_failed_checks=lambda _: {"check_clustering": "feeds negative numbers, which are refused"},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def literal_algorithm_1(X, start, l2, iterations):
    """Algorithm 1 of the CIKM 2012 paper in our orientation, with S formed and its misprint corrected."""
    B = (X > 0).astype(float)
    S = B.T @ B
    w = np.array([d**-0.5 if d > 0 else 0.0 for d in S.sum(axis=1)])
    Y = B * (w / w.max())
    U = start
    best, lowest = U, np.inf
    for _ in range(iterations):
        V = np.maximum(Y @ U @ np.linalg.inv(U.T @ U + l2 * np.eye(U.shape[1])), 0)
        U = np.maximum(Y.T @ V @ np.linalg.inv(V.T @ V + l2 * np.eye(U.shape[1])), 0)
        objective = np.linalg.norm(Y - V @ U.T) ** 2 + l2 * ((U**2).sum() + (V**2).sum())
        if objective < lowest:
            best, lowest = U, objective
    return best, np.maximum(Y @ best @ np.linalg.inv(best.T @ best + l2 * np.eye(U.shape[1])), 0)


@given(count_matrices(max_rows=12), st.integers(1, 3), st.sampled_from([0.1, 1.0]), st.integers(0, 99))
def test_clip_is_algorithm_1(X, k, l2, seed):
    if not X.any():
        return
    start = np.random.default_rng(seed).random((X.shape[1], k))
    expected, V = literal_algorithm_1(X, start, l2, iterations=7)
    model = NMF(k, solver="clip", l2=l2, init=start.T, scale="max", max_iter=7, tol=0).fit(csr_matrix(X))
    np.testing.assert_allclose(model.components_.T, expected, atol=1e-8)
    np.testing.assert_allclose(model.transform(X), V, atol=1e-8)


def literal_unit_columns(Y, start, l2, iterations):
    """The same with the columns of U at unit length; each U is judged with the V that follows from it."""

    def unit(U):
        length = np.linalg.norm(U, axis=0)
        return U / np.where(length > 0, length, 1)

    def followed(rows, factor):
        return np.maximum(rows @ factor @ np.linalg.pinv(factor.T @ factor + l2 * np.eye(factor.shape[1])), 0)

    U = unit(start)
    best, lowest = U, np.inf
    for _ in range(iterations):
        V = followed(Y, U)
        objective = np.linalg.norm(Y - V @ U.T) ** 2 + l2 * ((U**2).sum() + (V**2).sum())
        if objective < lowest:
            best, lowest = U, objective
        U = unit(followed(Y.T, V))
    return best, followed(Y, best), lowest


@given(count_matrices(max_rows=12), st.integers(1, 3), st.sampled_from([0.1, 1.0, 10.0]), st.integers(0, 99))
def test_topics_at_unit_length(X, k, l2, seed):
    if not X.any():
        return
    start = np.random.default_rng(seed).random((X.shape[1], k)) + 0.1
    model = NMF(k, l2=l2, unit_columns=True, init=start.T, max_iter=7, tol=0).fit(csr_matrix(X))
    Y = (X > 0) * model.term_weights_
    expected, V, lowest = literal_unit_columns(Y, start, l2, iterations=7)
    assert min(model.objective_) == pytest.approx(lowest)
    np.testing.assert_allclose(model.components_.T, expected, atol=1e-7)
    np.testing.assert_allclose(model.transform(X), V, atol=1e-7)


@pytest.mark.parametrize("variant", [{"solver": "hals"}, {"loss": "divergence"}])
def test_topics_at_unit_length_need_their_solver(variant):
    with pytest.raises(InputError, match="unit_columns=True needs loss='euclidean' and solver='clip', got "):
        NMF(2, unit_columns=True, **variant).fit(np.eye(3))


def planted_texts():
    rng = np.random.default_rng(0)
    topic = np.arange(90) % 3
    X = rng.random((90, 24)) < np.where(np.arange(24) // 8 == topic[:, None], 0.5, 0.03)
    return X[X.sum(axis=1) > 1].astype(float)


@pytest.mark.parametrize("solver", ["clip", "hals"])
@pytest.mark.parametrize("weight", ["ncut", "ncut-cosine", "idf", "binary", None])
def test_a_penalty_that_leaves_nothing_is_told_before_the_fit(weight, solver):
    X = planted_texts()
    Y = term_weighted(X, weight)
    largest = np.linalg.norm(Y, 2)
    settings = {
        "weights": weight,
        "solver": solver,
        "scale": "max",
        "init": "svd",
        "max_iter": 3000,
        "tol": 0,
    }
    if weight == "ncut":
        assert largest == pytest.approx(np.sqrt((X.T @ X).sum(axis=0).min()))
    with pytest.warns(
        ConvergenceWarning, match=rf"only 0 of 3 topics .* l2={1.01 * largest:g} is not below "
    ):
        none = NMF(3, l2=1.01 * largest, **settings).fit(X)
    assert none.objective_[-1] == pytest.approx((Y**2).sum(), rel=1e-2)  # that of factors of zero
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="only 0 of")
        some = NMF(3, l2=0.95 * largest, **settings).fit(X)
    assert min(some.objective_) < (Y**2).sum() * (1 - 1e-4)


def term_weighted(X, kind):
    per_term = {
        "ncut": lambda: weights.ncut(X),
        "ncut-cosine": lambda: weights.ncut(X, "cosine"),
        "idf": lambda: weights.idf(X),
    }.get(kind, lambda: np.ones(X.shape[1]))()
    return X * per_term


def test_no_such_warning_where_it_would_not_be_true():
    X = planted_texts()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="only 0 of")
        NMF(3, l2=1000.0, unit_columns=True).fit(X)
        NMF(3, l2=1000.0, loss="divergence").fit(X)
        NMF(3, l2=0.0).fit(X)
        NMF(3).fit(np.zeros((3, 4)))


def test_one_warning_is_enough():
    with pytest.warns(ConvergenceWarning) as told:
        NMF(3, l2=1000.0).fit(planted_texts())
    assert len(told) == 1


@pytest.mark.slow
@given(count_matrices(max_rows=10), st.integers(1, 3), st.integers(0, 99))
def test_objectives_are_those_of_the_dense_formula(X, k, seed):
    if not X.any():
        return
    start = np.random.default_rng(seed).random((k, X.shape[1])) + 0.1
    for l2 in (0.0, 0.5):
        model = NMF(k, weights=None, solver="hals", l2=l2, init=start, max_iter=400, tol=1e-13).fit(X)
        U, V = model.components_.T, model.transform(X)
        dense = np.linalg.norm(X - V @ U.T) ** 2 + l2 * ((U**2).sum() + (V**2).sum())
        assert model.objective_[-1] == pytest.approx(dense, rel=1e-3, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [{"solver": "hals"}, {"loss": "divergence"}])
@given(
    X=count_matrices(max_rows=12),
    k=st.integers(1, 4),
    l2=st.sampled_from([0.0, 0.2, 1.0]),
    seed=st.integers(0, 99),
)
def test_the_objective_never_rises(variant, X, k, l2, seed):
    model = NMF(k, weights=None, l2=l2, init="random", random_state=seed, max_iter=30, tol=0, **variant).fit(
        X
    )
    history = np.array(model.objective_)
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1]) + 1e-10).all()


def test_a_rise_of_clip_is_survived():
    X = csr_matrix((np.random.default_rng(2).random((30, 12)) < 0.25).astype(float))
    model = NMF(6, weights="binary", l2=0.0, init="random", random_state=2, max_iter=60, tol=0).fit(X)
    history = np.array(model.objective_)
    assert (np.diff(history) > 0).any()  # clipping has no proof of convergence, and here is why
    B = (X > 0).astype(float)
    U, V = model.components_.T, model.transform(X)
    dense = B.power(2).sum() - 2 * np.sum((B @ U) * V) + np.sum((U.T @ U) * (V.T @ V))
    assert dense <= history.min() * (1 + 1e-9)


def test_a_document_of_no_known_word_gets_the_largest_topic():
    X = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]])
    model = NMF(2, l2=0.01).fit(X)
    assert model.labels_[-1] == model.labels_[0]


def test_collapse_is_told():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 40)) < 0.1).astype(float)
    with pytest.warns(ConvergenceWarning, match=r"only 1 of 9 topics are used.*use a smaller l2"):
        NMF(9, l2=6.0).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "'n_topics' of NMF must be a whole number of at least 1, got 0"),
        (
            {"weights": "tfidf"},
            "'weights' of NMF must be one of 'ncut', 'ncut-cosine', 'idf', 'binary', None, got 'tfidf'",
        ),
        ({"loss": "kl"}, "'loss' of NMF"),
        ({"solver": "cd"}, "'solver' of NMF"),
        ({"init": "nndsvd"}, "'init' of NMF"),
        ({"init": [[1.0, -1.0]]}, "'init' of NMF"),
        ({"l2": -1}, "'l2' of NMF"),
        ({"max_iter": 0}, "'max_iter' of NMF"),
    ],
)
def test_wrong_parameters_are_told_at_fit(options, message):
    with pytest.raises(InputError, match=message):
        NMF(**{"n_topics": 2, **options}).fit(np.eye(3))


@pytest.mark.slow
def test_the_order_of_the_paper_holds_on_titles(dataset):
    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    assert X.shape == (2630, 1403)

    def mean(weight, score):
        fits = [
            NMF(9, weights=weight, solver="clip", init="rows", random_state=s).fit(X).labels_
            for s in range(10)
        ]
        return np.mean([score(titles.labels, labels) for labels in fits])

    ncut, idf, binary = (mean(weight, nmi) for weight in ("ncut", "idf", "binary"))
    assert ncut > idf > binary
    assert ncut == pytest.approx(0.48, abs=0.06)
    assert idf == pytest.approx(0.35, abs=0.05)
    assert binary == pytest.approx(0.27, abs=0.05)
    assert mean("ncut", purity) == pytest.approx(0.62, abs=0.06)


def test_weights_are_those_of_the_package():
    X = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0]])
    np.testing.assert_allclose(
        NMF(1, solver="clip", init="rows", random_state=0).fit(X).term_weights_, weights.ncut(X)
    )
    np.testing.assert_allclose(NMF(1).fit(X).term_weights_, weights.ncut(X, scale="quantile"))
    np.testing.assert_allclose(NMF(1, weights="idf").fit(X).term_weights_, weights.idf(X))
    assert same_topics(NMF(1, random_state=0).fit(X).labels_, [0, 0, 0])


@pytest.mark.slow
def test_a_larger_penalty_is_harmless_at_unit_length(dataset):
    """The paper calls λ from 0.1 to 10 harmless; as printed, 2 and more leave nothing on its titles."""
    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    scores = [
        np.mean(
            [
                nmi(
                    titles.labels,
                    NMF(9, l2=l2, unit_columns=True, init="rows", random_state=s).fit(X).labels_,
                )
                for s in range(3)
            ]
        )
        for l2 in (0.1, 1.0, 3.0, 10.0)
    ]
    assert min(scores) > 0.43
    with pytest.warns(ConvergenceWarning, match="l2=2.1 is not below 2, the largest singular value"):
        NMF(9, l2=2.1, init="rows", random_state=0).fit(X)
