"""TNMF: topics from term co-occurrence; memberships of documents are inferred afterwards (SDM 2013)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse

from coterie import semantics
from coterie import weights as term_weights
from coterie.engines import Block, Engine, as_engine
from coterie.engines.base import pattern
from coterie.errors import InputError, shown
from coterie.estimator import Array, TopicEstimator, check_amount, check_choice, check_count, random_of
from coterie.factor import steps
from coterie.linalg.canonical import canonical
from coterie.linalg.svd import nonnegative_start

Similarity = Literal["context", "ppmi", "texts", "pearson"]
#: Similarities that follow from the texts of each term, and their names as term × term matrices.
_BY_TEXTS: dict[str, semantics.Gram] = {"texts": "assc_n", "pearson": "pcor"}
#: Iterations in which the objective may rise. Later, a rise ends them.
_SETTLING = 30
#: Entries below this share of the largest of their topic are zero: half of a weight that was clipped stays
#: in every iteration.
_NOTHING = 1e-8


class Similarities(Protocol):
    """A symmetric matrix S of terms × terms, known by its products."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Terms × terms."""

    def __matmul__(self, factors: Array) -> Array:
        """``S·Q``."""

    def diagonal(self) -> Array:
        """The similarity of each term to itself; 0 for a term without any."""


