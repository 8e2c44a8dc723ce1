"""Files as helpdesks and survey tools write them: titles, sheets, encodings, JSON of all shapes, unnamed columns."""

import contextlib
import gzip
import io
import json

import openpyxl
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.text import read_texts
from coterie.text.columns import guess_text
from coterie.text.readers.encodings import detected
from coterie.text.readers.headers import header_at

SUBJECTS = ["Where is my parcel", "The kettle is broken", "Refund my card please", "I cannot log in today"]
HEADER, ROWS = ["id", "team", "subject"], [[str(i), "ab"[i % 2], text] for i, text in enumerate(SUBJECTS)]
JAPANESE = ["荷物がまだ届きません", "返金をお願いします", "ログインできないのですが", "カードをなくしました"]


@pytest.fixture
def file(tmp_path):
    def write(content, name="file.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read(path, column=None, **options):
    source = read_texts(path, column, **options)
    return [text for batch in source for text in batch.texts.to_list()], source


def facts(source):
    return " | ".join(note.fact for note in source.notes)


def refused(path, column=None, **options):
    with pytest.raises(InputError) as caught:
        read(path, column, **options)
    return caught.value


def csv(*above, delimiter=","):
    return "".join(f"{line}\n" for line in (*above, *(delimiter.join(row) for row in [HEADER, *ROWS])))


def workbook(sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# titles above the column names


@pytest.mark.parametrize("column", [None, "subject"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "above",
    [["Exported by HelpdeskPro"], ["Exported by HelpdeskPro", ""], ["Tickets", "", "From: 2025-01-01", ""]],
)
def test_titles_above_the_column_names(file, column, above, delimiter):
    texts, source = read(file(csv(*above, delimiter=delimiter)), column)
    assert texts == SUBJECTS
    assert source.layout.header_row == len(above) + 1
    titles = sum(map(bool, above))
    assert f"the column names are in row {len(above) + 1}; {titles} row" in facts(source)
    assert list(next(iter(source)).lines) == [len(above) + 2 + i for i in range(4)]


def test_titles_that_a_spreadsheet_saved_as_csv(file):
    assert read(file(csv("Our tickets,,", ",,")))[0] == SUBJECTS


@pytest.mark.parametrize(
    "content",
    [
        "text,,\nlate parcel,a,b\nno refund,c,d\n",
        "text\nwell, yes\n",
        "text,\nlate parcel,a\n",
        "id,text\n1,a b\n",
    ],
)
def test_what_could_be_column_names_is_taken_for_them(file, content):
    source = read_texts(file(content), skip_bad=True)
    with contextlib.suppress(InputError):
        list(source)
    assert source.layout.header_row == 1
    assert "column names" not in facts(source)


def test_a_value_that_is_called_like_the_column_is_no_column_name(file):
    assert "has no column 'refund'" in str(refused(file("id,subject\n1,a\n2,refund\n"), "refund"))


def test_the_row_of_the_names_can_be_told(file):
    path = file("Tickets\nid,subject\n1,late parcel\n")
    texts, source = read(path, header_row=2)
    assert (texts, source.layout.header_row, source.notes[:0]) == (["late parcel"], 2, [])
    error = refused(path, header_row=9)
    assert "has no row with column names in line 9; its first row is in line 1" in str(error)


@given(st.lists(st.lists(st.sampled_from(["", "a", "b c", "1"]), max_size=5), max_size=40))
def test_the_row_of_the_names_is_one_of_the_rows(rows):
    assert 0 <= header_at(rows) < max(len(rows), 1)


# column names


@pytest.mark.parametrize("typed", ["Your comment", " Your  comment ", "Your\ncomment"])
def test_names_with_line_breaks_and_spaces_can_be_typed(file, typed):
    path = file('id," Your\ncomment "\n1,late parcel\n')
    texts, source = read(path, typed)
    assert (texts, source.layout.column) == (["late parcel"], "Your\ncomment")


def test_two_names_that_are_typed_alike_are_refused(file):
    path = file('"a\nb",a  b\n1,2\n')
    assert "has 2 columns called 'a b'; rename all but one" in str(refused(path, "a b"))


# sheets


@pytest.fixture
def tickets(file):
    notes = [["Exported by HelpdeskPro"], ["Do not reply to this address"]]
    return file(
        workbook({"Notes": notes, "Tickets": [["Tickets of May"], [], HEADER, *ROWS], "2": [["a"]]}), "a.xlsx"
    )


def test_the_sheet_with_most_text_and_its_header_are_found(tickets):
    texts, source = read(tickets)
    assert texts == SUBJECTS
    assert (source.layout.sheet, source.layout.sheets, source.layout.header_row) == (
        "Tickets",
        ["Notes", "Tickets", "2"],
        3,
    )
    assert "reading the sheet 'Tickets', which has more text than 2 other sheets" in facts(source)


@pytest.mark.parametrize(
    ("sheet", "first"), [("Tickets", SUBJECTS[0]), (2, None), ("1", "Do not reply to this address")]
)
def test_a_sheet_by_its_name_or_number(tickets, sheet, first):
    if first is None:  # a sheet that is called 2 goes before the second one
        assert "has column names but no rows" in str(refused(tickets, sheet=sheet))
        return
    texts, source = read(tickets, sheet=sheet)
    assert texts[0] == first
    assert "sheet" not in facts(source)


@pytest.mark.parametrize("sheet", ["Ticket", 9, 0, "9" * 50, "x\ufffd"])
def test_a_sheet_that_is_not_there_is_told_with_those_that_are(tickets, sheet):
    assert f"has no sheet {str(sheet)[:60]!r}; it has 'Notes', 'Tickets', '2'" in str(
        refused(tickets, sheet=sheet)
    )


@pytest.mark.parametrize("sheet", [True, "", "a\0b", 1.5, "\ud800"])
def test_what_names_no_sheet_is_refused_at_once(sheet):
    with pytest.raises(InputError, match="sheet must be the name or the number of a sheet"):
        read_texts("a.xlsx", sheet=sheet)


def test_a_chart_among_the_sheets_is_passed_over(file):
    book = openpyxl.load_workbook(io.BytesIO(workbook({"Tickets": [HEADER, *ROWS]})))
    book.create_chartsheet("Chart", 0).add_chart(openpyxl.chart.BarChart())
    out = io.BytesIO()
    book.save(out)
    assert read(file(out.getvalue(), "a.xlsx"))[0] == SUBJECTS


# JSON


def records():
    return [
        {"id": i, "ticket": {"subject": text, "by": {"name": "Ann"}}, "tags": ["a"]}
        for i, text in enumerate(SUBJECTS)
    ]


SHAPES = {
    "array on one line": lambda: json.dumps(records()),
    "array, indented": lambda: json.dumps(records(), indent=2),
    "array, objects on lines": lambda: "[\n" + ",\n".join(map(json.dumps, records())) + "\n]\n",
    "in an object": lambda: json.dumps({"count": 4, "next": None, "tickets": records()}),
    "in an object, indented": lambda: json.dumps({"tickets": records(), "page": 1}, indent=1),
    "lines": lambda: "\n".join(map(json.dumps, records())),
}


@pytest.mark.parametrize("column", [None, "ticket.subject"])
@pytest.mark.parametrize("shape", SHAPES)
def test_json_of_every_shape(file, shape, column):
    texts, source = read(file(SHAPES[shape](), "file.json"), column)
    assert texts == SUBJECTS
    table = next(iter(source)).table
    assert table.columns == ["id", "ticket.subject", "ticket.by.name", "tags"]
    assert table.row(1) == ("1", SUBJECTS[1], "Ann", '["a"]')


def test_half_a_character_costs_one_record_of_an_array(file):
    path = file('[{"text": "late parcel"}, {"text": "\\ud800"}, {"text": "no refund"}]', "file.json")
    assert "record 2: half a character" in str(refused(path, "text"))
    texts, source = read(path, "text", skip_bad=True)
    assert (texts, source.skipped) == (["late parcel", "no refund"], 1)
    assert list(next(iter(source)).lines) == [1, 3]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_long_array_is_read_piece_by_piece(file, suffix):
    rows = [{"text": f"late parcel {i} " + "é" * (i % 300)} for i in range(3_000)]
    data = json.dumps(rows, ensure_ascii=False).encode()
    texts, _ = read(file(gzip.compress(data) if suffix else data, f"file.json{suffix}"))
    assert texts == [row["text"] for row in rows]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["text", "a", "b.c"]), st.text(max_size=5) | st.integers() | st.none()
        ),
        max_size=8,
    ),
    st.sampled_from([None, 1]),
)
def test_arrays_and_lines_give_the_same(tmp_path_factory, rows, indent):
    folder = tmp_path_factory.mktemp("same")
    rows = [{"text": "late parcel", **row} for row in rows] or [{"text": "x"}]
    (folder / "a.json").write_text(json.dumps(rows, indent=indent))
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    both = [next(iter(read_texts(folder / name, "text"))) for name in ("a.json", "a.jsonl")]
    assert both[0].table.equals(both[1].table)
    assert both[0].texts.equals(both[1].texts)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[{"text": "a"},', "the array has no end"),
        ('[{"text": "a"} {"text": "b"}]', "a comma is missing between two values"),
        ('[{"text": "a"}] x', "the array has ended, but more follows"),
        ('[{"text": "a"},\n{"text": }]', "line 2: not JSON"),
        ('{"a": [{"text": "b"}, }', "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_an_array_that_is_damaged_is_not_read_in_part(file, content, reason):
    for skip_bad in (False, True):
        error = str(refused(file(content, "file.json"), "text", skip_bad=skip_bad))
        assert reason in error
        assert "the file is damaged or incomplete, export it again" in error


def test_values_of_an_array_that_are_no_objects_are_bad_rows(file):
    path = file('[1, {"text": "late parcel"}, [2], "no refund"]', "file.json")
    assert "record 1: not a JSON object: '1'" in str(refused(path))
    texts, source = read(path, skip_bad=True)
    assert (texts, source.skipped) == (["late parcel", "no refund"], 2)


def test_objects_with_many_keys_stay_json(file):
    rows = [{"text": "late parcel", "votes": {f"user{i}": 1 for i in range(60)}, "a": {"b": 1}, "a.b": 2}]
    assert next(iter(read_texts(file(json.dumps(rows), "file.json"), "text"))).table.columns == [
        "text",
        "votes",
        "a",
        "a.b",
    ]


# encodings


@pytest.mark.parametrize(
    ("encoding", "texts", "spoken"),
    [
        ("utf-8", ["Où est mon café ?", "日本"], None),
        ("utf-8-sig", ["Où est mon café ?", "日本"], None),
        ("utf-16", ["Où est mon café ?", "日本"], "UTF-16"),
        ("cp1252", ["Où est mon café ?", "Größe – “gut”", "plain"], "Windows-1252"),
        ("latin-1", ["Où est mon café\x81", "Größe"], "Latin-1"),
        ("cp932", JAPANESE, "Shift-JIS"),
        ("euc_jp", JAPANESE, "EUC-JP"),
        ("gb18030", ["我的包裹还没有到，请问在哪里", "我要退款，你们不给我"], "GB 18030"),
        ("euc_kr", ["소포가 아직 안 왔어요", "환불해 주세요"], "EUC-KR"),
        ("cp1251", ["Где моя посылка?", "Верните деньги за заказ"], "Windows-1251"),
    ],
)
@pytest.mark.parametrize("name", ["file.csv", "file.jsonl", "file.json"])
def test_encodings_are_told_by_the_bytes(file, encoding, texts, spoken, name):
    rows = [{"id": str(i), "text": text} for i, text in enumerate(texts)]
    content = {
        "file.csv": "id,text\n" + "".join(f'{row["id"]},"{row["text"]}"\n' for row in rows),
        "file.jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in rows),
        "file.json": json.dumps(rows, ensure_ascii=False),
    }[name]
    got, source = read(file(content.encode(encoding), name), "text")
    assert got == texts
    assert ("text encoding" in facts(source)) == (spoken is not None)
    assert spoken is None or f"the text encoding is {spoken}" in facts(source)


def test_an_accent_behind_the_first_bytes_is_found(file):
    content = "id,text\n" + "1,plain words only\n" * 10_000 + "2,Größe\n"
    texts, source = read(file(gzip.compress(content.encode("cp1252")), "file.csv.gz"), "text")
    assert texts[-1] == "Größe"
    assert source.layout.encoding == "cp1252"


def test_a_few_broken_letters_do_not_make_it_another_encoding(file):
    path = file("id,text\n1,Größe äöü\n2,".encode() + b"\xff\n3,b\n")
    assert "line 3: byte 0xff is not valid utf-8" in str(refused(path, "text"))


@given(st.binary(max_size=300))
def test_any_bytes_have_an_encoding_that_python_knows(data):
    data.decode(detected(io.BytesIO(data), data), "replace")


# the column with the texts


def test_the_column_is_guessed_and_named(file):
    texts, source = read(file(csv()))
    assert texts == SUBJECTS
    assert source.layout.column == "subject"
    assert facts(source) == "the texts are in column 'subject', judging by its values"
    assert "texts are in" not in facts(read(file(csv()), "subject")[1])


@pytest.mark.parametrize(
    "content", ["id,date\n1,2025-01-01\n2,2025-01-02\n", "id,key\n1,a1\n2,b7\n", "a,b\n,\n,\n"]
)
def test_where_no_column_looks_like_texts_all_are_listed(file, content):
    error = refused(file(content))
    names = ", ".join(map(repr, content.split("\n")[0].split(",")))
    assert f"has no column that looks like texts; it has {names}" in error.fact
    assert error.said("command").endswith("; --text NAME says which one holds the texts")
    assert error.said("python").endswith("; column=… says which one holds the texts")
    assert "--" not in error.said("page")


def test_the_guess_passes_over_what_cannot_be_texts(tmp_path):
    frame = pl.DataFrame({"tags": [["a b c d e f g h i"]] * 4, "raw": [b"x" * 90] * 4, "subject": SUBJECTS})
    frame.write_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[0] == SUBJECTS


@given(st.permutations(["id", "team", "subject", "created", "url"]))
def test_the_order_of_columns_does_not_matter(names):
    columns = {
        "id": [str(i) for i in range(4)],
        "team": ["Cards", "Cards", "Parcels", "Parcels"],
        "subject": SUBJECTS,
        "created": ["12/31/2025", "12/30/2025", "1/2/2025", "NULL"],
        "url": [f"https://help.example.com/tickets/with/a/long/address/{i}" for i in range(4)],
    }
    assert guess_text(pl.DataFrame({name: columns[name] for name in names})) == "subject"


# cells that stand for nothing


def test_null_cells_of_databases_are_empty_and_answers_are_not(file):
    cells = ["NULL", "NaN", r"\N", "#N/A", "n/a", "none", "null and void", "late parcel"]
    path = file("id,text\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    texts, source = read(path, "text")
    assert texts == ["", "", "", "", "n/a", "none", "null and void", "late parcel"]
    assert next(iter(source)).table["text"].to_list() == cells  # as they were given


def test_a_column_of_nulls_is_empty(file):
    rows = "".join(
        f"{text},{null}\n" for text, null in zip(SUBJECTS, ["N/A", "NULL", "n/a", "NaN"], strict=True)
    )
    assert read(file("subject,notes from the second line of support\n" + rows))[1].layout.column == "subject"


# plain text that is a table


@pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
def test_a_table_in_a_txt_file(file, delimiter):
    assert read(file(csv(delimiter=delimiter), "file.txt"))[0] == SUBJECTS


@pytest.mark.parametrize("content", ["well, yes\nno, thanks\nlate, again\n", "a\nb\n", "so; it goes\n"])
def test_prose_in_a_txt_file(file, content):
    assert read(file(content, "file.txt"))[0] == content.splitlines()


@pytest.mark.parametrize(("name", "kind"), [("a.parquet", "Parquet"), ("a.xlsx", "an Excel workbook")])
def test_a_name_that_promises_another_format_is_told(file, name, kind):
    assert f"could not be read as {kind}" in str(refused(file("id,text\n1,late parcel\n", name)))
