"""Dates as helpdesks and spreadsheets write them: the column as a whole tells day from month."""

import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.text.dates import read_dates

DATES = st.dates(dt.date(1970, 1, 1), dt.date(2099, 12, 31))
TIMES = st.sampled_from(["", " 09:05", " 9:05 PM", ", 21:05", " 21:05:10+02:00"])


@pytest.mark.parametrize("mark", ["/", ".", "-"])
@pytest.mark.parametrize("day_first", [True, False])
@given(dates=st.lists(DATES, min_size=1, max_size=20), time=TIMES)
def test_a_day_above_twelve_decides_for_all(mark, day_first, dates, time):
    dates = [*dates, dt.date(2025, 3, 31)]
    form = f"%d{mark}%m{mark}%Y" if day_first else f"%m{mark}%d{mark}%Y"
    read = read_dates([date.strftime(form) + time for date in dates])
    assert read.days.to_list() == dates
    assert (read.order.day_first, read.order.assumed, read.unread) == (day_first, False, None)


@given(st.permutations(["03/04/2025", "31/12/2025", "5/6/2025", "", "n/a", "NULL", "2025-07-01"]))
def test_the_order_of_rows_does_not_matter(values):
    read = read_dates(values)
    day = dict(zip(values, read.days.to_list(), strict=True))
    assert day["03/04/2025"] == dt.date(2025, 4, 3)
    assert day["5/6/2025"] == dt.date(2025, 6, 5)
    assert day["2025-07-01"] == dt.date(2025, 7, 1)
    assert day["n/a"] is day["NULL"] is day[""] is None
    assert read.unread is None


def test_open_dates_have_the_day_first_and_say_so():
    read = read_dates(["03/04/2025", "05/05/2025"])
    assert (read.days[0], read.order.assumed) == (dt.date(2025, 4, 3), True)
    assert read.order.sentence("created") == (
        "the dates in column 'created' could begin with the day or the month; "
        "'03/04/2025' was read with the day first"
    )
    other = read_dates(["03/04/2025"], day_first=False)
    assert (other.days[0], other.order.assumed, other.order.sentence("created")) == (
        dt.date(2025, 3, 4),
        False,
        None,
    )


@pytest.mark.parametrize(
    "values", [["05/05/2025"], ["03.04.2025"], ["2025-04-03"], ["31.12.2025"], [None], []]
)
def test_what_is_plain_is_not_mentioned(values):
    assert read_dates(values).order.sentence("created") is None


def test_an_order_that_was_decided_is_told_with_an_example():
    read = read_dates(["03/04/2025", "12/31/2025"])
    assert (
        read.order.sentence("created")
        == "the dates in column 'created' have the month first, as '12/31/2025' shows"
    )


def test_the_larger_part_decides_in_a_mixed_column_and_the_rest_is_reported():
    read = read_dates(["31/12/2025", "30/12/2025", "12/31/2025"])
    assert read.order.day_first
    assert read.days.to_list() == [dt.date(2025, 12, 31), dt.date(2025, 12, 30), None]
    assert (read.unread.count, read.unread.row, read.unread.value) == (1, 3, "12/31/2025")


@pytest.mark.parametrize(
    "value",
    [
        "2025-05/31",
        "31/31/2025",
        "1/2/3/2025",
        "0000-01-01",
        "soon",
        "1-2-25",
        "24-05-31",
        "16 Foo 2025",
        "31 Feb 2025",
        "Aug 2025",
        "٣/٤/٢٠٢٥x",
    ],
)
def test_what_is_no_date_is_reported(value):
    assert read_dates([value, "2025-01-01"]).unread.count == 1


@given(date=DATES, time=TIMES)
@pytest.mark.parametrize(
    "form", ["%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%B %d %Y", "%a, %d %b %Y", "%d. %B %Y", "%d-%b-%y"]
)
def test_months_may_have_names(form, date, time):
    if form.endswith("y"):
        date = date.replace(year=1970 + date.year % 100, day=min(date.day, 28))
    for written in (date.strftime(form), date.strftime(form).upper(), date.strftime(form).lower()):
        read = read_dates([written + time])
        assert (read.days.to_list(), read.unread, read.order.day_first) == ([date], None, None)


@given(dates=st.lists(st.dates(dt.date(1970, 1, 1), dt.date(2069, 12, 31)), min_size=1), time=TIMES)
@pytest.mark.parametrize(("form", "day_first"), [("%d/%m/%y", True), ("%m/%d/%y", False), ("%d.%m.%y", True)])
def test_years_may_have_two_digits(form, day_first, dates, time):
    dates = [*dates, dt.date(2025, 3, 31)]
    read = read_dates([date.strftime(form) + time for date in dates])
    assert (read.days.to_list(), read.order.day_first, read.unread) == (dates, day_first, None)


def test_am_and_pm_are_a_sign_of_the_month_where_nothing_else_tells():
    read = read_dates(["03/04/2025 21:05", "05/04/2025 9:05 PM"])
    assert (read.days[0], read.order.day_first, read.order.assumed) == (dt.date(2025, 3, 4), False, True)
    assert "'05/04/2025 9:05 PM' was read with the month first" in read.order.sentence("created")
    assert read_dates(["03/04/2025 9:05 PM", "31/12/2025 9:05 AM"]).order.day_first
    assert read_dates(["03/04/2025 9:05 PM"], day_first=True).days[0] == dt.date(2025, 4, 3)


def test_rows_are_counted_as_people_do():
    assert read_dates(["soon"]).unread.sentence.startswith("row 1 of the data has the date 'soon'; ")


def test_years_first_with_any_mark():
    assert read_dates(["2025/1/2", "2025.1.2", "2025-1-2", "2025-01"]).days.to_list() == [
        *[dt.date(2025, 1, 2)] * 3,
        dt.date(2025, 1, 1),
    ]


def test_typed_columns_need_no_decision():
    days = pl.Series([dt.datetime(2025, 3, 4, 5), None])
    assert read_dates(days).days.to_list() == [dt.date(2025, 3, 4), None]
