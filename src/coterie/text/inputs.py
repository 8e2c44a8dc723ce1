"""Texts that are in memory already: lists, arrays, Series, Arrow, frames, generators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from coterie.errors import InputError

#: Texts worked on together. Large enough to be fast, small enough to stay out of the way.
BATCH_ROWS = 100_000


def text_batches(source: Any, column: str | None = None, rows: int = BATCH_ROWS) -> Iterator[pl.Series]:
    """Series of texts, at most `rows` at a time, in order; at least one, be it empty.

    A missing text (None, NaN) is an empty one; a number is its own spelling. Texts given as lists of
    tokens come as a series of lists.

    >>> [batch.to_list() for batch in text_batches(["a cat", None, 3])]
    [['a cat', '', '3']]
    """
    if isinstance(source, (str, bytes)):
        raise InputError(
            "texts must be a list of texts, but one string was given; put it in a list, "
            "or read a file with coterie.text.read_texts(path)"
        )
    whole = _as_series(source, column)
    if whole is not None:
        yield from (whole.slice(start, rows) for start in range(0, max(len(whole), 1), rows))
        return
    if not isinstance(source, Iterable):
        raise InputError(f"texts must be a list of texts, got {type(source).__name__}")
    stream = iter(source)
    first = 0
    while (batch := list(islice(stream, rows))) or not first:
        yield clean(batch, first)
        if not batch:
            return
        first += len(batch)


def known_length(source: Any) -> int | None:
    """The number of texts, where it can be told without reading them."""
    return len(source) if hasattr(source, "__len__") else None


def _as_series(source: Any, column: str | None) -> pl.Series | None:
    """A series for everything columnar, None for plain Python sequences and streams."""
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if (
        isinstance(source, pl.DataFrame)
        or _is(source, "pandas", "DataFrame")
        or _is(source, "pyarrow", "Table")
    ):
        source = _column(source, column)
    elif column is not None:
        raise InputError(
            f"column={column!r} was given, but the texts are not a table: {type(source).__name__}"
        )
    if _is(source, "pyarrow", "Array") or _is(source, "pyarrow", "ChunkedArray"):
        source = pl.from_arrow(source)
    if _is(source, "pandas", "Series") or isinstance(source, np.ndarray):
        if getattr(source, "ndim", 1) != 1:
            raise InputError(f"texts must be one column, got an array of shape {source.shape}")
        return clean(source.tolist())
    return text_column(source) if isinstance(source, pl.Series) else None


def _is(value: Any, package: str, name: str) -> bool:
    """Whether a value is of a class of a package that need not be installed."""
    return any(c.__module__.split(".")[0] == package and c.__name__ == name for c in type(value).__mro__)


def _column(table: Any, column: str | None) -> Any:
    names = [str(name) for name in (table.column_names if hasattr(table, "column_names") else table.columns)]
    return table[choose_column(names, column)]


def choose_column(names: Sequence[str], column: str | None, place: str = "the table") -> str:
    """The column that holds the texts: the one named, or the only one there is."""
    if column is None:
        if len(names) == 1:
            return names[0]
        raise InputError(f"{place} has several columns; say which one holds the texts: {_listed(names)}")
    if column not in names:
        raise InputError(f"{place} has no column {column!r}; it has {_listed(names)}")
    return column


def _listed(names: Sequence[str], most: int = 30) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def text_column(series: pl.Series) -> pl.Series:
    """A column of any type as texts: strings, or lists of strings."""
    if series.dtype == pl.Object:
        return clean(series.to_list())
    if isinstance(series.dtype, (pl.List, pl.Array)):
        lists = series.cast(pl.List(pl.String))
        return lists.list.eval(pl.element().drop_nulls()).fill_null(pl.Series([[]], dtype=pl.List(pl.String)))
    if series.dtype == pl.Binary or isinstance(series.dtype, pl.Struct):
        raise InputError(f"column {series.name!r} holds {series.dtype}, not texts")
    return series.cast(pl.String).fill_null("")


def clean(values: Sequence[Any], first: int = 0) -> pl.Series:
    """Python values as a series of texts; `first` is the number of the first, for messages."""
    try:
        types = set(map(type, values))
        if types <= {str}:
            return pl.Series(values, dtype=pl.String)
        if types <= {list, tuple}:
            return pl.Series([_tokens(v, first + i) for i, v in enumerate(values)], dtype=pl.List(pl.String))
        return pl.Series([_text(value, first + i) for i, value in enumerate(values)], dtype=pl.String)
    except UnicodeEncodeError:
        row = next(i for i, value in enumerate(values) if not is_unicode(value))
        raise InputError(
            f"text {first + row} holds half a character (a lone surrogate): {str(values[row])[:60]!r}"
        ) from None


def is_unicode(value: Any) -> bool:
    """Whether a value, or each of its tokens, can be written as UTF-8."""
    try:
        "".join(value if isinstance(value, (list, tuple)) else str(value)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: Any, number: int) -> str:
    if isinstance(value, str):
        return str(value)
    if (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, (float, np.floating)) and np.isnan(value))
    ):
        return ""
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return str(value)
    raise InputError(f"text {number} must be a string, got {type(value).__name__}: {str(value)[:60]!r}")


def _tokens(value: Sequence[Any], number: int) -> list[str]:
    for token in value:
        if not isinstance(token, str):
            raise InputError(f"text {number} must be a list of strings, but holds {token!r}")
    return list(value)
