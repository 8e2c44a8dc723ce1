"""The file of `--bad-rows`: rows that could not be read, with their place, the reason and their content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from coterie.storage.tables import CsvWriter

if TYPE_CHECKING:
    from coterie.text.readers import BadRow

_COLUMNS = {
    "file": pl.String,
    "unit": pl.String,
    "number": pl.Int64,
    "reason": pl.String,
    "content": pl.String,
}


class BadRowsFile:
    """A CSV file with a line for each bad row; what stands in the row is cut after 1,000 characters.

    `unit` says what `number` counts: lines, or the records of a JSON array.
    """

    def __init__(self, path: Path, source_name: str):
        self._source_name = source_name
        self._table = CsvWriter(path, _COLUMNS)
        self._table.__enter__()

    def write(self, rows: Sequence[BadRow]) -> None:
        """Add rows."""
        cells = [
            (row.file or self._source_name, row.unit, row.line, row.reason, row.value or None) for row in rows
        ]
        self._table.write(pl.DataFrame(cells, schema=_COLUMNS, orient="row"))

    def close(self) -> None:
        """Finish the file."""
        self._table.__exit__(None, None, None)
