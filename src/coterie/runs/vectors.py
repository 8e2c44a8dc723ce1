"""Embeddings of the texts of a run, kept in its folder: whoever made them may not be there again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.embeddings import Vectors
from coterie.embeddings.named import is_static
from coterie.errors import InputError
from coterie.storage.arrays import read_arrays, write_arrays
from coterie.topics import TopicModel


@dataclass(frozen=True)
class KeptVectors:
    """Vectors of distinct texts, and which of them each row of the run has."""

    vectors: Vectors
    rows: npt.NDArray[np.int32]

    def at(self, numbers: npt.NDArray[Any]) -> Vectors:
        """The vectors of some rows."""
        some: Vectors = self.vectors[self.rows[numbers]]
        return some

    def all(self) -> Vectors:
        """A vector for each row."""
        return self.at(np.arange(len(self.rows)))


def write_vectors(path: Path, model: TopicModel) -> None:
    """Write the file, unless there are no embeddings, or static ones, which are made again in no time."""
    collection = model.collection
    assert collection is not None
    if collection.embeddings is None or is_static(model.fitted.scorer.method.last.embeddings):
        return
    rows = np.asarray(collection.corpus.rows, dtype=np.int32)
    write_arrays(path, {"vectors": np.asarray(collection.embeddings, dtype=np.float32), "rows": rows})


def read_vectors(path: Path, n_texts: int) -> KeptVectors:
    """Read the file, which must be that of so many texts."""
    arrays, _ = read_arrays(path)
    vectors, rows = (arrays.get(name, np.zeros(0)) for name in ("vectors", "rows"))
    sound = vectors.dtype == np.float32 and vectors.ndim == 2 and bool(np.isfinite(vectors).all())
    known = rows.dtype == np.int32 and rows.shape == (n_texts,)
    if not sound or not known or not bool(((rows >= 0) & (rows < len(vectors))).all()):
        raise InputError(f"{path} does not belong to this run; fit again")
    return KeptVectors(vectors, rows)
