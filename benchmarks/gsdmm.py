"""GSDMM: the Dirichlet multinomial mixture by collapsed Gibbs sampling (Yin and Wang, 2014).

Every text belongs to one topic, and the words of a text are drawn from the words of its topic. Texts are gone
through again and again; each is taken out of its topic and put into one drawn with the probability

    p(k) ∝ (m_k + α) · Π_w Π_{j<x_w} (n_kw + β + j) / Π_{i<x} (n_k + Mβ + i)

where m_k, n_k and n_kw are the texts, the words and the occurrences of word w in topic k without this text, x_w
is how often the text holds w, x its length, and M the number of terms. The measure everybody compares with
on short texts; it is here for comparison only.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import gammaln


class GSDMM:
    """Topics of texts by movie groups: α = β = 0.1 and 30 rounds as in the paper.

    `labels_` are the topics after the last round, `components_` the distributions of topics over terms.
    """

    def __init__(self, n_topics, *, alpha=0.1, beta=0.1, n_iter=30, random_state=0):
        self.n_topics, self.alpha, self.beta = n_topics, alpha, beta
        self.n_iter, self.random_state = n_iter, random_state

    def fit_predict(self, X):
        random = np.random.RandomState(self.random_state)
        texts = words_of(csr_matrix(X))
        labels = random.randint(self.n_topics, size=len(texts))
        counts = Counts(X.shape[1], self.n_topics)
        for (words, _), k in zip(texts, labels, strict=True):
            counts.add(words, k, 1)
        for _ in range(self.n_iter):
            for i, (words, earlier) in enumerate(texts):
                counts.add(words, labels[i], -1)
                labels[i] = draw(counts.logits(words, earlier, self.alpha, self.beta), random)
                counts.add(words, labels[i], 1)
        self.labels_ = labels
        smoothed = counts.occurrences + self.beta
        self.components_ = (smoothed / smoothed.sum(axis=0)).T
        return labels


class Counts:
    """What lies in each topic: texts, words, and occurrences of each word (terms × topics)."""

    def __init__(self, n_terms, n_topics):
        self.texts = np.zeros(n_topics)
        self.words = np.zeros(n_topics)
        self.occurrences = np.zeros((n_terms, n_topics))

    def add(self, words, k, sign):
        """Put a text into topic k, or take it out."""
        self.texts[k] += sign
        self.words[k] += sign * len(words)
        np.add.at(self.occurrences[:, k], words, sign)

    def logits(self, words, earlier, alpha, beta):
        """log p(k) of a text, up to a constant; `earlier` is j of each word in the formula above."""
        inside = np.log(self.occurrences[words] + (beta + earlier)[:, None]).sum(axis=0)
        total = self.words + beta * len(self.occurrences)
        return np.log(self.texts + alpha) + inside - (gammaln(total + len(words)) - gammaln(total))


def words_of(X):
    """For each text its words, repeated as often as they occur, and how often each stood there before."""
    rows = []
    for i in range(X.shape[0]):
        some = slice(X.indptr[i], X.indptr[i + 1])
        times = X.data[some].astype(int)
        earlier = np.concatenate([np.arange(n) for n in times]) if len(times) else np.empty(0)
        rows.append((np.repeat(X.indices[some], times), earlier.astype(float)))
    return rows


def draw(logits, random):
    """A topic with probability in proportion to exp(logits)."""
    running = np.cumsum(np.exp(logits - logits.max()))
    return int(np.searchsorted(running, random.uniform() * running[-1], side="right"))
