"""How commands end: real processes, real signals, real pipes."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner

from coterie.cli import COMMANDS, exits, main
from fifo import unread

COTERIE = Path(sys.executable).parent / "coterie"
pytestmark = pytest.mark.process
#: Output goes through a buffer, as it does for people; what cannot be written then shows late.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
#: The program with the work of `coterie data` replaced; that command starts quickly. Ctrl-C must work also where
#: the tests themselves run in the background, for which shells switch it off.
SCRIPT = """
import signal, sys, time
import click
from coterie.cli import data, main
signal.signal(signal.SIGINT, signal.default_int_handler)
def work():
    print("working", flush=True)
    {work}
data.data = click.Command("data", callback=work)
main(prog_name="coterie")
"""


def program(work):
    return [sys.executable, "-c", SCRIPT.format(work=work), "data"]


def working(command):
    """The process, at work."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "working\n"
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("work", ["time.sleep(60)", "while True: pass"], ids=["waiting", "busy"])
def test_a_signal_ends_in_a_sentence(number, code, work):
    process = working(program(work))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert err == "coterie: interrupted; no incomplete files were left behind\n"
    assert out == ""


def test_a_signal_while_standard_input_is_read():
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(work="pass"), "weights", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("late parcel\n")
    process.stdin.flush()
    until = time.monotonic() + 60
    while unread(process.stdin):
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "coterie: interrupted; no incomplete files were left behind\n")


def swallowed(number):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))()
    time.sleep(60)


def changed(number):
    pl.Series([1]).map_elements(lambda _: signal.raise_signal(number), pl.Int64)


def hidden(number):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    raise TypeError


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("library", [swallowed, changed, hidden])
def test_a_signal_that_a_library_keeps_to_itself_ends_the_command(capfd, number, code, library):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(click.exceptions.Exit) as ended, exits.reported():
            library(number)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.exit_code == code
    assert capfd.readouterr().err == "coterie: interrupted; no incomplete files were left behind\n"


def test_handlers_are_put_back():
    def handlers():
        return signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), sys.unraisablehook

    before = handlers()
    assert CliRunner().invoke(main, ["data", "path", "sample"]).exit_code == 0
    assert handlers() == before


def test_a_fault_of_the_program_shows_its_traceback():
    done = subprocess.run(program("1 / 0"), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        ("raise MemoryError", "not enough memory; try fewer texts"),
        (
            'raise RuntimeError("can\'t start new thread")',
            "the system allows no more threads; try fewer texts",
        ),
        (
            "raise OSError(28, 'No space left on device', '/full')",
            "/full: No space left on device; free some space",
        ),
        ("raise PermissionError(13, 'Permission denied', '/x')", "/x: Permission denied; choose a path"),
        ("raise OSError('odd')", "odd; check the path"),
        ("open('/nowhere/at all')", "/nowhere/at all: No such file or directory; check the path"),
    ],
)
def test_trouble_with_the_machine_is_one_sentence(work, sentence):
    done = subprocess.run(program(work), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"coterie: {sentence}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "command", [["data", "list"], ["compare", "--list-methods"], ["--help"]], ids=" ".join
)
def test_output_that_finds_no_room_is_one_sentence(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COTERIE, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=BUFFERED
        )
    assert done.returncode == 2
    assert done.stderr.startswith("coterie: No space left on device; free some space")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [["data", "list"], ["compare", "--list-methods"], ["--help"], ["data", "list", "--json"]],
    ids=" ".join,
)
def test_a_closed_pipe_ends_quietly(command):
    theirs, ours = os.pipe()
    os.close(theirs)
    done = subprocess.run([COTERIE, *command], stdout=ours, stderr=subprocess.PIPE, check=False, env=BUFFERED)
    os.close(ours)
    assert done.returncode == 141
    assert done.stderr == b""


def test_what_only_waits_in_a_buffer_meets_the_closed_pipe_too():
    script = """
import click
from coterie.cli import exits
@click.command()
def command():
    with exits.reported():
        print("result")
command()
"""
    theirs, ours = os.pipe()
    os.close(theirs)
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=ours, stderr=subprocess.PIPE, check=False, env=BUFFERED
    )
    os.close(ours)
    assert (done.returncode, done.stderr) == (141, b"")


