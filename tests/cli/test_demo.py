import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from coterie import __version__
from coterie.cli import main
from coterie.metrics import clustering_scores
from coterie.storage.tables import read_csv

BIN = Path(sys.executable).parent


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder of the demo, and what was said, by a process of its own."""
    folder = tmp_path_factory.mktemp("demo") / "here"
    return folder, run(BIN / "coterie", "demo", "--out", folder)


@pytest.mark.process
def test_the_demo_ends_with_topics_a_folder_and_answers_for_new_texts(demo):
    folder, out = demo
    assert out.stderr == ""
    assert "3,394 texts in the built-in sample" in out.stdout
    assert "new text" in out.stdout
    assert out.stdout.splitlines()[-1] == f"Begin with the report: {(folder / 'report.html').as_uri()}"
    assignments = pl.read_parquet(folder / "assignments.parquet")
    assert len(assignments) == 3394
    assert f"{assignments['topic'].drop_nulls().n_unique()} topics" in out.stdout
    known = assignments.filter(pl.col("reason") != "no known word")
    sizes = known.group_by("topic").len().sort("topic")["len"].to_list()
    assert read_csv(folder / "topics.csv")["size"].cast(pl.Int64).to_list() == sizes


@pytest.mark.process
def test_the_demo_finds_the_subjects_and_what_changed(demo):
    folder, out = demo
    assignments = pl.read_parquet(folder / "assignments.parquet")
    measured = clustering_scores(assignments["about"], assignments["topic"].fill_null(-1))
    assert measured.accuracy > 0.8
    assert measured.nmi > 0.8
    told = out.stdout.partition("In short")[2].splitlines()
    lines = [line.split()[:2] for line in told if line[2:6].strip() in ("Bigg", "Grew", "New", "Fell")]
    assert [kind for kind, _ in lines] == sorted(
        (kind for kind, _ in lines), key=["Biggest", "Grew", "New", "Fell"].index
    )
    begin = {(kind, label.rstrip(",:")) for kind, label in lines}
    assert {("Grew", "battery"), ("New", "lock")} <= begin
    assert any(kind == "Fell" for kind, _ in lines)


@pytest.mark.process
def test_the_demo_says_the_same_twice(demo, tmp_path):
    again = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "again")])
    assert again.exit_code == 0
    for name in ("topics.csv", "assignments.csv", "model/state.json", "model/arrays.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (demo[0] / name).read_bytes()


@pytest.mark.process
def test_python_dash_m_is_the_same():
    assert __version__ in run(sys.executable, "-m", "coterie", "--version").stdout


def test_help_is_there():
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert "demo" in result.output
