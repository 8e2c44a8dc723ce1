"""--embeddings of fit and assign: files of vectors, models by name, and runs that keep the vectors."""

import shutil
import sys

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from coterie.cli import main
from coterie.embeddings.named import encoder
from coterie.errors import InputError
from coterie.runs import edit_run, open_run
from coterie.runs.record import EMBEDDINGS
from golden.make import SUBJECTS, encode, texts
from tiny_encoder import write_model

TEXTS = texts()
NEW = ["late parcel van", "refund the card", "password reset code"]


def coterie(*arguments, code=0, text=None):
    out = CliRunner().invoke(main, list(map(str, arguments)), input=text)
    assert out.exit_code == code, (out.output, out.exception)
    return " ".join((out.stdout if code == 0 else out.stderr).split())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Texts and their vectors as files."""
    folder = tmp_path_factory.mktemp("files")
    pl.DataFrame({"text": TEXTS}).write_csv(folder / "texts.csv")
    pl.DataFrame({"text": NEW}).write_csv(folder / "new.csv")
    np.save(folder / "vectors.npy", np.array(encode(TEXTS)))
    np.save(folder / "new.npy", np.array(encode(NEW)))
    pl.DataFrame({"id": range(90), "vector": encode(TEXTS)}).write_parquet(folder / "lists.parquet")
    pl.DataFrame(np.array(encode(TEXTS)), schema=["a", "b", "c"]).write_parquet(folder / "columns.parquet")
    return folder


@pytest.fixture(scope="module")
def fitted(files):
    said = coterie(
        "fit",
        files / "texts.csv",
        "--topics",
        3,
        "--embeddings",
        files / "vectors.npy",
        "--out",
        files / "fitted",
    )
    assert "The embeddings count for" in said
    assert "new.csv --embeddings new.npy" in said
    return files / "fitted"


@pytest.fixture
def run(fitted, tmp_path):
    return shutil.copytree(fitted, tmp_path / "run")


def test_a_run_with_vectors_keeps_them(fitted):
    run = open_run(fitted)
    assert run.info["parameters"]["embeddings"] == "given"
    assert run.info["files"][EMBEDDINGS]["bytes"] == (fitted / EMBEDDINGS).stat().st_size
    np.testing.assert_allclose(run.vectors().all(), encode(TEXTS), rtol=1e-6)
    assert "Embeddings were given with the texts." in (fitted / "report.html").read_text()


@pytest.mark.parametrize("name", ["lists.parquet", "columns.parquet"])
def test_vectors_come_from_parquet_too(files, fitted, tmp_path, name):
    coterie(
        "fit", files / "texts.csv", "--topics", 3, "--embeddings", files / name, "--out", tmp_path / "run"
    )
    assert open_run(tmp_path / "run").table.equals(open_run(fitted).table)


def test_new_texts_are_assigned_with_their_vectors(files, fitted, tmp_path):
    coterie(
        "assign", fitted, files / "new.csv", "--embeddings", files / "new.npy", "--out", tmp_path / "a.csv"
    )
    found = pl.read_csv(tmp_path / "a.csv")
    model = open_run(fitted).model
    assert found["topic"].to_list() == model.predict(NEW, embeddings=encode(NEW)).tolist()


def test_what_assign_needs_is_told(files, fitted, tmp_path):
    out = tmp_path / "a.csv"
    said = coterie("assign", fitted, files / "new.csv", "--out", out, code=2)
    assert "'coterie assign RUN FILE --embeddings VECTORS.npy'" in said
    for name, message in [
        ("vectors.npy", "got 90 rows for 3 texts"),
        ("wide.npy", "3 columns as in the fit, got 6"),
    ]:
        np.save(files / "wide.npy", np.array(encode(NEW) * 2).reshape(3, 6))
        assert message in coterie(
            "assign", fitted, files / "new.csv", "--embeddings", files / name, "--out", out, code=2
        )
    assert "--embeddings must be static" in coterie(
        "assign", fitted, files / "new.csv", "--embeddings", "auto", code=2
    )
    assert not out.exists()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((89, 3)), "one row for each of the 90 texts, got 89 rows"),
        (np.full((90, 3), np.nan), "must be finite, got NaN or infinity in row 0"),
        (np.array([["a"]] * 90), "must be numbers"),
        (np.array([[None]] * 90, dtype=object), "Python objects, which are never loaded"),
    ],
)
def test_wrong_vectors_are_told_and_nothing_is_written(files, tmp_path, array, message):
    np.save(tmp_path / "v.npy", array, allow_pickle=True)
    said = coterie(
        "fit", files / "texts.csv", "--embeddings", tmp_path / "v.npy", "--out", tmp_path / "run", code=2
    )
    assert message in said
    assert not (tmp_path / "run").exists()


def test_rows_that_are_skipped_leave_no_doubt(files, tmp_path):
    lines = [f'{{"text": "{text}"}}' for text in TEXTS]
    lines[5] = '{"text": '
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    given = ["fit", tmp_path / "t.jsonl", "--topics", 3, "--skip-bad", "--out", tmp_path / "run"]
    said = coterie(*given, "--embeddings", files / "vectors.npy", code=2)
    assert "each of the 89 texts, got 90 rows (1 of the file skipped, so which vectors belong" in said
    np.save(tmp_path / "read.npy", np.delete(np.array(encode(TEXTS)), 5, axis=0))
    coterie(*given, "--embeddings", tmp_path / "read.npy")


def test_what_embeddings_may_be_is_told(files, tmp_path):
    for option, message in [
        ("glove", "must be auto, none, static, model2vec:NAME"),
        ("no.npy", "no.npy does not exist"),
        ("model2vec:nobody/has-this", "cannot be loaded"),
    ]:
        assert message in coterie(
            "fit", files / "texts.csv", "--embeddings", option, "--out", tmp_path / "run", code=2
        )


def test_edits_use_the_vectors_that_were_kept(run, tmp_path):
    before = open_run(run)
    vectors = before.vectors().all()
    table, topics = before.table, before.model.topics
    coterie("edit", "rename", run, 0, "Named")
    coterie("edit", "split", run, 1)
    coterie("edit", "merge", run, 0, 2)
    after = open_run(run)
    assert len(after.model.topics) == 3
    np.testing.assert_array_equal(after.vectors().all(), vectors)
    coterie("edit", "undo", run, "--last", 3)
    back = open_run(run)
    assert back.model.topics == topics
    assert back.table.equals(table)
    assert {path.name for path in run.iterdir()} >= {EMBEDDINGS, "run.json"}
    assert "Named" not in coterie("topics", run)


def test_a_run_without_the_vectors_it_had_is_damaged(run):
    for content in (None, b"x"):
        (run / EMBEDDINGS).unlink() if content is None else (run / EMBEDDINGS).write_bytes(content)
        assert coterie("topics", run)
        with pytest.raises(InputError, match=f"{EMBEDDINGS} is (missing|damaged)"):
            edit_run(run, lambda model: model.edits.merge(0, 1))
        if content is None:
            assert f"{EMBEDDINGS} is missing" in coterie("edit", "rename", run, 0, "x", code=2)


def test_vectors_of_another_run_are_refused(run, tmp_path):
    from coterie.runs.vectors import read_vectors
    from coterie.storage.arrays import write_arrays

    sound = {"vectors": np.ones((2, 3), np.float32), "rows": np.zeros(90, np.int32)}
    for number, change in enumerate(
        [
            {"rows": np.zeros(89, np.int32)},
            {"rows": np.full(90, 2, np.int32)},
            {"rows": np.full(90, -1, np.int32)},
            {"vectors": np.full((2, 3), np.nan, np.float32)},
            {"vectors": np.ones(2, np.float32)},
            {"rows": np.zeros(90)},
        ]
    ):
        path = tmp_path / f"{number}.safetensors"
        write_arrays(path, sound | change)
        with pytest.raises(InputError, match="does not belong to this run"):
            read_vectors(path, 90)


def test_a_run_with_a_name_needs_no_more(files, tmp_path, monkeypatch):
    name = write_model(tmp_path / "tiny", SUBJECTS)
    said = coterie("fit", files / "texts.csv", "--topics", 3, "--embeddings", name, "--out", tmp_path / "run")
    assert "--embeddings new.npy" not in said
    assert '"label"' in coterie("assign", tmp_path / "run", files / "new.csv", "--json")
    monkeypatch.setitem(sys.modules, "model2vec", None)
    encoder.cache_clear()
    coterie("edit", "split", tmp_path / "run", 0)  # the vectors of its texts were kept
    assert 'pip install "model2vec"' in coterie("assign", tmp_path / "run", files / "new.csv", code=2)
    encoder.cache_clear()
