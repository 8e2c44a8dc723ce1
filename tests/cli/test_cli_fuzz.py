"""Every command and every option with values that nobody should type: success or one sentence, and no trace elsewhere.

Most run in this process, which has imported everything; a few are real processes.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from contextlib import chdir, contextmanager
from typing import NamedTuple

import click
import polars as pl
import pytest
import uvicorn
from click.testing import CliRunner

from coterie import TopicModel
from coterie.cli import COMMANDS, main
from coterie.explore import server
from coterie.runs import fit_run
from coterie.text import read_texts
from fuzzing import cases, chance, one_sentence, shown
from golden.make import texts

pytestmark = pytest.mark.fuzz
LONGEST = 60  # seconds for one command on ninety texts; the usual one takes a tenth
#: Arguments and options that make a command succeed.
GOOD = {
    "file": ["texts.csv"], "run": ["run"], "topic": ["0"], "into": ["0"], "others": ["1"], "label": ["a name"],
    "query": ["late parcel"], "terms": ["parcel"], "text": ["late parcel"], "name": ["sample"],
}  # fmt: skip
USUAL = {
    "fit": {"--text": "text", "--topics": "2", "--out": "out"},
    "weights": {"--text": "text"},
    "compare": {"--text": "text", "--topics": "2", "--method": "nmf", "--restarts": "1"},
    "explore": {"--port": "0"},
    "fetch": {"--mirror": "http://127.0.0.1:9"},
}
NUMBERS = [
    "-1",
    "0",
    "1",
    "2",
    "7",
    "1.5",
    "1e999",
    "nan",
    "-inf",
    "٣",
    "²",
    "1_0",
    "0x10",
    "9" * 20,
    "9" * 5_000,
    "2,",
    "1,x",
]
STRINGS = [
    "", " ", "x", "-", "=", ",", ",,,", ":", "a:", ":b", "a=b", "%s%n", "{0}", "[bold]", "*", "~", "auto", "text", "id", "when",
    "é漢字 👍🏽", "\x1b[2J", "a\nb\rc", "\u202eabc", "\udcff\udc80", "x" * 5_000, "\\t", "\t", ";", '"', "'", "utf-16", "base64", "idna",
    "nmf", "english,german", "Klingon", "nowhere.example:0", "http://[::", "ftp://x", "file:///etc/hosts",
]  # fmt: skip
PATHS = ["folder", "folder/in", "missing", "missing/x.csv", "pipe", "loop", "dangling", "empty", "texts.csv", "run", "run/model", "junk.bin",
         ".", "x.csv/y", "x.parquet", "x.jsonl", "n" * 300, "run/run.json"]  # fmt: skip
#: These may be read, never written; the tests may run as root.
SYSTEM = [os.devnull, "/", "/proc/self/mem", "/nowhere/at all"]


class Command(NamedTuple):
    """A command of the program, and what it may be given."""

    words: tuple[str, ...]
    parameters: list[click.Parameter]


def commands(group=main, words=()):
    """All commands of the product."""
    context = click.Context(group)
    for name in COMMANDS if group is main else group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*words, name))
        else:
            yield Command((*words, name), found.params)


def places():
    """Every parameter of every command."""
    return [(command, parameter) for command in commands() for parameter in command.parameters]


def wrong_value(parameter, draw):
    writes = parameter.name == "out"
    kinds = [NUMBERS, STRINGS, PATHS, [] if writes else SYSTEM]
    value = draw.choice(draw.choice([kind for kind in kinds if kind]))
    if parameter.name == "restarts" and value.isdecimal() and len(value) > 1:
        return "3"  # a million of them would be right, and take long
    if parameter.name == "file" and value == "pipe":
        return "missing"  # nobody writes into it, so a reader waits
    return value


def line(command, parameter, draw):
    """A command as it is typed, with a wrong value in the place of one parameter, sometimes of two."""
    bad = {parameter.name}
    if draw.random() < 0.3:
        bad.add(draw.choice(command.parameters).name)
    arguments, options = [], dict(USUAL.get(command.words[-1], {}))
    flags = []
    for known in command.parameters:
        if isinstance(known, click.Argument):
            arguments += [wrong_value(known, draw)] if known.name in bad else GOOD[known.name]
        elif known.name in bad and known.is_flag:
            flags.append(known.opts[0])
        elif known.name in bad:
            options[known.opts[0]] = wrong_value(known, draw)
    typed = [word for pair in options.items() for word in pair]
    return muddled([*command.words, *typed, *flags, "--", *arguments], draw)


def muddled(words, draw):
    """A command line as it is, or with a word too many, too few or twice."""
    at = draw.randrange(1, len(words))
    match draw.randrange(20):
        case 0 if words[0] != "demo":
            return [*words[:at], *words[at + 1 :]]
        case 1:
            return [
                *words[:at],
                draw.choice(["--no-such", "-x", "--out", "--json=1", "-", "more"]),
                *words[at:],
            ]
        case 2:
            return [*words[:at], words[at], *words[at:]]
    return words


# --- a place to work in


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """A folder with texts, a run, and things that are neither."""
    folder = tmp_path_factory.mktemp("work")
    days = [f"2024-01-{number % 28 + 1:02}" for number in range(90)]
    pl.DataFrame({"id": range(90), "when": days, "text": texts()}).write_csv(folder / "texts.csv")
    fit_run(read_texts(folder / "texts.csv", "text"), folder / "run", TopicModel(2), date="when")
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    (folder / "junk.bin").write_bytes(bytes(range(256)) * 4)
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("gone")
    return folder


class Place:
    """A working folder, and folders of its own for all that programs write elsewhere."""

    def __init__(self, root, model):
        self.work, self.temporary, self.home = (root / name for name in ("work", "temporary", "home"))
        self.model = model
        self.environment = {
            "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home), "TMPDIR": str(self.temporary), "COLUMNS": "100",
            "COTERIE_CACHE": str(root / "cache"), "COTERIE_DATA": str(root / "cache"),
        }  # fmt: skip

    def fresh(self):
        for folder in (self.work, self.temporary, self.home):
            shutil.rmtree(folder, ignore_errors=True)
        self.temporary.mkdir()
        self.home.mkdir()
        shutil.copytree(self.model, self.work, symlinks=True)
        os.mkfifo(self.work / "pipe")

    def strays(self):
        """What lies where nothing should."""
        beside = [
            path
            for path in self.work.parent.iterdir()
            if path.name not in ("work", "temporary", "home", "cache")
        ]
        hidden = [path for path in self.work.iterdir() if path.name.startswith(".")]
        return [*beside, *hidden, *self.temporary.iterdir(), *self.home.iterdir()]


@pytest.fixture
def place(model_folder, tmp_path, monkeypatch):
    found = Place(tmp_path, model_folder)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", str(found.temporary))
    # the live page comes as far as its port, and no further
    monkeypatch.setattr(server, "_welcome", lambda *_: None)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    return found


# --- commands


class TooLong(BaseException):
    """A command that should have ended long ago."""


@contextmanager
def alarm(seconds):
    def ring(number, frame):
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def typed(arguments, place):
    """The exit code and what was said on standard error; an exception is a code of its own."""
    with chdir(place.work), warnings.catch_warnings(), alarm(LONGEST):
        warnings.simplefilter("default", UserWarning)  # no error to somebody who types
        done = CliRunner().invoke(main, arguments, prog_name="coterie", input="late parcel\nlost refund\n")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return 1, "".join(traceback.format_exception(done.exception))
    return done.exit_code, done.stderr


def problem(code, said, place):
    """What is wrong with the end of a command, or nothing."""
    if code not in (0, 2):
        return f"exit code {code}: {said}"
    lines = said.splitlines()
    if code == 2 and not (lines and lines[-1].startswith("coterie: ")):
        return f"not told why: {said}"
    if not all(one_sentence(line, 7_000) for line in lines) or len(lines) > 10:
        return f"not a sentence: {said}"
    if code == 2 and (place.work / "texts.csv").read_bytes() != (place.model / "texts.csv").read_bytes():
        return "the input was changed"
    return f"left {strays}" if (strays := place.strays()) else ""


@pytest.mark.parametrize("part", range(2))
def test_a_wrong_value_is_one_sentence(place, part, tried):
    draw, wrong = chance("values", part), {}
    everything = places()
    for number in range(cases(len(everything))):
        command, parameter = everything[number % len(everything)]
        if command.words == ("demo",) and draw.random() < 0.8:
            continue  # it takes seconds
        arguments = line(command, parameter, draw)
        place.fresh()
        tried()
        if found := problem(*typed(arguments, place), place):
            wrong[f"part {part}, line {number}, {arguments!r:.600}"] = found
    assert not wrong, shown(wrong)


@pytest.mark.process
def test_a_wrong_value_is_one_sentence_in_a_process(place, tried):
    draw, wrong = chance("processes"), {}
    everything = [pair for pair in places() if pair[0].words[0] not in ("explore", "demo")]
    for number in range(cases(2)):
        arguments = line(*draw.choice(everything), draw)
        place.fresh()
        tried()
        done = subprocess.run(
            [sys.executable, "-m", "coterie", *map(os.fsencode, arguments)], cwd=place.work, input="late parcel\n",
            capture_output=True, encoding="utf-8", errors="replace", timeout=2 * LONGEST, check=False,
            env=os.environ | place.environment,
        )  # fmt: skip
        if found := problem(done.returncode, done.stderr, place):
            wrong[f"process {number}, {arguments!r:.600}"] = found
    assert not wrong, shown(wrong)
