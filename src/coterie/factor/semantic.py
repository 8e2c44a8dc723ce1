"""Semantic-NMF: documents and term associations, factorised together.

`MultiplicativeNMF` is also the base class of factorisations in `coterie.baselines`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags, issparse

from coterie import semantics, weights
from coterie.corpus.sequences import Sequences
from coterie.engines import Block, Engine
from coterie.engines.base import pattern
from coterie.errors import InputError
from coterie.estimator import (
    Array,
    Documents,
    TopicEstimator,
    check_amount,
    check_choice,
    check_count,
    check_weights,
)
from coterie.factor import steps_semantic as steps
from coterie.factor.nmf import random_rows
from coterie.factor.rows import RowFactor
from coterie.factor.steps import settled
from coterie.linalg.rows import unit_rows
from coterie.linalg.spherical import spherical_kmeans

Weights = Literal["idf", "binary"] | None
Init = Literal["kmeans", "rows"]

#: What is added to every entry of a start, in parts of their mean: updates that multiply never leave zero.
FLOOR = 0.2
#: How far counts may be from symmetric, in parts of the largest: rounding, no more.
_ASYMMETRY = 1e-9


class MultiplicativeNMF(TopicEstimator):
    """Base class of factorisations with multiplicative updates: weights, start, memberships.

    A subclass learns W from the rows that `_begin` gives and hands it to `_finish`. Memberships follow from a
    row and the topics alone (`coterie.factor.steps_semantic.infer`), each topic divided by the length of its
    column over the fitted texts, so that a topic that is strong everywhere does not take every text.
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_", "term_weights_")

    n_topics: int
    weights: Weights
    init: Init
    max_iter: int
    tol: float
    random_state: Any

    term_weights_: Array
    topic_lengths_: Array
    objective_: list[float]
    n_iter_: int

    def _check_parameters(self) -> None:
        """Check all parameters before any work is done."""
        check_count("n_topics", self.n_topics, self)
        check_choice("weights", self.weights, ("idf", "binary", None), self)
        check_choice("init", self.init, ("kmeans", "rows"), self)
        check_count("max_iter", self.max_iter, self)
        check_amount("tol", self.tol, self)

    def _begin(self, documents: Engine) -> Engine:
        """Check the parameters, learn term weights, and weight the rows."""
        self._check_parameters()
        idf = self.weights == "idf"
        self.term_weights_ = weights.idf(documents) if idf else np.ones(documents.n_terms)
        return documents.mapped(lambda block: Block(self._weighted(block.X), block.weights, block.start))

    def _start(self, rows: Engine, random: np.random.RandomState) -> tuple[RowFactor, Array]:
        """``Z`` and ``W`` from centres of the texts, nowhere zero."""
        if self.init == "kmeans":
            centers = spherical_kmeans(rows, self.n_topics, random).centers
        else:
            centers = random_rows(rows, self.n_topics, random)
        Z = RowFactor.of(rows, lambda block: _indicator(block.X, centers) + FLOOR, self.n_topics)
        return Z, centers.T + FLOOR * centers.mean()

    def _finish(self, rows: Engine, W: Array, objective: list[float]) -> None:
        """Keep what was learned from the rows that `_begin` gave, and measure the topics on them."""
        self.components_ = np.ascontiguousarray(W.T)
        self.objective_ = objective
        self.n_iter_ = len(objective)
        squares = rows.sum(lambda block: block.weights @ steps.infer(block.X, self.components_) ** 2)
        self.topic_lengths_ = np.sqrt(squares)

    def _weighted(self, X: csr_matrix) -> csr_matrix:
        """Rows with weighted terms, at unit length."""
        values = pattern(X) if self.weights == "binary" else X
        rows = unit_rows((values @ diags(self.term_weights_)).tocsr())
        rows.eliminate_zeros()
        return rows

    def _memberships(self, X: csr_matrix) -> Array:
        return unit_columns(steps.infer(self._weighted(X), self.components_), self.topic_lengths_)


