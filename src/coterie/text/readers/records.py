"""Read JSON: an object on each line, or an array of objects; objects inside others become columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.text.columns import SEEN
from coterie.text.inputs import is_unicode
from coterie.text.readers.array import array_values, one_value
from coterie.text.readers.bytes import Lines
from coterie.text.readers.rows import BadRow, Rows, Table, unreadable

#: Rows of JSON inspected to learn the columns; fewer if they are long.
LOOK_AHEAD = 1_000
LOOK_AHEAD_CHARS = 1 << 20
#: Most different keys in all rows; a table with more would be nearly empty.
MAX_KEYS = 2_000
#: Most different keys of an object inside another that becomes columns, and how deep it can be.
MOST_INNER_KEYS, DEEPEST = 50, 5
#: Rows of JSON passed on together.
RUN = 32

#: Names the column with the texts, given all columns and the first rows of those that can have texts.
Choose = Callable[[Sequence[str], Callable[[], pl.DataFrame]], str]
_Found = tuple[int, dict[str, Any]] | BadRow

_encode = json.JSONEncoder(ensure_ascii=False).encode


def read_jsonl(lines: Lines, choose: Choose) -> Table:
    """Every line is an object, or a string, which is the text itself; blank lines are skipped."""
    return _table(_objects(_line_values(lines)), lines, choose)


def read_json(lines: Lines, choose: Choose) -> Table:
    """An array of objects or strings, at the top or in an object."""
    table = _table(_objects(array_values(lines)), lines, choose)
    rows = (replace(row, unit="record") if isinstance(row, BadRow) else row for row in table.rows)
    return replace(table, rows=rows, unit="record")


def _table(objects: Iterator[_Found], lines: Lines, choose: Choose) -> Table:
    """The rows of objects.

    The first rows must contain the column, and the very first decides whether texts are lists of tokens.
    Columns that appear later are added; rows without them have None there.
    """
    ahead: list[_Found] = []
    while len(ahead) < LOOK_AHEAD and lines.read < LOOK_AHEAD_CHARS and (found := next(objects, None)):
        ahead.append(found)
    inner = inner_objects([found[1] for found in ahead if not isinstance(found, BadRow)])
    if inner:
        ahead = [found if isinstance(found, BadRow) else (found[0], flat(found[1], inner)) for found in ahead]
    known = [found[1] for found in ahead if not isinstance(found, BadRow)]
    if not known:
        return Table([], (found for found in ahead if isinstance(found, BadRow)))
    columns = {key: i for i, key in enumerate(dict.fromkeys(chain.from_iterable(known)))}
    chosen = choose(list(columns), lambda: _sample(known[:SEEN], list(columns)))
    tokenised = isinstance(known[0].get(chosen), list)
    later = (found if isinstance(found, BadRow) else (found[0], flat(found[1], inner)) for found in objects)

    def rows() -> Iterator[Rows | BadRow]:
        every = (
            found if isinstance(found, BadRow) else _row(*found, columns, chosen, tokenised)
            for found in chain(ahead, later)
        )
        while some := list(islice(every, RUN)):
            if len(columns) > MAX_KEYS:
                raise InputError(
                    f"{lines.source_name} has more than {MAX_KEYS:,} different keys; "
                    "all objects must have the same few keys"
                )
            yield from (row for row in some if isinstance(row, BadRow))
            good = [row for row in some if not isinstance(row, BadRow)]
            yield Rows([number for number, _ in good], [cells for _, cells in good])

    return Table(columns, rows(), tokenised=tokenised)


def _sample(known: Sequence[dict[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    """Rows with the columns that hold single values, as texts; with all columns if there are none."""
    listed = {key for row in known for key, value in row.items() if isinstance(value, (list, dict))}
    kept = [name for name in columns if name not in listed] or columns
    cells = {name: [_cell(row.get(name)) for row in known] for name in kept}
    # half characters are reported when the rows are read
    whole = {
        name: [cell if cell is None or is_unicode(cell) else None for cell in cells[name]] for name in kept
    }
    return pl.DataFrame({name: pl.Series(values, dtype=pl.String) for name, values in whole.items()})


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return " ".join(value) if _are_tokens(value) else _encode(value)


def inner_objects(records: Iterable[dict[str, Any]]) -> set[str]:
    """Where objects inside others have the same few keys in all records, so that they can become columns.

    >>> sorted(inner_objects([{"ticket": {"subject": "late", "user": {"id": 1}}, "votes": {}}]))
    ['ticket', 'ticket.user']
    """
    keys: dict[str, set[str]] = {}
    values: set[str] = set()
    for record in records:
        _add_keys(record, "", keys, values, DEEPEST)
    few = {path: inside for path, inside in keys.items() if inside and len(inside) <= MOST_INNER_KEYS}
    return {path for path in few if path not in values}


def _add_keys(
    record: dict[str, Any], path: str, keys: dict[str, set[str]], values: set[str], deepest: int
) -> None:
    """Add the keys of each object inside a record, and where there are other values than objects."""
    for key, value in record.items():
        name = f"{path}{key}"
        for dot in (at for at, sign in enumerate(key) if sign == "."):
            values.add(path + key[:dot])  # a.b is a key itself, and not the key b of a
        if not isinstance(value, dict):
            if value is not None:
                values.add(name)
        elif deepest:
            inside = keys.setdefault(name, set())
            if len(inside) <= MOST_INNER_KEYS:
                inside.update(value)
                _add_keys(value, f"{name}.", keys, values, deepest - 1)


def flat(record: dict[str, Any], inner: set[str], path: str = "") -> dict[str, Any]:
    """A record whose inner objects, those in `inner`, are columns such as ticket.subject."""
    columns: dict[str, Any] = {}
    for key, value in record.items():
        name = path + key
        if isinstance(value, dict) and value and name in inner:
            columns |= flat(value, inner, f"{name}.")
        else:
            columns[name] = value
    return columns


def _line_values(lines: Lines) -> Iterator[tuple[int, str, Any] | BadRow]:
    """The value on each line, with its number and how it is written; or what is wrong with the line."""
    for number, line in enumerate(chain.from_iterable(iter(lines.take, [])), start=1):
        if not line.strip():
            continue
        if not line.isascii() and (bad := unreadable(Rows([number], [[line]]), lines.encoding)):
            yield from bad
            continue
        try:
            yield number, line, one_value(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            yield BadRow.of(number, f"not JSON ({reason})", line)


def _objects(values: Iterator[tuple[int, str, Any] | BadRow]) -> Iterator[_Found]:
    """The objects with their lines, or what is wrong with them; a string is {"text": …}."""
    keys: set[str] = set()
    for found in values:
        if isinstance(found, BadRow):
            yield found
            continue
        number, written, value = found
        if isinstance(value, str):
            value = {"text": value}
        if not isinstance(value, dict):
            yield BadRow.of(number, "not a JSON object", written)
        elif not keys.issuperset(value) and not is_unicode(list(value)):
            yield BadRow.of(number, "half a character (lone surrogate) in a key", written)
        else:
            keys |= value.keys()
            yield number, value


def _row(
    number: int, value: dict[str, Any], columns: dict[str, int], chosen: str, tokenised: bool
) -> tuple[int, list[Any]] | BadRow:
    """Cells in column order; new columns are added, nested values become JSON again."""
    text = value.get(chosen)
    if not columns.keys() >= value.keys():
        for key in value:
            columns.setdefault(key, len(columns))
    try:
        cells = [c if c is None or isinstance(c, str) else _encode(c) for c in map(value.get, columns)]
    except RecursionError:
        return BadRow(number, "JSON is nested too deeply")
    fits = _are_tokens(text) if tokenised else not isinstance(text, (list, dict))
    if text is not None and not fits:
        wanted = "a list of strings like the first one" if tokenised else "a text"
        return BadRow.of(number, f"column {chosen!r} is not {wanted}", str(cells[columns[chosen]]))
    if tokenised:
        cells[columns[chosen]] = text
    return number, cells


def _are_tokens(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(token, str) for token in value)
