"""The base class of all estimators, and its checks; what every estimator promises is in test_method_contract."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random
from sklearn.utils import get_tags

from contract import blocks_of
from coterie.baselines.kmeans import KMeansIdf
from coterie.cluster import SphericalKMeans
from coterie.engines import Block, MemoryEngine
from coterie.errors import InputError
from coterie.estimator import check_amount, check_choice, check_count, check_weights
from coterie.factor.nystrom import NystromSemantics


def texts(n_rows=120, n_terms=30, seed=0):
    """Rows of three kinds, each with its own terms and some of all; no two columns are alike."""
    rng = np.random.default_rng(seed)
    X = random(n_rows, n_terms, 0.08, format="csr", rng=rng).toarray()
    kind = rng.integers(3, size=n_rows)
    for row, k in enumerate(kind):
        X[row, rng.choice(np.arange(k, n_terms, 3), 4)] += rng.integers(1, 3)
    return csr_matrix(X)


def test_negative_numbers_are_refused_where_they_make_no_sense():
    X = texts() * -1.0
    with pytest.raises(ValueError, match="Negative values in data passed to X in KMeansIdf"):
        KMeansIdf(2).fit(X)
    with pytest.raises(InputError, match="X must be non-negative"):
        KMeansIdf(2).fit(MemoryEngine([Block(X, np.ones(120), 0)]))
    SphericalKMeans(2).fit(X)
    NystromSemantics().fit(X)


def test_tags_tell_what_is_taken():
    for model, positive in ((KMeansIdf(), True), (SphericalKMeans(), False)):
        assert get_tags(model).input_tags.sparse
        assert get_tags(model).input_tags.positive_only is positive


def test_who_belongs_to_none_goes_to_the_largest_topic():
    X = np.array([[1, 1, 0, 0], [1, 2, 0, 0], [1, 3, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    engine = MemoryEngine(blocks_of(csr_matrix(X), np.ones(5), 2))
    fallbacks = set()
    for seed in range(6):
        model = SphericalKMeans(2, random_state=seed).fit(X)
        assert model.labels_[4] == model.fallback_ == model.labels_[0] != model.labels_[3]
        assert model.predict([[0, 0, 0, 7]])[0] == model.fallback_  # a term that no centre has
        # weights count, empty rows do not
        model = SphericalKMeans(2, random_state=seed).fit(X, sample_weight=[1, 1, 1, 4, 9])
        assert model.labels_[4] == model.fallback_ == model.labels_[3] != model.labels_[0]
        model = SphericalKMeans(2, random_state=seed).fit(engine)
        assert model.predict(X)[4] == model.fallback_ == model.predict(X)[0]
        fallbacks.add(model.fallback_)
    assert fallbacks == {0, 1}


def test_checks_of_weights():
    assert check_weights(None, 2).tolist() == [1, 1]
    assert check_weights(3, 2).tolist() == [3, 3]
    with pytest.raises(InputError, match=r"one number for each of the 2 rows, got shape \(3,\)"):
        check_weights([1, 2, 3], 2)
    with pytest.raises(InputError, match="finite and non-negative"):
        check_weights([1, -1], 2)
    with pytest.raises(InputError, match="must not be zero for every row"):
        check_weights([0, 0], 2)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "8", None, True, np.nan])
def test_counts_are_whole_numbers(bad):
    with pytest.raises(InputError, match=r"'n_topics' of object must be a whole number of at least 1, got"):
        check_count("n_topics", bad, object())
    assert check_count("n_topics", np.int32(4), object()) == 4


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf, "1", None, True])
def test_amounts_are_finite_numbers(bad):
    with pytest.raises(InputError, match=r"'tol' of object must be a finite number of at least 0, got"):
        check_amount("tol", bad, object())
    assert check_amount("tol", np.float32(0.5), object()) == 0.5
    assert check_amount("tol", 1, object()) == 1.0


def test_choices_are_listed():
    check_choice("kind", None, ("a", None), object())
    with pytest.raises(InputError, match="'kind' of object must be one of 'a', None, got 'b'"):
        check_choice("kind", "b", ("a", None), object())
    with pytest.raises(InputError, match="must be one of"):
        check_choice("kind", np.ones(2), ("a", None), object())
