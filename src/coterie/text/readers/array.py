"""Read a JSON array value by value: memory holds one of them, however long the file is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from coterie.errors import InputError
from coterie.text.readers.bytes import MAX_LINE, PIECE, Lines
from coterie.text.readers.rows import BadRow, Rows, unreadable

_decoder = json.JSONDecoder(parse_constant=lambda _: None)  # NaN is neither JSON nor a text
_BLANK = re.compile(r"[ \t\r\n]*")
# an object whose first array comes after plain values: {"count": 2, "tickets": [{
_WRAPPED = re.compile(
    r'\{\s*(?:"[^"]{0,100}"\s*:\s*(?:"[^"]{0,200}"|[-\w.+]+)\s*,\s*){0,20}"[^"]{0,100}"\s*:\s*\[\s*\{'
)


def one_value(text: str) -> Any:
    """The value that a text is."""
    return _decoder.decode(text)


def is_document(head: str) -> bool:
    """Whether a file that begins like this is one JSON document rather than an object on each line.

    >>> [is_document(head) for head in ('[{"a": 1},', '{"a": 1}\\n{"a": 2}', '{\\n  "tickets": [\\n    {')]
    [True, False, True]
    """
    text = head.lstrip()
    if text.startswith("["):
        return True
    if not _WRAPPED.match(text):
        return False
    first, _, rest = text.partition("\n")
    try:
        one_value(first)
    except (ValueError, RecursionError):
        return True
    return not rest.strip()


def array_values(lines: Lines) -> Iterator[tuple[int, str, Any] | BadRow]:
    """The values of an array, each with its number and how it is written; or what is wrong with one.

    The array is the whole file, or the first array in an object.
    """
    text = _Text(lines)
    whole = text.sign() == "["
    if not whole:
        text.find_array()
    text.step()
    after_value, number = False, 0
    while (sign := text.sign()) != "]":
        if sign == "," and after_value:
            text.step()
            after_value = False
            continue
        if after_value or not sign:
            text.fail("the array has no end" if not sign else "a comma is missing between two values")
        number += 1
        yield text.value(number)
        after_value = True
    text.step()
    if whole and text.sign():
        text.fail("the array has ended, but more follows")


class _Text:
    """Characters of a file, from a place that moves on."""

    def __init__(self, lines: Lines):
        self._lines = lines
        self._text = lines.piece()
        self._at = 0
        self._line = 1
        self._ended = not self._text

    def sign(self) -> str:
        """The next character that is no space; nothing at the end."""
        while True:
            self._move(_BLANK.match(self._text, self._at).end())  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def step(self) -> None:
        """Go on behind the character."""
        self._move(self._at + 1)

    def value(self, number: int = 0) -> tuple[int, str, Any] | BadRow:
        """The value that begins here, with the number that it gets."""
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError) and self._more():
                    continue
                too_long = len(self._text) - self._at > MAX_LINE
                reason = error.msg if isinstance(error, json.JSONDecodeError) else error
                self.fail(f"longer than {MAX_LINE:,} characters" if too_long else f"not JSON ({reason})")
            if end == len(self._text) and self._more():  # a number may go on
                continue
            written = self._text[self._at : end]
            self._move(end)
            if written.isascii():
                return number, written, value
            bad = unreadable(Rows([number], [[written]]), self._lines.encoding)
            return bad[0] if bad else (number, written, value)

    def find_array(self) -> None:
        """Go to the first array in the object that begins here."""
        if self.sign() != "{":
            self.fail("neither an array nor an object")
        self.step()
        while self.sign() == '"':
            self.value()
            if self.sign() != ":":
                self.fail("a colon is missing behind a key")
            self.step()
            if self.sign() == "[":
                return
            self.value()
            if self.sign() == ",":
                self.step()
        self.fail("the object has no array of records")

    def fail(self, reason: str) -> NoReturn:
        """Stop reading: after a syntax error, nothing says where the next record begins."""
        shown = self._text[self._at : self._at + 60]
        bad = BadRow.of(self._line, reason, shown)
        raise InputError(
            f"{self._lines.source_name}, {bad}; the file is damaged or incomplete, export it again"
        )

    def _move(self, end: int) -> None:
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        """Read on, twice as much each time, so that a long value is not parsed too often."""
        waiting = len(self._text) - self._at
        if self._ended or waiting > MAX_LINE:
            return False
        more = self._lines.piece(max(waiting, PIECE))
        self._text, self._at = self._text[self._at :] + more, 0
        self._ended = not more
        return bool(more)
