"""n-grams: sequences of terms that count as terms themselves.

An n-gram is a shorter n-gram and one more term, so its key is ``number of the prefix × terms + last term``.
An n-gram can only be frequent if its prefix is, so longer ones are built from the shorter ones kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.corpus.sequences import UNKNOWN, Sequences
from coterie.corpus.vocabulary import Limits

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Phrases:
    """The n-grams of a vocabulary: for each length from 2 on, their sorted keys."""

    n_terms: int
    keys: list[Ints] = field(default_factory=list)

    @property
    def n_columns(self) -> int:
        """Single terms and n-grams together."""
        return self.n_terms + sum(map(len, self.keys))

    def count_matrix(self, texts: Sequences) -> csr_matrix:
        """Counts of each term and n-gram in each text; words outside the vocabulary are ignored."""
        known = texts.known()
        columns = [known.ids.astype(np.int64)]
        rows = [known.text_of_token()]
        base = self.n_terms
        for length, keys in enumerate(self.keys, start=2):
            numbers, row = self.runs(known, length)
            found = lookup(keys, numbers)
            columns.append(base + found[found != UNKNOWN])
            rows.append(row[found != UNKNOWN])
            base += len(keys)
        shape = (len(texts), self.n_columns)
        if not self.keys:
            X = csr_matrix((np.ones(len(known.ids)), known.ids, known.offsets), shape=shape)
        else:
            row, column = np.concatenate(rows), np.concatenate(columns)
            X = csr_matrix((np.ones(len(row)), (row, column)), shape=shape)
        X.sum_duplicates()
        return X

    def runs(self, texts: Sequences, length: int) -> tuple[Ints, Ints]:
        """The key of every run of `length` terms whose prefix is known, and the text each stands in."""
        text = texts.text_of_token()
        head = texts.ids.astype(np.int64)
        for shorter in range(2, length + 1):
            tail = texts.ids[shorter - 1 :]
            head = head[: len(tail)]
            inside = (text[: len(tail)] == text[shorter - 1 :]) & (head != UNKNOWN)
            key = np.where(inside, head * self.n_terms + tail, UNKNOWN)
            head = key if shorter == length else lookup(self.keys[shorter - 2], key)
        return head[head != UNKNOWN], text[: len(head)][head != UNKNOWN]

    def spelled_out(self, names: Sequence[str]) -> Iterator[str]:
        """The n-grams in column order, as names with spaces between them."""
        heads: Sequence[str] = names
        for keys in self.keys:
            heads = [f"{heads[key // self.n_terms]} {names[key % self.n_terms]}" for key in keys.tolist()]
            yield from heads


def learn_phrases(
    blocks: Callable[[], Iterable[tuple[Sequences, npt.NDArray[np.float64]]]],
    n_terms: int,
    limits: Limits,
    n_texts: int,
) -> Phrases:
    """Find the n-grams that occur in enough texts, in one pass over the blocks for each length.

    `blocks()` begins a pass: texts, and how many texts each of them stands for.
    """
    phrases = Phrases(n_terms)
    for length in range(2, limits.ngrams + 1):
        keys, df = np.empty(0, np.int64), np.empty(0)
        for texts, weights in blocks():
            numbers, row = phrases.runs(texts.known(), length)
            once = np.unique(np.stack([row, numbers]), axis=1) if len(row) else np.empty((2, 0), np.int64)
            keys, index = np.unique(np.concatenate([keys, once[1]]), return_inverse=True)
            before, df = df, np.zeros(len(keys))
            np.add.at(df, index, np.concatenate([before, weights[once[0]]]))
        phrases.keys.append(keys[limits.kept(df.astype(np.int64), n_texts)])
    return phrases


def words_and_pairs(texts: Sequences, n_words: int) -> csr_matrix:
    """Counts of each word, and of each pair of words in a row that occurs in more than one text."""
    once, limits = np.ones(len(texts)), Limits(min_df=2, ngrams=2)
    return learn_phrases(lambda: [(texts, once)], n_words, limits, len(texts)).count_matrix(texts)


def lookup(keys: Ints, wanted: Ints) -> Ints:
    """The position of each wanted key among sorted keys, or UNKNOWN."""
    if not len(keys):
        return np.full(len(wanted), UNKNOWN, dtype=np.int64)
    index = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[index] == wanted, index, UNKNOWN)
