"""`coterie assign --out folder/`: parts written by workers hold what one process writes, row for row."""

import json
import os
import random
import shutil

import numpy as np
import polars as pl
import pytest

from coterie.engines import open_executor, ordered
from coterie.errors import InputError
from coterie.runs import open_run, parts
from coterie.text import read_texts
from typed import typed

SUBJECTS = (
    "parcel late courier driver tracking delivery missing street",
    "refund money card charged invoice twice payment bank",
    "password login account email reset locked code phone",
    "kettle broken lid leaks kitchen warranty spare handle",
)
ENGINES = [
    "--engine threads --workers 2",
    pytest.param("--engine processes --workers 2", marks=pytest.mark.process),
    pytest.param("--engine dask --workers 2", marks=pytest.mark.process),
]


def tickets(n, seed):
    draw = random.Random(seed)
    words = [SUBJECTS[i % 4].split() for i in range(n)]
    texts = [
        f"my {' '.join(draw.sample(some, 4))}" if seed == 1 or i % 17 else "zzz qqq"
        for i, some in enumerate(words)
    ]
    return pl.DataFrame({"id": range(n), "subject": texts, "topic": ["of the user"] * n})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    tickets(200, 1).write_csv(folder / "tickets.csv")
    done = typed("coterie fit tickets.csv --text subject --topics 4 --out run", folder)
    assert done.code == 0, done.err
    (folder / "more").mkdir()
    for number, rows in enumerate((60, 45, 1)):
        tickets(rows, 10 + number).write_parquet(folder / "more" / f"{number}.parquet", row_group_size=20)
        tickets(rows, 20 + number).write_csv(folder / "more" / f"{number}.csv")
    tickets(50, 3).write_ndjson(folder / "one.jsonl")
    return folder


@pytest.fixture
def small_pieces(monkeypatch):
    """Files that are divided as large ones are."""
    monkeypatch.setattr(parts, "PIECE_ROWS", 16)
    monkeypatch.setattr(parts, "LARGE_BYTES", 0)


def one_by_one(folder, names):
    """What one process writes about each file."""
    tables = []
    for name in names:
        assert typed(f"coterie assign run {name} --out alone.parquet", folder).code == 0
        tables.append(pl.read_parquet(folder / "alone.parquet"))
    return pl.concat(tables)


def read(folder):
    found = sorted(folder.glob("part-*.parquet"))
    assert sorted(path.name for path in folder.iterdir()) == ["_SUCCESS", *(path.name for path in found)]
    facts = json.loads((folder / "_SUCCESS").read_text())
    assert [part["file"] for part in facts["parts"]] == [path.name for path in found]
    tables = [pl.read_parquet(path) for path in found]
    assert [part["texts"] for part in facts["parts"]] == [len(table) for table in tables]
    return pl.concat(tables)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_parts_are_what_one_process_writes(engine, suffix, folder, tmp_path):
    done = typed(f"coterie assign run 'more/*.{suffix}' {engine} --out {tmp_path}/parts/", folder)
    assert done.code == 0, done.err
    whole = one_by_one(folder, [f"more/{i}.{suffix}" for i in range(3)])
    found = read(tmp_path / "parts")
    assert found.equals(whole)
    assert found.schema == whole.schema
    assert found.write_ipc(None).getvalue() == whole.write_ipc(None).getvalue()
    without = whole["coterie_topic"].null_count()
    assert without
    assert done.err == f"wrote 106 texts to {tmp_path}/parts/, parts: 3, {without} of them without a topic\n"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["more/0.parquet", "more/0.csv", "one.jsonl"])
def test_large_files_become_several_parts(engine, name, folder, tmp_path, small_pieces):
    done = typed(f"coterie assign run {name} {engine} --out {tmp_path}/parts/ --min-confidence 0.5", folder)
    assert done.code == 0, done.err
    assert typed(f"coterie assign run {name} --out alone.parquet --min-confidence 0.5", folder).code == 0
    assert read(tmp_path / "parts").equals(pl.read_parquet(folder / "alone.parquet"))
    n_parts = len(list((tmp_path / "parts").glob("*.parquet")))
    assert n_parts == (4 if name == "more/0.parquet" else 1)  # a batch of rows is not divided
    assert os.listdir(tmp_path) == ["parts"]


def test_rows_that_are_read_here_are_sent_in_pieces(folder, tmp_path, small_pieces):
    run = open_run(folder / "run")
    with open_executor("threads", 2) as workers:
        parts.assign_parts(
            run.model,
            [folder / "more" / "0.csv", folder / "more" / "1.csv"],
            tmp_path / "parts",
            workers,
            lambda path: read_texts(path, "subject", batch_rows=7),
        )
    assert read(tmp_path / "parts").equals(one_by_one(folder, ["more/0.csv", "more/1.csv"]))
    assert len(list((tmp_path / "parts").glob("*.parquet"))) == 3 + 3


def test_lists_of_tokens_are_sent_as_such(folder, tmp_path, small_pieces):
    lists = [{"id": i, "subject": text.split()} for i, text in enumerate(tickets(30, 4)["subject"])]
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, lists)))
    assert typed(f"coterie assign run {tmp_path}/lists.jsonl --out {tmp_path}/parts/", folder).code == 0
    assert read(tmp_path / "parts").equals(one_by_one(folder, [f"{tmp_path}/lists.jsonl"]))


def test_standard_input_is_divided_too(folder, tmp_path):
    done = typed(
        f"cat more/0.csv | coterie assign run - --engine processes --workers 1 --out {tmp_path}/p/", folder
    )
    assert done.code == 0, done.err
    assert read(tmp_path / "p").equals(one_by_one(folder, ["more/0.csv"]))


