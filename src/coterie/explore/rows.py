"""The rows of a run: all cells in a file that is mapped into memory, and in memory what rows are chosen by.

The table of a run is Parquet, packed in groups of many rows: good to keep, slow to take single rows from. So
it is unpacked once, batch by batch, into a temporary file that goes with this object.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.errors import InputError
from coterie.explore.caches import Once
from coterie.explore.search import folded
from coterie.results import NO_KNOWN_WORD
from coterie.runs import Run
from coterie.runs.record import TABLE
from coterie.runs.table import check_columns
from coterie.storage.temporary import TemporaryFolder, report_full
from coterie.text.dates import read_dates
from coterie.text.nulls import NULL

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: The number of a date, a class or a second topic that is not there.
NONE = -1
#: Rows that are worked on together.
BATCH = 65_536
#: Class codes take two bytes: further classes count as none.
_MOST_CLASSES = 32_000
_EPOCH = dt.date(1970, 1, 1).toordinal()


class Rows:
    """Rows of a run. `ids` are the topics' ids from the largest on."""

    def __init__(self, run: Run, ids: list[int]):
        self._run, self._ids = run, ids
        self._data = run.info["data"]
        self.names: list[str] = []
        self.frame = run.read(TABLE, lambda path: self._unpacked(run, path))
        self.n = len(self.frame)
        added = run.columns
        self._at = {name: f"c{self.names.index(added[name])}" for name in added}
        # a row that is not `known` has no topic: it is left out before this is asked
        self.topic = np.maximum(self._indexes("topic"), 0).astype(np.uint16)
        self.second = self._indexes("second").astype(np.int16)
        self.confidence = self._numbers("confidence", np.float32)
        self.lengths = Once(self._lengths)
        self.days = Once(self._days)
        self.classes = Once(self._classes)
        self.known = Once(self._known)

    # --- the table

    def _unpacked(self, run: Run, path: Path) -> pl.DataFrame:
        self._folder = TemporaryFolder("rows")
        file = self._folder.path / "rows.arrow"
        try:
            table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            schema = table.collect_schema()
            check_columns(schema, run.info, path)
            self.names = schema.names()
            # by number: polars takes a column called * or ^a$ for a pattern
            cells = table.select(pl.nth(at).alias(f"c{at}") for at in range(len(self.names)))
            at = self.names.index(self._data["column"])
            text = pl.col(f"c{at}").cast(pl.String).fill_null("")
            if self._data.get("tokenised"):
                self._lists = _listed(pl.col(f"c{at}"), schema.dtypes()[at])
                text = self._lists.list.join(" ")
            with report_full():
                cells.with_columns(text=text).with_columns(folded=folded(pl.col("text"))).sink_ipc(
                    file, compression="uncompressed", maintain_order=True
                )
            found = pl.read_ipc(file)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            what = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(f"{path} could not be read: {what[:200]}; fit again") from error
        if len(found) != self._data["texts"]:
            raise InputError(f"{path} has {len(found):,} rows instead of {self._data['texts']:,}; fit again")
        return found

    def texts(self) -> pl.Series:
        """All texts as the model reads them: strings, or lists of tokens where they came as such."""
        return self.texts_of(self.frame)

    def texts_of(self, rows: pl.DataFrame) -> pl.Series:
        """The same of some rows."""
        if not self._data.get("tokenised"):
            return rows["text"]
        return rows.select(self._lists.alias("text")).to_series()

    def at(self, rows: npt.NDArray[np.integer[Any]]) -> pl.DataFrame:
        """Some rows, in the order asked for."""
        return self.frame[np.asarray(rows, dtype=np.uint32)]

    def cells(self, rows: npt.NDArray[np.integer[Any]]) -> pl.DataFrame:
        """Some rows as they are in the table of the run."""
        rows_there = self.at(rows)
        return pl.DataFrame({name: rows_there[f"c{number}"] for number, name in enumerate(self.names)})

    def batches(self, rows: npt.NDArray[np.integer[Any]]) -> Iterator[pl.DataFrame]:
        """Rows as they are in the table, some at a time; one empty batch of none."""
        return (self.cells(rows[start : start + BATCH]) for start in range(0, max(len(rows), 1), BATCH))

    def strings(self, part: str, rows: pl.DataFrame) -> list[str | None]:
        """The date or the label of rows, as it is written; None where there is none."""
        name = self._data.get(part)
        if not name or name not in self.names:
            return [None] * len(rows)
        column = rows[f"c{self.names.index(name)}"]
        if column.dtype.is_nested():
            return [None if value is None else str(value) for value in column]
        return filled(column).to_list()

    # --- columns that rows are chosen by

    @property
    def class_column(self) -> str | None:
        """The name of the class column; None without one."""
        return self._data.get("label") or None

    def other_columns(self) -> list[int]:
        """Numbers of the columns of the file that hold neither the texts nor their dates."""
        ours = {self._data["column"], self._data.get("date"), *self._run.columns.values()}
        return [number for number, name in enumerate(self.names) if name not in ours]

    def _indexes(self, name: str) -> Ints:
        """Topic ids as indexes; `NONE` where there is none."""
        ids = self.frame[self._at[name]].cast(pl.Int64).fill_null(NONE).to_numpy()
        order = np.argsort(self._ids)
        ranked = np.array(self._ids, dtype=np.int64)[order]
        where = np.minimum(np.searchsorted(ranked, ids), len(ranked) - 1)
        strange = (ranked[where] != ids) & (ids != NONE)
        if strange.any():
            raise InputError(
                f"{self._run.folder / TABLE} has a topic that the model does not have; fit again"
            )
        return np.where(ids == NONE, NONE, order[where])

    def _numbers(self, name: str, dtype: Any) -> Any:
        return self.frame[self._at[name]].cast(pl.Float64).fill_null(0.0).to_numpy().astype(dtype)

    def _lengths(self) -> npt.NDArray[np.uint32]:
        return self.frame["text"].str.len_chars().to_numpy().astype(np.uint32)

    def _known(self) -> Bools:
        reason = self.frame[self._at["reason"]].cast(pl.String)
        return (reason != NO_KNOWN_WORD).fill_null(True).to_numpy()

    def _column(self, part: str) -> pl.Series | None:
        name = self._data.get(part)
        return self.frame[f"c{self.names.index(name)}"] if name and name in self.names else None

    def _days(self) -> npt.NDArray[np.int32] | None:
        """Days since 1970; None where there is no column of dates, or one that cannot be read."""
        column = self._column("date")
        if column is None or column.dtype.is_nested():
            return None
        distinct = column.unique(maintain_order=True)
        read = read_dates(distinct, self._data.get("day_first"))
        dates, bad = read.days, read.unread
        if bad is not None and bad.count > len(dates) - dates.null_count():  # this is no column of dates
            return None
        spelled = pl.DataFrame({"x": distinct, "day": dates.cast(pl.Int32)})
        joined = (
            column.alias("x")
            .to_frame()
            .join(spelled, on="x", how="left", maintain_order="left", nulls_equal=True)
        )
        return joined["day"].fill_null(np.iinfo(np.int32).min).to_numpy()

    def _classes(self) -> tuple[npt.NDArray[np.int16], list[str]] | None:
        """The class of each row as a number, and the names of the classes in order; None without any."""
        column = self._column("label")
        if column is None or column.dtype.is_nested():
            return None
        values = filled(column)
        names = values.drop_nulls().unique().sort()[:_MOST_CLASSES]
        codes = values.replace_strict(names, np.arange(len(names)), default=NONE, return_dtype=pl.Int16)
        return codes.fill_null(NONE).to_numpy(), names.to_list()


def filled(column: pl.Series) -> pl.Series:
    """Cells as strings; null where there is nothing but spaces, or a word for nothing."""
    cell = pl.col("x").cast(pl.String)
    nothing = cell.str.contains(rf"^\s*(?:{NULL})?\s*$")
    return column.alias("x").to_frame().select(pl.when(~nothing).then(cell)).to_series()


def _listed(cell: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Lists of tokens, which may be written as JSON."""
    tokens = pl.List(pl.String)
    if not dtype.is_nested():
        text = cell.cast(pl.String).fill_null("")
        cell = pl.when(text != "").then(text).otherwise(pl.lit("[]")).str.json_decode(tokens)
    return cell.cast(tokens).list.drop_nulls().fill_null(pl.lit([], dtype=tokens))


#: The day of a row without a date.
NO_DAY = np.iinfo(np.int32).min


def day(date: dt.date) -> int:
    """Days since 1970."""
    return date.toordinal() - _EPOCH


def date_of(day: int) -> dt.date:
    """The date of such a day; the first or the last that there is for one beyond."""
    return dt.date.fromordinal(min(max(day + _EPOCH, 1), dt.date.max.toordinal()))
