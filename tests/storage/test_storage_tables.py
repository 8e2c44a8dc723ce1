"""Tables: no cell is a formula, every text comes back, batches cost the memory of a batch."""

import csv
import datetime
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from coterie.errors import InputError
from coterie.storage import tables
from coterie.storage.tables import CsvWriter, ParquetWriter, neutralise, read_csv, read_parquet, restore

COMMANDS = tuple("=+-@＝＋－＠")
DANGEROUS = "=+-@\t\r\n\0\ufeff＝＋－＠"
TEXTS = st.text(
    st.sampled_from(DANGEROUS + "''''\"\",; a1é^*$") | st.characters(exclude_categories=["Cs"]), max_size=12
)


@st.composite
def frames(draw):
    names = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(0, 6))
    columns = {name: draw(st.lists(st.none() | TEXTS, min_size=rows, max_size=rows)) for name in names}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))


@pytest.mark.slow
@given(frames())
@settings(max_examples=150)
def test_restore_undoes_neutralise_for_every_text_and_name(frame):
    masked = neutralise(frame)
    assert_frame_equal(restore(masked), frame)
    for cell in [*masked.columns, *(cell for row in masked.rows() for cell in row if cell)]:
        assert not cell.startswith(tuple(DANGEROUS))
    assert_frame_equal(restore(restore(neutralise(masked))), frame)


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=6), st.sampled_from(";\t|"))
@settings(max_examples=300)
def test_no_cell_is_a_command_whatever_separates_cells(texts, separator):
    frame = pl.DataFrame({"n": ["id"] * len(texts), "text": texts})
    with tempfile.TemporaryDirectory() as folder:
        content = write(CsvWriter, Path(folder) / "x.csv", frame).read_bytes().decode().replace("\0", "")
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        for row in csv.reader(io.StringIO(content, newline=""), delimiter=separator, quoting=quoting):
            assert not any(cell.startswith(COMMANDS) for cell in row), row


@pytest.mark.parametrize("separator", [";", "\t", "|", "\n"])
@pytest.mark.parametrize("quotes", ["", "'", '"', "\"'", "'\""])
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_behind_a_separator_are_marked(separator, quotes, command):
    text = f"late parcel{separator}{quotes}{command}cmd|' /C calc'!A0{separator}"
    masked = neutralise(pl.DataFrame({text: [text]}))
    assert masked.row(0) == (f"late parcel{separator}'{quotes}{command}cmd|' /C calc'!A0{separator}",)
    assert masked.columns == [masked.item()]
    assert restore(masked).to_dict(as_series=False) == {text: [text]}


def test_only_dangerous_texts_change():
    texts = ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "'=1", "''=1", "tea", "'tea'", "", None, "1-1", " =1"]
    masked = [
        "'=1",
        "'+1",
        "'-1",
        "'@a",
        "'\t'=1",
        "'\r'=1",
        "''=1",
        "'''=1",
        "tea",
        "'tea'",
        "",
        None,
        "1-1",
        " =1",
    ]
    assert neutralise(pl.DataFrame({"=x": texts})).to_dict(as_series=False) == {"'=x": masked}
    numbers = pl.DataFrame({"n": [-1.5, 2], "l": [["=1"], []]})
    assert_frame_equal(neutralise(numbers), numbers)
    kinds = pl.DataFrame({"c": ["=1", "a"]}, schema={"c": pl.Categorical})
    assert neutralise(kinds)["c"].to_list() == ["'=1", "a"]
    assert restore(neutralise(pl.DataFrame())).is_empty()


def write(writer, path, *batches, **settings):
    with writer(path, **settings) as table:
        for batch in batches:
            table.write(batch)
    return path


@pytest.mark.slow
@given(st.lists(frames(), min_size=1, max_size=1), st.integers(1, 4))
@settings(max_examples=100)
def test_csv_comes_back_as_it_was(made, size):
    frame = made[0]
    with tempfile.TemporaryDirectory() as folder:
        path = write(CsvWriter, Path(folder) / "a[b]*.csv", frame[:0], *frame.iter_slices(size))
        assert_frame_equal(read_csv(path), frame)
        assert os.listdir(folder) == [path.name]
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))  # another reader sees the same cells
        plain = [["" if cell is None else cell for cell in row] for row in neutralise(frame).rows()]
        if frame.width > 1:
            assert rows == [neutralise(frame).columns, *plain]
        for row in rows:
            assert not any(cell.startswith(tuple(DANGEROUS)) for cell in row)


