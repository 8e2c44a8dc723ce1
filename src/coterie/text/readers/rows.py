"""Shared by all formats: rows, bad rows, tables, and the batches that users see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from coterie.errors import InputError
from coterie.text.readers.bytes import MAX_BYTES

#: Most columns of a table; the limit of an Excel sheet.
MAX_COLUMNS = 16_384
#: How many characters of a bad row are kept for messages.
_SHOWN = 200

_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that could not be read: its first line, the reason, and its content."""

    line: int
    reason: str
    value: str = ""

    @classmethod
    def of(cls, line: int, reason: str, value: str) -> BadRow:
        """A bad row with the beginning of its content, escaped so that it can be printed anywhere."""
        return cls(line, reason, _LONE.sub(_spelled, value[:_SHOWN].rstrip("\r\n")))

    def __str__(self) -> str:
        shown = f": {self.value[:80]!r}" if self.value else ""
        return f"line {self.line}: {self.reason}{shown}"


class Rows(NamedTuple):
    """Consecutive rows that could be read: the line each starts on, and its cells."""

    lines: Sequence[int]
    cells: Sequence[list[Any]]

    def without(self, lines: set[int]) -> Rows:
        """The rows that do not start on one of the lines."""
        kept = [i for i, line in enumerate(self.lines) if line not in lines]
        return Rows([self.lines[i] for i in kept], [self.cells[i] for i in kept])


@dataclass
class Table:
    """Column names, to which more may be added while rows are read, and the rows.

    Cells are strings, or None if a row lacks the column; in the text column of a `tokenised` table they are
    lists of strings. Bytes that are invalid in the `encoding` are lone surrogates.
    """

    columns: Collection[str]
    rows: Iterator[Rows | BadRow]
    encoding: str | None = None
    tokenised: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows: the texts, the whole table, and the line each row starts on."""

    texts: pl.Series
    table: pl.DataFrame
    lines: Sequence[int]


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a file; what is None is detected."""

    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True
    max_bytes: int = MAX_BYTES


def table_of(
    rows: Iterator[Rows | BadRow], header: bool, source_name: str, encoding: str | None = None
) -> Table:
    """A table whose first non-blank row names the columns, or with numbered columns."""
    line, first, rest = _first(rows, source_name)
    if len(first) > MAX_COLUMNS:
        raise InputError(
            f"{source_name}, line {line}: {len(first):,} cells, but a table can have at most "
            f"{MAX_COLUMNS:,}; is the delimiter right?"
        )
    if not header:
        names = [f"column_{i + 1}" for i in range(len(first))]
        return Table(names, chain([Rows([line], [first]), rest], rows), encoding)
    for bad in unreadable(Rows([line], [first]), encoding):
        raise InputError(f"{source_name}, {bad}")
    return Table(column_names(first), chain([rest], rows), encoding)


def _first(rows: Iterator[Rows | BadRow], source_name: str) -> tuple[int, list[str], Rows]:
    """The first non-blank row: its line, its cells, and the rows read together with it."""
    for run in rows:
        if isinstance(run, BadRow):  # without the first row, the number of columns is unknown
            raise InputError(f"{source_name}, {run}")
        for i, cells in enumerate(run.cells):
            if cells:
                return run.lines[i], cells, Rows(run.lines[i + 1 :], run.cells[i + 1 :])
    raise InputError(f"{source_name} is empty")


def column_names(header: list[str]) -> list[str]:
    """Unique names: an empty one becomes its number, a repeated one gets a number.

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
    """The rows that are not valid Unicode; `encoding` is the one their bytes were decoded with."""
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
    advice = "specify the encoding of the file, for example encoding='cp1252' (--encoding cp1252)"
    return f"byte 0x{code - 0xDC00:02x} is not valid {name}; {advice}"


def _is_byte(lone: str) -> bool:
    """Whether a lone surrogate stands for a byte that could not be decoded."""
    return "\udc00" <= lone <= "\udcff"


def _spelled(lone: re.Match[str]) -> str:
    code = ord(lone[0])
    return f"\\x{code - 0xDC00:02x}" if _is_byte(lone[0]) else f"\\u{code:04x}"
