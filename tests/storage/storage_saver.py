"""Saves a folder in version A or B, checks it, and, run as a program, saves on command until it is killed.

Each line on standard input, `folder way step`, starts a process that saves A and B in turns for ever, or, if step
is above zero, saves B once and dies before that line of the storage modules; the answers are
its number and, at its end, how it ended. With the argument "no fsync" nothing waits for the disk.
"""

import os
import signal
import sys
import time
from pathlib import Path

from coterie.storage import folder as folders

MARKER = "run.json"
PARTS = ("state.json", "arrays.bin", "sub/texts.bin", "sub/more.bin")
OURS = {MARKER, *PARTS, "gone.bin"}
FOREIGN = {"notes.txt": "mine", "sub/beside.txt": "mine too", "own/deep/er.txt": "deep", "own/=cmd": ""}
SIZE = 200_000


def save(folder, letter):
    with folders.replaced(folder, marker=MARKER, ours=OURS) as new:
        (new / "sub").mkdir()
        (new / MARKER).write_text(letter)
        for part in PARTS:
            (new / part).write_bytes(letter.encode() * SIZE)


def add_foreign(folder):
    for name, text in FOREIGN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def files_of(folder):
    return {str(path.relative_to(folder)): path for path in Path(folder).rglob("*") if not path.is_dir()}


def version(folder):
    """A or B, if the folder is complete and nothing foreign is lost."""
    found = files_of(folder)
    letter = found[MARKER].read_text()
    assert letter in {"A", "B"}
    for part in PARTS:
        assert found[part].read_bytes() == letter.encode() * SIZE, part
    assert {name: found[name].read_text() for name in FOREIGN} == FOREIGN
    # only a folder that was never saved again still has what an older version wrote
    assert set(found) - {"gone.bin"} == {MARKER, *PARTS, *FOREIGN}
    assert letter == "A" or "gone.bin" not in found
    return letter


def leftovers(folder):
    return sorted(path.name for path in folder.parent.iterdir() if path != folder)


def no_exchange(one, other):
    return False


def at_line(step, action):
    """Call `action` when the storage modules, from now on, come to their line number `step`, each counted once."""
    seen = set()

    def tracer(frame, event, argument):
        file = frame.f_code.co_filename
        if not file.endswith(("storage/folder.py", "storage/trees.py")):
            return None
        if event == "line" and (file, frame.f_lineno) not in seen:
            seen.add((file, frame.f_lineno))
            if len(seen) == step:
                sys.settrace(None)
                action()
        return tracer

    sys.settrace(tracer)


def no_fsync(descriptor):
    """For the many saves of the tests that count lines: only a power cut could tell the difference."""


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def child(folder, way, step):
    if way == "fallback":
        folders.exchange = no_exchange
        rename = os.rename
        # the moment between the two renames, made long enough to be hit
        os.rename = lambda *paths: (rename(*paths), time.sleep(0.002))
    if step:
        os.fsync = no_fsync
        at_line(step, die)
        save(folder, "B")
        return
    while True:
        save(folder, "B")
        save(folder, "A")


def main():
    if sys.argv[1:] == ["no fsync"]:
        os.fsync = no_fsync
    for line in sys.stdin:
        folder, way, step = line.rstrip("\n").split("\t")
        process = os.fork()
        if not process:
            child(Path(folder), way, int(step))
            os._exit(0)
        answer(process)
        answer(os.waitpid(process, 0)[1])


def answer(number):
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
