"""Input that cannot be used: one sentence with the place, the line and the value; or rows skipped and counted."""

import gzip
import io
import os
import random
import re
import zipfile
from datetime import timedelta

import openpyxl
import polars as pl
import pytest

from coterie.errors import InputError
from coterie.text import read_texts
from coterie.text.readers import BadRow
from coterie.text.readers import source as sources
from coterie.text.readers.bytes import MAX_LINE


@pytest.fixture
def file(tmp_path):
    """`file(content, name)` writes bytes or UTF-8 text and returns the path."""

    def write(content, name="file.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def told(path, column=None, **options):
    """The message, which is one sentence that begins with the place."""
    with pytest.raises(InputError) as caught:
        list(read_texts(path, column, **options))
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


def read(path, column=None, **options):
    source = read_texts(path, column, **options)
    batches = list(source)
    return [t for b in batches for t in b.texts], [n for b in batches for n in b.lines], source


def parquet(frame):
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def workbook(*rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# places


def test_a_file_that_does_not_exist(tmp_path):
    assert told(tmp_path / "none.csv") == " does not exist"
    assert "does not exist" in told(tmp_path / "nul\0.csv")
    assert "could not be read: File name too long" in told(tmp_path / ("x" * 5_000))


def test_a_directory(tmp_path, file):
    assert told(tmp_path) == " is a directory; there is no file in it that can be read"
    file("x", "_b.csv"), file("x", ".a.csv")
    assert told(tmp_path) == " is a directory; there is no file in it that can be read"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(file):
    path = file("text\na\n")
    path.chmod(0)
    assert "could not be read: Permission denied" in told(path)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "txt", "parquet", "xlsx", "some"])
@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["plain", "gzip"])
def test_an_empty_file(file, suffix, content):
    assert told(file(content, f"file.{suffix}")) == " is empty"


@pytest.mark.parametrize("content", ["\n\n\r\n", "\ufeff", "sep=;\n", "\ufeff\n"])
@pytest.mark.parametrize("header", [True, False])
def test_a_csv_file_of_nothing(file, content, header):
    assert told(file(content), header=header) == " is empty"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("file.csv", b"id,text\n"),
        ("file.csv", b"id,text\n\n\n"),
        ("file.xlsx", workbook(("id", "text"))),
        ("file.parquet", parquet(pl.DataFrame({"id": [], "text": []}))),
    ],
)
def test_a_table_without_rows(file, name, content):
    assert told(file(content, name), "text") == " has column names but no rows"


def test_other_files_without_rows(file):
    assert told(file(workbook(), "file.xlsx")) == " is empty"
    assert "no columns" in told(file(parquet(pl.DataFrame()), "file.parquet"))
    assert "no columns" in told(file("{}\n{}\n", "file.jsonl"))
    assert "no rows" in told(file("\n\n", "file.jsonl"))


# columns


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("file.csv", b"id,text\n1,a\n"),
        ("file.jsonl", b'{"id": 1, "text": "a"}'),
        ("file.xlsx", workbook(("id", "text"), (1, "a"))),
        ("file.parquet", parquet(pl.DataFrame({"id": [1], "text": ["a"]}))),
    ],
)
def test_a_missing_column_is_told_with_those_that_exist(file, name, content):
    path = file(content, name)
    assert told(path, "Text") == " has no column 'Text'; it has 'id', 'text'; did you mean 'text'?"
    unsure = " has no column that looks like texts; it has 'id', 'text'"
    assert told(path) == f"{unsure}; column=… says which one holds the texts"
    assert (
        told(path, "Text", skip_bad=True)
        == " has no column 'Text'; it has 'id', 'text'; did you mean 'text'?"
    )


def test_many_and_long_column_names_stay_readable(file):
    message = told(file(",".join(f"n{i}" + "x" * 1_000 for i in range(40)) + "\n"), "text")
    assert message.endswith(" and 28 more")
    assert len(message) < 600


