"""The reader for all formats: batches of texts; bad rows are reported or counted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from coterie.errors import InputError, shown
from coterie.storage.files import spelled
from coterie.text.inputs import choose_column, text_column
from coterie.text.readers import columnar, delimited, lines
from coterie.text.readers.bytes import (
    MAX_BYTES,
    PACKED,
    Lines,
    check_encoding,
    encoding_of,
    find,
    on_disk,
    open_bytes,
    refuse_binary,
    reported_faults,
)
from coterie.text.readers.rows import BadRow, Batch, Options, Rows, Table, unreadable

Format = Literal["csv", "tsv", "jsonl", "parquet", "xlsx", "lines"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "parquet", "xlsx", "lines")

#: Rows in a batch; fewer if they have more characters or cells than this.
BATCH_ROWS = 20_000
BATCH_CHARS = BATCH_CELLS = 1 << 23
#: Bad rows kept for messages; all are counted.
KEPT_BAD_ROWS = 20


@dataclass
class TextSource:
    """The texts of a file, batch by batch; can be iterated repeatedly unless it is a stream.

    `skipped` counts the bad rows that were skipped and `bad_rows` lists the first of them; both are reset by
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
        self.skipped, self.bad_rows = 0, []
        with reported_faults(self.source_name), open_bytes(find(self.path), self.options.max_bytes) as stream:
            head = stream.head()
            if not head:
                before = ", or has already been read" if str(self.path) == "-" else ""
                raise InputError(f"{self.source_name} is empty{before}")
            format_ = self.format or guess_format(self.path, head, self.options, self.column)
            if format_ in ("parquet", "xlsx"):
                with on_disk(self.path, stream) as file:
                    yield from self._parsed(file, format_)
            else:
                refuse_binary(head, self.source_name, self.options.encoding)
                with Lines(stream, self.options.encoding, self.source_name) as text:
                    yield from self.batches_of(self._table(text, format_), text)

    def _parsed(self, file: Path, format_: Format) -> Iterator[Batch]:
        limits = self.batch_rows, self.options.max_bytes, self.source_name
        if format_ == "parquet":
            return columnar.parquet_batches(file, self.column, *limits)
        return self.batches_of(columnar.read_xlsx(file, self.options.header, *limits))

    def _table(self, text: Lines, format_: Format) -> Table:
        if format_ == "jsonl":
            return lines.read_jsonl(text, self.column)
        if format_ == "lines":
            return lines.read_lines(text)
        return (delimited.read_tsv if format_ == "tsv" else delimited.read_csv)(text, self.options)

    def batches_of(self, table: Table, text: Lines | None = None) -> Iterator[Batch]:
        """The rows of a table in batches; `text` is what it is read from."""
        # JSON Lines have no header: if no line can be read there are no columns
        chosen = choose_column(list(table.columns), self.column, self.source_name) if table.columns else ""
        empty = True
        for rows, bad in self._groups(table, text):
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
            garbled = unreadable(rows, table.encoding)
            batch = make_batch(rows.without({row.line for row in garbled}), table, chosen)
            bad = sorted([*bad, *garbled], key=attrgetter("line"))
        if bad and not self.skip_bad:
            # rows in another encoding are not bad, and must not be skipped
            advice = (
                ""
                if "encoding" in bad[0].reason
                else "; fix the file, or skip such rows with skip_bad=True (--skip-bad)"
            )
            raise InputError(f"{self.source_name}, {bad[0]}{advice}")
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
) -> TextSource:
    """Read the texts of a file in batches, with bounded memory.

    Parameters
    ----------
    path
        A file, gzipped or not, or "-" for standard input.
    column
        Name of the column with the texts; optional if there is only one column.
    format
        csv, tsv, jsonl, parquet, xlsx or lines; by default detected from the name and the content.
    encoding, delimiter
        By default detected from the content: UTF-8, or UTF-16 and UTF-32 with a byte order mark.
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

    Examples
    --------
    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tickets.csv"
    >>> _ = file.write_text("id;subject\\n1;Refund, please\\n2;Broken kettle\\n")
    >>> [batch.texts.to_list() for batch in read_texts(file, "subject")]
    [['Refund, please', 'Broken kettle']]
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a string or a path, got {shown(path)}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InputError(f"no file can have the name {shown(path)}") from None
    for name, value in (
        ("column", column),
        ("format", format),
        ("encoding", encoding),
        ("delimiter", delimiter),
    ):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be a string or None, got {shown(value)}")
    for name, number in (("batch_rows", batch_rows), ("max_bytes", max_bytes)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {shown(number)}")
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InputError(
            f"delimiter must be one character other than a quote or line break, got {delimiter!r}"
        )
    if encoding is not None:
        check_encoding(encoding)
    options = Options(encoding, delimiter, header, max_bytes)
    return TextSource(path, column, format, options, skip_bad, batch_rows)


_BY_NAME: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".txt": "lines", ".text": "lines", ".log": "lines", ".parquet": "parquet", ".pq": "parquet",
    ".xlsx": "xlsx",
}  # fmt: skip


def guess_format(path: str | Path, head: bytes, options: Options, column: str | None = None) -> Format:
    """The format by its signature, else by the file name, else by the first lines.

    A .txt file is a table if its first line names the column of the texts.
    """
    if head.startswith(b"PAR1\x15"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    by_name = _BY_NAME.get(suffixes[-1]) if suffixes else None
    text = head.decode(encoding_of(head, options.encoding), "replace")
    table = options.delimiter is not None or delimited.names_column(text, column)
    if by_name and not (by_name == "lines" and table):
        return by_name
    if text.lstrip().startswith("{"):
        return "jsonl"
    return "csv" if table or delimited.looks_like_a_table(text) else "lines"


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
    series = pl.Series(chosen, texts, dtype=pl.List(pl.String)) if table.tokenised else frame[chosen]
    return Batch(text_column(series), frame, rows.lines)
