"""One text a line, or one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from coterie.errors import InputError
from coterie.text.readers.bytes import PeekableBytes, as_text, encoding_of
from coterie.text.readers.source import BadRow, Options, Row, Table


def read_lines(stream: PeekableBytes, options: Options, place: str) -> Table:
    """Every line is a text; an empty line is an empty text."""
    rows = (Row(number, [line]) for number, line in _lines(stream, options, place))
    return Table(["text"], rows)


def read_jsonl(stream: PeekableBytes, options: Options, place: str) -> Table:
    """Every line is an object, or a string that is the text itself; blank lines are none."""
    columns: dict[str, int] = {}
    return _JsonTable(columns, _parsed(_lines(stream, options, place), columns))


class _JsonTable(Table):
    """A table whose columns are known as far as lines have been read."""

    def __init__(self, columns: dict[str, int], rows: Iterator[Row | BadRow]):
        self._columns = columns
        self.rows = rows

    @property
    def columns(self) -> list[str]:  # type: ignore[override]
        """Every key seen so far, in order of appearance."""
        return list(self._columns)


def _parsed(lines: Iterator[tuple[int, str]], columns: dict[str, int]) -> Iterator[Row | BadRow]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield BadRow(number, f"not JSON ({error})", line)
            continue
        if isinstance(value, str):
            value = {"text": value}
        if isinstance(value, dict):
            yield Row(number, _cells(value, columns))
        else:
            yield BadRow(number, "not a JSON object", line)


def _cells(value: dict[str, Any], columns: dict[str, int]) -> list[Any]:
    for key in value:
        columns.setdefault(key, len(columns))
    cells: list[Any] = [None] * len(columns)
    for key, cell in value.items():
        cells[columns[key]] = cell
    return cells


def _lines(stream: PeekableBytes, options: Options, place: str) -> Iterator[tuple[int, str]]:
    encoding = options.encoding or encoding_of(stream.head())
    number = 0
    try:
        # lines end as files end them; a form feed or U+2028 inside a text does not end it
        for number, line in enumerate(as_text(stream, encoding), start=1):
            yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{place}, line {number + 1}: not {error.encoding}: {error.reason}") from error
