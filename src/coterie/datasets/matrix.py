"""Matrices of counts with labels: from MATLAB files to lines, and from lines to a sparse matrix.

The first line is ``terms<TAB>`` and how many there are. Each other line is a text: its label, a tab, and
``column:count`` for every term that it has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.datasets import matlab
from coterie.datasets.convert import Row
from coterie.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: A file that unpacks to more bytes than this is none of these matrices.
_MOST = 1 << 27
_LINE = re.compile(r"(?:\d{1,9}:[0-9.e+-]+(?: (?=\d)|$))*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of terms, documents × terms, with the label of each document. The terms have no names."""

    name: str
    X: csr_matrix = field(repr=False)
    labels: list[str] = field(repr=False)
    description: str

    def __len__(self) -> int:
        return len(self.labels)

    def largest(self, classes: int) -> Matrix:
        """The documents of the largest classes, with the terms that they have."""
        import numpy as np

        kept = {label for label, _ in Counter(self.labels).most_common(classes)}
        rows = self.X[np.flatnonzero([label in kept for label in self.labels])]
        labels = [label for label in self.labels if label in kept]
        return Matrix(self.name, rows[:, np.flatnonzero(rows.getnnz(axis=0))], labels, self.description)


def converted(file: bytes) -> Iterator[Row]:
    """A MATLAB file with the matrix `fea`, documents × terms, and the classes `gnd` as numbers."""
    X, classes = _variables(file)
    yield "terms", str(X.shape[1])
    for label, begin, end in zip(classes, X.indptr[:-1], X.indptr[1:], strict=True):
        pairs = zip(X.indices[begin:end].tolist(), X.data[begin:end].tolist(), strict=True)
        yield str(label), " ".join(f"{column}:{count:.17g}" for column, count in pairs)


def lines(labels: list[str], texts: list[str], path: Path) -> tuple[csr_matrix, list[str]]:
    """The matrix and the labels of a set; `path` is used in error messages."""
    import numpy as np
    from scipy.sparse import csr_matrix

    try:
        if labels[:1] != ["terms"]:
            raise ValueError("the first line must be 'terms', a tab and their number")
        for number, text in enumerate(texts[1:], 2):
            if not _LINE.fullmatch(text):
                raise ValueError(f"line {number} must consist of column:count, got {text[:60]!r}")
        ends = np.cumsum([0, *(text.count(":") for text in texts[1:])])
        values = np.array(" ".join(texts[1:]).replace(":", " ").split(), dtype=np.float64).reshape(-1, 2)
        columns, counts = values[:, 0].astype(np.int64), values[:, 1].copy()
        if not np.isfinite(counts).all():
            raise ValueError("a count is not finite")
        if (columns >= int(texts[0])).any():
            raise ValueError(f"a column is not below {int(texts[0]):,}")
        X = csr_matrix((counts, columns, ends), shape=(len(texts) - 1, int(texts[0])))
    except (ValueError, OverflowError) as error:
        raise InputError(f"{path}: not a matrix: {error}") from error
    return X, labels[1:]


def _variables(file: bytes) -> tuple[csr_matrix, list[int]]:
    """The matrix without zeros, and the classes."""
    import numpy as np
    from scipy.sparse import csr_matrix

    found = matlab.arrays(file, ("fea", "gnd"), _MOST)
    missing = [name for name in ("fea", "gnd") if name not in found]
    if missing:
        raise ValueError(f"the MATLAB file has no {' and no '.join(missing)}")
    fea, gnd = found["fea"], np.ravel(found["gnd"])
    if fea.ndim != 2 or fea.shape[0] != len(gnd):
        raise ValueError(f"fea has shape {fea.shape}, for {len(gnd):,} classes in gnd")
    if not (np.isfinite(gnd) & (gnd == np.round(gnd)) & (abs(gnd) < 1e9)).all():
        raise ValueError("gnd must be whole numbers")
    X = csr_matrix(fea, dtype=np.float64)
    X.sum_duplicates()
    X.eliminate_zeros()
    if not (np.isfinite(X.data) & (X.data > 0)).all():
        raise ValueError("fea must be finite and not negative")
    return X, gnd.astype(np.int64).tolist()
