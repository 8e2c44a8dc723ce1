"""Statistical semantics: document vectors from term associations, by the Nyström method."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError
from scipy.linalg import eigh
from scipy.sparse import csr_matrix, vstack
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, svds

from coterie.engines import Block, Engine
from coterie.estimator import Array, Documents, DocumentTransformer, check_choice, check_count
from coterie.linalg.rows import unit_rows
from coterie.semantics import GRAMS, Gram, LessOuter, TermGram

Ints = npt.NDArray[np.int64]

#: Up to so many terms the exact form holds G as a dense matrix (32 MB) and decomposes it directly.
_FEW_TERMS = 2000
#: Up to so many sampled terms or texts their matrix is decomposed directly, whatever the rank.
_FEW_SAMPLED = 200
#: From one in so many eigenpairs on, decomposing the matrix takes less time than products with it.
_MANY_PAIRS = 4
#: Vectors are eigenvectors if what they miss is no more than this share of the largest eigenvalue.
_RESIDUAL = 1e-8
#: Eigenvalues below this share of the largest are rounding: they are cut, not inverted.
_CUT = 1e-10


class NystromSemantics(DocumentTransformer):
    """Document vectors W whose inner products take related terms into account (WWW 2015 Companion).

    Two texts without a common word can still be about the same thing: their words occur together elsewhere.

    1. Rows of X are brought to unit length, so that a long text does not outweigh the others.
    2. G is the association of terms: plain association ``XᵀX`` ("assc"), the same as a cosine ("assc_n"),
       covariance ("cov") or Pearson correlation ("pcor"). Documents are compared by ``K = X G Xᵀ``.
    3. G is not formed. Of all terms, ℓ are drawn without replacement, with a probability in proportion to
       the length of the term's column; ``G ≈ G[:,s] G[s,s]⁻¹ G[s,:]``.
    4. With the k leading eigenpairs of ``G[s,s] = Q Λ Qᵀ`` documents become ``W = X G[:,s] Q Λ^(-1/2)``, and
       ``W Wᵀ ≈ K``. Eigenvalues that are rounding are cut, not inverted: their column of W is zero.
    5. Each column of W gets the sign that makes the squares of the positive entries of its row of
       `components_` outweigh the others.

    ``G[s,s]`` is sparse but for the outer product of the means. If k is less than a quarter of ℓ, its leading
    eigenpairs come from products with it (Lanczos). ``G[:,s] Q Λ^(-1/2)`` is a product with G, so that no
    columns of G are formed. `fit` makes four passes over the documents. Cluster W by spherical k-means or
    k-means.

    Parameters
    ----------
    kind
        Which G: "assc", "assc_n", "cov" or "pcor".
    n_sampled
        ℓ, the number of terms or texts drawn. None draws none and takes the leading eigenpairs of G itself,
        for which ``W = X Q Λ^(1/2)``. Up to 2,000 terms, or if `rank` is at least half of them, G is then
        kept in memory; else eigenpairs are found by products with G, a few hundred passes over the documents.
    rank
        k, the number of columns of W, at most. There are never more than terms or texts drawn, or terms in X.
    sampled
        "terms", or "texts" to draw documents d instead, ``K ≈ K[:,d] K[d,d]⁻¹ K[d,:]`` (Farahat and Kamel).
    sampling
        "length" draws in proportion to lengths; "uniform" gives all the same probability.
    unit_rows
        Whether rows of X are brought to unit length.
    random_state
        Seed of the draw.

    Attributes
    ----------
    sampled_
        Columns of X that were drawn, in order, all of them for ``n_sampled=None``; or rows of X, of equal
        rows the first. A term that occurs in no text, or an empty text, is never drawn.
    eigenvalues_
        Leading eigenvalues of ``G[s,s]`` or ``K[d,d]``, largest first, 0 where cut.
    components_
        Columns of W × terms.
    order_
        Columns of X in an order that depends on what they hold alone; rows are summed in it.
    unit_rows_
        Whether rows are brought to unit length before they are projected.
    projection_
        Terms × columns of W: ``transform(X)`` is ``X @ projection_``, for rows of X at unit length.

    >>> X = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])  # texts 0 and 1 share a term
    >>> W = NystromSemantics("assc", n_sampled=None, unit_rows=False).fit_transform(X)
    >>> (W @ W.T).round(6)  # X XᵀX Xᵀ
    array([[5., 4., 0.],
           [4., 5., 0.],
           [0., 0., 1.]])
    """

    _non_negative = False

    sampled_: Ints
    order_: Ints
    unit_rows_: bool
    eigenvalues_: Array

    def __init__(
        self,
        kind: Gram = "pcor",
        *,
        n_sampled: int | None = 1000,
        rank: int = 100,
        sampled: Literal["terms", "texts"] = "terms",
        sampling: Literal["length", "uniform"] = "length",
        unit_rows: bool = True,
        random_state: Any = None,
    ):
        self.kind = kind
        self.n_sampled = n_sampled
        self.rank = rank
        self.sampled = sampled
        self.sampling = sampling
        self.unit_rows = unit_rows
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("kind", self.kind, GRAMS, self)
        check_count("rank", self.rank, self)
        if self.n_sampled is not None:
            check_count("n_sampled", self.n_sampled, self)
        check_choice("sampled", self.sampled, ("terms", "texts"), self)
        check_choice("sampling", self.sampling, ("length", "uniform"), self)
        check_choice("unit_rows", self.unit_rows, (True, False), self)

    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        self._check_parameters()
        self.unit_rows_ = bool(self.unit_rows)
        if self.unit_rows_:
            documents = documents.mapped(_unit_block)
        gram = TermGram.of(documents, self.kind)
        rank = min(self.rank, documents.n_terms)
        if self.n_sampled is None:
            self.sampled_ = np.arange(documents.n_terms)
            values, vectors = _leading_of_all(gram, rank)
            features = vectors * np.sqrt(values)
        else:
            rank = min(rank, self.n_sampled)
            drawn = self._draw(documents, random)
            values, vectors = _leading_of(gram.between(drawn), rank)
            # G Dᵀ Q Λ^(-1/2), with 0 for the inverse of what was cut
            inverse = np.divide(1.0, np.sqrt(values), where=values > 0, out=values * 0.0)
            features = gram @ np.asarray(drawn.T @ (vectors * inverse))
        self.eigenvalues_ = np.zeros(rank)
        self.eigenvalues_[: len(values)] = values
        self.components_ = np.zeros((rank, documents.n_terms))
        self.components_[: len(values)] = _signed(features).T

    def _draw(self, documents: Engine, random: np.random.RandomState) -> csr_matrix:
        """What is drawn, as rows over the terms: texts, or for a term 1 in its column; sets `sampled_`."""
        assert self.n_sampled is not None
        terms = self.sampled == "terms"
        lengths = _lengths(documents) if terms else _row_lengths(documents)
        if self.sampling == "uniform":
            lengths = (lengths > 0).astype(np.float64)
        self.sampled_ = np.sort(_drawn(lengths, self.n_sampled, random))
        if not terms:
            return vstack(list(documents.map(lambda block: _rows_at(block, self.sampled_))), format="csr")
        n = len(self.sampled_)
        return csr_matrix((np.ones(n), (np.arange(n), self.sampled_)), shape=(n, documents.n_terms))

    def _after_fit(self, X: Any, documents: Documents) -> None:
        self.order_ = documents.columns
        if self.n_sampled is None or self.sampled == "terms":
            self.sampled_ = np.sort(documents.columns[self.sampled_])
        elif documents.rows is not None:
            number, first = np.unique(documents.rows, return_index=True)
            self.sampled_ = np.sort(first[number >= 0][self.sampled_])

    @property
    def projection_(self) -> Array:
        """Terms × columns of W."""
        return self.components_.T

    def _memberships(self, X: csr_matrix) -> Array:
        # in one order of terms, so that sums do not depend on the order in which columns came;
        # a model that an earlier version saved has none, and was learned from rows of any length
        order = getattr(self, "order_", None)
        if order is None:
            return np.asarray(X @ self.projection_)
        ordered = X[:, order].sorted_indices()
        rows = unit_rows(ordered) if getattr(self, "unit_rows_", False) else ordered
        return np.asarray(rows @ self.projection_[order])


def _unit_block(block: Block) -> Block:
    return Block(unit_rows(block.X), block.weights, block.start)


def _lengths(documents: Engine) -> Array:
    """The length of each term's column of X."""
    squares = documents.sum(lambda block: block.X.multiply(block.X).T @ block.weights)
    return np.sqrt(np.asarray(squares))


