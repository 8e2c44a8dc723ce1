"""Find the row with the column names: exports often have a title, a date or a filter above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from coterie.errors import InputError
from coterie.text.inputs import plain_name
from coterie.text.readers.rows import MAX_COLUMNS, BadRow, NoRows, Options, Rows, Table, unreadable

#: Rows that are looked at, and most of them that can stand above the column names.
_LOOK_AHEAD, _MOST_ABOVE = 200, 30
#: Characters that are looked at, and rows passed on together.
_MOST_CHARACTERS, _RUN = 1 << 20, 32
#: The share of columns that have names below a title.
_NAMED = 0.7
#: The share of rows below the column names that have as many cells.
_ALIKE = 0.8


class _Row(NamedTuple):
    line: int
    cells: list[str]


def table_of(
    rows: Iterator[Rows | BadRow],
    options: Options,
    column: str | None,
    source_name: str,
    encoding: str | None = None,
) -> Table:
    """A table whose columns are named by the row that looks like it, or with numbered columns."""
    first, ahead = _ahead(rows, options.header_row or 1)
    if first is None:
        raise NoRows(f"{source_name} is empty")
    if isinstance(first, BadRow):  # without the first row, the number of columns is unknown
        raise InputError(f"{source_name}, {first}")
    found = [row for row in ahead if isinstance(row, _Row)]
    chosen = _chosen(found, options, column, source_name)
    line, names = found[chosen]
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"{source_name}, line {line}: {len(names):,} cells, but a table can have at most "
            f"{MAX_COLUMNS:,}; is the delimiter right?"
        )
    if not options.header:
        numbered = [f"column_{i + 1}" for i in range(len(names))]
        return Table(numbered, chain(_as_runs(ahead), rows), encoding)
    for bad in unreadable(Rows([line], [names]), encoding):
        raise InputError(f"{source_name}, {bad}")
    below = ahead[ahead.index(found[chosen]) + 1 :]
    above = sum(any(row.cells) for row in found[:chosen])
    return Table(column_names(names), chain(_as_runs(below), rows), encoding, header_row=line, above=above)


def _ahead(
    rows: Iterator[Rows | BadRow], header_row: int
) -> tuple[_Row | BadRow | None, list[_Row | BadRow]]:
    """The first row that is not blank, and the first rows from there on."""
    first: _Row | BadRow | None = None
    ahead: list[_Row | BadRow] = []
    read = 0
    for run in rows:
        for row in [run] if isinstance(run, BadRow) else map(_Row, *run):
            first = first or (row if isinstance(row, BadRow) or row.cells else None)
            if first is not None:
                ahead.append(row)
                read += 0 if isinstance(row, BadRow) else sum(map(len, row.cells))
        enough = len(ahead) >= _LOOK_AHEAD or read > _MOST_CHARACTERS
        if enough and ahead[-1].line >= header_row:
            break
    return first, ahead


def _as_runs(rows: Iterable[_Row | BadRow]) -> Iterator[Rows | BadRow]:
    """Rows as they came, those between two bad ones together."""
    lines: list[int] = []
    cells: list[list[str]] = []
    for row in rows:
        if isinstance(row, BadRow):
            yield Rows(lines, cells)
            yield row
            lines, cells = [], []
        else:
            lines.append(row.line)
            cells.append(row.cells)
            if len(lines) == _RUN:
                yield Rows(lines, cells)
                lines, cells = [], []
    yield Rows(lines, cells)


def _chosen(found: Sequence[_Row], options: Options, column: str | None, source_name: str) -> int:
    if not options.header:
        return 0
    if options.header_row is None:
        return header_at([row.cells for row in found], column)
    for number, row in enumerate(found):
        if row.line == options.header_row and row.cells:
            return number
    raise InputError(
        f"{source_name} has no row with column names in line {options.header_row:,}; "
        f"its first row is in line {found[0].line:,}"
    )


def header_at(rows: Sequence[list[str]], column: str | None = None) -> int:
    """The index of the row with the column names: the first, unless that belongs to a title.

    A title fills few cells of a table with three columns or more, and it has several words or a blank row
    below it. If the column of the texts is known, its name tells.

    >>> header_at([["Exported by Helpdesk"], [], ["id", "team", "subject"], ["1", "a", "late parcel"]])
    2
    """
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows[: _MOST_ABOVE + 1]]
    if column is not None:
        for number, row in enumerate(rows[: len(filled)]):
            if plain_name(column) in map(plain_name, row):
                return number if filled[number] > max(filled[:number], default=0) else 0
    widths = Counter(_width(row) for row in rows if any(row))
    # the widest of those that are as frequent
    wide = max(widths, key=lambda width: (widths[width], width), default=0)
    title = 0
    while title < len(filled) and filled[title] <= max(wide // 2, 1):
        title += 1
    if not title or title == len(filled) or not _is_title(rows[:title], wide):
        return 0
    if filled[title] < _NAMED * wide:
        return 0
    below = [row for row in rows[title + 1 :] if row]
    alike = sum(len(row) == len(rows[title]) for row in below)
    return title if below and alike >= _ALIKE * len(below) else 0


def _width(row: Sequence[str]) -> int:
    return max((number for number, cell in enumerate(row, start=1) if cell.strip()), default=0)


def _is_title(rows: Sequence[Sequence[str]], wide: int) -> bool:
    blank = any(not any(map(str.strip, row)) for row in rows)
    words = any(" " in cell.strip() for cell in rows[0])
    return blank or (words and wide > 2)


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