def test_too_many_columns(file):
    message = told(file("," * 20_000 + "\n1\n"))
    assert ", line 1: 20,001 cells, but a table can have at most 16,384" in message
    keys = "\n".join(f'{{"text": "a", "k{i}": 1}}' for i in range(2_500))
    assert " has more than 2,000 different keys; " in told(file(keys, "file.jsonl"), "text")


def test_columns_that_hold_no_texts(file):
    frame = pl.DataFrame({"b": [b"x"], "s": [{"a": 1}], "l": [[{"a": 1}]], "d": [timedelta(1)]})
    path = file(parquet(frame), "file.parquet")
    for column in frame.columns:
        with pytest.raises(InputError, match=f"column '{column}' contains .*, not texts"):
            list(read_texts(path, column))


# rows


def test_ragged_rows(file):
    path = file("id,text\n1,a\n2,b,c\n3\n4,d\n")
    expected = (
        ", line 3: expected 2 cells, found 3: '2 | b | c'; fix the file, or skip such rows with skip_bad=True"
    )
    assert told(path, "text") == expected
    texts, lines, source = read(path, "text", skip_bad=True)
    assert (texts, lines, source.skipped) == (["a", "d"], [2, 5], 2)
    assert source.bad_rows == [
        BadRow(3, "expected 2 cells, found 3", "2 | b | c"),
        BadRow(4, "expected 2 cells, found 1", "3"),
    ]


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_quote_that_is_never_closed_costs_one_row(file, end):
    path = file('id,text\n1,a\n2,"b\n3,c\n4,d' + end)
    assert ", line 3: a quoted cell has no closing quote: '2,\"b'" in told(path, "text")
    texts, lines, source = read(path, "text", skip_bad=True)
    assert (texts, lines) == (["a", "c", "d"], [2, 4, 5])
    assert [bad.line for bad in source.bad_rows] == [3]


def test_quotes_that_pair_with_the_next_cell_cost_only_their_own_row(file):
    path = file('id,text\n1,"Unclosed\n2,"good, cell"\n3,"a ""b"""\n4,"x\ny"\n5,"again\n6,"z"\n')
    assert ", line 2: a quote inside a quoted cell is not doubled: '1,\"Unclosed'" in told(path, "text")
    texts, lines, source = read(path, "text", skip_bad=True)
    assert (texts, lines) == (["good, cell", 'a "b"', "x\ny", "z"], [3, 4, 5, 8])
    assert [bad.line for bad in source.bad_rows] == [2, 7]


def test_a_quote_that_stays_open_for_long_does_not_take_in_the_file(file):
    row = "x" * 1_000
    rows = MAX_LINE // 1_000 + 500
    path = file('id,text\n1,"a\n' + f"2,{row}\n" * rows + '3,"b"\n')
    assert ", line 2: a quoted cell has no closing quote within 4,194,304 characters: '1,\"a'" in told(
        path, "text"
    )
    texts, _, source = read(path, "text", skip_bad=True)
    assert (len(texts), texts[-1], source.skipped) == (rows + 1, "b", 1)
    path = file('id,text\n1,"a\n' + f"2 {row}\n" * rows + '"\n')  # closed, but too late
    assert ", line 2: a quoted cell has no closing quote within" in told(path, "text")


def test_rows_that_are_read_again_and_again_come_to_an_end(file):
    path = file("id,text\n" + 'x","y\n' * 20_000)
    assert "unbalanced quotes" in told(path, "text", skip_bad=True)
    path = file('id,text\n1,"abc\n' + '""x,1\n' * 20_000)  # each of them fails, after one look at all
    texts, _, source = read(path, "id", skip_bad=True)
    assert (len(texts), source.skipped) == (20_000, 1)


def test_a_first_row_that_cannot_be_read(file):
    for options in ({}, {"skip_bad": True}, {"header": False, "skip_bad": True}):
        assert told(file('id,"text\n1,a\n'), **options).startswith(
            ", line 1: a quoted cell has no closing quote"
        )


