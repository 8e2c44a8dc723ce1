"""What comes with texts in a table: their column, dates and classes, and the kind of table for results."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from coterie.errors import InputError, shown
from coterie.frames import POLARS, Shape, Table, in_partitions, is_a, shape_of, table_of
from coterie.text.dates import column_of
from coterie.text.inputs import NoColumn, choose_column, known_length, listed
from coterie.text.readers import TextSource
from coterie.text.readers.stream import PartitionStream, TableStream
from coterie.text.tables import position, text_position
from coterie.topics.collection import TextStore

#: What messages call values that are given, by the name that their column gets.
_CALLED = {"date": "dates", "class": "classes"}


class Column(NamedTuple):
    """A column of the fitted table, at a place in it, or values that were given beside the texts.

    `values` is None for a column of a file, which is read when it is needed.
    """

    name: str
    values: Any
    at: int | None = None


@dataclass(frozen=True)
class Columns:
    """What was given to `fit` beside the texts. A model that was loaded knows the name of the texts only."""

    shape: Shape = POLARS
    text: str | None = None
    date: Column | None = None
    classes: Column | None = None
    #: The table that the texts are a column of.
    table: Table | None = None

    def dates_for(self, given: Any, file: TextStore) -> Any:
        """Dates to count by: the values given, the column of that name, or those of the fit."""
        column = self.date if given is None else self.named(given, "date")
        if column is None:
            raise InputError(
                "dates are needed, one per text",
                python='pass them, or name their column in the fit: fit(table, date="created")',
            )
        return self.values(column, file)

    def classes_for(self, given: Any, file: TextStore) -> Any:
        """Classes to count by: the values given, the column of that name, or those of the fit."""
        column = self.classes if given is None else self.named(given, "class")
        if column is None:
            raise InputError(
                "classes are needed, one per text",
                python='pass them, or name their column in the fit: fit(table, classes="team")',
            )
        return self.values(column, file)

    def values(self, column: Column, file: TextStore) -> Any:
        """The values of a column; `file` has those of a file."""
        if column.values is not None:
            return column.values
        return file.column(name_in_file(file, column.name))

    def named(self, given: Any, otherwise: str) -> Column:
        """A column by its name, or the values themselves, which are called `otherwise`."""
        labels = self.table.labels if self.table is not None else ()
        if isinstance(given, str) or (isinstance(given, (int, tuple)) and given in labels):
            if self.table is None:
                return Column(str(given), None)
            at = position(self.table, given)
            return Column(self.table.names[at], self.table.column(at), at)
        return Column(otherwise, column_of(given, _CALLED[otherwise]))


def take(texts: Any, text: Hashable | None, date: Any, classes: Any) -> tuple[Any, Columns]:
    """The texts of what `fit` was given, and what came with them."""
    shape = replace(shape_of(texts) or POLARS, index=None)
    if is_a(texts, "pyarrow", "RecordBatchReader"):
        texts, text = TableStream("", reader=texts, text=text), None
    elif in_partitions(texts):
        texts, text = PartitionStream("", reader=texts, text=text), None
    table = table_of(texts)
    columns = Columns(shape, table=table)
    if table is not None:
        at = text_position(table, text)
        texts, columns = table.column(at), replace(columns, text=table.names[at])
    elif text is not None:
        raise InputError(
            f"text={shown(text)} names the column of a table, but the texts are of type "
            f"{type(texts).__name__}; leave it out"
        )
    columns = replace(
        columns,
        date=None if date is None else columns.named(date, "date"),
        classes=None if classes is None else columns.named(classes, "class"),
    )
    groups = {"date": columns.date, "classes": columns.classes}
    if isinstance(texts, TextSource):
        return TextStore(texts, lambda store: _check_names(store, groups)), columns
    _check_values(texts, groups)
    return texts, columns


def with_file(columns: Columns, texts: TextStore) -> Columns:
    """The same once a file was read: now its column with the texts is known."""
    layout = None if texts.file is None else texts.file.layout
    return columns if layout is None else replace(columns, text=layout.column)


def texts_of(texts: Any, columns: Columns) -> tuple[Any, Shape]:
    """New texts, and the shape of what is said about them: of a table, the column that was fitted."""
    shape = shape_of(texts) or columns.shape
    table = table_of(texts)
    if table is None:
        return texts, shape
    name = columns.text
    try:
        return table.column(text_position(table, name, "pass the column itself to name another")), shape
    except NoColumn:
        raise InputError(
            f"the table has no column {name!r}, which held the texts in the fit; it has "
            f"{listed(table.names)}",
            python="pass the column with the texts, such as table[…]",
        ) from None


def _check_names(file: TextStore, groups: dict[str, Column | None]) -> None:
    """Refuse names that a file does not have, as soon as its columns are known."""
    for column in groups.values():
        if column is not None and column.values is None and (file.complete or not _may_grow(file)):
            name_in_file(file, column.name)


def _may_grow(file: TextStore) -> bool:
    """Whether later rows may have further columns."""
    return file.file is None or file.file.may_grow


def name_in_file(file: TextStore, name: str) -> str:
    """The name of a column as the file has it."""
    if file.file is None:
        raise InputError(f"{name!r} names a column, but the texts were no table; pass the values themselves")
    return choose_column(list(file.columns), name, file.file.source_name)


def _check_values(texts: Any, groups: dict[str, Column | None]) -> None:
    """Refuse what is no column of values, one per text, before anything is learned."""
    n_texts = None if isinstance(texts, TextStore) else known_length(texts)
    for option, column in groups.items():
        if column is None:
            continue
        if column.values is None and not isinstance(texts, TextStore):
            raise InputError(
                f"{option}={column.name!r} names a column, but the texts are no table; pass the values"
            )
        n_values = known_length(column.values)
        if None not in (n_texts, n_values) and n_texts != n_values:
            raise InputError(f"{option} must have one value per text: got {n_values:,} for {n_texts:,} texts")
