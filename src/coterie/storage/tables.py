"""Tables for people and programs: CSV that no spreadsheet takes for formulas, and Parquet, batch by batch.

A spreadsheet computes a cell that begins with ``=``, ``+``, ``-`` or ``@``, and so a title becomes a command.
Such a cell gets an apostrophe in front, which says that it is text, and a cell that has apostrophes before
such a character gets one more, so that taking one away gives back every text as it was. The same is done
behind every semicolon, tab, bar and line end in a text: a program that splits cells there takes what follows
for a cell.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import polars as pl

from coterie.errors import InputError
from coterie.storage import trees
from coterie.storage.files import AGAIN, cannot, number, opened

# besides the four: their wide forms, and what a program strips before it looks at a cell
_COMMANDS = r"=+\-@＝＋－＠\x00\x{FEFF}"
_SEPARATORS = r";|\t\r\n"
# quotes may be taken for those around a cell
_RISKY = (rf"^(['\"]*[{_COMMANDS}\t\r\n])", rf"([{_SEPARATORS}])(['\"]*[{_COMMANDS}])")
_MASKED = (rf"^'(['\"]*[{_COMMANDS}\t\r\n])", rf"([{_SEPARATORS}])'(['\"]*[{_COMMANDS}])")
# polars unpacks what begins like this, and "x^2" would do
_PACKED = (b"\x1f\x8b", b"x\x01", b"x^", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd")
_FAULTS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)

_PART_ROWS = 1 << 16
_PART_BYTES = 1 << 25
_PARTS = 32  # files that are open at once when parts are joined

Schema = Mapping[str, pl.DataType | type[pl.DataType]]


def neutralise(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before whatever a spreadsheet would compute in cells and column names.

    Numbers stay numbers.

    >>> neutralise(pl.DataFrame({"title": ["=cmd()", "'-)", "tea;=cmd()", "tea", None]}))["title"].to_list()
    ["'=cmd()", "''-)", "tea;'=cmd()", 'tea', None]
    """
    at_start, within = _RISKY
    return _mapped(frame, pl.col("x").str.replace(at_start, "'$1").str.replace_all(within, "$1'$2"))


def restore(frame: pl.DataFrame) -> pl.DataFrame:
    """Take the apostrophes of `neutralise` away again.

    >>> restore(pl.DataFrame({"title": ["'=cmd()", "''-)", "tea;'=cmd()", "'quoted'"]}))["title"].to_list()
    ['=cmd()', "'-)", 'tea;=cmd()', "'quoted'"]
    """
    at_start, within = _MASKED
    return _mapped(frame, pl.col("x").str.replace(at_start, "$1").str.replace_all(within, "$1$2"))


def sheet(frame: pl.DataFrame) -> pl.DataFrame:
    """A table as CSV has it: no formulas, lists and structures as JSON, no columns of bytes."""
    return neutralise(flat_table(frame))


def flat_table(frame: pl.DataFrame) -> pl.DataFrame:
    """A table of plain cells: lists and structures as JSON, no columns of bytes."""
    columns = [column for column in frame.get_columns() if not has_bytes(column.dtype)]
    return _frame([column.name for column in columns], [_flat(column) for column in columns])


def has_bytes(dtype: Any) -> bool:
    """Whether a column of this type has values that are not text, which CSV cannot contain."""
    if isinstance(dtype, pl.Struct):
        return any(has_bytes(field.dtype) for field in dtype.fields)
    return (
        has_bytes(dtype.inner) if isinstance(dtype, (pl.List, pl.Array)) else dtype in (pl.Binary, pl.Object)
    )


def read_csv(path: str | Path) -> pl.DataFrame:
    """A table written by `CsvWriter`, all columns as strings; a null is a null and an empty text is empty."""
    path = Path(path)
    with opened(path) as (file, size):
        begin = file.read(4)
    if not size:
        raise InputError(f"{path} is empty; {AGAIN}")
    if begin.startswith(_PACKED):
        raise InputError(f"{path} is not a CSV file of coterie; check the path")
    with _reported(path, "read"):
        cells = pl.read_csv(
            path, has_header=False, infer_schema=False, glob=False, truncate_ragged_lines=False
        )
        names = [name or "" for name in cells.row(0)]
    if len(set(names)) < len(names):
        raise InputError(f"{path} has two columns of the same name; {AGAIN}")
    return restore(_frame(names, cells[1:].get_columns()))


