"""NMF whose text factor has orthogonal columns (Yoo & Choi 2008)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from coterie.engines import Block, Engine
from coterie.estimator import Array
from coterie.factor import steps_semantic as steps
from coterie.factor.rows import RowFactor
from coterie.factor.semantic import Init, MultiplicativeNMF, Weights, unit_columns
from coterie.factor.steps import PATIENCE, settled


def update_orthogonal(Z: Array, XW: Array, WtXtZ: Array) -> Array:
    """``Z ∘ XW / Z(WᵀXᵀZ)``: a step along the Stiefel manifold ``ZᵀZ = I``.

    The gradient on the manifold is ``G − Z Gᵀ Z`` with ``G = −XW + ZWᵀW`` the plain one, which with
    ``ZᵀZ = I`` is ``−XW + Z WᵀXᵀ Z``; its two parts are above and below the line.
    """
    return steps.multiplied(Z, XW, Z @ WtXtZ)


def update_free(W: Array, XtZ: Array, ZtZ: Array) -> Array:
    """``W ∘ XᵀZ / W ZᵀZ``, the plain update of the factor that is not bound."""
    return steps.multiplied(W, XtZ, W @ ZtZ)


class OrthogonalNMF(MultiplicativeNMF):
    """NMF with orthogonal text memberships, ``ZᵀZ = I``, by multiplicative updates on the Stiefel manifold.

    1. Terms are weighted and rows brought to unit length: X.
    2. ``min ½‖X − ZWᵀ‖²`` with Z, W ≥ 0 and ``ZᵀZ = I``. Non-negative columns at right angles have no text in
       common, so Z is a clustering as soon as the constraint holds; on the way it is soft.
    3. The start is that of `SemanticNMF`, columns of Z at unit length.
    4. ``Z ∘= XW / Z(WᵀXᵀZ)``, ``W ∘= XᵀZ / W(ZᵀZ)``, repeatedly. The update of Z keeps columns
       orthogonal but lets the length c of a column oscillate between c and 1/c, so columns are rescaled to
       unit length and W is scaled accordingly, which leaves ``ZWᵀ`` unchanged.
    5. With W fixed, a text gets the memberships that explain it best. The constraint is one on all texts
       together and says nothing about a text alone.

    The constraint is met only approximately: `orthogonality_` is the deviation. There is no proof that the
    objective falls with every step, and it may rise slightly near the end. A step is one pass over the
    documents.

    Parameters
    ----------
    n_topics
        Number of topics.
    weights
        "idf" weights terms by inverse document frequency, "binary" counts a term once per text, None uses the
        values of X. Rows have unit length in each case.
    init
        "kmeans" starts from spherical k-means, "rows" from random texts.
    max_iter
        Largest number of iterations.
    tol
        Stop when ten iterations lower the objective by no more than this fraction in total.
    random_state
        Seed of the random start.

    Attributes
    ----------
    components_
        Topics × terms, ``Wᵀ``.
    labels_
        The topic of each row; absent if an engine was fitted.
    term_weights_
        Weight of each term.
    topic_lengths_
        Length of the column of memberships in each topic over the fitted texts; 0 for an empty topic.
    objective_
        The objective after each iteration.
    orthogonality_
        ``‖ZᵀZ − I‖`` after each iteration, 0 where the constraint holds; a topic that no text
        has is left out.
    n_iter_
        Number of iterations.

    Examples
    --------
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1]])
    >>> model = OrthogonalNMF(n_topics=2, random_state=0).fit(X)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    >>> round(model.orthogonality_[-1], 3)
    0.0
    """

    orthogonality_: list[float]

    def __init__(
        self,
        n_topics: int = 8,
        *,
        weights: Weights = "idf",
        init: Init = "kmeans",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.weights = weights
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        rows = self._begin(documents)
        Z, W = self._start(rows, random)
        W, objective = self._descend(rows, Z, W)
        self._finish(rows, W, objective)

    def _descend(self, rows: Engine, Z: RowFactor, W: Array) -> tuple[Array, list[float]]:
        norm_of_x = rows.sum(steps.squared_norm)
        # a pass that changes nothing measures the start
        lengths, XtZ, ZtZ = _unit(*Z.update(rows, lambda block, Z: (Z, steps.text_sums(block, Z))))
        W = W * lengths
        objective: list[float] = []
        self.orthogonality_ = []
        while not settled(objective, self.max_iter, self.tol, PATIENCE):
            moved = Z.update(rows, partial(_moved, lengths=lengths, W=W, WtXtZ=W.T @ XtZ))
            lengths, XtZ, ZtZ = _unit(*moved)
            W = update_free(W * lengths, XtZ, ZtZ)
            sums = steps.TextSums(XtZ, ZtZ, norm_of_x)
            objective.append(max(steps.fit_objective(sums, W, W.T @ W), 0.0))
            self.orthogonality_.append(float(np.linalg.norm(ZtZ - np.diag(np.diag(ZtZ)))))
        return W, objective


def _moved(
    block: Block, Z: Array, lengths: Array, W: Array, WtXtZ: Array
) -> tuple[Array, tuple[Array, Array]]:
    """New rows of Z, and what they add to the sums; the columns of the old rows have yet to be scaled."""
    Z = update_orthogonal(unit_columns(Z, lengths), block.X @ W, WtXtZ)
    return Z, steps.text_sums(block, Z)


def _unit(XtZ: Array, ZtZ: Array) -> tuple[Array, Array, Array]:
    """Lengths of the columns of Z, and ``XᵀZ`` and ``ZᵀZ`` as they are with columns of unit length."""
    lengths = np.sqrt(np.diag(ZtZ))
    return lengths, unit_columns(XtZ, lengths), unit_columns(unit_columns(ZtZ, lengths).T, lengths)
