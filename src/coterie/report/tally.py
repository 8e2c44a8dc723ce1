"""Texts counted by topic, day and class: what a page says of topics over time and by class needs no more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.errors import InputError
from coterie.report.wording import shortened
from coterie.text.dates import Unread, read_dates
from coterie.topics.trends import as_classes

Ints = npt.NDArray[np.integer[Any]]

#: Counts are added up once so many are there.
_MOST_CELLS = 1 << 18


@dataclass(frozen=True)
class Tally:
    """How many texts there are of each kind; columns have one entry for each kind.

    `topics` are the numbers of topics, negative for texts that do not count. `days` are their dates and
    `classes` their classes, null where a text has none; a column that cannot be used is None, and a note says
    why. Without `texts`, each entry is one text.
    """

    topics: Ints
    texts: Ints | None = None
    days: pl.Series | None = None
    classes: pl.Series | None = None
    date_name: str = ""
    class_name: str = ""
    date_note: str = ""
    class_note: str = ""


class Tallying:
    """Counts texts some at a time.

    `dates` and `classes` are the names of columns, None where there is none; `day_first` says how dates
    such as 3/4/2025 are read.
    """

    def __init__(
        self, dates: str | None = None, classes: str | None = None, day_first: bool | None = None
    ) -> None:
        self._date, self._class, self._day_first = dates, classes, day_first
        self._parts: list[pl.DataFrame] = []
        self._cells = self._texts = self._unread = 0
        self._bad: Unread | None = None
        self._class_note = ""

    def add(self, topics: Ints, rows: pl.DataFrame) -> None:
        """Count some texts; `rows` has the columns of dates and classes."""
        columns = {"topic": pl.Series(topics, dtype=pl.Int32)}
        if self._date is not None:
            columns["day"] = self._days(rows[self._date])
        if self._class is not None:
            self._check(rows[self._class])
            columns |= {} if self._class_note else {"class": rows[self._class]}
        keys = list(columns)
        part = pl.DataFrame(columns).group_by(keys, maintain_order=True).agg(texts=pl.len().cast(pl.Int64))
        self._parts.append(part)
        self._cells, self._texts = self._cells + len(part), self._texts + len(rows)
        if self._cells > _MOST_CELLS + 2 * len(self._parts[0]):
            self._parts = [self._joined()]
            self._cells = len(self._parts[0])

    def _days(self, values: pl.Series) -> pl.Series:
        read = read_dates(values, self._day_first)
        if read.unread is not None:
            self._unread += read.unread.count
            self._bad = self._bad or replace(read.unread, row=self._texts + read.unread.row)
        return read.days

    def _check(self, classes: pl.Series) -> None:
        try:
            as_classes(classes.head(0) if not classes.dtype.is_nested() else classes)
        except InputError as error:
            self._class_note = f"{error}."

    def _joined(self) -> pl.DataFrame:
        together = pl.concat(self._parts, how="vertical_relaxed")
        keys = [name for name in together.columns if name != "texts"]
        return together.group_by(keys, maintain_order=True).agg(pl.col("texts").sum())

    def tally(self) -> Tally:
        """All that was counted."""
        cells = self._joined()
        texts, dated = cells["texts"].to_numpy(), 0
        days = cells["day"] if self._date is not None else None
        classes = as_classes(cells["class"]) if "class" in cells.columns else None
        note, class_note = "", self._class_note
        if classes is not None and not classes.count():
            classes, class_note = None, "No text has a class."
        if days is not None:
            dated = int(texts[days.is_not_null().to_numpy()].sum())
            if self._bad is not None and self._unread > dated:  # this is no column of dates
                note = f"The dates could not be read: {shortened(self._bad.sentence, 200)}."
            elif not dated:
                note = "No text has a date."
        return Tally(
            cells["topic"].to_numpy(),
            texts,
            None if note else days,
            classes,
            self._date or "",
            self._class or "",
            note,
            class_note,
        )