def _row_lengths(documents: Engine) -> Array:
    """The length of each row of X, times the number of texts that it stands for."""
    return np.concatenate(list(documents.map(_weighted_lengths)))


def _weighted_lengths(block: Block) -> Array:
    squares = np.asarray(block.X.multiply(block.X).sum(axis=1)).ravel()
    return block.weights * np.sqrt(squares)


def _rows_at(block: Block, numbers: Ints) -> csr_matrix:
    """The rows of these numbers that are in the block."""
    local = numbers - block.start
    return block.X[local[(local >= 0) & (local < block.X.shape[0])]]


def _drawn(lengths: Array, n_drawn: int, random: np.random.RandomState) -> Ints:
    """Numbers drawn without replacement with probabilities in proportion to their lengths."""
    not_empty = np.flatnonzero(lengths)
    if len(not_empty) <= n_drawn:
        return not_empty
    shares = lengths[not_empty] / lengths[not_empty].sum()
    return not_empty[random.choice(len(not_empty), n_drawn, replace=False, p=shares)]


def _leading_of(matrix: LessOuter, rank: int) -> tuple[Array, Array]:
    """The leading eigenpairs of a symmetric matrix, by products with it where they are few of many."""
    size = matrix.shape[0]
    if size > _FEW_SAMPLED and _MANY_PAIRS * rank < size:
        try:
            return _by_products(matrix, rank)
        except ArpackError:  # as where many eigenvalues are equal; then it takes the time it takes
            pass
    return _leading(matrix.toarray(), rank)


