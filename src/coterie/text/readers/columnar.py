"""Read Parquet files and Excel workbooks; typed columns become texts."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.text.inputs import choose_column, text_column
from coterie.text.readers.bytes import PeekableBytes
from coterie.text.readers.rows import Batch, Rows, Table, table_of


def parquet_batches(file: Path, column: str | None, batch_rows: int, source_name: str) -> Iterator[Batch]:
    """Batches of a Parquet file; `lines` are its row numbers."""
    start = 0
    try:
        frame = pl.scan_parquet(file, glob=False)
        chosen = choose_column(frame.collect_schema().names(), column, source_name)
        while not (table := frame.slice(start, batch_rows).collect()).is_empty():
            yield Batch(text_column(table[chosen]), table, range(start + 1, start + 1 + len(table)))
            start += len(table)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"{source_name} could not be read as Parquet: {_first_line(error)}") from error
    if not start:
        raise InputError(f"{source_name} has column names but no rows")


def read_xlsx(stream: PeekableBytes, header: bool, source_name: str) -> Table:
    """The first sheet of a workbook, with the row numbers of the sheet."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            f"reading {source_name} needs python-calamine: pip install 'coterie[xlsx]'"
        ) from None
    content = io.BytesIO(stream.read())
    try:
        sheet = CalamineWorkbook.from_filelike(content).get_sheet_by_index(0)
        above = sheet.start[0] if sheet.start else 0  # number of empty rows above the table
        rows = islice(enumerate(sheet.iter_rows(), start=1), above, None)
    except (CalamineError, OSError, ValueError, IndexError) as error:
        raise InputError(f"{source_name} could not be read as an Excel workbook: {error}") from error
    spelled = (Rows([number], [[_spelling(cell) for cell in row]]) for number, row in rows)
    return table_of(spelled, header, source_name)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _spelling(cell: Any) -> str:
    """A cell as a person would read it in the sheet."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time(0):
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, (date, datetime)) else str(cell)
