"""What texts can be grouped by beside their topics: columns of few values, and periods of time.

A group is a number for each row, `NONE` where there is none, and the names of the numbers. The most
frequent value of a column has the number 0: lists and colours keep their order, whatever is filtered.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.explore.caches import Once
from coterie.explore.rows import NO_DAY, NONE, Rows, date_of, filled
from coterie.report.groups import numbered_periods, period_name

#: Most values of a column that can be listed, longest of them, and most such columns.
MOST_VALUES, _LONGEST, _MOST_FACETS = 60, 200, 40
#: Rows by which a column of many values is told without reading all of it.
_FIRST = 5_000


@dataclass(frozen=True)
class Facet:
    """A column of few values; `column` is its number in the table."""

    column: int
    name: str
    is_class: bool
    codes: npt.NDArray[np.int16]
    values: list[str]


@dataclass(frozen=True)
class Periods:
    """Periods of time, without gaps: their names, first and last days, and the period of each row."""

    unit: str
    names: list[str]
    first: list[dt.date]
    last: list[dt.date]
    codes: npt.NDArray[np.int16]


class Facets:
    """All groups of a run."""

    def __init__(self, rows: Rows):
        self._rows = rows
        self.columns = Once(self._columns)
        self.periods = Once(self._periods)

    def of(self, column: int) -> Facet | None:
        """The facet of a column; None if it has too many values, or is none of the file's."""
        return next((facet for facet in self.columns() if facet.column == column), None)

    def _columns(self) -> list[Facet]:
        facets = []
        for number in self._rows.other_columns():
            if (facet := self._facet(number)) is not None:
                facets.append(facet)
        facets.sort(key=lambda facet: not facet.is_class)
        return facets[:_MOST_FACETS]

    def _facet(self, number: int) -> Facet | None:
        column = self._rows.frame[f"c{number}"]
        if column.dtype.is_nested() or column.dtype == pl.Binary:
            return None
        if column.head(_FIRST).n_unique() > MOST_VALUES + 1 or column.n_unique() > 4 * MOST_VALUES:
            return None
        cells = filled(column)
        counts = cells.drop_nulls().value_counts(name="n").sort(["n", "x"], descending=[True, False])
        values = counts["x"].to_list()
        if not 2 <= len(values) <= MOST_VALUES or max(map(len, values)) > _LONGEST:
            return None
        codes = cells.replace_strict(values, np.arange(len(values)), default=NONE, return_dtype=pl.Int16)
        name = self._rows.names[number]
        return Facet(number, name, name == self._rows.class_column, codes.fill_null(NONE).to_numpy(), values)

    def _periods(self) -> Periods | None:
        days = self._rows.days()
        if days is None or not (there := days != NO_DAY).any():
            return None
        known, number, unit = numbered_periods(pl.Series(days[there]).cast(pl.Date))
        codes = np.full(len(days), NONE, dtype=np.int16)
        codes[there] = number
        first = known.to_list()
        last = [after - dt.timedelta(days=1) for after in first[1:]] + [date_of(int(days[there].max()))]
        return Periods(unit, [period_name(begin, unit) for begin in first], first, last, codes)
