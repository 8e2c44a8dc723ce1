"""Many files are one source: patterns, folders and lists give the rows of one file, in the order of the paths."""

import gzip
import io
import json
import os
import pickle
import socket
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.text import TextSource, read_texts
from coterie.text.readers import BadRow, TextFiles
from coterie.text.readers import source as sources

COLUMNS = ["id", "text"]


def csv_rows(rows, delimiter=","):
    quoted = (delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [COLUMNS, *rows])
    return ("\n".join(quoted) + "\n").encode()


def workbook(rows):
    book = openpyxl.Workbook()
    for row in [COLUMNS, *rows]:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(rows):
    out = io.BytesIO()
    pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row").write_parquet(out)
    return out.getvalue()


def records(rows):
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


WRITERS = {
    "csv": csv_rows,
    "tsv": lambda rows: csv_rows(rows, "\t"),
    "jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in records(rows)).encode(),
    "json": lambda rows: json.dumps(records(rows)).encode(),
    "parquet": parquet,
    "xlsx": workbook,
}
#: Their parsers are processes of their own, which take a second to start.
SLOW = {"parquet", "xlsx"}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def rows_of(source):
    return [row for batch in source for row in batch.table.rows()]


def told(path, *args, **kwargs):
    with pytest.raises(InputError) as error:
        list(read_texts(path, *args, **kwargs))
    return str(error.value)


# --- one source


CELLS = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=12
).filter(lambda cell: cell.strip() == cell and cell)
SPLITS = st.lists(st.lists(st.tuples(CELLS, CELLS), max_size=5), min_size=1, max_size=5).filter(any)


def check_split(folder, parts, kind, packed, batch_rows):
    """Rows in several files are what they are in one; each batch is of one file."""
    for old in folder.rglob("*"):
        if old.is_file():
            old.unlink()
    (folder / "many").mkdir(exist_ok=True)
    ending = f"{kind}.gz" if packed else kind
    for number, rows in enumerate(parts):
        data = WRITERS[kind](rows)
        (folder / "many" / f"{number}.{ending}").write_bytes(gzip.compress(data) if packed else data)
    whole = folder / f"one.{kind}"
    whole.write_bytes(WRITERS[kind]([row for rows in parts for row in rows]))
    one = read_texts(whole, "text", batch_rows=batch_rows)
    expected = rows_of(one)
    for path in (folder / "many", str(folder / "many" / f"*.{ending}"), sorted((folder / "many").iterdir())):
        source = read_texts(path, "text", batch_rows=batch_rows)
        batches = list(source)
        assert [row for batch in batches for row in batch.table.rows()] == expected
        assert [text for batch in batches for text in batch.texts] == [
            text for batch in one for text in batch.texts
        ]
        assert source.skipped == one.skipped == 0
        assert all(batch.file.endswith(ending) for batch in batches)
        assert [len(batch.texts) for batch in batches] == [
            min(batch_rows, len(rows) - start) for rows in parts for start in range(0, len(rows), batch_rows)
        ]
        assert [row for part in source.parts() for row in rows_of(part)] == expected


@pytest.mark.parametrize("kind", sorted(set(WRITERS) - SLOW))
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=SPLITS, packed=st.booleans(), batch_rows=st.integers(1, 4))
def test_any_split_of_rows_into_files_is_one_source(tmp_path, kind, parts, packed, batch_rows):
    check_split(tmp_path, parts, kind, packed, batch_rows)


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", sorted(SLOW))
def test_parquet_and_excel_files_are_one_source(tmp_path, kind, packed):
    check_split(tmp_path, [[], [("1", "ä b"), ("2", "c")], [("3", "d")], []], kind, packed, 1)


