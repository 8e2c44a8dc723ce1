import numpy as np
import pytest

from coterie.cluster import mixture
from coterie.cluster.mixture import mixture_coefficients, refine_by_mixture
from coterie.metrics import nmi
from planted import corrupted, planted, sample_in_space, sample_of


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, length, where=length > 0, out=np.zeros_like(X))


def smoothing(X, shares, weights):
    """β as the mixture chooses it: how it is chosen is no part of the formula."""
    weighted = shares * weights[:, None]
    return mixture._Mixture((X.T @ weighted, np.zeros((1, shares.shape[1])), weighted.sum(axis=0))).smoothing


def evenness(sizes):
    """γ: 0 where clusters are equal, near 1 where one has all."""
    shares = sizes / sizes.sum()
    equal_clusters = 1 / (shares**2).sum()
    return np.sqrt(max(1 - equal_clusters / len(sizes), 0))


def literal(X, text_vectors, weights, labels, n_topics, sweeps, gamma=evenness, left_out=None):
    """The documented formula, text by text and cluster by cluster."""
    left_out = mixture._LEFT_OUT if left_out is None else left_out
    shares = np.eye(n_topics)[labels]
    for _ in range(sweeps):
        best, weighted = shares.argmax(axis=1), shares * weights[:, None]
        counts, sums, sizes = weighted.T @ X, unit(weighted.T @ text_vectors), weighted.sum(axis=0)
        beta, odds = smoothing(X, shares, weights), np.zeros_like(shares)
        for i, text in enumerate(X):
            for k in range(n_topics):
                own = left_out * shares[i, k] * weights[i] * text if k == best[i] else 0.0
                kept = np.maximum(counts[k] - own, 0)
                p = (kept + beta) / (kept.sum() + beta * X.shape[1])
                odds[i, k] = text @ np.log(p) + mixture.CONCENTRATION * (text_vectors[i] @ sums[k])
        odds += gamma(sizes) * np.log(sizes + 1)
        shares = np.exp(odds - odds.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def vague(n_rows=150, n_terms=25, n_topics=4, seed=0):
    """Texts, vectors and labels that agree a little, clusters of uneven sizes."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(n_topics, n_rows, p=np.array([0.6, 0.2, 0.15, 0.05]))
    X = rng.poisson(0.1 + 0.3 * (np.arange(n_terms) % n_topics == labels[:, None])).astype(float)
    text_vectors = unit(rng.normal(size=(n_rows, 6)) + np.eye(6)[labels] * 1.0)
    text_vectors[~X.any(axis=1)] = 0
    return X, text_vectors, np.where(X.any(axis=1), rng.integers(1, 4, n_rows), 0).astype(float), labels


def swept(monkeypatch, sweeps, texts, labels, n_topics=4):
    monkeypatch.setattr(mixture, "_MOST_SWEEPS", sweeps)
    monkeypatch.setattr(mixture, "_SETTLED", 0.0)
    return refine_by_mixture(texts, labels, n_topics)


def clear(shares):
    """Texts whose likeliest cluster no rounding decides."""
    ordered = np.sort(shares, axis=1)
    return ordered[:, -1] - ordered[:, -2] > 1e-3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sweeps", [1, 2, 4])
def test_sweeps_are_those_of_the_formula(sweeps, seed, monkeypatch):
    X, text_vectors, weights, labels = vague(seed=seed)
    expected = literal(X, text_vectors, weights, labels, 4, sweeps)
    sure = clear(expected)
    assert sure.mean() > 0.95
    for block, threads in ((None, 1), (13, 2)):
        found = swept(monkeypatch, sweeps, sample_of(X, text_vectors, weights, block, threads), labels)
        np.testing.assert_array_equal(found[sure], expected.argmax(axis=1)[sure])
    assert (found != labels).mean() > 0.1


@pytest.mark.parametrize(
    "other",
    [{"left_out": 0.0}, {"left_out": 1.0}, {"gamma": lambda _: 0.0}, {"gamma": lambda _: 1.0}],
)
def test_the_formula_would_tell_the_difference(other, monkeypatch):
    found, expected = [], []
    for seed in range(3):
        X, text_vectors, weights, labels = vague(seed=seed)
        found.append(swept(monkeypatch, 1, sample_of(X, text_vectors, weights), labels))
        expected.append(literal(X, text_vectors, weights, labels, 4, 1, **other).argmax(axis=1))
    assert (np.concatenate(found) != np.concatenate(expected)).any()


def test_shares_of_texts_are_those_of_the_formula():
    X, text_vectors, weights, labels = vague()
    texts = sample_of(X, text_vectors, weights)
    block = texts.blocks[0]
    model = mixture._Mixture(mixture._hard_sums(block, labels, 4))
    found = model.shares(block, labels, np.ones(len(X)))
    np.testing.assert_allclose(found, literal(X, text_vectors, weights, labels, 4, 1), atol=2e-4)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_sizes_say_nothing_while_they_are_equal(monkeypatch):
    for seed in range(3):
        X, text_vectors, _, _ = vague(160, seed=seed)
        labels = np.random.default_rng(seed).permutation(np.arange(160) % 4)
        expected = literal(X, text_vectors, np.ones(160), labels, 4, 1, gamma=lambda _: 0.0)
        found = swept(monkeypatch, 1, sample_of(X, text_vectors), labels)
        sure = clear(expected)
        np.testing.assert_array_equal(found[sure], expected.argmax(axis=1)[sure])


def test_a_text_that_says_nothing_goes_to_the_largest(monkeypatch):
    X = np.vstack([np.eye(4)[np.repeat([0, 1, 2], [5, 20, 8])], np.zeros((1, 4))])
    labels = np.repeat([0, 1, 2, 0], [5, 20, 8, 1])
    assert swept(monkeypatch, 1, sample_of(X, weights=X.any(axis=1)), labels, 3)[-1] == 1


def test_a_rare_word_does_not_hold_a_text_where_it_is(monkeypatch):
    """A text among others of another cluster, held by nothing but a word of its own."""
    X = np.zeros((41, 30))
    X[:20, :3], X[20:40, 3:6] = 1, 1
    X[40, [0, 1, 2, 6]] = 1
    labels = np.repeat([0, 1, 1], [20, 20, 1])
    assert swept(monkeypatch, 3, sample_of(X), labels, 2).tolist() == [0] * 20 + [1] * 20 + [0]


def test_fewer_tokens_are_smoothed_more():
    X, _, _, labels = vague()
    shares = np.eye(4)[labels]
    betas = [smoothing(X, shares, np.full(len(X), weight)) for weight in (0.5, 1.0, 3.0)]
    assert betas == sorted(betas, reverse=True)
    assert betas[0] > betas[2] > 0


@pytest.mark.parametrize("shares", [None, [0.5, 0.2, 0.1, 0.1, 0.1]])
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_corrupted_labels_are_repaired(share, shares):
    X, truth = planted(400, 5, noise=2, shares=shares)
    labels = corrupted(truth, share)
    for texts in (sample_in_space(X), sample_of(X, block=90)):
        kept = labels.copy()
        assert nmi(truth, refine_by_mixture(texts, labels, 5)) > 0.98
        np.testing.assert_array_equal(labels, kept)  # what was given stays as it is


def test_weights_count(monkeypatch):
    """The same texts and labels; only how many texts each stands for decides the tie."""
    X = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]])
    labels = np.array([0, 0, 1, 1, 0, 1, 1])
    for heavy, expected in ((4, 0), (5, 1)):
        weights = np.ones(7)
        weights[heavy] = 50
        assert swept(monkeypatch, 4, sample_of(X, weights=weights), labels, 2)[6] == expected


def test_it_ends_when_little_moves(monkeypatch):
    X, truth = planted(300, 5)
    seen = []
    sweep = mixture._sweep
    monkeypatch.setattr(mixture, "_sweep", lambda *given: seen.append(sweep(*given)) or seen[-1])
    refine_by_mixture(sample_in_space(X), truth, 5)
    assert len(seen) == 1
    assert seen[0].changed == 0
    assert seen[0].sizes.sum() == pytest.approx(300)


def test_an_empty_cluster_and_one_cluster():
    X, truth = planted(100, 3)
    assert not refine_by_mixture(sample_of(X), np.zeros(100, dtype=int), 1).any()
    assert nmi(truth, refine_by_mixture(sample_of(X), truth, 6)) > 0.9


def test_it_stops_before_one_cluster_takes_nearly_all(monkeypatch):
    """Four equal parts of one topic, in three of them some of another: all of the first belong together."""
    X, truth = planted(240, 4, shares=[0.91, 0.03, 0.03, 0.03], words=60, noise=0)
    labels = np.where(truth == 0, np.arange(240) % 4, truth)
    np.testing.assert_array_equal(refine_by_mixture(sample_of(X), labels, 4), labels)
    monkeypatch.setattr(mixture, "_STILL_EVEN", 0.0)
    assert nmi(truth, refine_by_mixture(sample_of(X), labels, 4)) > 0.98


@pytest.mark.parametrize("block", [None, 13])
def test_texts_are_placed_by_words_of_mean_length_and_by_centres(block):
    X, text_vectors, weights, labels = vague()
    idf = np.linspace(0.5, 3.0, X.shape[1])
    fitted = mixture_coefficients(sample_of(X, text_vectors, weights, block), labels, 4, idf)
    shares = np.eye(4)[labels]
    weighted = shares * weights[:, None]
    counts, centers = weighted.T @ X, unit(weighted.T @ text_vectors)
    beta = smoothing(X, shares, weights)
    log_p = np.log((counts + beta) / (counts.sum(axis=1, keepdims=True) + beta * X.shape[1]))
    length = np.sqrt(((X * idf) ** 2).sum(axis=1))
    mean = weights @ length / weights.sum()
    for text, vector, own in zip(X, text_vectors, length, strict=True):
        if own:
            words = text * idf / own
            odds = mean / own * (text @ (log_p - log_p.mean(axis=0)).T) / mixture.CONCENTRATION
            scores = words @ fitted.terms + vector @ fitted.axes
            np.testing.assert_allclose(scores, odds + centers @ vector, atol=1e-4)
    np.testing.assert_allclose(fitted.base, weighted.sum(axis=0) / weights.sum(), rtol=1e-6)
