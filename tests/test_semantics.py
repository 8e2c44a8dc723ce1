import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, issparse, random

from coterie import semantics
from coterie.corpus.sequences import UNKNOWN, Sequences
from coterie.engines import Block, MemoryEngine, as_engine
from coterie.errors import InputError
from coterie.semantics import cooccurrence, frequent_cooccurrence
from matrices import count_matrices, with_weights


def literal_cooccurrence(X):
    B = (X > 0).astype(float)
    C = B.T @ B
    np.fill_diagonal(C, 0)
    return C


def literal_ppmi(C, shift=1.0, smoothing=1.0):
    total = C.sum()
    P = np.zeros_like(C)
    context = C.sum(axis=0) ** smoothing
    context = context / max(context.sum(), 1e-300)
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            if C[i, j] > 0:
                pmi = np.log((C[i, j] / total) / ((C[i].sum() / total) * context[j]))
                P[i, j] = max(pmi - np.log(shift), 0)
    return P


def unit(P):
    length = np.linalg.norm(P, axis=1, keepdims=True)
    return P / np.where(length > 0, length, 1)


@given(count_matrices())
def test_cooccurrence_counts_texts_that_hold_both(X):
    C = semantics.cooccurrence(csr_matrix(X))
    assert issparse(C)
    np.testing.assert_array_equal(C.toarray(), literal_cooccurrence(X))


@pytest.mark.slow
@given(with_weights(count_matrices()))
def test_a_weight_is_as_many_copies(case):
    X, times = case
    copies = np.repeat(X, times, axis=0)
    folded, unfolded = semantics.cooccurrence(X, weights=times), semantics.cooccurrence(copies)
    np.testing.assert_allclose(folded.toarray(), unfolded.toarray())
    for kind in semantics.GRAMS:
        one, other = (semantics.TermGram.of(M, kind, w) for M, w in ((X, times), (copies, None)))
        Q = np.eye(X.shape[1])
        np.testing.assert_allclose(one @ Q, other @ Q, atol=1e-9)


texts = st.lists(st.lists(st.integers(UNKNOWN, 4), max_size=8), max_size=6)


@given(texts, st.integers(1, 5), st.data())
def test_window_counts_equal_the_literal_ones(rows, window, data):
    times = data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    expected = np.zeros((5, 5))
    for row, times_of_row in zip(rows, times, strict=True):
        for a in range(len(row)):
            for b in range(len(row)):
                if a != b and abs(a - b) <= window and UNKNOWN not in (row[a], row[b]) and row[a] != row[b]:
                    expected[row[a], row[b]] += times_of_row
    sequences = Sequences(
        np.array([i for row in rows for i in row], dtype=np.int32),
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
    )
    C = semantics.window_cooccurrence(sequences, 5, window, weights=times)
    np.testing.assert_array_equal(C.toarray(), expected)
    in_blocks = semantics.window_cooccurrence(
        [sequences.take(np.array([i])) for i in range(len(rows))], 5, window, weights=[[t] for t in times]
    )
    np.testing.assert_array_equal(in_blocks.toarray(), expected)


@given(count_matrices(), st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from([1.0, 0.75]))
def test_ppmi_equals_the_formula(X, shift, smoothing):
    C = semantics.cooccurrence(X)
    P = semantics.ppmi(C, shift, smoothing)
    assert issparse(P)
    np.testing.assert_allclose(P.toarray(), literal_ppmi(C.toarray(), shift, smoothing), atol=1e-12)


@given(count_matrices(max_rows=10), st.integers(1, 3))
def test_correlation_is_known_by_its_products(X, width):
    P = semantics.ppmi(semantics.cooccurrence(X))
    S = unit(P.toarray()) @ unit(P.toarray()).T
    operator = semantics.TermCorrelation(P)
    Q = np.random.default_rng(0).normal(size=(len(S), width))
    np.testing.assert_allclose(operator @ Q, S @ Q, atol=1e-10)
    np.testing.assert_allclose(operator.diagonal(), np.diag(S), atol=1e-10)
    np.testing.assert_allclose(operator.squared_norm, (S**2).sum(), atol=1e-10)
    assert operator.density == pytest.approx(np.mean(S > 1e-14))


