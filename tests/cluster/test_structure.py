from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie.cluster import structure


def seed(number=0):
    return np.random.RandomState(number)


def phrases(n_texts, number=0):
    """Texts of two phrases each, and a word of their own: no contrast among all, but much in common."""
    random = seed(number)
    counts = np.zeros((n_texts, 3 * 80 + n_texts))
    for text, row in enumerate(counts):
        for phrase in random.choice(80, 2, replace=False):
            row[3 * phrase : 3 * phrase + 3] = 1
        row[3 * 80 + text] = 1
    return csr_matrix(counts)


def test_tokens_dealt_out_keep_lengths_and_words():
    counts = csr_matrix(np.array([[2.0, 0, 1], [0, 0, 0], [0, 3, 0], [1, 0, 0], [0, 0, 0]]))
    dealt = structure._dealt_out(counts, seed())
    np.testing.assert_array_equal(dealt.sum(axis=0), counts.sum(axis=0))
    np.testing.assert_array_equal(dealt.sum(axis=1), counts.sum(axis=1))


@settings(max_examples=50)
@given(st.integers(0, 9), st.integers(1, 6), st.integers(0, 99))
def test_texts_with_two_words_in_common_are_counted(n_texts, n_terms, number):
    counts = seed(number).poisson(0.7, size=(n_texts, n_terms)).astype(float)
    texts = [set(np.flatnonzero(row)) for row in counts]
    frequency = (counts > 0).sum(axis=0)
    literal = 0.0
    for one, other in combinations(texts, 2):
        for a, b in combinations(sorted(one & other), 2):
            literal += 4 / np.sqrt(frequency[a] * frequency[b])  # texts and words both ways round
    assert structure._in_common(csr_matrix(counts)) == pytest.approx(literal)


def test_phrases_show_where_singular_values_do_not():
    counts = phrases(150)
    assert structure.in_common_ratio(counts, seed()) > structure.IN_COMMON


@pytest.mark.parametrize("n_texts", [20, 60, 200])
def test_shuffled_tokens_have_little_in_common(n_texts):
    for number in range(10):
        dealt = structure._dealt_out(phrases(n_texts, number), seed(number))
        assert structure.in_common_ratio(dealt, seed(number)) < structure.IN_COMMON


def test_long_texts_that_repeat_words_are_compared_with_their_own_kind():
    """Shuffling spreads repeated words over more texts: what is shuffled again has no more in common."""
    random = seed(4)
    weights = 1 / np.arange(1, 301)
    bursts = np.stack([random.multinomial(25, weights / weights.sum()) * 4 for _ in range(120)]).astype(float)
    dealt = structure._dealt_out(csr_matrix(bursts), seed())
    assert structure.in_common_ratio(dealt, seed()) == pytest.approx(1, abs=0.15)


def test_texts_without_words_have_nothing_in_common():
    assert structure.in_common_ratio(csr_matrix((30, 4)), seed()) == 0