def test_csv_as_bytes(tmp_path):
    frame = pl.DataFrame(
        {"id": [1, -2], "=x": ['say "hi"', "a,b\nc"], "n": [None, ""]}, schema_overrides={"n": pl.String}
    )
    path = write(CsvWriter, tmp_path / "x.csv", frame)
    assert path.read_bytes() == b'"id","\'=x","n"\n1,"say ""hi""",\n-2,"a,b\nc",""\n'


def test_csv_of_all_kinds_of_columns(tmp_path):
    frame = pl.DataFrame(
        {
            "int": [-1, None],
            "float": [-0.5, float("inf")],
            "bool": [True, None],
            "day": [datetime.date(2020, 1, 2), None],
            "wait": [datetime.timedelta(seconds=-3), None],
            "list": [["=1", 'q"'], None],
            "pair": [{"a": 1, "b": [2]}, {"a": None, "b": None}],
            "nothing": [None, None],
        }
    ).with_columns(
        kind=pl.Series(["=a", None], dtype=pl.Categorical),
        array=pl.Series([[1, 2], None], dtype=pl.Array(pl.Int8, 2)),
    )
    found = read_csv(write(CsvWriter, tmp_path / "x.csv", frame, frame[:1]))
    assert found.row(0) == (
        "-1",
        "-0.5",
        "true",
        "2020-01-02",
        "-PT3S",
        '["=1","q\\""]',
        '{"a":1,"b":[2]}',
        None,
        "=a",
        "[1,2]",
    )
    assert found.row(1) == (None, "inf", None, None, None, None, '{"a":null,"b":null}', None, None, None)
    assert found.row(2) == found.row(0)
    for column in ([b"x"], [[b"x"]], [{"a": b"x"}], pl.Series([object()], dtype=pl.Object)):
        mixed = pl.DataFrame({"a": ["tea"], "b": column, "c": [1]})
        assert read_csv(write(CsvWriter, tmp_path / "x.csv", mixed)).to_dicts() == [{"a": "tea", "c": "1"}]
        with pytest.raises(InputError, match="all columns contain bytes, which are not text"):
            write(CsvWriter, tmp_path / "y.csv", pl.DataFrame({"b": column}))
    assert os.listdir(tmp_path) == ["x.csv"]


@pytest.mark.parametrize("name", ["x^2", "x\x01", "x", "*", "^a$", ""])
def test_names_that_look_like_something_else(tmp_path, name):
    frame = pl.DataFrame({name: ["=1", None, ""]})
    assert_frame_equal(read_csv(write(CsvWriter, tmp_path / "x.csv", frame)), frame)


@pytest.mark.parametrize("writer", [CsvWriter, ParquetWriter])
def test_columns_must_stay_the_same(tmp_path, writer):
    with pytest.raises(InputError, match=r"x has the columns \['a'\], a batch has \['b'\]"):
        write(writer, tmp_path / "x", pl.DataFrame({"a": [1]}), pl.DataFrame({"b": [1]}))
    with pytest.raises(InputError, match="at least one column"):
        write(writer, tmp_path / "x", pl.DataFrame())
    with pytest.raises(InputError, match="x received no table"):
        write(writer, tmp_path / "x")
    with pytest.raises(InputError, match="could not be written: it does not exist"):
        write(writer, tmp_path / "no" / "x", pl.DataFrame({"a": [1]}))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("writer", [CsvWriter, ParquetWriter])
def test_after_an_exception_the_old_file_is_there(tmp_path, writer):
    path = tmp_path / "x"
    path.write_text("old")
    frame = pl.DataFrame({"a": range(100_000)})
    with pytest.raises(KeyboardInterrupt), writer(path) as table:  # noqa: PT012
        table.write(frame)
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    write(writer, path, frame)
    assert os.listdir(tmp_path) == ["x"]
    assert path.stat().st_size > 1000


@pytest.mark.parametrize("writer", [CsvWriter, ParquetWriter])
def test_empty_tables(tmp_path, writer):
    read = {CsvWriter: read_csv, ParquetWriter: read_parquet}[writer]
    schema = {"a": pl.Int64, "b": pl.List(pl.String)}
    one = read(write(writer, tmp_path / "one", schema=schema))
    other = read(write(writer, tmp_path / "other", pl.DataFrame(schema=schema)))
    assert one.columns == other.columns == ["a", "b"]
    assert len(one) == len(other) == 0
    if writer is ParquetWriter:
        assert one.schema == other.schema == pl.Schema(schema)


