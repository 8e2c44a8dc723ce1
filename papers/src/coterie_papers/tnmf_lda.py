"""LDA as GibbsLDA++ gives it: a text has the topics that the sampler last gave its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.baselines.lda import distributions, sampled, texts_of
from coterie.estimator import random_of


class SampledLDA:
    """LDA whose memberships are those of the last round of sampling, ``θ_k ∝ n_k + α``.

    n_k is how many words of the text were in topic k then. `coterie.baselines.GibbsLDA` gives the most likely
    θ instead, which needs no sampling for a new text and does not change from round to round.

    Examples
    --------
    >>> X = csr_matrix([[3, 2, 0, 0], [2, 4, 0, 0], [0, 0, 3, 3], [0, 0, 1, 4], [0, 0, 0, 0]])
    >>> model = SampledLDA(2, random_state=0).fit(X)
    >>> model.memberships_[0].sum().round(6), model.memberships_[4].tolist()
    (np.float64(1.0), [0.0, 0.0])
    """

    components_: npt.NDArray[np.float64]
    memberships_: npt.NDArray[np.float64]
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        alpha: float = 0.05,
        eta: float = 0.01,
        n_iter: int = 500,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.eta = eta
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: csr_matrix) -> SampledLDA:
        """Sample the topics of all words; a text without words belongs to none."""
        seed = int(random_of(self.random_state).randint(2**31 - 1))
        texts = texts_of(X, np.ones(X.shape[0]))
        model = sampled(texts, self.n_topics, alpha=self.alpha, eta=self.eta, n_iter=self.n_iter, seed=seed)
        self.components_ = distributions(model, X.shape[1])
        self.memberships_ = np.zeros((X.shape[0], self.n_topics))
        some = [row for row, text in enumerate(texts) if text]
        for row, document in zip(some, model.docs, strict=True):
            self.memberships_[row] = document.get_topic_dist()
        self.n_iter_ = self.n_iter
        return self

    def fit_predict(self, X: csr_matrix) -> npt.NDArray[np.int64]:
        """The topic of each text: its largest membership, the first topic for a text without words."""
        return self.fit(X).memberships_.argmax(axis=1)
