"""Read Parquet files and Excel workbooks; typed columns become texts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import polars as pl

from coterie.errors import InputError
from coterie.text.inputs import listed, text_column
from coterie.text.nulls import without_nulls
from coterie.text.readers.headers import table_of
from coterie.text.readers.isolated import parsed
from coterie.text.readers.rows import Batch, NoRows, Options, Rows, Table


def parquet_tables(file: Path, batch_rows: int, max_bytes: int, source_name: str) -> Iterator[pl.DataFrame]:
    """The rows of a Parquet file; the first table is empty."""
    for content in parsed("parquet", file, batch_rows, max_bytes, source_name):
        yield pl.read_ipc_stream(io.BytesIO(content))


def parquet_batches(
    file: Path,
    choose: Callable[[pl.DataFrame], str],
    batch_rows: int,
    max_bytes: int,
    source_name: str,
) -> Iterator[Batch]:
    """Batches of a Parquet file; `lines` are its row numbers.

    `choose` names the column with the texts, given the first rows.
    """
    tables = parquet_tables(file, batch_rows, max_bytes, source_name)
    empty = next(tables)
    first = next(tables, empty)
    if first.width and not len(first):
        raise NoRows(f"{source_name} has column names but no rows")
    chosen = choose(first)
    start = 0
    for table in chain([first], tables):
        yield Batch(
            text_column(without_nulls(table[chosen])), table, range(start + 1, start + 1 + len(table))
        )
        start += len(table)


def read_xlsx(
    file: Path, options: Options, column: str | None, batch_rows: int, source_name: str
) -> tuple[Table, list[str], str]:
    """A sheet of a workbook, with the row numbers of the sheet; the names of all sheets, and of this one."""
    if find_spec("python_calamine") is None:
        raise InputError(f"reading {source_name} needs python-calamine: pip install 'coterie[xlsx]'")
    wanted = "" if options.sheet is None else str(options.sheet).replace("\0", "\ufffd")
    messages = parsed("xlsx", file, batch_rows, options.max_bytes, source_name, wanted)
    contents = map(json.loads, messages)
    names, chosen = next(contents, ([], None))
    if chosen is None:
        there = f"it has {listed(names)}" if names else "it has no sheets"
        raise InputError(
            f"{source_name} has no sheet {wanted!r}; {there}" if wanted else f"{source_name}: {there}"
        )
    rows = (Rows(range(first, first + len(cells)), cells) for first, cells in contents)
    return table_of(rows, options, column, source_name), names, names[chosen]
