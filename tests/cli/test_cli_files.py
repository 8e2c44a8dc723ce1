"""Commands that read many files, files that are elsewhere, and rows that cannot be read."""

import json
import random

import fsspec
import polars as pl
import pytest

from coterie import TopicModel, read_texts
from coterie.storage.tables import read_csv
from typed import typed

SUBJECTS = (
    "parcel late courier driver tracking",
    "refund money card charged invoice",
    "password login account email",
)


def tickets(seed, n, more=""):
    draw = random.Random(seed)
    rows = [
        f"{seed}{i},my {' '.join(draw.sample(SUBJECTS[i % 3].split(), 3))}{',x' if more else ''}"
        for i in range(n)
    ]
    return "\n".join([f"id,subject{more}", *rows]) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text(tickets(1, 60))
    (tmp_path / "logs" / "b.csv").write_text(tickets(2, 60, ",team"))
    return tmp_path


def run_info(folder):
    return json.loads((folder / "run.json").read_text())


@pytest.mark.parametrize("files", ["logs", "logs/", "'logs/*.csv'"])
def test_fit_of_many_files(folder, files):
    done = typed(f"coterie fit {files} --text subject --topics 3", folder)
    assert done.code == 0, done.err
    assert done.out.startswith(f"120 texts in {files.strip(chr(39))}")
    info = run_info(folder / "logs-topics")
    assert (info["data"]["texts"], info["data"]["source"]) == (120, files.strip("'"))
    table = pl.read_parquet(folder / "logs-topics" / "assignments.parquet")
    assert table["team"].to_list() == [None] * 60 + ["x"] * 60
    assert table["id"].to_list() == [f"{1 + i // 60}{i % 60}" for i in range(120)]


def test_the_same_topics_as_in_one_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "one.csv").write_text(tickets(1, 60) + tickets(2, 60).partition("\n")[2])
    many = TopicModel(3).fit(read_texts("logs/*.csv", "subject"))
    assert many.labels_.tolist() == TopicModel(3).fit(read_texts("one.csv", "subject")).labels_.tolist()


def test_a_date_that_only_later_files_have(folder):
    rows = "".join(f"{i},my parcel is late {i % 5},2025-01-{i % 28 + 1:02d}\n" for i in range(60))
    (folder / "logs" / "c.csv").write_text("id,subject,day\n" + rows)
    done = typed("coterie fit logs --text subject --topics 3 --date day --out run", folder)
    assert done.code == 0, done.err
    assert run_info(folder / "run")["data"]["date"] == "day"
    model = TopicModel(3).fit(read_texts(folder / "logs", "subject"), date="day")
    assert pl.DataFrame(model.over_time())["texts"].sum() > 0


def test_assign_of_many_files(folder):
    assert typed("coterie fit logs/a.csv --text subject --topics 3 --out run", folder).code == 0
    done = typed("coterie assign run 'logs/*.csv' --out out.csv", folder)
    assert done.code == 0, done.err
    table = read_csv(folder / "out.csv")
    assert table.columns[:4] == ["id", "subject", "team", "topic"]
    assert table["team"].to_list() == [None] * 60 + ["x"] * 60
    (folder / "logs" / "out.csv").write_text(tickets(3, 3))
    again = typed("coterie assign run 'logs/*.csv' --out logs/out.csv", folder)
    assert (again.code, "is one of the files to read; choose another file" in again.err) == (2, True)
    assert (folder / "logs" / "out.csv").read_text() == tickets(3, 3)


def test_bad_rows_are_written_to_a_file(folder):
    with (folder / "logs" / "a.csv").open("a") as file:
        file.write("=cmd()\n")
    with (folder / "logs" / "b.csv").open("a") as file:
        file.write("only one\n" + "x" * 2_000 + "\n")
    done = typed("coterie fit logs --text subject --topics 3 --bad-rows bad.csv --out run", folder)
    assert done.code == 0, done.err
    assert (
        "skipped 3 rows that could not be read; the first is logs/a.csv, line 62: expected 2 cells"
        in done.err
    )
    assert read_csv(folder / "bad.csv").rows() == [
        ("logs/a.csv", "line", "62", "expected 2 cells, found 1", "=cmd()"),
        ("logs/b.csv", "line", "62", "expected 3 cells, found 1", "only one"),
        ("logs/b.csv", "line", "63", "expected 3 cells, found 1", "x" * 1_000),
    ]
    assert run_info(folder / "run")["data"]["skipped"] == 3
    assigned = typed("coterie assign run logs --bad-rows again.csv --out out.csv", folder)
    assert assigned.code == 0, assigned.err
    assert read_csv(folder / "again.csv").equals(read_csv(folder / "bad.csv"))  # each row once


def test_too_many_bad_rows_stop_and_are_written_all_the_same(folder):
    (folder / "bad.jsonl").write_text('{"subject": "a b"}\n' + "x\n" * 5)
    done = typed("coterie fit bad.jsonl --text subject --max-bad 3 --bad-rows rows.csv --out run", folder)
    assert done.code == 2
    assert "bad.jsonl, line 5: not JSON" in done.err
    assert "that makes 4 rows that cannot be read, and at most 3 may be skipped" in done.err
    assert "--max-bad N" in done.err
    assert read_csv(folder / "rows.csv")["number"].to_list() == ["2", "3", "4", "5"]
    assert not (folder / "run").exists()


def test_no_bad_rows_are_an_empty_table(folder):
    assert typed("coterie fit logs --text subject --topics 3 --bad-rows bad.csv --out run", folder).code == 0
    assert read_csv(folder / "bad.csv").shape == (0, 5)


def test_bad_rows_do_not_replace_what_is_read(folder):
    before = (folder / "logs" / "b.csv").read_text()
    done = typed("coterie fit logs --bad-rows logs/b.csv --out run", folder)
    assert (done.code, "--bad-rows logs/b.csv is one of the files to read" in done.err) == (2, True)
    assert (folder / "logs" / "b.csv").read_text() == before


def test_urls(folder):
    files = fsspec.filesystem("memory")
    files.pipe_file("/cli/a.csv", tickets(1, 60).encode())
    done = typed("coterie fit 'memory://cli/*.csv' --text subject --topics 3", folder)
    assert done.code == 0, done.err
    assert run_info(folder / "cli-topics")["data"]["source"] == "memory://cli/*.csv"
    assigned = typed("coterie assign cli-topics memory://cli/a.csv --out out.csv", folder)
    assert assigned.code == 0, assigned.err
    assert read_csv(folder / "out.csv").height == 60


def test_secrets_in_urls_are_not_written_down(folder, monkeypatch):
    done = typed("coterie fit 'https://ann:hidden@127.0.0.1:9/x.csv?sig=hidden' --out run", folder)
    assert done.code == 2
    assert "hidden" not in done.err + done.out
    assert done.err.count("\n") == 1
    from coterie.cli.fit import _typed

    monkeypatch.setattr("sys.argv", ["coterie", "fit", "https://ann:hidden@host/x.csv?sig=hidden"])
    assert _typed("x") == "coterie fit 'https://host/x.csv?…'"