def test_a_line_without_end(file):
    for name in ("file.csv", "file.txt", "file.jsonl"):
        message = told(file("text\n" + "x" * (MAX_LINE + 10), name), "text", skip_bad=True)
        assert message.startswith(", line 2: longer than 4,194,304 characters: 'xxxx")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{'text': 'a'}", "not JSON (Expecting property name enclosed in double quotes)"),
        ('{"text": "a"', "not JSON (Expecting ',' delimiter)"),
        ("[1, 2]", "not a JSON object"),
        ("7", "not a JSON object"),
        ("[" * 100_000, "not JSON (maximum recursion depth exceeded"),
        ('{"text": ' + "9" * 5_000 + "}", "not JSON (Exceeds the limit (4300"),
        ('{"text": ["a", "b"]}', "column 'text' is not a text"),
        ('{"text": {"a": 1}}', "column 'text' is not a text"),
        ('{"text": "\\ud83d"}', "half a character (lone surrogate U+D83D)"),
        ('{"text": "\\udc80 \\ud83d"}', "half a character (lone surrogate U+DC80)"),
        ('{"text": "a", "\\ud83d": 1}', "half a character (lone surrogate) in a key"),
    ],
)  # fmt: skip
def test_json_lines_that_are_none(file, line, reason):
    path = file(f'{{"text": "a"}}\n\n{line}\n{{"text": "b"}}\n', "file.jsonl")
    assert told(path).startswith(f", line 3: {reason}")
    for batch_rows in (1, 100):
        texts, lines, source = read(path, skip_bad=True, batch_rows=batch_rows)
        assert (texts, lines, source.skipped) == (["a", "b"], [1, 4], 1)
    source.bad_rows[0].value.encode()  # can be shown anywhere
    assert len(str(source.bad_rows[0])) < 300


def test_json_that_is_nested_as_deeply_as_can_be_read(file):
    for depth in range(300, 1_000, 7):  # whether it fails as it is read or written depends on who calls
        deep = '{"text": "a", "x": ' + "[" * depth + "]" * depth + "}"
        texts, _, source = read(file(f'{deep}\n{{"text": "b"}}', "file.jsonl"), "text", skip_bad=True)
        assert len(texts) + source.skipped == 2


@pytest.mark.parametrize("bad", ['"a b"', "7", "[1]", '["a", null]', '[["a"]]', '{"a": 1}'])
def test_tokens_that_are_none(file, bad):
    path = file(f'{{"text": ["a"]}}\n{{"text": {bad}}}\n{{"text": ["b"]}}\n', "file.jsonl")
    assert told(path).startswith(", line 2: column 'text' is not a list of strings like the first one: ")
    texts, _, source = read(path, skip_bad=True)
    assert ([t.to_list() for t in texts], source.skipped) == ([["a"], ["b"]], 1)


def test_files_where_nothing_can_be_read(file):
    def message(content, name="file.csv", column=None):
        path = file(content, name)
        with pytest.raises(InputError) as error:
            list(read_texts(path, column, skip_bad=True))
        return str(error.value).replace(str(path), "FILE")

    expected = "no row of FILE could be read; the first error is line 2: expected 2 cells, found 1: '1'"
    assert message("id,text\n1\n2\n", column="text") == expected
    assert "no row of FILE could be read" in message("[\n1,\n2\n]\n", "file.json")
    assert "no row of FILE could be read" in message("äöü\n".encode() + b"\xff\n\xfe\n")


