"""`coterie fit --resume`: what was read is not read again, and is reported as if it had been."""

import csv
import os

import fsspec
import pytest
from click.testing import CliRunner

from coterie import read_texts
from coterie.cli import main
from coterie.runs.work import state_of_files
from engine_fits import small_blocks, write_texts


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    small_blocks(monkeypatch.setattr)


@pytest.fixture
def texts(tmp_path):
    """A file with two bad rows."""
    path = tmp_path / "texts.csv"
    write_texts(path, 600)
    lines = path.read_text().splitlines()
    lines[100] = '1,late "parcel again,today,more,than,columns'
    lines[300] = "2,one,cell,too,many"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def fit(texts, tmp_path):
    def run(*options):
        common = ["fit", texts, "--text", "title", "--topics", 4, "--out", tmp_path / "run"]
        return CliRunner().invoke(main, [str(word) for word in (*common, *options)])

    return run


def cells(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_bad_rows_are_written_again_by_a_fit_that_goes_on(fit, texts, tmp_path):
    bad = tmp_path / "bad.csv"
    refused = fit("--memory", "300MB", "--bad-rows", bad)
    assert refused.exit_code == 2, refused.output
    assert "--resume" in refused.output
    before = cells(bad)
    assert [row[2] for row in before[1:]] == ["101", "301"]
    texts_read = sorted((tmp_path / "run.work").rglob("read.json"))
    assert len(texts_read) == 1
    resumed = fit("--memory", "2GB", "--bad-rows", bad, "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert "skipped 2 rows" in resumed.output
    assert "line 101" in resumed.output
    assert cells(bad) == before
    assert not (tmp_path / "run.work").exists()


@pytest.mark.parametrize("wrong", [["--text", "nothing"], ["--date", "nothing"], []])
def test_a_fit_that_ends_while_it_reads_leaves_nothing(fit, tmp_path, wrong):
    """A wrong option, or a row that cannot be read."""
    ended = fit("--memory", "2GB", *wrong)
    assert ended.exit_code == 2
    assert "--resume" not in ended.output
    assert not (tmp_path / "run.work").exists()


def test_a_fit_may_go_on_with_bad_rows_skipped(fit, texts, tmp_path, monkeypatch):
    """How many rows may be bad changes nothing in texts that were read."""
    assert fit("--memory", "300MB", "--skip-bad").exit_code == 2
    resumed = fit("--memory", "2GB", "--bad-rows", tmp_path / "bad.csv", "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert len(cells(tmp_path / "bad.csv")) == 3


def test_nothing_to_resume_is_reported(fit):
    ended = fit("--memory", "2GB", "--skip-bad", "--resume")
    assert ended.exit_code == 0, ended.output
    assert "there is no stopped fit" in ended.output
    assert "no stopped fit" not in fit("--memory", "2GB", "--skip-bad").output


def test_remote_files_that_change_are_noticed():
    files = fsspec.filesystem("memory")
    files.pipe("/resume/texts.csv", b"title\nlate parcel\n")
    source = read_texts("memory://resume/texts.csv", "title")
    before = state_of_files(source)
    assert before == state_of_files(source)
    files.pipe("/resume/texts.csv", b"title\nlate parcel again\n")
    assert state_of_files(source) != before


def test_local_files_that_change_are_noticed(texts):
    source = read_texts(texts, "title")
    before = state_of_files(source)
    os.utime(texts, ns=(1, 1))
    assert state_of_files(source) != before
