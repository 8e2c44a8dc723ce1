"""What the columns of a table hold, and which of them are the texts, the dates and the classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from coterie.text.dates import read_dates
from coterie.text.nulls import is_null_like

Kind = Literal["text", "number", "date", "class", "empty"]

#: Rows that are looked at, and dates among them.
SEEN, _DATES = 1_000, 200
#: Columns that are looked at.
MOST_COLUMNS = 200
_SAMPLE = 300
_NUMBER = re.compile(r"[-+]?[\d.,  ]*\d(?:e[-+]?\d+)?\s?%?", re.I)
_NAMED_LABEL = re.compile(r"label|class|categor|tag|topic|type|group|kind|intent", re.I)
_LIKELY = {"text": 1.0, "class": 0.3, "number": 0.01, "date": 0.001, "empty": 0.0}


@dataclass(frozen=True, slots=True)
class Column:
    """A column as its first rows show it; lengths are in characters, shares from 0 to 1."""

    name: str
    kind: Kind
    filled: float
    mean_length: float
    distinct_share: float
    samples: list[str]

    @property
    def has_words(self) -> bool:
        """Whether some of the samples have several words, or letters of a script without spaces."""
        return any(" " in text or not text.isascii() for text in self.samples)

    @property
    def worth(self) -> float:
        """How likely it holds the texts: long and different values."""
        # keys and addresses are long and all different, but they have no words
        words = 1.0 if self.has_words else 0.05
        return self.mean_length * self.distinct_share * self.filled * _LIKELY[self.kind] * words


@dataclass(frozen=True, slots=True)
class Guess:
    """Names of the columns that are likely the texts, the dates and the classes; None where none is."""

    text: str | None
    date: str | None
    label: str | None


def look_at(values: pl.Series) -> Column:
    """What the first rows of a column hold."""
    texts = [_cell(value) for value in values]
    filled = [text for text in texts if text]
    distinct = len(set(filled))
    return Column(
        name=values.name,
        kind=_kind(values, filled, distinct),
        filled=round(len(filled) / max(len(texts), 1), 4),
        mean_length=round(sum(map(len, filled)) / max(len(filled), 1), 1),
        distinct_share=round(distinct / max(len(filled), 1), 4),
        samples=[text[:_SAMPLE] for text in list(dict.fromkeys(filled))[:3]],
    )


def guess(columns: Sequence[Column]) -> Guess:
    """The text column is the one with long and different values; dates look like dates, classes repeat."""
    best = max(columns, key=lambda column: column.worth)
    named = best.has_words and best.kind in ("text", "class")
    others = [column for column in columns if not (named and column is best)]
    date = next((column.name for column in others if column.kind == "date"), None)
    classes = [column for column in others if column.kind == "class" and column.filled > 0.5]
    label = max(classes, key=lambda c: (bool(_NAMED_LABEL.search(c.name)), c.distinct_share), default=None)
    return Guess(best.name if named else None, date, label.name if label else None)


def guess_text(table: pl.DataFrame) -> str | None:
    """The column that most likely holds the texts; None if none looks like texts.

    >>> guess_text(pl.DataFrame({"id": ["a1", "a2"], "subject": ["late parcel", "broken kettle"]}))
    'subject'
    """
    columns = [look_at(column) for column in table.head(SEEN).get_columns()[:MOST_COLUMNS]]
    return guess(columns).text if columns else None


def _cell(value: Any) -> str:
    text = "" if value is None else value.strip() if isinstance(value, str) else str(value)
    return "" if is_null_like(text) else text


def _kind(values: pl.Series, filled: Sequence[str], distinct: int) -> Kind:
    if all(is_null_like(text, loosely=True) for text in filled):
        return "empty"
    if values.dtype.is_temporal() or _are_dates(filled):
        return "date"
    numbers = sum(bool(_NUMBER.fullmatch(text)) for text in filled) > 0.95 * len(filled)
    if distinct <= min(100, max(0.2 * len(filled), 2)) and len(filled) > distinct:
        return "class"
    return "number" if numbers or values.dtype.is_numeric() else "text"


def _are_dates(filled: Sequence[str]) -> bool:
    """Whether nearly all are dates; somebody may have written "n/a"."""
    days = read_dates(list(filled[:_DATES])).days
    return days.null_count() <= 0.1 * len(days)
