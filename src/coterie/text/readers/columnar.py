"""Read Parquet files and Excel workbooks; typed columns become texts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from coterie.errors import InputError
from coterie.text.inputs import choose_column, text_column
from coterie.text.readers.isolated import parsed
from coterie.text.readers.rows import Batch, Rows, Table, table_of


def parquet_tables(file: Path, batch_rows: int, max_bytes: int, source_name: str) -> Iterator[pl.DataFrame]:
    """The rows of a Parquet file; the first table is empty."""
    for content in parsed("parquet", file, batch_rows, max_bytes, source_name):
        yield pl.read_ipc_stream(io.BytesIO(content))


def parquet_batches(
    file: Path, column: str | None, batch_rows: int, max_bytes: int, source_name: str
) -> Iterator[Batch]:
    """Batches of a Parquet file; `lines` are its row numbers."""
    tables = parquet_tables(file, batch_rows, max_bytes, source_name)
    chosen = choose_column(next(tables).columns, column, source_name)
    start = 0
    for table in tables:
        yield Batch(text_column(table[chosen]), table, range(start + 1, start + 1 + len(table)))
        start += len(table)
    if not start:
        raise InputError(f"{source_name} has column names but no rows")


def read_xlsx(file: Path, header: bool, batch_rows: int, max_bytes: int, source_name: str) -> Table:
    """The first sheet of a workbook, with the row numbers of the sheet."""
    if find_spec("python_calamine") is None:
        raise InputError(f"reading {source_name} needs python-calamine: pip install 'coterie[xlsx]'")
    contents = map(json.loads, parsed("xlsx", file, batch_rows, max_bytes, source_name))
    rows = (Rows(range(first, first + len(cells)), cells) for first, cells in contents)
    return table_of(rows, header, source_name)
