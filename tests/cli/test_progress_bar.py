"""The bar on a real terminal: a process whose standard error is a pseudo-terminal."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

COTERIE = Path(sys.executable).parent / "coterie"
SCRIPT = """
import time
from coterie.cli.progress import shown
from coterie.progress import counted, tell
print("begun", flush=True)
with shown({quiet}):
    {work}
print("result", flush=True)
"""
SLOW = "for _ in counted(range(30), 'gathering', unit='texts'): time.sleep(0.1)"
QUICK = "for _ in counted(range(30), 'gathering', unit='texts'): time.sleep(0.01)"
SILENT = "tell('waiting', 0); time.sleep(2.5)"
STAGES = "\n    ".join(
    f"for _ in counted(range(20), {name!r}): time.sleep(0.1)" for name in ("first", "second")
)
BYTES = "for n in range(30): tell('fetching', n * 100_000, 3_000_000, 'bytes'); time.sleep(0.1)"


def on_a_terminal(command):
    """Standard output, what the terminal got, and the seconds from the word "begun" to its first byte."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "110", "LINES": "30"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment)
    os.close(theirs)
    begun = process.stdout.readline() if "-c" in command else ""
    start, first, got = time.monotonic(), None, b""
    while piece := _read(ours):
        first = first or time.monotonic() - start
        got += piece
    os.close(ours)
    out = begun + process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0, got
    return out, got.decode(), first


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # what Linux says when the other end is closed
        return b""


def script(work, quiet=False):
    return [sys.executable, "-c", SCRIPT.format(work=work, quiet=quiet)]


def test_slow_work_gets_a_bar_that_is_gone_afterwards():
    out, terminal, first = on_a_terminal(script(SLOW))
    assert out == "begun\nresult\n"
    for part in ("gathering", "/30 texts", "texts/s", "━", "0:00:0"):
        assert part in terminal
    assert first > 1.3
    after = terminal[terminal.rindex("gathering") :]
    assert "\x1b[2K" in after  # the line is erased
    assert terminal.rindex("\x1b[?25h") > terminal.rindex("\x1b[?25l")  # the cursor is back


def test_what_is_printed_meanwhile_goes_where_it_belongs():
    out, terminal, _ = on_a_terminal(script(SLOW + "; print('row', flush=True)"))
    assert out == "begun\n" + "row\n" * 30 + "result\n"
    assert "row" not in terminal


def test_quick_work_gets_none():
    out, terminal, _ = on_a_terminal(script(QUICK))
    assert out == "begun\nresult\n"
    assert terminal == ""


def test_none_if_quiet():
    assert on_a_terminal(script(SLOW, quiet=True))[1] == ""


def test_none_where_nothing_is_told():
    assert on_a_terminal(script("time.sleep(2)"))[1] == ""


def test_a_stage_that_says_nothing_for_long_is_shown_too():
    assert "waiting" in on_a_terminal(script(SILENT))[1]


def test_a_new_stage_replaces_the_last():
    terminal = on_a_terminal(script(STAGES))[1]
    assert 0 < terminal.rindex("first") < terminal.index("second")


def test_bytes_are_spelled_as_people_do():
    terminal = on_a_terminal(script(BYTES))[1]
    assert "of 3.0 MB" in terminal
    assert "MB/s" in terminal


def test_none_in_a_pipe():
    done = subprocess.run(script(SLOW), capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout == "begun\nresult\n"


def test_a_real_command_shows_it_and_its_result_stays_clean():
    sample = subprocess.run([COTERIE, "data", "path", "sample"], capture_output=True, text=True, check=True)
    asked = [
        "--text",
        "text",
        "--class-column",
        "category",
        "--method",
        "nmf-idf",
        "--restarts",
        "30",
        "--json",
    ]
    out, terminal, _ = on_a_terminal([COTERIE, "compare", sample.stdout.strip(), *asked])
    assert out.startswith("{\n")
    assert out.endswith("}\n")
    assert "comparing" in terminal
    assert "/30 fits" in terminal