def read_parquet(path: str | Path, rows: int | None = None) -> pl.DataFrame:
    """A Parquet table; with `rows` it must have as many, which is looked up before anything is unpacked."""
    path = Path(path)
    # opened once, not by its path for each step: another process may replace the file in between
    with opened(path) as (file, _), _reported(path, "read"):
        n_rows = pl.scan_parquet(file).select(pl.len()).collect().item()
        if rows is not None and n_rows != rows:
            raise InputError(f"{path} has {n_rows:,} rows instead of {rows:,}; {AGAIN}")
        file.seek(0)
        return pl.read_parquet(file, hive_partitioning=False)


class TableWriter:
    """What the writers share: the columns stay the same, and the file appears when it is whole."""

    def __init__(self, path: str | Path, schema: Schema | None = None):
        self.path = Path(path)
        self._schema = None if schema is None else pl.Schema(schema)
        self._beside = self.path.with_name(f".{self.path.name}.{os.getpid()}-{secrets.token_hex(4)}.parts")

    def __enter__(self) -> Self:
        with _reported(self.path, "written"):
            self._beside.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with _reported(self.path, "written"):
                whole = self._end(complete=kind is None)
                if whole is not None:
                    trees.sync(whole)
                    os.replace(whole, self.path)
        finally:
            trees.remove(self._beside)

    def write(self, frame: pl.DataFrame) -> None:
        """Add a batch of rows, which has the columns of the first one."""
        if not frame.width:
            raise InputError(f"a table for {self.path} needs at least one column")
        if self._schema is None:
            self._schema = frame.schema
        if frame.columns != self._schema.names():
            raise InputError(
                f"{self.path} has the columns {self._schema.names()}, a batch has {frame.columns}; give all "
                "batches the same"
            )
        with _reported(self.path, "written"):
            self._add(frame)

    def _known_schema(self) -> pl.Schema:
        if not self._schema:
            raise InputError(
                f"{self.path} received no table; write one, which may be empty, or pass a schema"
            )
        return self._schema

    def _add(self, frame: pl.DataFrame) -> None:
        raise NotImplementedError

    def _end(self, complete: bool) -> Path | None:
        raise NotImplementedError


class CsvWriter(TableWriter):
    """A CSV file, written batch by batch: UTF-8, quoted by RFC 4180, lines end with a line feed, no formulas.

    A null is nothing between two commas and an empty text is ``""``. Lists and structures are JSON, in which
    nan and infinity become null. Columns of bytes are left out.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "topics.csv"
    >>> with CsvWriter(path) as table:
    ...     table.write(pl.DataFrame({"topic": [1], "terms": [["tea", "kettle"]]}))
    ...     table.write(pl.DataFrame({"topic": [2], "terms": [["=cmd"]]}))
    >>> read_csv(path)["terms"].to_list()
    ['["tea","kettle"]', '["=cmd"]']
    """

    _file: IO[bytes] | None = None
    #: Before everything else.
    _mark = ""

    def _add(self, frame: pl.DataFrame) -> None:
        cells = sheet(frame)
        if not cells.width:
            raise InputError(f"{self.path}: all columns contain bytes, which are not text")
        if self._file is None:
            self._file = (self._beside / "whole").open("xb")
            quoted = ('"' + name.replace('"', '""') + '"' for name in cells.columns)
            self._file.write((self._mark + ",".join(quoted) + "\n").encode("utf-8"))
        cells.write_csv(self._file, include_header=False, line_terminator="\n")

    def _end(self, complete: bool) -> Path | None:
        if complete and self._file is None:
            self._add(self._known_schema().to_frame())
        if self._file is None:
            return None
        self._file.close()
        return self._beside / "whole" if complete else None


class SheetWriter(CsvWriter):
    """A CSV file for a spreadsheet program: the mark at its beginning says that it is UTF-8."""

    _mark = "\ufeff"


