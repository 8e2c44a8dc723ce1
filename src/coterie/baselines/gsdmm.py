"""The Dirichlet multinomial mixture by collapsed Gibbs sampling (GSDMM, Yin and Wang, KDD 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.special import softmax

from coterie.baselines.counts import FRACTIONS, CountEstimator, Fractions, smoothed
from coterie.engines import Block, Engine
from coterie.estimator import Array, check_choice, check_count, check_positive

Ints = npt.NDArray[np.int64]

#: Words of a text that are multiplied before probabilities are rescaled: none of them can underflow.
_PIECE = 16


class GSDMM(CountEstimator):
    """A mixture in which every text has one topic: the Dirichlet multinomial mixture, by Gibbs sampling.

    1. X contains counts. Every text begins in a topic drawn at random.
    2. In each of `n_iter` rounds, each text is taken out of its topic and put into one drawn with
       ``p(k) ∝ (m_k + α) · Π_w Π_{j<x_w} (n_kw + β + j) / Π_{i<x} (n_k + Mβ + i)``: m_k texts, n_k words and
       n_kw occurrences of w in topic k without this text, x_w occurrences of w in the text, x words in
       all, and M terms that occur in any text. Topics that fit few texts run empty.
    3. ``φ_kw = (n_kw + β) / (n_k + Mβ)`` and m_k after the last round are the model. A text belongs to topics
       by ``(m_k + α) Π_w φ_kw^x_w``, fitted or new: `labels_` may differ from the last draw of a text.

    `n_topics` is the largest number of topics: one that ran empty is zero in `components_` and gets no text.
    A row that represents n texts is drawn n times. The texts are kept in memory.

    Parameters
    ----------
    n_topics
        Largest number of topics.
    alpha
        α, texts that every topic is thought to have beforehand. Towards 0, an empty topic stays empty.
    beta
        β, occurrences of each term that every topic is thought to have beforehand. The smaller, the more two
        texts must have in common to share a topic.
    n_iter
        Rounds of sampling over all texts.
    fractions
        What to do with values of X that are not whole numbers: "refuse" raises an error, "ceil" rounds up.
    random_state
        Seed of the sampler.

    Attributes
    ----------
    components_
        Topics × terms, φ; zero for an empty topic, and for a term in no text.
    topic_texts_
        m_k, the number of texts in each topic after the last round.
    moved_
        Share of texts that each round put into another topic than before.
    labels_
        The topic of each row; absent if an engine was fitted.
    n_iter_
        Rounds made.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])
    >>> model = GSDMM(n_topics=4, random_state=0).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    >>> sorted(model.topic_texts_.tolist())
    [0.0, 0.0, 2.0, 3.0]
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_",)

    topic_texts_: Array
    moved_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        alpha: float = 0.1,
        beta: float = 0.1,
        n_iter: int = 30,
        fractions: Fractions = "refuse",
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.fractions = fractions
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        n_iter = check_count("n_iter", self.n_iter, self)
        alpha = check_positive("alpha", self.alpha, self)
        beta = check_positive("beta", self.beta, self)
        check_choice("fractions", self.fractions, FRACTIONS, self)
        self._check_words(documents)
        rows = self._together(documents)
        used = np.bincount(rows.X.indices, minlength=documents.n_terms) > 0
        found, self.moved_ = sample(
            texts_of(rows), documents.n_terms, n_topics, alpha=alpha, beta=beta, n_iter=n_iter, random=random
        )
        self.topic_texts_ = found.texts
        self.components_ = smoothed(found.words.T, beta, used & (found.texts > 0)[:, None])
        self.n_iter_ = n_iter

    def _memberships(self, X: csr_matrix) -> Array:
        return shares_of_topics(self._counts(X), self.components_, self.topic_texts_ + self.alpha)


@dataclass(frozen=True, slots=True)
class Text:
    """The words of a text: each with its number of occurrences, and all of them one after another.

    `earlier` says how often each of `words` stands before itself in the text; None if no word is repeated.
    """

    terms: Ints
    times: Array
    words: Ints
    earlier: Array | None


@dataclass(frozen=True)
class Topics:
    """What is in each topic: texts, words, and occurrences of each term (terms × topics)."""

    texts: Array
    totals: Array
    words: Array


