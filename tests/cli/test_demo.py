import subprocess
import sys
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from coterie import __version__
from coterie.cli import main

BIN = Path(sys.executable).parent


def test_the_demo_ends_with_a_file_that_exists(tmp_path):
    out = subprocess.run([BIN / "coterie", "demo", "--out", tmp_path], capture_output=True, text=True, check=True)
    assert "support tickets" in out.stdout
    path = Path(out.stdout.strip().splitlines()[-1].split(": ", 1)[1])
    table = pl.read_csv(path)
    assert table.columns == ["term", "display", "document_frequency", "count", "idf", "ncut"]
    assert len(table) > 1000
    assert out.stderr == ""


def test_python_dash_m_is_the_same():
    out = subprocess.run([sys.executable, "-m", "coterie", "--version"], capture_output=True, text=True, check=True)
    assert __version__ in out.stdout


def test_help_is_there():
    result = CliRunner().invoke(main, ["-h"])
    assert result.exit_code == 0
    assert "demo" in result.output
