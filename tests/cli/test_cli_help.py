"""Every help page of coterie itself has examples, and every example runs as it stands there."""

import random
import re
import shutil
from datetime import date, timedelta

import click
import pytest

from coterie.cli import COMMANDS, main
from typed import typed

#: Examples that need the network; what they do is tested against a server on this machine.
NETWORK = {
    "coterie data fetch tweet",
    "coterie name run --endpoint http://localhost:11434/v1 --model llama3.2",
    "coterie name run --endpoint http://localhost:11434/v1 --model llama3.2 --send-texts --yes",
}
#: Examples that serve until Ctrl-C; the command is tested beside the server.
SERVING = {"coterie explore run", "coterie explore --folder . --no-browser"}
SUBJECTS = {
    "delivery": "parcel late courier driver tracking delivery missing street",
    "payment": "refund money card charged invoice twice payment bank",
    "account": "password login account email reset locked code phone",
    "product": "kettle broken lid leaks kitchen warranty spare handle",
}


def pages(command=main, path=("coterie",)):
    """Each command with its path, groups before what is in them."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, **command.context_settings)
        for name in COMMANDS if command is main else command.list_commands(context):
            yield from pages(command.get_command(context, name), (*path, name))


PAGES = {" ".join(path): command for path, command in pages()}


def examples(path):
    """The lines of the section of examples; all of them are commands."""
    # settings must be the command's own: click remembers the help option of the first context it sees
    settings = {**PAGES[path].context_settings, "max_content_width": 200}
    page = PAGES[path].get_help(click.Context(PAGES[path], info_name=path, **settings))
    section = re.search(r"^  Examples?:\n((?:    .*\n?)+)", page, re.MULTILINE)
    return [line.strip() for line in section[1].splitlines()] if section else []


def tickets(seed, n):
    drawn = random.Random(seed)
    rows = ["id,date,subject,team"]
    for i in range(n):
        team = list(SUBJECTS)[i % len(SUBJECTS)]
        words = " ".join(drawn.sample(SUBJECTS[team].split(), 4))
        rows.append(f"{seed}{i:03d},{date(2025, 1, 1) + timedelta(days=i)},my {words},{team}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A folder with what the examples speak of: tickets of two days, and a run over the first."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "tickets.csv").write_text(tickets(1, 200))
    (folder / "tomorrow.csv").write_text(tickets(2, 60))
    (folder / "logs").mkdir()
    for day, name in enumerate(("monday", "tuesday")):
        (folder / "logs" / f"{name}.csv").write_text(tickets(3 + day, 100))
    (folder / "topics.json").write_text('{"billing": ["invoice", "refund"], "delivery": "a parcel is late"}')
    done = typed("coterie fit tickets.csv --text subject --topics 4 --out run", folder)
    assert done.code == 0, done.err
    return folder


@pytest.mark.parametrize("path", list(PAGES))
def test_every_page_has_examples_of_its_command(path):
    found = examples(path)
    assert found, f"{path} --help has no section of examples"
    assert any(path in line for line in found)


@pytest.mark.process
@pytest.mark.parametrize("path", list(PAGES))
def test_every_example_runs(path, prepared, tmp_path):
    folder = tmp_path / "here"
    shutil.copytree(prepared, folder)
    for line in examples(path):
        if line not in NETWORK | SERVING:
            done = typed(line, folder)
            assert done.code == 0, f"{line}\n{done.err}"
            assert "Traceback" not in done.err


def test_what_needs_the_network_is_still_an_example():
    assert len([line for line in NETWORK if "--endpoint" not in line]) <= 1
    assert all(any(line in examples(path) for path in PAGES) for line in NETWORK)


@pytest.mark.parametrize("path", list(PAGES))
def test_every_page_fits_a_screen_and_says_what_the_command_does(path, tmp_path):
    page = typed(f"{path} --help", tmp_path).out
    assert max(map(len, page.splitlines())) <= 110
    assert PAGES[path].help
    for parameter in PAGES[path].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.opts}"
