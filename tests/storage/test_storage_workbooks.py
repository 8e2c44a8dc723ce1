"""Excel workbooks as spreadsheet programs read them: no formulas, nothing lost unsaid."""

import datetime as dt

import openpyxl
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.storage import workbooks
from coterie.storage.workbooks import WorkbookWriter, write_workbook

pytest.importorskip("xlsxwriter")
FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "{=1}",
    "http://example.com",
    "=cmd|' /C calc'!A0",
    "1.50",
    "'",
]


def cells(path, sheet=None):
    book = openpyxl.load_workbook(path)
    return [[(cell.value, cell.data_type) for cell in row] for row in (book[sheet] if sheet else book.active)]


def test_texts_stay_texts_and_numbers_numbers(tmp_path):
    path = tmp_path / "a.xlsx"
    frame = pl.DataFrame(
        {
            "=name": FORMULAS,
            "n": range(len(FORMULAS)),
            "x": [0.5, float("nan"), *[None] * 8],
            "day": [dt.date(2025, 3, 4), dt.date(1800, 1, 1), *[None] * 8],
            "big": [2**60, *[1] * 9],
            "list": [["a"]] * 10,
        }
    )
    with WorkbookWriter(path) as table:
        table.write(frame.head(3))
        table.write(frame[3:])
    rows = cells(path)
    assert rows[0][0] == ("=name", "s")
    assert [row[0] for row in rows[1:]] == [(text, "s") for text in FORMULAS]
    assert [row[1] for row in rows[1:]] == [(number, "n") for number in range(10)]
    assert [row[2][0] for row in rows[1:3]] == [0.5, "nan"]
    assert [row[3][0] for row in rows[1:3]] == [dt.datetime(2025, 3, 4), "1800-01-01"]
    assert rows[1][4] == (str(2**60), "s")
    assert rows[1][5] == ('["a"]', "s")


def test_columns_of_numbers_become_numbers_and_identifiers_stay_texts(tmp_path):
    columns = {
        "price": ["1.50", "", None, "-12"],
        "id": ["00123", "4567", "8", "9"],
        "account": ["1234567890123456", "1", "2", "3"],
        "most": ["123456789012345", "1", "2", "3"],
        "mixed": ["1", "=1+1", "2", "3"],
        "sign": ["+1", "2", "3", "4"],
        "later": ["1", "2", "=1+1", "00123"],
        "nothing": ["", None, "", None],
    }
    with WorkbookWriter(tmp_path / "a.xlsx") as table:
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        table.write(frame.head(2))
        table.write(frame[2:])
    rows = dict(zip(columns, zip(*cells(tmp_path / "a.xlsx"), strict=True), strict=True))
    assert [cell[0] for cell in rows["price"][1:]] == [1.5, None, None, -12]
    assert [cell[1] for cell in rows["most"][1:]] == ["n"] * 4
    assert rows["most"][1][0] == 123456789012345
    for name in ("id", "account", "mixed", "sign"):
        assert list(rows[name][1:]) == [(text, "s") for text in columns[name]]
    assert list(rows["later"][1:]) == [(1, "n"), (2, "n"), ("=1+1", "s"), ("00123", "s")]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=5))
def test_any_text_is_one_cell_and_no_formula(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("any") / "a.xlsx"
    write_workbook(path, {"texts": pl.DataFrame({"text": texts})})
    found = cells(path)[1:]
    assert all(kind in ("s", "n") for row in found for _, kind in row)  # an empty cell is of kind n
    plain = [text for text in texts if text.isprintable() and text and "_x" not in text]
    assert set(plain) <= {value for row in found for value, _ in row}


def test_a_cell_that_is_too_long_is_cut_and_mentioned(tmp_path):
    path = tmp_path / "a.xlsx"
    with pytest.warns(UserWarning, match="2 cells in .* cut to 32,767 characters"):
        write_workbook(path, {"a": pl.DataFrame({"text": ["x" * 40_000, "👍" * 20_000, "👍" * 16_000]})})
    lengths = [len(row[0][0].encode("utf-16-le")) // 2 for row in cells(path)[1:]]
    assert lengths == [32_767, 32_767, 32_000]


def test_more_rows_than_a_sheet_has_are_refused_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "MOST_ROWS", 10)

    def write():
        with WorkbookWriter(tmp_path / "a.xlsx") as table:
            for _ in range(4):
                table.write(pl.DataFrame({"a": [1, 2, 3]}))

    with pytest.raises(InputError, match=r"at most 10 rows .*; write a \.csv or \.parquet file instead"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_without_the_package_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(workbooks, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs XlsxWriter: pip install 'coterie\[xlsx\]'"):
        write_workbook(tmp_path / "a.xlsx", {})
