"""GSDMM+: start, sampler, priors and merging against loops written out, and what follows from them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import GSDMMPlus
from coterie.baselines import gsdmm_plus as kernels
from coterie.baselines.gsdmm import Topics, texts_of
from coterie.engines import Block, as_engine
from coterie.errors import InputError
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import planted

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([GSDMMPlus(n_iter=5, fractions="ceil")], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


def literal_entropies(X, labels, n_start):
    """Of each term, over all clusters, empty ones as well."""
    found = []
    for w in range(X.shape[1]):
        entropy = 0.0
        for k in range(n_start):
            p = X[labels == k, w].sum() / max(X[labels >= 0, w].sum(), 1)
            p = max(p, 1e-10)
            entropy -= p * np.log2(p)
        found.append(entropy)
    return np.array(found)


def literal_weights(X, labels, i, n_start, alpha, prior):
    """p(k) of text i given the clusters of all others, up to a factor; every count is counted anew."""
    weights = []
    for k in range(n_start):
        inside = X[labels == k]
        weight = len(inside) + alpha if len(inside) else 0.0
        place = 0
        for w, times in enumerate(X[i]):
            for j in range(int(times)):
                weight *= (inside[:, w].sum() + prior[w] + j) / (inside.sum() + prior.sum() + place)
                place += 1
        weights.append(weight)
    return np.array(weights)


def literal_draw(weights, chance):
    running = 0.0
    for k, weight in enumerate(weights):
        running += weight
        if running > chance * weights.sum():
            return k
    raise AssertionError("no cluster is open")


def literal_sample(X, prior, n_start, alpha, n_iter, n_updates, random):
    """The cluster of each text after the last round, and the priors."""
    labels = np.full(len(X), -1)
    labels[random.permutation(len(X))[:n_start]] = np.arange(n_start)
    chances = iter(random.uniform(size=len(X)))
    for i in np.flatnonzero(labels < 0):
        labels[i] = literal_draw(literal_weights(X, labels, i, n_start, alpha, prior), next(chances))
    for round_ in range(n_iter):
        for i, chance in enumerate(random.uniform(size=len(X))):
            labels[i] = -1
            if i % max(len(X) // n_updates, 1) == 0:
                prior = literal_entropies(X, labels, n_start)
                prior = prior / prior.max()
            weights = literal_weights(X, labels, i, n_start, alpha, prior)
            if round_ == n_iter - 1:
                # the largest one; the first of those that differ in the last digits only
                labels[i] = np.flatnonzero(weights > weights.max() * (1 - 1e-9))[0]
            else:
                labels[i] = literal_draw(weights, chance)
    return labels, prior


def literal_cosine(one, other, idf):
    one, other = one * idf, other * idf
    return one @ other / np.sqrt(one @ one * (other @ other))


def counted(labels, X):
    """Clusters × terms, and texts in each cluster, of the clusters that are not empty."""
    clusters = sorted(set(labels.tolist()))
    return np.array([X[labels == k].sum(axis=0) for k in clusters]), [(labels == k).sum() for k in clusters]


def written(case):
    """Texts one by one, without empty rows and columns."""
    X, copies = case
    filled = X.any(axis=1)
    X, copies = X[filled], copies[filled]
    X = X[:, X.any(axis=0)] if len(X) else X
    return X, copies, np.repeat(X, copies, axis=0)


@settings(max_examples=40, deadline=None)
@given(
    with_weights(count_matrices(5, 5)), st.integers(2, 5), st.sampled_from([1, 2, 15]), st.integers(0, 100)
)
def test_the_sampler_is_the_formula_written_out(case, n_start, n_updates, seed):
    X, copies, rows = written(case)
    n_start = min(n_start, len(rows))
    assume(n_start > 1)
    beta = np.full(X.shape[1], 0.05)
    found, prior = kernels.sample(
        texts_of(Block(csr_matrix(X), copies.astype(float), 0)), beta, n_start,
        alpha=0.3, n_iter=3, n_updates=n_updates, random=np.random.RandomState(seed),
    )  # fmt: skip
    labels, priors = literal_sample(rows, beta, n_start, 0.3, 3, n_updates, np.random.RandomState(seed))
    words, sizes = counted(labels, rows)
    np.testing.assert_allclose(prior, priors, rtol=1e-9)
    np.testing.assert_array_equal(found.words.T, words)
    np.testing.assert_array_equal(found.texts, sizes)
    np.testing.assert_array_equal(found.totals, words.sum(axis=1))


@settings(max_examples=60)
@given(count_matrices(8, 6), st.integers(1, 4), st.integers(0, 5))
def test_the_most_similar_clusters_are_merged_first(X, n_topics, more):
    words = X[X.any(axis=1)]
    n_start = len(words) + more
    topics = Topics(np.arange(1.0, len(words) + 1), words.sum(axis=1), words.T.copy())
    sizes, merged = kernels.merged(topics, n_topics, n_start)

    clusters = [(k + 1, row.copy()) for k, row in enumerate(words)]
    idf_of = lambda: np.log((1 + n_start) / (1 + sum(row > 0 for _, row in clusters))) + 1  # noqa: E731
    cosine = {}
    if clusters:
        idf = idf_of()
        cosine = {
            (a, b): literal_cosine(words[a], words[b], idf) for a, b in combinations(range(len(words)), 2)
        }
    alive = dict(enumerate(clusters))
    while len(alive) > n_topics:
        best = max(cosine.values())
        a, b = min(pair for pair, value in cosine.items() if value > best - 1e-12)
        assume(sum(value > best - 1e-9 for value in cosine.values()) == 1)  # no ties
        alive[a] = (alive[a][0] + alive[b][0], alive[a][1] + alive[b][1])
        del alive[b]
        clusters = list(alive.values())
        idf = idf_of()
        cosine = {pair: value for pair, value in cosine.items() if not {a, b} & set(pair)}
        for other in alive:
            if other != a:
                cosine[min(a, other), max(a, other)] = literal_cosine(alive[a][1], alive[other][1], idf)
    assert sizes.tolist() == [size for size, _ in alive.values()]
    np.testing.assert_array_equal(merged, np.array([row for _, row in alive.values()]).reshape(merged.shape))
    assert topics.texts.tolist() == list(range(1, len(words) + 1))  # what was given is left alone


def test_a_term_of_few_clusters_has_a_small_prior_and_one_of_all_a_large_one():
    X, _ = planted(200, 3, own=6, common=4, words=6, noise=2)
    model = GSDMMPlus(6, n_start=6, random_state=0).fit(X)
    assert model.n_clusters_ > 2
    own, common = model.term_priors_[:18], model.term_priors_[18:]
    assert own.max() < 0.75
    assert common.min() > 0.85
    assert model.term_priors_.max() == 1.0


def test_more_clusters_than_wanted_are_merged_and_fewer_stay():
    X, truth = planted(300, 3, noise=0)
    for n_topics in (3, 40):
        model = GSDMMPlus(n_topics, random_state=0).fit(X)
        assert model.n_clusters_ >= 3
        left = min(model.n_clusters_, n_topics)
        assert (model.topic_texts_ > 0).tolist() == [True] * left + [False] * (n_topics - left)
        assert model.topic_texts_.sum() == 300
        assert not model.components_[left:].any()
        assert not model.transform(X)[:, left:].any()
        assert nmi(truth, model.labels_) > 0.6


@settings(max_examples=40)
@given(count_matrices(), st.integers(1, 4), st.integers(0, 100))
def test_memberships_are_the_formula_written_out(X, n_topics, seed):
    model = GSDMMPlus(n_topics, random_state=seed, n_iter=3).fit(X)
    for x, found in zip(X, model.transform(X), strict=True):
        weights = model.topic_texts_ + model.alpha
        for w, times in enumerate(x):
            weights = weights * model.components_[:, w] ** times
        expected = weights / weights.sum() if x.any() else np.zeros(n_topics)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


@settings(max_examples=30)
@given(with_weights(count_matrices()))
def test_one_topic_is_the_counts_with_the_priors(case):
    X, copies = case
    model = GSDMMPlus(1, n_iter=2, random_state=0).fit(X, sample_weight=copies)
    counts, prior = copies @ X, model.term_priors_
    assert ((prior > 0) == (counts > 0)).all()
    expected = (counts + prior) / max((counts + prior).sum(), 1e-300)
    np.testing.assert_allclose(model.components_[0], expected, rtol=1e-9)


def test_long_texts_do_not_underflow():
    """Texts of 3,000 words, each with its own terms: priors of other clusters are next to nothing."""
    rng = np.random.default_rng(0)
    X = np.zeros((6, 600))
    for row in range(6):
        np.add.at(X[row], 200 * (row % 3) + rng.integers(200, size=3000), 1)
    model = GSDMMPlus(3, n_start=3, random_state=1).fit(X)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(X)).all()
    assert (model.labels_[:3] == model.labels_[3:]).all()


def test_the_seed_decides():
    X, _ = planted(60, 3)
    first, same, other = (GSDMMPlus(5, random_state=seed, n_iter=2).fit(X).components_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_fractions_are_refused_or_counted_up():
    X = np.array([[1, 0.2], [0, 2]])
    with pytest.raises(InputError, match=r"X must contain counts for GSDMMPlus, got 0.2; fractions='ceil'"):
        GSDMMPlus(2).fit(X)
    model = GSDMMPlus(2, fractions="ceil", random_state=0).fit(as_engine(X))
    whole = GSDMMPlus(2, random_state=0).fit(as_engine(np.ceil(X)))
    np.testing.assert_array_equal(model.components_, whole.components_)


@pytest.mark.slow
def test_tweets(dataset):
    """The set that the authors' program is set up for, with its number of classes."""
    from coterie import Vectorizer

    tweets = dataset("tweet")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(tweets.texts)
    assert nmi(tweets.labels, GSDMMPlus(89, random_state=0).fit(X).labels_) > 0.85
