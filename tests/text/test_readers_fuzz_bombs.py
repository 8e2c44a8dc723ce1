"""Files that unpack to much: read, or refused in one sentence, by a process with little memory and in little time."""

import subprocess
import sys

import pytest
import readers_bombs

from fuzzing import cases, chance, one_sentence, shown

pytestmark = [pytest.mark.fuzz, pytest.mark.process]
LONGEST = 60  # seconds; the usual file takes one or two, most of them for starting the process


def trouble(path):
    """What is wrong with how a file was read, or nothing."""
    try:
        done = subprocess.run(
            [sys.executable, readers_bombs.__file__, path],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not read after {LONGEST} s"
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr[:1_000]}"
    return "" if one_sentence(done.stdout.rstrip("\n")) else f"not a sentence: {done.stdout[:2_000]}"


def test_a_bomb_is_read_or_refused_in_a_sentence(tmp_path, tried):
    draw, wrong = chance("bombs"), {}
    names = list(readers_bombs.BOMBS)
    draw.shuffle(names)
    for number in range(cases(3)):
        name = names[number % len(names)]
        path = tmp_path / name
        path.write_bytes(readers_bombs.BOMBS[name](draw))
        tried()
        if found := trouble(path):
            wrong[f"bomb {number}, {name}"] = found
    assert not wrong, shown(wrong)
