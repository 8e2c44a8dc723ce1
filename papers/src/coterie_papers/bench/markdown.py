"""Markdown for the pages: text that means itself, and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

_MARKUP = re.compile(r"([\\`*_\[\]<>|&~])")
_NUMBER = re.compile(r"[-−–+\d.,%/× ±]+")
#: What stands in a cell without a value.
NONE = "–"


class Raw(str):
    """A cell that is Markdown already."""

    __slots__ = ()


def escaped(text: str) -> str:
    r"""Text that means itself in Markdown, on one line.

    >>> escaped("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d\\>'
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def bold(text: str) -> Raw:
    """A bold cell."""
    return Raw(f"**{escaped(text)}**")


def pm(mean: float, spread: float, digits: int = 2) -> str:
    """Mean and spread: ``0.71 ± 0.02``."""
    return f"{round(mean, digits) + 0.0:.{digits}f} ± {spread:.{digits}f}"  # no minus before a zero


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], *, raw: bool = False) -> str:
    """A table; columns of numbers stand on the right.

    Text in cells means itself, unless it is `Raw`; with `raw`, all of it is Markdown already.

    >>> print(table(["set", "texts"], [("a*b", 1200), (bold("c"), None)]))
    | set | texts |
    |---|---:|
    | a\\*b | 1,200 |
    | **c** | – |
    """
    listed = [list(row) for row in rows]
    right = [_numeric([row[number] for row in listed]) for number in range(len(header))]
    lines = [
        _row(header, raw),
        "|" + "|".join("---:" if number else "---" for number in right) + "|",
        *(_row(row, raw) for row in listed),
    ]
    return "\n".join(lines)


def _row(cells: Iterable[Any], raw: bool) -> str:
    return "| " + " | ".join(_cell(cell, raw) for cell in cells) + " |"


def _cell(value: Any, raw: bool) -> str:
    if value is None:
        return NONE
    if isinstance(value, str):
        return str(value) if raw or isinstance(value, Raw) else escaped(value)
    return f"{value:,}" if hasattr(value, "__index__") else f"{value:.3f}"


def _numeric(cells: list[Any]) -> bool:
    known = [cell for cell in cells if cell is not None and cell not in ("", NONE)]
    return bool(known) and all(
        hasattr(cell, "__float__") or _NUMBER.fullmatch(str(cell).strip("*")) for cell in known
    )
