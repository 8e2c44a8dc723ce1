"""Misspelt words: a word outside the vocabulary that is one slip of the pen away from exactly one known word.

Without a dictionary nobody can tell a misspelling from a rare word, so only slips that rarely make another
word are looked at: never in the first or the last letter, and the longer the word, the more kinds of slips.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.corpus.sequences import UNKNOWN, Sequences

Ints = npt.NDArray[np.integer[Any]]

#: How often a word must be written before others are taken for misspellings of it.
_COMMON: Final = 5
#: Letters that a word needs if a letter is doubled or not (arive), two letters are swapped (recieve), a
#: letter is missing or added (exchage), or one is another (recepient).
_DOUBLED, _SWAPPED, _LENGTH_DIFFERS, _OTHER_LETTER = 5, 6, 7, 8

ARROW: Final = " → "


@dataclass(frozen=True)
class Speller:
    """Looks up words that are spelled almost like a known one; `columns` are those of the words."""

    words: tuple[str, ...]
    columns: npt.NDArray[np.integer[Any]]

    @classmethod
    def learn(cls, forms: pl.DataFrame, columns: npt.NDArray[np.int32]) -> Speller:
        """Know the words that are written often: `forms` is a table with columns surface and count."""
        table = forms.select("surface", "count", column=pl.Series(columns)).filter(pl.col("column") >= 0)
        common = (
            table.group_by("surface", "column")
            .agg(pl.col("count").sum())
            .filter(
                (pl.col("count") >= _COMMON) & pl.col("surface").str.contains(rf"^\p{{L}}{{{_DOUBLED},}}$")
            )
            .sort("surface")
        )
        return cls(tuple(common["surface"]), common["column"].cast(pl.Int64).to_numpy())

    @cached_property
    def _near(self) -> dict[str, list[int]]:
        near: dict[str, list[int]] = {}
        for number, word in enumerate(self.words):
            for key in _keys(word):
                near.setdefault(key, []).append(number)
        return near

    @cached_property
    def _longest(self) -> int:
        """Most letters of a slip; to try those of a text without spaces would take hours."""
        return 1 + max(map(len, self.words), default=0)

    def meant(self, written: str) -> int:
        """The number of the known word that `written` stands for; UNKNOWN if there are several.

        >>> speller = Speller(("arrive", "arrived", "exchange"), np.array([0, 0, 1]))
        >>> [speller.meant(word) for word in ("arive", "arived", "exhcange", "barrive", "arrives")]
        [0, 1, 2, -1, -1]
        """
        if not _DOUBLED <= len(written) <= self._longest or not written.isalpha():
            return UNKNOWN
        near = {number for key in _keys(written) for number in self._near.get(key, ())}
        meant = [number for number in sorted(near) if is_slip(written, self.words[number])]
        return meant[0] if len({int(self.columns[number]) for number in meant}) == 1 else UNKNOWN


def _keys(word: str) -> Iterator[str]:
    """A word, and what is left of it without one letter: words one slip apart share one of these."""
    yield word
    yield from {word[:at] + word[at + 1 :] for at in range(len(word))}


def is_slip(written: str, word: str) -> bool:
    """Whether `written` is `word` with one slip inside, of a kind that its length allows.

    >>> [is_slip(*pair) for pair in (("acount", "account"), ("recepient", "recipient"), ("trick", "track"))]
    [True, True, False]
    """
    if abs(len(written) - len(word)) > 1 or written == word:
        return False
    if written[0] != word[0] or written[-1] != word[-1]:
        return False
    shorter = min(len(written), len(word))
    start = next((at for at in range(shorter) if written[at] != word[at]), shorter)
    end = next((n for n in range(shorter - start) if written[-1 - n] != word[-1 - n]), shorter - start)
    mine, theirs = written[start : len(written) - end], word[start : len(word) - end]
    length = len(written)
    if len(mine) == len(theirs) == 1:
        return length >= _OTHER_LETTER
    if len(mine) == len(theirs) == 2:
        return mine == theirs[::-1] and length >= _SWAPPED
    if len(mine) + len(theirs) != 1:
        return False
    doubled = (mine or theirs) == written[start - 1]
    return length >= (_DOUBLED if doubled else _LENGTH_DIFFERS)


def spelled(
    columns: npt.NDArray[np.int32], forms: pl.DataFrame, speller: Speller | None
) -> tuple[npt.NDArray[np.int32], pl.Series]:
    """Columns of forms, with those of misspelt ones looked up; and "arive → arrive" for those, else null.

    `forms` is a table with columns surface and term, and a term that is null is none.
    """
    columns, spellings = columns.copy(), pl.repeat(None, len(columns), dtype=pl.String, eager=True)
    if speller is None:
        return columns, spellings
    unknown = np.flatnonzero((columns == UNKNOWN) & forms["term"].is_not_null().to_numpy())
    written = forms["surface"].gather(unknown).to_list()
    meant = np.fromiter(map(speller.meant, written), dtype=np.int64)
    found = np.flatnonzero(meant != UNKNOWN)
    columns[unknown[found]] = speller.columns[meant[found]]
    arrows = [f"{written[at]}{ARROW}{speller.words[meant[at]]}" for at in found]
    return columns, spellings.scatter(unknown[found], arrows)


def numbered(spellings: pl.Series) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    """The spellings that are not null, sorted, and for each entry the number of its own, UNKNOWN for none."""
    names, there = spellings.drop_nulls().unique().sort(), spellings.is_not_null()
    numbers = np.full(len(spellings), UNKNOWN, dtype=np.int32)
    numbers[there.to_numpy()] = names.search_sorted(spellings.filter(there)).to_numpy()
    return tuple(names), numbers


@dataclass(frozen=True)
class Typos:
    """Misspelt words in texts, by ascending row: the column of the known word, and the number of a spelling.

    Of two misspellings of one word in a text, there is the first.
    """

    rows: Ints
    columns: Ints
    numbers: Ints
    spellings: tuple[str, ...]

    def at(self, rows: Ints) -> Typos:
        """Those of some rows, which are numbered from 0 on."""
        begin, end = np.searchsorted(self.rows, rows), np.searchsorted(self.rows, rows, side="right")
        many = end - begin
        entry = np.arange(many.sum()) + np.repeat(begin - np.cumsum(many) + many, many)
        row = np.repeat(np.arange(len(rows)), many)
        return Typos(row, self.columns[entry], self.numbers[entry], self.spellings)

    @classmethod
    def joined(cls, parts: Sequence[Typos], starts: Sequence[int]) -> Typos:
        """Those of several batches of texts, whose first rows are `starts`."""
        before = np.cumsum([0, *(len(part.spellings) for part in parts)])
        return cls(
            np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=False)]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.numbers + at for part, at in zip(parts, before, strict=False)]),
            tuple(chain.from_iterable(part.spellings for part in parts)),
        )


def typos_in(
    texts: Sequences, columns: npt.NDArray[np.int32], spelling_of_form: npt.NDArray[np.int32]
) -> tuple[Ints, Ints, Ints]:
    """Rows, columns and spellings of the misspelt words in texts of form numbers."""
    there = np.flatnonzero(spelling_of_form[texts.ids] != UNKNOWN)
    ids = texts.ids[there]
    row, column = np.searchsorted(texts.offsets, there, side="right") - 1, columns[ids]
    order = np.lexsort((there, column, row))
    row, column, number = row[order], column[order], spelling_of_form[ids[order]]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    return row[first], column[first], number[first]
