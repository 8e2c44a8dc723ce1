"""Statistical semantics: document vectors from term associations, by the Nyström method."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import LinearOperator, eigsh

from coterie.engines import Engine
from coterie.estimator import Array, Documents, DocumentTransformer, check_choice, check_count
from coterie.semantics import GRAMS, Gram, TermGram

Ints = npt.NDArray[np.int64]

#: Up to so many terms the exact form holds G as a dense matrix (32 MB) and decomposes it directly.
_FEW_TERMS = 2000
#: Eigenvalues below this share of the largest are rounding: they are cut, not inverted.
_CUT = 1e-10


class NystromSemantics(DocumentTransformer):
    """Document vectors W whose inner products take related terms into account (WWW 2015 Companion).

    Two texts without a common word can still be about the same thing: their words occur together elsewhere.

    1. G is the association of terms: plain association ``XᵀX`` ("assc"), the same as a cosine ("assc_n"),
       covariance ("cov") or Pearson correlation ("pcor"). Documents are compared by ``K = X G Xᵀ``.
    2. G is not formed. Of all terms, ℓ are drawn without replacement, with a probability in proportion to
       the length of the term's column; ``G ≈ G[:,s] G[s,s]⁻¹ G[s,:]``, which needs ℓ columns of G.
    3. With the k leading eigenpairs of ``G[s,s] = Q Λ Qᵀ`` documents become ``W = X G[:,s] Q Λ^(-1/2)``, and
       ``W Wᵀ ≈ K``. Eigenvalues that are rounding are cut, not inverted: their column of W is zero.
    4. Each column of W gets the sign that makes the squares of the positive entries of its row of
       `components_` outweigh the others.

    `fit` makes three passes over the documents. Cluster W by spherical k-means or k-means.

    Parameters
    ----------
    kind
        Which G: "assc", "assc_n", "cov" or "pcor".
    n_sampled
        ℓ, the number of terms drawn. None draws none and takes the leading eigenpairs of G itself, for which
        ``W = X Q Λ^(1/2)``. Up to 2,000 terms, or if `rank` is at least half of them, G is then kept in
        memory; else eigenpairs are found by products with G, a few hundred passes over the documents.
    rank
        k, the number of columns of W, at most. There are never more than terms drawn or terms in X.
    random_state
        Seed of the draw.

    Attributes
    ----------
    sampled_
        Columns of X that were drawn, in order; all of them for ``n_sampled=None``. A term that occurs in
        no text is never drawn.
    eigenvalues_
        Leading eigenvalues of ``G[s,s]``, largest first, 0 where cut.
    components_
        Columns of W × terms.
    order_
        Columns of X in an order that depends on what they hold alone; rows are summed in it.
    projection_
        Terms × columns of W: ``transform(X)`` is ``X @ projection_``.

    >>> X = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])  # texts 0 and 1 share a term
    >>> W = NystromSemantics("assc", n_sampled=None).fit_transform(X)
    >>> (W @ W.T).round(6)  # X XᵀX Xᵀ
    array([[5., 4., 0.],
           [4., 5., 0.],
           [0., 0., 1.]])
    """

    _non_negative = False

    sampled_: Ints
    order_: Ints
    eigenvalues_: Array

    def __init__(
        self,
        kind: Gram = "pcor",
        *,
        n_sampled: int | None = 1000,
        rank: int = 100,
        random_state: Any = None,
    ):
        self.kind = kind
        self.n_sampled = n_sampled
        self.rank = rank
        self.random_state = random_state

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        check_choice("kind", self.kind, GRAMS, self)
        rank = min(check_count("rank", self.rank, self), documents.n_terms)
        gram = TermGram.of(documents, self.kind)
        if self.n_sampled is None:
            self.sampled_ = np.arange(documents.n_terms)
            values, vectors = _leading_of_all(gram, rank, random)
            features = vectors * np.sqrt(values)
        else:
            rank = min(rank, check_count("n_sampled", self.n_sampled, self))
            self.sampled_ = _draw(_lengths(documents), self.n_sampled, random)
            columns = gram.columns(self.sampled_)
            values, vectors = _leading(columns[self.sampled_], rank)
            # Q Λ^(-1/2), with 0 for the inverse of what was cut
            features = columns @ (
                vectors * np.divide(1.0, np.sqrt(values), where=values > 0, out=values * 0.0)
            )
        self.eigenvalues_ = np.zeros(rank)
        self.eigenvalues_[: len(values)] = values
        self.components_ = np.zeros((rank, documents.n_terms))
        self.components_[: len(values)] = _signed(features).T

    def _after_fit(self, X: Any, documents: Documents) -> None:
        self.sampled_ = np.sort(documents.columns[self.sampled_])
        self.order_ = documents.columns

    @property
    def projection_(self) -> Array:
        """Terms × columns of W."""
        return self.components_.T

    def _memberships(self, X: csr_matrix) -> Array:
        # in one order of terms, so that sums do not depend on the order in which columns came;
        # a model that an earlier version saved has none
        order = getattr(self, "order_", None)
        if order is not None:
            return np.asarray(X[:, order].sorted_indices() @ self.projection_[order])
        return np.asarray(X @ self.projection_)


def _lengths(documents: Engine) -> Array:
    """The length of each term's column of X."""
    squares = documents.sum(lambda block: block.X.multiply(block.X).T @ block.weights)
    return np.sqrt(np.asarray(squares))


def _draw(lengths: Array, n_drawn: int, random: np.random.RandomState) -> Ints:
    """Terms drawn without replacement with probabilities in proportion to their lengths."""
    not_empty = np.flatnonzero(lengths)
    if len(not_empty) <= n_drawn:
        return not_empty
    shares = lengths[not_empty] / lengths[not_empty].sum()
    return not_empty[random.choice(len(not_empty), n_drawn, replace=False, p=shares)]


def _leading(matrix: Array, rank: int) -> tuple[Array, Array]:
    """The leading eigenpairs of a symmetric matrix, largest first, as many as there are up to `rank`."""
    size = len(matrix)
    if not size:
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = eigh((matrix + matrix.T) / 2, subset_by_index=[max(size - rank, 0), size - 1])
    return _cut(values[::-1]), vectors[:, ::-1]


def _leading_of_all(gram: TermGram, rank: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """The leading eigenpairs of G, without G where that is large."""
    n_terms = gram.shape[0]
    if n_terms <= _FEW_TERMS or 2 * rank >= n_terms:
        return _leading(gram.columns(np.arange(n_terms)), rank)
    if not gram.diagonal().any():
        return np.zeros(0), np.zeros((n_terms, 0))
    operator = LinearOperator(gram.shape, matvec=lambda vector: gram @ vector, dtype=np.float64)
    values, vectors = eigsh(operator, k=rank, v0=random.uniform(size=n_terms))
    largest_first = np.argsort(-values)
    return _cut(values[largest_first]), vectors[:, largest_first]


def _cut(values: Array) -> Array:
    """Eigenvalues, 0 where they are rounding."""
    return np.where(values > _CUT * max(values[0], 0.0), values, 0.0)


def _signed(columns: Array) -> Array:
    """Columns with signs that do not depend on the order of rows: squares of positive entries outweigh."""
    outweighs = (columns * np.abs(columns)).sum(axis=0)
    return columns * np.where(outweighs < 0, -1.0, 1.0)
