import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.cluster import wording
from coterie.cluster.wording import CANDIDATES, distinctive, topic_words
from coterie.engines import as_engine


def shares_of(X, labels):
    counts = np.stack([X[labels == k].sum(axis=0) for k in range(labels.max() + 1)])
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), counts.sum(axis=0) / counts.sum()


def literal_order(X, weights, scores, candidates):
    """The documented rule, pair by pair."""
    n = weights.sum()
    held = X > 0

    def npmi(a, b):
        joint = weights[held[:, a] & held[:, b]].sum() / n
        if joint in (0, 1):
            return -1.0
        apart = (weights[held[:, a]].sum() / n) * (weights[held[:, b]].sum() / n)
        return np.log(joint / apart) / -np.log(joint)

    order, left = [candidates[0]], list(candidates[1:])
    while left:
        gains = [
            scores[c] / scores.max() + np.mean([npmi(c, o) if c != o else 0 for o in order]) for c in left
        ]
        order.append(left.pop(int(np.argmax(gains))))
    return order


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_the_order_is_the_documented_one(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.6, size=(30, 8)).astype(float)
    X[0] += 1
    labels = np.append([0, 1], rng.integers(2, size=28))
    weights = rng.integers(1, 4, size=30).astype(float)
    shares, everywhere = shares_of(X, labels)
    scores = distinctive(shares, everywhere)
    found = topic_words(as_engine(X, weights), shares, everywhere)
    for k in range(2):
        candidates = list(np.argsort(-scores[k], kind="stable"))
        assert found[k].tolist() == literal_order(X, weights, scores[k], candidates)


def test_a_word_without_company_comes_later_than_one_with():
    """The third word is more telling than the second, but never stands in a text with the first."""
    with_company, alone = [[1, 1, 0, 0]] * 6 + [[1, 0, 0, 0]] * 2, [[0, 0, 1, 0]] * 7
    X = np.array(with_company + alone + [[0, 0, 0, 1]] * 12, dtype=float)
    shares, everywhere = shares_of(X, np.repeat([0, 1], [15, 12]))
    scores = distinctive(shares, everywhere)[0]
    assert np.argsort(-scores)[:3].tolist() == [0, 2, 1]
    assert topic_words(as_engine(X), shares, everywhere)[0][:3].tolist() == [0, 1, 2]


def test_words_that_always_stand_together_are_as_close_as_can_be():
    company = wording.npmi(np.array([[0.0, 3.0], [3.0, 0.0]]), np.array([3.0, 3.0]), 6.0)
    assert company[0, 1] == pytest.approx(1)


def test_never_more_than_the_candidates_and_no_term_twice():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.2, size=(200, 90)).astype(float)
    shares, everywhere = shares_of(X, rng.integers(3, size=200))
    found = topic_words(as_engine(X), shares, everywhere)
    assert found.shape == (3, CANDIDATES)
    assert all(len(set(row)) == CANDIDATES for row in found)


def test_topics_without_texts_are_answered():
    X = np.eye(4)
    shares = np.vstack([np.full(4, 0.25), np.zeros(4)])
    assert topic_words(as_engine(X), shares, np.full(4, 0.25)).shape == (2, 4)


def test_npmi_of_terms_that_never_and_that_always_meet():
    together = np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    found = wording.npmi(together, np.array([4.0, 4.0, 1.0]), 4.0)
    assert found[0, 1] == 1
    assert found[0, 2] == found[1, 2] == -1