class TermNMF(TopicEstimator):
    """Topics from term correlations; memberships of documents follow from them.

    1. Count the texts in which two terms co-occur, and turn the counts into PPMI: a term is described by the
       terms it co-occurs with.
    2. ``S`` is the cosine between the PPMI rows of terms. It is dense and never formed: ``S = P̂P̂ᵀ``.
    3. ``min ‖S − UUᵀ‖²``, U ≥ 0. Least squares clipped at zero, ``max(S U (UᵀU)⁻¹, 0)``, alone goes back and
       forth; an iteration goes half of the way, ``U ← ½ U + ½ max(S U (UᵀU)⁻¹, 0)``.
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
    similarity
        What S is. "context" is the cosine of PPMI rows as above; "ppmi" the PPMI of two terms itself; "texts"
        the cosine and "pearson" the correlation of the texts that hold two terms. For the last two, each
        iteration is a pass over the documents.
    diagonal
        Whether a term co-occurs with itself, as often as there are texts that hold it.
    init
        "random" starts from random numbers as in the paper, in the scale of S; "rows" from the similarities
        of random terms; "svd" from singular vectors of P̂, which is deterministic and needs the similarity
        "context".
    max_iter
        Largest number of iterations.
    tol
        Stop when the objective changes by no more than this share of its first value. After 30 iterations any
        rise stops as well.
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
    >>> model = TermNMF(n_topics=2, random_state=0).fit(X)
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
        similarity: Similarity = "context",
        diagonal: bool = True,
        init: Literal["random", "rows", "svd"] = "random",
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.inference = inference
        self.weights = weights
        self.similarity = similarity
        self.diagonal = diagonal
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_cooccurrence(self, counts: Any, y: Any = None) -> Self:
        """Learn topics from co-occurrence counts alone: terms × terms, symmetric, non-negative.

        Terms have weight 1 in later documents, as the fit sees no documents. ``diagonal=False`` ignores the
        diagonal of the counts.
        """
        self._check_parameters()
        if self.similarity in _BY_TEXTS:
            raise InputError(
                f"counts do not tell which texts hold a term, as similarity={shown(self.similarity)} needs; "
                "fit documents, or use 'context' or 'ppmi'"
            )
        C = csr_matrix(counts if issparse(counts) else np.atleast_2d(counts), dtype=np.float64)
        if C.shape[0] != C.shape[1] or not np.isfinite(C.data).all() or (C.data < 0).any():
            raise InputError("counts must be a square matrix of terms × terms, finite and non-negative")
        self.n_features_in_ = C.shape[0]
        order = canonical(C).columns
        self.term_weights_ = np.ones(C.shape[0])
        ordered = C[order][:, order]
        kept = ordered if self.diagonal else semantics.without_diagonal(ordered)
        self._factorise(self._from_counts(kept), random_of(self.random_state))
        self.components_ = np.ascontiguousarray(self.components_[:, np.argsort(order)])
        self.fallback_ = 0
        return self

    def _check_parameters(self) -> None:
        check_count("n_topics", self.n_topics, self)
        check_choice("inference", self.inference, ("euclidean", "divergence"), self)
        check_choice("weights", self.weights, ("binary", "idf", None), self)
        check_choice("similarity", self.similarity, ("context", "ppmi", "texts", "pearson"), self)
        check_choice("diagonal", self.diagonal, (True, False), self)
        check_choice("init", self.init, ("random", "rows", "svd"), self)
        check_count("max_iter", self.max_iter, self)
        check_amount("tol", self.tol, self)
        if self.init == "svd" and self.similarity != "context":
            raise InputError(
                f"init='svd' needs similarity='context', got {shown(self.similarity)}; use 'random' or 'rows'"
            )

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        self._check_parameters()
        self.term_weights_ = term_weights.of_terms(documents, self.weights)
        self._factorise(self._similarities(documents), random)

    def _similarities(self, documents: Engine) -> Similarities:
        if self.similarity in _BY_TEXTS:
            held = documents.mapped(lambda block: Block(pattern(block.X), block.weights, block.start))
            return semantics.TermGram.of(held, _BY_TEXTS[self.similarity])
        return self._from_counts(semantics.cooccurrence(documents, diagonal=self.diagonal))

    def _from_counts(self, counts: csr_matrix) -> Similarities:
        associations = semantics.ppmi(counts)
        return associations if self.similarity == "ppmi" else semantics.TermCorrelation(associations)

    def _factorise(self, S: Similarities, random: np.random.RandomState) -> None:
        U = self._start(S, random)
        self.objective_ = []
        SU = S @ U
        while not _settled(self.objective_, self.max_iter, self.tol):
            U = (U + steps.clipped(SU, U.T @ U, 0.0)) / 2.0
            SU = S @ U
            gram = U.T @ U
            # ‖S − UUᵀ‖² − ‖S‖² = ‖UᵀU‖² − 2 tr(UᵀSU)
            self.objective_.append(float(np.sum(gram * gram)) - 2.0 * float(np.sum(U * SU)))
        U[_NOTHING * U.max(axis=0, initial=0.0) > U] = 0.0
        self.components_ = np.ascontiguousarray(U.T)
        self.n_iter_ = len(self.objective_)

    def _start(self, S: Similarities, random: np.random.RandomState) -> Array:
        if self.init == "random":
            return _random_start(S, self.n_topics, random)
        if self.init == "rows":
            return _similarities_of_random_terms(S, self.n_topics, random)
        # the right singular vectors of P̂ᵀ are the eigenvectors of S = P̂P̂ᵀ
        assert isinstance(S, semantics.TermCorrelation)
        return nonnegative_start(as_engine(S.rows.T.tocsr()), self.n_topics)

    def _memberships(self, X: csr_matrix) -> Array:
        U = self.components_.T
        Y = term_weights.weighted(X, self.term_weights_, self.weights)
        if self.inference == "divergence":
            return steps.newton(Y, U)
        return steps.clipped(np.asarray(Y @ U), U.T @ U, 0.0)


def _settled(objective: list[float], max_iter: int, tol: float) -> bool:
    """Whether iterations are used up, change nothing, or raise the objective after the first ones."""
    if len(objective) < 2:
        return len(objective) >= max_iter
    change = objective[-1] - objective[-2]
    rises = len(objective) > _SETTLING and change > 0
    return rises or abs(change) <= tol * abs(objective[0]) or len(objective) >= max_iter


def _random_start(S: Similarities, n: int, random: np.random.RandomState) -> Array:
    """``2 √(mean(S) / K)`` times uniform numbers, so that ``UUᵀ`` has the mean of S.

    Terms without similarities begin with 0. Where negative entries cancel the others, the mean is that of the
    diagonal alone.
    """
    n_terms = S.shape[0]
    total = max(float(np.sum(S @ np.ones(n_terms))), float(S.diagonal().sum()))
    level = 2.0 * np.sqrt(total / max(n_terms, 1) ** 2 / n)
    return level * _similar_to_any(S)[:, None] * random.uniform(size=(n_terms, n))


def _similarities_of_random_terms(S: Similarities, n: int, random: np.random.RandomState) -> Array:
    """Columns of S, what is positive, for different terms that have any; zeros where there are too few."""
    associated = np.flatnonzero(_similar_to_any(S))
    drawn = min(n, len(associated))
    unit = np.zeros((S.shape[0], n))
    if drawn:
        unit[random.choice(associated, drawn, replace=False), np.arange(drawn)] = 1.0
    return np.maximum(S @ unit, 0.0)


def _similar_to_any(S: Similarities) -> npt.NDArray[np.bool_]:
    """Which terms are similar to any, be it to themselves."""
    return (S.diagonal() > 0) | (S @ np.ones(S.shape[0]) > 0)
