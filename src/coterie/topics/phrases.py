"""Phrases that texts of a topic have in common: terms that follow each other, with stop words between them.

A phrase is a run of one to four terms. Stop words between two terms are passed over, so that *lost my card*
and *lost the card* are one phrase; a word outside the vocabulary, or one that no name should have, ends it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie.corpus.phrases import lookup
from coterie.corpus.sequences import UNKNOWN, Sequences
from coterie.topics.reshape import Array, Ints

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

#: Terms in a phrase, and words that may stand between two of them.
LONGEST, _BETWEEN = 4, 3
#: Texts that must have a phrase.
_TEXTS = 2


@dataclass(frozen=True)
class Tokens:
    """The terms of some texts that may stand in a phrase, in reading order.

    `term` is the column of each, `row` its text, `at` its position in the text, and `linked` whether the next
    one may stand after it in a phrase.
    """

    term: Ints
    row: Ints
    at: Ints
    linked: Flags

    @classmethod
    def of(cls, texts: Sequences, usable: Flags, passable: Flags) -> Tokens:
        """`usable` says which terms phrases may have, `passable` which stop words may be inside."""
        ids, row = texts.ids.astype(np.int64), texts.text_of_token()
        used = (ids > UNKNOWN) & np.append(usable, False)[np.maximum(ids, UNKNOWN)]
        # stop word −2 is the first
        passed = (ids < UNKNOWN) & np.append(passable, False)[np.maximum(UNKNOWN - 1 - ids, -1)]
        ends = np.cumsum(~used & ~passed)
        place = np.flatnonzero(used)
        linked = np.zeros(len(place), dtype=bool)
        linked[:-1] = (
            (row[place[1:]] == row[place[:-1]])
            & (ends[place[1:]] == ends[place[:-1]])
            & (np.diff(place) <= _BETWEEN + 1)
        )
        return cls(ids[place], row[place], place - texts.offsets[row[place]], linked)

    def find(self, phrase: Ints, among: Ints) -> Ints:
        """Of the tokens `among`, those with which the phrase begins."""
        found = among[self.term[among] == phrase[0]]
        for step, term in enumerate(phrase[1:].tolist()):
            found = found[self.linked[found + step]]
            found = found[self.term[found + step + 1] == term]
        return found


@dataclass(frozen=True)
class Phrases:
    """Phrases of topics: `terms` has `LONGEST` columns, −1 where a phrase is shorter. `here` is the number of
    texts of the topic that have the phrase, `everywhere` that of all texts.
    """

    topic: Ints
    terms: Ints
    here: Array
    everywhere: Array


def common_phrases(tokens: Tokens, topics: Ints, weights: Array, n_topics: int, n_terms: int) -> Phrases:
    """The phrases that at least two texts of a topic have; `topics` and `weights` are those of the texts.

    A phrase is a shorter one and one more term, so its key is ``number of the shorter one × terms + term``.
    """
    found: list[Phrases] = []
    start, number = np.arange(len(tokens.term)), tokens.term
    spelled = np.full((n_terms, LONGEST), -1, dtype=np.int64)
    spelled[:, 0] = np.arange(n_terms)
    for length in range(1, LONGEST + 1):
        if length > 1:
            linked = tokens.linked[start + length - 2]
            start, number = start[linked], number[linked]
            longer = number * n_terms + tokens.term[start + length - 1]
            keys = _repeated(longer, weights[tokens.row[start]])
            number = lookup(keys, longer)
            start, number = start[number != UNKNOWN], number[number != UNKNOWN]
            spelled = spelled[keys // n_terms]
            spelled[:, length - 1] = keys % n_terms
        once = _distinct(number * len(topics) + tokens.row[start])
        phrase, row = once // max(len(topics), 1), once % max(len(topics), 1)
        everywhere = np.bincount(phrase, weights[row], len(spelled)).astype(np.float64)
        some = topics[row] >= 0
        pairs = phrase[some] * n_topics + topics[row[some]]
        keys = _distinct(pairs)
        here = np.bincount(lookup(keys, pairs), weights[row[some]], len(keys)).astype(np.float64)
        kept = here >= _TEXTS
        phrase, topic = keys[kept] // n_topics, keys[kept] % n_topics
        found.append(Phrases(topic, spelled[phrase], here[kept], everywhere[phrase]))
    return Phrases(
        *(np.concatenate([getattr(part, name) for part in found]) for name in Phrases.__dataclass_fields__)
    )


def _distinct(values: Numbers) -> Numbers:
    """The different values, sorted; much quicker than np.unique, which hashes."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _repeated(values: Numbers, weights: Array) -> Numbers:
    """The values that occur twice, or in a text with copies; sorted. Most phrases occur once."""
    ordered = np.sort(values)
    twice = _distinct(ordered[:-1][ordered[1:] == ordered[:-1]])
    return _distinct(np.concatenate([twice, values[weights >= _TEXTS]]))
