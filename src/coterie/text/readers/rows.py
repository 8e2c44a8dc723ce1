"""What the formats have in common: rows, bad rows, tables of them, and the batches that users see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from coterie.errors import InputError

#: More columns than this are no table; as many as a sheet of Excel may have.
MAX_COLUMNS = 16_384
#: How much of a bad row is kept for telling.
_SHOWN = 200

_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that could not be read: the line it begins on, why, and how it looks."""

    line: int
    reason: str
    value: str = ""

    @classmethod
    def of(cls, line: int, reason: str, value: str) -> BadRow:
        """A bad row with the beginning of its value, spelled so that it can be shown anywhere."""
        return cls(line, reason, _LONE.sub(_spelled, value[:_SHOWN].rstrip("\r\n")))

    def __str__(self) -> str:
        shown = f": {self.value[:80]!r}" if self.value else ""
        return f"line {self.line}: {self.reason}{shown}"


class Rows(NamedTuple):
    """Consecutive rows that could be read: the line each begins on, and its cells by column."""

    lines: Sequence[int]
    cells: Sequence[list[Any]]

    def without(self, lines: set[int]) -> Rows:
        """The rows that do not begin on one of the lines."""
        kept = [i for i, line in enumerate(self.lines) if line not in lines]
        return Rows([self.lines[i] for i in kept], [self.cells[i] for i in kept])


@dataclass
class Table:
    """Names of columns, which may become more while rows are read, and the rows.

    Cells are strings, or None where a row has no such column; in the text column of a `tokenised` table
    they are lists of strings. Bytes that are not in the `encoding` are lone surrogates.
    """

    columns: Collection[str]
    rows: Iterator[Rows | BadRow]
    encoding: str | None = None
    tokenised: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows: the texts, the whole table, and for each row the line it began on."""

    texts: pl.Series
    table: pl.DataFrame
    lines: Sequence[int]


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may say about a file."""

    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True


def table_of(rows: Iterator[Rows | BadRow], header: bool, place: str, encoding: str | None = None) -> Table:
    """A table whose columns are named by the first row that is not blank, or else by their numbers."""
    line, first, rest = _first(rows, place)
    if len(first) > MAX_COLUMNS:
        raise InputError(
            f"{place}, line {line}: {len(first):,} cells are more than the {MAX_COLUMNS:,} that a table "
            "may have; is the delimiter the right one?"
        )
    if not header:
        names = [f"column_{i + 1}" for i in range(len(first))]
        return Table(names, chain([Rows([line], [first]), rest], rows), encoding)
    for bad in unreadable(Rows([line], [first]), encoding):
        raise InputError(f"{place}, {bad}")
    return Table(column_names(first), chain([rest], rows), encoding)


def _first(rows: Iterator[Rows | BadRow], place: str) -> tuple[int, list[str], Rows]:
    """The first row that is not blank: its line, its cells, and the rows that came with it."""
    for found in rows:
        if isinstance(found, BadRow):  # without the first row there is no telling how wide the others must be
            raise InputError(f"{place}, {found}")
        for i, cells in enumerate(found.cells):
            if cells:
                return found.lines[i], cells, Rows(found.lines[i + 1 :], found.cells[i + 1 :])
    raise InputError(f"{place} is empty")


def column_names(header: list[str]) -> list[str]:
    """Names that differ: an empty one is called by its number, a repeated one gets a number.

    >>> column_names(["text", "", "text"])
    ['text', 'column_2', 'text_2']
    """
    cells = [cell.strip() for cell in header]
    names: list[str] = []
    taken = set(cells)
    times: Counter[str] = Counter()
    for number, cell in enumerate(cells, start=1):
        name = cell
        times[cell] += 1
        if not cell or times[cell] > 1:
            again = times[cell] if cell else number
            while (name := f"{cell or 'column'}_{again}") in taken:
                again += 1
            taken.add(name)
            times[cell] = again
        names.append(name)
    return names


def unreadable(rows: Rows, encoding: str | None) -> list[BadRow]:
    """The rows that are not Unicode text; `encoding` is the one their bytes were read in."""
    bad: list[BadRow] = []
    for line, cells in zip(*rows, strict=True):
        for cell in cells:
            text = "".join(cell or ())
            if lone := _LONE.search(text):
                shown = text[max(0, lone.start() - 40) :]
                bad.append(BadRow.of(line, _not_unicode(lone[0], encoding), shown))
                break
    return bad


def _not_unicode(lone: str, encoding: str | None) -> str:
    code = ord(lone)
    if encoding is None or not _is_byte(lone):
        return f"half a character (lone surrogate U+{code:04X})"
    name = encoding.removesuffix("-sig")
    advice = "name the encoding of the file, such as encoding='cp1252' (--encoding cp1252)"
    return f"byte 0x{code - 0xDC00:02x} is not {name}; {advice}"


def _is_byte(lone: str) -> bool:
    """Whether a lone surrogate stands for a byte that could not be decoded."""
    return "\udc00" <= lone <= "\udcff"


def _spelled(lone: re.Match[str]) -> str:
    code = ord(lone[0])
    return f"\\x{code - 0xDC00:02x}" if _is_byte(lone[0]) else f"\\u{code:04x}"