BAD = st.lists(st.lists(st.sampled_from(["1,a", "2,b", "bad", '3,"c']), max_size=4), min_size=1, max_size=4)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=BAD.filter(lambda parts: any("," in line and '"' not in line for part in parts for line in part))
)
def test_bad_rows_are_those_of_the_files_one_by_one(tmp_path, parts):
    for old in tmp_path.iterdir():
        old.unlink()
    skipped, good, bad = 0, [], []
    for number, lines in enumerate(parts):
        path = tmp_path / f"{number}.csv"
        path.write_text("id,text\n" + "".join(f"{line}\n" for line in lines))
        one = read_texts(path, "text", skip_bad=True, delimiter=",")
        with suppress(InputError):  # of a file without good rows
            good += rows_of(one)
        skipped += one.skipped
        bad += [(str(path), row.line, row.reason) for row in one.bad_rows]
    source = read_texts(tmp_path, "text", skip_bad=True, delimiter=",")
    assert (rows_of(source), source.skipped) == (good, skipped)
    assert [(row.file, row.line, row.reason) for row in source.bad_rows] == bad


def test_lines_of_text(write, tmp_path):
    write("b.txt", "second\nthird"), write("a.txt", "first\n"), write("c.txt.gz", gzip.compress(b"fourth"))
    source = read_texts(tmp_path)
    assert [text for batch in source for text in batch.texts] == ["first", "second", "third", "fourth"]
    assert [(Path(batch.file).name, list(batch.lines)) for batch in source] == [
        ("a.txt", [1]), ("b.txt", [1, 2]), ("c.txt.gz", [1]),
    ]  # fmt: skip


@pytest.mark.process
def test_parts_can_be_read_in_other_processes(write, tmp_path):
    (
        write("a.csv", "id;text;note\n1;late, really;x\n"),
        write("b.csv", "text;id\nlost; 2\n"),
        write("c.csv", ""),
    )
    parts = read_texts(tmp_path).parts()
    assert all(isinstance(part, TextSource) and part.column == "text" for part in parts)
    # not forked: the threads of polars are no more in a fork
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = list(pool.map(_texts, [pickle.dumps(part) for part in parts]))
    assert found == [["late, really"], ["lost"], []]
    single = read_texts(tmp_path / "a.csv")
    assert single.parts() == [single]


def _texts(pickled):
    return [text for batch in pickle.loads(pickled) for text in batch.texts]


def test_a_source_of_files_is_a_text_source(write, tmp_path):
    write("a.csv", "text\na\n"), write("b.csv", "text\nb\n")
    source = read_texts([tmp_path / "b.csv", str(tmp_path / "a.csv"), tmp_path / "a.csv"])
    assert isinstance(source, TextSource)
    assert isinstance(source, TextFiles)
    assert source.source_name == f"{tmp_path}/a.csv and 1 more"
    assert [Path(file.path).name for file in source.files] == ["a.csv", "b.csv"]
    assert source.plain_bytes() == 14
    assert rows_of(source) == rows_of(source) == [("a",), ("b",)]
    assert read_texts(str(tmp_path / "*.csv")).source_name == f"{tmp_path}/*.csv"
    write("c.csv.gz", gzip.compress(b"text\nc\n"))
    assert read_texts(tmp_path).plain_bytes() is None


# --- which files


def test_files_of_a_folder(write, tmp_path):
    for name in (
        "b.csv",
        "a.csv",
        "x/y/d.csv",
        "x/c.csv",
        ".hidden.csv",
        "_done.csv",
        ".git/e.csv",
        "_old/f.csv",
    ):
        write(name, f"text\n{name}\n")
    expected = ["a.csv", "b.csv", "x/c.csv", "x/y/d.csv"]
    assert rows_of(read_texts(tmp_path)) == [(name,) for name in expected]
    assert rows_of(read_texts(f"{tmp_path}/**/*.csv")) == [(name,) for name in expected]
    assert rows_of(read_texts(f"{tmp_path}/?.csv")) == [("a.csv",), ("b.csv",)]
    assert rows_of(read_texts(f"{tmp_path}/[xyz]")) == [("x/c.csv",), ("x/y/d.csv",)]
    assert rows_of(read_texts(f"{tmp_path}/_*.csv")) == [("_done.csv",)]
    assert rows_of(read_texts([tmp_path / "x", tmp_path / "b.csv"])) == [
        ("b.csv",),
        ("x/c.csv",),
        ("x/y/d.csv",),
    ]


