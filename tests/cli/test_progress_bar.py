"""The bar on a real terminal: a process whose standard error is a pseudo-terminal."""

import os
import subprocess
import sys
import time

import pytest

from coterie.datasets import SAMPLE_FILE

pty = pytest.importorskip("pty")
pytestmark = pytest.mark.process

#: Work that takes as long as standard input is open, at most a minute: `steps()` are the numbers of its steps, `lines`
#: what was read.
SCRIPT = """
import sys, threading, time
from coterie import progress
from coterie.progress import display
from coterie.progress import counted, tell
display.PATIENCE = {patience}
lines = []
reader = threading.Thread(target=lambda: [lines.append(line) for line in sys.stdin], daemon=True)
reader.start()
def steps():
    step, end = 0, time.monotonic() + 60
    while reader.is_alive() and time.monotonic() < end:
        yield step
        step += 1
        time.sleep(0.02)
print("begun", flush=True)
with progress.shown({quiet}):
    {work}
print("result", flush=True)
"""
SLOW = "for _ in counted(steps(), 'gathering', 3000, unit='texts'): pass"
LONG = "for _ in counted(range(30), 'gathering', unit='texts'): time.sleep(0.02)"
QUICK = "for _ in counted(range(30), 'gathering', unit='texts'): pass"
SILENT = "tell('waiting', 0); reader.join(60)"
STAGES = "for step in steps(): tell('second' if lines else 'first', step, 5000)"
BYTES = "for step in steps(): tell('fetching', min(step, 29) * 100_000, 3_000_000, 'bytes')"


def on_a_terminal(command, *awaited):
    """Standard output, what the terminal got, and the seconds from the word "begun" to its first byte.

    Standard input gets a line for each part that the terminal has got of what is awaited, and is closed after the last.
    """
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "110", "LINES": "30"}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment
    )
    os.close(theirs)
    begun = process.stdout.readline() if "-c" in command else ""
    start, first, got = time.monotonic(), None, b""
    parts = list(awaited)
    while True:
        while parts and parts[0].encode() in got:
            del parts[0]
            process.stdin.write("\n")
            process.stdin.flush()
        if not parts:
            process.stdin.close()
        if not (piece := _read(ours)):
            break
        first = first or time.monotonic() - start
        got += piece
    os.close(ours)
    out = begun + process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0, got
    assert not parts, f"not shown: {parts}"
    return out, got.decode(), first


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # what Linux says when the other end is closed
        return b""


def script(work, quiet=False, patience=0.1):
    return [sys.executable, "-c", SCRIPT.format(work=work, quiet=quiet, patience=patience)]


def test_slow_work_gets_a_bar_that_is_gone_afterwards():
    parts = ("gathering", "/3,000 texts", "texts/s", "━", "0:0")
    out, terminal, first = on_a_terminal(script(SLOW, patience="display.PATIENCE"), *parts)
    assert out == "begun\nresult\n"
    assert first > 1.3
    after = terminal[terminal.rindex("gathering") :]
    assert "\x1b[2K" in after  # the line is erased
    assert terminal.rindex("\x1b[?25h") > terminal.rindex("\x1b[?25l")  # the cursor is back


def test_what_is_printed_meanwhile_goes_where_it_belongs():
    out, terminal, _ = on_a_terminal(script(SLOW.replace("pass", "print('row', flush=True)")), "/3,000")
    assert out.replace("row\n", "") == "begun\nresult\n"
    assert "row\n" in out
    assert "row" not in terminal


def test_quick_work_gets_none():
    out, terminal, _ = on_a_terminal(script(QUICK, patience="display.PATIENCE"))
    assert out == "begun\nresult\n"
    assert terminal == ""


def test_none_if_quiet():
    assert on_a_terminal(script(LONG, quiet=True))[1] == ""


def test_none_where_nothing_is_told():
    assert on_a_terminal(script("time.sleep(0.5)"))[1] == ""


def test_a_stage_that_says_nothing_for_long_is_shown_too():
    assert "waiting" in on_a_terminal(script(SILENT), "waiting")[1]


def test_a_new_stage_replaces_the_last():
    terminal = on_a_terminal(script(STAGES), "first", "second")[1]
    assert 0 < terminal.rindex("first") < terminal.index("second")


def test_bytes_are_spelled_as_people_do():
    terminal = on_a_terminal(script(BYTES), "2.9 MB of 3.0 MB", "MB/s")[1]
    assert "2.9 MB of 3.0 MB" in terminal


def test_none_in_a_pipe():
    done = subprocess.run(script(LONG), stdin=subprocess.PIPE, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout == "begun\nresult\n"


def test_a_real_command_shows_it_and_its_result_stays_clean():
    at_once = "from coterie.cli import main; from coterie.progress import display; display.PATIENCE = 0; print('begun', flush=True); main()"
    asked = [
        "--text",
        "text",
        "--class-column",
        "category",
        "--method",
        "nmf-idf",
        "--restarts",
        "60",
        "--json",
    ]
    out, terminal, _ = on_a_terminal([sys.executable, "-c", at_once, "compare", str(SAMPLE_FILE), *asked])
    assert out.startswith("begun\n{\n")
    assert out.endswith("}\n")
    assert "comparing" in terminal
    assert "/60 fits" in terminal
