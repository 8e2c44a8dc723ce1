import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract import same_topics
from coterie import NMF, TermNMF, semantics
from coterie.corpus import Vectorizer
from coterie.errors import InputError
from coterie.factor import term
from coterie.metrics import nmi, purity
from matrices import count_matrices

INFERENCES = ["euclidean", "divergence"]


@pytest.mark.slow
@parametrize_with_checks(
    [TermNMF(n_topics=2, inference=inference) for inference in INFERENCES],
    expected_failed_checks=lambda _: {"check_clustering": "feeds negative numbers, which are refused"},
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def literal_similarity(X, kind="context", diagonal=True):
    """S as a dense matrix, entry by entry as it is defined."""
    B = (X > 0).astype(float)
    if kind == "pearson":
        centred = B - B.mean(axis=0)
        length = np.linalg.norm(centred, axis=0)
        return (
            centred.T @ centred / np.where(np.outer(length, length) > 1e-9, np.outer(length, length), np.inf)
        )
    if kind == "texts":
        length = np.linalg.norm(B, axis=0)
        return B.T @ B / np.maximum(np.outer(length, length), 1)
    n = B.T @ B
    if not diagonal:
        np.fill_diagonal(n, 0)
    total = n.sum()
    ppmi = np.zeros_like(n)
    for i in range(len(n)):
        for j in range(len(n)):
            if n[i, j] > 0:
                ppmi[i, j] = max(np.log((n[i, j] / total) / (n[i].sum() / total * n[j].sum() / total)), 0)
    if kind == "ppmi":
        return ppmi
    length = np.linalg.norm(ppmi, axis=1, keepdims=True)
    rows = ppmi / np.where(length > 0, length, 1)
    return rows @ rows.T


def literal_tnmf(S, U, iterations, tol):
    """The step of the SDM 2013 paper with S formed, half of the way each time, until its author's rule stops."""
    objective = []
    for number in range(1, iterations + 1):
        U = 0.5 * np.maximum(S @ U @ np.linalg.pinv(U.T @ U, rcond=1e-12, hermitian=True), 0) + 0.5 * U
        objective.append(np.linalg.norm(S - U @ U.T) ** 2 - np.linalg.norm(S) ** 2)
        if number > 1:
            change = objective[-1] - objective[-2]
            if (number > 30 and change > 0) or abs(change) <= tol * abs(objective[0]):
                break
    return U, objective


class FromStart(TermNMF):
    """A start that is given, in the order of the columns of X."""

    def _start(self, S, random):
        return self.given[self.order]

    def _documents(self, X, sample_weight):
        found = super()._documents(X, sample_weight)
        self.order = found.columns
        return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "diagonal"),
    [
        ("context", True),
        ("context", False),
        ("ppmi", True),
        ("ppmi", False),
        ("texts", True),
        ("pearson", True),
    ],
)
@given(X=count_matrices(max_rows=12), k=st.integers(1, 3), seed=st.integers(0, 99))
def test_topics_are_those_of_the_paper(kind, diagonal, X, k, seed):
    start = np.random.default_rng(seed).random((X.shape[1], k)) + 0.1
    model = FromStart(k, similarity=kind, diagonal=diagonal, init="random", max_iter=4, tol=0)
    model.given = start
    model.fit(csr_matrix(X))
    expected, objective = literal_tnmf(literal_similarity(X, kind, diagonal), start, 4, tol=0)
    if np.linalg.cond(expected.T @ expected) > 1e8:
        return  # where U loses its rank, the inverse of the formula is anybody's
    np.testing.assert_allclose(model.components_.T, expected, atol=1e-6)
    np.testing.assert_allclose(model.objective_, objective, atol=1e-6)


