"""Non-negative factorisation of weighted documents: the CIKM 2012 method, its solvers and its losses."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from coterie import weights as term_weights
from coterie.engines import Block, Engine, to_host
from coterie.engines.base import squared
from coterie.errors import InputError, shown
from coterie.estimator import Array, Documents, TopicEstimator, check_amount, check_choice, check_count
from coterie.factor import steps
from coterie.factor.rows import RowFactor
from coterie.linalg.rows import unit_dense
from coterie.linalg.svd import nonnegative_start, term_vectors

Init = Literal["svd", "rows", "random"]

#: Sweeps over the columns of a factor between two passes over the documents.
_SWEEPS = 1
#: What replaces zeros of a start, in parts of its mean, where steps multiply and could not leave zero.
_FLOOR = 0.01


class NMF(TopicEstimator):
    """Topics from documents: ``min ‖Y − VUᵀ‖² + λ(‖U‖² + ‖V‖²)``, U and V non-negative.

    1. Terms are weighted, ``Y = X·diag(w)``. Ncut weights favour terms that co-occur with few others.
    2. U (terms × topics) starts from singular vectors, from random documents, or at random.
    3. Documents and terms take turns: with U fixed each row of V follows from its document, with V fixed
       each row of U from sums over the documents. An iteration is one pass over the documents.
    4. A document belongs most to the topic with the largest entry in its row of V.

    ``weights="ncut", solver="clip", init="rows"`` is Algorithm 1 of the CIKM 2012 paper.

    Parameters
    ----------
    n_topics
        Number of topics.
    weights
        "ncut", "ncut-cosine" (terms at unit length before their affinity is taken), "idf" or "binary". Ncut
        and binary weights are applied to binary documents, idf to the values of X; None uses X unchanged.
    loss
        "euclidean" as above, or "divergence": the generalised I-divergence ``D(Y ‖ VUᵀ)`` with the same
        λ, minimised by multiplicative steps.
    l2
        λ, the weight of the squared lengths of both factors. From the largest singular value of Y on, which
        is 1 over the largest Ncut weight before scaling, the only minimum is zero; a warning says so.
    unit_columns
        Whether each topic, a column of U, is brought to unit length in every iteration: a larger λ then makes
        memberships more even, and pushes nothing to zero. For the Euclidean loss and ``solver="clip"``.
    solver
        For the Euclidean loss. "clip" solves least squares and sets negative entries to zero: fast, without
        a proof of convergence; the best iterate is kept. "hals" is coordinate descent: it never raises the
        objective and ends lower.
    init
        "svd" starts from the non-negative halves of the leading singular vectors and is deterministic; "rows"
        from random documents; "random" from random numbers. An array of topics × terms is used unchanged.
    scale
        Of Ncut weights: "max" divides by the largest, as the paper does; "quantile" by the 95th percentile,
        so that one rare term cannot push all others, and with them all documents, into one topic. "auto"
        is "max" for the algorithm of the paper (clip from rows) and "quantile" otherwise.
    max_iter, tol
        Largest number of iterations; relative change of the objective at which to stop.
    random_state
        Seed of the random start.

    Attributes
    ----------
    components_
        Topics × terms, ``Uᵀ``, in the scale of the weighted documents.
    term_weights_
        Weight of each term.
    objective_
        The objective after each iteration. `n_iter_` is their number.
    labels_
        The topic of each row; absent if an engine was fitted.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 2, 1]])
    >>> model = NMF(n_topics=2, l2=0.1).fit(X)
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
        weights: term_weights.Kind = "ncut",
        loss: Literal["euclidean", "divergence"] = "euclidean",
        l2: float = 1.0,
        unit_columns: bool = False,
        solver: Literal["clip", "hals"] = "clip",
        init: Init | npt.ArrayLike = "svd",
        scale: Literal["auto", "max", "quantile"] = "auto",
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.weights = weights
        self.loss = loss
        self.l2 = l2
        self.unit_columns = unit_columns
        self.solver = solver
        self.init = init
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_topics", self.n_topics, self)
        check_choice("weights", self.weights, term_weights.KINDS, self)
        check_choice("loss", self.loss, ("euclidean", "divergence"), self)
        check_choice("solver", self.solver, ("clip", "hals"), self)
        check_choice("scale", self.scale, ("auto", "max", "quantile"), self)
        if isinstance(self.init, str):
            check_choice("init", self.init, ("svd", "rows", "random"), self)
        check_amount("l2", self.l2, self)
        check_choice("unit_columns", self.unit_columns, (True, False), self)
        if self.unit_columns and (self.loss, self.solver) != ("euclidean", "clip"):
            raise InputError(
                "unit_columns=True needs loss='euclidean' and solver='clip', "
                f"got {shown(self.loss)} and {shown(self.solver)}"
            )
        check_amount("tol", self.tol, self)
        check_count("max_iter", self.max_iter, self)

    def _documents(self, X: Any, sample_weight: npt.ArrayLike | None) -> Documents:
        documents = super()._documents(X, sample_weight)
        self._columns = documents.columns  # a start that is given is in the order of the input
        return documents

    def _accelerated(self, documents: Engine) -> Engine:
        """Clipped least squares are only products; other solvers keep a row for each document."""
        clipped = self.solver == "clip" and self.loss == "euclidean"
        return documents.accelerated() if clipped else documents

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        self._check_parameters()
        documents = self._accelerated(documents)
        self.term_weights_ = term_weights.of_terms(documents, self.weights, self._scale())
        rows = term_weights.weighted_rows(documents, self.term_weights_, self.weights)
        self._warn_of_zero(rows)
        U = self._start(rows, random)
        if self.loss == "divergence":
            U = self._multiply(rows, U)
        else:
            U = self._clip(rows, U) if self.solver == "clip" else self._descend(rows, U)
        self.components_ = np.ascontiguousarray(to_host(U).T)
        self.n_iter_ = len(self.objective_)

    def _warn_of_zero(self, rows: Engine) -> None:
        """Say before the fit if λ is so large that factors of zero are the only minimum.

        With both factors free, ``λ(‖U‖² + ‖V‖²)`` is at least twice λ times the sum of the singular values of
        ``VUᵀ``; minimising that takes λ off each singular value of Y. None is less than the longest column.
        """
        if self.loss != "euclidean" or self.unit_columns or self.l2 == 0:
            return
        longest = float(np.sqrt(np.max(to_host(rows.sum(_squared_lengths)), initial=0.0)))
        if not 0 < longest <= self.l2:
            return
        largest = float(term_vectors(rows, 1)[1][0])
        if self.l2 >= largest * (1.0 - 1e-9):
            self._zero = True
            warnings.warn(
                f"only 0 of {self.n_topics} topics are used at the minimum: l2={self.l2:g} is not below "
                f"{largest:.3g}, the largest singular value of the weighted documents. Use a smaller l2, "
                f"unit_columns=True, scale='quantile', or a larger min_df to remove rare terms",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _scale(self) -> Literal["max", "quantile"]:
        if self.scale != "auto":
            return self.scale
        paper = self.solver == "clip" and isinstance(self.init, str) and self.init == "rows"
        return "max" if paper else "quantile"

    def _start(self, rows: Engine, random: np.random.RandomState) -> Array:
        """A start for U: terms × topics."""
        if not isinstance(self.init, str):
            return self._given_start(rows)
        if self.init == "svd":
            return nonnegative_start(rows, self.n_topics)
        if self.init == "random":
            entries, total = rows.sum(
                lambda block: (float(block.weights.sum()) * block.X.shape[1], _total(block))
            )
            level = np.sqrt(max(total, 0.0) / max(entries, 1.0) / self.n_topics)
            return level * np.abs(random.standard_normal((rows.n_terms, self.n_topics)))
        return random_rows(rows, self.n_topics, random).T

    def _given_start(self, rows: Engine) -> Array:
        try:
            U = np.array(self.init, dtype=np.float64).T
        except (ValueError, TypeError):
            U = np.zeros((0, 0))
        if U.shape != (rows.n_terms, self.n_topics) or not np.isfinite(U).all() or (U < 0).any():
            raise InputError(
                f"The parameter 'init' of NMF must be a known start or {self.n_topics} topics × "
                f"{rows.n_terms} terms, finite and non-negative, got {shown(self.init)}"
            )
        return U[self._columns]

    def _clip(self, rows: Engine, U: Array) -> Array:
        """Algorithm 1 of the CIKM 2012 paper: V is never stored, and the best U is kept.

        The objective is that of the new U with the V it came from. At unit length, U no longer fits that V;
        it is then that of the V which follows from U.
        """
        energy, U = rows.sum(_energy), rows.here(U)
        if self.unit_columns:
            U = _unit_columns(U)
        best, lowest = U, np.inf
        self.objective_ = []
        while not steps.settled(self.objective_, self.max_iter, self.tol, steps.PATIENCE):
            solution = U @ steps.inverse(U.T @ U, self.l2)
            YtV, VtV = rows.sum(partial(_clipped_sums, solution=solution))
            moved = steps.clipped(YtV, VtV, self.l2)
            judged = U if self.unit_columns else moved
            self.objective_.append(steps.euclidean_objective(energy, judged, YtV, VtV, self.l2))
            if self.objective_[-1] < lowest:
                best, lowest = judged, self.objective_[-1]
            U = _unit_columns(moved) if self.unit_columns else moved
        return best

    def _descend(self, rows: Engine, U: Array) -> Array:
        """Coordinate descent on both factors; V goes from pass to pass."""
        energy = rows.sum(_energy)
        gram = U.T @ U
        V = RowFactor.of(rows, lambda block: steps.clipped(block.X @ U, gram, self.l2), self.n_topics)
        self.objective_ = []
        while not steps.settled(self.objective_, self.max_iter, self.tol):
            YtV, VtV = V.update(rows, partial(_descended, U=U, gram=U.T @ U, l2=self.l2))
            U = steps.descend(U, YtV, VtV, self.l2, _SWEEPS)
            self.objective_.append(steps.euclidean_objective(energy, U, YtV, VtV, self.l2))
        return U

    def _multiply(self, rows: Engine, U: Array) -> Array:
        """Multiplicative steps for the I-divergence; V goes from pass to pass."""
        U = U + _FLOOR * U.mean()  # a step that multiplies never leaves zero
        total = max(float(U.sum()), np.finfo(float).tiny)
        V = RowFactor.of(
            rows, lambda block: np.outer(block.X.sum(axis=1), np.ones(self.n_topics)) / total, self.n_topics
        )
        self.objective_ = []
        while not steps.settled(self.objective_, self.max_iter, self.tol):
            pull, sums, squares, fit = V.update(rows, partial(_multiplied, U=U, l2=self.l2))
            size = float(U.sum(axis=0) @ sums) + self.l2 * (float(np.sum(U * U)) + squares)
            self.objective_.append(max(fit + size, 0.0))
            U = steps.multiplied(U, pull, sums, self.l2)
        return U

    def _after_fit(self, X: Any, documents: Documents) -> None:
        super()._after_fit(X, documents)
        del self._columns
        used = len(np.unique(self.labels_)) if documents.rows is not None else self.n_topics
        warned = self.__dict__.pop("_zero", False)
        if not warned and used < min(self.n_topics, documents.engine.n_rows):
            warnings.warn(
                f"only {used} of {self.n_topics} topics are used. If you expect more, use a smaller l2, "
                f"scale='quantile', or a larger min_df to remove rare terms",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _memberships(self, X: csr_matrix) -> Array:
        Y, U = term_weights.weighted(X, self.term_weights_, self.weights), self.components_.T
        if self.loss == "divergence":
            return steps.infer_divergence(Y, U, self.l2)
        solve = steps.clipped if self.solver == "clip" else steps.solve
        return solve(Y @ U, U.T @ U, self.l2)


def random_rows(rows: Engine, n: int, random: np.random.RandomState) -> Array:
    """Different documents drawn at random, as often as they occur; zeros where there are too few."""
    sizes = np.concatenate(list(rows.map(lambda block: block.weights * (np.diff(block.X.indptr) > 0))))
    drawn = min(n, int((sizes > 0).sum()))
    found = np.zeros((n, rows.n_terms))
    if drawn:
        chosen = random.choice(len(sizes), drawn, replace=False, p=sizes / sizes.sum())
        found[:drawn] = rows.sum(lambda block: rows_at(block, chosen))
    return found


def rows_at(block: Block, numbers: npt.NDArray[np.int64]) -> Array:
    """The rows of these numbers that are in the block; zeros for the others."""
    local = numbers - block.start
    here = (local >= 0) & (local < block.X.shape[0])
    rows_at_numbers = np.zeros((len(numbers), block.X.shape[1]))
    rows_at_numbers[here] = block.X[local[here]].toarray()
    return rows_at_numbers


def _clipped_sums(block: Block, solution: Array) -> tuple[Array, Array]:
    """What follows from ``V = max(Y U(UᵀU + λI)⁻¹, 0)``; U is solved for once in a pass, not for each row."""
    return _sums(block, np.maximum(block.X @ solution, 0.0))


def _descended(block: Block, V: Array, U: Array, gram: Array, l2: float) -> tuple[Array, tuple[Array, Array]]:
    V = steps.descend(V, block.X @ U, gram, l2, _SWEEPS)
    return V, _sums(block, V)


def _multiplied(
    block: Block, V: Array, U: Array, l2: float
) -> tuple[Array, tuple[Array, Array, float, float]]:
    """New rows of V, and what U and the objective need of them: ``(Y/VUᵀ)ᵀV``, sums of V and V², the fit."""
    Y = block.X
    V = steps.multiplied(V, steps.ratios(Y, V, U)[0] @ U, U.sum(axis=0), l2)
    ratio, product = steps.ratios(Y, V, U)
    weighted = block.weights[:, None] * V
    known = product > 0
    fit = Y.data[known] * (np.log(Y.data[known] / product[known]) - 1.0)
    total = float(np.repeat(block.weights, np.diff(Y.indptr))[known] @ fit)
    return V, (ratio.T @ weighted, weighted.sum(axis=0), float(np.sum(weighted * V)), total)


def _sums(block: Block, V: Array) -> tuple[Array, Array]:
    """``YᵀV`` and ``VᵀV`` of a block, each row as often as it occurs."""
    weighted = V if (block.weights == 1.0).all() else block.weights[:, None] * V
    return block.X.T @ weighted, V.T @ weighted


def _unit_columns(U: Any) -> Any:
    return unit_dense(U.T).T.copy()


def _squared_lengths(block: Block) -> Array:
    """The squared length of each column of Y in a block."""
    return squared(block.X).T @ block.weights


def _energy(block: Block) -> float:
    """``‖Y‖²`` of a block."""
    return float(block.weights @ (squared(block.X) @ np.ones(block.X.shape[1])))


def _total(block: Block) -> float:
    return float(block.weights @ (block.X @ np.ones(block.X.shape[1])))
