"""The biterm topic model: biterms, sampler and inference against loops written out, and the contract."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import BTM
from coterie.baselines import biterms as kernels
from coterie.engines import Block, MemoryEngine, as_engine
from coterie.errors import InputError
from coterie.methods.state import pack_estimator, unpack_estimator
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import planted

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([BTM(n_iter=5, fractions="ceil")], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


def literal_biterms(X, copies):
    return [
        pair
        for row, n in zip(X, copies, strict=True)
        for _ in range(n)
        for pair in combinations(np.flatnonzero(row), 2)
    ]


def literal_sample(pairs, alpha, beta, n_iter, chunk, random):
    """Topic of each biterm after the last round; every count is counted anew at the beginning of a chunk.

    `alpha` has a prior for each topic, `beta` one for each topic and term.
    """
    n_topics = len(alpha)
    labels = random.randint(n_topics, size=len(pairs))
    for _ in range(n_iter):
        chances = random.uniform(size=len(pairs))
        for start in range(0, len(pairs), chunk):
            frozen = labels.copy()
            for b in range(start, min(start + chunk, len(pairs))):
                weights = np.zeros(n_topics)
                for k in range(n_topics):
                    inside = [pair for c, pair in enumerate(pairs) if c != b and frozen[c] == k]
                    of = [sum(w in pair for pair in inside) + beta[k, w] for w in pairs[b]]
                    total = 2 * len(inside) + beta[k].sum()
                    weights[k] = (len(inside) + alpha[k]) * of[0] * of[1] / (total * (total + 1))
                running = 0.0
                for k in range(n_topics):
                    running += weights[k]
                    if running > chances[b] * weights.sum():
                        labels[b] = k
                        break
    return labels


@settings(max_examples=30)
@given(with_weights(count_matrices()))
def test_biterms_are_the_pairs_of_different_terms(case):
    X, copies = case
    first, second = kernels.biterms_of(Block(csr_matrix(X), copies.astype(float), 0), None)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == literal_biterms(X, copies)


@pytest.mark.parametrize("cells", [1, 1 << 15])
@pytest.mark.parametrize("chunk", [1, 4])
@settings(max_examples=20)
@given(
    case=with_weights(count_matrices(5, 5)),
    n_topics=st.integers(1, 4),
    beta=st.sampled_from([0.01, 1.0]),
    seed=st.integers(0, 100),
)
def test_the_sampler_is_the_formula_written_out(chunk, cells, case, n_topics, beta, seed):
    X, copies = case
    pairs = literal_biterms(X, copies)
    n_terms = X.shape[1]
    first, second = kernels.biterms_of(Block(csr_matrix(X), copies.astype(float), 0), None)
    prior = kernels.Topics.prior(np.full(n_topics, 0.7), np.full((n_terms, n_topics), beta))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "SHARE", 1.0)  # chunks as large as they may be, however few biterms there are
        patch.setattr(kernels, "_CELLS", cells)
        found = kernels.sample(first, second, prior, 3, chunk, np.random.RandomState(seed))
    alpha, betas = np.full(n_topics, 0.7), np.full((n_topics, n_terms), beta)
    labels = literal_sample(pairs, alpha, betas, 3, chunk, np.random.RandomState(seed))
    words = np.full((n_terms, n_topics), beta)
    for pair, k in zip(pairs, labels, strict=True):
        words[list(pair), k] += 1
    np.testing.assert_allclose(found.words, words, atol=1e-9)
    np.testing.assert_allclose(found.biterms, np.bincount(labels, minlength=n_topics) + 0.7, atol=1e-9)
    np.testing.assert_allclose(found.totals, words.sum(axis=0), atol=1e-9)


def test_a_chunk_is_a_hundredth_of_all_at_most():
    assert [kernels.chunk_of(n, 1024) for n in (0, 50, 200, 10_000, 10**6)] == [1, 1, 2, 100, 1024]
    assert kernels.chunk_of(10**6, 1) == 1


@settings(max_examples=40)
@given(count_matrices(), st.integers(1, 4), st.integers(0, 100))
def test_topics_of_texts_are_the_formula_written_out(X, n_topics, seed):
    rng = np.random.default_rng(seed)
    phi, theta = rng.dirichlet(np.ones(X.shape[1]), n_topics), rng.dirichlet(np.ones(n_topics))
    phi[:, 0] = 0  # a term of no topic
    found = kernels.shares_of_topics(csr_matrix(X), phi, theta)
    for x, shares in zip(X, found, strict=True):
        terms = [w for w in np.flatnonzero(x) if w > 0]
        pairs = list(combinations(terms, 2)) or [(w,) for w in terms]
        expected = np.zeros(n_topics)
        for pair in pairs:
            share = theta * np.prod(phi[:, list(pair)], axis=1)
            expected += share / share.sum() / len(pairs)
        np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-12)


def test_one_topic_is_the_smoothed_counts():
    X = np.array([[1, 2, 1, 0], [0, 1, 1, 0], [1, 0, 0, 0]])
    model = BTM(1, beta=0.5, n_iter=2, random_state=0).fit(X)
    counts = np.array([2, 3, 3, 0])  # occurrences in the four biterms
    np.testing.assert_allclose(model.components_[0], np.where(counts, counts + 0.5, 0) / (8 + 3 * 0.5))
    assert model.topic_shares_.tolist() == [1.0]


@pytest.mark.parametrize("chunk_size", [1, 1024])
def test_planted_topics_are_found_with_and_without_chunks(chunk_size):
    X, truth = planted(150, 3, words=5, noise=1)
    model = BTM(3, alpha=1.0, n_iter=15, chunk_size=chunk_size, random_state=0).fit(X)
    assert nmi(truth, model.labels_) > 0.8


def test_the_prior_of_the_paper_is_fifty_over_the_number_of_topics():
    X, _ = planted(60, 3)
    given, default = (BTM(4, alpha=alpha, n_iter=3, random_state=0).fit(X) for alpha in (12.5, None))
    np.testing.assert_array_equal(given.components_, default.components_)


# slices, one after another


def in_slices(slices, n_topics=3, **settings):
    model = BTM(n_topics, **{"alpha": 1.0, "n_iter": 15, "random_state": 0} | settings)
    for X in slices:
        model.partial_fit(X)
    return model


@settings(max_examples=25)
@given(
    cases=st.lists(with_weights(count_matrices(4, 5)), min_size=2, max_size=3),
    n_topics=st.integers(1, 3),
    decay=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 100),
)
def test_slices_are_the_online_model_written_out(cases, n_topics, decay, seed):
    """Blocks of an engine, whose rows and columns stay where they are."""
    n_terms = max(X.shape[1] for X, _ in cases)
    model = BTM(n_topics, alpha=0.7, beta=0.05, n_iter=2, chunk_size=1, decay=decay, random_state=seed)
    alpha, counts = np.full(n_topics, 0.7), np.zeros((n_topics, n_terms))
    seen = np.zeros(n_terms, dtype=bool)
    for narrow, copies in cases:
        X = np.pad(narrow, ((0, 0), (0, n_terms - narrow.shape[1])))
        model.partial_fit(MemoryEngine([Block(csr_matrix(X), copies.astype(float), 0)]))
        seen |= X.any(axis=0)
        beta = 0.05 * seen + decay * counts
        pairs = literal_biterms(X, copies)
        labels = literal_sample(pairs, alpha, beta, 2, 1, np.random.RandomState(seed))
        words = np.zeros((n_topics, n_terms))
        for pair, k in zip(pairs, labels, strict=True):
            words[k, list(pair)] += 1
        many = np.bincount(labels, minlength=n_topics)
        theta, phi = many + alpha, words + beta
        np.testing.assert_allclose(model.topic_shares_, theta / theta.sum(), rtol=1e-9)
        total = phi.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.components_, phi / np.where(total > 0, total, 1), rtol=1e-9)
        alpha = alpha + decay * many  # the priors of the next slice
        counts += words


def test_the_first_slice_is_a_fit_and_fit_begins_anew():
    X, _ = planted(90, 3)
    first, fitted = in_slices([X]), in_slices([X, X]).fit(X)
    for name in ("components_", "topic_shares_", "term_biterms_", "labels_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(in_slices([]).fit(X), name))
        np.testing.assert_array_equal(getattr(fitted, name), getattr(first, name))


def test_topics_keep_their_numbers_from_slice_to_slice():
    X, truth = planted(300, 3, words=5, noise=1)
    model = in_slices([X[:150]])
    before = [np.bincount(model.labels_[truth[:150] == k], minlength=3).argmax() for k in range(3)]
    model.partial_fit(X[150:])
    after = [np.bincount(model.labels_[truth[150:] == k], minlength=3).argmax() for k in range(3)]
    assert sorted(before) == [0, 1, 2]
    assert after == before
    assert nmi(truth, model.predict(X)) > 0.8


def test_the_order_of_slices_matters_and_that_of_texts_and_terms_inside_does_not():
    X, _ = planted(200, 3, words=5, noise=1)
    rng = np.random.default_rng(0)
    one, two = X[:80], X[80:]
    model, turned = in_slices([one, two]), in_slices([two, one])
    assert model.topic_biterms_.sum() == turned.topic_biterms_.sum()
    assert np.abs(model.components_ - turned.components_).max() > 1e-3
    columns = rng.permutation(X.shape[1])
    mixed = in_slices([part[rng.permutation(part.shape[0])][:, columns] for part in (one, two)])
    np.testing.assert_allclose(mixed.components_, model.components_[:, columns], rtol=1e-9)
    np.testing.assert_array_equal(mixed.term_biterms_, model.term_biterms_[:, columns])


def test_decay_0_forgets_and_1_counts_every_slice_in_full():
    X, _ = planted(300, 3, own=6, common=5)
    one, two = X[:150], X[150:]
    assert (one.sum(axis=0) > 0).all()
    assert (two.sum(axis=0) > 0).all()
    np.testing.assert_array_equal(in_slices([one, two], decay=0.0).components_, in_slices([two]).components_)
    whole, slices = in_slices([X], n_topics=1), in_slices([one, two], n_topics=1)
    np.testing.assert_allclose(slices.components_, whole.components_, rtol=1e-9)
    half = in_slices([one, two], n_topics=1, decay=0.5)
    assert np.abs(half.components_ - whole.components_).max() > 1e-5


def test_a_saved_model_goes_on_with_the_next_slice():
    X, _ = planted(120, 3)
    model = in_slices([X[:60]])
    again = unpack_estimator(pack_estimator(model))
    np.testing.assert_array_equal(
        again.partial_fit(X[60:]).components_, model.partial_fit(X[60:]).components_
    )


def test_a_slice_that_does_not_fit_changes_nothing():
    X, _ = planted(60, 3)
    model = in_slices([X])
    known = model.components_.copy()
    with pytest.raises(
        InputError, match=r"'n_topics' of BTM must stay 3 between slices, got 4; fit\(\) begins"
    ):
        model.set_params(n_topics=4).partial_fit(X)
    with pytest.raises(InputError, match=r"'decay' of BTM must be at most 1, got 1.5"):
        model.set_params(n_topics=3, decay=1.5).partial_fit(X)
    with pytest.raises(ValueError, match="features"):
        model.set_params(decay=1.0).partial_fit(X[:, 1:])
    with pytest.raises(InputError, match="features"):
        model.partial_fit(as_engine(X[:, 1:]))
    np.testing.assert_array_equal(model.components_, known)


def test_too_many_biterms_are_refused(monkeypatch):
    monkeypatch.setattr(kernels, "MOST_BITERMS", 5)
    with pytest.raises(InputError, match=r"X must have at most 5 pairs of terms .* for BTM, got 6$"):
        BTM(2).fit(np.ones((1, 4)))
    BTM(2, random_state=0).fit([[1, 1, 1, 0], [0, 0, 1, 1]])


def test_fractions_are_refused_or_counted_up():
    X = np.array([[1, 0.2], [0, 2]])
    with pytest.raises(InputError, match=r"X must contain counts for BTM, got 0.2; fractions='ceil'"):
        BTM(2).fit(X)
    model, counted = BTM(2, fractions="ceil", random_state=0).fit(X), BTM(2, random_state=0)
    np.testing.assert_array_equal(model.components_, counted.fit(np.ceil(X)).components_)


@pytest.mark.slow
def test_titles(dataset):
    from coterie import Vectorizer

    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    found = [nmi(titles.labels, BTM(9, random_state=seed).fit(X).labels_) for seed in range(3)]
    assert np.mean(found) > 0.4, found
