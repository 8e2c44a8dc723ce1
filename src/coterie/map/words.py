"""Words for a closer look at the map: what the texts of each neighbourhood have that others lack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

Array = npt.NDArray[np.float64]

#: Sides of the neighbourhoods of each level, as parts of the map: regions, then streets.
SIDES = (1 / 9, 1 / 22, 1 / 55)
#: Texts that must share a word, and words of a neighbourhood.
_LEAST, _EACH = 4, 4


@dataclass(frozen=True)
class Word:
    """A term, by its column, in the middle of the texts of a neighbourhood that have it."""

    column: int
    at: tuple[float, float]
    texts: int
    level: int


def neighbourhood_words(X: csr_matrix, at: Array) -> list[Word]:
    """Words of all neighbourhoods, level by level; `X` are counts of texts and `at` their places.

    A word is worth the number of its texts there, times the logarithm of how much more often it is there than
    elsewhere.
    """
    there = np.isfinite(at).all(axis=1)
    X, at = X[np.flatnonzero(there)], at[there]
    if not X.shape[0] or not X.shape[1]:
        return []
    holds = csr_matrix((np.ones(X.nnz), X.indices, X.indptr), X.shape)
    everywhere = np.asarray(holds.sum(axis=0)).ravel()
    return [
        word for level, side in enumerate(SIDES) for word in _of_level(holds, everywhere, at, side, level)
    ]


def _of_level(holds: csr_matrix, everywhere: Array, at: Array, side: float, level: int) -> list[Word]:
    places = np.floor(at / side).astype(np.int64)
    _, cell = np.unique(places, axis=0, return_inverse=True)
    cell = cell.ravel()
    n_cells, n_texts = int(cell.max()) + 1, len(at)
    member = csr_matrix((np.ones(n_texts), (cell, np.arange(n_texts))), (n_cells, n_texts))
    inside = np.bincount(cell, minlength=n_cells)
    counts = (member @ holds).tocsr()
    sums = [(member @ holds.multiply(at[:, axis, None]).tocsr()).tocsr() for axis in (0, 1)]
    words = []
    for number in range(n_cells):
        row = slice(counts.indptr[number], counts.indptr[number + 1])
        columns, texts = counts.indices[row], counts.data[row]
        lift = (texts / inside[number]) / (everywhere[columns] / n_texts)
        worth = np.where((texts >= _LEAST) & (lift > 1), texts * np.log(np.maximum(lift, 1)), 0.0)
        for best in np.lexsort((columns, -np.round(worth, 9)))[:_EACH]:
            if worth[best] > 0:
                column = int(columns[best])
                x, y = (float(part[number, column]) / texts[best] for part in sums)
                words.append(Word(column, (round(x, 5), round(y, 5)), int(texts[best]), level))
    return words
