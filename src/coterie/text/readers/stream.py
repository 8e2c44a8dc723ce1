"""Tables that come piece by piece as sources: the record batches of a query, the partitions of Dask."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.frames import Table, is_a, table_of, unique
from coterie.text.inputs import partitions_of, text_column
from coterie.text.nulls import without_nulls
from coterie.text.readers.rows import Batch
from coterie.text.readers.source import Layout, TextSource
from coterie.text.tables import text_position


@dataclass
class TableStream(TextSource):
    """The rows of a `pyarrow.RecordBatchReader`, such as DuckDB and ADBC give.

    Memory holds some batches at a time. `text` names the column of the texts.
    """

    reader: Any = field(default=None, repr=False)
    text: Hashable | None = None
    begun: bool = False

    @property
    def source_name(self) -> str:
        """What messages call it."""
        return "the table"

    @property
    def may_grow(self) -> bool:
        """Whether later rows may have further columns: they have not."""
        return self.layout is None

    def plain_bytes(self) -> int | None:
        """Nobody knows how much is to come."""
        return None

    def __iter__(self) -> Iterator[Batch]:
        if self.begun:
            raise InputError("the record batches were already read, which is possible once; query again")
        self.begun = True
        start, column = 0, 0
        for table in self._tables():
            frame = table.polars()
            if self.layout is None:
                column = text_position(table, self.text)
                self.layout = Layout("parquet", column=frame.columns[column])
            texts = text_column(without_nulls(frame.to_series(column)))
            yield Batch(texts, frame, range(start + 1, start + 1 + len(frame)))
            start += len(frame)

    def _tables(self) -> Iterator[Table]:
        names = tuple(self.reader.schema.names)
        return (Table(names, names, frame) for frame in self._frames(unique(names)))

    def _frames(self, names: list[str]) -> Iterator[pl.DataFrame]:
        """Tables of `batch_rows` rows; one without rows if there are none."""
        waiting = _frame(self.reader.schema.empty_table(), names)
        first = True
        while (more := self._next()) is not None:
            waiting = pl.concat([waiting, _frame(more, names)])
            while len(waiting) >= self.batch_rows:
                yield waiting.head(self.batch_rows)
                waiting, first = waiting.slice(self.batch_rows), False
        if first or len(waiting):
            yield waiting

    def _next(self) -> Any:
        try:
            return self.reader.read_next_batch()
        except StopIteration:
            return None
        except Exception as error:  # whatever the database says
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(f"the next rows of the table could not be read: {said[:200]}") from error


@dataclass
class PartitionStream(TableStream):
    """The rows of a table or column of Dask; `reader` is that. One partition is in memory at a time."""

    def _tables(self) -> Iterator[Table]:
        """Tables of at most `batch_rows` rows; one without rows if there are none."""
        empty: Table | None = None
        for partition in partitions_of(self.reader):
            table = table_of(_with_columns(partition))
            assert table is not None
            frame = table.polars()
            for start in range(0, len(frame), self.batch_rows):
                yield Table(table.names, table.labels, frame.slice(start, self.batch_rows))
            empty = Table(table.names, table.labels, frame.clear())
        if self.layout is None and empty is not None:
            yield empty


def _frame(batch: Any, names: list[str]) -> pl.DataFrame:
    return pl.DataFrame(batch.rename_columns(names))


def _with_columns(partition: Any) -> Any:
    """A partition as a table of pandas, also if it is a column."""
    if not is_a(partition, "pandas", "Series"):
        return partition
    return partition.to_frame("text" if partition.name is None else partition.name)
