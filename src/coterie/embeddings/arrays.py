"""Vectors as people have them (arrays, columns of lists, tables of numbers, tensors) as one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.errors import InputError, shown

Vectors = npt.NDArray[np.float32]


def checked(vectors: Any, n_rows: int | None = None) -> Vectors:
    """A two-dimensional array of finite numbers, with a row for each of `n_rows` texts if that is known.

    >>> checked(pl.Series([[1, 2], [3, 4]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    array = _array(vectors)
    if array.ndim != 2 or array.shape[1] < 1 or n_rows not in (None, array.shape[0]):
        texts = "text" if n_rows is None else f"of the {n_rows} texts"
        raise InputError(
            f"embeddings must have one row for each {texts}, got an array of shape {array.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise InputError(f"embeddings must be finite, got NaN or infinity in row {bad[0]}")
    return array


def _array(vectors: Any) -> Vectors:
    if isinstance(vectors, (str, bytes)) or callable(vectors):
        raise InputError(f"embeddings of texts must be an array with one row for each, got {shown(vectors)}")
    try:
        array = np.asarray(_plain(vectors))
        if array.dtype.kind not in "biufO":
            raise InputError(f"embeddings must be numbers, one row for each text, got {array.dtype}")
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which `checked` reports
            return array.astype(np.float32, copy=False)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"embeddings must be numbers, one row for each text: {error}") from error


def _plain(vectors: Any) -> Any:
    """Something that numpy understands."""
    package = type(vectors).__module__.partition(".")[0]
    if hasattr(vectors, "detach"):  # a tensor, maybe with gradients, on another device, or of half precision
        return vectors.detach().cpu().float().numpy()
    if package == "pyarrow":
        vectors = pl.from_arrow(vectors)
    if package == "pandas":
        return _plain_pandas(vectors)
    if isinstance(vectors, pl.LazyFrame):
        vectors = vectors.collect()
    if isinstance(vectors, pl.DataFrame):
        return of_table(vectors)
    return _of_lists(vectors) if isinstance(vectors, pl.Series) else vectors


def _plain_pandas(vectors: Any) -> Any:
    if vectors.ndim == 1:
        return vectors.tolist()
    lists = [column for column in vectors.columns if vectors[column].map(_is_vector).all()]
    if len(lists) == 1 and len(vectors):
        return vectors[lists[0]].tolist()
    return of_table(pl.DataFrame({str(name): vectors[name].to_numpy() for name in vectors.columns}))


def _is_vector(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def of_table(table: pl.DataFrame) -> Any:
    """The one column of lists of a table, or all its columns, which must be numbers then."""
    lists = [column for column in table.get_columns() if isinstance(column.dtype, (pl.List, pl.Array))]
    if len(lists) > 1:
        raise InputError(
            f"embeddings must be one column of lists, got {len(lists)}: "
            f"{', '.join(repr(column.name)[:40] for column in lists[:5])}; keep one of them"
        )
    if lists:
        return _of_lists(lists[0])
    for column in table.get_columns():
        if not column.dtype.is_numeric():
            raise InputError(
                f"embeddings must be one column of lists, or columns of numbers, but {column.name[:40]!r} "
                f"contains {str(column.dtype)[:40]}; keep the columns of the vectors alone"
            )
    whole = [column.name for column in table.get_columns() if column.dtype.is_integer()]
    if whole and len(whole) < table.width:
        raise InputError(
            f"column {whole[0][:40]!r} has whole numbers and others have fractions, so it may be no part of "
            "the embeddings; keep the columns of the vectors alone, all of one type"
        )
    return table.to_numpy()


def _of_lists(column: pl.Series) -> Any:
    """A column of lists of the same length."""
    if not isinstance(column.dtype, (pl.List, pl.Array)) or not column.dtype.inner.is_numeric():
        raise InputError(
            f"embeddings must be numbers, one row for each text, got a column of {str(column.dtype)[:60]}"
        )
    lists = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
    lengths = lists.list.len()
    if lengths.null_count():
        raise InputError(
            f"embeddings must have a vector for each text, got none in row {lengths.is_null().arg_true()[0]}"
        )
    if len(lengths) and lengths.n_unique() > 1:
        other = int((lengths != lengths[0]).arg_true()[0])
        raise InputError(
            f"embeddings must be vectors of the same length, got {lengths[0]} numbers in row 0 and "
            f"{lengths[other]} in row {other}"
        )
    width = int(lengths[0]) if len(lengths) else 0
    if not width:
        return np.zeros((len(lists), 0))
    return lists.explode().cast(pl.Float64).to_numpy().reshape(len(lists), width)
