"""Read one text per line."""

from __future__ import annotations

from collections.abc import Iterator

from coterie.text.readers.bytes import Lines
from coterie.text.readers.rows import Rows, Table


def read_lines(lines: Lines) -> Table:
    """Every line is a text; an empty line is an empty text."""

    def rows() -> Iterator[Rows]:
        while taken := lines.take():
            numbers = range(lines.number - len(taken) + 1, lines.number + 1)
            yield Rows(numbers, [[line.rstrip("\r\n")] for line in taken])

    return Table(["text"], rows(), lines.encoding)