def test_patterns_beside_the_working_folder(write, tmp_path, monkeypatch):
    write("logs/a.csv", "text\na\n")
    monkeypatch.chdir(tmp_path)
    assert (
        rows_of(read_texts("logs/*.csv"))
        == rows_of(read_texts("*/a.csv"))
        == rows_of(read_texts("logs/"))
        == [("a",)]
    )
    monkeypatch.chdir(tmp_path / "logs")
    assert rows_of(read_texts("*.csv")) == rows_of(read_texts("../logs/*")) == [("a",)]


def test_a_name_with_wildcards_that_exists_is_that_file(write, tmp_path):
    write("a[1].csv", "text\nliteral\n"), write("a1.csv", "text\nmatched\n")
    assert rows_of(read_texts(tmp_path / "a[1].csv")) == [("literal",)]
    (tmp_path / "a[1].csv").unlink()
    assert rows_of(read_texts(tmp_path / "a[1].csv")) == [("matched",)]
    write("b[2]/x.csv", "text\ninside\n")
    assert rows_of(read_texts(tmp_path / "b[2]" / "*.csv")) == [("inside",)]


def test_what_matches_nothing(tmp_path):
    assert told(f"{tmp_path}/*.csv") == f"no file matches {tmp_path}/*.csv; check the pattern"
    assert told([]) == "the list of files is empty; name at least one file"
    assert "is no pattern of file names" in told(f"{tmp_path}/**x.csv")
    assert told([tmp_path / "none.csv"]) == f"{tmp_path}/none.csv does not exist"
    assert told([3]) == "path must be a string, a path or a list of these, got 3"
    assert told(["-", "a.csv"]) == "- is no file, and cannot be read with others; read it alone"


# --- the first file decides


def test_a_file_without_the_column_is_named(write, tmp_path):
    write("a.csv", "id,text\n1,a\n"), write("b.csv", "id,note\n2,b\n")
    assert told(tmp_path, "text").startswith(f"{tmp_path}/b.csv has no column 'text'; it has 'id', 'note'")


def test_columns_that_only_some_files_have(write, tmp_path):
    write("a.csv", "text,id\na,1\n"), write("b.csv", "team,text\nx,b\n")
    source = read_texts(tmp_path, "text")
    assert [batch.table.columns for batch in source] == [["text", "id"], ["team", "text"]]
    assert rows_of(source.with_all_columns()) == [("a", "1", None), ("b", None, "x")]


def test_files_of_several_formats(write, tmp_path):
    write("a.csv", "text\na\n"), write("b.jsonl", '{"text": "b"}\n')
    assert told(tmp_path) == (
        f"{tmp_path}/a.csv and {tmp_path}/b.jsonl have different formats; files that are read together must have "
        "the same; choose some with a pattern such as 'logs/*.csv', or set format='csv'"
    )
    write("b.jsonl", "text\nb\n")
    assert rows_of(read_texts(tmp_path, format="csv")) == [("a",), ("b",)]


def test_a_file_that_is_not_what_its_name_says(write, tmp_path):
    write("a.csv", "text\na\n"), write("b.csv", parquet([("1", "b")]))
    assert told(tmp_path) == (
        f"{tmp_path}/b.csv is Parquet, but {tmp_path}/a.csv is CSV; files that are read together must have the "
        "same format"
    )
    write("b.csv", b"%PDF-1.7 ...")
    assert told(tmp_path) == f"{tmp_path}/b.csv is not a text file: it is a PDF document"


def test_json_may_be_arrays_and_lines(write, tmp_path):
    write("a.json", '[{"text": "a"}]'), write("b.json", '{"text": "b"}\n{"text": "c"}\n')
    assert rows_of(read_texts(tmp_path)) == [("a",), ("b",), ("c",)]


def test_texts_and_tokens_do_not_mix(write, tmp_path):
    write("a.jsonl", '{"text": ["a", "b"]}\n'), write("b.jsonl", '{"text": "c"}\n')
    assert told(tmp_path, "text").startswith(
        f"column 'text' has texts in {tmp_path}/b.jsonl, but lists of tokens in"
    )


