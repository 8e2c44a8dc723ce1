"""Files as people have them: every format, spreadsheets' CSV, gzip, standard input."""

import codecs
import csv
import datetime
import gzip
import io
import json
import os
import subprocess
import sys
import threading
import time

import openpyxl
import polars as pl
import pytest

from coterie.corpus import Vectorizer
from coterie.errors import InputError
from coterie.text import Batch, TextSource, read_texts
from coterie.text.readers import headers

ROWS = [("1", "Refund, please"), ("2", 'the "big" kettle\nleaks'), ("3", ""), ("4", "漢字 👍🏽")]


def texts(source):
    return [text for batch in source for text in batch.texts]


def lines(source):
    return [line for batch in source for line in batch.lines]


def csv_text(rows=ROWS, header=("id", "text"), **dialect):
    out = io.StringIO()
    csv.writer(out, **dialect).writerows([header, *rows])
    return out.getvalue()


def workbook(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(frame):
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path):
    """`file(content, name)` writes bytes or UTF-8 text and returns the path."""

    def write(content, name="file.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


FRAME = pl.DataFrame(ROWS, schema=["id", "text"], orient="row")
FILES = {
    "file.csv": csv_text().encode(),
    "file.tsv": csv_text(delimiter="\t").encode(),
    "file.jsonl": "\n".join(json.dumps({"id": i, "text": t}) for i, t in ROWS).encode(),
    "file.parquet": parquet(FRAME),
    "file.xlsx": workbook([("id", "text"), *ROWS]),
}


# every format, plain and gzip, from a file and from a pipe


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("batch_rows", [1, 3, 20_000])
def test_every_format_gives_the_same_rows(file, name, zipped, batch_rows):
    path = file(gzip.compress(FILES[name]) if zipped else FILES[name], name + ".gz" * zipped)
    source = read_texts(path, "text", batch_rows=batch_rows)
    batches = list(source)
    assert isinstance(source, TextSource)
    assert all(isinstance(batch, Batch) for batch in batches)
    assert [text for batch in batches for text in batch.texts] == [text for _, text in ROWS]
    assert pl.concat([batch.table for batch in batches]).rows() == ROWS
    assert all(batch.texts.name == "text" and batch.texts.dtype == pl.String for batch in batches)
    assert [len(batch.texts) for batch in batches][:-1] == [batch_rows] * (len(batches) - 1)
    assert (source.skipped, source.bad_rows) == (0, [])
    assert texts(source) == [text for _, text in ROWS]  # a file may be read again


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "zipped"),
    [*[(name, False) for name in FILES], ("file.txt", False), ("file.csv", True), ("file.parquet", True)],
)
def test_standard_input(name, zipped):
    content = {**FILES, "file.txt": "one\ntwo\n".encode("utf-16")}[name]
    program = (
        "import sys, json\n"
        "from coterie.text import read_texts\n"
        "texts = [t for batch in read_texts('-', sys.argv[1] or None) for t in batch.texts]\n"
        "print(json.dumps([texts, sys.stdin.closed]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, "" if name == "file.txt" else "text"],
        input=gzip.compress(content) if zipped else content,
        capture_output=True,
        check=False,
    )
    assert run.stderr == b""
    expected = ["one", "two"] if name == "file.txt" else [text for _, text in ROWS]
    assert json.loads(run.stdout) == [expected, False]  # the stream belongs to the program and stays open


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    source = read_texts("-")
    assert texts(source) == ["one", "two"]
    with pytest.raises(InputError, match=r"^standard input is empty, or has already been read$"):
        texts(source)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        texts(source)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(
    "content",
    [gzip.compress(csv_text(delimiter=";").encode("utf-16")), FILES["file.parquet"], FILES["file.xlsx"]],
    ids=["csv.gz", "parquet", "xlsx"],
)
def test_a_pipe_that_gives_a_few_bytes_at_a_time(tmp_path, content):
    from fifo import unread  # not on every system

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def feed():
        with open(pipe, "wb", buffering=0) as out:
            out.write(content[:1])
            while unread(out):  # until the reader has found one byte
                time.sleep(0.001)
            for i in range(1, len(content), 700):
                out.write(content[i : i + 700])

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert texts(read_texts(pipe, "text")) == [text for _, text in ROWS]
    feeder.join()


def test_a_source_feeds_a_vectorizer(file):
    path = file(FILES["file.csv"])
    counts = Vectorizer(min_df=1, stop_words=None).fit_transform(read_texts(path, "text", batch_rows=2))
    assert counts.shape[0] == len(ROWS)


