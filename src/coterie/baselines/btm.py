"""The biterm topic model (BTM, Yan, Guo, Lan and Cheng, WWW 2013)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.baselines import biterms
from coterie.baselines.counts import FRACTIONS, CountEstimator, Fractions
from coterie.engines import Engine
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError
from coterie.estimator import (
    Array,
    check_amount,
    check_choice,
    check_count,
    check_positive,
    random_of,
)


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

    `partial_fit` is the online BTM (Cheng, Yan, Lan and Guo, TKDE 2014) for texts that come in slices, such
    as days: each slice is learned with the counts of earlier ones as priors, α + λ n_k and β + λ n_kw. Topics
    keep their numbers from slice to slice, and `components_` follow how they are written about. M counts the
    terms of all slices so far.

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
    decay
        λ, from 0 to 1: how much a biterm of an earlier slice counts in `partial_fit`.
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
    topic_biterms_, term_biterms_
        n_k and n_kw (topics × terms): biterms of all slices so far in each topic, and with each term.
    labels_
        The topic of each row of the last slice; absent if an engine was fitted.
    n_iter_
        Rounds made.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])
    >>> model = BTM(n_topics=2, alpha=1.0, random_state=0).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    >>> later = model.partial_fit([[1, 3, 0, 0], [0, 0, 1, 1]])
    >>> float(later.topic_biterms_.sum())
    6.0
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_", "term_biterms_")

    topic_shares_: Array
    topic_biterms_: Array
    term_biterms_: Array
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        alpha: float | None = None,
        beta: float = 0.01,
        n_iter: int = 100,
        chunk_size: int = 1024,
        decay: float = 1.0,
        fractions: Fractions = "refuse",
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.beta = beta
        self.n_iter = n_iter
        self.chunk_size = chunk_size
        self.decay = decay
        self.fractions = fractions
        self.random_state = random_state

    def partial_fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from the next slice of texts, whose columns are the same terms; the first is as with `fit`.

        Parameters
        ----------
        X
            A sparse or dense matrix, or a `coterie.engines.Engine`.
        y
            Ignored.
        sample_weight
            How many texts each row represents.
        """
        if not hasattr(self, "components_"):
            return self.fit(X, sample_weight=sample_weight)
        if self.n_topics != len(self.components_):
            raise InputError(
                f"The parameter 'n_topics' of BTM must stay {len(self.components_)} between slices, "
                f"got {self.n_topics!r}; fit() begins anew"
            )
        self._blocks(X)  # refuses other terms than those of earlier slices
        documents = self._documents(X, sample_weight)
        seen = np.any(self.components_[:, documents.columns], axis=0)
        before = self.topic_biterms_, self.term_biterms_[:, documents.columns]
        with one_blas_thread():
            self._learn_slice(documents.engine, random_of(self.random_state), seen, *before)
            self._restore_columns(documents)
            self._after_fit(X, documents)
        return self

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        n_terms = documents.n_terms
        nothing = np.zeros(n_terms, dtype=bool), np.zeros(n_topics), np.zeros((n_topics, n_terms))
        self._learn_slice(documents, random, *nothing)

    def _learn_slice(
        self,
        documents: Engine,
        random: np.random.RandomState,
        seen: npt.NDArray[np.bool_],
        n_before: Array,
        terms_before: Array,
    ) -> None:
        """Learn from a slice, given what was before it: terms, biterms in each topic and with each term."""
        n_topics = len(n_before)
        n_iter = check_count("n_iter", self.n_iter, self)
        chunk_size = check_count("chunk_size", self.chunk_size, self)
        alpha = 50 / n_topics if self.alpha is None else check_positive("alpha", self.alpha, self)
        beta = check_positive("beta", self.beta, self)
        decay = check_decay(self.decay, self)
        check_choice("fractions", self.fractions, FRACTIONS, self)
        self._check_words(documents)
        rows = self._together(documents)
        used = seen | (np.bincount(rows.X.indices, minlength=documents.n_terms) > 0)
        words = np.ascontiguousarray((used * beta)[:, None] + decay * terms_before.T)
        prior = biterms.Topics.prior(alpha + decay * n_before, words)
        found = biterms.sample(*biterms.biterms_of(rows, self), prior, n_iter, chunk_size, random)
        self.topic_shares_ = found.biterms / found.biterms.sum()
        self.components_ = biterms.distributions(found)
        self.topic_biterms_ = n_before + np.rint(found.biterms - prior.biterms)
        self.term_biterms_ = terms_before + np.rint(found.words - prior.words).T
        self.n_iter_ = n_iter

    def _memberships(self, X: csr_matrix) -> Array:
        return biterms.shares_of_topics(self._counts(X), self.components_, self.topic_shares_)


def check_decay(value: Any, owner: object) -> float:
    """A number from 0 to 1."""
    if check_amount("decay", value, owner) > 1:
        raise InputError(f"The parameter 'decay' of {type(owner).__name__} must be at most 1, got {value!r}")
    return float(value)
