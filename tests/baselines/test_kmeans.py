import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import weights
from coterie.baselines import KMeansIdf
from coterie.corpus import Vectorizer
from coterie.engines.base import pattern
from coterie.metrics import nmi
from matrices import count_matrices

EXPECTED_FAILURES = {
    "check_clustering": "feeds negative numbers, which are refused; and where every row holds every term "
    "no term has a weight",
}


@pytest.mark.slow
@parametrize_with_checks(
    [KMeansIdf(n_topics=3, n_init=2, random_state=0)], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@settings(max_examples=30)
@given(count_matrices(max_rows=12), st.integers(1, 5))
def test_centers_are_the_means_of_their_rows(X, n_topics):
    model = KMeansIdf(n_topics, n_init=2, random_state=0).fit(X)
    Y = X * weights.idf(X)
    assert model.used_.sum() == min(n_topics, len(np.unique(Y, axis=0)))
    assert set(model.labels_) <= set(np.flatnonzero(model.used_))
    for topic in set(model.labels_):
        np.testing.assert_allclose(
            model.components_[topic], Y[model.labels_ == topic].mean(axis=0), atol=1e-9
        )
    assert not model.components_[~model.used_].any()
    assert not model.transform(X)[:, ~model.used_].any()
    nearest = ((Y[:, None] - model.components_[model.labels_][:, None]) ** 2).sum()
    assert model.inertia_ == pytest.approx(nearest, abs=1e-9)


def test_transform_is_near_one_at_the_center_and_falls_with_the_distance():
    X = np.array([[2, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 3], [0, 0, 1, 3]])
    model = KMeansIdf(2, random_state=0).fit(X)
    distances = np.linalg.norm((X * model.idf_)[:, None] - model.components_[None], axis=2)
    np.testing.assert_allclose(model.transform(X), 1 / (1 + distances), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), distances.argmin(axis=1))


def test_weights_are_idf_of_the_fitted_texts():
    X = np.array([[1, 1, 0], [1, 0, 2], [1, 1, 0], [1, 0, 0]])
    model = KMeansIdf(2, random_state=0).fit(X)
    np.testing.assert_allclose(model.idf_, [0, np.log(2), np.log(4)])
    # a text that was not fitted is weighted by them too
    np.testing.assert_array_equal(model.transform([[9, 1, 0]]), model.transform([[1, 1, 0]]))


@pytest.mark.parametrize("n_topics", [1, 3, 12])
def test_edges(n_topics):
    for X in (np.zeros((4, 3)), np.ones((5, 4)), np.array([[0.0, 2, 0]]), np.ones((6, 1))):
        model = KMeansIdf(n_topics, random_state=0).fit(csr_matrix(X))
        assert model.components_.shape == (n_topics, X.shape[1])
        assert model.used_.tolist() == [True] + [False] * (n_topics - 1)
        assert model.labels_.tolist() == [0] * len(X)
        assert model.inertia_ == pytest.approx(0)


def test_titles(dataset):
    """One start, as in the papers: far below spherical k-means (.40), whatever the start."""
    data = dataset("titles")
    X = pattern(Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(data.texts))
    assert X.shape == (2630, 1403)
    scores = [nmi(data.labels, KMeansIdf(9, n_init=1, random_state=s).fit_predict(X)) for s in range(3)]
    assert 0.05 < np.mean(scores) < 0.25
