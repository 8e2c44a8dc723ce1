"""Clusters refined by what others say: each text goes where a classifier that never saw it would put it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.texts import FLOAT, Floats, Ints, Sample, Texts

#: Something for each term and something for each axis of vectors.
_Pair = tuple[Floats, Floats]

#: Penalty on coefficients, in texts: a term must occur in about as many before it is believed.
_PENALTY = 3.0
#: How much vectors count beside words.
_DIRECTIONS = 0.5
#: Steps of conjugate gradients, from nothing and from the coefficients of the round before.
_FIRST_STEPS, _NEXT_STEPS = 6, 2
_MOST_ROUNDS = 10
#: It has settled when a round moves less than this share of the texts.
_SETTLED = 1e-3
#: Factors tried in turning scores into shares.
_SHARPNESS = np.geomspace(1.0, 64.0, 19)


@dataclass(frozen=True)
class Coefficients:
    """Scores of a text are ``words @ terms + text_vectors @ axes``, one column for each cluster.

    `base` is the share of the texts in each cluster, 0 for one that is empty. `image` is what the matrix of
    the fit makes of terms and axes: a fit that starts from here needs no pass to know it.
    """

    terms: Floats
    axes: Floats
    base: Floats
    image: _Pair | None = None

    def scores(self, words: csr_matrix, text_vectors: Floats) -> Floats:
        """Texts × clusters."""
        scores: Floats = words @ self.terms
        scores += text_vectors @ self.axes
        return scores


class LeaveOneOut:
    """Ridge regression of cluster memberships on words and vectors, and its answer to a text left out.

    With memberships Y (texts × clusters, centred), features F and ``H = F(FᵀF + αI)⁻¹Fᵀ``, the prediction
    for text i by a fit without it is ``(HY − h y)_i / (1 − h_i)``, h the diagonal of H: one fit answers for
    all. ``FᵀF + αI`` is never formed; conjugate gradients need its products, one pass each. h is taken from
    the diagonal of ``FᵀF + αI`` alone, which is close because α outweighs what two terms share.
    """

    def __init__(self, texts: Sample, n_topics: int):
        self.texts = texts
        self.n_topics = n_topics
        self.total, self._squares, gram, self._sum_terms, self._sum_axes = texts.sum(_moments)
        self._terms_scale = 1.0 / (self._squares + _PENALTY)
        self._axes_solve = np.linalg.inv(gram + _PENALTY / _DIRECTIONS**2 * np.eye(len(gram), dtype=FLOAT))
        self.leverage = texts.gather(self._leverage).astype(FLOAT)

    def settle(self, labels: Ints, fixed: Ints | None = None, pull: Floats | None = None) -> Ints:
        """Rounds of fit and reassignment from given clusters, until few texts move.

        A text stays in the cluster that `fixed` names, unless that is −1. `pull` is added to the axes.
        """
        coefficients: Coefficients | None = None
        for _ in range(_MOST_ROUNDS):
            coefficients = self.fit(labels, coefficients)
            moved = np.concatenate(
                list(self.texts.map(partial(self._others_say, labels=labels, fitted=coefficients, pull=pull)))
            )
            if fixed is not None:
                moved = np.where(fixed < 0, moved, fixed)
            changed = self._weight_of(moved != labels)
            labels = moved
            if changed < _SETTLED * self.total:
                break
        return labels

    def fit(self, labels: Ints, start: Coefficients | None = None) -> Coefficients:
        """Coefficients that tell clusters apart, from those of a fit to similar clusters if there is one."""
        terms, axes, sizes = self.texts.sum(
            lambda block: _class_sums(block, labels[block.rows], self.n_topics)
        )
        base = (sizes / self.total).astype(FLOAT)
        right = terms - np.outer(self._sum_terms, base), axes - np.outer(self._sum_axes, base)
        (terms, axes), image = self._solve(right, start)
        return Coefficients(terms, axes, base, image)

    def explained(self, labels: Ints, fitted: Coefficients) -> float:
        """The share of the memberships' variance that fits without the text explain."""
        variance, left = self.texts.sum(partial(self._errors, labels=labels, fitted=fitted))
        return 1.0 - left / max(variance, 1e-300)

    def sharpness(self, labels: Ints, fitted: Coefficients) -> float:
        """The factor on scores whose softmax best tells the cluster whose centre is nearest to a text.

        Clusters that have settled are those the classifier itself would give, so it cannot be asked how
        sure it is. The nearest centre is a second opinion: where both agree, shares are sharp.
        """
        axes = self.texts.sum(lambda block: _class_sums(block, labels[block.rows], self.n_topics)[1])
        length = np.sqrt(np.einsum("ij,ij->j", axes, axes))
        centers = np.divide(axes, length, where=length > 0, out=np.zeros_like(axes))
        losses = self.texts.sum(partial(_losses, fitted=fitted, centers=centers))
        return float(_SHARPNESS[np.argmin(losses)])

    def _left_out(self, block: Texts, labels: Ints, fitted: Coefficients) -> Floats:
        """Centred scores of texts by fits without them."""
        here, h = labels[block.rows], self.leverage[block.rows, None]
        scores = fitted.scores(block.words, block.text_vectors)
        scores += h * fitted.base
        scores[np.arange(len(here)), here] -= h[:, 0]
        scores /= 1.0 - h
        return scores

    def _others_say(self, block: Texts, labels: Ints, fitted: Coefficients, pull: Floats | None) -> Ints:
        scores = self._left_out(block, labels, fitted)
        if pull is not None:
            scores += block.text_vectors @ pull
        scores[:, fitted.base == 0] = -np.inf
        return np.where(
            block.words.indptr[1:] > block.words.indptr[:-1], scores.argmax(axis=1), labels[block.rows]
        )

    def _errors(self, block: Texts, labels: Ints, fitted: Coefficients) -> tuple[float, float]:
        """Squared errors of the sizes of clusters alone, and of the scores of texts left out."""
        scores, here = self._left_out(block, labels, fitted), labels[block.rows]
        target = -np.tile(fitted.base, (len(here), 1))
        target[np.arange(len(here)), here] += 1.0
        variance = np.einsum("ij,ij->i", target, target)
        target -= scores
        return float(block.weights @ variance), float(block.weights @ np.einsum("ij,ij->i", target, target))

    def _solve(self, right: _Pair, start: Coefficients | None) -> tuple[_Pair, _Pair]:
        """Conjugate gradients on all clusters at once, each with its own step lengths; also their image."""
        steps = _FIRST_STEPS if start is None or start.image is None else _NEXT_STEPS
        if start is None or start.image is None:
            solution = np.zeros_like(right[0]), np.zeros_like(right[1])
            left = right
        else:
            solution = start.terms, start.axes
            left = _minus(right, start.image)
        step = ready = self._preconditioned(left)
        size = _dot(left, ready)
        for _ in range(steps):
            image = self._product(step)
            length = _ratio(size, _dot(step, image))
            solution = solution[0] + length * step[0], solution[1] + length * step[1]
            left = left[0] - length * image[0], left[1] - length * image[1]
            ready = self._preconditioned(left)
            before, size = size, _dot(left, ready)
            turn = _ratio(size, before)
            step = ready[0] + turn * step[0], ready[1] + turn * step[1]
        return solution, _minus(right, left)

    def _product(self, at: _Pair) -> _Pair:
        """``(FᵀF + αI)B`` in one pass, for B = (terms, axes) with axes in units of vectors."""
        terms, axes = self.texts.sum(partial(_gram_product, terms=at[0], axes=at[1]))
        # a direction counts by _DIRECTIONS: its penalty in units of vectors is larger by the square
        return terms + _PENALTY * at[0], axes + _PENALTY / _DIRECTIONS**2 * at[1]

    def _preconditioned(self, at: _Pair) -> _Pair:
        return self._terms_scale[:, None] * at[0], self._axes_solve @ at[1]

    def _leverage(self, block: Texts) -> Floats:
        """The diagonal of H for a row with its copies: ``u / (1 + u)``, u by sums without the row."""
        words = block.words
        own = np.repeat(block.weights, np.diff(words.indptr)) * words.data**2
        rest = np.maximum(self._squares[words.indices] - own, 0.0) + _PENALTY
        row = np.repeat(np.arange(len(block.weights)), np.diff(words.indptr))
        by_terms = np.bincount(row, own / rest, len(block.weights))
        by_axes = np.einsum("ij,ij->i", block.text_vectors @ self._axes_solve, block.text_vectors)
        ratio = by_terms + block.weights * by_axes
        leverage: Floats = ratio / (1.0 + ratio)
        return leverage

    def _weight_of(self, chosen: npt.NDArray[np.bool_]) -> float:
        return self.texts.sum(lambda block: float(block.weights @ chosen[block.rows]))


