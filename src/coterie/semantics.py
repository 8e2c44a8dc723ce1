"""Relations between terms: co-occurrence, PPMI, and term × term matrices defined by their products.

Nothing dense of size terms × terms is ever formed. Counts and PPMI are sparse; correlations are operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix, csr_matrix, diags, vstack

from coterie.corpus.sequences import UNKNOWN, Sequences
from coterie.engines import Block, Engine, as_engine
from coterie.engines.base import csr_view, pattern
from coterie.engines.memory import rows as rows_of
from coterie.errors import InputError
from coterie.linalg.rows import unit_rows

Array = npt.NDArray[np.float64]
Gram = Literal["assc", "assc_n", "cov", "pcor"]
#: Pairs of terms that are kept of a large collection.
MOST_PAIRS = 1 << 24
#: Occurrences of pairs that are counted at a time: few where all of them may differ, as in the first texts
#: of a collection, and more in a large one, where most occurred before. It has at least so many slices.
_FEW_EVENTS, _EVENTS, _SLICES = 1 << 24, 1 << 26, 8
#: Rows of terms worked on together.
_ROWS = 4_096
GRAMS: tuple[Gram, ...] = ("assc", "assc_n", "cov", "pcor")


def cooccurrence(X: Any, weights: npt.ArrayLike | None = None, *, diagonal: bool = False) -> csr_matrix:
    """The number of texts that contain both terms of each pair: sparse, symmetric.

    The diagonal is zero; with `diagonal`, it has the number of texts that contain each term.

    >>> cooccurrence(np.array([[1, 2, 0], [1, 1, 1]])).toarray()
    array([[0., 2., 1.],
           [2., 0., 1.],
           [1., 1., 0.]])
    """

    def pairs(block: Block) -> csr_matrix:
        present = pattern(block.X)
        return present.T.tocsr() @ diags(block.weights) @ present

    counts = as_engine(X, weights).sum(pairs)
    return counts if diagonal else without_diagonal(counts)


def frequent_cooccurrence(X: Any, most: int = MOST_PAIRS) -> csr_matrix:
    """`cooccurrence` in bounded memory: where there are more than `most` pairs, only those in enough texts.

    How many texts are enough follows from the counts: the smallest number that leaves at most `most` pairs.
    The pairs of some terms at a time are counted in a pass of their own, so that what is in memory does not
    grow with the number of texts.
    """
    documents = as_engine(X)
    kept: list[csr_matrix] = []
    least = 0
    for first, last in pairwise(_slices(documents)):
        kept.append(_pairs_of(documents, first, last, least))
        while sum(part.nnz for part in kept) > most:
            least += 1
            kept = [_at_least(part, least) for part in kept]
    return vstack(kept, format="csr")


def _slices(documents: Engine) -> list[int]:
    """Columns at which slices of terms begin, each with about as many pairs, and the number of columns."""
    events, df = documents.sum(_pair_events)
    many = max(-(-int(events) // _EVENTS), min(-(-int(events) // _FEW_EVENTS), _SLICES))
    edges = np.searchsorted(np.cumsum(df), np.linspace(0, df.sum(), many + 1)[1:-1])
    return [*np.unique([0, *edges]).tolist(), documents.n_terms]


def _pair_events(block: Block) -> tuple[float, Array]:
    present = pattern(block.X)
    return float((np.diff(present.indptr).astype(np.float64) ** 2).sum()), np.asarray(present.sum(axis=0))[0]


def _pairs_of(documents: Engine, first: int, last: int, least: int) -> csr_matrix:
    """Rows `first` to `last` of the co-occurrence counts, those of at least `least` texts."""

    def pairs(block: Block) -> csr_matrix:
        present = pattern(block.X)
        return rows_of(present.T.tocsr(), first, last) @ diags(block.weights) @ present

    counts = csr_matrix(documents.sum(pairs))
    counts.sort_indices()
    own = np.repeat(np.arange(first, first + counts.shape[0]), np.diff(counts.indptr))
    found = _only(counts, (counts.indices != own) & (counts.data > 0) & (counts.data >= least))
    if found.data.max(initial=0.0) < 1 << 24:  # whole numbers, as long as weights are: nothing is rounded
        narrow = found.data.astype(np.float32)
        if (narrow == found.data).all():
            found.data = narrow
    return found


def _at_least(counts: csr_matrix, least: int) -> csr_matrix:
    return _only(counts, counts.data >= least)


def _only(counts: csr_matrix, chosen: npt.NDArray[np.bool_]) -> csr_matrix:
    """Some of the entries of a matrix."""
    ends = np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])[counts.indptr]
    return csr_view(
        counts.data[chosen], counts.indices[chosen], ends.astype(counts.indptr.dtype), counts.shape
    )


def window_cooccurrence(
    texts: Sequences | Iterable[Sequences],
    n_terms: int,
    window: int = 10,
    weights: npt.ArrayLike | Iterable[npt.ArrayLike] | None = None,
) -> csr_matrix:
    """How often the two terms of each pair are at most `window` words apart.

    Words outside the vocabulary count as words of the window; remove them first (``Sequences.known``) to
    count known words only. `texts` can be given as blocks, and then `weights` as well.
    """
    if window < 1:
        raise InputError(f"window must be at least 1, got {window!r}")
    blocks = [texts] if isinstance(texts, Sequences) else texts
    every = _per_block(weights, isinstance(texts, Sequences))
    total = csr_matrix((n_terms, n_terms))
    for block, block_weights in zip(blocks, every, strict=False):
        total = total + _window_pairs(block, n_terms, window, block_weights)
    return without_diagonal((total + total.T).tocsr())


def _per_block(weights: Any, single: bool) -> Iterator[Any]:
    if weights is None:
        while True:
            yield None
    yield from [weights] if single else weights


def _window_pairs(texts: Sequences, n_terms: int, window: int, weights: Any) -> csr_matrix:
    """Ordered pairs: the first term comes before the second."""
    text = texts.text_of_token()
    weight = np.ones(len(texts)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = csr_matrix((n_terms, n_terms))
    for distance in range(1, min(window, int(texts.lengths.max(initial=0)) - 1) + 1):
        left, right = texts.ids[:-distance], texts.ids[distance:]
        together = (text[:-distance] == text[distance:]) & (left != UNKNOWN) & (right != UNKNOWN)
        values = weight[text[:-distance][together]]
        # tocsr adds up pairs that occur more than once
        total = total + coo_matrix((values, (left[together], right[together])), shape=total.shape).tocsr()
    return total


def ppmi(counts: Any, shift: float = 1.0, smoothing: float = 1.0) -> csr_matrix:
    """Positive pointwise mutual information, ``max(log(P(i,j) / (P(i) P(j))) − log(shift), 0)``, sparse.

    Parameters
    ----------
    counts
        Co-occurrence counts, terms × contexts.
    shift
        Number of negative samples of shifted PPMI; 1 shifts nothing.
    smoothing
        Exponent on the context distribution; 1 smooths nothing, 0.75 is customary.
    """
    return vstack(list(ppmi_slices(counts, shift, smoothing)), format="csr")


def ppmi_slices(counts: Any, shift: float = 1.0, smoothing: float = 1.0) -> Iterator[csr_matrix]:
    """`ppmi`, some rows at a time: what is computed on the way is small."""
    if not shift > 0:
        raise InputError(f"shift must be positive, got {shift!r}")
    table = csr_matrix(counts)
    term = np.asarray(table.sum(axis=1, dtype=np.float64)).ravel()
    context = np.asarray(table.sum(axis=0, dtype=np.float64)).ravel() ** smoothing
    if term.sum() <= 0:
        yield csr_matrix(table.shape)
        return
    context = context / context.sum()  # P(j) ∝ n(j)^smoothing
    for start in range(0, table.shape[0], _ROWS):
        some = rows_of(table, start, min(start + _ROWS, table.shape[0])).tocoo()
        seen = some.data > 0
        row, col, count = some.row[seen], some.col[seen], some.data[seen].astype(np.float64)
        # P(i,j) / (P(i) P(j)) = n(i,j) / (n(i) P(j))
        values = np.log(count / (term[start + row] * context[col])) - np.log(shift)
        positive = values > 0
        yield csr_matrix((values[positive], (row[positive], col[positive])), shape=some.shape)


def npmi(together: Array, alone: Array, n_texts: float) -> Array:
    """Normalised pointwise mutual information: −1 for terms that never co-occur, 1 if all texts have both."""
    joint = together / n_texts
    apart = np.outer(alone, alone) / n_texts**2
    met = (joint > 0) & (joint < 1)
    ratio = np.log(np.divide(joint, apart, where=met, out=np.ones_like(joint)))
    limit = -np.log(joint, where=met, out=np.full_like(joint, -1.0))
    return np.divide(ratio, limit, where=met, out=np.where(joint >= 1, 1.0, -1.0))


class TermCorrelation:
    """The cosine between rows of PPMI, ``S = P̂P̂ᵀ`` with P̂ the unit rows; only its products are computed."""

    def __init__(self, associations: Any):
        self.rows = unit_rows(csr_matrix(associations, dtype=np.float64))
        self._columns = self.rows.T.tocsr()
        self.shape = (self.rows.shape[0], self.rows.shape[0])

    def __matmul__(self, factors: Array) -> Array:
        """``S·Q = P̂(P̂ᵀQ)``."""
        product: Array = self.rows @ (self._columns @ factors)
        return product

    def diagonal(self) -> Array:
        """1 for every term that has associations, else 0."""
        return (np.diff(self.rows.indptr) > 0).astype(np.float64)

    @cached_property
    def squared_norm(self) -> float:
        """``‖S‖²``, by strips of rows."""
        return float(sum(strip.power(2).sum() for strip in self.strips()))

    @cached_property
    def density(self) -> float:
        """Share of the entries of S that are not zero."""
        return sum(strip.count_nonzero() for strip in self.strips()) / max(self.shape[0] ** 2, 1)

    def strips(self, rows: int = 256) -> Iterator[csr_matrix]:
        """S in sparse strips of a few rows, for what products alone cannot compute."""
        for start in range(0, self.shape[0], rows):
            yield self.rows[start : start + rows] @ self._columns


@dataclass(frozen=True)
class LessOuter:
    """A symmetric matrix ``S − mmᵀ`` with a sparse S and a vector m; ``matrix @ Q`` does not form it."""

    sparse: csr_matrix
    vector: Array

    @property
    def shape(self) -> tuple[int, int]:
        """That of S."""
        return len(self.vector), len(self.vector)

    def __matmul__(self, factors: Array) -> Array:
        """``SQ − m(mᵀQ)``."""
        product: Array = self.sparse @ factors - np.multiply.outer(self.vector, self.vector @ factors)
        return product

    def toarray(self) -> Array:
        """The matrix itself, dense."""
        dense: Array = self.sparse.toarray() - np.outer(self.vector, self.vector)
        return dense


@dataclass(frozen=True)
class TermGram:
    """A term × term matrix ``G = A (XᵀX − N μμᵀ) A`` with a diagonal A; only its products are computed.

    ====== ============================================ ==================== ========
    kind   what it is                                   A                    centred
    ====== ============================================ ==================== ========
    assc   association ``XᵀX``                          1                    no
    assc_n the same over both terms' lengths (cosine)   1 / length           no
    cov    covariance                                   1 / √(N − 1)         yes
    pcor   Pearson correlation                          1 / (√(N − 1) · sd)  yes
    ====== ============================================ ==================== ========
    """

    documents: Engine
    scale: Array
    mean: Array
    n_texts: float

    @classmethod
    def of(cls, X: Any, kind: Gram, weights: npt.ArrayLike | None = None) -> TermGram:
        """The matrix of the given kind over the terms of X."""
        if kind not in GRAMS:
            raise InputError(f"kind must be one of {', '.join(GRAMS)}; got {kind!r}")
        engine = as_engine(X, weights)
        n_texts, sums, squares = engine.sum(_moments)
        centred = kind in ("cov", "pcor")
        mean = sums / max(n_texts, 1.0) if centred else np.zeros_like(sums)
        spread = squares - n_texts * mean**2  # squared length of a term's column, centred or not
        # the spread of a constant term is zero up to rounding
        spread[spread <= 1e-12 * squares] = 0.0
        if kind == "cov":
            scale = np.full_like(sums, max(n_texts - 1.0, 1.0) ** -0.5)
        elif kind == "assc":
            scale = np.ones_like(sums)
        else:
            scale = np.divide(1.0, np.sqrt(spread), where=spread > 0, out=np.zeros_like(spread))
        return cls(engine, scale, mean, n_texts)

    @property
    def shape(self) -> tuple[int, int]:
        """Terms × terms."""
        return len(self.scale), len(self.scale)

    def __matmul__(self, factors: Array) -> Array:
        """``G·Q`` in one pass over the documents."""
        right = self._scaled(factors)
        inner = self.documents.sum(lambda block: block.X.T @ _weighted(block, block.X @ right))
        return self._scaled(inner - self._mean_product(right))

    def columns(self, terms: npt.ArrayLike) -> Array:
        """``G[:, terms]``: terms × chosen terms, dense, in one pass over the documents."""
        chosen = np.asarray(terms)
        inner = self.documents.sum(
            lambda block: np.asarray((block.X.T @ _weighted(block, block.X[:, chosen])).todense())
        )
        mean = self.n_texts * np.outer(self.mean, self.mean[chosen])
        product: Array = self.scale[:, None] * (inner - mean) * self.scale[chosen]
        return product

    def between(self, rows: csr_matrix) -> LessOuter:
        """``R G Rᵀ`` for sparse rows R over the terms, in one pass over the documents."""
        right = csr_matrix(diags(self.scale) @ rows.T)

        def inner(block: Block) -> csr_matrix:
            products = block.X @ right
            return products.T.tocsr() @ _weighted(block, products)

        return LessOuter(csr_matrix(self.documents.sum(inner)), np.sqrt(self.n_texts) * (right.T @ self.mean))

    def diagonal(self) -> Array:
        """``G[i, i]``."""
        squares = self.documents.sum(_moments)[2]
        diagonal: Array = self.scale**2 * (squares - self.n_texts * self.mean**2)
        return diagonal

    def _scaled(self, factors: Array) -> Array:
        scaled: Array = self.scale[:, None] * factors if factors.ndim == 2 else self.scale * factors
        return scaled

    def _mean_product(self, factors: Array) -> Array:
        """``N μ(μᵀQ)``, which centring subtracts; X itself is never centred."""
        product: Array = self.n_texts * np.multiply.outer(self.mean, self.mean @ factors)
        return product


def _moments(block: Block) -> tuple[float, Array, Array]:
    """Number of texts, and the sum and the sum of squares of each term."""
    squared = block.X.multiply(block.X).tocsr()
    return float(block.weights.sum()), block.X.T @ block.weights, squared.T @ block.weights


def _weighted(block: Block, rows: Any) -> Any:
    """Rows times the number of texts each represents."""
    if isinstance(rows, np.ndarray):
        return rows * (block.weights[:, None] if rows.ndim == 2 else block.weights)
    return diags(block.weights) @ rows


def without_diagonal(counts: csr_matrix) -> csr_matrix:
    """The counts of different terms; zeros are not stored."""
    table = counts.tocoo()
    other = (table.row != table.col) & (table.data != 0)
    return csr_matrix((table.data[other], (table.row[other], table.col[other])), shape=table.shape)
