"""Topics from anchor words: terms that one topic alone uses (Arora et al., ICML 2013)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags

from coterie.baselines.lda import fold_in
from coterie.engines import Block, Engine
from coterie.estimator import Array, TopicEstimator, check_count, check_positive
from coterie.weights import document_frequency

Ints = npt.NDArray[np.int64]

#: Distances are compared up to this share of the largest: what is nearer to each other is a tie.
_DIGITS = 9
#: Terms that are worked on together, the most steps, and the change at which a term rests.
_TOGETHER = 2048
_STEPS = 500
_SETTLED = 1e-6


class AnchorWords(TopicEstimator):
    """Topics from the co-occurrence of terms, by way of one anchor word for each topic.

    1. ``Q_ij`` is the probability that two words drawn from one text are i and j. Q̄ has the rows of Q brought
       to sum 1: which words a term occurs with.
    2. Anchors are chosen one by one: the term whose row of Q̄ is farthest from the space that the rows of
       those before span; the first is the one farthest from zero. Only terms in `min_texts` texts or more
       are considered, as rows of rare terms are noise.
    3. Each row of Q̄ is explained as a mixture of the rows of anchors,
       ``min ‖Q̄_i − Σ_k c_ik Q̄_anchor(k)‖²`` with c_i ≥ 0 that sum to 1, by accelerated projected gradient.
       ``c_ik`` is the probability of topic k given the term.
    4. ``φ_kw ∝ c_wk p(w)`` by Bayes' rule.
    5. A text's topics are those of `GibbsLDA`: the θ that maximises
       ``Σ_w x_w log Σ_k θ_k φ_kw + α Σ_k log θ_k``.

    Two passes over the documents, for counts. Nothing is random. The authors project rows of Q̄ at random
    before step 2 and take exponentiated gradient in step 3; here both are solved without.

    Parameters
    ----------
    n_topics
        Number of topics. With fewer terms that can be anchors, the topics that are left are zero.
    min_texts
        Number of texts that an anchor must be in. If too few terms are, the most frequent are considered.
    alpha
        α, prior of a text's topics.
    random_state
        Ignored: nothing is random.

    Attributes
    ----------
    components_
        Topics × terms, φ; 0 for a term that is never beside another word.
    anchors_
        The column of the anchor word of each topic.
    labels_
        The topic of each row; absent if an engine was fitted.

    Examples
    --------
    >>> X = np.kron(np.eye(2), [[1, 1, 1], [1, 1, 0], [0, 1, 1]])
    >>> model = AnchorWords(n_topics=2).fit(X)
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, True, False, False, False]
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_",)

    anchors_: Ints

    def __init__(
        self, n_topics: int = 8, *, min_texts: int = 10, alpha: float = 0.1, random_state: Any = None
    ):
        self.n_topics = n_topics
        self.min_texts = min_texts
        self.alpha = alpha
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        n_topics = check_count("n_topics", self.n_topics, self)
        min_texts = check_count("min_texts", self.min_texts, self)
        check_positive("alpha", self.alpha, self)
        Q = documents.sum(pair_probabilities)
        Q = Q / max(float(Q.sum()), np.finfo(float).tiny)
        p = np.asarray(Q.sum(axis=1)).ravel()
        rows = (diags(np.divide(1.0, p, where=p > 0, out=np.zeros_like(p))) @ Q).tocsr()
        df = document_frequency(documents) * (p > 0)
        anchors = find_anchors(rows, candidates(df, min_texts, n_topics), n_topics)
        self.anchors_ = anchors
        mixtures = np.zeros((len(p), n_topics))
        if len(anchors):
            spanned = np.asarray(rows[anchors].todense())
            mixtures[:, : len(anchors)] = simplex_mixtures(np.asarray(rows @ spanned.T), spanned @ spanned.T)
        weighted = (mixtures * p[:, None]).T
        total = weighted.sum(axis=1, keepdims=True)
        self.components_ = np.divide(weighted, total, where=total > 0, out=np.zeros_like(weighted))

    def _restore_columns(self, documents: Any) -> None:
        super()._restore_columns(documents)
        self.anchors_ = documents.columns[self.anchors_]

    def _memberships(self, X: csr_matrix) -> Array:
        return fold_in(X, self.components_, self.alpha)


