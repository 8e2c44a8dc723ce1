"""Read one text per line, or one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from coterie.errors import InputError
from coterie.text.inputs import choose_column, is_unicode
from coterie.text.readers.bytes import Lines
from coterie.text.readers.rows import BadRow, Rows, Table, unreadable

#: Rows of JSON inspected to learn the columns; fewer if they are long.
LOOK_AHEAD = 1_000
LOOK_AHEAD_CHARS = 1 << 20
#: Most different keys in all rows; a table with more would be nearly empty.
MAX_KEYS = 2_000
#: Rows of JSON passed on together.
RUN = 32

_decode = json.JSONDecoder(parse_constant=lambda _: None).decode  # NaN is neither JSON nor a text
_encode = json.JSONEncoder(ensure_ascii=False).encode


def read_lines(lines: Lines) -> Table:
    """Every line is a text; an empty line is an empty text."""

    def rows() -> Iterator[Rows]:
        while taken := lines.take():
            numbers = range(lines.number - len(taken) + 1, lines.number + 1)
            yield Rows(numbers, [[line.rstrip("\r\n")] for line in taken])

    return Table(["text"], rows(), lines.encoding)


def read_jsonl(lines: Lines, column: str | None) -> Table:
    """Every line is an object, or a string, which is the text itself; blank lines are skipped.

    The first rows must contain the column, and the very first decides whether texts are lists of tokens.
    Columns that appear later are added; rows without them have None there.
    """
    objects = json_objects(lines)
    ahead: list[tuple[int, dict[str, Any]] | BadRow] = []
    while len(ahead) < LOOK_AHEAD and lines.read < LOOK_AHEAD_CHARS and (found := next(objects, None)):
        ahead.append(found)
    known = [found[1] for found in ahead if not isinstance(found, BadRow)]
    if not known:
        return Table([], (found for found in ahead if isinstance(found, BadRow)))
    columns = {key: i for i, key in enumerate(dict.fromkeys(chain.from_iterable(known)))}
    chosen = choose_column(list(columns), column, lines.source_name)
    tokenised = isinstance(known[0].get(chosen), list)

    def rows() -> Iterator[Rows | BadRow]:
        every = (
            found if isinstance(found, BadRow) else _row(*found, columns, chosen, tokenised)
            for found in chain(ahead, objects)
        )
        while some := list(islice(every, RUN)):
            if len(columns) > MAX_KEYS:
                raise InputError(
                    f"{lines.source_name} has more than {MAX_KEYS:,} different keys; "
                    "all lines must be objects with the same few keys"
                )
            yield from (row for row in some if isinstance(row, BadRow))
            good = [row for row in some if not isinstance(row, BadRow)]
            yield Rows([number for number, _ in good], [cells for _, cells in good])

    return Table(columns, rows(), tokenised=tokenised)


def json_objects(lines: Lines) -> Iterator[tuple[int, dict[str, Any]] | BadRow]:
    """The object of each line with its number, or what is wrong with it; a string is {"text": …}."""
    keys: set[str] = set()
    for number, line in enumerate(chain.from_iterable(iter(lines.take, [])), start=1):
        if not line.strip():
            continue
        if not line.isascii() and (bad := unreadable(Rows([number], [[line]]), lines.encoding)):
            yield from bad
            continue
        try:
            value = _decode(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            yield BadRow.of(number, f"not JSON ({reason})", line)
            continue
        if isinstance(value, str):
            value = {"text": value}
        if not isinstance(value, dict):
            yield BadRow.of(number, "not a JSON object", line)
        elif not keys.issuperset(value) and not is_unicode(list(value)):
            yield BadRow.of(number, "half a character (lone surrogate) in a key", line)
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