def test_an_older_encoding_of_the_first_file_holds_for_others_that_are_not_utf_8(write, tmp_path):
    write("a.csv", "text\nЖалоба на доставку посылки\n".encode("cp1251"))
    write("b.csv", "text\nЖ\n".encode("cp1251"))  # too short to tell
    write("c.csv", "text\nÜber\n")
    assert rows_of(read_texts(tmp_path)) == [("Жалоба на доставку посылки",), ("Ж",), ("Über",)]


def test_empty_files_among_others(write, tmp_path):
    (
        write("a.csv", ""),
        write("b.csv", "id,text\n"),
        write("c.csv", "id,text\n1,late parcel\n"),
        write("d.csv", ""),
    )
    assert rows_of(read_texts(tmp_path)) == [("1", "late parcel")]
    (tmp_path / "c.csv").unlink()
    assert told(tmp_path) == f"{tmp_path} has no rows: all 3 files are empty"


def test_notes_are_told_once_and_name_later_files(write, tmp_path):
    write("a.csv", "id,text\n1,late parcel\n")
    for name in "bc":
        write(f"{name}.csv", "Export of today,,\n,,\nid,text,team\n1,lost,x\n")
    source = read_texts(tmp_path)
    list(source)
    assert [note.fact for note in source.notes] == [
        "the texts are in column 'text', judging by its values",
        f"{tmp_path}/b.csv: the column names are in row 3; 1 row above them left out",
        f"{tmp_path}/c.csv: the column names are in row 3; 1 row above them left out",
    ]


@pytest.mark.slow
def test_types_of_parquet_columns(write, tmp_path):
    def table(name, **columns):
        out = io.BytesIO()
        pl.DataFrame(columns).write_parquet(out)
        write(name, out.getvalue())

    table("a.parquet", text=["a"], n=[1], late=[None])
    table("b.parquet", text=["b"], n=pl.Series([2.0, None][:1]), late=["x"])
    source = read_texts(tmp_path, "text")
    assert rows_of(source) == [("a", 1, None), ("b", 2, "x")]
    assert {tuple(batch.table.schema.items()) for batch in source} == {
        (("text", pl.String), ("n", pl.Int64), ("late", pl.String))
    }
    table("b.parquet", text=["b"], n=[2.5])
    assert told(tmp_path, "text") == (
        f"column 'n' contains Float64 in {tmp_path}/b.parquet, but Int64 in {tmp_path}/a.parquet; give it the same "
        "type in all files"
    )


# --- folders that are values


def test_values_in_the_names_of_folders(write, tmp_path):
    write("year=2023/team=north%20west/a.csv", "text\na\n")
    write("year=2024/team=__HIVE_DEFAULT_PARTITION__/b.csv", "text,year\nb,own\n")
    expected = [("a", "2023", "north west"), ("b", "own", None)]
    assert rows_of(read_texts(tmp_path)) == expected
    assert rows_of(read_texts(tmp_path / "year=*" / "*" / "*.csv")) == expected
    assert rows_of(read_texts(tmp_path / "year=2023")) == [("a", "north west")]
    assert [rows_of(part)[0] for part in read_texts(tmp_path).parts()] == expected


# --- bad rows


def test_more_bad_rows_than_may_be_skipped(write, tmp_path):
    write("a.csv", "id,text\n1,a\nbad\n2,b\n"), write("b.csv", "id,text\n3,c\nbad\n4,d\nworse\n5,e\n")
    for batch_rows in (1, 100):
        source = read_texts(tmp_path, "text", skip_bad=True, max_bad=2, batch_rows=batch_rows)
        seen = []
        with pytest.raises(InputError) as error:
            seen.extend(row for batch in source for row in batch.table.rows())
        assert str(error.value) == (
            f"{tmp_path}/b.csv, line 5: expected 2 cells, found 1: 'worse'; that makes 3 rows that cannot be read, "
            "and at most 2 may be skipped; fix the file, or raise the limit with max_bad=…"
        )
        seen = []
        with suppress(InputError):
            for batch in source:
                seen += batch.table["id"].to_list()
        assert seen == ["1", "2", "3", "4"]  # nothing that came before is lost
        assert source.skipped == 3
    source = read_texts(tmp_path, "text", skip_bad=True, max_bad=3)
    assert (len(rows_of(source)), source.skipped) == (5, 3)
    assert source.bad_rows[0] == BadRow(3, "expected 2 cells, found 1", "bad", file=f"{tmp_path}/a.csv")
    assert told(tmp_path, max_bad=0) == "max_bad must be a whole number of at least 1, got 0"


