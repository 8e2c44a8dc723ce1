"""What was written is read: random tables of random texts in every format, dialect and encoding."""

import csv
import gzip
import io
import json
import re
import tempfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from coterie.text import read_texts
from coterie.text.nulls import is_null_like

AWKWARD = [
    '"',
    '""',
    "\n",
    "\r",
    "\r\n",
    ",",
    ";",
    "\t",
    "|",
    "\0",
    "'",
    "\\",
    " ",
    "=",
    "+",
    "-",
    "@",
    "\ufeff",
    "{",
]
MARKS = [
    "\u200f",
    "\u202e",
    "\u2066",
    "\u2028",
    "\x85",
    "\x0c",
    "\x1c",
    "👩‍💻",
    "👍🏽",
    "é",
    "e\u0301",
    "漢字",
    "مرحبا",
    "\U0010ffff",
    "\ufffe",
]
WORDS = ["kettle", "sep=;", "NaN", "null", "1", "=1+1", "@SUM(A1)"]

characters = st.characters(exclude_categories=["Cs"])
pieces = st.sampled_from(AWKWARD + MARKS + WORDS) | st.text(characters, max_size=4)
# cells that databases write for nothing are read as nothing
any_text = st.lists(pieces, max_size=6).map("".join).filter(lambda text: not is_null_like(text))
NAMES = ["the number of each of the rows", "the text of it", "other column"]


@st.composite
def tables(draw, text=any_text, narrowest=1, widest=3):
    width = draw(st.integers(narrowest, widest))
    rows = draw(st.lists(st.tuples(*[text] * width), min_size=1, max_size=8))
    # a file that is mostly control characters is taken for binary, rightly
    assume(sum(ord(c) < 32 and c not in "\r\n\t" for row in rows for cell in row for c in cell) < 5)
    return NAMES[:width], rows