class ParquetWriter(TableWriter):
    """A Parquet file, written batch by batch: memory holds one batch, or a few if they are small.

    Batches become files beside the table and these are joined, a few dozen at a time, as a stream.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "texts.parquet"
    >>> with ParquetWriter(path) as table:
    ...     table.write(pl.DataFrame({"topic": [1, 2]}))
    ...     table.write(pl.DataFrame({"topic": [3]}))
    >>> read_parquet(path)["topic"].to_list()
    [1, 2, 3]
    """

    def __init__(self, path: str | Path, schema: Schema | None = None):
        super().__init__(path, schema)
        self._waiting: list[pl.DataFrame] = []
        self._levels: list[list[Path]] = [[]]  # files that were joined more often have older rows
        self._made = 0

    def _add(self, frame: pl.DataFrame) -> None:
        self._waiting.append(self._typed(frame))
        rows = sum(len(batch) for batch in self._waiting)
        if rows >= _PART_ROWS or sum(batch.estimated_size() for batch in self._waiting) >= _PART_BYTES:
            self._write_part()

    def _typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        schema, found = self._known_schema(), frame.schema  # polars makes it anew whenever it is asked for
        for name, dtype in schema.items():
            if found[name] not in (dtype, pl.Null):
                raise InputError(
                    f"{self.path}: column {name!r} has type {dtype}, but a batch has {found[name]}; "
                    "give all batches the same types, or pass a schema"
                )
        return frame if found == schema else frame.cast(schema)

    def _write_part(self) -> None:
        part = self._new()
        pl.concat(self._waiting).write_parquet(part)
        self._waiting = []
        self._levels[0].append(part)
        for level, parts in enumerate(self._levels):
            if len(parts) < _PARTS:
                break
            if level + 1 == len(self._levels):
                self._levels.append([])
            self._levels[level + 1].append(self._joined(parts))
            self._levels[level] = []

    def _joined(self, parts: list[Path]) -> Path:
        if len(parts) == 1:
            return parts[0]
        whole = self._new()
        pl.scan_parquet(parts, glob=False, hive_partitioning=False).sink_parquet(whole, maintain_order=True)
        for part in parts:
            part.unlink()
        return whole

    def _end(self, complete: bool) -> Path | None:
        if not complete:
            return None
        if not self._waiting and not self._made:
            self._waiting.append(self._known_schema().to_frame())
        if self._waiting:
            self._write_part()
        whole: list[Path] = []
        for parts in self._levels:  # from the newest rows to the oldest
            whole = [self._joined([*parts, *whole])] if parts or whole else []
        return whole[0]

    def _new(self) -> Path:
        self._made += 1
        return self._beside / f"{self._made}.parquet"


def _mapped(frame: pl.DataFrame, cells: pl.Expr) -> pl.DataFrame:
    """Apply an expression on the column x to all columns of text, and to their names."""
    columns = []
    for column in frame.get_columns():
        text = column.cast(pl.String) if isinstance(column.dtype, (pl.Categorical, pl.Enum)) else column
        columns.append(_apply(text, cells) if text.dtype == pl.String else text)
    names = _apply(pl.Series(frame.columns, dtype=pl.String), cells)
    return _frame(names.to_list(), columns)


def _apply(column: pl.Series, expression: pl.Expr) -> pl.Series:
    # by a fixed name: polars takes a column called * or ^a$ for a pattern
    return column.alias("x").to_frame().select(expression.alias("x")).to_series()


def _frame(names: list[str], columns: list[pl.Series]) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(names, columns, strict=True)))


def _flat(column: pl.Series) -> pl.Series:
    """The column in a type that CSV has."""
    if column.dtype.is_nested():
        inside = pl.struct(x="x").struct.json_encode().str.slice(len('{"x":')).str.head(-1)
        return _apply(column, pl.when(pl.col("x").is_null()).then(None).otherwise(inside))
    if column.dtype == pl.Duration:
        return _apply(column, pl.col("x").dt.to_string("iso"))
    return column.cast(pl.String) if column.dtype == pl.Null else column


@contextmanager
def _reported(path: Path, verb: str) -> Iterator[None]:
    try:
        yield
    except _FAULTS as error:
        if verb == "read" and not number(error):
            what = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(f"{path} is damaged: {what}; {AGAIN}") from error
        raise cannot(path, verb, error) from error