def literal_gram(X, kind):
    centred = X - X.mean(axis=0)
    if kind == "assc":
        return X.T @ X
    if kind == "assc_n":
        length = np.linalg.norm(X, axis=0)
        return X.T @ X / np.where(np.outer(length, length) > 0, np.outer(length, length), np.inf)
    if kind == "cov":
        return centred.T @ centred / (len(X) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(np.corrcoef(X, rowvar=False).reshape(X.shape[1], X.shape[1]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", semantics.GRAMS)
@given(X=count_matrices(), blocks=st.booleans())
def test_gram_equals_the_formula(kind, X, blocks):
    assume(len(X) > 1)
    expected = literal_gram(X, kind)
    rows = [Block(csr_matrix(X[i : i + 2]), np.ones(len(X[i : i + 2])), i) for i in range(0, len(X), 2)]
    gram = semantics.TermGram.of(MemoryEngine(rows, 2) if blocks else X, kind)
    Q = np.random.default_rng(1).normal(size=(X.shape[1], 3))
    np.testing.assert_allclose(gram @ Q, expected @ Q, atol=1e-9)
    np.testing.assert_allclose(gram @ Q[:, 0], expected @ Q[:, 0], atol=1e-9)
    np.testing.assert_allclose(gram.diagonal(), np.diag(expected), atol=1e-9)
    some = [0, X.shape[1] - 1]
    np.testing.assert_allclose(gram.columns(some), expected[:, some], atol=1e-9)


@given(count_matrices(), st.randoms(use_true_random=False))
def test_order_of_terms_only_orders_terms(X, random):
    order = list(range(X.shape[1]))
    random.shuffle(order)
    P, Q = (semantics.ppmi(semantics.cooccurrence(M)).toarray() for M in (X, X[:, order]))
    np.testing.assert_allclose(P[order][:, order], Q, atol=1e-12)


def test_nothing_dense_of_terms_by_terms():
    # 100,000 terms: one dense matrix of terms × terms would take 80 GB
    rng = np.random.default_rng(0)
    rows, cols = np.repeat(np.arange(20_000), 5), rng.integers(0, 100_000, 100_000)
    X = csr_matrix((np.ones(100_000), (rows, cols)), shape=(20_000, 100_000))
    peaks = []
    for n_rows in (10_000, 20_000):
        tracemalloc.start()
        C = semantics.cooccurrence(X[:n_rows])
        S = semantics.TermCorrelation(semantics.ppmi(C))
        assert (S @ np.ones((100_000, 2))).shape == (100_000, 2)
        for kind in semantics.GRAMS:
            semantics.TermGram.of(X[:n_rows], kind) @ np.ones(100_000)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 100e6
    assert peaks[1] < 2.2 * peaks[0]


def test_nothing_at_all():
    empty = csr_matrix((0, 3))
    assert semantics.cooccurrence(empty).nnz == 0
    assert semantics.ppmi(csr_matrix((3, 3))).nnz == 0
    assert semantics.TermCorrelation(csr_matrix((0, 0))).density == 0
    assert semantics.window_cooccurrence(Sequences.concatenate([]), 3).shape == (3, 3)
    for kind in semantics.GRAMS:
        assert not (semantics.TermGram.of(empty, kind) @ np.ones(3)).any()


def test_wrong_parameters_are_told():
    with pytest.raises(InputError, match="shift must be positive, got 0"):
        semantics.ppmi(np.eye(2), shift=0)
    with pytest.raises(InputError, match="window must be at least 1, got 0"):
        semantics.window_cooccurrence(Sequences.concatenate([]), 3, window=0)
    with pytest.raises(InputError, match="kind must be one of assc, assc_n, cov, pcor; got 'cosine'"):
        semantics.TermGram.of(np.eye(2), "cosine")


# --- more pairs than fit


@settings(deadline=None)
@given(st.integers(2, 25), st.integers(2, 12), st.integers(1, 80), st.integers(0, 5))
def test_the_most_frequent_pairs_are_kept_in_any_number_of_slices(n_rows, n_terms, most, seed):
    X = random(n_rows, n_terms, 0.4, format="csr", rng=np.random.default_rng(seed))
    weights = np.random.default_rng(seed).integers(1, 4, n_rows).astype(float)
    every = cooccurrence(X, weights)
    least = next(c for c in range(1, 1_000) if (every.data >= c).sum() <= most)
    expected = np.where(every.toarray() >= least, every.toarray(), 0.0)
    for events in (1, 7, 1 << 27):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("coterie.semantics._EVENTS", events)
            found = frequent_cooccurrence(as_engine(X, weights), most)
        np.testing.assert_array_equal(found.toarray(), expected)


def test_weights_that_are_no_whole_numbers_are_not_rounded():
    X, weights = np.array([[1, 1], [1, 1]]), [0.1, 0.25]
    np.testing.assert_array_equal(
        frequent_cooccurrence(as_engine(X, weights)).toarray(), [[0.0, 0.35], [0.35, 0.0]]
    )
