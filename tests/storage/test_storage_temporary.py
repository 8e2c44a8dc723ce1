"""Temporary folders: private, gone with their process however it ends."""

import copy
import gc
import pickle
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from coterie.storage.temporary import TemporaryFolder, sweep

COTERIE = Path(sys.executable).parent / "coterie"
HOLDER = """
import sys
from coterie.storage.temporary import TemporaryFolder
folder = TemporaryFolder("rows")
(folder.path / "texts.csv").write_text("a secret")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_nobody_else_can_look_into_it():
    with TemporaryFolder("texts") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_it_goes_with_its_object(temporary):
    folder = TemporaryFolder("texts")
    (folder.path / "inside").mkdir()
    del folder
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_copies_share_it_and_do_not_remove_it():
    folder = TemporaryFolder("texts")
    for other in (copy.copy(folder), copy.deepcopy(folder), pickle.loads(pickle.dumps(folder))):
        assert other.path == folder.path
    del other
    gc.collect()
    assert folder.path.is_dir()
    pickle.loads(pickle.dumps(folder)).close()
    assert folder.path.is_dir()
    folder.close()
    folder.close()
    assert not folder.path.exists()


@pytest.mark.process
def test_what_a_killed_process_left_is_swept_and_that_of_a_living_one_is_not(temporary):
    holders = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    paths = [Path(holder.stdout.readline().strip()) for holder in holders]
    holders[0].kill()
    holders[0].communicate()
    assert all(path.is_dir() for path in paths)
    with TemporaryFolder("texts"):
        assert [path.is_dir() for path in paths] == [False, True]
    holders[1].communicate("")
    assert list(temporary.iterdir()) == []


def test_folders_of_others_are_left_alone(temporary):
    others = [
        "coterie-backup",
        "coterie-texts-mine",
        "coterie-rows-ABCDEFGH",
        "texts-abcdefgh",
        "coterie-texts-abcdefgh1",
    ]
    for name in others:
        (temporary / name).mkdir()
    (temporary / "coterie-texts-filefile").write_text("a file")
    (temporary / "coterie-texts-linklink").symlink_to(temporary / "coterie-backup")
    sweep()
    assert {*others, "coterie-texts-filefile", "coterie-texts-linklink"} == {
        path.name for path in temporary.iterdir()
    }


@pytest.mark.process
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_a_killed_fit_leaves_texts_only_until_the_next_command(temporary, tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    (work / "texts.csv").write_text(
        "text\n" + "".join(f"late parcel number {n % 997} depot\n" for n in range(40_000))
    )
    command = [COTERIE, "fit", work / "texts.csv", "--text", "text", "--out", work / "run"]
    fit = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not any(temporary.glob("coterie-texts-*/*")):
        assert fit.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    fit.kill()
    fit.wait()
    assert list(temporary.glob("coterie-texts-*"))
    (work / "texts.csv").write_text("text\n" + "late parcel\nlate depot\n" * 20)
    subprocess.run([*command, "--topics", "2"], check=True, capture_output=True)
    assert list(temporary.glob("coterie-*")) == []