def test_files_are_closed_when_reading_stops_early(file):
    for name in ("file.csv", "file.jsonl"):
        for batch in read_texts(file(gzip.compress(FILES[name]), name + ".gz"), "text", batch_rows=1):
            assert len(batch.texts) == 1
            break  # an open file would be a warning, and a warning is an error


# CSV as spreadsheets write it


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"], ids=["CRLF", "LF", "CR"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_dialects_are_told_from_the_content(file, delimiter, end, encoding):
    rows = [(i, t.replace("\n", end)) for i, t in ROWS]
    source = read_texts(
        file(csv_text(rows, delimiter=delimiter, lineterminator=end).encode(encoding)), "text"
    )
    assert texts(source) == [text for _, text in rows]
    assert lines(source) == [2, 3, 5, 6]


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_byte_order_mark_is_no_text_even_where_the_encoding_is_given(file, mark):
    family, exact = {
        codecs.BOM_UTF8: ("utf-8", "UTF8"),
        codecs.BOM_UTF16_LE: ("utf-16", "utf-16-le"),
        codecs.BOM_UTF16_BE: ("utf-16", "utf-16-be"),
    }[mark]
    path = file(mark + "text\nkettle\n".encode(exact))
    for encoding in (None, family, exact):
        assert texts(read_texts(path, "text", encoding=encoding)) == ["kettle"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_wide_encodings_without_a_mark(file, encoding):
    path = file("text\nkettle\n".encode(encoding + "-le"))
    assert texts(read_texts(path, encoding=encoding)) == ["kettle"]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Größe €"),
        ("cp1251", "Добрый день"),
        ("shift_jis", "東京"),
        ("gb18030", "漢字"),
        ("mac-roman", "é"),
    ],
)
def test_other_encodings_by_name(file, encoding, text):
    assert texts(read_texts(file(f"id;text\n1;{text}\n".encode(encoding)), "text", encoding=encoding)) == [
        text
    ]


def test_utf_16_without_a_mark_is_not_taken_for_binary_when_it_is_named(file):
    text = "".join(chr(0x4E00 + i) for i in range(30))  # the low bytes are control characters
    path = file(f"{text}\n".encode("utf-16-be") * 50, "file.txt")
    assert texts(read_texts(path, encoding="utf-16-be")) == [text] * 50


