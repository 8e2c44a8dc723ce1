"""CSV and TSV as spreadsheets really write them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from threading import Lock

from coterie.errors import InputError
from coterie.text.readers.bytes import HEAD_BYTES, PeekableBytes, as_text, encoding_of
from coterie.text.readers.source import BadRow, Options, Row, Table

DELIMITERS = (",", ";", "\t", "|")
#: Largest cell. A quote that is never closed would otherwise read the whole file into one cell.
MAX_CELL = 1 << 24

_limit_lock = Lock()


def read_csv(stream: PeekableBytes, options: Options, place: str) -> Table:
    """A CSV file; its delimiter is told from the first lines."""
    return _read(stream, options, place, options.delimiter)


def read_tsv(stream: PeekableBytes, options: Options, place: str) -> Table:
    """A file whose cells are separated by tabs."""
    return _read(stream, options, place, options.delimiter or "\t")


def _read(stream: PeekableBytes, options: Options, place: str, delimiter: str | None) -> Table:
    encoding = options.encoding or encoding_of(stream.head())
    head = stream.head().decode(encoding, "replace")
    lines = _Lines(as_text(stream, encoding), place)
    first = head.splitlines()[0] if head else ""
    if first.lower().startswith("sep=") and len(first) == 5:  # Excel's own way to tell the delimiter
        next(lines)
        delimiter = delimiter or first[4]
    delimiter = delimiter or guess_delimiter(head)
    if len(delimiter) != 1:
        raise InputError(f"delimiter must be one character, got {delimiter!r}")
    records = _records(lines, delimiter)
    if not options.header:
        return _without_header(records)
    for row in records:
        if isinstance(row, BadRow):
            raise InputError(f"{place}, {row}")
        names = column_names([str(cell) for cell in row.cells])
        return Table(names, _of_width(records, len(names)))
    raise InputError(f"{place} is empty")


def _without_header(records: Iterator[Row | BadRow]) -> Table:
    first = next(records)
    width = len(first.cells) if isinstance(first, Row) else 1

    def all_rows() -> Iterator[Row | BadRow]:
        yield first
        yield from records

    return Table([f"column_{i + 1}" for i in range(width)], _of_width(all_rows(), width))


def column_names(header: list[str]) -> list[str]:
    """Names that differ: an empty one is called by its number, a repeated one gets a number.

    >>> column_names(["text", "", "text"])
    ['text', 'column_2', 'text_2']
    """
    names: list[str] = []
    taken = set(header)
    for number, cell in enumerate(header, start=1):
        wanted = name = cell.strip() or f"column_{number}"
        again = 1
        while name in names or (again > 1 and name in taken):
            again += 1
            name = f"{wanted}_{again}"
        names.append(name)
    return names


class _Lines:
    """Lines of a text, with a mark when the end was reached."""

    def __init__(self, text: io.TextIOWrapper, place: str):
        self._text = text
        self._place = place
        self.ended = False
        self.number = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        try:
            line = self._text.readline(MAX_CELL)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self._place}, line {self.number + 1}: not {error.encoding}: {error.reason}"
            ) from error
        if not line:
            self.ended = True
            raise StopIteration
        self.number += 1
        return line


def _records(lines: _Lines, delimiter: str) -> Iterator[Row | BadRow]:
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        begins = lines.number + 1
        try:
            record = _next_record(reader)
        except csv.Error as error:
            yield BadRow(begins, f"a cell cannot be read ({error})")
            continue
        if record is None:
            return
        if lines.ended:  # the reader asked for more lines while inside a cell
            yield BadRow(begins, "a quoted cell is never closed", record[-1])
            return
        yield Row(begins, record)


def _next_record(reader: Iterator[list[str]]) -> list[str] | None:
    # The limit on cells belongs to the process: it is raised for this one row and put back.
    with _limit_lock:
        before = csv.field_size_limit(MAX_CELL)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)


def _of_width(records: Iterator[Row | BadRow], width: int) -> Iterator[Row | BadRow]:
    """Rows with just so many cells. Blank lines are none, except in a file of one column."""
    for row in records:
        if isinstance(row, BadRow) or len(row.cells) == width:
            yield row
        elif not row.cells:
            if width == 1:
                yield Row(row.line, [""])
        elif len(row.cells) > width and not any(row.cells[width:]):
            yield Row(row.line, row.cells[:width])  # spreadsheets write empty cells to the right of a table
        else:
            yield BadRow(
                row.line,
                f"{len(row.cells)} cells where there are {width} columns",
                " | ".join(map(str, row.cells)),
            )


def guess_delimiter(head: str) -> str:
    """The character that cuts the first rows into the same number of cells, more than one.

    >>> guess_delimiter('name;text\\nAnn;"well, yes"\\n')
    ';'
    """
    return max(DELIMITERS, key=lambda candidate: _evenness(head, candidate))


def looks_like_a_table(head: bytes) -> bool:
    """Whether some delimiter cuts all of the first rows alike."""
    text = head.decode(encoding_of(head), "replace")
    return max(_evenness(text, candidate)[0] for candidate in DELIMITERS) > 0.9


def _evenness(head: str, delimiter: str) -> tuple[float, int]:
    """Share of the first rows that have the commonest number of cells, if above one; and that number."""
    rows = head.splitlines(keepends=True)
    whole = rows[:-1] if len(head) > HEAD_BYTES // 4 else rows  # of a long file the last may be cut off
    try:
        widths = [len(record) for record in csv.reader(whole[:200], delimiter=delimiter) if record]
    except csv.Error:
        return 0.0, 0
    if not widths:
        return 0.0, 0
    width, times = Counter(widths).most_common(1)[0]
    # the header must have that width too: prose with commas does not
    return (times / len(widths) if width > 1 and widths[0] == width else 0.0), width
