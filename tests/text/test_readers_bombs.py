"""Files that are small on disk and huge in memory, and files that end the parser: one sentence, and soon."""

import gzip
import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.text import read_texts
from coterie.text.readers import parsers
from coterie.topics.collection import TextStore

MEGABYTE = 1 << 20


def workbook(path, **cells):
    book = openpyxl.Workbook()
    for place, value in {"A1": "text", "A2": "late parcel", **cells}.items():
        book.active[place] = value
    book.save(path)
    return path


def refused(path, **options):
    with pytest.raises(InputError) as told:
        list(read_texts(path, "text", **options))
    assert str(path) in str(told.value)
    assert len(str(told.value)) < 400
    return str(told.value)


def texts_of(path, **options):
    return [text for batch in read_texts(path, "text", **options) for text in batch.texts]


@pytest.mark.parametrize("cell", ["XFD1048576", "XFD5000", "BZ1048576"])
def test_a_cell_far_outside_the_table_is_refused_before_there_is_room_for_it(tmp_path, cell):
    sentence = refused(workbook(tmp_path / "far.xlsx", **{cell: "x"}))
    assert "delete the cells outside the table" in sentence


def test_the_two_far_cells_may_be_different_ones(tmp_path):
    assert "delete the cells" in refused(workbook(tmp_path / "far.xlsx", XFD1="x", A5000="x"))


@pytest.mark.parametrize(("cell", "rows"), [("A70000", 69_999), ("XFD1", 1), ("Z3", 2), ("AB4", 3)])
def test_a_stray_cell_that_costs_little_is_read(tmp_path, cell, rows):
    texts = texts_of(workbook(tmp_path / "stray.xlsx", **{cell: "x"}))
    assert len(texts) == rows
    assert texts[0] == "late parcel"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), max_size=6), st.integers(1, 40))
def test_the_size_of_a_sheet_is_that_of_its_far_cells(tmp_path_factory, cells, room):
    path = tmp_path_factory.mktemp("sheet") / "sheet.xlsx"
    book = openpyxl.Workbook()
    for row, column in [(1, 1), *cells]:
        book.active.cell(row, column, "x")
    book.save(path)
    width = max((column for _, column in cells), default=1)
    area = max((row for row, _ in cells), default=1) * width
    with zipfile.ZipFile(path) as archive:
        most = max(room * 20, archive.getinfo("xl/worksheets/sheet1.xml").file_size)
    before, parsers.MOST_CELLS = parsers.MOST_CELLS, room * 20
    try:
        if width > 26 and area > most:
            with pytest.raises(parsers.Refused, match="nearly all empty"):
                list(parsers.xlsx(str(path), 100, 1 << 30))
        else:
            assert list(parsers.xlsx(str(path), 100, 1 << 30))
    finally:
        parsers.MOST_CELLS = before


def test_references_that_lie_across_two_pieces_are_seen(tmp_path, monkeypatch):
    path = workbook(tmp_path / "far.xlsx", XFD1048576="x")
    for piece in range(17, 60):
        monkeypatch.setattr(parsers, "_PIECE", piece)
        with pytest.raises(parsers.Refused, match="17,179,869,184 cells"):
            list(parsers.xlsx(str(path), 100, 1 << 30))


def lying(path, member):
    """Let the directory of an archive say that a member has 10 bytes."""
    data = bytearray(path.read_bytes())
    for signature, size_at, name_at in ((b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)):
        for match in re.finditer(re.escape(signature), bytes(data)):
            if data[match.start() + name_at :].startswith(member.encode()):
                data[match.start() + size_at : match.start() + size_at + 4] = struct.pack("<I", 10)
    path.write_bytes(data)


@pytest.mark.parametrize("honest", [True, False])
def test_a_workbook_that_unpacks_to_gigabytes(tmp_path, honest):
    sound, path = workbook(tmp_path / "sound.xlsx"), tmp_path / "packed.xlsx"
    with zipfile.ZipFile(sound) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            before, found, after = old.read(name).partition(b"late parcel")
            with new.open(name, "w") as file:
                file.write(before + found)
                for _ in range(900 if found else 0):
                    file.write(b"A" * MEGABYTE)
                file.write(after)
    if not honest:
        lying(path, "xl/worksheets/sheet1.xml")
    assert path.stat().st_size < 2 * MEGABYTE
    sentence = refused(path, max_bytes=500 * MEGABYTE)
    if honest:
        assert "is larger than 500 MiB when unpacked" in sentence


@pytest.fixture(scope="module")
def equal_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("equal") / "equal.parquet"
    pl.select(text=pl.repeat("late parcel", 5_000_000)).write_parquet(path)
    assert path.stat().st_size < MEGABYTE
    return path


