"""What words and embeddings tell of topics: against literal loops, and as evidence that decides."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie import Coterie
from coterie.cluster import texts as texts_module
from coterie.cluster.judging import Judge, mutual_information
from coterie.cluster.texts import take_sample
from coterie.engines.memory import as_engine
from coterie.linalg.rows import unit_dense, unit_rows
from coterie.metrics import clustering_scores
from planted import planted


def literal_information(one, other, weights):
    total = sum(weights)
    joint, left, right = Counter(), Counter(), Counter()
    for a, b, weight in zip(one, other, weights, strict=True):
        joint[a, b] += weight / total
        left[a] += weight / total
        right[b] += weight / total
    return sum(p * math.log2(p / (left[a] * right[b])) for (a, b), p in joint.items() if p)


partitions = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.tuples(st.integers(0, k - 1), st.integers(0, k - 1), st.integers(1, 4)), min_size=1, max_size=40
    ).map(lambda rows: (k, *map(np.array, zip(*rows, strict=True))))
)


@given(partitions)
def test_information_is_the_literal_one(drawn):
    k, one, other, weights = drawn
    literal = literal_information(one, other, weights)
    assert mutual_information(one, other, weights.astype(float), k) == pytest.approx(literal, abs=1e-12)


def sample(X, weights=None):
    return take_sample(as_engine(X, weights), unit_rows, lambda counts, _: unit_dense(counts.toarray() + 1.0))


def literal_predictions(X, weights, vectors, labels, k):
    """Each text by classifiers that have seen every other text, or the rest, whichever it is not among."""
    X, words, embeddings = X.toarray(), [], []
    for row in range(len(X)):
        learned = [other for other in range(len(X)) if other % 2 != row % 2]
        scores = []
        for topic in range(k):
            own = [other for other in learned if labels[other] == topic]
            counts = sum((weights[other] * X[other] for other in own), np.zeros(X.shape[1])) + 0.1
            size = sum(weights[other] for other in own)
            scores.append(X[row] @ np.log(counts / counts.sum()) + math.log(size + 1))
        words.append(int(np.argmax(scores)))
        V, w = vectors[learned], weights[learned]
        target = np.eye(k)[labels[learned]]
        base = w @ target / w.sum()
        solved = np.linalg.solve(
            (V * w[:, None]).T @ V + 3.0 * np.eye(V.shape[1]), (V * w[:, None]).T @ (target - base)
        )
        embeddings.append(int(np.argmax(vectors[row] @ solved + base)))
    return words, embeddings


@pytest.mark.parametrize("rows_in_a_block", [7, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_the_literal_ones(seed, rows_in_a_block, monkeypatch):
    monkeypatch.setattr(texts_module, "_BLOCK_ROWS", rows_in_a_block)
    X, truth = planted(40, 3, words=3, noise=1)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(truth)).astype(float)
    vectors = unit_dense(rng.standard_normal((len(truth), 6)) + np.eye(6)[truth])
    labels = np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 3, len(truth)), truth)
    told = Judge(sample(X, weights), vectors).ask(labels, 3)
    words, embeddings = literal_predictions(X, weights, vectors, labels, 3)
    assert told.words.tolist() == words
    assert told.embeddings.tolist() == embeddings


def made(seed=0, n=600, k=6):
    """Texts whose words tell a topic and whose embeddings tell the same one."""
    X, truth = planted(n, k, words=4, noise=1)
    rng = np.random.default_rng(seed)
    vectors = unit_dense(np.eye(12)[truth] + 0.3 * rng.standard_normal((len(truth), 12)))
    return X, truth, vectors


def test_nothing_is_told_of_topics_dealt_out_at_random():
    X, truth, vectors = made()
    dealt = np.random.default_rng(1).permutation(truth)
    judge = Judge(sample(X), vectors)
    assert abs(judge.ask(dealt, 6).bits) < 0.1
    assert judge.ask(truth, 6).bits > 4  # of twice log2 6


def test_a_contradiction_must_be_sure():
    X, truth, vectors = made()
    judge = Judge(sample(X), vectors)
    rng = np.random.default_rng(2)
    little = np.where(rng.random(len(truth)) < 0.002, 0, truth)
    much = np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 6, len(truth)), truth)
    told = judge.ask(truth, 6)
    assert told.contradicts(judge.ask(much, 6))
    assert not judge.ask(much, 6).contradicts(told)
    assert not told.contradicts(told)
    assert not told.contradicts(judge.ask(little, 6))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100))
def test_judging_does_not_depend_on_blocks_or_threads(seed):
    X, truth, vectors = made(seed, n=120)
    answers = []
    for rows in (16, 50, 4096):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(texts_module, "_BLOCK_ROWS", rows)
            told = Judge(sample(X), vectors).ask(truth, 6)
            answers.append((told.words.tolist(), told.embeddings.tolist(), told.bits))
    assert answers[0] == answers[1] == answers[2]


# --- as evidence


def misleading(n=1_200, k=12, seed=0):
    """Words tell another partition than the one wanted, which embeddings tell."""
    rng = np.random.default_rng(seed)
    wanted, other = rng.integers(0, k, n), rng.integers(0, k, n)
    columns = [
        np.concatenate([other[i] * 6 + rng.choice(6, 2, False), k * 6 + wanted[i] * 3 + rng.choice(3, 1)])
        for i in range(n)
    ]
    rows = np.repeat(np.arange(n), 3)
    X = csr_matrix((np.ones(3 * n), (rows, np.concatenate(columns))), (n, k * 9))
    vectors = unit_dense(np.eye(16)[wanted] + 0.35 * rng.standard_normal((n, 16)))
    return X, wanted, vectors


def test_the_decision_is_told():
    X, truth, vectors = made()
    model = Coterie(6, restarts=2, embeddings=vectors).fit(X)
    assert model.decision_.startswith(f"the embeddings count for {model.share_:.0%}; topics are ")
    assert "bits about a text's topic" in model.decision_
    assert Coterie(6, restarts=2).fit(X).decision_ == ""
    noise = np.random.default_rng(0).standard_normal(vectors.shape)
    useless = Coterie(6, restarts=2, embeddings=noise).fit(X)
    assert useless.share_ == 0
    assert useless.decision_ == "the embeddings do not fit the texts and are not used"
    assert clustering_scores(truth, useless.labels_).nmi > 0.9


def test_a_text_is_placed_alone_as_in_the_fit_whatever_was_chosen():
    for X, vectors in [(made()[0], made()[2]), (misleading()[0], misleading()[2])]:
        model = Coterie(6, restarts=2, embeddings=vectors).fit(X)
        for row in range(0, X.shape[0], 50):
            alone = model.predict(X[row], embeddings=vectors[row : row + 1])
            assert alone[0] == model.labels_[row]
