"""GSDMM of the benchmarks against the formula of the paper, written out."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import gsdmm
from gsdmm import GSDMM

TEXTS = np.array(
    [[2, 1, 0, 0, 0], [1, 0, 3, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 2, 2], [0, 0, 0, 1, 0], [0] * 5]
)


def literal_probabilities(X, labels, i, n_topics, alpha, beta):
    """p(k) of text i given the topics of all others."""
    others = np.arange(len(X)) != i
    p = np.zeros(n_topics)
    for k in range(n_topics):
        inside = X[others & (labels == k)]
        top = 1.0
        for w, times in enumerate(X[i]):
            for j in range(times):
                top *= inside[:, w].sum() + beta + j
        bottom = 1.0
        for j in range(X[i].sum()):
            bottom *= inside.sum() + X.shape[1] * beta + j
        p[k] = (len(inside) + alpha) * top / bottom
    return p / p.sum()


def literal_fit(X, n_topics, alpha, beta, n_iter, seed):
    random = np.random.RandomState(seed)
    labels = random.randint(n_topics, size=len(X))
    for _ in range(n_iter):
        for i in range(len(X)):
            running = np.cumsum(literal_probabilities(X, labels, i, n_topics, alpha, beta))
            labels[i] = np.searchsorted(running, random.uniform() * running[-1], side="right")
    return labels


@pytest.mark.parametrize("i", range(len(TEXTS)))
def test_probabilities_are_those_of_the_paper(i):
    labels = np.array([0, 1, 0, 2, 2, 1])
    counts = gsdmm.Counts(5, 3)
    texts = gsdmm.words_of(csr_matrix(TEXTS))
    for row, (words, _) in enumerate(texts):
        if row != i:
            counts.add(words, labels[row], 1)
    logits = counts.logits(*texts[i], 0.1, 0.2)
    p = np.exp(logits - logits.max())
    np.testing.assert_allclose(p / p.sum(), literal_probabilities(TEXTS, labels, i, 3, 0.1, 0.2), rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_it_samples_what_the_literal_version_samples(seed):
    X = np.random.RandomState(seed).poisson(0.7, size=(30, 8))
    found = GSDMM(4, alpha=0.3, beta=0.2, n_iter=5, random_state=seed).fit_predict(csr_matrix(X))
    np.testing.assert_array_equal(found, literal_fit(X, 4, 0.3, 0.2, 5, seed))


def test_it_finds_two_groups_that_share_no_word():
    X = np.kron(np.eye(2, dtype=int), np.ones((20, 4), dtype=int))
    model = GSDMM(2, random_state=0)
    labels = model.fit_predict(csr_matrix(X))
    assert len(set(labels[:20])) == len(set(labels[20:])) == 1
    assert labels[0] != labels[-1]
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)
