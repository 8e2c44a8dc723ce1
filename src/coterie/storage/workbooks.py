"""Excel workbooks: a sheet for each table, written row by row. Texts stay texts, whatever they begin with.

In a table that was read from a file of texts, a column of plain numbers becomes numbers. Identifiers do not:
one cell with a leading zero, or with more digits than Excel keeps, makes its column one of texts.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.storage.tables import TableWriter, flat_table

#: Rows of a sheet, the column names included, columns, and characters of a cell: the limits of Excel.
MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1 << 20, 1 << 14, 32_767
#: Days that Excel has.
_FIRST_DAY, _LAST_DAY = dt.date(1900, 3, 1), dt.date(9999, 12, 31)
_WIDEST = 60
#: Larger numbers would lose digits.
_EXACT = 1 << 53
#: Excel keeps 15 digits.
_NUMBER = re.compile(r"-?(?=[0-9.]{1,16}$)(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?")
# texts stay texts: nothing becomes a formula or a link; a number only as `_numeric` says
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "default_date_format": "yyyy-mm-dd",
    "remove_timezone": True,
}


class WorkbookWriter(TableWriter):
    """A workbook with one sheet, written batch by batch.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "topics.xlsx"
    >>> with WorkbookWriter(path) as table:
    ...     table.write(pl.DataFrame({"topic": [1], "text": ["=1+1"]}))
    >>> path.stat().st_size > 0
    True
    """

    def __init__(self, path: str | Path, name: str = "assignments"):
        super().__init__(path)
        self._name = name
        self._sheet: _Sheet | None = None

    def _add(self, frame: pl.DataFrame) -> None:
        if self._sheet is None:
            self._book = _book(self._beside / "whole", self.path)
            self._sheet = _Sheet(self._book, self._name, self.path)
            self._sheet.numeric = _numeric(flat_table(frame))
        self._sheet.write(frame)

    def _end(self, complete: bool) -> Path | None:
        if complete and self._sheet is None:
            self._add(self._known_schema().to_frame())
        if self._sheet is None:
            return None
        if complete:
            self._sheet.warn()
        self._book.close()
        return self._beside / "whole" if complete else None


def write_workbook(path: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """A workbook with a sheet for each table."""
    book = _book(path, path)
    for name, table in tables.items():
        sheet = _Sheet(book, name, path)
        sheet.write(table)
        sheet.warn()
    book.close()


def check_installed(path: Path) -> None:
    """Raise an error if the package that writes workbooks is missing."""
    if find_spec("xlsxwriter") is None:
        raise InputError(f"writing {path} needs XlsxWriter: pip install 'coterie[xlsx]'")


def _book(file: Path, path: Path) -> Any:
    check_installed(path)
    import xlsxwriter

    return xlsxwriter.Workbook(str(file), {**_OPTIONS, "tmpdir": str(file.parent)})


class _Sheet:
    """A sheet of a workbook; `path` is the file that people know."""

    def __init__(self, book: Any, name: str, path: Path):
        self._book, self._path = book, path
        self._sheet = book.add_worksheet(name)
        self._sheet.freeze_panes(1, 0)
        self._next = self._cut = 0
        #: Numbers of the columns whose texts are numbers.
        self.numeric: frozenset[int] = frozenset()

    def write(self, frame: pl.DataFrame) -> None:
        """Add rows."""
        cells = flat_table(frame)
        if self._next + len(cells) + (not self._next) > MOST_ROWS or cells.width > MOST_COLUMNS:
            raise InputError(
                f"{self._path}: an Excel sheet can have at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
                "columns; write a .csv or .parquet file instead"
            )
        if not self._next:
            self._begin(cells)
        for row in cells.iter_rows():
            self._row(row)

    def warn(self) -> None:
        """Say how many cells were too long for Excel."""
        if self._cut:
            cells = "1 cell" if self._cut == 1 else f"{self._cut:,} cells"
            warnings.warn(
                f"{cells} in {self._path} cut to {MOST_CHARACTERS:,} characters, the most that Excel allows; "
                "a .csv or .parquet file has all of them",
                stacklevel=2,
            )

    def _begin(self, cells: pl.DataFrame) -> None:
        bold = self._book.add_format({"bold": True})
        for number, name in enumerate(cells.columns):
            lengths = cells[name].head(200).cast(pl.String, strict=False).str.len_chars().fill_null(0)
            longest = max(len(name), int(lengths.quantile(0.9) or 0))
            self._sheet.set_column(number, number, min(longest + 2, _WIDEST))
        for number, name in enumerate(cells.columns):
            self._sheet.write_string(0, number, self._text(name), bold)
        self._next = 1

    def _row(self, row: tuple[Any, ...]) -> None:
        for number, value in enumerate(row):
            if value is not None and (value != "" or number not in self.numeric):
                self._cell(number, value)
        self._next += 1

    def _cell(self, number: int, value: Any) -> None:
        sheet, line = self._sheet, self._next
        if number in self.numeric and _NUMBER.fullmatch(value):
            value = float(value)
        if isinstance(value, bool):
            sheet.write_boolean(line, number, value)
        elif isinstance(value, (int, float)) and math.isfinite(value) and abs(value) < _EXACT:
            sheet.write_number(line, number, value)
        elif isinstance(value, dt.date) and _FIRST_DAY <= _day(value) <= _LAST_DAY:
            sheet.write_datetime(line, number, value)
        else:
            sheet.write_string(line, number, self._text(str(value)))

    def _text(self, text: str) -> str:
        if 2 * len(text) <= MOST_CHARACTERS:
            return text
        units = text.encode("utf-16-le")  # what Excel counts
        if len(units) <= 2 * MOST_CHARACTERS:
            return text
        self._cut += 1
        return units[: 2 * MOST_CHARACTERS - 2].decode("utf-16-le", "ignore") + "…"


def _numeric(cells: pl.DataFrame) -> frozenset[int]:
    """The columns of texts in which every cell that is not empty is a plain number."""
    texts = ((number, column) for number, column in enumerate(cells) if column.dtype == pl.String)
    filled = ((number, column.drop_nulls().to_list()) for number, column in texts)
    some = ((number, [cell for cell in cells if cell]) for number, cells in filled)
    return frozenset(number for number, cells in some if cells and all(map(_NUMBER.fullmatch, cells)))


def _day(value: dt.date) -> dt.date:
    return value.date() if isinstance(value, dt.datetime) else value
