"""Several files as one: the first file that has rows decides how the others are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from coterie.errors import InputError
from coterie.text.readers.array import is_document
from coterie.text.readers.encodings import spoken
from coterie.text.readers.formats import Format
from coterie.text.readers.rows import Batch

_NAMES: dict[Format, str] = {
    "csv": "CSV", "tsv": "TSV", "jsonl": "JSON", "json": "JSON", "parquet": "Parquet",
    "xlsx": "an Excel file", "lines": "plain text",
}  # fmt: skip


@dataclass(frozen=True)
class First:
    """What the first file was like: the others must be like it."""

    source_name: str
    format: Format
    encoding: str | None
    delimiter: str | None
    sheet: str | None
    column: str
    tokenised: bool
    schema: Mapping[str, pl.DataType]

    def check_packed(self, found: Format | None, source_name: str) -> None:
        """Refuse a Parquet or Excel file among others, and others among these."""
        wanted = self.format if self.format in ("parquet", "xlsx") else None
        if found != wanted:
            other = f"is {_NAMES[found]}" if found else f"is not {_NAMES[self.format]}"
            raise InputError(
                f"{source_name} {other}, but {self.source_name} is {_NAMES[self.format]}; files that are "
                "read together must have the same format"
            )

    def text_format(self, head: str) -> Format:
        """The format of a text; JSON may be an array in one file, and an object on each line in another."""
        if self.format in ("json", "jsonl"):
            return "json" if is_document(head) else "jsonl"
        return self.format

    def encoding_for(self, detected: str) -> str:
        """The encoding of another file: UTF-8 is certain, but older encodings are guesses."""
        sure = spoken(detected) is None or detected.startswith("utf")
        return detected if sure or self.encoding is None else self.encoding

    def aligned(self, batch: Batch, column: str | None, source_name: str) -> Batch:
        """A batch with the same name and kind of texts as the first file, and the same types of columns."""
        if (batch.texts.dtype != pl.String) != self.tokenised:
            kinds = ("texts", "lists of tokens")
            raise InputError(
                f"column {self.column!r} has {kinds[not self.tokenised]} in {source_name}, but "
                f"{kinds[self.tokenised]} in {self.source_name}; use one kind in all files"
            )
        table = batch.table
        if column is not None and column != self.column and self.column not in table.columns:
            table = table.rename({column: self.column})
        return replace(batch, table=same_types(table, self.schema, source_name, self.source_name))


def same_types(
    table: pl.DataFrame, schema: Mapping[str, pl.DataType], source_name: str, first_name: str
) -> pl.DataFrame:
    """A table whose columns have the types of a schema, where no value changes by that."""
    for name, dtype in table.schema.items():
        wanted = schema.get(name, dtype)
        if dtype != wanted:
            column = _converted(table[name], wanted)
            if column is None:
                raise InputError(
                    f"column {name!r} contains {str(dtype)[:60]} in {source_name}, but {str(wanted)[:60]} in "
                    f"{first_name}; give it the same type in all files"
                )
            table = table.with_columns(column)
    return table


def _converted(column: pl.Series, dtype: pl.DataType) -> pl.Series | None:
    """A column as another type; None if that loses something."""
    try:
        converted = column.cast(dtype)
        same = converted.cast(column.dtype).equals(column, null_equal=True)
    except pl.exceptions.PolarsError:
        return None
    return converted if same else None


def without_untyped(table: pl.DataFrame) -> pl.DataFrame:
    """Columns of nothing but nulls have no type in Parquet; as texts they fit what other files have there."""
    untyped = [name for name, dtype in table.schema.items() if dtype == pl.Null]
    return table.cast(dict.fromkeys(untyped, pl.String)) if untyped else table
