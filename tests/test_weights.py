import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie import weights
from coterie.errors import InputError
from matrices import count_matrices, with_weights


def literal_ncut(X, affinity):
    """The formula of the paper with S formed."""
    B = (X > 0).astype(float)
    if affinity == "cosine":
        length = np.linalg.norm(B, axis=0)
        B = B / np.where(length > 0, length, 1)
    degree = (B.T @ B).sum(axis=1)
    return np.array([d**-0.5 if d > 0 else 0.0 for d in degree])


@given(count_matrices(), st.sampled_from(["inner", "cosine"]))
def test_ncut_equals_the_formula(X, affinity):
    expected = literal_ncut(X, affinity)
    np.testing.assert_allclose(weights.ncut(csr_matrix(X), affinity, scale=False), expected, rtol=1e-10)
    scaled = weights.ncut(X, affinity)
    np.testing.assert_allclose(scaled, expected / max(expected.max(), 1e-300), rtol=1e-10)
    assert scaled.max() in (0.0, 1.0)


@given(count_matrices())
def test_idf_equals_the_formula(X):
    df = (X > 0).sum(axis=0)
    expected = [np.log(len(X) / d) if d else 0.0 for d in df]
    np.testing.assert_allclose(weights.idf(csr_matrix(X)), expected, rtol=1e-12)
    np.testing.assert_array_equal(weights.document_frequency(X), df)
    np.testing.assert_array_equal(weights.binary(X), np.ones(X.shape[1]))


@pytest.mark.slow
@given(with_weights(count_matrices()))
def test_a_weight_is_as_many_copies(case):
    X, times = case
    copies = np.repeat(X, times, axis=0)
    np.testing.assert_allclose(weights.idf(X, weights=times), weights.idf(copies), rtol=1e-12)
    for affinity in ("inner", "cosine"):
        folded = weights.ncut(X, affinity, weights=times)
        np.testing.assert_allclose(folded, weights.ncut(copies, affinity), rtol=1e-10)


@pytest.mark.slow
@given(count_matrices(), st.randoms(use_true_random=False))
def test_order_of_rows_and_terms_does_not_matter(X, random):
    rows, terms = list(range(X.shape[0])), list(range(X.shape[1]))
    random.shuffle(rows)
    random.shuffle(terms)
    for weight in (weights.idf, weights.ncut):
        np.testing.assert_allclose(weight(X[rows][:, terms]), weight(X)[terms], rtol=1e-12)


def test_stored_zeros_are_zeros():
    X = csr_matrix((np.array([1.0, 0.0]), (np.array([0, 1]), np.array([0, 0]))), shape=(2, 1))
    assert weights.document_frequency(X).tolist() == [1]
    np.testing.assert_allclose(weights.ncut(X, scale=False), [1.0])
    np.testing.assert_allclose(weights.ncut(X, "cosine", scale=False), [1.0])


def test_quantile_scale_is_not_ruled_by_one_rare_term():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 60)) < 0.2).astype(float)
    X[:, 0] = 0
    X[0, :] = 0
    X[0, 0] = 1  # a term that stands alone in one text
    assert np.median(weights.ncut(X)) < 0.1
    robust = weights.ncut(X, scale="quantile")
    assert np.median(robust) > 0.5
    assert robust.max() == 1.0


def test_a_large_vocabulary_takes_memory_for_its_entries_only():
    # terms × terms would take 320 GB
    rng = np.random.default_rng(0)
    X = csr_matrix((np.ones(400_000), (rng.integers(0, 50_000, 400_000), rng.integers(0, 200_000, 400_000))))
    peaks = [_peak(lambda rows=rows: weights.ncut(X[:rows], "cosine")) for rows in (25_000, 50_000)]
    assert peaks[1] < 40e6
    assert peaks[1] < 2.2 * peaks[0]


def _peak(function):
    import tracemalloc

    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_wrong_parameters_are_told():
    with pytest.raises(InputError, match="affinity must be 'inner' or 'cosine', got 'dot'"):
        weights.ncut(np.eye(2), "dot")
    with pytest.raises(InputError, match="scale must be"):
        weights.ncut(np.eye(2), scale="min")


def test_nothing_at_all():
    empty = csr_matrix((0, 3))
    assert weights.idf(empty).tolist() == [0, 0, 0]
    assert weights.ncut(empty).tolist() == [0, 0, 0]
    assert weights.ncut(csr_matrix((3, 0))).tolist() == []