def test_head_takes_what_it_wants():
    line = f'"{COTERIE}" compare --list-methods | head -1'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, env=BUFFERED)
    assert done.stdout.startswith("coterie ")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_the_codes_are_in_the_help():
    page = CliRunner().invoke(main, ["--help"]).output
    codes = page[page.index("Exit codes:") :].splitlines()[1:]
    told = {int(line.split()[0]) for line in codes}
    assert told == {
        exits.DONE, exits.FAULT, exits.WRONG, exits.INTERRUPTED, exits.CLOSED, exits.TERMINATED,
    }  # fmt: skip
    assert told == {0, 1, 2, 130, 141, 143}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["wieghts"], "there is no command 'wieghts'; did you mean 'weights'? see 'coterie --help'"),
        (
            ["zzz"],
            f"there is no command 'zzz'; available commands: {', '.join(COMMANDS)}, reproduce; see 'coterie --help'",
        ),
        (["weights"], "missing argument 'FILE'; see 'coterie weights --help'"),
        (["data", "path"], "missing argument 'NAME'; see 'coterie data path --help'"),
        (["compare", "x", "--restarts", "0"], "see 'coterie compare --help'"),
        (["compare", "x", "--restrats", "2"], "--restarts"),
        (["--verzion"], "see 'coterie --help'"),
        (["data", "lst"], "no such command 'lst'"),
        (["weights", "gone.csv"], "gone.csv does not exist"),
    ],
)
def test_a_wrong_command_is_one_sentence(arguments, sentence):
    done = CliRunner().invoke(main, arguments, prog_name="coterie")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("coterie: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_the_library_warns_of_is_a_sentence():
    work = "import warnings; warnings.warn('there is one topic', stacklevel=1); sys.exit(0)"
    done = subprocess.run(program(work), capture_output=True, text=True, check=True)
    assert done.stderr == "coterie: there is one topic\n"


def test_nothing_in_a_message_commands_the_terminal():
    done = CliRunner().invoke(main, ["weights", "gone\x1b[2J\n.csv"])
    assert done.stderr == "coterie: no file matches gone\\x1b[2J .csv; check the pattern\n"


def test_no_command_is_the_help():
    done = CliRunner().invoke(main, [])
    assert done.exit_code == 0
    assert "Exit codes" in done.output


def test_help_and_version_load_nothing_heavy():
    check = (
        "import sys; from coterie.cli import main; main([sys.argv[1]], standalone_mode=False);"
        "print(*sorted({'numpy', 'polars', 'scipy', 'sklearn', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    for option in ("--help", "--version"):
        done = subprocess.run(
            [sys.executable, "-c", check, option], capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == ""


def test_commands_stand_in_the_help_in_the_order_of_the_table():
    page = CliRunner().invoke(main, ["--help"]).output
    places = [page.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)


def test_a_sentence_has_a_readable_length():
    work = (
        "from coterie.errors import InputError; raise InputError('begin ' + 'x' * 100_000 + '; then do this')"
    )
    done = subprocess.run(program(work), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr) < 650
    assert done.stderr.startswith("coterie: begin xxx")
    assert done.stderr.endswith("; then do this\n")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A file of texts and its run."""
    folder = tmp_path_factory.mktemp("small")
    pl.DataFrame({"text": ["late parcel", "lost parcel", "card refund", "tax refund"] * 3}).write_csv(
        folder / "t.csv"
    )
    command = [COTERIE, "fit", folder / "t.csv", "--topics", "2", "--out", folder / "run"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    ("command", "without_input"),
    [
        ("fit - --format csv --topics 2 --out again", 2),
        ("fit t.csv --topics 2 --out again", 0),
        ("assign run -", 2),
        ("topics run", 0),
        ("edit rename run 0 Post", 0),
        ("topics nowhere", 2),
    ],
)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lead_nowhere(small, command, without_input, closed):
    given = "" if "<" in closed else "< t.csv"
    shell = f"exec {COTERIE} {command} {given} {closed}"
    ended = subprocess.run(["bash", "-c", shell], cwd=small, check=False, capture_output=True, text=True)
    expected = without_input if "<" in closed or "nowhere" in command else 0
    assert ended.returncode == expected, ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 1
    if "2>&-" not in closed and expected:
        assert ended.stderr.startswith("coterie: ")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_error_that_cannot_be_told_keeps_its_code(small, unbuffered):
    env = {**BUFFERED, "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        ended = subprocess.run([COTERIE, "topics", "nowhere"], cwd=small, stderr=full, env=env, check=False)
    assert ended.returncode == 2