def test_bad_rows_are_all_counted_and_the_first_kept(file, monkeypatch):
    monkeypatch.setattr(sources, "KEPT_BAD_ROWS", 20)
    path = file("id,text\n" + "1,a\nbad\n" * 50)
    for batch_rows in (1, 7, 1_000):
        texts, lines, source = read(path, "text", skip_bad=True, batch_rows=batch_rows)
        assert (len(texts), lines, source.skipped) == (50, list(range(2, 102, 2)), 50)
        assert [bad.line for bad in source.bad_rows] == list(range(3, 43, 2))
        assert read(path, "text", skip_bad=True)[2].skipped == 50  # counts begin anew
    list(source)
    assert source.skipped == 50


def test_bad_rows_of_both_kinds_are_told_in_order(file):
    path = file("id,text\n1,äöü\n".encode() + b"2,\xff\n3\n4,b\n5,\xfe\n")
    assert told(path, "text").startswith(", line 3: byte 0xff is not valid utf-8")
    assert [bad.line for bad in read(path, "text", skip_bad=True)[2].bad_rows] == [3, 4, 6]


# bytes


def test_bytes_that_are_not_utf_8(file):
    path = file("id,text\n1,a\n2,Größe\n3,b\n".encode("cp1252"))
    expected = ", line 3: byte 0xf6 is not valid utf-8; the file has another encoding, or is damaged: 'Gr\\\\xf6\\\\xdfe'; set it with encoding='cp1252'"
    assert told(path, "text", encoding="utf-8") == expected  # to skip such rows would lose what can be read
    for encoding in ("utf-8", "UTF8", "u8"):
        texts, lines, source = read(path, "text", skip_bad=True, encoding=encoding)
        assert (texts, lines, source.skipped) == (["a", "b"], [2, 4], 1)
        assert source.bad_rows[0].value == "Gr\\xf6\\xdfe"
    assert read(path, "text", encoding="cp1252")[0] == ["a", "Größe", "b"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["file.csv", "file.txt", "file.jsonl"])
@pytest.mark.parametrize(
    ("encoding", "bad"),
    [
        ("utf-8", b"\xe9"),
        ("utf-16-le", b"\x00\xd8"),
        ("utf-16-be", b"\xdc\x00"),
        ("utf-32-le", b"\x00\x00\x11\x00"),
        ("cp1252", b"\x81"),
        ("shift_jis", b"\x81\xff"),
        ("ascii", b"\xc3"),
    ],
)
def test_undecodable_bytes_in_any_encoding_cost_one_row(file, name, encoding, bad):
    content = ["text", "a", "#", "b"]
    if name == "file.jsonl":
        content = ['{"text": "x"}', '{"text": "a"}', '{"text": "#"}', '{"text": "b"}']
    many = [*content[:1], *content[1:2] * 2_000, *content[2:]]  # decoders read thousands of bytes ahead
    path = file("\n".join(many).encode(encoding).replace("#".encode(encoding), bad), name)
    message = told(path, encoding=encoding)
    assert message.startswith(", line 2002: byte 0x")
    assert f" is not valid {encoding}; " in message
    texts, _, source = read(path, encoding=encoding, skip_bad=True)
    assert texts[-2:] == ["a", "b"]
    assert [bad.line for bad in source.bad_rows] == [2002]


def test_undecodable_bytes_in_the_header(file):
    path = file("id;Prüfung\n1;a\n".encode("cp1252"))
    for options in ({}, {"skip_bad": True}):
        assert told(path, "id", encoding="utf-8", **options).startswith(
            ", line 1: byte 0xfc is not valid utf-8"
        )
    assert read(path, "Prüfung", encoding="cp1252")[0] == ["a"]


def test_utf_16_that_is_cut_in_the_middle_of_a_character(file):
    content = "id;text\n1;a\n2;b".encode("utf-16")
    for skip_bad in (False, True):
        path = file(content[:-1])
        if skip_bad:
            texts, _, source = read(path, "text", skip_bad=True)
            assert (texts, [bad.line for bad in source.bad_rows]) == (["a"], [3])
        else:
            assert told(path, "text").startswith(", line 3: byte 0x62 is not valid utf-16")


