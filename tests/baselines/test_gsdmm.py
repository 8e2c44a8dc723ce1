"""GSDMM: the sampler against the formula of the paper written out, and what follows from its counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import GSDMM
from coterie.baselines import gsdmm as kernels
from coterie.engines import Block
from coterie.errors import InputError
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import planted

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([GSDMM(n_iter=5, fractions="ceil")], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


def literal_weights(X, labels, i, n_topics, alpha, beta):
    """p(k) of text i given the topics of all others, up to a factor; every count is counted anew."""
    others, n_terms = np.arange(len(X)) != i, np.count_nonzero(X.any(axis=0))
    weights = []
    for k in range(n_topics):
        inside = X[others & (labels == k)]
        weight = len(inside) + alpha
        place = 0
        for w, times in enumerate(X[i]):
            for j in range(int(times)):
                weight *= inside[:, w].sum() + beta + j
                weight /= inside.sum() + n_terms * beta + place
                place += 1
        weights.append(weight)
    return np.array(weights)


def literal_sample(X, n_topics, alpha, beta, n_iter, random):
    """The topics of all texts after the last round."""
    labels = random.randint(n_topics, size=len(X))
    for _ in range(n_iter):
        for i, chance in enumerate(random.uniform(size=len(X))):
            running, total = 0.0, literal_weights(X, labels, i, n_topics, alpha, beta)
            for k in range(n_topics):
                running += total[k]
                if running > chance * total.sum():
                    labels[i] = k
                    break
    return labels


@settings(max_examples=40)
@given(
    with_weights(count_matrices()), st.integers(1, 5), st.sampled_from([0.01, 0.1, 1.0]), st.integers(0, 100)
)
def test_the_sampler_is_the_formula_written_out(case, n_topics, prior, seed):
    X, copies = case
    filled = X.any(axis=1)
    X, copies = X[filled], copies[filled]
    texts = kernels.texts_of(Block(csr_matrix(X), copies.astype(float), 0))
    found, moved = kernels.sample(
        texts, X.shape[1], n_topics, alpha=0.3, beta=prior, n_iter=3, random=np.random.RandomState(seed)
    )
    written = np.repeat(X, copies, axis=0)
    labels = literal_sample(written, n_topics, 0.3, prior, 3, np.random.RandomState(seed))
    member = np.eye(n_topics)[labels]
    np.testing.assert_array_equal(found.words.T, member.T @ written)
    np.testing.assert_array_equal(found.texts, member.sum(axis=0))
    np.testing.assert_array_equal(found.totals, found.words.sum(axis=0))
    assert len(moved) == 3
    assert all(0 <= share <= 1 for share in moved)


def test_long_texts_do_not_underflow():
    """A text of 3,000 words, where the product alone is 0: its two halves say the same of both topics."""
    rng = np.random.default_rng(0)
    X = np.zeros((4, 400))
    for row in range(4):
        np.add.at(X[row], 200 * (row % 2) + rng.integers(200, size=3000), 1)
    texts = kernels.texts_of(Block(csr_matrix(X), np.ones(4), 0))
    topics = kernels.Topics(np.zeros(2), np.zeros(2), np.zeros((400, 2)))
    for text, k in zip(texts[:2], (0, 1), strict=True):
        kernels.put(topics, text, k, 1.0)
    weights = kernels.weights_of(topics, texts[2], topics.texts + 0.1, np.full(400, 0.1), 40.0)
    assert weights[0] > 0
    assert weights[0] / weights.sum() > 0.999
    assert GSDMM(2, random_state=0).fit(X).labels_.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])


@settings(max_examples=40)
@given(count_matrices(), st.integers(1, 4), st.integers(0, 100))
def test_memberships_are_the_formula_written_out(X, n_topics, seed):
    model = GSDMM(n_topics, random_state=seed, n_iter=3).fit(X)
    for x, found in zip(X, model.transform(X), strict=True):
        weights = model.topic_texts_ + model.alpha
        for w, times in enumerate(x):
            weights = weights * model.components_[:, w] ** times
        expected = weights / weights.sum() if x.any() else np.zeros(n_topics)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=30)
@given(with_weights(count_matrices()), st.sampled_from([0.01, 0.1, 2.0]))
def test_one_topic_is_the_smoothed_counts(case, beta):
    X, copies = case
    model = GSDMM(1, beta=beta, n_iter=2, random_state=0).fit(X, sample_weight=copies)
    counts = copies @ X
    seen = counts > 0
    expected = np.where(seen, counts + beta, 0) / max(counts.sum() + seen.sum() * beta, 1e-300)
    np.testing.assert_allclose(model.components_[0], expected, rtol=1e-9)


def test_topics_that_are_too_many_run_empty():
    X, truth = planted(300, 3, noise=0)
    model = GSDMM(12, random_state=0).fit(X)
    empty = model.topic_texts_ == 0
    assert empty.sum() >= 6
    assert not model.components_[empty].any()
    assert not model.transform(X)[:, empty].any()
    assert nmi(truth, model.labels_) > 0.9
    assert model.moved_[-1] < model.moved_[0]


def test_a_word_that_was_never_seen_says_nothing():
    X = np.hstack([planted(60, 3, noise=0)[0].toarray(), np.zeros((60, 1))])
    model = GSDMM(3, random_state=0).fit(X)
    strange = np.zeros((2, X.shape[1]))
    strange[1, -1] = 3
    assert not model.transform(strange).any()
    beside = X[:1].copy()
    beside[0, -1] = 2
    np.testing.assert_array_equal(model.transform(beside), model.transform(X[:1]))


def test_the_seed_decides():
    X, _ = planted(60, 3)
    first, same, other = (GSDMM(5, random_state=seed, n_iter=1).fit(X).components_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_fractions_are_refused_or_counted_up():
    X = np.array([[1, 0.2], [0, 2]])
    with pytest.raises(InputError, match=r"X must contain counts for GSDMM, got 0.2; fractions='ceil'"):
        GSDMM(2).fit(X)
    model, counted = GSDMM(2, fractions="ceil", random_state=0).fit(X), GSDMM(2, random_state=0)
    np.testing.assert_array_equal(model.components_, counted.fit(np.ceil(X)).components_)
    with pytest.raises(InputError, match=r"sample_weight must contain whole numbers for GSDMM, got 1.5"):
        GSDMM(2).fit(np.eye(2), sample_weight=[1, 1.5])


@pytest.mark.slow
def test_titles(dataset):
    from coterie import Vectorizer

    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    found = [nmi(titles.labels, GSDMM(9, random_state=seed).fit(X).labels_) for seed in range(3)]
    assert np.mean(found) > 0.4, found
