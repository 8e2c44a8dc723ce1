"""TNMF: topics from term co-occurrence; memberships of documents are inferred afterwards (SDM 2013)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse

from coterie import semantics
from coterie import weights as term_weights
from coterie.engines import Engine, as_engine
from coterie.errors import InputError
from coterie.estimator import Array, TopicEstimator, check_amount, check_choice, check_count, random_of
from coterie.factor import steps
from coterie.linalg.canonical import canonical
from coterie.linalg.svd import nonnegative_start


class TermNMF(TopicEstimator):
    """Topics from term correlations; memberships of documents follow from them.

    1. Count the texts in which two terms co-occur, and turn the counts into PPMI: a term is described by the
       terms it co-occurs with.
    2. ``S`` is the cosine between the PPMI rows of terms. It is dense and never formed: ``S = P̂P̂ᵀ``.
    3. ``min ‖S − UUᵀ‖²``, U ≥ 0, by ``U ← max(S U (UᵀU)⁻¹, 0)``; the best iterate is kept.
    4. With U fixed, infer each document separately: least squares clipped at zero, or the generalised
       I-divergence by Newton's method.

    There is one pass over the documents, for the counts; iterations use terms only.

    Parameters
    ----------
    n_topics
        Number of topics.
    inference
        "euclidean" or "divergence": how the memberships of documents follow from the topics.
    weights
        Term weights for inferring memberships: "binary", "idf", or None to use X unchanged.
    init
        "svd" starts from singular vectors of P̂ and is deterministic; "rows" from the
        correlations of random terms; "random" from random numbers, as in the paper, which often ends badly.
    max_iter, tol
        Largest number of iterations; relative change of the objective at which to stop.
    random_state
        Seed of a random start.

    Attributes
    ----------
    components_
        Topics × terms, ``Uᵀ``.
    term_weights_
        Weight of each term.
    objective_
        ``‖S − UUᵀ‖² − ‖S‖²`` after each iteration: the objective but for a constant that takes a dense pass
        to compute. `n_iter_` is their number.
    labels_
        The topic of each row; absent if an engine or co-occurrence counts were fitted.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 2, 1]])
    >>> model = TermNMF(n_topics=2).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_", "term_weights_")

    term_weights_: Array
    objective_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        inference: Literal["euclidean", "divergence"] = "euclidean",
        weights: Literal["binary", "idf"] | None = "binary",
        init: Literal["svd", "rows", "random"] = "svd",
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.inference = inference
        self.weights = weights
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_cooccurrence(self, counts: Any, y: Any = None) -> Self:
        """Learn topics from co-occurrence counts alone: terms × terms, symmetric, non-negative.

        Terms have weight 1 in later documents, as the fit sees no documents.
        """
        self._check_parameters()
        C = csr_matrix(counts if issparse(counts) else np.atleast_2d(counts), dtype=np.float64)
        if C.shape[0] != C.shape[1] or not np.isfinite(C.data).all() or (C.data < 0).any():
            raise InputError("counts must be a square matrix of terms × terms, finite and non-negative")
        self.n_features_in_ = C.shape[0]
        order = canonical(C).columns
        self.term_weights_ = np.ones(C.shape[0])
        self._factorise(C[order][:, order], random_of(self.random_state))
        self.components_ = np.ascontiguousarray(self.components_[:, np.argsort(order)])
        self.fallback_ = 0
        return self

    def _check_parameters(self) -> None:
        check_count("n_topics", self.n_topics, self)
        check_choice("inference", self.inference, ("euclidean", "divergence"), self)
        check_choice("weights", self.weights, ("binary", "idf", None), self)
        check_choice("init", self.init, ("svd", "rows", "random"), self)
        check_count("max_iter", self.max_iter, self)
        check_amount("tol", self.tol, self)

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        self._check_parameters()
        self.term_weights_ = term_weights.of_terms(documents, self.weights)
        self._factorise(semantics.cooccurrence(documents), random)

    def _factorise(self, counts: csr_matrix, random: np.random.RandomState) -> None:
        S = semantics.TermCorrelation(semantics.ppmi(counts))
        U = self._start(S, random)
        best, lowest = U, np.inf
        self.objective_ = []
        SU = S @ U
        while not steps.settled(self.objective_, self.max_iter, self.tol, steps.PATIENCE):
            U = steps.clipped(SU, U.T @ U, 0.0)
            SU = S @ U
            gram = U.T @ U
            # ‖S − UUᵀ‖² − ‖S‖² = ‖UᵀU‖² − 2 tr(UᵀSU)
            self.objective_.append(float(np.sum(gram * gram)) - 2.0 * float(np.sum(U * SU)))
            if self.objective_[-1] < lowest:
                best, lowest = U, self.objective_[-1]
        self.components_ = np.ascontiguousarray(best.T)
        self.n_iter_ = len(self.objective_)

    def _start(self, S: semantics.TermCorrelation, random: np.random.RandomState) -> Array:
        if self.init == "random":
            return random.uniform(size=(S.shape[0], self.n_topics))
        if self.init == "rows":
            return _correlations_of_random_terms(S, self.n_topics, random)
        # the right singular vectors of P̂ᵀ are the eigenvectors of S = P̂P̂ᵀ
        return nonnegative_start(as_engine(S.rows.T.tocsr()), self.n_topics)

    def _memberships(self, X: csr_matrix) -> Array:
        U = self.components_.T
        Y = term_weights.weighted(X, self.term_weights_, self.weights)
        if self.inference == "divergence":
            return steps.newton(Y, U)
        return steps.clipped(np.asarray(Y @ U), U.T @ U, 0.0)


def _correlations_of_random_terms(
    S: semantics.TermCorrelation, n: int, random: np.random.RandomState
) -> Array:
    """Columns of S for different terms that have associations; zeros where there are too few."""
    associated = np.flatnonzero(S.diagonal())
    drawn = min(n, len(associated))
    unit = np.zeros((S.shape[0], n))
    if drawn:
        unit[random.choice(associated, drawn, replace=False), np.arange(drawn)] = 1.0
    return S @ unit
