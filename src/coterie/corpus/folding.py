"""Merge identical texts into one row with a weight, in an order that depends on their content alone.

Texts are put into buckets by the leading bits of their digest and sorted by digest within each bucket, so the
buckets in sequence are the whole collection in canonical order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie.corpus.encoder import Encoded
from coterie.corpus.sequences import Sequences
from coterie.engines.memory import BLOCK_ROWS


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
    """Encoded texts in buckets by digest, in memory."""

    def __init__(self, bits: int):
        self.bits = bits
        self.n_texts = 0
        self._parts: list[list[tuple[Encoded, npt.NDArray[np.int64]]]] = [[] for _ in range(len(self))]

    def __len__(self) -> int:
        return 1 << self.bits

    def add(self, batch: Encoded) -> None:
        """Put the next texts of the input into their buckets."""
        rows = np.arange(self.n_texts, self.n_texts + len(batch.sequences))
        self.n_texts += len(rows)
        if not self.bits:
            self._parts[0].append((batch, rows))
            return
        bucket = batch.digests[:, 0] >> np.uint64(64 - self.bits)
        order = np.argsort(bucket, kind="stable")
        edges = np.searchsorted(bucket[order], np.arange(len(self) + 1, dtype=np.uint64))
        for number, (a, b) in enumerate(itertools.pairwise(edges)):
            if a < b:
                some = order[a:b]
                part = Encoded(batch.sequences.take(some), batch.digests[some])
                self._parts[number].append((part, rows[some]))

    def folded(self) -> Iterator[Folded]:
        """The buckets in canonical order, each with copies merged; a bucket is removed once returned."""
        for number in range(len(self)):
            parts, self._parts[number] = self._parts[number], []
            sequences = Sequences.concatenate([part.sequences for part, _ in parts])
            digests = np.concatenate([part.digests for part, _ in parts] or [np.empty((0, 2), np.uint64)])
            rows = np.concatenate([rows for _, rows in parts] or [np.empty(0, np.int64)])
            yield fold(Encoded(sequences, digests), rows)
