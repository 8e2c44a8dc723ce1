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


def literal_tnmf(X, U, iterations):
    """The SDM 2013 paper in our orientation, with S formed; the best iterate as the estimator keeps it."""
    B = (X > 0).astype(float)
    n = B.T @ B
    np.fill_diagonal(n, 0)
    total = n.sum()
    ppmi = np.zeros_like(n)
    for i in range(len(n)):
        for j in range(len(n)):
            if n[i, j] > 0:
                ppmi[i, j] = max(np.log((n[i, j] / total) / (n[i].sum() / total * n[j].sum() / total)), 0)
    length = np.linalg.norm(ppmi, axis=1, keepdims=True)
    rows = ppmi / np.where(length > 0, length, 1)
    S = rows @ rows.T
    best, lowest = U, np.inf
    for _ in range(iterations):
        U = np.maximum(S @ U @ np.linalg.pinv(U.T @ U, rcond=1e-12, hermitian=True), 0)
        objective = np.linalg.norm(S - U @ U.T) ** 2 - np.linalg.norm(S) ** 2
        if objective < lowest:
            best, lowest = U, objective
    return best, lowest


@pytest.mark.slow
@given(count_matrices(max_rows=12), st.integers(1, 3), st.integers(0, 99))
def test_topics_are_those_of_the_paper(X, k, seed):
    class FromStart(TermNMF):
        def _start(self, S, random):
            return start[self.order]

        def _documents(self, X, sample_weight):
            found = super()._documents(X, sample_weight)
            self.order = found.columns
            return found

    start = np.random.default_rng(seed).random((X.shape[1], k)) + 0.1
    model = FromStart(k, max_iter=4, tol=0).fit(csr_matrix(X))
    expected, lowest = literal_tnmf(X, start, iterations=4)
    if not np.isfinite(lowest) or np.linalg.cond(expected.T @ expected) > 1e8:
        return  # where U loses its rank, the inverse of the formula is anybody's
    np.testing.assert_allclose(model.components_.T, expected, atol=1e-6)
    assert min(model.objective_) == pytest.approx(lowest, abs=1e-6)


def test_counts_and_documents_give_the_same_topics():
    rng = np.random.default_rng(0)
    topic = np.arange(120) % 3  # each document draws from the ten terms of its topic, and from all
    X = (rng.random((120, 30)) < np.where(np.arange(30) // 10 == topic[:, None], 0.35, 0.02)).astype(float)
    one = TermNMF(3).fit(X)
    other = TermNMF(3).fit_cooccurrence(semantics.cooccurrence(X))
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
    ],
)
def test_wrong_parameters_are_told_at_fit(options, message):
    with pytest.raises(InputError, match=message):
        TermNMF(**{"n_topics": 2, **options}).fit(np.eye(3))
    with pytest.raises(InputError, match=message):
        TermNMF(**{"n_topics": 2, **options}).fit_cooccurrence(np.eye(3))


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