class SemanticNMF(MultiplicativeNMF):
    """Topics that explain texts and term co-occurrence jointly.

    1. Terms are weighted and rows brought to unit length: X.
    2. Co-occurrence counts become shifted positive pointwise mutual information,
       ``M = max(PMI − log negatives, 0)``: sparse, terms × terms.
    3. One matrix W of terms × topics serves both: ``min ½‖X − ZWᵀ‖² + ½‖M − WSWᵀ‖²`` with Z, W, S ≥ 0.
       Z has the topics of the texts, S the association of topics.
    4. Spherical k-means gives the start: Z is 1 at the cluster of a text, W holds the centres, S the strength
       of the associations inside each topic. Everywhere a fifth (of the mean, in W and S) is added, because
       an update that multiplies never leaves zero.
    5. ``Z ∘= XW / ZWᵀW``, ``W ∘= (XᵀZ + 2MWS) / W(2SWᵀWS + ZᵀZ)``, ``S ∘= WᵀMW / WᵀWSWᵀW``, repeatedly.
       If an iteration would raise the objective, the step of W is shortened, so it never rises.
    6. A text belongs to topics by Z with W fixed, columns divided by their length over the fitted texts.

    An iteration is one pass over the documents. Z is the state of the iteration: one row for each distinct
    text, in memory where the texts are, in a temporary file where they come from disk. It is not kept: with W
    fixed it follows from each text alone.

    Counts are those of texts that hold both terms. For texts of more than a few words, windows are sharper:
    give counts or the running texts to `fit` as `cooccurrence`.

    Parameters
    ----------
    n_topics
        Number of topics.
    negatives
        Number of negative samples: how many times more often than by chance terms must meet to count.
    window
        How many words apart two terms may stand, where `cooccurrence` is given as running texts.
    weights
        "idf" weights terms by inverse document frequency, "binary" counts a term once per text, None uses the
        values of X. Rows have unit length in each case.
    init
        "kmeans" starts from spherical k-means, "rows" from random texts.
    max_iter
        Largest number of iterations.
    tol
        Stop when an iteration lowers the objective by no more than this fraction. Most of the objective is a
        part of M that a few topics cannot explain, so even a small fraction matters.
    random_state
        Seed of the random start.

    Attributes
    ----------
    components_
        Topics × terms, ``Wᵀ``.
    semantic_core_
        Topics × topics, ``S``.
    labels_
        The topic of each row; absent if an engine was fitted.
    term_weights_
        Weight of each term.
    topic_lengths_
        Length of the column of memberships in each topic over the fitted texts; 0 for an empty topic.
    objective_
        The objective after each iteration.
    n_iter_
        Number of iterations.

    Where no term tells texts apart (one text, or texts that all hold the same terms, under idf) there are no
    topics: `components_` is zero and every text gets topic 0.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 2, 1]])
    >>> model = SemanticNMF(n_topics=2, random_state=0).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    >>> (model.components_[model.labels_[0]] > 0.1).tolist()
    [True, True, True, False, False]
    """

    semantic_core_: Array
    _cooccurrence: Any = None  # what `fit` was given, while it runs

    def __init__(
        self,
        n_topics: int = 8,
        *,
        negatives: int = 2,
        window: int = 10,
        weights: Weights = "idf",
        init: Init = "kmeans",
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.negatives = negatives
        self.window = window
        self.weights = weights
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        cooccurrence: Any = None,
    ) -> Self:
        """Learn from documents × terms.

        Parameters
        ----------
        X
            A sparse or dense matrix, or a `coterie.engines.Engine`.
        y
            Ignored.
        sample_weight
            How many texts each row stands for.
        cooccurrence
            How often terms occur together, in the order of the columns of X: a symmetric matrix of terms ×
            terms; or the running texts behind the rows of X (`coterie.corpus.sequences.Sequences`, or several
            of them one after another), whose windows are then counted. None counts the rows that hold both.
        """
        self._check_parameters()
        self._cooccurrence = cooccurrence
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._cooccurrence

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        cooccurrence: Any = None,
    ) -> Array:
        """Fit, then `transform` the same documents."""
        return self.fit(X, y, sample_weight, cooccurrence).transform(X)

    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        cooccurrence: Any = None,
    ) -> npt.NDArray[np.int64]:
        """Fit, and return the topic of each document."""
        self.fit(X, y, sample_weight, cooccurrence)
        return self.predict(X) if isinstance(X, Engine) else self.labels_

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("negatives", self.negatives, self)
        check_count("window", self.window, self)

    def _documents(self, X: Any, sample_weight: npt.ArrayLike | None) -> Documents:
        documents = super()._documents(X, sample_weight)
        if self._cooccurrence is not None:
            counts = self._counted(self._cooccurrence, documents, sample_weight)
            # the columns of the documents are in canonical order, those of the counts follow them
            self._cooccurrence = counts[documents.columns][:, documents.columns]
        return documents

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        rows = self._begin(documents)
        given = self._cooccurrence
        counts = semantics.cooccurrence(documents) if given is None else given
        M = semantics.ppmi(counts, shift=self.negatives)
        Z, W = self._start(rows, random)
        terms, objective = self._descend(rows, M, Z, steps.TermFactors.of(W, core(W, M), M))
        self.semantic_core_ = terms.S
        self._finish(rows, terms.W, objective)

    def _descend(
        self, rows: Engine, M: csr_matrix, Z: RowFactor, terms: steps.TermFactors
    ) -> tuple[steps.TermFactors, list[float]]:
        """One factor after the other, until the objective rests."""
        norm_of_m, norm_of_x = float(M.multiply(M).sum()), rows.sum(steps.squared_norm)
        objective: list[float] = []
        while not settled(objective, self.max_iter, self.tol):
            XtZ, ZtZ = Z.update(rows, partial(steps.move_texts, terms=terms))
            sums = steps.TextSums(XtZ, ZtZ, norm_of_x)
            terms = steps.descend_terms(terms, sums, M)
            objective.append(max(steps.semantic_objective(terms, sums, norm_of_m), 0.0))
        return terms, objective

    def _counted(self, given: Any, documents: Documents, sample_weight: npt.ArrayLike | None) -> csr_matrix:
        """Counts of terms × terms from what was given as `cooccurrence`."""
        n_terms = documents.engine.n_terms
        if issparse(given) or isinstance(given, np.ndarray):
            return _checked_counts(given, n_terms)
        if documents.rows is None:
            texts = np.concatenate(list(documents.engine.map(lambda block: block.weights)))
        else:
            texts = check_weights(sample_weight, len(documents.rows))
        parts = [given] if isinstance(given, Sequences) else given
        return _window_counts(parts, texts, n_terms, self.window)


