"""assignments.parquet, the table of a run: all rows of the input with their assignments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.storage.tables import has_bytes, read_parquet

_KINDS: dict[str, Callable[[pl.DataType], bool]] = {
    "topic": lambda kind: kind.is_integer(),
    "second": lambda kind: kind.is_integer() or kind == pl.Null,
    "confidence": lambda kind: kind.is_numeric(),
    "label": lambda kind: kind == pl.String,
    "reason": lambda kind: kind == pl.String,
}


def read_table(path: Path, info: Mapping[str, Any]) -> pl.DataFrame:
    """The rows, checked to be those that run.json describes."""
    rows = read_parquet(path, info["data"]["texts"])
    check_columns(rows.schema, info, path)
    if not rows[info["columns"]["topic"]].drop_nulls().is_in(info["topics"]).all():
        raise InputError(f"{path} has a topic that the model does not have; fit again")
    return rows


def check_columns(schema: Mapping[str, pl.DataType], info: Mapping[str, Any], path: Path) -> None:
    """Refuse a table without a column that the run needs, or with one of another type."""
    data = info["data"]
    wanted = {info["columns"][name]: sound for name, sound in _KINDS.items()}
    wanted[data["column"]] = _are_tokens if data.get("tokenised") else _plain
    wanted |= {name: _plain for name in (data.get("date"), data.get("label")) if name}
    for name, sound in wanted.items():
        if name not in schema:
            raise InputError(f"{path} has no column {name!r}; fit again")
        if not sound(schema[name]):
            raise InputError(
                f"{path} is damaged: column {name!r} contains {str(schema[name])[:60]}; fit again"
            )


def _plain(kind: pl.DataType) -> bool:
    return not kind.is_nested() and not has_bytes(kind)


def _are_tokens(kind: pl.DataType) -> bool:
    """Lists, or what a file without lists has: JSON."""
    return _plain(kind.inner) if isinstance(kind, (pl.List, pl.Array)) else _plain(kind)  # type: ignore[arg-type]