def test_the_model_is_loaded_once(folder, tmp_path, small_pieces, monkeypatch):
    loads = []
    load = parts.TopicModel.load
    monkeypatch.setattr(parts.TopicModel, "load", lambda *a, **k: loads.append(1) or load(*a, **k))
    run = open_run(folder / "run")
    before = len(loads)
    with open_executor("threads", 2) as workers:
        parts.assign_parts(
            run.model,
            [folder / "more" / "0.parquet"],
            tmp_path / "parts",
            workers,
            lambda p: read_texts(p, "subject"),
        )
    assert len(loads) == before + 1


def test_a_task_that_runs_twice_does_no_harm(folder, tmp_path):
    run = open_run(folder / "run")
    with open_executor("threads", 2) as workers:
        source = lambda path: read_texts(path, "subject")  # noqa: E731
        parts.state.write(run.model, _made(tmp_path / "model"))
        work = parts.Work(tmp_path / "model", _made(tmp_path / "out"), source)
        piece = parts.Piece(0, folder / "more" / "0.parquet", "0.parquet")
        first, second = ordered(workers, lambda _: parts.run_task(work, piece), range(2))
    assert first.rows == second.rows == 60
    assert os.listdir(tmp_path / "out") == ["part-00000.parquet"]


def _made(folder):
    folder.mkdir()
    return folder


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_left_of_what_fails(engine, folder, tmp_path):
    for name in ("0", "1"):
        shutil.copy(folder / "more" / f"{name}.csv", tmp_path)
    (tmp_path / "2.csv").write_text("id,subject\n")
    done = typed(f"coterie assign run '{tmp_path}/*.csv' {engine} --out {tmp_path}/parts/", folder)
    assert done.code == 2
    assert done.err == f"coterie: {tmp_path}/2.csv has column names but no rows\n"
    assert sorted(os.listdir(tmp_path)) == ["0.csv", "1.csv", "2.csv"]


def test_files_with_other_columns_are_refused(folder, tmp_path):
    tickets(5, 1).write_csv(tmp_path / "a.csv")
    tickets(5, 1).rename({"id": "number"}).write_csv(tmp_path / "b.csv")
    done = typed(f"coterie assign run '{tmp_path}/*.csv' --out {tmp_path}/parts/", folder)
    assert done.code == 2
    assert (
        f"{tmp_path}/b.csv has other columns than {tmp_path}/a.csv: 'id' is absent instead of String"
        in done.err
    )


def test_a_folder_that_is_not_empty_is_refused(folder, tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    done = typed(f"coterie assign run more/0.csv --out {tmp_path}", folder)
    assert done.code == 2
    assert "is not an empty folder" in done.err
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_an_empty_folder_is_used_and_stays_after_an_error(folder, tmp_path):
    out = _made(tmp_path / "out")
    assert typed(f"coterie assign run nothing.csv --out {out}", folder).code == 2
    assert os.listdir(tmp_path) == ["out"]
    assert os.listdir(out) == []
    assert typed(f"coterie assign run more/0.csv --out {out}", folder).code == 0
    assert len(read(out)) == 60


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--engine processes", "which need a folder; use --out parts/"),
        ("--workers 2 --out x.csv", "which need a folder; use --out parts/"),
        ("--scheduler tcp://x:1 --engine processes --out x/", "--scheduler belongs to --engine dask"),
        ("--scheduler tcp://x:1 --workers 2 --out x/", "--workers and --scheduler cannot be combined"),
    ],
)
def test_options_that_do_not_fit_are_named(options, sentence, folder):
    done = typed(f"coterie assign run more/0.csv {options}", folder)
    assert done.code == 2
    assert sentence in done.err


def test_a_pattern_without_files_is_named(folder, tmp_path):
    done = typed(f"coterie assign run 'none/*.csv' --out {tmp_path}/parts/", folder)
    assert done.code == 2
    assert done.err == "coterie: no file matches none/*.csv; check the pattern\n"


def test_a_folder_that_workers_do_not_see_is_named(folder, tmp_path):
    work = parts.Work(tmp_path / "no model", tmp_path, read_texts)
    with pytest.raises(InputError, match=r"does not see .*no model; put the input and the output on storage"):
        parts.run_task(work, parts.Piece(0, folder / "more" / "0.csv", "0.csv"))


def test_vectors_of_a_file_go_with_their_rows(folder, tmp_path):
    rng = np.random.default_rng(0)
    fitted, new = rng.standard_normal((200, 8)), rng.standard_normal((106, 8))
    np.save(tmp_path / "fitted.npy", fitted.astype(np.float32))
    np.save(tmp_path / "new.npy", new.astype(np.float32))
    np.save(tmp_path / "some.npy", new[:60].astype(np.float32))
    line = f"coterie fit tickets.csv --text subject --topics 4 --embeddings {tmp_path}/fitted.npy --out {tmp_path}/run"
    assert typed(line, folder).code == 0
    at = f"coterie assign {tmp_path}/run"
    assert (
        typed(f"{at} 'more/*.csv' --embeddings {tmp_path}/new.npy --out {tmp_path}/parts/", folder).code == 0
    )
    assert (
        typed(f"{at} more/0.csv --embeddings {tmp_path}/some.npy --out {tmp_path}/alone.parquet", folder).code
        == 0
    )
    found = read(tmp_path / "parts")
    assert len(found) == 106
    assert found[:60].equals(pl.read_parquet(tmp_path / "alone.parquet"))
    done = typed(f"{at} more/0.csv --embeddings {tmp_path}/new.npy --out {tmp_path}/other/", folder)
    assert done.code == 2
    assert not (tmp_path / "other").exists()
