"""The reader of all formats: rows in, batches of texts out, bad rows told or counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import polars as pl

from coterie.errors import InputError
from coterie.text.inputs import choose_column, text_column
from coterie.text.readers.bytes import PeekableBytes, find, gzip_faults, is_empty, open_bytes, refuse_binary

Format = Literal["csv", "tsv", "jsonl", "parquet", "xlsx", "lines"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "parquet", "xlsx", "lines")

#: Rows read at a time.
BATCH_ROWS = 20_000
#: Bad rows that are kept for telling; all are counted.
KEPT_BAD_ROWS = 20


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that could not be read: the line it begins on, why, and how it looks."""

    line: int
    reason: str
    value: str = ""

    def __str__(self) -> str:
        shown = f": {self.value[:80]!r}" if self.value else ""
        return f"line {self.line}: {self.reason}{shown}"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file: its cells by column, and the line it begins on."""

    line: int
    cells: Sequence[Any]


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


@dataclass
class Table:
    """What a format makes of a stream: names of columns, and rows or bad rows as they come."""

    columns: Sequence[str]
    rows: Iterator[Row | BadRow]


@dataclass
class TextSource:
    """The texts of a file, batch by batch; may be gone through more than once unless it is a stream.

    `skipped` counts the bad rows left out and `bad_rows` holds the first of them; both begin anew with
    each pass.
    """

    path: str | Path
    column: str | None = None
    format: Format | None = None
    options: Options = field(default_factory=Options)
    skip_bad: bool = False
    batch_rows: int = BATCH_ROWS
    skipped: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)

    def __iter__(self) -> Iterator[Batch]:
        self.skipped, self.bad_rows = 0, []
        found = find(self.path)
        with gzip_faults(self.path), open_bytes(found) as stream:
            if is_empty(stream):
                raise InputError(f"{self.path} is empty")
            format_ = self.format or guess_format(self.path, stream)
            if format_ in ("parquet", "xlsx"):
                from coterie.text.readers import columnar

                yield from columnar.batches(format_, found, self)
                return
            refuse_binary(stream.head(), str(self.path))
            yield from self._batches(_reader(format_)(stream, self.options, str(self.path)))

    def _batches(self, table: Table) -> Iterator[Batch]:
        good = self._good(table.rows)
        chosen: str | None = None
        while rows := list(islice(good, self.batch_rows)):
            # JSON lines may name columns that no line before them had
            names = list(table.columns)
            chosen = chosen or choose_column(names, self.column, str(self.path))
            yield from self._batch(rows, names, chosen)
        if chosen is None:
            choose_column(list(table.columns), self.column, str(self.path))
            if not self.skipped:
                raise InputError(f"{self.path} has column names but no rows")
            raise InputError(
                f"{self.path} has no row that can be read; the first bad one is {self.bad_rows[0]}"
            )

    def _batch(self, rows: list[Row], names: list[str], chosen: str) -> Iterator[Batch]:
        try:
            yield make_batch(rows, names, chosen)
        except UnicodeEncodeError:
            rows = list(self._good(iter([_checked(row) for row in rows])))
            if rows:
                yield make_batch(rows, names, chosen)

    def _good(self, rows: Iterator[Row | BadRow]) -> Iterator[Row]:
        """Rows that can be used; a bad one is counted, or raised if bad rows are not to be skipped."""
        for row in rows:
            if isinstance(row, Row):
                yield row
            else:
                self.reject(row)

    def reject(self, row: BadRow) -> None:
        """Count a bad row, or raise if bad rows are not to be skipped."""
        if not self.skip_bad:
            raise InputError(f"{self.path}, {row}; mend the file, or skip such rows with skip_bad=True")
        self.skipped += 1
        if len(self.bad_rows) < KEPT_BAD_ROWS:
            self.bad_rows.append(row)


def read_texts(
    path: str | Path,
    column: str | None = None,
    *,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    skip_bad: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> TextSource:
    """The texts of a file, read in batches of bounded memory.

    Parameters
    ----------
    path
        A file, plain or gzip, or "-" for standard input.
    column
        Name of the column that holds the texts; may be left out where there is only one.
    format
        csv, tsv, jsonl, parquet, xlsx or lines; told from the name and the content if not given.
    encoding, delimiter
        Told from the content if not given: UTF-8, or UTF-16 and UTF-32 by their byte order mark.
    header
        Whether the first row of a CSV or TSV file names the columns; else they are column_1, column_2 …
    skip_bad
        Leave out rows that cannot be read and count them in `TextSource.skipped`, instead of stopping
        at the first with an error.

    Examples
    --------
    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tickets.csv"
    >>> _ = file.write_text("id;subject\\n1;Refund, please\\n2;Broken kettle\\n")
    >>> [batch.texts.to_list() for batch in read_texts(file, "subject")]
    [['Refund, please', 'Broken kettle']]
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    if batch_rows < 1:
        raise InputError(f"batch_rows must be at least 1, got {batch_rows!r}")
    return TextSource(path, column, format, Options(encoding, delimiter, header), skip_bad, batch_rows)