def read(content, suffix, column, **options):
    """Texts, tables and lines; from a plain file and from a gzip one, which must not differ."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, stored in ((f"file.{suffix}", content), (f"file.{suffix}.gz", gzip.compress(content, 1))):
            path = Path(folder, name)
            path.write_bytes(stored)
            source = read_texts(path, column, **options)
            batches = list(source)
            assert source.skipped == 0
            results.append(
                (
                    [text for batch in batches for text in batch.texts.to_list()],
                    [row for batch in batches for row in batch.table.rows()],
                    [line for batch in batches for line in batch.lines],
                )
            )
    assert results[0] == results[1]
    return results[0]


batch_sizes = st.sampled_from([1, 2, 3, 1_000])


@pytest.mark.slow
@given(
    table=tables(narrowest=2),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\r\n", "\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    batch_rows=batch_sizes,
)
@settings(max_examples=200)
@example((NAMES[:2], [("\0", "\0")]), ",", csv.QUOTE_MINIMAL, "\n", "utf-8", 1)
@example((NAMES[:2], [("", ""), ("", "x")]), ";", csv.QUOTE_MINIMAL, "\r\n", "utf-16", 1)
def test_csv(table, delimiter, quoting, end, encoding, batch_rows):
    names, rows = table
    if any("\r" in cell for row in rows for cell in row):
        end = "\r\n"  # with LF Python writes a lone CR without quotes, where it looks like a line end
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows([names, *rows])
    texts, read_rows, lines = read(out.getvalue().encode(encoding), "csv", names[1], batch_rows=batch_rows)
    assert read_rows == rows
    assert texts == [row[1] for row in rows]
    assert lines == begins(rows)


def begins(rows, first=2):
    """The line each row begins on, told from the line breaks in the rows before it."""
    lines = []
    for row in rows:
        lines.append(first)
        first += 1 + sum(len(re.findall("\r\n|\r|\n", cell)) for cell in row)
    return lines


@pytest.mark.slow
@given(table=tables(widest=1), delimiter=st.sampled_from(",;\t|"), batch_rows=batch_sizes)
def test_csv_of_one_column(table, delimiter, batch_rows):
    names, rows = table
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([names, *rows])
    content = out.getvalue().encode()
    for suffix in ("csv", "tsv"):
        texts, _, lines = read(content, suffix, None, batch_rows=batch_rows, delimiter=delimiter)
        assert texts == [row[0] for row in rows]
        assert lines == begins(rows)


@pytest.mark.slow
@given(table=tables(), delimiter=st.sampled_from(",;\t|"), encoding=st.sampled_from(["utf-8", "utf-16"]))
def test_csv_without_header(table, delimiter, encoding):
    _, rows = table
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    content = out.getvalue().encode(encoding)
    texts, read_rows, lines = read(
        content, "csv", "column_1", header=False, delimiter=delimiter, encoding=encoding
    )
    assert (texts, read_rows) == ([row[0] for row in rows], rows)
    assert lines == begins(rows, first=1)


@pytest.mark.slow
@given(
    table=tables(),
    ascii_only=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    end=st.sampled_from(["\n", "\r\n"]),
    batch_rows=batch_sizes,
)
def test_json_lines(table, ascii_only, encoding, end, batch_rows):
    names, rows = table
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    content = end.join(json.dumps(value, ensure_ascii=ascii_only) for value in objects).encode(encoding)
    texts, read_rows, lines = read(content, "jsonl", names[-1], batch_rows=batch_rows)
    assert (texts, read_rows) == ([row[-1] for row in rows], rows)
    assert lines == list(range(1, len(rows) + 1))


@pytest.mark.slow
@given(rows=st.lists(st.lists(any_text, max_size=4), min_size=1, max_size=6), batch_rows=batch_sizes)
def test_json_lines_of_tokens(rows, batch_rows):
    content = "\n".join(json.dumps({"tokens": row}) for row in rows).encode()
    assert read(content, "jsonl", "tokens", batch_rows=batch_rows)[0] == rows


@pytest.mark.slow
@given(table=tables(), batch_rows=batch_sizes)
@settings(max_examples=25)
def test_parquet(table, batch_rows):
    names, rows = table
    out = io.BytesIO()
    pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row").write_parquet(out)
    texts, read_rows, lines = read(out.getvalue(), "parquet", names[0], batch_rows=batch_rows)
    assert (texts, read_rows) == ([row[0] for row in rows], rows)
    assert lines == list(range(1, len(rows) + 1))


# XML holds no control characters and makes CR to LF, _x000D_ is how Excel spells one, and openpyxl does
# not ask readers to keep a text that is nothing but spaces
in_a_sheet = any_text.map(lambda text: re.sub("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_x", "", text)).map(
    lambda text: text if text.strip() else ""
)


@pytest.mark.slow
@given(table=tables(in_a_sheet), batch_rows=batch_sizes)
@settings(max_examples=50)
def test_xlsx(table, batch_rows):
    names, rows = table
    assume(all(any(row) for row in rows[-1:]))  # empty rows at the end are not stored
    book = openpyxl.Workbook()
    for at, row in enumerate([names, *rows], start=1):
        for column, text in enumerate(row, start=1):
            cell = book.active.cell(at, column, text)
            cell.data_type = "s"  # openpyxl would make a formula of "=1"
    out = io.BytesIO()
    book.save(out)
    texts, read_rows, lines = read(out.getvalue(), "xlsx", names[0], batch_rows=batch_rows)
    assert (texts, read_rows) == ([row[0] for row in rows], rows)
    assert lines == list(range(2, len(rows) + 2))


@pytest.mark.slow
@given(
    rows=st.lists(any_text.map(lambda text: re.sub("[\r\n\0-\x1f]", "", text)), min_size=1, max_size=8),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    last=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    batch_rows=batch_sizes,
)
def test_lines(rows, end, last, encoding, batch_rows):
    rows = ["the first line", *rows]  # a mark in it would be taken for a byte order mark
    last = last or not rows[-1]
    content = (end.join(rows) + end * last).encode(encoding)
    texts, _, lines = read(content, "txt", None, batch_rows=batch_rows)
    assert (texts, lines) == (rows, list(range(1, len(rows) + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1 << 16, (1 << 16) - 3, 1 << 13, 3 << 16])
def test_pieces_that_end_in_the_middle_of_something(size):
    """Rows, line ends, quotes and characters of several bytes that fall on the ends of what is read at once."""
    for shift in range(12):
        filler = "x" * (size - 40 + shift)
        rows = [(filler, "a"), ('"é👍🏽"\r\n,"', "b\r\n"), ("", 'c""'), (filler, "d\n\n"), ("👍🏽", "")]
        for encoding in ("utf-8", "utf-16"):
            out = io.StringIO()
            csv.writer(out).writerows([NAMES[:2], *rows])
            assert read(out.getvalue().encode(encoding), "csv", NAMES[0])[1:] == (rows, begins(rows))
