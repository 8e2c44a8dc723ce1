"""NMF of texts and of term co-occurrence that share the term factor (SeaNMF, Shi et al., WWW 2018)."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from coterie import semantics
from coterie import weights as term_weights
from coterie.engines import Block, Engine
from coterie.estimator import Array, TopicEstimator, check_amount, check_choice, check_count
from coterie.factor import steps
from coterie.factor import steps_semantic as sums_of
from coterie.factor.rows import RowFactor
from coterie.factor.semantic import unit_columns


class SeaNMF(TopicEstimator):
    """Topics that explain texts and, with a factor for contexts, which terms occur together.

    1. X contains texts as counts, or with weighted terms. Texts that hold both terms are counted and become
       shifted positive pointwise mutual information, ``M = max(PMI − log negatives, 0)``.
    2. ``min ‖X − HWᵀ‖² + α‖M − WCᵀ‖²`` with H, W, C ≥ 0: W (terms × topics) serves both, H has the topics of
       the texts, C those of terms as contexts.
    3. W starts from random numbers. H, C and W take turns, each by one sweep of coordinate descent over the
       topics: ``h_k ← max(h_k + (Xw_k − HWᵀw_k) / w_kᵀw_k, 0)``, C with M in place of X, and
       ``w_k ← max(w_k + (Xᵀh_k + αMc_k − W(HᵀH + αCᵀC)_k) / (h_kᵀh_k + α c_kᵀc_k), 0)``.
    4. Columns of W are brought to unit length. With W fixed, a text gets the memberships that explain it
       best.

    An iteration is one pass over the documents. The objective never rises: the authors bring W to unit length
    after each step, which here is done once, at the end. Their penalty for dense topics is left out.

    Parameters
    ----------
    n_topics
        Number of topics.
    alpha
        α, how much co-occurrence counts beside the texts.
    negatives
        How many times more often than by chance terms must meet to count.
    weights
        "ncut", "idf" or "binary"; None uses the values of X.
    max_iter
        Largest number of iterations.
    tol
        Stop when an iteration lowers the objective by no more than this fraction.
    random_state
        Seed of the start.

    Attributes
    ----------
    components_
        Topics × terms, ``Wᵀ`` with columns of unit length.
    contexts_
        Topics × terms, ``Cᵀ``: how much each term is a context of each topic.
    term_weights_
        Weight of each term.
    objective_
        The objective after each iteration. `n_iter_` is their number.
    labels_
        The topic of each row; absent if an engine was fitted.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 2, 1]])
    >>> model = SeaNMF(n_topics=2, random_state=0).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False]
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_", "contexts_", "term_weights_")

    contexts_: Array
    term_weights_: Array
    objective_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        alpha: float = 1.0,
        negatives: int = 1,
        weights: term_weights.Kind = None,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.alpha = alpha
        self.negatives = negatives
        self.weights = weights
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        alpha = check_amount("alpha", self.alpha, self)
        check_count("negatives", self.negatives, self)
        check_choice("weights", self.weights, term_weights.KINDS, self)
        check_count("max_iter", self.max_iter, self)
        check_amount("tol", self.tol, self)
        self.term_weights_ = term_weights.of_terms(documents, self.weights)
        rows = term_weights.weighted_rows(documents, self.term_weights_, self.weights)
        M = semantics.ppmi(semantics.cooccurrence(documents), shift=self.negatives)
        W = random.uniform(size=(documents.n_terms, n_topics))
        W /= np.linalg.norm(W, axis=0)
        W, C = self._descend(rows, M, W, alpha)
        lengths = np.linalg.norm(W, axis=0)
        self.components_ = np.ascontiguousarray(unit_columns(W, lengths).T)
        self.contexts_ = np.ascontiguousarray((C * lengths).T)
        self.n_iter_ = len(self.objective_)

    def _descend(self, rows: Engine, M: csr_matrix, W: Array, alpha: float) -> tuple[Array, Array]:
        """One factor after the other, until the objective rests."""
        norms = rows.sum(sums_of.squared_norm), float(M.multiply(M).sum())
        gram = W.T @ W
        H = RowFactor.of(rows, lambda block: steps.clipped(block.X @ W, gram, 0.0), self.n_topics)
        C = steps.clipped(M @ W, gram, 0.0)
        self.objective_ = []
        while not steps.settled(self.objective_, self.max_iter, self.tol):
            XtH, HtH = H.update(rows, partial(_moved, W=W, gram=W.T @ W))
            W, C, sums = update_terms(W, C, M, Texts(XtH, HtH), alpha)
            self.objective_.append(max(objective(W, Texts(XtH, HtH), sums, norms, alpha), 0.0))
        return W, C

    def _memberships(self, X: csr_matrix) -> Array:
        Y, W = term_weights.weighted(X, self.term_weights_, self.weights), self.components_.T
        return steps.solve(np.asarray(Y @ W), W.T @ W, 0.0)


class Texts(NamedTuple):
    """What a row factor F says of W: ``YᵀF`` and ``FᵀF``; of H with texts, and of C with associations."""

    cross: Array
    gram: Array


def _moved(block: Block, H: Array, W: Array, gram: Array) -> tuple[Array, tuple[Array, Array]]:
    """New rows of H, and what they add to ``XᵀH`` and ``HᵀH``."""
    H = steps.descend(H, block.X @ W, gram, 0.0)
    return H, sums_of.text_sums(block, H)


def update_terms(W: Array, C: Array, M: csr_matrix, texts: Texts, alpha: float) -> tuple[Array, Array, Texts]:
    """One sweep over the topics of C, then of W; and the sums of C that the objective needs."""
    C = steps.descend(C, M @ W, W.T @ W, 0.0)
    contexts = Texts(M @ C, C.T @ C)
    pull, gram = texts.cross + alpha * contexts.cross, texts.gram + alpha * contexts.gram
    return steps.descend(W, pull, gram, 0.0), C, contexts


def objective(W: Array, texts: Texts, contexts: Texts, norms: tuple[float, float], alpha: float) -> float:
    """``‖X − HWᵀ‖² + α‖M − WCᵀ‖²`` from sums; `norms` are ``‖X‖²`` and ``‖M‖²``."""
    WtW = W.T @ W
    fit, association = (
        norm - 2.0 * float(np.sum(W * sums.cross)) + float(np.sum(WtW * sums.gram))
        for norm, sums in zip(norms, (texts, contexts), strict=True)
    )
    return fit + alpha * association
