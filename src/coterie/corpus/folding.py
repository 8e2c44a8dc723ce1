"""Merge identical texts into one row with a weight, in an order that depends on their content alone.

Texts are put into buckets by the leading bits of their digest and sorted by digest within each bucket, so the
buckets in sequence are the whole collection in canonical order. Only one bucket has to be in memory at a
time, whatever the number of texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from coterie.corpus.encoder import Encoded
from coterie.corpus.sequences import Sequences
from coterie.engines.memory import BLOCK_ROWS

#: Bits of the digest that choose a bucket if the number of texts is not known in advance.
STREAM_BITS = 8


@dataclass(frozen=True, slots=True)
class Folded:
    """Distinct texts in canonical order.

    `weights` says how many texts each stands for; `rows` are the numbers of all texts in the input, and
    `distinct` for each of those the distinct text it became.
    """

    sequences: Sequences
    weights: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    distinct: npt.NDArray[np.int64]


def fold(encoded: Encoded, rows: npt.NDArray[np.int64]) -> Folded:
    """Sort by digest and keep one copy of each text."""
    high, low = encoded.digests[:, 0], encoded.digests[:, 1]
    order = np.argsort(high, kind="stable")
    if (np.diff(high[order]) == 0).any():  # copies of a text, or two texts that share half a digest
        order = np.lexsort((low, high))
    high, low = high[order], low[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    distinct = np.cumsum(first) - 1
    return Folded(encoded.sequences.take(order[first]), np.bincount(distinct), rows[order], distinct)


def bits_for(n_rows: int) -> int:
    """How many leading bits of the digest give blocks of about `BLOCK_ROWS` rows or fewer."""
    return max(0, int(np.ceil(np.log2(max(n_rows, 1) / BLOCK_ROWS))))


class Buckets:
    """Encoded texts in buckets by digest, in memory or, with a folder, in one file per bucket."""

    def __init__(self, bits: int = STREAM_BITS, folder: Path | None = None):
        self.bits = bits
        self.n_texts = 0
        self._folder = folder
        self._memory: list[list[tuple[Encoded, npt.NDArray[np.int64]]]] = [[] for _ in range(len(self))]

    def __len__(self) -> int:
        return 1 << self.bits

    def add(self, batch: Encoded) -> None:
        """Put the next texts of the input into their buckets."""
        rows = np.arange(self.n_texts, self.n_texts + len(batch.sequences))
        self.n_texts += len(rows)
        if not self.bits:
            self._put(0, batch, rows)
            return
        bucket = batch.digests[:, 0] >> np.uint64(64 - self.bits)
        order = np.argsort(bucket, kind="stable")
        edges = np.searchsorted(bucket[order], np.arange(len(self) + 1, dtype=np.uint64))
        for number, (a, b) in enumerate(itertools.pairwise(edges)):
            if a < b:
                some = order[a:b]
                self._put(number, Encoded(batch.sequences.take(some), batch.digests[some]), rows[some])

    def folded(self) -> Iterator[Folded]:
        """The buckets in canonical order, each with copies merged; a bucket is removed once returned."""
        for number in range(len(self)):
            parts = self._take(number)
            sequences = Sequences.concatenate([part.sequences for part, _ in parts])
            digests = np.concatenate([part.digests for part, _ in parts] or [np.empty((0, 2), np.uint64)])
            rows = np.concatenate([rows for _, rows in parts] or [np.empty(0, np.int64)])
            yield fold(Encoded(sequences, digests), rows)

    def _put(self, number: int, batch: Encoded, rows: npt.NDArray[np.int64]) -> None:
        if self._folder is None:
            self._memory[number].append((batch, rows))
            return
        with self._file(number).open("ab") as file:
            for array in (batch.sequences.ids, batch.sequences.offsets, batch.digests, rows):
                np.save(file, array, allow_pickle=False)

    def _take(self, number: int) -> list[tuple[Encoded, npt.NDArray[np.int64]]]:
        if self._folder is None:
            parts, self._memory[number] = self._memory[number], []
            return parts
        path = self._file(number)
        if not path.exists():
            return []
        parts = []
        with path.open("rb") as file:
            size = path.stat().st_size
            while file.tell() < size:
                ids, offsets, digests, rows = (np.load(file) for _ in range(4))
                parts.append((Encoded(Sequences(ids, offsets), digests), rows))
        path.unlink()
        return parts

    def _file(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / f"bucket-{number:03d}.npy"
