"""Which column of a table holds the texts."""

from __future__ import annotations

import warnings
from collections.abc import Hashable

import polars as pl

from coterie.errors import InputError
from coterie.frames import Table, unique
from coterie.text.columns import SEEN, guess_text
from coterie.text.inputs import choose_column, listed


def text_position(table: Table, name: Hashable | None, otherwise: str = "text=… names another") -> int:
    """The place of the column with the texts: the one named, the only one, or the one that looks like texts.

    A guess is said in a warning, as ``coterie fit`` prints it.
    """
    if name is not None or len(table.names) < 2:
        return position(table, name)
    likely = [column for column in table.head(SEEN).get_columns() if can_be_texts(column.dtype)]
    guess = guess_text(pl.DataFrame(likely))
    if guess is None:
        raise InputError(
            f"the table has no column that looks like texts; it has {listed(table.names)}",
            python="text=… says which one holds the texts",
        )
    warnings.warn(f"the texts are in column {guess[:60]!r}, judging by its values; {otherwise}", stacklevel=5)
    return unique(table.names).index(guess)


def position(table: Table, name: Hashable | None) -> int:
    """The place of the column of a name, as the library has it or as people type it."""
    if not isinstance(name, str | None) and table.labels.count(name) == 1:
        return table.labels.index(name)
    return table.names.index(choose_column(table.names, name))  # type: ignore[arg-type]


def can_be_texts(dtype: pl.DataType) -> bool:
    """Whether a column of this type may hold texts that nobody pointed out."""
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Object, pl.Duration)
