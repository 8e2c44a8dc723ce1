from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, hstack

from coterie.cluster.held_out import Halving, Words


def drawn(n_texts, n_terms, n_clusters, number):
    random = np.random.RandomState(number)
    counts = csr_matrix(random.poisson(0.8, size=(n_texts, n_terms)).astype(float))
    order = random.permutation(n_texts)
    rows = order[: n_texts // 2], order[n_texts // 2 :]
    labels = [tuple(random.randint(n_clusters, size=len(half)) for half in rows) for _ in range(2)]
    return counts, Halving(rows, *labels)


def literal(counts, halving, n_clusters):
    """The same word by word: bits of each word by the words of its cluster in the other half."""
    dense, found = counts.toarray(), []
    n_terms = (dense.sum(axis=0) > 0).sum()
    for asked, learned in ((0, 1), (1, 0)):
        other = dense[halving.rows[learned]]
        bits = words = 0.0
        for row, cluster in zip(halving.rows[asked], halving.foreign[asked], strict=True):
            inside = other[halving.own[learned] == cluster].sum(axis=0)
            for term in np.flatnonzero(dense[row]):
                common = (other[:, term].sum() + 0.1) / (other.sum() + 0.1 * n_terms)
                share = (inside[term] + 200 * common) / (inside.sum() + 200)
                bits += dense[row, term] * log2(share / common)
                words += dense[row, term]
        found.append(bits / max(words, 1))
    return sum(found) / 2


@settings(max_examples=60)
@given(st.integers(2, 12), st.integers(1, 6), st.integers(1, 4), st.integers(0, 99))
def test_bits_told_are_those_of_the_literal_sum(n_texts, n_terms, n_clusters, number):
    counts, halving = drawn(n_texts, n_terms, n_clusters, number)
    told = Words.of(counts, np.arange(n_texts)).told(halving, n_clusters)
    assert told == pytest.approx(literal(counts, halving, n_clusters), abs=1e-9)


@given(st.integers(0, 99))
def test_terms_without_texts_do_not_count(number):
    counts, halving = drawn(10, 5, 3, number)
    wider = hstack([csr_matrix((10, 2)), counts, csr_matrix((10, 3))], format="csr")
    told = [Words.of(some, np.arange(10)).told(halving, 3) for some in (counts, wider)]
    assert told[0] == pytest.approx(told[1], abs=1e-12)


def test_clusters_with_words_of_their_own_tell_a_bit_more():
    counts = csr_matrix(np.repeat(np.kron(np.eye(2), [5000.0, 5000.0]), 4, axis=0))
    halves = np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])
    right = np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])
    words, halving = Words.of(counts, np.arange(8)), Halving(halves, right, right)
    assert words.told(halving, 2) - words.told(halving.merged(), 1) == pytest.approx(1, abs=0.02)