def guess_format(path: str | Path, stream: PeekableBytes) -> Format:
    """The format by the name of the file, else by its first bytes."""
    from coterie.text.readers import delimited

    head = stream.head()
    for magic, format_ in ((b"PAR1", "parquet"), (b"PK\x03\x04", "xlsx")):
        if head.startswith(magic):
            return format_  # type: ignore[return-value]
    suffixes = [suffix.lower() for suffix in Path(str(path)).suffixes if suffix.lower() != ".gz"]
    by_name: dict[str, Format] = {
        ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
        ".txt": "lines", ".text": "lines", ".log": "lines", ".parquet": "parquet", ".pq": "parquet",
        ".xlsx": "xlsx",
    }  # fmt: skip
    if suffixes and suffixes[-1] in by_name:
        return by_name[suffixes[-1]]
    if head.lstrip()[:1] == b"{":
        return "jsonl"
    return "csv" if delimited.looks_like_a_table(head) else "lines"


def _reader(format_: Format) -> Callable[[PeekableBytes, Options, str], Table]:
    from coterie.text.readers import delimited, lines

    readers: dict[Format, Callable[[PeekableBytes, Options, str], Table]] = {
        "csv": delimited.read_csv,
        "tsv": delimited.read_tsv,
        "jsonl": lines.read_jsonl,
        "lines": lines.read_lines,
    }
    return readers[format_]


def make_batch(rows: Sequence[Row], names: list[str], chosen: str) -> Batch:
    """A batch from rows of Python values; a row may have fewer cells than there are columns by now."""
    width = len(names)
    cells = [
        row.cells if len(row.cells) == width else [*row.cells, *[None] * (width - len(row.cells))]
        for row in rows
    ]
    columns = dict(zip(names, zip(*cells, strict=True), strict=True))
    texts = columns[chosen]
    tokenised = all(isinstance(text, list) for text in texts)
    table = pl.DataFrame(
        {name: pl.Series([_cell(v) for v in values], dtype=pl.String) for name, values in columns.items()}
        if any(not isinstance(v, str) for values in columns.values() for v in values)
        else {name: pl.Series(values, dtype=pl.String) for name, values in columns.items()}
    )
    series = pl.Series(texts, dtype=pl.List(pl.String)) if tokenised else table[chosen]
    return Batch(text_column(series).rename(chosen), table, [row.line for row in rows])


def _cell(value: Any) -> str | None:
    """How a value of JSON looks in a table of texts."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _checked(row: Row) -> Row | BadRow:
    """A row, or why it is not Unicode text."""
    for cell in row.cells:
        text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
        lone = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
        if lone is not None:
            shown = text.encode("utf-8", "surrogateescape" if lone in _ESCAPED else "surrogatepass")
            return BadRow(row.line, _not_unicode(lone), shown.decode("utf-8", "backslashreplace"))
    return row


#: How Python stands for bytes 0x80 … 0xff that are not UTF-8.
_ESCAPED = frozenset(map(chr, range(0xDC80, 0xDD00)))


def _not_unicode(lone: str) -> str:
    if lone in _ESCAPED:
        byte = ord(lone) - 0xDC00
        return f"byte 0x{byte:02x} is not UTF-8; is the file in another encoding, such as cp1252?"
    return f"half a character (lone surrogate U+{ord(lone):04X})"
