"""Texts in memory: lists, arrays, Series, Arrow, frames, generators."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl

from coterie.errors import InputError, shown
from coterie.frames import as_polars, in_arrow, in_partitions, is_a, is_missing, table_of

#: Texts in a batch: large enough to be fast, small enough to save memory.
BATCH_ROWS = 131_072
_LISTS = (list, tuple, np.ndarray)
_USUAL_NAMES = ("text", "texts", "subject", "title", "message", "body", "comment", "description")
_NUMBERS = (bool, int, float, np.number, np.bool_)


@runtime_checkable
class InBatches(Protocol):
    """Texts that come in batches; every pass starts with the first text."""

    def batches(self) -> Iterator[pl.Series]:
        """Series of strings, or of lists of strings."""


def text_batches(source: Any, column: str | None = None, rows: int = BATCH_ROWS) -> Iterator[pl.Series]:
    """The texts in order, as series of at most `rows` texts; at least one series, which may be empty.

    A missing text (None, NaN) becomes an empty one, and a number becomes a string. Texts given as lists of
    tokens become a series of lists.

    >>> [batch.to_list() for batch in text_batches(["a cat", None, 3])]
    [['a cat', '', '3']]
    """
    if in_partitions(source):
        for partition in partitions_of(source):
            yield from text_batches(partition, column, rows)
        return
    whole = _as_series(source, column)
    if whole is not None:
        yield from (whole.slice(start, rows) for start in range(0, max(len(whole), 1), rows))
        return
    if isinstance(source, (str, bytes)):
        raise InputError(
            "texts must be a list of texts, got a single string; put it in a list, "
            "or read a file with coterie.text.read_texts(path)"
        )
    if hasattr(source, "tocsr"):
        raise InputError(
            "texts must be a list of texts, got a sparse matrix",
            python="pass the texts themselves, and what counts them as TopicModel(vectorizer=…)",
        )
    if not isinstance(source, Iterable) or isinstance(source, (bytearray, Mapping, set, frozenset)):
        raise InputError(f"texts must be a list of texts, got {type(source).__name__}")
    stream = iter(source)
    first, tokenised = 0, None
    while (values := list(islice(stream, rows))) or not first:
        batch = clean(values, first, tokenised)
        tokenised = batch.dtype != pl.String
        yield batch
        if not values:
            return
        first += len(values)


def partitions_of(source: Any) -> Iterator[Any]:
    """The partitions of a table or column of Dask as tables or columns of pandas, one after another.

    Each is computed when it is needed, by the workers of the current client or, without one, here.
    """
    for number in range(source.npartitions):
        try:
            partition = source.partitions[number].compute()
        except Exception as error:  # whatever the partition was to be computed from
            said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise InputError(f"partition {number} of the table could not be computed: {said}") from error
        yield partition


def known_length(source: Any) -> int | None:
    """The number of texts, if it is known without reading them."""
    if in_partitions(source):
        return None
    try:
        return len(source)
    except TypeError:
        return None


def _as_series(source: Any, column: str | None) -> pl.Series | None:
    """A series for everything columnar, None for plain Python sequences and streams."""
    table = table_of(source)
    if table is not None:
        source = table.column(table.names.index(choose_column(table.names, column)))
    elif column is not None:
        raise InputError(
            f"column={column!r} needs a table, but the texts are of type {type(source).__name__}"
        )
    if is_a(source, "pyarrow", "Array", "ChunkedArray"):
        source = pl.from_arrow(source)
    if is_a(source, "pandas", "Series"):
        return text_column(as_polars(source)) if in_arrow(source) else clean(source.tolist())
    if isinstance(source, np.ndarray):
        if source.ndim != 1:
            raise InputError(f"texts must be one column, got an array of shape {source.shape}")
        return clean(source.tolist())
    return text_column(source) if isinstance(source, pl.Series) else None


class NoColumn(InputError):
    """A table does not have a column of this name."""


def choose_column(names: Sequence[str], column: str | None, source_name: str = "the table") -> str:
    """The column with the texts: the one given, or the only one.

    Line breaks and spaces in a name need not be typed as they are.

    >>> choose_column(["id", "Your\\n comment "], "Your comment")
    'Your\\n comment '
    """
    if not names:
        raise InputError(f"{source_name} has no columns")
    if column is None and len(names) > 1:
        likely = next((name for name in names if name.casefold() in _USUAL_NAMES), names[-1])
        raise InputError(
            f"{source_name} has several columns: {listed(names)}",
            python=f"pass the one with the texts, such as table[{likely[:30]!r}]",
            command="--text NAME says which one holds the texts",
            page="choose the one with the texts",
        )
    chosen = names[0] if column is None else column
    if not isinstance(chosen, str):
        raise InputError(f"the name of a column must be a string, got {shown(chosen)}")
    alike = (
        [chosen]
        if chosen in names
        else [n for n in dict.fromkeys(names) if plain_name(n) == plain_name(chosen)]
    )
    if not alike:
        near = get_close_matches(chosen.casefold(), [name.casefold() for name in names], n=1)
        meant = next((name for name in names if near and name.casefold() == near[0]), None)
        hint = f"; did you mean {meant!r}?" if meant is not None else ""
        raise NoColumn(f"{source_name} has no column {chosen!r}; it has {listed(names)}{hint}")
    if len(alike) > 1 or names.count(alike[0]) > 1:
        count = sum(map(names.count, alike))
        raise InputError(f"{source_name} has {count} columns called {chosen!r}; rename all but one")
    return alike[0]


def plain_name(name: str) -> str:
    """The name of a column with single spaces, as people type it."""
    return " ".join(name.replace("\ufeff", "").replace("\u200b", "").split())


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names of columns for a sentence, not too many and not too long."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name if len(name) <= 30 else name[:29] + "…") for name in names[:most]) + more


def text_column(series: pl.Series) -> pl.Series:
    """A column of any type as texts: strings, or lists of strings."""
    if series.dtype == pl.Object:
        return clean(series.to_list()).rename(series.name)
    tokenised = isinstance(series.dtype, (pl.List, pl.Array))
    of = series.dtype.inner if isinstance(series.dtype, (pl.List, pl.Array)) else series.dtype
    if of.is_nested() or of in (pl.Binary, pl.Duration):
        raise InputError(f"column {series.name!r} contains {series.dtype}, not texts")
    if tokenised:
        lists = series.cast(pl.List(pl.String))
        return lists.list.drop_nulls().fill_null(pl.Series([[]], dtype=lists.dtype))
    if series.dtype.is_float():
        series = series.fill_nan(None)
    return series.cast(pl.String).fill_null("")


def token_column(series: pl.Series) -> pl.Series:
    """A column of a table as lists of tokens: files that have no lists keep them as JSON."""
    if series.dtype != pl.String:
        return text_column(series)
    try:
        lists = [json.loads(text) if text else [] for text in series]
    except ValueError as error:
        raise InputError(f"column {series.name!r} contains no lists of tokens: {error}") from error
    return clean(lists, tokenised=True).rename(series.name)


def clean(values: Sequence[Any], first: int = 0, tokenised: bool | None = None) -> pl.Series:
    """Python values as a series of texts, or of lists of tokens if one of them is a list.

    `first` is the number of the first value, for messages; `tokenised` says if earlier values were lists.
    """
    types = set(map(type, values))
    if tokenised is None:
        tokenised = any(issubclass(kind, _LISTS) for kind in types)
    try:
        if tokenised:
            tokens = [_tokens(value, first + i) for i, value in enumerate(values)]
            return pl.Series(tokens, dtype=pl.List(pl.String))
        if not types <= {str}:
            values = [_text(value, first + i) for i, value in enumerate(values)]
        return pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError:
        row = next(i for i, value in enumerate(values) if not is_unicode(value))
        raise InputError(
            f"text {first + row} contains half a character (a lone surrogate): {str(values[row])[:60]!r}"
        ) from None


def strings(name: str, values: Any) -> tuple[str, ...]:
    """Several words or names, in any collection but a single string."""
    try:
        found = () if isinstance(values, (str, bytes, Mapping)) else tuple(values)
    except TypeError:
        found = ()
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list of strings, got {shown(values)}")
    for value in found:
        if not isinstance(value, str) or not is_unicode(value):
            raise InputError(f"{name} must be a list of strings, but contains {shown(value)}")
    return tuple(map(str, found))


def is_unicode(value: Any) -> bool:
    """Whether a value, or each of its tokens, can be written as UTF-8."""
    try:
        "".join(value if isinstance(value, _LISTS) else str(value)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: Any, number: int) -> str:
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        return ""
    if isinstance(value, _NUMBERS):
        return str(value)
    raise InputError(f"text {number} must be a string, got {type(value).__name__}: {str(value)[:60]!r}")


def _tokens(value: Any, number: int) -> list[str]:
    if is_missing(value):
        return []
    if not isinstance(value, _LISTS):
        raise InputError(f"text {number} must be a list of tokens like the others, got {str(value)[:60]!r}")
    for token in value:
        if not isinstance(token, str):
            raise InputError(f"text {number} must be a list of strings, but contains {token!r}")
    return list(value)
