"""The texts that clusters are learned from: counts, words and vectors side by side, in row blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from coterie.engines import Block, Engine, MemoryEngine
from coterie.engines.base import tree_sum
from coterie.engines.memory import rows as rows_of
from coterie.engines.threads import ordered_map, usable_threads

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]
T = TypeVar("T")

#: Clusters are learned from at most about so many distinct texts; others are placed by what was learned.
MOST_TEXTS = 131_072
#: Clusters are learned in single precision: sums over texts are rounded far below what a text weighs.
FLOAT = np.float32
#: Fewest rows of a block, and most blocks: each of them adds a number for every term and topic. Neither
#: depends on the number of threads, so that sums have one order.
_BLOCK_ROWS, _BLOCKS = 4_096, 8


@dataclass(frozen=True, slots=True)
class Texts:
    """Consecutive texts: their counts, and what these became.

    `words` are weighted counts and `text_vectors` vectors, both with rows of unit length; `weights` says how
    many texts a row stands for, 0 for a text that has no word; `start` is the number of the first row here,
    `numbers` are those of all rows among the documents.
    """

    counts: csr_matrix
    words: csr_matrix
    text_vectors: Floats
    weights: Floats
    start: int
    numbers: Ints

    @property
    def rows(self) -> slice:
        """Where these texts stand among all."""
        return slice(self.start, self.start + self.counts.shape[0])


@dataclass(frozen=True)
class Sample:
    """Texts in memory, with the verbs of an engine."""

    blocks: tuple[Texts, ...]
    threads: int

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return int(self.blocks[0].counts.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of distinct texts."""
        return self.blocks[-1].rows.stop

    def map(self, function: Callable[[Texts], T]) -> Iterator[T]:
        """Yield `function(texts)` for each block, in order."""
        return ordered_map(function, self.blocks, min(self.threads, len(self.blocks)))

    def sum(self, function: Callable[[Texts], T]) -> T:
        """Add up `function(texts)` over all blocks, as an engine does."""
        return tree_sum(self.map(function))

    def gather(self, function: Callable[[Texts], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """One row for each text."""
        return np.concatenate(list(self.map(function)))

    def counts(self) -> csr_matrix:
        """Counts of all texts."""
        return vstack([block.counts for block in self.blocks], format="csr")

    def as_engine(self) -> MemoryEngine:
        """The vectors as row blocks."""
        blocks = [Block(block.text_vectors, block.weights, block.start) for block in self.blocks]  # type: ignore[arg-type]
        return MemoryEngine(blocks, self.threads)


def take_sample(
    documents: Engine,
    words: Callable[[csr_matrix], csr_matrix],
    text_vectors: Callable[[csr_matrix, Ints], Floats],
) -> Sample:
    """Every text, or of a large collection every n-th.

    Rows in canonical order stand in the order of a hash of what they hold, so every n-th row is a random
    sample that does not depend on the order in which they came. ``text_vectors(counts, rows)`` also gets
    the numbers of the rows.
    """
    step = max(-(-documents.n_rows // MOST_TEXTS), 1)
    parts = list(documents.map(lambda block: _every(block, step)))
    counts = vstack([X for X, _, _ in parts], format="csr")
    weights = np.concatenate([part for _, part, _ in parts])
    numbers = np.concatenate([part for _, _, part in parts])
    blocks = []
    size = max(_BLOCK_ROWS, -(-len(weights) // _BLOCKS))
    for start in range(0, max(len(weights), 1), size):
        some = slice(start, start + size)
        X = rows_of(counts, start, min(start + size, len(weights)))
        counted = np.where(
            X.getnnz(axis=1) > 0, weights[some], 0.0
        )  # a text that says nothing teaches nothing
        features = words(X).astype(FLOAT), text_vectors(X, numbers[some]).astype(FLOAT)
        blocks.append(Texts(X.astype(FLOAT), *features, counted.astype(FLOAT), start, numbers[some]))
    return Sample(tuple(blocks), usable_threads(getattr(documents, "threads", None)))


def terms_of_sample(documents: Engine) -> npt.NDArray[np.bool_]:
    """Whether each term occurs in the texts that `take_sample` takes."""
    step = max(-(-documents.n_rows // MOST_TEXTS), 1)

    def occurrences(block: Block) -> Ints:
        return np.bincount(_every(block, step)[0].indices, minlength=block.X.shape[1])

    return documents.sum(occurrences) > 0


def with_columns(documents: Engine, columns: Ints) -> Engine:
    """Documents with some of their terms, in this order."""
    return documents.mapped(lambda block: replace(block, X=block.X[:, columns]))


def _every(block: Block, step: int) -> tuple[csr_matrix, Floats, Ints]:
    chosen = np.arange(-block.start % step, block.X.shape[0], step)
    X = block.X if step == 1 else block.X[chosen]
    return X, block.weights[chosen], chosen + block.start