@pytest.mark.parametrize("encoding", ["nope", "", "hex", "rot13", "base64", "idna", "undefined", "a\0b"])
def test_encodings_that_are_none(file, encoding):
    with pytest.raises(InputError, match=f"unknown encoding {re.escape(repr(encoding))}; try 'utf-8'"):
        read_texts(file("text\na\n"), encoding=encoding)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a picture"),
        (b"\x7fELF\x02\x01\x01" + bytes(50), "a program"),
        (b"MZ\x90\0\x03\0\0\0", "a program"),
        (b"SQLite format 3\0\x10\0", "a database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
        (b"BZh91AY&SY", "compressed with bzip2"),
        (b"\xfd7zXZ\0\0", "compressed with xz"),
        (gzip.compress(b"text\na\n", mtime=0), "compressed twice"),
        (bytes(1_000), "its first bytes are b'\\x00\\x00"),
        (random.Random(1).randbytes(100_000), "its first bytes are b'"),
        (bytes(range(256)) * 10, "its first bytes are b'\\x00\\x01"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["file.csv", "file.txt", "file.jsonl", "some"])
def test_binary_files(file, content, what, name):
    for stored in (content, gzip.compress(content)):
        if what == "compressed twice" and stored is content:
            continue
        message = told(file(stored, name))
        assert message.startswith(" is not a text file: it")
        assert what in message


def test_workbooks_and_parquet_under_a_wrong_format(file):
    assert "a zip archive or an Office document" in told(file(workbook(("a",), ("b",))), format="csv")
    assert "a Parquet file" in told(file(parquet(pl.DataFrame({"a": ["b"]}))), format="lines")
    assert "could not be read as Parquet" in told(file("text\na\n"), format="parquet")
    assert "could not be read as an Excel workbook" in told(file("text\na\n"), format="xlsx")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as parts:
        parts.writestr("notes.txt", "text\na\n")
    assert "could not be read as an Excel workbook" in told(file(archive.getvalue(), "file.zip"))


@pytest.mark.parametrize(
    "name", ["file.csv.gz", "file.txt.gz", "file.jsonl.gz", "file.parquet.gz", "file.xlsx.gz"]
)
def test_gzip_that_is_cut_or_damaged(file, name):
    texts = [f"{random.Random(i).random()}" for i in range(2_000)]
    content = {
        "parquet": parquet(pl.DataFrame({"text": texts})),
        "xlsx": workbook(("text",), *[(text,) for text in texts]),
    }.get(name.split(".")[1], "\n".join(f'{{"text": "{text}"}}' for text in texts).encode())
    sound = gzip.compress(content)
    middle = len(sound) // 2
    for cut in (3, 12, middle, len(sound) - 1):
        message = told(file(sound[:cut], name))
        assert message == " is an incomplete gzip file; copy it again"
    for damaged in (
        sound[:middle] + bytes(50) + sound[middle + 50 :],
        sound[:-8] + bytes(8),
        sound + b"trailing rubbish",
    ):
        assert told(file(damaged, name)).startswith(" is a damaged gzip file: ")


@pytest.mark.parametrize("name", ["file.parquet", "file.xlsx"])
def test_cut_parquet_and_workbooks(file, name):
    content = (
        parquet(pl.DataFrame({"text": ["a"]})) if name == "file.parquet" else workbook(("text",), ("a",))
    )
    for cut in (5, len(content) // 2, len(content) - 1):
        assert " could not be read as " in told(file(content[:cut], name))


# arguments


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "pdf"}, r"format must be one of csv, tsv, jsonl, json, parquet, xlsx, lines; got 'pdf'"),
        ({"batch_rows": 0}, r"batch_rows must be a whole number of at least 1, got 0"),
        *[({"delimiter": d}, r"delimiter must be one character") for d in ("", ";;", '"', "\n", "\r")],
    ],
)
def test_arguments_are_judged_at_once(options, message):
    with pytest.raises(InputError, match=message):
        read_texts("file.csv", **options)