def _by_products(matrix: Any, rank: int) -> tuple[Array, Array]:
    """The leading eigenpairs by the Lanczos method. Its start is fixed: equal matrices have equal pairs.

    No eigenvalue is negative, so that they are singular values too. Methods for those keep their vectors
    orthogonal with less work, but are at a loss where there are fewer than `rank`: then `eigsh` does it.
    """
    operator = LinearOperator(
        matrix.shape, matvec=lambda vector: matrix @ vector, rmatvec=lambda vector: matrix @ vector,
        dtype=np.float64,
    )  # fmt: skip
    random = np.random.RandomState(0)
    start = random.uniform(size=matrix.shape[0])
    try:
        _, values, rows = svds(operator, k=rank, v0=start, solver="propack", random_state=random)
        vectors = rows.T
        missed = np.linalg.norm(matrix @ vectors - vectors * values, axis=0)
        found = bool((missed <= _RESIDUAL * values.max()).all())
    except (LinAlgError, RuntimeError, ValueError):
        found = False
    if not found:
        values, vectors = eigsh(operator, k=rank, which="LA", v0=start)
    largest_first = np.argsort(-values)
    return _cut(values[largest_first]), vectors[:, largest_first]


def _leading(matrix: Array, rank: int) -> tuple[Array, Array]:
    """The leading eigenpairs of a symmetric matrix, largest first, as many as there are up to `rank`."""
    size = len(matrix)
    if not size:
        return np.zeros(0), np.zeros((0, 0))
    symmetric = (matrix + matrix.T) / 2
    if rank >= size:
        values, vectors = eigh(symmetric, driver="evd")
    else:
        values, vectors = eigh(symmetric, subset_by_index=[size - rank, size - 1])
    return _cut(values[::-1]), vectors[:, ::-1]


def _leading_of_all(gram: TermGram, rank: int) -> tuple[Array, Array]:
    """The leading eigenpairs of G, without G where that is large."""
    n_terms = gram.shape[0]
    if n_terms <= _FEW_TERMS or 2 * rank >= n_terms:
        return _leading(gram.columns(np.arange(n_terms)), rank)
    if not gram.diagonal().any():
        return np.zeros(0), np.zeros((n_terms, 0))
    return _by_products(gram, rank)


def _cut(values: Array) -> Array:
    """Eigenvalues, 0 where they are rounding."""
    return np.where(values > _CUT * max(values[0], 0.0), values, 0.0)


def _signed(columns: Array) -> Array:
    """Columns with signs that do not depend on the order of rows: squares of positive entries outweigh."""
    outweighs = (columns * np.abs(columns)).sum(axis=0)
    return columns * np.where(outweighs < 0, -1.0, 1.0)
