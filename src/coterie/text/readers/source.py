"""The reader for all formats: batches of texts; bad rows are reported or counted."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from coterie.errors import InputError, shown
from coterie.storage.files import spelled
from coterie.text.columns import SEEN, guess_text
from coterie.text.inputs import choose_column, is_unicode, listed, text_column
from coterie.text.nulls import without_nulls
from coterie.text.readers import columnar, delimited, lines, records
from coterie.text.readers.bytes import (
    MAX_BYTES,
    PACKED,
    Lines,
    PeekableBytes,
    find,
    on_disk,
    open_bytes,
    refuse_binary,
    reported_faults,
)
from coterie.text.readers.encodings import check_encoding, detected, encoding_of, spoken
from coterie.text.readers.formats import FORMATS, Format, guess_format, packed_format
from coterie.text.readers.rows import BadRow, Batch, Options, Rows, Table, unreadable
from coterie.text.tables import can_be_texts

#: Rows in a batch; fewer if they have more characters or cells than this.
BATCH_ROWS = 20_000
BATCH_CHARS = BATCH_CELLS = 1 << 23
#: Bad rows kept for messages; all are counted.
KEPT_BAD_ROWS = 20


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was decided while a file was read, and the option that decides otherwise."""

    fact: str
    option: str

    def __str__(self) -> str:
        return self.fact


@dataclass
class Layout:
    """How a file is laid out, once its first rows were read; what a format does not have is None."""

    format: Format
    encoding: str | None = None
    delimiter: str | None = None
    sheets: list[str] = field(default_factory=list)
    sheet: str | None = None
    header_row: int | None = None
    column: str | None = None


