"""The number of windows of a corpus in which terms, and pairs of terms, occur; used by coherence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from coterie.corpus.sequences import UNKNOWN, Sequences
from coterie.metrics.arguments import Counts

#: Entries of the windows × terms matrix in memory at a time: bounds the memory, does not change the result.
ENTRIES_PER_BLOCK = 2**20


@dataclass(frozen=True, slots=True)
class WindowCounts:
    """In how many windows each two terms are present together; on the diagonal, each term."""

    n_windows: int
    together: csr_array[np.int64, tuple[int, int]]

    def of(self, terms: list[int]) -> Counts:
        """The dense counts of a few terms. A term that is in no window counts as in one window, alone."""
        together = self.together[terms][:, terms].toarray()
        unseen = np.diagonal(together) == 0
        together[unseen, unseen] = 1
        return together


class Spans(NamedTuple):
    """Stretches of windows a term is present in, `last` included; a window is named by its first token."""

    term: Counts
    first: Counts
    last: Counts

    def between(self, start: int, end: int) -> Spans:
        """The parts of the spans in the windows from `start` up to, not including, `end`."""
        inside = (self.first < end) & (self.last >= start)
        return Spans(
            self.term[inside], np.maximum(self.first[inside], start), np.minimum(self.last[inside], end - 1)
        )


def count_windows(
    sequences: Sequences, n_terms: int, *, width: int | None, weights: Counts, as_gensim: bool
) -> WindowCounts:
    """Count windows of `width` tokens. A text that is not longer, or any if `width` is None, is one window.

    With B the matrix windows × terms of presence, the counts are BᵀB. B is made and summed in blocks.
    Neighbouring windows with the same content are one row of B that weighs as much as there are windows: B
    grows with the occurrences of the terms, not with the length of the texts.
    """
    length = sequences.lengths
    width = width or max(int(length.max()), 1)
    spans = spans_of_presence(sequences, width, as_gensim)
    together = csr_array((n_terms, n_terms), dtype=np.int64)
    for start, end in blocks(spans):
        together = together + count_block(spans.between(start, end), n_terms, sequences.offsets, weights)
    return WindowCounts(int(weights @ np.maximum(length - width + 1, 1)), together)


def spans_of_presence(sequences: Sequences, width: int, as_gensim: bool) -> Spans:
    """The windows that contain each term, as spans that do not overlap within a term, by first window."""
    at = np.flatnonzero(sequences.ids != UNKNOWN)
    at = at[np.argsort(sequences.ids[at], kind="stable")]  # by term, then by position
    term = sequences.ids[at].astype(np.int64)
    text = np.searchsorted(sequences.offsets, at, side="right") - 1
    text_start, text_end = sequences.offsets[text], sequences.offsets[text + 1]
    first = np.maximum(at - width + 1, text_start)
    last = at
    if as_gensim:  # ends already when the earliest of its occurrences leaves the window
        n_tokens = len(sequences.ids)
        last = at[np.searchsorted(term * n_tokens + at, term * n_tokens + first)]
    last = np.minimum(last, np.maximum(text_end - width, text_start))
    # a repeated term: begin where the span of the occurrence before has ended
    first[1:] = np.where(term[1:] == term[:-1], np.maximum(first[1:], last[:-1] + 1), first[1:])
    order = np.flatnonzero(first <= last)
    order = order[np.argsort(first[order], kind="stable")]
    return Spans(term[order], first[order], last[order])


def blocks(spans: Spans) -> Iterable[tuple[int, int]]:
    """Where to cut the windows so that the spans of a block make about `ENTRIES_PER_BLOCK` entries of B."""
    if not len(spans.term):
        return []
    entries = np.cumsum(spans.last - spans.first + 1)
    cuts = np.searchsorted(entries, np.arange(0, entries[-1], ENTRIES_PER_BLOCK), side="right")
    return pairwise([*np.unique(spans.first[cuts]).tolist(), int(spans.last.max()) + 1])


def count_block(
    spans: Spans, n_terms: int, offsets: Counts, weights: Counts
) -> csr_array[np.int64, tuple[int, int]]:
    """BᵀB of the windows of some spans, each window weighing as much as its text."""
    edges = np.unique(np.concatenate([spans.first, spans.last + 1]))  # in between, content stays the same
    text = np.searchsorted(offsets, edges[:-1], side="right") - 1
    weight = np.diff(edges) * weights[text]
    from_row, to_row = np.searchsorted(edges, spans.first), np.searchsorted(edges, spans.last + 1)
    n_rows = to_row - from_row
    row = np.arange(n_rows.sum()) + np.repeat(from_row - np.cumsum(n_rows) + n_rows, n_rows)
    column = np.repeat(spans.term, n_rows)
    shape = (len(weight), n_terms)
    present = csr_array((np.ones(len(row), np.int64), (row, column)), shape=shape)
    weighted = csr_array((weight[row], (row, column)), shape=shape)
    return present.T.tocsr() @ weighted
