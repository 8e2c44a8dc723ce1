import subprocess
import sys
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from coterie import __version__
from coterie.cli import main

BIN = Path(sys.executable).parent


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_the_demo_ends_with_topics_and_the_files_it_wrote(tmp_path):
    out = run(BIN / "coterie", "demo", "--out", tmp_path / "here")
    assert out.stderr == ""
    assert "support tickets" in out.stdout
    assert "14 topics" in out.stdout
    folder = Path(out.stdout.strip().splitlines()[-1].split(": ", 1)[1])
    vocabulary, topics, assignments = (
        pl.read_csv(folder / f"{name}.csv") for name in ("vocabulary", "topics", "assignments")
    )
    assert vocabulary.columns == ["term", "display", "document_frequency", "count", "idf", "ncut"]
    assert len(vocabulary) > 1000
    assert len(topics) == 14
    assert topics["texts"].sum() == len(assignments) > 1200


def test_the_demo_says_the_same_twice(tmp_path):
    for name in ("a", "b"):
        run(BIN / "coterie", "demo", "--out", tmp_path / name)
    for name in ("vocabulary", "topics", "assignments"):
        assert (tmp_path / "a" / f"{name}.csv").read_bytes() == (tmp_path / "b" / f"{name}.csv").read_bytes()


def test_python_dash_m_is_the_same():
    assert __version__ in run(sys.executable, "-m", "coterie", "--version").stdout


def test_help_is_there():
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert "demo" in result.output