def unit_columns(Z: Array, lengths: Array) -> Array:
    """Columns divided by their lengths; zero where there is no length."""
    return np.divide(Z, lengths, where=lengths > 0, out=np.zeros_like(Z))


def _indicator(X: csr_matrix, centers: Array) -> Array:
    """1 at the centre nearest to each row, else 0."""
    return np.eye(len(centers))[np.asarray(X @ centers.T).argmax(axis=1)]


def core(W: Array, M: csr_matrix) -> Array:
    """A start for S: for each topic on its own the best factor of ``M ≈ s·wwᵀ``, ``s = wᵀMw / (wᵀw)²``."""
    square = np.einsum("mk,mk->k", W, W) ** 2
    strength = np.divide(np.einsum("mk,mk->k", W, M @ W), square, where=square > 0, out=np.zeros_like(square))
    return np.diag(strength) + FLOOR * strength.mean()


def _checked_counts(given: Any, n_terms: int) -> csr_matrix:
    """Co-occurrence counts that can be used as they are."""
    if given.shape != (n_terms, n_terms):
        raise InputError(
            f"cooccurrence must be {n_terms} × {n_terms}, as X has {n_terms} terms, got shape {given.shape}"
        )
    counts = csr_matrix(given, dtype=np.float64)
    if not np.isfinite(counts.data).all() or (counts.data < 0).any():
        raise InputError("cooccurrence must be finite and non-negative")
    if abs(counts - counts.T).max() > _ASYMMETRY * counts.max():
        raise InputError("cooccurrence must be symmetric")
    return counts


def _window_counts(parts: Iterable[Any], texts: Array, n_terms: int, window: int) -> csr_matrix:
    """Pairs inside windows of running texts, each text counted as often as `texts` says."""
    total = csr_matrix((n_terms, n_terms))
    end = 0
    for part in parts:
        if not isinstance(part, Sequences):
            raise InputError(
                f"cooccurrence must be counts of terms × terms, or Sequences; got {type(part).__name__}"
            )
        if part.ids.max(initial=-1) >= n_terms:
            raise InputError(f"cooccurrence has a term {part.ids.max()}, but X has only {n_terms} terms")
        start, end = end, end + len(part)
        if end <= len(texts):
            total = total + semantics.window_cooccurrence(part, n_terms, window, texts[start:end])
    if end != len(texts):
        raise InputError(f"cooccurrence must have one text for each of the {len(texts)} rows of X, got {end}")
    return total