def pair_probabilities(block: Block) -> csr_matrix:
    """Terms × terms: the probability that two words of a text are i and j, summed over the texts of a block.

    A text of n words and counts x adds ``(xxᵀ − diag(x)) / (n(n − 1))``, one of a single word nothing.
    """
    lengths = block.X @ np.ones(block.X.shape[1])
    pairs = lengths * (lengths - 1.0)
    scale = np.divide(block.weights, pairs, where=pairs > 0, out=np.zeros_like(pairs))
    both = block.X.T @ diags(scale) @ block.X
    found = (both - diags(block.X.T @ scale)).tocsr()
    found.data = np.maximum(found.data, 0.0)  # counts that are no whole numbers would fall below
    return found


def candidates(df: Array, min_texts: int, n_topics: int) -> npt.NDArray[np.bool_]:
    """Terms in enough texts; as many of the most frequent as there are topics, if these are too few."""
    least = np.sort(df)[::-1][: min(n_topics, len(df))].min()
    return np.asarray((df > 0) & (df >= min(min_texts, least)))


def find_anchors(rows: csr_matrix, allowed: npt.NDArray[np.bool_], n_anchors: int) -> Ints:
    """Greedily the allowed rows that are farthest from the space spanned by those before.

    The squared distance of a row falls by ``(row · b)²`` with every new unit vector b of that space.
    """
    distance = np.where(allowed, np.asarray(rows.multiply(rows).sum(axis=1)).ravel(), 0.0)
    largest = distance.max(initial=0.0)
    found: list[int] = []
    basis = np.zeros((0, rows.shape[1]))
    while len(found) < n_anchors:
        rounded = np.round(distance / max(largest, np.finfo(float).tiny), _DIGITS)
        best = int(rounded.argmax())
        if rounded[best] <= 0:
            break
        found.append(best)
        direction = np.asarray(rows[best].todense()).ravel()
        for _ in range(2):  # once more for what rounding left
            direction = direction - (basis @ direction) @ basis
        direction /= np.linalg.norm(direction)
        basis = np.vstack([basis, direction])
        distance = np.maximum(distance - np.asarray(rows @ direction).ravel() ** 2, 0.0)
        distance[found] = 0.0
    return np.array(found, dtype=np.int64)


def simplex_mixtures(cross: Array, gram: Array) -> Array:
    """For each row b of `cross` the c ≥ 0 with sum 1 that minimises ``cGcᵀ − 2c·b``.

    By accelerated projected gradient; rows that rest are set aside.
    """
    solution = np.empty_like(cross)
    step = 1.0 / max(float(np.linalg.eigvalsh(gram)[-1]), np.finfo(float).tiny)
    for start in range(0, len(cross), _TOGETHER):
        solution[start : start + _TOGETHER] = _mixtures(cross[start : start + _TOGETHER], gram, step)
    return solution


def _mixtures(cross: Array, gram: Array, step: float) -> Array:
    solution = np.full_like(cross, 1.0 / cross.shape[1])
    moving = np.arange(len(cross))
    C = ahead = solution.copy()
    momentum = 1.0
    for _ in range(_STEPS):
        new = on_simplex(ahead - step * (ahead @ gram - cross[moving]))
        next_momentum = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        change = new - C
        ahead = new + (momentum - 1.0) / next_momentum * change
        C, momentum = new, next_momentum
        solution[moving] = C
        still = np.abs(change).max(axis=1) > _SETTLED
        if not still.any():
            break
        if not still.all():
            moving, C, ahead = moving[still], C[still], ahead[still]
    return solution


def on_simplex(points: Array) -> Array:
    """The nearest point of the simplex, c ≥ 0 with sum 1, to each row.

    >>> on_simplex(np.array([[0.5, 0.5], [2.0, 0.0], [0.2, 0.4]]))
    array([[0.5, 0.5],
           [1. , 0. ],
           [0.4, 0.6]])
    """
    falling = -np.sort(-points, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, points.shape[1] + 1)
    last = np.count_nonzero(falling > excess, axis=1) - 1
    return np.maximum(points - np.take_along_axis(excess, last[:, None], axis=1), 0.0)
