"""Symmetric NMF of the similarities between documents, which are never formed."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie import weights as term_weights
from coterie.baselines.rlsi import starting_topics
from coterie.engines import Block, Engine
from coterie.errors import InputError
from coterie.estimator import TopicEstimator, check_amount, check_choice, check_count
from coterie.factor import steps
from coterie.linalg.rows import unit_rows

Array = npt.NDArray[np.float64]

#: A topic with less than this share of all squared memberships has none but rounding.
DEAD = 1e-14
#: New documents: most rounds of coordinate descent, and the change of a membership, as a share of the
#: document's largest, below which a document is done.
MAX_SWEEPS = 500
SETTLED = 1e-10


class SymmetricNMF(TopicEstimator):
    """Symmetric NMF on documents (Kuang, Ding and Park, SDM 2012).

    1. ``X̂`` is X with a weight on each term and rows of unit length. The similarity of documents is their
       cosine, ``S = X̂X̂ᵀ``, documents × documents.
    2. ``min ‖S − HHᵀ‖²`` over ``H ≥ 0``, documents × topics. S is never formed: its products are
       ``SH = X̂(X̂ᵀH)``.
    3. With the sums ``C = X̂ᵀH`` and ``G = HᵀH`` at hand, a round of coordinate descent moves each row h, on
       its own, towards the h ≥ 0 that minimises ``‖S_i − Hh‖²``, that is ``hᵀGh − 2hᵀCᵀx̂``.
    4. This goal (equation 4.4 of Yan et al., SDM 2013, there met by clipping) has the gradient of the
       objective, up to a factor, so the move D is downhill; and on ``H + tD`` the objective is a polynomial
       of degree 4 in t, known from sums over the same pass. The best t in [0, 1] is taken: the objective
       cannot rise, where clipping swings between two states and the multiplicative rules creep.
    5. The topics of a document are the h of step 3, solved to the end. At a solution of step 2 these are the
       rows of H itself, and unlike these they are known for any document, from C and G alone.

    One pass over the documents for each round. H and D are kept in memory: 16 bytes for each distinct
    document and topic. A row that stands for n documents counts n times in C, G and the objective.

    Parameters
    ----------
    n_topics : int, default=8
        Number of topics. A topic without documents is all zero.
    weights : "idf", "ncut", "ncut-cosine", "binary" or None, default="idf"
        Term weights: Ncut and binary ones apply to the binary form of X, "idf" to its values; None uses
        X unchanged.
    max_iter : int, default=300
        Largest number of passes over the documents.
    tol : float, default=1e-6
        Stop when a pass lowers the objective by less than this fraction.
    random_state : int, RandomState or None, default=None
        Chooses the documents to start from: H is at first the similarity to them.

    Attributes
    ----------
    components_ : ndarray of shape (n_topics, n_terms)
        Mean of the rows of X̂, weighted by their membership in the topic.
    topic_weights_ : ndarray of shape (n_topics,)
        Sum of memberships in each topic: times `components_` it is Cᵀ.
    gram_ : ndarray of shape (n_topics, n_topics)
        G.
    term_weights_ : ndarray of shape (n_terms,)
        Weights of terms.
    labels_ : ndarray of shape (n_documents,)
        Topic of each document; not set if an engine was fitted.
    objective_ : list of float
        ``‖HHᵀ‖² − 2 tr HᵀSH`` after each pass: the objective without the constant ``‖S‖²``, which would
        need the similarities themselves. It is below 0; no topics at all would have 0.
    n_iter_ : int
        Passes made.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> model = SymmetricNMF(n_topics=2, random_state=0).fit(X)
    >>> model.labels_ == model.labels_[0]
    array([ True,  True,  True, False, False])
    >>> model.transform([[1, 0, 0, 0]])[0, model.labels_[0]].round(1)
    np.float64(0.7)
    """

    _by_column = ("components_", "term_weights_")

    topic_weights_: Array
    gram_: Array
    term_weights_: Array
    objective_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_topics: int = 8,
        *,
        weights: term_weights.Kind = "idf",
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ):
        self.n_topics = n_topics
        self.weights = weights
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        check_count("max_iter", self.max_iter, self)
        check_choice("weights", self.weights, term_weights.KINDS, self)
        check_amount("tol", self.tol, self)
        check_starts(documents)

        self.term_weights_ = term_weights.of_terms(documents, self.weights)
        rows = documents.mapped(lambda block: Block(self._unit(block.X), block.weights, block.start))
        H = self._descend(rows, starting_memberships(rows, n_topics, random))
        cross, gram, total = rows.sum(partial(block_sums, H=H))
        self.components_ = cross.T * np.divide(1.0, total, where=total > 0, out=np.zeros_like(total))[:, None]
        self.topic_weights_ = total
        self.gram_ = gram
        self.n_iter_ = len(self.objective_)

    def _descend(self, rows: Engine, H: Array) -> Array:
        """Iterate from H, topics × documents, until no step lowers the objective by much."""
        D = np.zeros_like(H)
        cross, gram, _ = rows.sum(partial(block_sums, H=H))
        sums = Sums(cross, gram)
        self.objective_ = []
        while not steps.settled(self.objective_, self.max_iter, self.tol):
            moves = Moves(*rows.sum(partial(block_moves, sums=sums, H=H, D=D)))
            step = best_step(sums, moves)
            H += step * D
            sums = moved(sums, moves, step)
            self.objective_.append(objective(sums))
        return H

    def _unit(self, X: csr_matrix) -> csr_matrix:
        """Rows of X̂."""
        return unit_rows(term_weights.weighted(X, self.term_weights_, self.weights))

    def _memberships(self, X: csr_matrix) -> Array:
        cross = (self._unit(X) @ self.components_.T) * self.topic_weights_
        return nonnegative(cross.T, self.gram_).T


class Sums(NamedTuple):
    """What a pass over the documents says of H: ``X̂ᵀH`` and ``HᵀH``."""

    cross: Array
    gram: Array


class Moves(NamedTuple):
    """What a pass over the documents says of the move D: ``X̂ᵀD``, ``HᵀD`` and ``DᵀD``."""

    cross: Array
    mixed: Array
    gram: Array


def span(block: Block) -> slice:
    """Where the rows of a block stand among all rows."""
    return slice(block.start, block.start + block.X.shape[0])


def check_starts(documents: Engine) -> None:
    """Memberships are kept by row number, so blocks must know theirs."""
    expected = 0
    for rows in documents.map(span):
        if rows.start != expected:
            raise InputError(
                f"X must have blocks that start one after another, got {rows.start}, not {expected}"
            )
        expected = rows.stop


def starting_memberships(rows: Engine, n_topics: int, random: np.random.RandomState) -> Array:
    """Topics × documents: the similarity to documents chosen at random, at the scale that fits S best."""
    chosen = starting_topics(rows, n_topics, random)
    H = np.zeros((n_topics, rows.n_rows))

    def similarity(block: Block) -> tuple[Array, Array, Array]:
        H[:, span(block)] = (block.X @ chosen).T
        return block_sums(block, H)

    cross, gram, _ = rows.sum(similarity)
    # ‖S − c²HHᵀ‖² = c⁴‖HᵀH‖² − 2c²‖X̂ᵀH‖² + ‖S‖²
    square = np.sum(cross**2) / np.sum(gram**2) if gram.any() else 0.0
    return H * np.sqrt(square)


def block_sums(block: Block, H: Array) -> tuple[Array, Array, Array]:
    """What a block adds to ``X̂ᵀH``, ``HᵀH`` and ``Hᵀ1``. H is topics × documents here and in what follows."""
    h = H[:, span(block)]
    counted = (h * block.weights).T
    return block.X.T @ counted, h @ counted, h @ block.weights


def block_moves(block: Block, sums: Sums, H: Array, D: Array) -> tuple[Array, Array, Array]:
    """Find the move D of a block's rows, and what it adds to ``X̂ᵀD``, ``HᵀD`` and ``DᵀD``."""
    h = H[:, span(block)]
    goal = h.copy()
    descend(goal, sums.gram @ h - (block.X @ sums.cross).T, sums.gram)
    d = goal - h
    D[:, span(block)] = d
    counted = (d * block.weights).T
    return block.X.T @ counted, h @ counted, d @ counted


