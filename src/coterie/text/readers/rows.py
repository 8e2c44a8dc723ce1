"""Shared by all formats: rows, bad rows, tables, and the batches that users see."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import polars as pl

from coterie.errors import InputError
from coterie.text.readers.bytes import MAX_BYTES

#: Most columns of a table; the limit of an Excel sheet.
MAX_COLUMNS = 16_384
#: How many characters of a bad row are kept.
CONTENT = 1_000

_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that could not be read: its first line, the reason, and its content.

    Of a JSON array, `line` is the number of the record, as `unit` says. `file` is where the row stands if
    several files are read.
    """

    line: int
    reason: str
    value: str = ""
    unit: str = "line"
    file: str = ""

    @classmethod
    def of(cls, line: int, reason: str, value: str) -> BadRow:
        """A bad row with the beginning of its content, escaped so that it can be printed anywhere."""
        return cls(line, reason, _LONE.sub(_spelled, value[:CONTENT].rstrip("\r\n")))

    def __str__(self) -> str:
        shown = f": {self.value[:80]!r}" if self.value else ""
        where = f"{self.file}, " if self.file else ""
        return f"{where}{self.unit} {self.line}: {self.reason}{shown}"


class NoRows(InputError):
    """A file has no rows; one of several may have none."""


class Rows(NamedTuple):
    """Consecutive rows that could be read: the line each starts on, and its cells."""

    lines: Sequence[int]
    cells: Sequence[list[Any]]

    def without(self, lines: set[int]) -> Rows:
        """The rows that do not start on one of the lines."""
        return self._where([line not in lines for line in self.lines])

    def before(self, line: int) -> Rows:
        """The rows that start before a line."""
        return self._where([at < line for at in self.lines])

    def _where(self, kept: Sequence[bool]) -> Rows:
        return Rows(list(compress(self.lines, kept)), list(compress(self.cells, kept)))


@dataclass
class Table:
    """Column names, to which more may be added while rows are read, and the rows.

    Cells are strings, or None if a row lacks the column; in the text column of a `tokenised` table they are
    lists of strings. Bytes that are invalid in the `encoding` are lone surrogates. The names are in line
    `header_row`, and `above` rows over it were left out.
    """

    columns: Collection[str]
    rows: Iterator[Rows | BadRow]
    encoding: str | None = None
    tokenised: bool = False
    header_row: int | None = None
    above: int = 0
    unit: str = "line"


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of a file: the texts, the whole table, and the line each row starts on.

    `file` is the name of the file if several are read.
    """

    texts: pl.Series
    table: pl.DataFrame
    lines: Sequence[int]
    file: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a file; what is None is detected."""

    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True
    max_bytes: int = MAX_BYTES
    sheet: str | int | None = None
    header_row: int | None = None


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
    return f"byte 0x{code - 0xDC00:02x} is not valid {name}; the file has another encoding, or is damaged"


def _is_byte(lone: str) -> bool:
    """Whether a lone surrogate stands for a byte that could not be decoded."""
    return "\udc00" <= lone <= "\udcff"


def _spelled(lone: re.Match[str]) -> str:
    code = ord(lone[0])
    return f"\\x{code - 0xDC00:02x}" if _is_byte(lone[0]) else f"\\u{code:04x}"
