"""Read CSV and TSV files as spreadsheets really write them."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import dropwhile
from operator import not_
from threading import Lock

from coterie.errors import InputError
from coterie.text.inputs import plain_name
from coterie.text.readers.bytes import HEAD_BYTES, MAX_LINE, PIECE, Lines
from coterie.text.readers.headers import header_at, table_of
from coterie.text.readers.rows import BadRow, Options, Rows, Table

DELIMITERS = (",", ";", "\t", "|")
#: Longest row. Otherwise a quote that is never closed would swallow the whole file.
MAX_ROW = MAX_LINE

_SEP_LINE = re.compile(r"sep=([^\r\n\"])[\r\n]", re.IGNORECASE)  # Excel's way to state the delimiter
_limit_lock = Lock()


def delimiter_of(lines: Lines, options: Options, tabs: bool) -> str:
    """The delimiter that was given, else the one that the first line states or the first lines show."""
    stated = _SEP_LINE.match(lines.head)
    guessed = stated[1] if stated else "\t" if tabs else guess_delimiter(lines.head)
    return options.delimiter or guessed


def read_table(lines: Lines, options: Options, delimiter: str, column: str | None = None) -> Table:
    """A file whose cells are separated by a delimiter."""
    rows = _rows(lines, delimiter, skip=1 if _SEP_LINE.match(lines.head) else 0)
    table = table_of(rows, options, column, lines.source_name, lines.encoding)
    return replace(table, rows=_of_width(table.rows, len(table.columns)))


def _rows(lines: Lines, delimiter: str, skip: int) -> Iterator[Rows | BadRow]:
    """Rows of a file after the first `skip` lines.

    If a row cannot be read, only its first line is skipped; the next line starts a new row.
    """
    waiting = deque(lines.take()[skip:])
    number, reread, ended = 1 + skip, 0, False
    while waiting:
        rows, used, seen = _parse(waiting, delimiter, number)
        yield rows
        number += used
        at_end = seen == len(waiting)
        for _ in range(used):
            waiting.popleft()
        length = sum(map(len, waiting)) if at_end else 0
        if at_end and not ended and length < MAX_ROW:
            more = lines.take(
                max(length, PIECE)
            )  # twice as much each time, so that long rows are not parsed too often
            waiting += more
            ended = not more
        elif waiting:
            reread += seen - used
            if reread > 1_000_000 + 20 * number:
                raise InputError(
                    f"{lines.source_name}, line {number}: unbalanced quotes, so the end of the row is unclear"
                )
            line = waiting.popleft()
            cells = _one_line(line, delimiter) if seen - used == 1 else None
            yield Rows([number], [cells]) if cells else BadRow.of(number, _why(at_end, length), line)
            number += 1


def _why(at_end: bool, length: int) -> str:
    if length >= MAX_ROW:
        return f"a quoted cell has no closing quote within {MAX_ROW:,} characters"
    return "a quoted cell has no closing quote" if at_end else "a quote inside a quoted cell is not doubled"


def _parse(lines: Iterable[str], delimiter: str, number: int) -> tuple[Rows, int, int]:
    """Rows up to the first that fails, the number of lines they used, and the number of lines read."""
    numbers: list[int] = []
    rows: list[list[str]] = []
    used = 0
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    with _long_cells(), suppress(csv.Error):  # in the row that begins after the lines used
        for cells in reader:
            rows.append(cells)
            numbers.append(number + used)
            used = reader.line_num
    return Rows(numbers, rows), used, reader.line_num


def _one_line(line: str, delimiter: str) -> list[str] | None:
    """Cells of a line with text after a closing quote, read as Excel does; None if a quote stays open."""
    with _long_cells():
        reader = csv.reader([line, "\n"], delimiter=delimiter)
        cells = next(reader)
    return cells if reader.line_num == 1 else None


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allow cells as long as lines. The limit is global to the process, so it is restored at once."""
    with _limit_lock:
        before = csv.field_size_limit(4 * MAX_ROW)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _of_width(rows: Iterator[Rows | BadRow], width: int) -> Iterator[Rows | BadRow]:
    for run in rows:
        if isinstance(run, BadRow) or set(map(len, run.cells)) <= {width}:
            yield run
        else:
            for line, cells in zip(*run, strict=True):
                yield _fitted(line, cells, width)


def _fitted(line: int, cells: list[str], width: int) -> Rows | BadRow:
    """A row with exactly `width` cells. Blank lines are skipped, except in a file with one column."""
    if not cells:
        return Rows([line], [[""]]) if width == 1 else Rows([], [])
    # spreadsheets write empty cells to the right of a table
    if len(cells) >= width and not any(cells[width:]):
        return Rows([line], [cells[:width]])
    reason = f"expected {width} cells, found {len(cells)}"
    return BadRow.of(line, reason, " | ".join(cells))


def guess_delimiter(head: str) -> str:
    """The character that splits the first rows into equal numbers of cells, more than one; else a comma.

    >>> guess_delimiter('name;text\\nAnn;"well, yes"\\n')
    ';'
    """
    return max(DELIMITERS, key=lambda candidate: _evenness(head, candidate))


def looks_like_a_table(head: str) -> bool:
    """Whether some delimiter cuts nearly all of the first rows alike."""
    rows = len(head.splitlines())  # a single one may be a sentence
    return rows > 1 and max(_evenness(head, candidate) for candidate in DELIMITERS) > (0.9, 0)


def names_column(head: str, column: str | None) -> bool:
    """Whether the first rows are those of a table with a column of this name.

    >>> names_column("id;text\\n1;late parcel\\n", "text"), names_column("text\\nlate parcel\\n", "text")
    (True, False)
    """
    if column is None:
        return False
    delimiter = guess_delimiter(head)
    share, width = _evenness(head, delimiter)
    if not share or width < 2:
        return False
    rows = _first_rows(head, delimiter)
    return plain_name(column) in map(plain_name, rows[header_at(rows, column)])


def is_surely_a_table(head: str) -> bool:
    """Whether even a file that could be prose is a table: its rows have tabs, or several cells each."""
    delimiter = guess_delimiter(head)
    share, width = _evenness(head, delimiter)
    rows = len(_first_rows(head, delimiter))
    return share > 0.95 and rows > 2 and (width > 3 or (delimiter != "," and width > 1))


def _evenness(head: str, delimiter: str) -> tuple[float, int]:
    """Share of the first rows that have as many cells as the column names, and how many; 0 if only one."""
    rows = _first_rows(head, delimiter)
    rows = rows[header_at(rows) :]
    if not rows or len(rows[0]) == 1:  # prose may have commas, but column names have delimiters
        return 0.0, 0
    widths = [len(cells) for cells in rows if cells]
    return widths.count(widths[0]) / len(widths), widths[0]


def _first_rows(head: str, delimiter: str) -> list[list[str]]:
    """The first rows, from the first that is not blank."""
    lines = io.StringIO(head, newline="").readlines()
    whole = lines[:-1] if len(head) > HEAD_BYTES // 4 else lines  # of a long file the last may be cut off
    return list(dropwhile(not_, _parse(whole[:200], delimiter, 1)[0].cells))