def some_topics(seed=0, n=120):
    rng = np.random.default_rng(seed)
    topic = np.arange(n) % 3  # each document draws from the ten terms of its topic, and from all
    X = (rng.random((n, 30)) < np.where(np.arange(30) // 10 == topic[:, None], 0.35, 0.02)).astype(float)
    return X, topic


@pytest.mark.parametrize("tol", [1e-3, 1e-5])
@pytest.mark.parametrize("seed", range(4))
def test_iterations_end_by_the_rule_and_the_last_one_is_kept(tol, seed):
    X, _ = some_topics(seed)
    model = FromStart(4, init="random", max_iter=200, tol=tol)
    model.given = np.random.default_rng(seed).random((30, 4))
    model.fit(X)
    expected, objective = literal_tnmf(literal_similarity(X), model.given, 200, tol)
    assert model.n_iter_ == len(model.objective_) == len(objective)
    np.testing.assert_allclose(model.components_.T, expected, atol=1e-5)


def test_the_rule_that_ends_iterations():
    def steps_of(objective, max_iter=300, tol=1e-5):
        return next(n for n in range(len(objective) + 1) if term._settled(objective[:n], max_iter, tol))

    falling = [-100.0 - n for n in range(301)]
    assert steps_of(falling) == 300
    assert steps_of(falling, max_iter=1) == 1
    early = [*falling[:10], -105.0, *falling[10:]]
    assert steps_of(early) == 300  # a rise among the first thirty is forgiven
    late = [*falling[:40], -105.0, *falling[40:]]
    assert steps_of(late) == 41
    resting = [*falling[:12], falling[11] - 0.0009, *falling[12:]]
    assert steps_of(resting) == 13
    assert steps_of(resting, tol=1e-6) == 300
    assert steps_of([0.0, 0.0]) == 2


def test_damping_settles_where_full_steps_go_back_and_forth():
    X, _ = some_topics(n=300)
    S = literal_similarity(X)
    U = np.random.default_rng(0).random((30, 6))
    found = TermNMF(6, random_state=0, tol=0, max_iter=100).fit(X)
    full = []
    for _ in range(100):
        U = np.maximum(S @ U @ np.linalg.pinv(U.T @ U), 0)
        full.append(np.linalg.norm(S - U @ U.T) ** 2 - np.linalg.norm(S) ** 2)
    assert np.ptp(full[-10:]) > 0.01 * abs(full[-1])
    assert np.ptp(found.objective_[-10:]) < 1e-3 * abs(found.objective_[-1])


def test_a_random_start_has_the_mean_of_the_similarities():
    X, _ = some_topics()
    S = literal_similarity(X)

    class Start(TermNMF):
        def _start(self, S, random):
            self.given = super()._start(S, random)
            return self.given

    starts = [Start(5, init="random", random_state=seed, max_iter=1).fit(X).given for seed in range(20)]
    assert starts[0].min() >= 0
    assert starts[0].max() == pytest.approx(2 * np.sqrt(S.mean() / 5), rel=0.05)
    assert np.mean([U @ U.T for U in starts]) == pytest.approx(S.mean(), rel=0.05)


@pytest.mark.parametrize("init", ["random", "rows", "svd"])
def test_terms_without_company_have_no_topic(init):
    X, _ = some_topics()
    X[:, 3] = 0
    alone = np.vstack([np.hstack([X, np.zeros((len(X), 1))]), np.eye(31)[30:]])  # a text of one word
    model = TermNMF(3, init=init, diagonal=False, random_state=0).fit(alone)
    assert not model.components_[:, [3, 30]].any()
    assert model.components_.any(axis=0).sum() == 29
    assert (model.components_[:, :30] == 0).any()  # what is clipped ends at zero


@pytest.mark.parametrize("diagonal", [True, False])
def test_counts_and_documents_give_the_same_topics(diagonal):
    X, topic = some_topics()
    one = TermNMF(3, diagonal=diagonal, random_state=0).fit(X)
    counts = semantics.cooccurrence(X, diagonal=True)
    other = TermNMF(3, diagonal=diagonal, random_state=0).fit_cooccurrence(counts)
    assert min(one.objective_) == pytest.approx(min(other.objective_), rel=1e-3)
    assert same_topics(one.components_.argmax(axis=0), other.components_.argmax(axis=0))
    assert same_topics(one.components_.argmax(axis=0), np.arange(30) // 10)
    assert nmi(topic, other.predict(X)) > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "'n_topics' of TermNMF must be a whole number"),
        ({"inference": "kl"}, "'inference' of TermNMF must be one of 'euclidean', 'divergence', got 'kl'"),
        ({"weights": "ncut"}, "'weights' of TermNMF"),
        ({"init": "nndsvd"}, "'init' of TermNMF"),
        ({"max_iter": 0}, "'max_iter' of TermNMF"),
        ({"tol": -1.0}, "'tol' of TermNMF"),
        (
            {"similarity": "cosine"},
            "'similarity' of TermNMF must be one of 'context', 'ppmi', 'texts', 'pearson'",
        ),
        ({"diagonal": 2}, "'diagonal' of TermNMF must be one of True, False, got 2"),
        ({"similarity": "ppmi", "init": "svd"}, "init='svd' needs similarity='context', got 'ppmi'"),
    ],
)
def test_wrong_parameters_are_told_at_fit(options, message):
    with pytest.raises(InputError, match=message):
        TermNMF(**{"n_topics": 2, **options}).fit(np.eye(3))
    with pytest.raises(InputError, match=message):
        TermNMF(**{"n_topics": 2, **options}).fit_cooccurrence(np.eye(3))


@pytest.mark.parametrize("similarity", ["texts", "pearson"])
def test_counts_do_not_tell_texts(similarity):
    with pytest.raises(InputError, match=f"as similarity='{similarity}' needs; fit documents"):
        TermNMF(2, similarity=similarity, init="random").fit_cooccurrence(np.eye(3))


@pytest.mark.parametrize("counts", [np.ones((2, 3)), -np.eye(2), np.array([[0.0, np.nan], [np.nan, 0.0]])])
def test_bad_counts_are_refused(counts):
    with pytest.raises(InputError, match="counts must be a square matrix of terms × terms"):
        TermNMF(2).fit_cooccurrence(counts)


@pytest.mark.slow
def test_the_paper_holds_on_titles(dataset):
    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    fits = {
        inference: [
            TermNMF(9, inference=inference, init="rows", random_state=s).fit(X).labels_ for s in range(5)
        ]
        for inference in INFERENCES
    }
    scores = {name: np.mean([nmi(titles.labels, labels) for labels in runs]) for name, runs in fits.items()}
    assert scores["euclidean"] == pytest.approx(0.51, abs=0.05)
    assert scores["divergence"] == pytest.approx(0.49, abs=0.06)
    nmf = np.mean(
        [
            nmi(titles.labels, NMF(9, weights="idf", init="rows", random_state=s).fit(X).labels_)
            for s in range(5)
        ]
    )
    assert min(scores.values()) > nmf
    assert np.mean([purity(titles.labels, labels) for labels in fits["euclidean"]]) == pytest.approx(
        0.69, abs=0.05
    )
