"""Commands that other packages add, and what is said where such a package is not installed."""

import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from coterie.cli import COMMANDS, main

HELLO = """
import click

@click.command()
@click.option("--loud", is_flag=True, help="Louder.")
def hello(loud):
    click.echo("HELLO" if loud else "hello")
"""


@pytest.fixture
def alone(monkeypatch):
    """As if no other package was installed."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())


def invoke(*arguments):
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    "arguments", [(), ("--help",), ("ncut", "--out", "papers"), ("all", "--quick", "--nonsense")]
)
def test_a_command_whose_package_is_missing_says_how_to_install_it(alone, arguments):
    done = invoke("reproduce", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr == (
        "coterie: 'coterie reproduce' is in the package coterie-papers, which is not installed; "
        "in a checkout of coterie, pip install . ./papers installs it\n"
    )


def test_help_lists_it_all_the_same(alone):
    page = invoke("--help").stdout
    listed = [line.split()[0] for line in page.split("Commands:\n")[1].split("\n\n")[0].splitlines()]
    assert listed == [*COMMANDS, "reproduce"]
    assert "'reproduce'?" in invoke("reprodce").stderr


def test_commands_of_coterie_look_at_no_other_package(monkeypatch):
    def looked(**_):
        raise AssertionError("entry points were read")

    monkeypatch.setattr("importlib.metadata.entry_points", looked)
    for line in (["data", "list"], ["fit", "--help"], ["--version"]):
        assert invoke(*line).exit_code == 0
    with pytest.raises(AssertionError, match="entry points"):
        CliRunner().invoke(main, ["hello"], catch_exceptions=False)


def test_an_entry_point_is_a_command(tmp_path):
    (tmp_path / "greeting.py").write_text(HELLO)
    about = tmp_path / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[coterie.commands]\nhello = greeting:hello\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "coterie", *arguments],
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run("hello", "--loud").stdout == "HELLO\n"
    assert run("hello", "--quiet").returncode == 2
    assert re.search(r"\n  hello +Added by greeting\.\n", run("--help").stdout)
    assert "did you mean 'hello'?" in run("helo").stderr
