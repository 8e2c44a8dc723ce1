"""Latent Dirichlet allocation by Gibbs sampling; topics of new documents need no sampling."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.baselines.counts import FRACTIONS, CountEstimator, Fractions
from coterie.engines import Block, Engine
from coterie.engines.base import csr_view
from coterie.errors import InputError
from coterie.estimator import check_choice, check_count, check_positive

Array = npt.NDArray[np.float64]

#: Steps of the inference for a document: a fixed number, so that documents cannot influence each other.
FOLD_IN_STEPS = 100
#: Topics that tomotopy can number.
MOST_TOPICS = 2**15 - 1


class GibbsLDA(CountEstimator):
    """Latent Dirichlet allocation (Blei, Ng and Jordan, 2003) by collapsed Gibbs sampling.

    1. X contains counts. Each word of a document belongs to a topic; topics are resampled word by word, given
       those of all other words, in `n_iter` rounds. This is done by tomotopy (installed by ``coterie[lda]``),
       on one thread with a fixed seed, so that the result is always the same.
    2. `components_` are the distributions of topics over terms, φ, after the last round.
    3. A document's topics are the distribution θ that maximises ``Σ_w x_w log Σ_k θ_k φ_kw + α Σ_k log θ_k``,
       which is concave, by EM from equal shares: ``θ_k ∝ α + θ_k Σ_w x_w φ_kw / Σ_j θ_j φ_jw``. It is
       deterministic and separate for each document, also for fitted ones.

    The sampler keeps all documents in memory, and a row of n identical texts n times, as it has no weights.
    tomotopy has separate code for each instruction set, so another kind of machine may sample differently.

    Parameters
    ----------
    n_topics : int, default=8
        Number of topics.
    alpha : float or None, default=None
        Prior of a document's topics. None is ``50 / n_topics``, as in GibbsLDA++. Short texts need far
        less, such as 0.1: otherwise the prior outweighs their few words.
    eta : float, default=0.1
        Prior of a topic's terms, called β in GibbsLDA++.
    n_iter : int, default=500
        Rounds of sampling over all words.
    fractions : "refuse" or "ceil", default="refuse"
        What to do with values of X that are not integers: raise an error, or round up.
    random_state : int, RandomState or None, default=None
        Seeds the sampler.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_terms)
        Distribution of each topic over terms; 0 for a term in no document.
    alpha_ : float
        Prior of a document's topics that was used.
    labels_ : ndarray of shape (n_documents,)
        Topic of each document; not set if an engine was fitted.
    n_iter_ : int
        Rounds of sampling made.

    A document without a known word belongs to no topic: its memberships are 0.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 2, 0, 0], [2, 4, 0, 0], [0, 3, 0, 0], [0, 0, 3, 3], [0, 0, 1, 4]])
    >>> model = GibbsLDA(n_topics=2, alpha=0.1, random_state=0).fit(X)
    >>> model.labels_ == model.labels_[0]
    array([ True,  True,  True, False, False])
    >>> model.transform([[1, 1, 0, 2], [0, 0, 0, 0]]).round(1)
    array([[0.5, 0.5],
           [0. , 0. ]])
    """

    alpha_: float
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        alpha: float | None = None,
        eta: float = 0.1,
        n_iter: int = 500,
        fractions: Fractions = "refuse",
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.eta = eta
        self.n_iter = n_iter
        self.fractions = fractions
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        n_iter = check_count("n_iter", self.n_iter, self)
        check_choice("fractions", self.fractions, FRACTIONS, self)
        alpha = 50 / n_topics if self.alpha is None else check_positive("alpha", self.alpha, self)
        eta = check_positive("eta", self.eta, self)
        check_topics(n_topics, self)
        self._check_words(documents)

        seed = int(random.randint(2**31 - 1))
        texts = (text for block in documents.map(self._texts) for text in block)
        self.components_ = sample(
            texts, documents.n_terms, n_topics, alpha=alpha, eta=eta, n_iter=n_iter, seed=seed
        )
        self.alpha_ = alpha
        self.n_iter_ = n_iter

    def _memberships(self, X: csr_matrix) -> Array:
        return fold_in(self._counts(X), self.components_, self.alpha_)

    def _texts(self, block: Block) -> list[list[str]]:
        return texts_of(self._counts(block.X), block.weights)


def check_topics(n_topics: int, owner: object) -> None:
    """Refuse more topics than tomotopy can number."""
    if n_topics > MOST_TOPICS:
        raise InputError(
            f"The parameter 'n_topics' of {type(owner).__name__} must be at most {MOST_TOPICS}, "
            f"got {n_topics}"
        )


def texts_of(X: csr_matrix, weights: Array) -> list[list[str]]:
    """The words of each row, as often as their count and the row's weight say; words are column numbers."""
    X = X.sorted_indices()
    words = np.repeat(X.indices, X.data.astype(np.int64)).astype(str)
    ends = np.concatenate([[0], np.cumsum(X.data)])[X.indptr].astype(np.int64)
    rows = [words[a:b].tolist() for a, b in pairwise(ends)]
    return [row for row, times in zip(rows, weights, strict=True) for _ in range(int(times))]


