"""Regularised latent semantic indexing: sparse topics of either sign, one pass per step."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack
from sklearn.utils.random import sample_without_replacement

from coterie import weights as term_weights
from coterie.engines import Block, Engine
from coterie.engines.base import csr_view
from coterie.estimator import TopicEstimator, check_amount, check_choice, check_count, check_positive
from coterie.factor import steps

Array = npt.NDArray[np.float64]

#: Rounds of coordinate descent over the topics for one pass over the documents: they cost terms × topics²,
#: and after three U is as good as solved for.
SWEEPS = 3
#: Length of what is mixed into each row that a topic starts from; rows themselves have a length of about 1.
MIXED = 0.1


class RLSI(TopicEstimator):
    """Regularised latent semantic indexing (Wang, Xu, Li and Craswell, SIGIR 2011).

    1. ``Y``, documents × terms, is X with a weight on each term, divided by one number so that the squared
       length of a row is 1 in the mean. `l1` and `l2` then mean the same for any weights.
    2. ``min ‖Y − V Uᵀ‖² + λ₁‖U‖₁ + λ₂‖V‖²`` is sought by turns, from U = rows of Y chosen at random with
       a little of all rows mixed in. No sign is forbidden: λ₁ makes topics (terms × topics, U) sparse, λ₂
       keeps memberships (V) small.
    3. With U fixed, ``V = Y U (UᵀU + λ₂I)⁻¹`` row by row, so V is never stored: one pass over the documents
       leaves the sums ``VᵀV`` and ``YᵀV``.
    4. With these, each term has its own row of U, found by coordinate descent with soft thresholding, for
       all terms at once. Neither step can raise the objective.
    5. A topic and its memberships may both change sign; the sign taken makes the topic's terms sum to
       more than 0. The cluster of a document is its largest membership.

    Parameters
    ----------
    n_topics : int, default=8
        Number of topics. A topic that `l1` reduces to zero gets no documents.
    weights : "idf", "ncut", "ncut-cosine", "binary" or None, default="idf"
        Term weights: Ncut and binary ones apply to the binary form of X, "idf" to its values; None uses
        X unchanged. Ncut weights are divided by their maximum, as in the paper; step 1 cancels such factors.
    l1 : float, default=0.03
        λ₁, at least 0. A larger value makes topics sparser.
    l2 : float, default=0.03
        λ₂, above 0: without it U could shrink and V grow for ever. To have the paper's λ₁ and λ₂ on rows that
        are not divided, give ``l1=λ₁/s`` and ``l2=λ₂/s²`` with s the root of their mean squared length.
    max_iter : int, default=200
        Largest number of passes over the documents.
    tol : float, default=1e-5
        Stop when a pass lowers the objective by less than this fraction.
    random_state : int, RandomState or None, default=None
        Chooses the rows to start from and the mixture.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_terms)
        Uᵀ.
    projection_ : ndarray of shape (n_topics, n_terms)
        X, or its binary form, times the transpose gives memberships.
    term_weights_ : ndarray of shape (n_terms,)
        Weights of terms, with the division of step 1.
    labels_ : ndarray of shape (n_documents,)
        Topic of each document; not set if an engine was fitted.
    objective_ : list of float
        The objective after each pass; it never rises.
    n_iter_ : int
        Passes made.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> model = RLSI(n_topics=2, random_state=0).fit(X)
    >>> model.labels_ == model.labels_[0]
    array([ True,  True,  True, False, False])
    >>> model.components_[model.labels_[0]].round(1) != 0
    array([ True,  True, False, False])
    """

    _by_column = ("components_", "projection_", "term_weights_")

    projection_: Array
    term_weights_: Array
    objective_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        weights: term_weights.Kind = "idf",
        l1: float = 0.03,
        l2: float = 0.03,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.weights = weights
        self.l1 = l1
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        max_iter = check_count("max_iter", self.max_iter, self)
        check_choice("weights", self.weights, term_weights.KINDS, self)
        l1 = check_amount("l1", self.l1, self)
        l2 = check_positive("l2", self.l2, self)
        tol = check_amount("tol", self.tol, self)

        per_term, energy = unit_weights(documents, self.weights)
        rows = term_weights.weighted_rows(documents, per_term, self.weights)
        U = starting_topics(rows, n_topics, random)
        self.objective_ = []
        while not steps.settled(self.objective_, max_iter, tol):
            gram, cross = rows.sum(partial(membership_sums, P=project(U, l2)))
            U = update_topics(U, gram, cross, l1)
            self.objective_.append(objective(energy, U, gram, cross, l1=l1, l2=l2))

        U = U * np.where(U.sum(axis=0) < 0, -1.0, 1.0)
        self.components_ = U.T
        self.projection_ = project(U, l2).T
        self.term_weights_ = per_term
        self.n_iter_ = len(self.objective_)

    def _memberships(self, X: csr_matrix) -> Array:
        return term_weights.weighted(X, self.term_weights_, self.weights) @ self.projection_.T

    def open_topics(self) -> npt.NDArray[np.bool_]:
        """Memberships may be negative: a topic of zeros must not win over them."""
        return np.asarray(self.components_.any(axis=1))


def project(U: Array, l2: float) -> Array:
    """``P = U (UᵀU + λ₂I)⁻¹``, with which ``V = Y P`` is the best V for U."""
    return np.asarray(np.linalg.solve(U.T @ U + l2 * np.eye(U.shape[1]), U.T).T, dtype=np.float64)


def membership_sums(block: Block, P: Array) -> tuple[Array, Array]:
    """``VᵀV`` and ``YᵀV`` over the rows of a block, each as often as its weight says, for ``V = Y P``."""
    V = block.X @ P
    counted = block.weights[:, None] * V
    return counted.T @ V, block.X.T @ counted


def update_topics(U: Array, gram: Array, cross: Array, l1: float, sweeps: int = SWEEPS) -> Array:
    """Lower ``tr(UᵀU VᵀV) − 2 tr(UᵀYᵀV) + λ₁‖U‖₁`` by coordinate descent, for all terms at once."""
    U = U.copy()
    for _ in range(sweeps):
        for k, length in enumerate(gram.diagonal()):
            # u_k ← soft(YᵀV_k − Σ_{j≠k} u_j (VᵀV)_jk, λ₁/2) / (VᵀV)_kk; a topic without members costs λ₁ only
            rest = cross[:, k] - U @ gram[:, k] + length * U[:, k]
            shrunk = np.sign(rest) * np.maximum(np.abs(rest) - l1 / 2, 0.0)
            U[:, k] = shrunk / length if length > np.finfo(np.float64).tiny else 0.0
    return U


def objective(energy: float, U: Array, gram: Array, cross: Array, *, l1: float, l2: float) -> float:
    """``‖Y − V Uᵀ‖² + λ₁‖U‖₁ + λ₂‖V‖²`` from ``‖Y‖²``, ``VᵀV`` and ``YᵀV``."""
    error = energy - 2 * np.sum(U * cross) + np.sum((U.T @ U) * gram)
    return float(error + l1 * np.abs(U).sum() + l2 * np.trace(gram))


def squared_lengths(Y: csr_matrix) -> Array:
    """``‖y‖²`` for each row."""
    squares: Array = csr_view(Y.data**2, Y.indices, Y.indptr, Y.shape) @ np.ones(Y.shape[1])
    return squares


def unit_weights(documents: Engine, weights: term_weights.Kind) -> tuple[Array, float]:
    """Weights of terms with which rows have a mean squared length of 1, and the ``‖Y‖²`` they give."""
    per_term = term_weights.of_terms(documents, weights)
    rows = term_weights.weighted_rows(documents, per_term, weights)
    n_texts, energy = rows.sum(
        lambda block: (float(block.weights.sum()), float(block.weights @ squared_lengths(block.X)))
    )
    if energy <= 0:  # no term has a weight: nothing to scale
        return per_term, 0.0
    return per_term / np.sqrt(energy / n_texts), n_texts


def starting_topics(rows: Engine, n_topics: int, random: np.random.RandomState) -> Array:
    """Terms × topics: rows chosen at random that are not empty, each with a little of all rows mixed in.

    Without the mixture, a topic could never come to terms that no chain of texts links to those it starts
    with; and it is all there is where rows are too few.
    """

    def filled(block: Block) -> csr_matrix:
        return block.X[squared_lengths(block.X) > 0]

    n_filled = sum(rows.map(lambda block: filled(block).shape[0]))
    chosen = sample_without_replacement(n_filled, min(n_topics, n_filled), random_state=random)
    found, first = [], 0
    mixture = np.zeros((rows.n_terms, n_topics))
    for Y in rows.map(filled):
        inside = (chosen >= first) & (chosen < first + Y.shape[0])
        found.append(Y[np.sort(chosen[inside]) - first])
        first += Y.shape[0]
        mixture += Y.T @ random.uniform(size=(Y.shape[0], n_topics))
    length = np.linalg.norm(mixture, axis=0)
    topics: Array = mixture * np.divide(MIXED, length, where=length > 0, out=np.zeros(n_topics))
    topics[:, : len(chosen)] += vstack(found).toarray().T
    return topics
