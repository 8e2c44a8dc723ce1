"""The biterm topic model (BTM, Yan, Guo, Lan and Cheng, WWW 2013)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from coterie.baselines import biterms
from coterie.baselines.counts import FRACTIONS, CountEstimator, Fractions
from coterie.engines import Engine
from coterie.estimator import Array, check_choice, check_count, check_positive


class BTM(CountEstimator):
    """The biterm topic model: pairs of terms have topics, with one distribution of topics for all texts.

    1. The biterms of a text are all pairs of different terms in it.
    2. Each biterm has a topic, at first at random. In each of `n_iter` rounds it gets a new one with
       ``p(k) ∝ (n_k + α) (n_ki + β) (n_kj + β) / ((2n_k + Mβ)(2n_k + 1 + Mβ))``: n_k other biterms are in
       topic k, n_ki of them hold term i, and M terms occur in any text.
    3. The model is ``θ_k ∝ n_k + α`` and ``φ_kw = (n_kw + β) / (2n_k + Mβ)`` after the last round.
    4. The topics of a text are the mean over its biterms of ``P(k|b) ∝ θ_k φ_ki φ_kj``. A text of one word
       has ``θ_k φ_kw``.

    Biterms are drawn in chunks, from the counts at the beginning of the chunk, which is an approximation. A
    chunk is a hundredth of all biterms, and at most `chunk_size`; ``chunk_size=1`` is the sampler of the
    paper, and far slower.

    All biterms are kept in memory: a text of L different terms has ``L(L − 1)/2``. Long texts have very many.

    Parameters
    ----------
    n_topics
        Number of topics.
    alpha
        α, biterms that every topic is thought to have beforehand. None is ``50 / n_topics``, as in the paper.
    beta
        β, occurrences of each term that every topic is thought to have beforehand.
    n_iter
        Rounds of sampling over all biterms.
    chunk_size
        Largest number of biterms that are drawn together.
    fractions
        What to do with values of X that are not whole numbers: "refuse" raises an error, "ceil" rounds up.
    random_state
        Seed of the sampler.

    Attributes
    ----------
    components_
        Topics × terms, φ; zero for a term in no text.
    topic_shares_
        θ, the share of each topic in all biterms.
    labels_
        The topic of each row; absent if an engine was fitted.
    n_iter_
        Rounds made.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])
    >>> model = BTM(n_topics=2, alpha=1.0, random_state=0).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_",)

    topic_shares_: Array
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        alpha: float | None = None,
        beta: float = 0.01,
        n_iter: int = 100,
        chunk_size: int = 1024,
        fractions: Fractions = "refuse",
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.chunk_size = chunk_size
        self.fractions = fractions
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        n_iter = check_count("n_iter", self.n_iter, self)
        chunk_size = check_count("chunk_size", self.chunk_size, self)
        alpha = 50 / n_topics if self.alpha is None else check_positive("alpha", self.alpha, self)
        beta = check_positive("beta", self.beta, self)
        check_choice("fractions", self.fractions, FRACTIONS, self)
        self._check_words(documents)
        rows = self._together(documents)
        used = np.bincount(rows.X.indices, minlength=documents.n_terms) > 0
        prior = biterms.Topics.prior(np.full(n_topics, alpha), np.outer(used * beta, np.ones(n_topics)))
        found = biterms.sample(*biterms.biterms_of(rows, self), prior, n_iter, chunk_size, random)
        self.topic_shares_ = found.biterms / found.biterms.sum()
        self.components_ = biterms.distributions(found)
        self.n_iter_ = n_iter

    def _memberships(self, X: csr_matrix) -> Array:
        return biterms.shares_of_topics(self._counts(X), self.components_, self.topic_shares_)
