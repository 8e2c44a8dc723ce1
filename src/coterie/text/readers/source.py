"""The reader for all formats: batches of texts; bad rows are reported or counted."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.text.columns import SEEN, guess_text
from coterie.text.inputs import choose_column, listed, text_column
from coterie.text.nulls import without_nulls
from coterie.text.readers import columnar, delimited, lines, records
from coterie.text.readers.alike import First, without_untyped
from coterie.text.readers.bytes import (
    PACKED,
    Lines,
    PeekableBytes,
    find,
    on_disk,
    open_bytes,
    refuse_binary,
    reported_faults,
)
from coterie.text.readers.encodings import detected, encoding_of, spoken
from coterie.text.readers.formats import Format, guess_format, packed_format
from coterie.text.readers.remote import called, is_url
from coterie.text.readers.rows import BadRow, Batch, NoRows, Options, Rows, Table, unreadable
from coterie.text.tables import can_be_texts

#: Rows in a batch; fewer if they have more characters or cells than this.
BATCH_ROWS = 20_000
BATCH_CHARS = BATCH_CELLS = 1 << 23
#: Bad rows that are kept; all are counted. As many may be skipped unless another number is given.
KEPT_BAD_ROWS = MAX_BAD = 10_000


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

    `skipped` counts the bad rows that were skipped and `bad_rows` lists the first 10,000 of them; `layout` is
    how the file is laid out, and `notes` say what had to be decided. All are set anew by each pass.

    One of several files (`one_of_many`) may have no rows, and names itself in its bad rows. It is read as the
    first of them (`like`), and all its rows get the `values` that its folders stand for.
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
    #: Most rows that may be skipped, and how many were skipped in the files before this one.
    max_bad: int = MAX_BAD
    already: int = 0
    #: Gets the bad rows as they are found.
    on_bad: Callable[[Sequence[BadRow]], None] | None = field(default=None, repr=False, compare=False)
    one_of_many: bool = False
    like: First | None = None
    values: dict[str, str | None] = field(default_factory=dict)

    @property
    def source_name(self) -> str:
        """The name of the source in messages."""
        return "standard input" if str(self.path) == "-" else called(self.path)

    @property
    def may_grow(self) -> bool:
        """Whether later rows may have further columns, once the first were read."""
        return self.layout is None or self.layout.format in ("json", "jsonl")

    def parts(self) -> list[TextSource]:
        """The files, each as a source of its own that can be read by itself, in any process."""
        return [self]

    def plain_bytes(self) -> int | None:
        """The size of a plain file; None if it is compressed, or a stream."""
        path = Path(self.path)
        if str(path) == "-" or is_url(self.path) or not path.is_file():
            return None
        with path.open("rb") as file:
            return None if file.read(4).startswith(PACKED) else path.stat().st_size

    def __iter__(self) -> Iterator[Batch]:
        self.skipped, self.bad_rows, self.notes, self.layout = 0, [], [], None
        try:
            with reported_faults(self.source_name):
                yield from map(self._finished, self._batches())
        except NoRows:
            if not self.one_of_many:
                raise

    def _finished(self, batch: Batch) -> Batch:
        """A batch with the values of its folders, and columns as in the first file."""
        if self.one_of_many:
            batch = replace(batch, table=without_untyped(batch.table), file=self.source_name)
        if self.values:
            given = [
                pl.lit(v, pl.String).alias(n) for n, v in self.values.items() if n not in batch.table.schema
            ]
            batch = replace(batch, table=batch.table.with_columns(given))
        if self.like is not None:
            assert self.layout is not None
            batch = self.like.aligned(batch, self.layout.column, self.source_name)
        return batch

    def _batches(self) -> Iterator[Batch]:
        with open_bytes(find(self.path), self.options.max_bytes) as stream:
            head = stream.head()
            if not head:
                before = ", or has already been read" if str(self.path) == "-" else ""
                raise NoRows(f"{self.source_name} is empty{before}")
            format_ = self.format or packed_format(self.path, head)
            if self.like is not None and self.format is None:
                self.like.check_packed(format_, self.source_name)
            if format_ in ("parquet", "xlsx"):
                self.layout = Layout(format_)
                with on_disk(self.path, stream) as file:
                    yield from self._parsed(file, self.layout)
                return
            refuse_binary(head, self.source_name, self.options.encoding)
            encoding = self.options.encoding or self._encoding(head)
            with Lines(stream, encoding, self.source_name) as text:
                format_ = self.format or self._text_format(text.head)
                self.layout = Layout(format_, text.encoding)
                yield from self.batches_of(self._table(text, self.layout), self.layout, text)

    def _text_format(self, head: str) -> Format:
        if self.like is not None:
            return self.like.text_format(head)
        return guess_format(self.path, head, self.options, self.column)

    def _encoding(self, head: bytes) -> str:
        """Detect the encoding of a file from its bytes; of a stream, only the first bytes can be examined."""
        encoding = encoding_of(head)
        if encoding == "utf-8-sig":
            again = str(self.path) != "-" and (is_url(self.path) or Path(self.path).is_file())
            with open_bytes(self.path, self.options.max_bytes) if again else _bytes(head) as stream:
                encoding = detected(stream, head)
        if self.like is not None:
            encoding = self.like.encoding_for(encoding)
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
            if self.one_of_many and self.column is None and not first[0].lines:
                second = next(groups, None)
                if second is None:  # there is nothing to judge by
                    self._batch(*first, table, "")
                    raise NoRows(f"{self.source_name} has column names but no rows")
                groups = chain([second], groups)
            columns = list(table.columns)
            chosen = self._choose(columns, lambda: _sample(first[0], table))
        empty = True
        for rows, bad in chain([first], groups):
            batch, last = self._batch(rows, bad, table, chosen)
            if batch is not None:
                empty = False
                yield batch
            if last is not None:
                raise self._too_many(last)
        if empty and self.skipped:
            raise NoRows(f"no row of {self.source_name} could be read; the first error is {self.bad_rows[0]}")
        if empty:
            raise NoRows(f"{self.source_name} has column names but no rows")

    def _too_many(self, last: BadRow) -> InputError:
        return InputError(
            f"{self.source_name}, {last}; that makes {self.max_bad + 1:,} rows that cannot be read, and at "
            f"most {self.max_bad:,} may be skipped",
            python="fix the file, or raise the limit with max_bad=…",
            command="fix the file, or raise the limit with --max-bad N",
        )

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

    def _batch(
        self, rows: Rows, bad: list[BadRow], table: Table, chosen: str
    ) -> tuple[Batch | None, BadRow | None]:
        """The good rows as a batch, if any; bad ones are set aside, or the first one raises an error.

        Also the bad row that is one too many, if there is one: then the batch has the rows before it.
        """
        try:
            batch = make_batch(rows, table, chosen)
        except UnicodeEncodeError:  # searched only now, as it is rare
            garbled = [replace(row, unit=table.unit) for row in unreadable(rows, table.encoding)]
            rows = rows.without({row.line for row in garbled})
            batch = make_batch(rows, table, chosen)
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
        left = self.max_bad - self.already - self.skipped
        self._set_aside(bad[: left + 1])
        if len(bad) <= left:
            return batch, None
        return make_batch(rows.before(bad[left].line), table, chosen), bad[left]

    def _set_aside(self, bad: Sequence[BadRow]) -> None:
        if self.one_of_many:
            bad = [replace(row, file=self.source_name) for row in bad]
        self.skipped += len(bad)
        self.bad_rows += bad[: KEPT_BAD_ROWS - len(self.bad_rows)]
        if bad and self.on_bad is not None:
            self.on_bad(bad)


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