@pytest.mark.parametrize("line", ["sep=;", "SEP=;"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_the_line_of_excel_that_tells_the_delimiter(file, line, end):
    path = file(end.join([line, "id;text", "1;a,b", "2;c,d", ""]))
    source = read_texts(path, "text")
    assert texts(source) == ["a,b", "c,d"]
    assert lines(source) == [3, 4]
    assert texts(read_texts(path, "id;text", delimiter="|")) == ["1;a,b", "2;c,d"]


def test_a_cell_of_200_kilobytes(file):
    before = csv.field_size_limit(1_000)
    try:
        for cell in ("x" * 200_000, 'many short lines, and quotes "\n' * 6_500):
            source = read_texts(file(csv_text([("1", cell), ("2", "after")])), "text")
            assert texts(source) == [cell, "after"]
            assert csv.field_size_limit() == 1_000  # the limit belongs to the process
    finally:
        csv.field_size_limit(before)


def test_double_and_empty_column_names(file):
    path = file("text,,text, text ,text_2,column_2\na,b,c,d,e,f\n")
    expected = {"text": "a", "column_3": "b", "text_3": "c", "text_4": "d", "text_2": "e", "column_2": "f"}
    (batch,) = read_texts(path, "text")
    assert batch.table.to_dicts() == [expected]
    for column, cell in expected.items():
        assert texts(read_texts(path, column)) == [cell]


def test_many_equal_names_take_no_time(file):
    names = headers.column_names(["a"] * 8_000 + [""] * 8_000)
    assert len(set(names)) == 16_000


def test_empty_cells_to_the_right_of_a_table(file):
    path = file("id;text\n1;a;;;\n2;b;\n3;c\n")
    source = read_texts(path, "text")
    assert texts(source) == ["a", "b", "c"]
    assert source.skipped == 0


def test_blank_lines(file):
    path = file("\n\nid,text\n\n1,a\n\n\n2,b\n\n")
    source = read_texts(path, "text")
    assert (texts(source), lines(source)) == (["a", "b"], [5, 8])
    one_column = read_texts(file("text\na\n\nb\n"))
    assert (texts(one_column), lines(one_column)) == (["a", "", "b"], [2, 3, 4])


@pytest.mark.slow
def test_lines_are_counted_through_a_long_file(file):
    path = file("id,text\n" + '1,"a\nb"\n2,c\n\n' * 10_000)
    expected = [first + i for first in range(2, 40_002, 4) for i in (0, 2)]
    for batch_rows in (777, 20_000):
        source = read_texts(path, "text", batch_rows=batch_rows)
        assert lines(source) == expected
        assert texts(source) == ["a\nb", "c"] * 10_000
    assert lines(read_texts(file("a\n" * 70_000, "file.txt"))) == list(range(1, 70_001))
    assert lines(read_texts(file('{"text": "a"}\n\n' * 9_000, "file.jsonl"))) == list(range(1, 18_001, 2))


@pytest.mark.parametrize("separator", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_only_line_ends_end_lines(file, separator):
    text = f"a{separator}b"
    rows = [(str(i), text) for i in range(30)]
    for name in ("file.csv", "some"):
        assert texts(read_texts(file(csv_text(rows, delimiter=";"), name), "text")) == [text] * 30
    assert texts(read_texts(file(f"{text}\n{text}", "file.txt"))) == [text] * 2
    line = json.dumps({"text": text}, ensure_ascii=False)
    assert texts(read_texts(file(f"{line}\n{line}", "file.jsonl"))) == [text] * 2


def test_text_after_a_closing_quote_is_read_as_excel_does(file):
    source = read_texts(file('id,text\n1,"Great" kettle\n2,"a ""b""" c\n3,plain\n'), "text")
    assert texts(source) == ["Great kettle", 'a "b" c', "plain"]


def test_without_a_header(file):
    source = read_texts(file("1;a\n2;b\n"), "column_2", header=False)
    assert (texts(source), lines(source)) == (["a", "b"], [1, 2])
    assert texts(read_texts(file("\n1;a\n2;b\n"), "column_2", header=False)) == ["a", "b"]
    book = file(workbook([("1", "a"), ("2", "b")]), "file.xlsx")
    assert texts(read_texts(book, "column_2", header=False)) == ["a", "b"]


def test_a_delimiter_of_one_s_own(file):
    assert texts(read_texts(file("id~text\n1~a,b\n"), "text", delimiter="~")) == ["a,b"]
    assert texts(read_texts(file("id~text\n1~a\n", "file.txt"), "text", delimiter="~")) == ["a"]


@pytest.mark.parametrize("other", [";", "|", "\t"])
def test_one_column_with_other_delimiters_in_every_text(file, other):
    source = read_texts(file(f"text\na{other}b\nc{other}d\n"))
    assert texts(source) == [f"a{other}b", f"c{other}d"]


def test_the_header_tells_the_delimiter_against_many_commas(file):
    path = file("id;text\n" + "1;one, two, three\n2;four\n" * 50)
    assert texts(read_texts(path, "text")) == ["one, two, three", "four"] * 50


def test_texts_that_begin_like_formulas_are_texts(file):
    cells = ["=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "{{7*7}}", "__import__('os')"]
    assert texts(read_texts(file(csv_text([("1", c) for c in cells])), "text")) == cells
    lines_ = "\n".join(json.dumps({"text": c}) for c in cells)
    assert texts(read_texts(file(lines_, "file.jsonl"))) == cells


@pytest.mark.parametrize("start", ["MZ", "BZh", "Rar!", "GIF8", "PAR1", "%PDF", "SQLite format 3", "7z"])
def test_column_names_that_look_like_signatures(file, start):
    assert texts(read_texts(file(f"{start},text\n1,a\n"), "text")) == ["a"]


# lines and JSON lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines(file, end):
    source = read_texts(file(end.join(["one", "", " two, three ", "=4", ""]), "file.txt"))
    assert (texts(source), lines(source)) == (["one", "", " two, three ", "=4"], [1, 2, 3, 4])
    assert texts(read_texts(file(f"one{end}two", "file.log"), "text")) == ["one", "two"]


def test_formats_are_told_from_the_content_where_the_name_says_nothing(file):
    assert texts(read_texts(file("a, b\nc\nd, e, f\n", "some"))) == ["a, b", "c", "d, e, f"]
    assert texts(read_texts(file("Hello, world", "some"))) == ["Hello, world"]
    assert texts(read_texts(file(csv_text(), "some"), "text")) == [text for _, text in ROWS]
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = file('\n{"text": "a, b"}\n{"text": "c, d"}'.encode(encoding), "some")
        assert texts(read_texts(path)) == ["a, b", "c, d"]
    assert texts(read_texts(file(FILES["file.xlsx"], "some.csv"), "text")) == [text for _, text in ROWS]
    assert texts(read_texts(file(FILES["file.parquet"], "some"), "text")) == [text for _, text in ROWS]
    assert texts(read_texts(file('{"text": "a"}', "file.csv"), format="jsonl")) == ["a"]


def test_json_lines_with_columns_that_come_and_go(file):
    path = file(
        '{"text": "a"}\n\n{"id": 2, "text": null}\n{"x": [1, "é"], "text": 3.5}\n{"text": NaN}\n{}', "a.jsonl"
    )
    for batch_rows in (1, 2, 100):
        source = read_texts(path, "text", batch_rows=batch_rows)
        assert (texts(source), lines(source)) == (["a", "", "3.5", "", ""], [1, 3, 4, 5, 6])
    (batch,) = source
    assert batch.table.to_dicts()[2] == {"text": "3.5", "id": None, "x": '[1, "é"]'}


def test_json_lines_that_are_strings(file):
    assert texts(read_texts(file('"a"\n"b\\nc"\n', "file.jsonl"))) == ["a", "b\nc"]


def test_json_lines_of_tokens(file):
    path = file('{"text": ["a", "b"]}\n{"text": null}\n{"id": 1}\n{"text": []}', "file.jsonl")
    for batch_rows in (1, 2, 100):
        batches = list(read_texts(path, "text", batch_rows=batch_rows))
        assert all(batch.texts.dtype == pl.List(pl.String) for batch in batches)
        assert [t for batch in batches for t in batch.texts.to_list()] == [["a", "b"], [], [], []]
    assert batches[0].table["text"].to_list() == ['["a", "b"]', None, None, "[]"]


# Parquet and workbooks


def test_parquet_columns_of_other_types(file):
    frame = pl.DataFrame(
        {
            "text": pl.Series(["a", None, "b"], dtype=pl.Categorical),
            "number": [1.5, float("nan"), None],
            "day": [datetime.date(2024, 5, 1)] * 3,
            "tokens": [["a", None], None, []],
        }
    )
    path = file(parquet(frame), "file.parquet")
    assert texts(read_texts(path, "text", batch_rows=2)) == ["a", "", "b"]
    assert texts(read_texts(path, "number")) == ["1.5", "", ""]
    assert texts(read_texts(path, "day")) == ["2024-05-01"] * 3
    assert [t.to_list() for t in texts(read_texts(path, "tokens"))] == [["a"], [], []]
    assert lines(read_texts(path, "text", batch_rows=2)) == [1, 2, 3]
    (batch,) = read_texts(path, "text")
    assert batch.table.schema == frame.schema


def test_a_workbook_reads_as_people_see_it(file):
    rows = [
        ("text", None, "when", "n"),
        ("a\nb", 1.0, datetime.datetime(2024, 5, 1), True),
        (None, 2.5, datetime.datetime(2024, 5, 1, 12, 30), 10**15),
        ("=1+1", None, datetime.time(12, 30), None),
    ]
    path = file(workbook(rows), "file.xlsx")
    assert texts(read_texts(path, "text")) == ["a\nb", "", ""]  # a formula is not worked out here
    assert texts(read_texts(path, "column_2")) == ["1", "2.5", ""]
    assert texts(read_texts(path, "when")) == ["2024-05-01", "2024-05-01T12:30:00", "12:30:00"]
    assert texts(read_texts(path, "n")) == ["True", str(10**15), ""]


def test_a_table_that_begins_further_down_in_the_sheet(file):
    book = openpyxl.Workbook()
    for place, value in {"B3": "text", "C3": "n", "B4": "a", "C6": 5}.items():
        book.active[place] = value
    out = io.BytesIO()
    book.save(out)
    source = read_texts(file(out.getvalue(), "file.xlsx"), "text")
    assert (texts(source), lines(source)) == (["a", "", ""], [4, 5, 6])


def test_the_only_column_need_not_be_named(file):
    path = file(parquet(pl.DataFrame({"subject": ["a", "b"]})), "file.parquet")
    assert texts(read_texts(path)) == ["a", "b"]