def sample(
    texts: Iterable[list[str]],
    n_terms: int,
    n_topics: int,
    *,
    alpha: float,
    eta: float,
    n_iter: int,
    seed: int,
) -> Array:
    """Distributions of topics over terms, from a collapsed Gibbs sampler on one thread."""
    return distributions(sampled(texts, n_topics, alpha=alpha, eta=eta, n_iter=n_iter, seed=seed), n_terms)


def sampled(
    texts: Iterable[list[str]], n_topics: int, *, alpha: float, eta: float, n_iter: int, seed: int
) -> Any:
    """The model of tomotopy after all rounds, without the texts that have no words."""
    model = load_tomotopy("GibbsLDA").LDAModel(k=n_topics, alpha=alpha, eta=eta, seed=seed)
    train(model, texts, n_iter)
    return model


def train(model: Any, texts: Iterable[list[str]], n_iter: int) -> None:
    """Sample a model of tomotopy on one thread; without a single word there is nothing to sample."""
    from tomotopy import ParallelScheme

    model.optim_interval = 0  # priors stay as they are given
    for text in texts:
        if text:
            model.add_doc(text)
    if len(model.docs):
        model.train(n_iter, workers=1, parallel=ParallelScheme.NONE)


def distributions(model: Any, n_terms: int) -> Array:
    """Topics × terms, φ; words of the model are column numbers."""
    topics = np.zeros((model.k, n_terms))
    if len(model.docs):
        terms = np.array([int(word) for word in model.used_vocabs])
        topics[:, terms] = [model.get_topic_word_dist(k) for k in range(model.k)]
        topics /= topics.sum(axis=1, keepdims=True)  # φ comes in single precision
    return topics


def fold_in(X: csr_matrix, topics: Array, alpha: float, steps: int = FOLD_IN_STEPS) -> Array:
    """The shares θ of topics in each row that maximise ``Σ_w x_w log Σ_k θ_k φ_kw + α Σ_k log θ_k``.

    A row without a term of any topic has none. Each row is worked on by itself, to the last bit.
    """
    n_topics = len(topics)
    known = np.any(topics, axis=0)[X.indices]
    counts = np.where(known, X.data, 0.0)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    length = csr_view(counts, X.indices, X.indptr, X.shape) @ np.ones(X.shape[1])
    theta = np.full((X.shape[0], n_topics), 1.0 / n_topics)
    for _ in range(steps):
        # Σ_j θ_j φ_jw for each word w of each row
        expected = np.where(known, 0.0, 1.0)
        for k in range(n_topics):
            expected += theta[row, k] * topics[k, X.indices]
        ratio = csr_view(counts / expected, X.indices, X.indptr, X.shape)
        # θ_k ← (α + θ_k Σ_w x_w φ_kw / Σ_j θ_j φ_jw) / (Kα + Σ_w x_w)
        theta = (alpha + theta * (ratio @ topics.T)) / (n_topics * alpha + length)[:, None]
    return theta * (length > 0)[:, None]


def load_tomotopy(owner: str) -> Any:
    """The package of samplers, which is not installed with coterie alone."""
    try:
        with warnings.catch_warnings():
            # its extension warns of itself when it is loaded, and is not loaded where warnings are errors
            warnings.filterwarnings("ignore", "builtin type .* has no __module__", DeprecationWarning)
            import tomotopy
    except ImportError as error:
        raise InputError(f"{owner} needs tomotopy: pip install 'coterie[lda]'") from error
    return tomotopy
