"""Processes killed while they save: the folder is the old or the new one, whole, and nothing foreign is lost."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import pytest
import storage_saver as saver

from coterie.storage import folder as folders
from fuzzing import cases, chance

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork"),
]
KILLS = cases(100)
WAYS = ("exchange", "fallback")
# lines at which leftovers are being removed; the last one returns through `finally`
CLEANING = re.compile(r"remove\(|if os.path.lexists\(target\)|return True")


@pytest.fixture
def program():
    """A process that forks savers: it imports once, and pytest's threads are not forked."""
    with started() as program:
        yield program


@contextlib.contextmanager
def started(*arguments):
    command = [sys.executable, saver.__file__, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield program
        program.stdin.close()


def ask(program, folder, way, step=0):
    program.stdin.write(f"{folder}\t{way}\t{step}\n")
    program.stdin.flush()
    return int(program.stdout.readline())


def fresh(folder):
    saver.save(folder, "A")
    saver.add_foreign(folder)
    (folder / "gone.bin").write_text("of an older version")
    return folder


def marker(folder):
    try:
        return (folder / saver.MARKER).read_text()
    except FileNotFoundError:  # between two renames
        return None


def settled(folder):
    """What a reader finds after a crash, and that the next save clears what is left."""
    folders.recover(folder)
    found = saver.version(folder)
    saver.save(folder, "A")
    assert saver.version(folder) == "A"
    assert not (folder / "gone.bin").exists()
    assert saver.leftovers(folder) == []
    return found


@pytest.mark.fuzz
@pytest.mark.parametrize("way", WAYS)
def test_a_saver_killed_at_any_moment_leaves_the_old_folder_or_the_new_one(
    program, tmp_path, monkeypatch, way, tried
):
    monkeypatch.setattr(os, "fsync", saver.no_fsync)  # here, not in the saver
    moments = chance(way)
    folder = fresh(tmp_path / "run")
    found = []
    for number in range(KILLS):
        process = ask(program, folder, way)
        while number % 2 and marker(folder) != "B":  # the first save takes longer than the others
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.03))
        tried()
        os.kill(process, signal.SIGKILL)
        assert os.WTERMSIG(int(program.stdout.readline())) == signal.SIGKILL
        found.append(settled(folder))
    assert set(found) == {"A", "B"}


@pytest.mark.parametrize("way", WAYS)
def test_a_saver_killed_before_any_line_leaves_the_old_folder_or_the_new_one(
    program, tmp_path, monkeypatch, way
):
    monkeypatch.setattr(os, "fsync", saver.no_fsync)
    folder = fresh(tmp_path / "run")
    found, aside = [], 0
    for step in range(1, 2000):
        ask(program, folder, way, step)
        ended = int(program.stdout.readline())
        aside += not folder.exists()
        found.append(settled(folder))
        if ended == 0:
            break
        assert os.WTERMSIG(ended) == signal.SIGKILL
    assert step > 100
    assert found == sorted(found), "B appears at one line and stays"
    assert (aside > 0) == (way == "fallback"), "the moment between two renames was hit"


# between a call and the variable that keeps its answer nobody can close what was opened
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_before_any_line_leaves_the_old_folder_or_the_new_one(tmp_path, monkeypatch, way):
    monkeypatch.setattr(os, "fsync", saver.no_fsync)
    if way == "fallback":
        monkeypatch.setattr(folders, "exchange", saver.no_exchange)
    folder = fresh(tmp_path / "run")
    before, where, step = sys.gettrace(), "somewhere", 0
    while where:
        step += 1
        saver.at_line(step, interrupt)
        try:
            saver.save(folder, "B")
            where = ""
        except KeyboardInterrupt as error:
            where = str(error)
        finally:
            sys.settrace(before)
        assert saver.leftovers(folder) == [] or CLEANING.search(where), where
        settled(folder)
    assert step > 100


def interrupt():
    """Ctrl-C, which says where it came."""
    raise KeyboardInterrupt(*(frame.line for frame in traceback.extract_stack()[-6:]))


@pytest.mark.parametrize("way", WAYS)
def test_sigint_leaves_a_complete_folder_and_no_leftovers(program, tmp_path, way):
    folder = fresh(tmp_path / "run")
    for delay in (0.0, 0.01, 0.02, 0.03, 0.05):
        script = (
            f"import sys; sys.path.insert(0, {str(Path(saver.__file__).parent)!r}); import storage_saver as saver\n"
            "try:\n"
            "    print('ready', flush=True)\n"
            f"    saver.child(saver.Path({str(folder)!r}), {way!r}, 0)\n"
            "except KeyboardInterrupt: print('interrupted')"
        )
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"
        settled(folder)


def test_savers_at_the_same_time_lose_nothing_and_readers_see_whole_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", saver.no_fsync)
    folder = fresh(tmp_path / "run")
    with contextlib.ExitStack() as savers:
        ways = ("exchange", "exchange", "fallback")
        processes = [ask(savers.enter_context(started("no fsync")), folder, way) for way in ways]
        for process in processes:
            savers.callback(os.kill, process, signal.SIGKILL)
        seen = []
        until = time.monotonic() + 600
        while len(seen) < 100 or set(seen) != {"A", "B"}:
            assert time.monotonic() < until, (len(seen), set(seen))
            seen.append(folders.read_steadily(folder, read_whole))
            for process in processes:
                os.kill(process, 0)  # none has failed
    settled(folder)


def read_whole(folder):
    try:
        return saver.version(folder)
    except (OSError, KeyError, AssertionError) as error:
        raise folders.InputError(str(error)) from error