def descend(H: Array, slope: Array, gram: Array) -> None:
    """A round of coordinate descent on ``½hᵀGh − hᵀc`` over h ≥ 0, for each column h of H, in place.

    `slope` is ``GH − c`` and is kept so. Each column is worked on by itself, to the last bit.
    """
    for k in np.flatnonzero(gram.diagonal() > DEAD * np.trace(gram)):
        # h_k ← max(h_k − slope_k / G_kk, 0)
        new = np.maximum(H[k] - slope[k] / gram[k, k], 0.0)
        slope += np.multiply.outer(gram[k], new - H[k])
        H[k] = new


def nonnegative(cross: Array, gram: Array) -> Array:
    """The h ≥ 0 that minimises ``½hᵀGh − hᵀc`` for each column c of `cross`."""
    solution = np.zeros_like(cross)
    moving = np.arange(cross.shape[1])
    H, slope = solution.copy(), -cross
    for _ in range(MAX_SWEEPS):
        before = H.copy()
        descend(H, slope, gram)
        solution[:, moving] = H
        still = (np.abs(H - before) > SETTLED * H.max(axis=0, initial=0.0)).any(axis=0)
        moving, H, slope = moving[still], H[:, still], slope[:, still]
        if not moving.size:
            break
    return solution


def best_step(sums: Sums, moves: Moves) -> float:
    """The t in [0, 1] at which the objective on ``H + tD`` is lowest."""
    both = moves.mixed + moves.mixed.T
    # f(t) − f(0) with G(t) = HᵀH + t(HᵀD + DᵀH) + t²DᵀD and C(t) = X̂ᵀH + t X̂ᵀD in ‖G(t)‖² − 2‖C(t)‖²
    quartic = [
        np.sum(moves.gram**2),
        2 * np.sum(both * moves.gram),
        np.sum(both**2) + 2 * np.sum(sums.gram * moves.gram) - 2 * np.sum(moves.cross**2),
        2 * np.sum(sums.gram * both) - 4 * np.sum(sums.cross * moves.cross),
        0.0,
    ]
    stationary = np.clip(np.roots(np.polyder(quartic)).real, 0.0, 1.0)
    steps = np.concatenate([[0.0, 1.0], stationary])
    return float(steps[np.argmin(np.polyval(quartic, steps))])


def moved(sums: Sums, moves: Moves, step: float) -> Sums:
    """The sums of ``H + tD``, without a pass over the documents."""
    gram = sums.gram + step * (moves.mixed + moves.mixed.T) + step**2 * moves.gram
    return Sums(sums.cross + step * moves.cross, gram)


def objective(sums: Sums) -> float:
    """``‖HHᵀ‖² − 2 tr HᵀSH``, that is ``‖HᵀH‖² − 2‖X̂ᵀH‖²``: the squared error less ``‖S‖²``."""
    return float(np.sum(sums.gram**2) - 2 * np.sum(sums.cross**2))
