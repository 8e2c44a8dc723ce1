"""Read a column of dates as people and programs write them; the column as a whole tells day from month."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from coterie.errors import InputError
from coterie.frames import is_missing
from coterie.text.nulls import is_null_like

# the day is what stands before the time: 2024-05-01T10:00, 2024-05-01 10:00:00+02:00, 31/12/2024, 9:05 PM
_TIME = r"(?:(?:[T ]|, ?| at )\d.*)?$"
_YEAR_FIRST = r"^(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})" + _TIME
_YEAR_LAST = r"^(\d{1,2})([-/.])(\d{1,2})([-/.])(\d{4})" + _TIME
# with dashes, the year of 24-05-31 may as well come first
_SHORT_YEAR = r"^(\d{1,2})([/.])(\d{1,2})([/.])(\d{2})" + _TIME
_MONTH = r"^(\d{4})-(\d{2})$"
# 16-Aug-25, 16 August 2025, Sat, 16 Aug 2025 10:00:00 +0200; Aug 16, 2025
_WEEKDAY = r"(?i)^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?"
_DAY_NAME = _WEEKDAY + r"(\d{1,2})(?:st|nd|rd|th|\.)?[-/ ]([a-z]{3,9})\.?,?[-/ ](\d{4}|\d{2})" + _TIME
_NAME_DAY = _WEEKDAY + r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})" + _TIME
_NAMES = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
]  # fmt: skip
_NUMBER_OF = {name[:length]: at for at, name in enumerate(_NAMES, 1) for length in (3, 9)} | {"sept": 9}
#: Of two digits, those from here on are years of the last century.
_LAST_CENTURY = 70
# only where the month comes first are hours counted to twelve as a rule
_HALF_DAY = r"(?i)\d ?[ap]\.?m\.?$"


@dataclass(frozen=True, slots=True)
class Unread:
    """Values that are no dates: how many, and the first of them; rows are counted from 1."""

    count: int
    row: int
    value: str

    @property
    def sentence(self) -> str:
        """The first of them, as a person reads it."""
        return (
            f"row {self.row} of the data has the date {self.value!r}; "
            "dates must look like 2024-05-31, 31/05/2024, 05/31/2024 or 31 May 2024"
        )


@dataclass(frozen=True, slots=True)
class Order:
    """How the dates of a column are read.

    `day_first` is None where no date has the year at its end; `assumed` says that nothing in the column
    told day from month, with the date `example` as it was written.
    """

    day_first: bool | None = None
    assumed: bool = False
    example: str = ""

    def sentence(self, name: str) -> str | None:
        """What to say about day and month, if anything."""
        if not self.example:
            return None
        order = "day" if self.day_first else "month"
        if self.assumed:
            return (
                f"the dates in column {name!r} could begin with the day or the month; "
                f"{self.example!r} was read with the {order} first"
            )
        return f"the dates in column {name!r} have the {order} first, as {self.example!r} shows"


@dataclass(frozen=True, slots=True)
class Dates:
    """A column of dates, null where there is none, and how it was read."""

    days: pl.Series
    unread: Unread | None = None
    order: Order = Order()


def read_dates(values: Any, day_first: bool | None = None) -> Dates:
    """Dates of any kind as a column of dates.

    Where the year comes last, a part above 12 must be the day and decides for all of the column. If there is
    none, times with AM or PM are a sign that the month comes first; else the day is assumed to. `day_first`
    sets it. Years may have two digits; months may have English names.

    >>> read_dates(["12/31/2025", "02/01/2026 9:05 PM"]).days.to_list()
    [datetime.date(2025, 12, 31), datetime.date(2026, 2, 1)]
    """
    column = column_of(values, "dates")
    if _are_days(column):
        if isinstance(column.dtype, pl.Datetime):  # the day that it was where it was written
            column = column.dt.replace_time_zone(None)
        return Dates(column.cast(pl.Date).rename("date"))
    text = _texts(column)
    parts = _parts(text)
    order = _order([parts], day_first)
    days = _days(parts, order.day_first is not False)
    bad = (days.is_null() & text.is_not_null()).arg_true()
    row = int(bad[0]) if len(bad) else 0
    unread = Unread(len(bad), row + 1, text[row][:40]) if len(bad) else None
    return Dates(days, unread, order)


def survey_dates(
    columns: Callable[[], Iterable[pl.Series]], day_first: bool | None = None
) -> tuple[Order, Unread | None]:
    """How a column of dates that comes in parts is read as a whole, and what of it cannot be read.

    >>> survey_dates(lambda: [pl.Series(["3/4/2025"]), pl.Series(["12/31/2025", "soon"])])
    (Order(day_first=False, assumed=False, example='12/31/2025'), Unread(count=1, row=3, value='soon'))
    """
    order = _order((_parts(_texts(part)) for part in columns() if not _are_days(part)), day_first)
    unread, start = None, 0
    for part in columns():
        bad = read_dates(part, order.day_first).unread
        if bad is not None:
            first = Unread(0, start + bad.row, bad.value) if unread is None else unread
            unread = replace(first, count=first.count + bad.count)
        start += len(part)
    return order, unread


def _are_days(column: Any) -> bool:
    return isinstance(column, pl.Series) and column.dtype in (pl.Date, pl.Datetime)


def _texts(column: Iterable[Any]) -> pl.Series:
    return pl.Series("date", [_written(value) for value in column], dtype=pl.String)


def _written(value: Any) -> str | None:
    """A value as text; None for a cell that says in some way that there is no date."""
    text = spelled(value)
    return None if text is None or is_null_like(text, loosely=True) else text


def _parts(text: pl.Series) -> pl.DataFrame:
    """The numbers of each date; null where a text does not have this form."""
    x = pl.col("date")

    def number(pattern: str, group: int) -> pl.Expr:
        return x.str.extract(pattern, group).cast(pl.Int32)

    def either(group: int) -> pl.Expr:
        return pl.coalesce(number(_YEAR_LAST, group), number(_SHORT_YEAR, group))

    def mark(group: int) -> pl.Expr:
        return pl.coalesce(*(x.str.extract(form, group) for form in (_YEAR_FIRST, _YEAR_LAST, _SHORT_YEAR)))

    name = pl.coalesce(x.str.extract(_DAY_NAME, 2), x.str.extract(_NAME_DAY, 1)).str.to_lowercase()
    named = name.replace_strict(_NUMBER_OF, default=None, return_dtype=pl.Int32)
    return text.to_frame().select(
        x.str.head(40).alias("text"),
        year=pl.coalesce(
            number(_YEAR_FIRST, 1), number(_MONTH, 1), _century(number(_DAY_NAME, 3)), number(_NAME_DAY, 3)
        ),
        month=pl.coalesce(number(_YEAR_FIRST, 3), number(_MONTH, 2), named),
        day=pl.coalesce(
            number(_YEAR_FIRST, 5),
            pl.when(x.str.contains(_MONTH)).then(1),
            number(_DAY_NAME, 1),
            number(_NAME_DAY, 2),
        ),
        a=either(1),
        b=either(3),
        last_year=_century(either(5)),
        mark=mark(2),
        mark_2=mark(4),
    )


def _century(year: pl.Expr) -> pl.Expr:
    """The year in full: of 0 to 99, 69 is 2069 and 70 is 1970."""
    short = pl.when(year < _LAST_CENTURY).then(year + 2000).otherwise(year + 1900)
    return pl.when(year < 100).then(short).otherwise(year)


def _order(parts: Iterable[pl.DataFrame], wanted: bool | None) -> Order:
    """Whether the day comes first in dates with the year at the end, if that is assumed, and an example."""
    any_last = False
    shown = {True: 0, False: 0}  # dates that show the day first, and the month
    first: dict[bool, tuple[str, str]] = {}  # the first of each, with what stands between its numbers
    open_ = half_day = ""
    for part in parts:
        last = part.filter(pl.col("last_year").is_not_null())
        any_last |= len(last) > 0
        a, b = last["a"], last["b"]
        for day_first, told in ((True, (a > 12) & (b <= 12)), (False, (b > 12) & (a <= 12))):
            if told.any():
                row = int(told.arg_true()[0])
                first.setdefault(day_first, (last["text"][row], last["mark"][row]))
                shown[day_first] += int(told.sum())
        # with dots only the day comes first anywhere
        doubtful = last.filter((pl.col("mark") != ".") & (pl.col("a") != pl.col("b")))["text"]
        open_ = open_ or next(iter(doubtful), "")
        half_day = half_day or next(iter(doubtful.filter(doubtful.str.contains(_HALF_DAY))), "")
    if not any_last or wanted is not None:
        return Order(wanted if any_last else None)
    if first:
        day_first = shown[True] >= shown[False]
        text, mark = first[day_first]
        return Order(day_first, example="" if day_first and mark == "." else text)
    return Order(not half_day, assumed=bool(open_), example=half_day or open_)


def _days(parts: pl.DataFrame, day_first: bool) -> pl.Series:
    day, month = ("a", "b") if day_first else ("b", "a")
    chosen = parts.select(
        "mark",
        "mark_2",
        year=pl.coalesce("year", "last_year"),
        month=pl.coalesce("month", month),
        day=pl.coalesce("day", day),
    )
    digits = {"year": 4, "month": 2, "day": 2}
    numbers = [pl.col(name).cast(pl.String).str.zfill(length) for name, length in digits.items()]
    alike = pl.col("mark").eq_missing(pl.col("mark_2"))  # 2024-05/31 is no date
    spelling = pl.when(alike).then(pl.format("{}-{}-{}", *numbers))
    days = chosen.select(spelling.str.to_date("%Y-%m-%d", strict=False)).to_series()
    return pl.select(pl.when(days.dt.year() >= 1).then(days)).to_series().rename("date")


def column_of(values: Any, name: str) -> Any:
    """A column of polars, or any other sequence."""
    if isinstance(values, pl.Series):
        return values
    values = getattr(values, "to_numpy", lambda: values)()  # of pandas
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return pl.Series(values.astype("datetime64[ms]"))
    if (
        isinstance(values, (str, bytes))
        or not isinstance(values, Iterable)
        or getattr(values, "shape", None) == ()
    ):
        raise InputError(f"{name} must be a column with one value per text, got {type(values).__name__}")
    return list(values)


def spelled(value: Any) -> str | None:
    """A value as text; None for one that is missing or blank."""
    if is_missing(value):
        return None
    return str(value).encode("utf-8", "replace").decode().strip() or None
