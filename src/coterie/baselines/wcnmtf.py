"""Tri-factorisation of texts, regularised by word co-occurrence (WC-NMTF, Salah, Ailem, Nadif, AAAI 2018)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from coterie import semantics
from coterie.engines import Block, Engine
from coterie.estimator import Array, check_amount, check_count
from coterie.factor import steps_semantic as steps
from coterie.factor.rows import RowFactor
from coterie.factor.semantic import FLOOR, Init, MultiplicativeNMF, Weights, core
from coterie.factor.steps import settled


class WordCooccurrenceNMTF(MultiplicativeNMF):
    """Clusters of texts and clusters of terms, where terms of a cluster also occur together.

    1. Terms are weighted and rows brought to unit length: X. M is the shifted positive pointwise mutual
       information of terms that share texts.
    2. ``min ½‖X − ZSWᵀ‖² + ½λ‖M − WQWᵀ‖²`` with Z, S, W, Q ≥ 0. Z has the clusters of texts, W those of
       terms, S how much each cluster of texts uses each of terms, Q how clusters of terms are associated.
       There are as many clusters of terms as of texts.
    3. The start is that of `SemanticNMF`; S begins as the identity, with a fifth added everywhere.
    4. ``Z ∘= XWSᵀ / ZSWᵀWSᵀ``, ``S ∘= ZᵀXW / ZᵀZSWᵀW``, ``W ∘= (XᵀZS + 2λMWQ) / W(SᵀZᵀZS + 2λQWᵀWQ)`` and
       ``Q ∘= WᵀMW / WᵀWQWᵀW``, repeatedly. If the steps of W and Q would raise the objective, that of W is
       shortened.
    5. Topics are rows of ``SWᵀ``. With these fixed, a text gets the memberships that explain it best, divided
       by the length of their columns over the fitted texts.

    An iteration is one pass over the documents.

    Parameters
    ----------
    n_topics
        Number of topics: clusters of texts, and of terms.
    regularization
        λ, how much co-occurrence counts beside the texts.
    negatives
        How many times more often than by chance terms must meet to count.
    weights
        "idf" weights terms by inverse document frequency, "binary" counts a term once per text, None uses the
        values of X. Rows have unit length in each case.
    init
        "kmeans" starts from spherical k-means, "rows" from random texts.
    max_iter
        Largest number of iterations.
    tol
        Stop when an iteration lowers the objective by no more than this fraction.
    random_state
        Seed of the random start.

    Attributes
    ----------
    components_
        Topics × terms, ``SWᵀ``.
    term_clusters_
        Clusters of terms × terms, ``Wᵀ``.
    topic_core_
        Topics × clusters of terms, ``S``.
    semantic_core_
        Clusters of terms × clusters of terms, ``Q``.
    term_weights_
        Weight of each term.
    topic_lengths_
        Length of the column of memberships in each topic over the fitted texts; 0 for an empty topic.
    objective_
        The objective after each iteration. `n_iter_` is their number.
    labels_
        The topic of each row; absent if an engine was fitted.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 2, 1]])
    >>> model = WordCooccurrenceNMTF(n_topics=2, random_state=0).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    """

    _by_column = ("components_", "term_clusters_", "term_weights_")

    term_clusters_: Array
    topic_core_: Array
    semantic_core_: Array

    def __init__(
        self,
        n_topics: int = 8,
        *,
        regularization: float = 1.0,
        negatives: int = 1,
        weights: Weights = "idf",
        init: Init = "kmeans",
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.regularization = regularization
        self.negatives = negatives
        self.weights = weights
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_amount("regularization", self.regularization, self)
        check_count("negatives", self.negatives, self)

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        rows = self._begin(documents)
        # λ‖M − WQWᵀ‖² = ‖√λM − W(√λQ)Wᵀ‖²
        scale = float(np.sqrt(self.regularization))
        M = scale * semantics.ppmi(semantics.cooccurrence(documents), shift=self.negatives)
        Z, W = self._start(rows, random)
        S = np.eye(self.n_topics) + FLOOR
        terms, S, objective = self._descend(rows, M, Z, S, steps.TermFactors.of(W, core(W, M), M))
        self.term_clusters_ = np.ascontiguousarray(terms.W.T)
        self.topic_core_ = S
        self.semantic_core_ = terms.S / scale if scale else terms.S
        self._finish(rows, terms.W @ S.T, objective)

    def _descend(
        self, rows: Engine, M: csr_matrix, Z: RowFactor, S: Array, terms: steps.TermFactors
    ) -> tuple[steps.TermFactors, Array, list[float]]:
        """One factor after the other, until the objective rests."""
        norm_of_m, norm_of_x = float(M.multiply(M).sum()), rows.sum(steps.squared_norm)
        objective: list[float] = []
        while not settled(objective, self.max_iter, self.tol):
            XtZ, ZtZ = Z.update(rows, partial(move_texts, S=S, terms=terms))
            S = update_topic_core(S, XtZ, ZtZ, terms)
            sums = steps.TextSums(XtZ @ S, S.T @ ZtZ @ S, norm_of_x)
            terms = steps.descend_terms(terms, sums, M)
            objective.append(max(steps.semantic_objective(terms, sums, norm_of_m), 0.0))
        return terms, S, objective


def move_texts(
    block: Block, Z: Array, S: Array, terms: steps.TermFactors
) -> tuple[Array, tuple[Array, Array]]:
    """``Z ∘ XWSᵀ / ZSWᵀWSᵀ``, and what the new rows add to ``XᵀZ`` and ``ZᵀZ``."""
    Z = steps.update_texts(Z, block.X @ terms.W @ S.T, S @ terms.WtW @ S.T)
    return Z, steps.text_sums(block, Z)


def update_topic_core(S: Array, XtZ: Array, ZtZ: Array, terms: steps.TermFactors) -> Array:
    """``S ∘ ZᵀXW / ZᵀZSWᵀW``."""
    return steps.multiplied(S, XtZ.T @ terms.W, ZtZ @ S @ terms.WtW)
