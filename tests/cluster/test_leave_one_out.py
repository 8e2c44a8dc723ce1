import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.cluster import leave_one_out
from coterie.cluster.leave_one_out import Coefficients, LeaveOneOut
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import corrupted, planted, sample_in_space, sample_of

ALPHA, BESIDE = leave_one_out._PENALTY, leave_one_out._DIRECTIONS


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, length, where=length > 0, out=np.zeros_like(X))


def noise(n_rows=60, n_terms=15, n_axes=4, n_topics=3, seed=0):
    """Texts, vectors, weights and labels that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.3, (n_rows, n_terms)).astype(float)
    X[~X.any(axis=1), 0] = 1
    text_vectors = unit(rng.normal(size=(n_rows, n_axes)))
    return X, text_vectors, rng.integers(1, 4, n_rows).astype(float), rng.integers(n_topics, size=n_rows)


class Literal:
    """Ridge regression of centred memberships by dense matrices."""

    def __init__(self, X, text_vectors, weights, labels, n_topics):
        self.F = np.hstack([unit(X), BESIDE * text_vectors])
        self.n_terms, self.weights, self.labels = X.shape[1], weights, labels
        self.base = np.bincount(labels, weights, n_topics) / weights.sum()
        self.Y = np.eye(n_topics)[labels] - self.base

    def fit(self, weights):
        F, W = self.F, weights[:, None]
        return np.linalg.solve(F.T @ (W * F) + ALPHA * np.eye(F.shape[1]), F.T @ (W * self.Y))

    def coefficients(self):
        """Of terms and of axes, the latter in units of vectors."""
        B = self.fit(self.weights)
        return B[: self.n_terms], BESIDE * B[self.n_terms :]

    def left_out(self):
        """Scores of each text by a fit that has never seen it nor its copies."""
        alone = 1 - np.eye(len(self.weights))
        return np.array([self.F[i] @ self.fit(self.weights * alone[i]) for i in range(len(alone))])

    def leverage(self):
        F = self.F
        inverse = np.linalg.inv(F.T @ (self.weights[:, None] * F) + ALPHA * np.eye(F.shape[1]))
        return self.weights * np.einsum("ij,jk,ik->i", F, inverse, F)

    def explained(self):
        error = ((self.Y - self.left_out()) ** 2).sum(axis=1)
        return 1 - self.weights @ error / (self.weights @ (self.Y**2).sum(axis=1))


def solved(monkeypatch):
    """Conjugate gradients to the end."""
    monkeypatch.setattr(leave_one_out, "_FIRST_STEPS", 60)
    monkeypatch.setattr(leave_one_out, "_NEXT_STEPS", 60)


@pytest.mark.parametrize("block", [None, 7])
def test_coefficients_solve_the_normal_equations(block, monkeypatch):
    X, text_vectors, weights, labels = noise()
    texts = sample_of(X, text_vectors, weights, block)
    terms, axes = Literal(X, text_vectors, weights, labels, 3).coefficients()
    rough = LeaveOneOut(texts, 3).fit(labels)
    scale = np.abs(terms).max()
    np.testing.assert_allclose(rough.terms, terms, atol=0.02 * scale)
    np.testing.assert_allclose(rough.axes, axes, atol=0.02 * scale)
    solved(monkeypatch)
    others = LeaveOneOut(texts, 3)
    for start in (None, rough, others.fit((labels + 1) % 3)):
        found = others.fit(labels, start)
        np.testing.assert_allclose(found.terms, terms, atol=1e-4 * scale)
        np.testing.assert_allclose(found.axes, axes, atol=1e-4 * scale)
    np.testing.assert_allclose(found.base, np.bincount(labels, weights) / weights.sum(), rtol=1e-6)


def test_few_steps_from_a_similar_fit_go_most_of_the_way(monkeypatch):
    X, truth = planted(400, 5, noise=3)
    others = LeaveOneOut(sample_in_space(X), 5)
    almost = others.fit(corrupted(truth, 0.05))
    warm = others.fit(truth, almost)
    solved(monkeypatch)
    exact = others.fit(truth)
    before, after = (np.linalg.norm(found.terms - exact.terms) for found in (almost, warm))
    assert after < 0.7 * before
    assert others.explained(truth, warm) == pytest.approx(others.explained(truth, exact), abs=0.01)


def test_a_long_row_of_warm_fits_does_not_drift():
    X, text_vectors, weights, _ = noise()
    others = LeaveOneOut(sample_of(X, text_vectors, weights), 3)
    rng, fitted = np.random.default_rng(0), None
    for _ in range(15):
        fitted = others.fit(rng.integers(3, size=len(X)), fitted)
    image = (weights[:, None] * fitted.scores(unit(X), text_vectors)).astype(float)
    scale = np.abs(fitted.image[0]).max()
    np.testing.assert_allclose(fitted.image[0], unit(X).T @ image + ALPHA * fitted.terms, atol=1e-4 * scale)
    np.testing.assert_allclose(
        fitted.image[1], text_vectors.T @ image + ALPHA / BESIDE**2 * fitted.axes, atol=1e-4 * scale
    )


def test_coefficients_without_their_image_are_no_start():
    X, text_vectors, weights, labels = noise()
    others = LeaveOneOut(sample_of(X, text_vectors, weights), 3)
    cold = others.fit(labels)
    bare = others.fit(labels, Coefficients(cold.terms + 1, cold.axes, cold.base))
    np.testing.assert_array_equal(bare.terms, cold.terms)


def test_scores_are_sums_over_words_and_axes():
    X, text_vectors, _, _ = noise()
    rng = np.random.default_rng(1)
    terms, axes = rng.normal(size=(X.shape[1], 3)), rng.normal(size=(4, 3))
    words = sample_of(X).blocks[0].words.astype(float)
    found = Coefficients(terms, axes, np.ones(3) / 3).scores(words, text_vectors)
    np.testing.assert_allclose(found, unit(X) @ terms + text_vectors @ axes, rtol=1e-5, atol=1e-6)


def apart():
    """Texts of one word each, and texts whose words nobody else has: no two terms of others meet."""
    X = np.zeros((30, 24))
    X[np.arange(24), np.arange(24) % 8] = np.arange(24) % 3 + 1.0
    for row in range(24, 30):
        X[row, 8 + (row - 24) * 2 : 10 + (row - 24) * 2] = [1, 2]
    X[:, 20:] = 0
    rng = np.random.default_rng(3)
    return X[:29], rng.integers(1, 5, 29).astype(float), np.where(rng.random(29) < 0.7, np.arange(29) % 2, 2)


def test_where_terms_do_not_meet_leverage_is_exact(monkeypatch):
    solved(monkeypatch)
    X, weights, labels = apart()
    exact = Literal(X, np.zeros((29, 1)), weights, labels, 3)
    others = LeaveOneOut(sample_of(X, weights=weights), 3)
    np.testing.assert_allclose(others.leverage, exact.leverage(), rtol=1e-5)
    fitted = others.fit(labels)
    assert others.explained(labels, fitted) == pytest.approx(exact.explained(), abs=1e-5)
    scores = exact.left_out()
    monkeypatch.setattr(leave_one_out, "_MOST_ROUNDS", 1)
    np.testing.assert_allclose(others._left_out(others.texts.blocks[0], labels, fitted), scores, atol=1e-5)
    clear = np.sort(scores, axis=1)[:, -1] - np.sort(scores, axis=1)[:, -2] > 1e-4
    np.testing.assert_array_equal(others.settle(labels)[clear], scores.argmax(axis=1)[clear])


@pytest.mark.parametrize("seed", range(4))
def test_elsewhere_leverage_is_close(seed, monkeypatch):
    solved(monkeypatch)
    X, text_vectors, weights, labels = noise(120, 30, seed=seed)
    exact = Literal(X, text_vectors, weights, labels, 3)
    others = LeaveOneOut(sample_of(X, text_vectors, weights), 3)
    assert np.corrcoef(others.leverage, exact.leverage())[0, 1] > 0.9
    assert np.abs(others.leverage - exact.leverage()).mean() < 0.25 * exact.leverage().mean()
    assert others.explained(labels, others.fit(labels)) == pytest.approx(exact.explained(), abs=0.08)


@settings(max_examples=40)
@given(with_weights(count_matrices(max_rows=12, max_terms=9)), st.integers(1, 3), st.integers(0, 99))
def test_leverage_is_a_share_and_a_text_left_out_explains_no_more_than_all(data, n_topics, seed):
    X, times = data
    labels = np.random.default_rng(seed).integers(n_topics, size=len(X))
    texts = sample_of(X, weights=np.where(X.any(axis=1), times, 0))
    if not X.any():
        return
    others = LeaveOneOut(texts, n_topics)
    assert ((others.leverage >= 0) & (others.leverage < 1)).all()
    assert not others.leverage[~X.any(axis=1)].any()
    fitted = others.fit(labels)
    assert others.explained(labels, fitted) <= 1
    assert np.isfinite(fitted.terms).all()


def test_a_weight_is_that_many_copies_left_out_together(monkeypatch):
    solved(monkeypatch)
    X, text_vectors, weights, labels = noise()
    times = weights.astype(int)
    copies = LeaveOneOut(sample_of(np.repeat(X, times, axis=0), np.repeat(text_vectors, times, axis=0)), 3)
    folded = LeaveOneOut(sample_of(X, text_vectors, weights), 3)
    assert folded.total == copies.total == times.sum()
    one, two = folded.fit(labels), copies.fit(np.repeat(labels, times))
    np.testing.assert_allclose(one.terms, two.terms, atol=1e-5)
    np.testing.assert_allclose(one.axes, two.axes, atol=1e-5)
    # copies that stay behind vouch for the one that is left out: a text counts for more when folded
    heavy = times > 1
    assert (folded.leverage[heavy] > np.repeat(copies.leverage, 1)[np.cumsum(times) - 1][heavy]).all()
    np.testing.assert_allclose(
        folded.leverage[~heavy], copies.leverage[np.cumsum(times) - 1][~heavy], rtol=1e-5
    )
    assert folded.explained(labels, one) < copies.explained(np.repeat(labels, times), two)


def test_words_of_one_text_alone_do_not_hold_it():
    # in sample the text is told by its own words; without it nothing speaks for cluster 1
    X = np.zeros((21, 4))
    X[:20, :2] = 1
    X[20, 0], X[20, 2:] = 1, 5
    labels = np.array([0] * 20 + [1])
    assert LeaveOneOut(sample_of(X), 2).settle(labels).tolist() == [0] * 21


@pytest.mark.parametrize("seed", range(3))
def test_sharpness_best_tells_the_nearest_centre(seed):
    X, truth = planted(200, 4, words=3, noise=4, seed=seed)
    labels, weights = corrupted(truth, [0.0, 0.2, 0.7][seed]), np.arange(200) % 3 + 1.0
    text_vectors = unit(np.random.default_rng(seed).normal(size=(200, 6)) + 2 * np.eye(4, 6)[truth])
    others = LeaveOneOut(sample_of(X, text_vectors, weights, block=64), 4)
    fitted = others.fit(labels)
    scores = unit(X.toarray()) @ fitted.terms + text_vectors @ fitted.axes
    centers = unit(np.stack([weights[labels == k] @ text_vectors[labels == k] for k in range(4)]))
    nearest = (text_vectors @ centers.T).argmax(axis=1)

    def loss(sharpness):
        odds = np.exp(sharpness * (scores - scores.max(axis=1, keepdims=True)))
        return -weights @ np.log(odds[np.arange(200), nearest] / odds.sum(axis=1))

    found = others.sharpness(labels, fitted)
    assert found in leave_one_out._SHARPNESS
    assert loss(found) == pytest.approx(min(map(loss, leave_one_out._SHARPNESS)), rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_explained_is_the_share_of_variance_told_without_the_text(seed):
    X, truth = planted(200, 4, words=3, noise=4, seed=seed)
    labels, weights = corrupted(truth, 0.2), np.arange(200) % 3 + 1.0
    others = LeaveOneOut(sample_of(X, weights=weights, block=64), 4)
    fitted = others.fit(labels)
    h = others.leverage[:, None].astype(float)
    Y = np.eye(4)[labels] - fitted.base
    scores = (unit(X.toarray()) @ fitted.terms - h * Y) / (1 - h)
    error = weights @ ((Y - scores) ** 2).sum(axis=1) / (weights @ (Y**2).sum(axis=1))
    assert others.explained(labels, fitted) == pytest.approx(1 - error, abs=1e-5)


def test_sharper_where_clusters_are_clearer():
    X, truth = planted(300, 4, words=3, noise=4)
    others = LeaveOneOut(sample_in_space(X), 4)
    clear, mixed = truth, corrupted(truth, 0.6)
    assert others.sharpness(clear, others.fit(clear)) > others.sharpness(mixed, others.fit(mixed))


def test_clusters_of_words_are_explained_and_random_ones_are_not():
    X, truth = planted(400, 5)
    others = LeaveOneOut(sample_in_space(X), 5)
    values = [
        others.explained(labels, others.fit(labels))
        for labels in (truth, corrupted(truth, 0.3), np.random.default_rng(0).permutation(truth))
    ]
    assert 0.8 < values[0] <= 1
    assert values[0] > values[1] + 0.2 > values[2] + 0.4
    assert values[2] < 0.05


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_corrupted_labels_are_repaired(share):
    X, truth = planted(400, 5, noise=2)
    labels = corrupted(truth, share)
    for texts in (sample_in_space(X), sample_of(X, block=100)):
        given_labels = labels.copy()
        assert nmi(truth, LeaveOneOut(texts, 5).settle(labels)) > 0.98
        np.testing.assert_array_equal(labels, given_labels)


def test_nobody_moves_into_an_empty_cluster_and_texts_without_words_stay():
    X, truth = planted(200, 3)
    X = np.vstack([X.toarray(), np.zeros((3, X.shape[1]))])
    labels = np.concatenate([corrupted(truth, 0.2) * 2, [4, 2, 0]])  # 1 and 3 are empty
    found = LeaveOneOut(sample_of(X, weights=X.any(axis=1)), 5).settle(labels)
    assert set(found) == {0, 2, 4}
    assert found[-3:].tolist() == [4, 2, 0]


def test_blocks_and_threads_change_nothing():
    X, text_vectors, weights, labels = noise(100)
    one, two = (LeaveOneOut(sample_of(X, text_vectors, weights, 9, threads), 3) for threads in (1, 2))
    whole = LeaveOneOut(sample_of(X, text_vectors, weights), 3)
    np.testing.assert_array_equal(one.leverage, two.leverage)
    np.testing.assert_array_equal(one.fit(labels).terms, two.fit(labels).terms)
    np.testing.assert_array_equal(one.settle(labels), two.settle(labels))
    np.testing.assert_allclose(one.fit(labels).terms, whole.fit(labels).terms, atol=1e-5)