@dataclass
class TextSource:
    """The texts of a file, batch by batch; can be iterated repeatedly unless it is a stream.

    `skipped` counts the bad rows that were skipped and `bad_rows` lists the first of them; `layout` is how
    the file is laid out, and `notes` say what had to be decided. All are set anew by each pass.
    """

    path: str | Path
    column: str | None = None
    format: Format | None = None
    options: Options = field(default_factory=Options)
    skip_bad: bool = False
    batch_rows: int = BATCH_ROWS
    skipped: int = 0
    bad_rows: list[BadRow] = field(default_factory=list)
    layout: Layout | None = None
    notes: list[Note] = field(default_factory=list)

    @property
    def source_name(self) -> str:
        """The name of the source in messages."""
        # a name that is not UTF-8, as from an old archive, is spelled
        return "standard input" if str(self.path) == "-" else spelled(self.path)

    def plain_bytes(self) -> int | None:
        """The size of a plain file; None if it is compressed, or a stream."""
        path = Path(self.path)
        if str(path) == "-" or not path.is_file():
            return None
        with path.open("rb") as file:
            return None if file.read(4).startswith(PACKED) else path.stat().st_size

    def __iter__(self) -> Iterator[Batch]:
        self.skipped, self.bad_rows, self.notes, self.layout = 0, [], [], None
        with reported_faults(self.source_name), open_bytes(find(self.path), self.options.max_bytes) as stream:
            head = stream.head()
            if not head:
                before = ", or has already been read" if str(self.path) == "-" else ""
                raise InputError(f"{self.source_name} is empty{before}")
            format_ = self.format or packed_format(self.path, head)
            if format_ in ("parquet", "xlsx"):
                self.layout = Layout(format_)
                with on_disk(self.path, stream) as file:
                    yield from self._parsed(file, self.layout)
                return
            refuse_binary(head, self.source_name, self.options.encoding)
            encoding = self.options.encoding or self._encoding(head)
            with Lines(stream, encoding, self.source_name) as text:
                format_ = self.format or guess_format(self.path, text.head, self.options, self.column)
                self.layout = Layout(format_, text.encoding)
                yield from self.batches_of(self._table(text, self.layout), self.layout, text)

    def _encoding(self, head: bytes) -> str:
        """Detect the encoding of a file from its bytes; of a stream, only the first bytes can be examined."""
        encoding = encoding_of(head)
        if encoding == "utf-8-sig":
            again = str(self.path) != "-" and Path(self.path).is_file()
            with open_bytes(self.path, self.options.max_bytes) if again else _bytes(head) as stream:
                encoding = detected(stream, head)
        if name := spoken(encoding):
            self.notes.append(Note(f"the text encoding is {name}", "--encoding sets another"))
        return encoding

    def _parsed(self, file: Path, layout: Layout) -> Iterator[Batch]:
        if layout.format == "parquet":
            limits = self.batch_rows, self.options.max_bytes, self.source_name
            return columnar.parquet_batches(file, self._choose_typed, *limits)
        table, layout.sheets, layout.sheet = columnar.read_xlsx(
            file, self.options, self.column, self.batch_rows, self.source_name
        )
        if len(layout.sheets) > 1 and self.options.sheet is None:
            others = f"{len(layout.sheets) - 1} other sheet{'s' if len(layout.sheets) > 2 else ''}"
            fact = f"reading the sheet {layout.sheet[:60]!r}, which has more text than {others}"
            self.notes.append(Note(fact, "--sheet NAME reads another"))
        return self.batches_of(table, layout)

    def _table(self, text: Lines, layout: Layout) -> Table:
        if layout.format == "jsonl":
            return records.read_jsonl(text, self._choose)
        if layout.format == "json":
            return records.read_json(text, self._choose)
        if layout.format == "lines":
            return lines.read_lines(text)
        layout.delimiter = delimited.delimiter_of(text, self.options, tabs=layout.format == "tsv")
        return delimited.read_table(text, self.options, layout.delimiter, self.column)

    def _choose(self, names: Sequence[str], sample: Callable[[], pl.DataFrame]) -> str:
        """The column with the texts: the one given, the only one, or the one that looks like texts."""
        if self.column is not None or len(names) < 2:
            return self._chosen(choose_column(list(names), self.column, self.source_name))
        guess = guess_text(sample())
        if guess is None:
            raise InputError(
                f"{self.source_name} has no column that looks like texts; it has {listed(names)}",
                python="column=… says which one holds the texts",
                command="--text NAME says which one holds the texts",
                page="choose the one with the texts",
            )
        fact = f"the texts are in column {guess[:60]!r}, judging by its values"
        self.notes.append(Note(fact, "--text NAME names another"))
        return self._chosen(guess)

    def _chosen(self, name: str) -> str:
        assert self.layout is not None
        self.layout.column = name
        return name

    def _choose_typed(self, table: pl.DataFrame) -> str:
        columns = [column for column in table.get_columns() if can_be_texts(column.dtype)]
        return self._choose(table.columns, lambda: pl.DataFrame(columns or table.get_columns()))

    def batches_of(self, table: Table, layout: Layout, text: Lines | None = None) -> Iterator[Batch]:
        """The rows of a table in batches; `text` is what it is read from."""
        self._note_header(table, layout)
        groups = self._groups(table, text)
        first = next(groups)
        # JSON has no header: if no object can be read there are no columns
        chosen = layout.column or ""
        if table.columns and layout.column is None:
            columns = list(table.columns)
            chosen = self._choose(columns, lambda: _sample(first[0], table))
        empty = True
        for rows, bad in chain([first], groups):
            batch = self._batch(rows, bad, table, chosen)
            if batch is not None:
                empty = False
                yield batch
        if empty and self.skipped:
            raise InputError(
                f"no row of {self.source_name} could be read; the first error is {self.bad_rows[0]}"
            )
        if empty:
            raise InputError(f"{self.source_name} has column names but no rows")

    def _note_header(self, table: Table, layout: Layout) -> None:
        layout.header_row = table.header_row
        if table.above and self.options.header_row is None:
            rows = f"{table.above} row{'s' if table.above > 1 else ''}"
            fact = f"the column names are in row {table.header_row}; {rows} above them left out"
            self.notes.append(Note(fact, "--header-row N says otherwise"))

    def _groups(self, table: Table, text: Lines | None) -> Iterator[tuple[Rows, list[BadRow]]]:
        """The rows of each batch, and the bad rows among them; fewer than `batch_rows` if rows are large."""
        numbers: list[int] = []
        cells: list[list[Any]] = []
        bad: list[BadRow] = []
        begun = 0
        for run in table.rows:
            if isinstance(run, BadRow):
                bad.append(run)
            else:
                numbers += run.lines
                cells += run.cells
            read = text.read if text else 0
            most = min(self.batch_rows, max(BATCH_CELLS // max(len(table.columns), 1), 1))
            full = read - begun > BATCH_CHARS or len(bad) > BATCH_ROWS
            while full or len(numbers) >= most:
                yield Rows(numbers[:most], cells[:most]), bad
                del numbers[:most], cells[:most]
                bad, begun, full = [], read, False
        yield Rows(numbers, cells), bad

    def _batch(self, rows: Rows, bad: list[BadRow], table: Table, chosen: str) -> Batch | None:
        """The good rows as a batch, if any; bad ones are counted, or the first one raises an error."""
        try:
            batch = make_batch(rows, table, chosen)
        except UnicodeEncodeError:  # searched only now, as it is rare
            garbled = [replace(row, unit=table.unit) for row in unreadable(rows, table.encoding)]
            batch = make_batch(rows.without({row.line for row in garbled}), table, chosen)
            bad = sorted([*bad, *garbled], key=attrgetter("line"))
        if bad and not self.skip_bad:
            where = f"{self.source_name}, {bad[0]}"
            if "encoding" in bad[0].reason:  # rows in another encoding are not bad, and must not be skipped
                raise InputError(
                    where, python="set it with encoding='cp1252'", command="set it with --encoding cp1252"
                )
            raise InputError(
                where,
                python="fix the file, or skip such rows with skip_bad=True",
                command="fix the file, or skip such rows with --skip-bad",
            )
        self.skipped += len(bad)
        self.bad_rows += bad[: KEPT_BAD_ROWS - len(self.bad_rows)]
        return batch


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
    max_bytes: int = MAX_BYTES,
    sheet: str | int | None = None,
    header_row: int | None = None,
) -> TextSource:
    """Read the texts of a file in batches, with bounded memory.

    Parameters
    ----------
    path
        A file, gzipped or not, or "-" for standard input.
    column
        Name of the column with the texts; by default the one whose values look most like texts. In JSON,
        ``ticket.subject`` is the key subject of the object ticket.
    format
        csv, tsv, jsonl, json, parquet, xlsx or lines; by default detected from the name and the content.
    encoding, delimiter
        By default detected from the content.
    header
        Whether the first row of a CSV, TSV or Excel file names the columns; if not, they are column_1,
        column_2 …
    skip_bad
        Skip rows that cannot be read and count them in `TextSource.skipped`, instead of raising an error at
        the first.
    batch_rows
        Rows in a batch; fewer in the last one, and if rows are bad or very long.
    max_bytes
        Largest size of a compressed file (gzip, Parquet, Excel) once it is unpacked, and most memory that its
        parser may take; 4 GiB by default. A small file can be larger than the memory when unpacked.
    sheet
        Name of a sheet of an Excel file, or its number from 1; by default the one with most text.
    header_row
        The row (of a CSV file: the line) with the column names; by default the first one that is not a title.

    Examples
    --------
    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tickets.csv"
    >>> _ = file.write_text("id;subject\\n1;Refund, please\\n2;Broken kettle\\n")
    >>> [batch.texts.to_list() for batch in read_texts(file, "subject")]
    [['Refund, please', 'Broken kettle']]
    """
    options = Options(encoding, delimiter, header, max_bytes, sheet, header_row)
    _check_path(path)
    _check_options(column, format, batch_rows, options)
    return TextSource(path, column, format, options, skip_bad, batch_rows)


def _check_path(path: Any) -> None:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a string or a path, got {shown(path)}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InputError(f"no file can have the name {shown(path)}") from None


def _check_options(column: Any, format: Any, batch_rows: Any, options: Options) -> None:
    for name, value in (
        ("column", column),
        ("format", format),
        ("encoding", options.encoding),
        ("delimiter", options.delimiter),
    ):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be a string or None, got {shown(value)}")
    counts = {"batch_rows": batch_rows, "max_bytes": options.max_bytes}
    if options.header_row is not None:
        counts["header_row"] = options.header_row
    for name, number in counts.items():
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {shown(number)}")
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    delimiter, sheet = options.delimiter, options.sheet
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InputError(
            f"delimiter must be one character other than a quote or line break, got {delimiter!r}"
        )
    if options.encoding is not None:
        check_encoding(options.encoding)
    if sheet is not None and (
        isinstance(sheet, bool)
        or not isinstance(sheet, str | int)
        or not (text := str(sheet))
        or "\0" in text
        or not is_unicode(text)
    ):
        raise InputError(f"sheet must be the name or the number of a sheet, got {shown(sheet)}")


def make_batch(rows: Rows, table: Table, chosen: str) -> Batch | None:
    """A batch of rows, or None if there are none; rows may lack columns that were added later."""
    if not rows.lines:
        return None
    columns: list[Sequence[Any]] = list(zip_longest(*rows.cells))
    columns += [[None] * len(rows.lines)] * (len(table.columns) - len(columns))
    by_name = dict(zip(table.columns, columns, strict=True))
    texts = by_name[chosen]
    if table.tokenised:
        by_name[chosen] = [None if text is None else json.dumps(text, ensure_ascii=False) for text in texts]
    frame = pl.DataFrame({name: pl.Series(values, dtype=pl.String) for name, values in by_name.items()})
    series = (
        pl.Series(chosen, texts, dtype=pl.List(pl.String))
        if table.tokenised
        else without_nulls(frame[chosen])
    )
    return Batch(text_column(series), frame, rows.lines)


def _sample(rows: Rows, table: Table) -> pl.DataFrame:
    """The first rows as a table, half characters replaced."""
    some = [[_valid(cell) for cell in cells] for cells in rows.cells[:SEEN]]
    columns: list[Sequence[Any]] = list(zip_longest(*some))
    columns += [[None] * len(some)] * (len(table.columns) - len(columns))
    named = zip(table.columns, columns, strict=True)
    return pl.DataFrame({name: pl.Series(values, dtype=pl.String) for name, values in named})


def _valid(cell: str | None) -> str | None:
    return None if cell is None else cell.encode("utf-8", "replace").decode()


@contextmanager
def _bytes(head: bytes) -> Iterator[PeekableBytes]:
    """The first bytes of a stream, which cannot be read twice, as a stream of their own."""
    yield PeekableBytes(io.BytesIO(head))
