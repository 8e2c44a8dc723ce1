import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from coterie import __version__
from coterie.cli import main
from coterie.storage.tables import read_csv

BIN = Path(sys.executable).parent


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.mark.process
def test_the_demo_ends_with_topics_a_folder_and_answers_for_new_texts(tmp_path):
    out = run(BIN / "coterie", "demo", "--out", tmp_path / "here")
    assert out.stderr == ""
    assert "1,517 texts of the built-in sample" in out.stdout
    assert "14 topics" in out.stdout
    assert "Where is my parcel?" in out.stdout
    assignments = pl.read_parquet(tmp_path / "here/assignments.parquet")
    assert len(assignments) == 1517
    assert assignments["topic"].n_unique() == 14
    known = assignments.filter(pl.col("reason") != "no known word")
    sizes = known.group_by("topic").len().sort("topic")["len"].to_list()
    assert read_csv(tmp_path / "here/topics.csv")["size"].cast(pl.Int64).to_list() == sizes


def test_the_demo_says_the_same_twice(tmp_path):
    for name in ("a", "b"):
        run(BIN / "coterie", "demo", "--out", tmp_path / name)
    for name in ("topics.csv", "assignments.csv", "model/state.json", "model/arrays.safetensors"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_python_dash_m_is_the_same():
    assert __version__ in run(sys.executable, "-m", "coterie", "--version").stdout


def test_help_is_there():
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert "demo" in result.output