def test_equal_rows_take_the_memory_of_a_batch(equal_rows):
    """The parser has no more than half a gigabyte with this limit, the reader less."""
    code = (
        "import sys\nfrom coterie.text import read_texts\n"
        "print(sum(len(batch.texts) for batch in read_texts(sys.argv[1], max_bytes=60_000_000)))\n"
        "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, equal_rows], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    rows, kilobytes = map(int, done.stdout.split())
    assert rows == 5_000_000
    assert kilobytes < 150_000


def test_parquet_that_unpacks_to_more_than_allowed(equal_rows):
    assert "is larger than 9.5 MiB when unpacked" in refused(equal_rows, max_bytes=10_000_000)


def packed(path, content, times):
    with gzip.open(path, "wb", 1) as file:
        for _ in range(times):
            file.write(content)
    return path


@pytest.mark.parametrize("name", ["a.csv.gz", "a.txt.gz", "a.jsonl.gz", "a.xlsx.gz", "a.parquet.gz"])
def test_gzip_that_unpacks_to_more_than_allowed(tmp_path, name):
    begin = {"x": b"PK\x03\x04", "p": b"PAR1\x15\x00"}.get(name[2], b'"text"\n')
    path = packed(tmp_path / name, begin + b'"late parcel"\n' * 70_000, 2)
    sentence = refused(path, max_bytes=MEGABYTE)
    assert "is larger than 1 MiB when unpacked; if you trust the file, raise the limit" in sentence


@given(st.integers(1, 300), st.integers(1, 2_000))
@settings(max_examples=30, deadline=None)
def test_the_limit_is_exact(tmp_path_factory, rows, most):
    path = packed(tmp_path_factory.mktemp("exact") / "a.csv.gz", b"text\n" + b"late\n" * rows, 1)
    if 5 + 5 * rows > most:
        assert "is larger than" in refused(path, max_bytes=most)
    else:
        assert len(texts_of(path, max_bytes=most)) == rows


def test_plain_files_have_no_limit(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "late parcel\n" * 100)
    assert len(texts_of(path, max_bytes=1)) == 100


def test_what_unpacks_to_much_is_large(tmp_path, equal_rows):
    small = tmp_path / "small.csv.gz"
    packed(small, b"text\nlate parcel\n", 1)
    large = packed(tmp_path / "large.csv.gz", b"text\n" + (b"late parcel " * 100 + b"\n") * 1000, 20)
    assert large.stat().st_size < MEGABYTE
    assert not TextStore(read_texts(small, "text")).is_large()
    assert TextStore(read_texts(large, "text")).is_large()
    assert TextStore(read_texts(equal_rows, "text")).is_large()


@pytest.mark.parametrize("name", ["small.csv.gz", "large.csv.gz"])
def test_to_look_how_large_a_file_is_takes_nothing_from_it(tmp_path, name):
    texts = [f"late parcel {i} " * 40 for i in range(10 if "small" in name else 40_000)]
    path = packed(tmp_path / name, ("text\n" + "\n".join(texts)).encode(), 1)
    store = TextStore(read_texts(path, "text"))
    assert store.is_large() == ("large" in name)
    assert pl.concat(list(store.batches())).to_list() == texts
    assert pl.concat(list(store.batches())).to_list() == texts  # again, from what was kept
    assert pl.concat(list(store.tables()))["text"].to_list() == texts


def children():
    own = str(os.getpid())
    pids = (entry.name for entry in Path("/proc").iterdir() if entry.name.isdecimal())
    stats = ((pid, Path("/proc", pid, "stat")) for pid in pids)
    return {
        int(pid)
        for pid, stat in stats
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[1] == own
    }


@pytest.mark.process
def test_whoever_stops_reading_ends_the_parser(equal_rows):
    before = children()
    reading = iter(read_texts(equal_rows))
    next(reading)
    assert children() - before
    reading.close()
    assert not children() - before


@pytest.mark.process
def test_a_parser_that_is_killed_is_one_sentence(equal_rows):
    before = children()
    reading = iter(read_texts(equal_rows))
    next(reading)
    for pid in children() - before:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(
        InputError, match=r"could not be read as Parquet: it is damaged, or needs too much memory"
    ):
        list(reading)


def test_more_memory_than_allowed_ends_the_parser(tmp_path):
    """27 million cells pass for a sheet, but not with so little memory; the parser aborts."""
    path = workbook(tmp_path / "tall.xlsx", Z1048576="x")
    assert "needs too much memory" in refused(path, max_bytes=MEGABYTE)


def test_a_file_without_column_or_rows(tmp_path):
    path = tmp_path / "none.parquet"
    pl.DataFrame({"text": []}, schema={"text": pl.String}).write_parquet(path)
    assert refused(path).endswith("has column names but no rows")
    content = io.BytesIO()
    pl.DataFrame({"a": ["x"], "b": ["y"]}).write_parquet(content)
    path.write_bytes(content.getvalue())
    assert "has no column 'text'; it has 'a', 'b'" in refused(path)


@pytest.mark.parametrize(("most", "chosen"), [(1 << 25, 4), (1_000, 1)])
def test_not_all_of_many_huge_sheets_are_looked_at(tmp_path, monkeypatch, most, chosen):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["A2"] = "text", "late parcel"
    for number in range(4):  # each has 1,560 cells, and more text than the one before
        sheet = book.create_sheet(f"s{number}")
        sheet["A1"], sheet["Z60"] = "text", "late parcel " * (5 + number)
    book.save(tmp_path / "many.xlsx")
    monkeypatch.setattr(parsers, "MOST_CELLS", most)
    names, number = json.loads(next(parsers.xlsx(str(tmp_path / "many.xlsx"), 100, 1 << 30)))
    assert (len(names), number) == (5, chosen)