def test_bad_rows_are_handed_on_as_they_come(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "KEPT_BAD_ROWS", 5)
    write("a.csv", "id,text\n" + "1,a\nbad\n" * 20)
    write("b.csv", "id,text\n" + "1,a\nbad\n" * 20)
    found = []
    for path in (tmp_path, tmp_path / "a.csv"):
        found.clear()
        source = read_texts(path, "text", skip_bad=True, batch_rows=3)
        source.on_bad = found.extend
        list(source)
        assert (source.skipped, len(source.bad_rows)) == (len(found), 5) or path == tmp_path
        assert len(found) == source.skipped == (40 if path == tmp_path else 20)


def test_what_a_bad_row_says_is_cut(write):
    path = write("a.csv", "id,text\n1,a\n" + "x" * 5_000 + "\n")
    source = read_texts(path, "text", skip_bad=True)
    list(source)
    assert source.bad_rows[0].value == "x" * 1_000


# --- hostile folders


def test_links_that_form_a_loop(write, tmp_path):
    write("a/x.csv", "text\nx\n")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "up2").symlink_to(tmp_path / "a")
    source = read_texts(tmp_path)
    assert rows_of(source) == [("x",)]
    assert [note.fact for note in source.notes] == ["2 links to folders were not followed"]
    assert rows_of(read_texts(f"{tmp_path}/**/*.csv")) == [("x",)]
    (tmp_path / "a" / "self.csv").symlink_to("self.csv")
    assert told(tmp_path) == f"{tmp_path}/a/self.csv does not exist"


def test_a_link_to_a_file_is_that_file(write, tmp_path):
    outside = write("out/x.csv", "text\nx\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").symlink_to(outside)
    assert rows_of(read_texts(tmp_path / "in")) == [("x",)]
    outside.unlink()
    assert told(tmp_path / "in") == f"{tmp_path}/in/a.csv does not exist"


def test_pipes_and_sockets_are_left_out(write, tmp_path, monkeypatch):
    write("a.csv", "text\na\n")
    os.mkfifo(tmp_path / "pipe.csv")
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.csv")
        assert rows_of(read_texts(tmp_path)) == rows_of(read_texts(f"{tmp_path}/*.csv")) == [("a",)]
    assert "pipe.csv is no file" in told(["a.csv", "pipe.csv"])


def test_a_file_that_vanishes(write, tmp_path):
    write("a.csv", "text\na\n"), write("b.csv", "text\nb\n")
    source = read_texts(tmp_path)
    (tmp_path / "b.csv").unlink()
    batches = iter(source)
    assert next(batches).texts.to_list() == ["a"]
    with pytest.raises(InputError, match=r"b\.csv does not exist"):
        next(batches)


def test_a_name_that_is_not_utf_8(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9=1"
    os.mkdir(name)
    for file, content in ((b"/b\xff.csv", b"text\nb\n"), (b"/a.csv", b"text\na\nx,y\n")):
        with open(name + file, "wb") as out:
            out.write(content)
    source = read_texts(tmp_path, "text", skip_bad=True)
    found = rows_of(source)
    assert [row[0] for row in found] == ["a", "b"]
    json.dumps([found, list(source.bad_rows[0].file), [batch.file for batch in source]]).encode()
    assert source.bad_rows[0].file.endswith("caf\\xe9=1/a.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(write, tmp_path):
    write("a.csv", "text\na\n"), write("x/b.csv", "text\nb\n")
    (tmp_path / "x").chmod(0)
    try:
        assert "x could not be read: permission denied" in told(tmp_path)
    finally:
        (tmp_path / "x").chmod(0o700)