def texts_of(rows: Block) -> list[Text]:
    """The texts behind the rows of a block, each as often as its weight says."""
    found: list[Text] = []
    X = rows.X
    for row, copies in enumerate(rows.weights):
        some = slice(X.indptr[row], X.indptr[row + 1])
        terms, times = X.indices[some].astype(np.int64), X.data[some]
        repeated = bool((times > 1).any())
        earlier = np.concatenate([np.arange(n) for n in times]) if repeated else None
        words = np.repeat(terms, times.astype(np.int64)) if repeated else terms
        found.extend([Text(terms, times, words, earlier)] * int(copies))
    return found


def sample(
    texts: list[Text],
    n_terms: int,
    n_topics: int,
    *,
    alpha: float,
    beta: float,
    n_iter: int,
    random: np.random.RandomState,
) -> tuple[Topics, list[float]]:
    """The topics after the last round, and the share of texts that each round moved.

    M is the number of terms that occur in any text.
    """
    labels = random.randint(n_topics, size=len(texts))
    topics = Topics(np.zeros(n_topics), np.zeros(n_topics), np.zeros((n_terms, n_topics)))
    for text, k in zip(texts, labels, strict=True):
        put(topics, text, k, 1.0)
    prior = np.where(topics.words.any(axis=1), beta, 0.0)
    total = beta * np.count_nonzero(prior)
    moved = []
    for _ in range(n_iter):
        draws = random.uniform(size=len(texts))
        before = labels.copy()
        for i, text in enumerate(texts):
            put(topics, text, labels[i], -1.0)
            weights = weights_of(topics, text, topics.texts + alpha, prior, total)
            labels[i] = drawn(weights, draws[i])
            put(topics, text, labels[i], 1.0)
        moved.append(float(np.mean(labels != before)) if len(texts) else 0.0)
    return topics, moved


def put(topics: Topics, text: Text, k: int, sign: float) -> None:
    """Put a text into topic k, or take it out."""
    topics.texts[k] += sign
    topics.totals[k] += sign * len(text.words)
    topics.words[text.terms, k] += sign * text.times


def weights_of(topics: Topics, text: Text, sizes: Array, prior: Array, total: float) -> Array:
    """``s_k Π_w Π_j (n_kw + β_w + j) / Π_i (n_k + Σβ + i)`` for each topic, up to a common factor.

    `prior` holds β for each term, `total` is their sum. Ratios are multiplied, not their logarithms added:
    products are the same on every machine, to the last bit. Texts of many words are rescaled on the way, as
    the product would underflow.
    """
    weights = sizes
    for start in range(0, len(text.words), _PIECE):
        some = slice(start, start + _PIECE)
        words = text.words[some]
        inside = topics.words[words]
        before = prior[words] if text.earlier is None else prior[words] + text.earlier[some]
        inside += before[:, None]
        places = np.arange(start, start + len(inside)) + total
        inside /= topics.totals + places[:, None]
        weights = weights * np.multiply.reduce(inside, axis=0)
        if len(text.words) > _PIECE:
            weights /= weights.max()
    return weights


def drawn(weights: Array, chance: float) -> int:
    """The topic at `chance`, from 0 to 1, of the running sum of weights."""
    running = weights.cumsum()
    return min(int(running.searchsorted(chance * running[-1], side="right")), len(weights) - 1)


def shares_of_topics(X: csr_matrix, topics: Array, sizes: Array) -> Array:
    """``s_k Π_w φ_kw^x_w`` of each row, brought to sum 1; zero for a row without a word of any topic.

    A topic of zeros gets nothing. Words that no topic has say nothing.
    """
    open_topics = topics.any(axis=1)
    logs = np.log(topics, where=topics > 0, out=np.zeros_like(topics))
    scores = np.asarray(X @ logs[open_topics].T) + np.log(sizes[open_topics])
    known = np.asarray(X @ topics.any(axis=0)) > 0
    shares = np.zeros((X.shape[0], len(topics)))
    if open_topics.any():
        shares[:, open_topics] = softmax(scores, axis=1) * known[:, None]
    return shares