def _moments(block: Texts) -> tuple[float, Floats, Floats, Floats, Floats]:
    squares = block.words.copy()
    squares.data **= 2
    weighted = block.weights[:, None] * block.text_vectors
    return (
        float(block.weights.sum()),
        squares.T @ block.weights,
        block.text_vectors.T @ weighted,
        block.words.T @ block.weights,
        weighted.sum(axis=0),
    )


def _class_sums(block: Texts, labels: Ints, n_topics: int) -> tuple[Floats, Floats, Floats]:
    starts = np.arange(len(labels) + 1)
    member = csr_matrix((block.weights, labels, starts), shape=(len(labels), n_topics))
    words: Floats = (block.words.T @ member).toarray()
    text_vectors: Floats = np.ascontiguousarray((member.T @ block.text_vectors).T)
    sizes = np.bincount(labels, block.weights, n_topics).astype(np.float64)
    return words, text_vectors, sizes


def _losses(block: Texts, fitted: Coefficients, centers: Floats) -> Floats:
    """How badly shares of each sharpness tell the nearest centre: cross entropies, summed over texts."""
    empty = fitted.base == 0
    scores, cosines = fitted.scores(block.words, block.text_vectors), block.text_vectors @ centers
    scores[:, empty] = cosines[:, empty] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    other = scores[np.arange(len(scores)), cosines.argmax(axis=1)]
    return np.array(
        [
            block.weights @ (np.log(np.exp(sharpness * scores).sum(axis=1)) - sharpness * other)
            for sharpness in _SHARPNESS
        ]
    )


def _gram_product(block: Texts, terms: Floats, axes: Floats) -> _Pair:
    image = block.words @ terms
    image += block.text_vectors @ axes
    image *= block.weights[:, None]
    return block.words.T @ image, block.text_vectors.T @ image


def _minus(a: _Pair, b: _Pair) -> _Pair:
    return a[0] - b[0], a[1] - b[1]


def _dot(a: _Pair, b: _Pair) -> Floats:
    """Inner products of the columns of two pairs of matrices."""
    product: Floats = np.einsum("ij,ij->j", a[0], b[0]) + np.einsum("ij,ij->j", a[1], b[1])
    return product


def _ratio(a: Floats, b: Floats) -> Floats:
    """``a / b``, and 0 where there is nothing left to divide by."""
    ratio: Floats = np.divide(a, b, where=b > 0, out=np.zeros_like(a))
    return ratio
