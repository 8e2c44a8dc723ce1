"""Tables of other libraries: their columns, and results as a table of the same kind.

pandas is known by name; everything else comes through the Arrow interface (`__arrow_c_stream__`), which Arrow
tables, DuckDB relations and others have, and which shares memory where it can.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

Kind = Literal["polars", "pandas", "arrow"]
#: Packages with the tables of Dask, of newer and older versions.
_DASK = ("dask", "dask_expr")


def is_a(value: Any, package: str, *names: str) -> bool:
    """Whether a value is an instance of a class of a package that may not be installed."""
    return any(c.__module__.split(".")[0] == package and c.__name__ in names for c in type(value).__mro__)


def in_partitions(value: Any) -> bool:
    """Whether a value is a table or a column of Dask."""
    return any(is_a(value, package, "DataFrame", "Series") for package in _DASK)


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or the equivalents of pandas."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


@dataclass(frozen=True)
class Table:
    """A table with named columns; a column is converted when it is asked for.

    `names` are spelled as people type them: of columns with several levels, ``ticket.subject``. `labels` are
    what the library calls them. `data` is a table of polars or pandas; in one of polars, of several columns
    with one name the later ones are called ``name_2``.
    """

    names: tuple[str, ...]
    labels: tuple[Hashable, ...]
    data: Any

    def __len__(self) -> int:
        return len(self.data)

    def column(self, number: int) -> Any:
        """A column by its place: a series of polars or pandas."""
        if isinstance(self.data, pl.DataFrame):
            return self.data.to_series(number)
        return self.data.iloc[:, number]

    def head(self, rows: int) -> pl.DataFrame:
        """The first rows as a table of polars."""
        return Table(self.names, self.labels, self.data.head(rows)).polars()

    def polars(self) -> pl.DataFrame:
        """The whole table, each column with a name of its own."""
        if isinstance(self.data, pl.DataFrame):
            return self.data
        columns = (as_polars(self.column(number)) for number in range(len(self.names)))
        return pl.DataFrame(
            [column.alias(name) for name, column in zip(unique(self.names), columns, strict=True)]
        )


def table_of(value: Any) -> Table | None:
    """A value as a table; None if it is none. What is computed on demand is computed here, once."""
    if isinstance(value, pl.LazyFrame):
        value = value.collect()
    if isinstance(value, pl.DataFrame):
        return Table(tuple(value.columns), tuple(value.columns), value)
    if any(is_a(value, package, "DataFrame") for package in ("pandas", *_DASK)):  # that of Dask stays lazy
        return Table(tuple(map(_spelled, value.columns)), tuple(value.columns), value)
    if is_a(value, "pyarrow", "RecordBatchReader"):
        value = value.read_all()
    if is_a(value, "pyarrow", "Table", "RecordBatch"):
        names = tuple(value.schema.names)
        return Table(names, names, pl.DataFrame(value.rename_columns(unique(names))))
    if isinstance(value, (pl.Series, type)) or is_a(value, "pandas", "Series"):
        return None
    if hasattr(value, "__arrow_c_stream__"):
        rows = pl.Series(value)
        if isinstance(rows.dtype, pl.Struct):
            frame = rows.struct.unnest()
            return Table(tuple(frame.columns), tuple(frame.columns), frame)
    return None


def _spelled(label: Hashable) -> str:
    if isinstance(label, tuple):
        return ".".join(str(part) for part in label if str(part))
    return str(label)


def unique(names: Sequence[str]) -> list[str]:
    """Names that differ: the second of two that are equal gets a number.

    >>> unique(["a", "a", "b"])
    ['a', 'a_2', 'b']
    """
    found: list[str] = []
    for name in names:
        free, number = name, 1
        while free in found or (number > 1 and free in names):
            number += 1
            free = f"{name}_{number}"
        found.append(free)
    return found


def as_polars(series: Any) -> pl.Series:
    """A series of pandas as one of polars; values that have no type in common become text."""
    arrow = series.array.__arrow_array__() if in_arrow(series) else None
    if arrow is not None:
        return pl.Series(pl.from_arrow(arrow))
    if (
        isinstance(series.dtype, np.dtype)
        and series.dtype.kind in "biuf"
        and series.dtype.itemsize in range(1, 9)
    ):
        return pl.Series(series.to_numpy(), nan_to_null=True)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind == "M":
        return pl.Series(series.to_numpy().astype("datetime64[us]"))
    values = [None if is_missing(value) else value for value in series.tolist()]
    types = {type(value) for value in values if value is not None}
    if types <= {int, float} or types <= {bool} or types <= {list}:
        try:
            return pl.Series(values, strict=False)
        except (TypeError, pl.exceptions.PolarsError):
            pass
    spelled = [None if value is None else str(value).encode("utf-8", "replace").decode() for value in values]
    return pl.Series(spelled, dtype=pl.String)


def in_arrow(series: Any) -> bool:
    """Whether a series of pandas is kept as Arrow has it."""
    return type(series.dtype).__name__ == "ArrowDtype" or getattr(series.dtype, "storage", "") == "pyarrow"


@dataclass(frozen=True)
class Shape:
    """What tables of results look like: those of which library, and in pandas with which index."""

    kind: Kind = "polars"
    index: Any = None

    def of(self, frame: pl.DataFrame) -> Any:
        """A table of polars as one of this kind."""
        if self.kind == "arrow":
            return frame.to_arrow()
        if self.kind == "polars":
            return frame
        import pandas as pd

        columns = {name: _pandas_values(frame[name]) for name in frame.columns}
        return pd.DataFrame(columns, columns=frame.columns, index=self.index)


#: The shape of results where nothing else was given.
POLARS = Shape()


def shape_of(value: Any) -> Shape | None:
    """The shape of results for a value; None for lists and what else is no table or column."""
    if is_a(value, "pandas", "DataFrame", "Series"):
        return Shape("pandas", value.index)
    if is_a(value, "pyarrow", "Table", "RecordBatch", "RecordBatchReader", "Array", "ChunkedArray"):
        return Shape("arrow")
    if isinstance(value, (pl.DataFrame, pl.LazyFrame, pl.Series)) or table_like(value):
        return POLARS
    return None


def table_like(value: Any) -> bool:
    """Whether a value may be a table or a column of some library."""
    return hasattr(value, "__arrow_c_stream__") and not isinstance(value, type)


def _pandas_values(series: pl.Series) -> Any:
    """The values of a column as pandas takes them; whole numbers stay whole where some are missing."""
    import pandas as pd

    if series.dtype == pl.Date:
        return series.cast(pl.Datetime("us")).to_numpy()
    if series.dtype.is_integer() and series.null_count():
        return pd.array(series.to_list(), dtype="Int64")
    if series.dtype.is_numeric():
        return series.to_numpy()
    return series.to_list()