@pytest.mark.slow
@given(st.lists(st.integers(0, 50), max_size=40))
@settings(max_examples=40)
def test_parquet_keeps_the_order_of_all_batches(sizes):
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        patched.setattr(tables, "_PART_ROWS", 20)
        patched.setattr(tables, "_PARTS", 3)
        whole = pl.DataFrame(
            {"n": range(sum(sizes)), "t": [f"={n}" for n in range(sum(sizes))]},
            schema={"n": pl.Int64, "t": pl.String},
        )
        batches, start = [], 0
        for size in sizes:
            batches.append(whole[start : start + size])
            start += size
        path = write(ParquetWriter, Path(folder) / "a[b]*.parquet", *batches, schema=whole.schema)
        assert_frame_equal(read_parquet(path, rows=len(whole)), whole)
        assert os.listdir(folder) == [path.name]


def test_parquet_types_must_stay_the_same_but_for_nulls(tmp_path):
    typed, null = pl.DataFrame({"a": ["x"]}), pl.DataFrame({"a": [None]})
    found = read_parquet(write(ParquetWriter, tmp_path / "x", typed, null))
    assert_frame_equal(found, pl.DataFrame({"a": ["x", None]}))
    with pytest.raises(
        InputError, match="column 'a' has type Null, but a batch has String; give all batches the same types"
    ):
        write(ParquetWriter, tmp_path / "y", null, typed)
    found = read_parquet(write(ParquetWriter, tmp_path / "z", null, typed, schema={"a": pl.String}))
    assert found["a"].to_list() == [None, "x"]


@pytest.mark.process
def test_parquet_takes_the_memory_of_a_batch(tmp_path):
    script = (
        "import sys, resource, numpy as np, polars as pl\n"
        "from coterie.storage.tables import ParquetWriter\n"
        "chance = np.random.default_rng(0)\n"
        "with ParquetWriter(sys.argv[1]) as table:\n"
        "    for _ in range(int(sys.argv[2])):\n"
        "        table.write(pl.DataFrame({'x': chance.integers(0, 2**62, 250_000)}))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for batches in (20, 80):  # of 2 MB each
        ended = subprocess.run(
            [sys.executable, "-c", script, tmp_path / "x", str(batches)],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(ended.stdout) / 1024)
        assert read_parquet(tmp_path / "x", rows=batches * 250_000).height == batches * 250_000
    assert peaks[1] < peaks[0] + 70, "120 MB more on the disk, not in memory"


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "x"
    for read in (read_csv, read_parquet):
        with pytest.raises(InputError, match="x is missing"):
            read(path)
    path.touch()
    with pytest.raises(InputError, match="x is empty"):
        read_csv(path)
    for content in (b"\x1f\x8b" + bytes(20), b"x^2,y\n1,2\n", b"\x28\xb5\x2f\xfd"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a CSV file of coterie"):
            read_csv(path)
    for content in (b'"a","b"\n1,2,3\n', b'"a"\n"b\n', b'"a\n', b"\xff\xfe\xfd\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="x is damaged: "):
            read_csv(path)
    path.write_bytes(b'"a","a"\n1,2\n')
    with pytest.raises(InputError, match="two columns of the same name"):
        read_csv(path)
    os.unlink(path)
    os.mkfifo(path)
    for read in (read_csv, read_parquet):
        with pytest.raises(InputError, match="not a plain file"):
            read(path)


def test_damaged_parquet_is_one_sentence(tmp_path):
    path = write(ParquetWriter, tmp_path / "x", pl.DataFrame({"a": ["tea"] * 100, "b": range(100)}))
    with pytest.raises(InputError, match="x has 100 rows instead of 99; copy it again"):
        read_parquet(path, rows=99)
    whole = path.read_bytes()
    for data in (
        b"",
        b"PAR1",
        whole[:-1],
        whole[: len(whole) // 2],
        whole[:-8] + b"\xff\xff\xff\x7fPAR1",
        b"PAR1" + bytes(200) + whole[-8:],
    ):
        path.unlink()
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"x is damaged|x could not be read") as error:
            read_parquet(path)
        assert "\n" not in str(error.value)
