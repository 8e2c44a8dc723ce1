"""Parquet files and Excel workbooks: columns with types, which become texts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from coterie.errors import InputError
from coterie.text.inputs import choose_column, text_column
from coterie.text.readers.delimited import column_names

if TYPE_CHECKING:
    from coterie.text.readers.source import Batch, TextSource


def batches(format_: str, path: str | Path, source: TextSource) -> Iterator[Batch]:
    """Batches of a file that has to be read from a disk, not from a stream."""
    if path == "-":
        raise InputError(f"{format_} cannot be read from standard input; save it to a file first")
    yield from _parquet(Path(path), source) if format_ == "parquet" else _xlsx(Path(path), source)


def _parquet(path: Path, source: TextSource) -> Iterator[Batch]:
    from coterie.text.readers.source import Batch

    try:
        frame = pl.scan_parquet(path, glob=False)
        names = frame.collect_schema().names()
        chosen = choose_column(names, source.column, str(source.path))
        start = 0
        while True:
            table = frame.slice(start, source.batch_rows).collect()
            if table.is_empty():
                break
            yield Batch(text_column(table[chosen]), table, range(start + 1, start + 1 + len(table)))
            start += len(table)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{source.path} cannot be read as Parquet: {str(error).splitlines()[0]}") from error
    if not start:
        raise InputError(f"{source.path} has column names but no rows")


def _xlsx(path: Path, source: TextSource) -> Iterator[Batch]:
    from coterie.text.readers.source import Row, make_batch

    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            f"reading {source.path} needs python-calamine: pip install 'coterie[xlsx]'"
        ) from None
    try:
        rows = iter(CalamineWorkbook.from_path(path).get_sheet_by_index(0).iter_rows())
        header = next(rows, None)
    except (CalamineError, OSError, ValueError, IndexError) as error:
        raise InputError(f"{source.path} cannot be read as an Excel workbook: {error}") from error
    if header is None:
        raise InputError(f"{source.path} is empty")
    names = column_names([_spelling(cell) for cell in header])
    chosen = choose_column(names, source.column, str(source.path))
    numbered = (Row(number, [_spelling(cell) for cell in row]) for number, row in enumerate(rows, start=2))
    empty = True
    while some := list(islice(numbered, source.batch_rows)):
        empty = False
        yield make_batch(some, names, chosen)
    if empty:
        raise InputError(f"{source.path} has column names but no rows")


def _spelling(cell: Any) -> str:
    """A cell as a person would read it in the sheet."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time(0):
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, (date, datetime)) else str(cell)
