"""Folders replaced as a whole: what is refused, what is kept, what is cleared, what is told."""

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import storage_saver as saver

from coterie.errors import InputError
from coterie.storage import folder as folders
from coterie.storage import locks, trees
from coterie.storage.folder import read_steadily, recover, replaced

MARKER = "run.json"


@pytest.fixture(params=["exchange", "fallback"])
def way(request, monkeypatch):
    """Both ways to swap."""
    if request.param == "fallback":
        monkeypatch.setattr(folders, "exchange", saver.no_exchange)
    return request.param


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    save(folder, "old")
    return folder


def save(folder, text, ours=(), **files):
    with replaced(folder, marker=MARKER, ours=ours) as new:
        (new / MARKER).write_text(text)
        for name, content in files.items():
            (new / name).write_text(content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def text(folder):
    return (folder / MARKER).read_text()


def test_a_new_folder_with_its_parents(tmp_path):
    save(tmp_path / "a" / "b" / "run", "new", more="x")
    assert names(tmp_path / "a" / "b" / "run") == ["more", MARKER]
    assert names(tmp_path / "a" / "b") == ["run"]


def test_the_system_has_an_exchange_where_it_should(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "x").touch()
    if not sys.platform.startswith(("linux", "darwin")):
        assert not trees.exchange(one, other)
        return
    assert trees.exchange(one, other)
    assert (names(one), names(other)) == ([], ["x"])
    with pytest.raises(FileNotFoundError):
        trees.exchange(one, tmp_path / "missing")


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.EPERM])
def test_a_file_system_without_exchange_is_no_error(run, monkeypatch, code):
    monkeypatch.setattr(trees, "_call", lambda: lambda one, other: trees.ctypes.set_errno(code) or -1)
    save(run, "new")
    assert text(run) == "new"
    assert saver.leftovers(run) == []


def test_an_old_folder_is_replaced(run, way):
    save(run, "new")
    assert text(run) == "new"
    assert saver.leftovers(run) == []


def test_an_empty_folder_is_replaced(tmp_path, way):
    (tmp_path / "run").mkdir(mode=0o750)
    save(tmp_path / "run", "new")
    assert text(tmp_path / "run") == "new"
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o750


def test_the_folder_behind_a_link_is_replaced(run, tmp_path, way):
    link = tmp_path / "link"
    link.symlink_to("run")
    save(link, "new")
    assert link.is_symlink()
    assert text(run) == "new"
    ahead = tmp_path / "ahead"
    ahead.symlink_to(tmp_path / "later")
    save(ahead, "new")
    assert text(tmp_path / "later") == "new"
    assert names(tmp_path) == ["ahead", "later", "link", "run"]


def test_a_name_as_long_as_names_can_be(tmp_path, way):
    folder = tmp_path / ("é" * 127)
    for letter in "ab":
        save(folder, letter)
    assert text(folder) == "b"
    assert saver.leftovers(folder) == []


def refused(folder, message):
    with pytest.raises(InputError, match=message), replaced(folder, marker=MARKER):
        pytest.fail("work was begun")


def test_folders_that_are_not_ours_are_refused_before_any_work(tmp_path, monkeypatch):
    documents = tmp_path / "documents"
    (documents / "work").mkdir(parents=True)
    refused(documents, r"documents contains files but no run\.json.*choose an empty or a new folder")
    (documents / MARKER).mkdir()
    refused(documents, "contains files but no")
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "file", "is a file, not a folder")
    refused(tmp_path / "file" / "run", "could not be written: part of its path is a file")
    refused("/", "is a mount point and cannot be replaced; choose a folder inside it")
    refused("a\0b", "is not a valid folder path")
    refused(tmp_path / ("x" * 300), "name is too long")
    monkeypatch.chdir(documents / "work")
    refused(".", "is the current folder and cannot be replaced; change to another folder")
    assert names(tmp_path) == ["documents", "file"]


def test_what_becomes_foreign_meanwhile_is_refused_in_the_end(tmp_path, way):
    folder = tmp_path / "run"
    with (  # noqa: PT012
        pytest.raises(InputError, match=r"contains files but no run\.json"),
        replaced(folder, marker=MARKER) as new,
    ):
        (new / MARKER).touch()
        folder.mkdir()
        (folder / "thesis.doc").touch()
    assert names(folder) == ["thesis.doc"]
    assert names(tmp_path) == ["run"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_in_the_block_changes_nothing(run, error):
    with pytest.raises(error), replaced(run, marker=MARKER) as new:  # noqa: PT012
        (new / MARKER).write_text("new")
        raise error
    assert text(run) == "old"
    assert saver.leftovers(run) == []


def test_a_block_that_writes_no_marker_changes_nothing(run):
    with pytest.raises(ValueError, match=r"no 'run\.json'"), replaced(run, marker=MARKER):
        pass
    assert text(run) == "old"
    assert saver.leftovers(run) == []


def plant(run):
    """All kinds of things that users keep."""
    (run / "notes.txt").write_text("mine")
    (run / "own" / "empty").mkdir(parents=True)
    (run / "own" / "deep.txt").write_text("deep")
    (run / "link").symlink_to("notes.txt")
    (run / "astray").symlink_to("/nowhere")
    (run / "locked").mkdir()
    (run / "locked" / "x").write_text("x")
    (run / "locked").chmod(0o555)
    (run / "sub").mkdir()
    (run / "sub" / "ours").write_text("ours")
    (run / "sub" / "theirs").write_text("theirs")
    (run / "gone").write_text("ours")
    (run / "cache").mkdir()
    (run / "cache" / "x").write_text("ours")


def check_kept(run):
    assert names(run) == ["astray", "link", "locked", "notes.txt", "own", MARKER, "sub"]
    assert names(run / "own") == ["deep.txt", "empty"]
    assert names(run / "sub") == ["theirs"]
    assert (run / "link").read_text() == "mine"
    assert os.readlink(run / "astray") == "/nowhere"
    assert stat.S_IMODE((run / "locked").stat().st_mode) == 0o555
    assert saver.leftovers(run) == []
    (run / "locked").chmod(0o755)


OURS = ("gone", "sub/ours", "cache")


def test_foreign_files_are_kept_and_ours_are_not(run, way):
    plant(run)
    number = (run / "notes.txt").stat().st_ino
    save(run, "new", ours=OURS)
    assert (run / "notes.txt").stat().st_ino == number
    assert (run / "notes.txt").stat().st_nlink == 1
    check_kept(run)


def test_foreign_files_are_copied_where_links_are_impossible(run, way, monkeypatch):
    def no_link(*paths):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_link)
    plant(run)
    os.utime(run / "notes.txt", (1, 1))
    save(run, "new", ours=OURS)
    assert (run / "notes.txt").stat().st_mtime == 1
    check_kept(run)
    os.mkfifo(run / "pipe")
    with pytest.raises(InputError, match=r"pipe is neither a file nor a folder.*move it away"):
        save(run, "newer", ours=OURS)
    assert text(run) == "new"
    assert stat.S_ISFIFO((run / "pipe").stat().st_mode)
    assert saver.leftovers(run) == []


def test_what_the_block_writes_wins_over_what_is_there(run):
    (run / "report").write_text("foreign")
    (run / "table").mkdir()
    save(run, "new", report="ours", table="now a file")
    assert (run / "report").read_text() == "ours"
    assert (run / "table").read_text() == "now a file"


def test_files_that_come_during_the_swap_are_kept(run, monkeypatch, way):
    swap = folders.exchange

    def late(one, other):
        (run / "late.txt").write_text("late")
        return swap(one, other)

    monkeypatch.setattr(folders, "exchange", late)
    with replaced(run, marker=MARKER) as new:
        (new / MARKER).write_text("new")
        (run / "early.txt").write_text("early")
    assert names(run) == ["early.txt", "late.txt", MARKER]
    assert saver.leftovers(run) == []


def leave(run, ending, process=1):
    """A folder as a killed process leaves it."""
    left = run.with_name(f".{run.name}.coterie-{process}-{10**18}-0123abcd.{ending}")
    left.mkdir()
    (left / MARKER).write_text("left")
    (left / "locked").mkdir()
    (left / "locked" / "x").touch()
    (left / "locked").chmod(0o500)
    return left


def test_leftovers_are_cleared_and_only_leftovers(run):
    leave(run, "new")
    leave(run, "old", os.getpid())
    others = [
        leave(run.with_name("run2"), "new"),
        leave(run.with_name("un"), "new"),
        run.with_name(".run.coterie-x.new"),
    ]
    others[2].mkdir()
    save(run, "new")
    assert saver.leftovers(run) == sorted(path.name for path in others)


@pytest.mark.process
def test_folders_of_live_processes_stay(run):
    with replaced(run, marker=MARKER) as one:
        (one / MARKER).write_text("one")
        save(run, "two")
        assert one.exists()
        assert text(run) == "two"
    assert text(run) == "one"
    script = (
        "import sys\nfrom coterie.storage.folder import replaced\n"
        f"with replaced({str(run)!r}, marker={MARKER!r}) as new:\n"
        " (new / 'run.json').write_text('other')\n print('ready', flush=True)\n sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "ready\n"
    save(run, "mine")
    assert len(saver.leftovers(run)) == 1
    other.communicate(timeout=60)
    assert text(run) == "other"
    assert saver.leftovers(run) == []


def test_without_locks_the_process_is_asked_for(run, monkeypatch):
    monkeypatch.setattr(folders, "take", lambda path: os.stat(path) and folders.Lock(None))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    leave(run, "new", ended.pid)
    mine = leave(run, "new", os.getpid())
    save(run, "new")
    assert saver.leftovers(run) == [mine.name]


def test_recover_puts_the_newest_folder_back(run):
    left = leave(run, "old")
    recover(run)
    assert text(run) == "old"
    shutil.rmtree(run)
    newer = run.with_name(left.name.replace(f"{10**18}", f"{10**18 + 1}"))
    newer.mkdir()
    (newer / MARKER).write_text("newer")
    recover(run)
    assert text(run) == "newer"
    recover(run.with_name("absent"))
    assert not run.with_name("absent").exists()
    save(run, "new")
    assert saver.leftovers(run) == []


def test_recover_waits_for_a_live_process(run):
    aside = leave(run, "old")
    shutil.rmtree(run)
    lock = folders.take(aside)
    timer = threading.Timer(0.1, aside.rename, [run])
    timer.start()
    recover(run)
    lock.release()
    timer.join()
    assert text(run) == "left"


def test_recover_says_what_to_do_if_it_cannot(run, monkeypatch):
    leave(run, "old")
    shutil.rmtree(run)

    def denied(*paths):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "rename", denied)
    with pytest.raises(InputError, match=r"cannot be restored \(Permission denied\); rename .*\.old to run"):
        recover(run)


def test_a_reader_of_a_missing_or_bad_folder_is_told_at_once(tmp_path):
    def read(folder):
        raise InputError(f"{folder} is bad")

    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match="is bad"):
            read_steadily(folder, read)


def test_a_reader_reads_again_when_the_folder_was_replaced(run):
    seen = []

    def read(folder):
        seen.append(text(folder))
        if len(seen) == 1:
            save(run, "new")
            raise InputError("mixed")
        if len(seen) == 2:
            save(run, "newer")
        return seen[-1]

    assert read_steadily(run, read) == "newer"
    assert seen == ["old", "new", "newer"]


def test_a_reader_does_not_starve_beside_those_who_write_all_the_time(run, way):
    writers = []

    def read(folder):
        found = text(folder)
        writers.append(threading.Thread(target=save, args=(run, f"version {len(writers)}")))
        writers[-1].start()
        polite = len(writers) <= folders._POLITE_ATTEMPTS
        writers[-1].join(None if polite else 0.5)  # the last one waits for this reader
        return found

    assert read_steadily(run, read) == "version 2"
    for writer in writers:
        writer.join()
    assert text(run) == "version 3"


def test_where_nothing_can_be_locked_a_reader_gives_up_in_the_end(run, monkeypatch):
    monkeypatch.setattr(folders, "take", lambda folder: locks.Lock(None))
    with pytest.raises(
        InputError, match="is being changed by another process; try again when that has finished"
    ):
        read_steadily(run, lambda folder: save(run, "x"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "the disk is full; free some space"),
        (errno.EROFS, "the file system is read-only; choose another folder"),
        (errno.EACCES, "permission denied; change the permissions"),
        (errno.ESTALE, "[Ss]tale"),
    ],
)
@pytest.mark.parametrize("call", ["mkdir", "fsync", "link", "rename", "chmod"])
def test_what_the_system_refuses_is_told_in_words(run, monkeypatch, way, call, code, words):
    (run / "notes.txt").write_text("mine")
    if call == "rename" and way == "exchange":
        pytest.skip("nothing is renamed")

    def refuse(*arguments, **named):
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuse)
        if call == "link":
            patched.setattr(trees.shutil, "copy2", refuse)
        with pytest.raises(InputError, match=rf"run could not be written: {words}"):
            save(run, "new")
    assert text(run) == "old"
    assert names(run) == ["notes.txt", MARKER]
    assert saver.leftovers(run) == []


def test_the_second_rename_fails_and_the_old_folder_is_back(run, monkeypatch):
    monkeypatch.setattr(folders, "exchange", saver.no_exchange)
    rename = os.rename

    def refuse(one, other):
        if str(one).endswith(".new"):
            raise OSError(errno.EIO, "x")
        rename(one, other)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(InputError, match="the disk reports an error"):
        save(run, "new")
    assert text(run) == "old"
    assert saver.leftovers(run) == []


def test_faults_in_the_block_are_told_of_the_folder_and_others_pass(run):
    with (
        pytest.raises(InputError, match="run could not be written: the disk is full") as told,
        replaced(run, marker=MARKER),
    ):
        raise OSError("No space left on device (os error 28)")  # as polars says it
    assert ".coterie-" not in str(told.value)
    with (
        pytest.raises(InputError, match=r"run could not be written: it is a folder"),
        replaced(run, marker=MARKER) as new,
    ):
        new.write_text("x")
    with pytest.raises(InputError, match=r"/run/x\.csv is bad$") as told, replaced(run, marker=MARKER) as new:
        raise InputError(f"{new / 'x.csv'} is bad")
    assert ".coterie-" not in str(told.value)
    with pytest.raises(FileNotFoundError), replaced(run, marker=MARKER):
        Path("/nowhere/texts.csv").read_text()
    with pytest.raises(InputError, match=r"^other$"), replaced(run, marker=MARKER):
        raise InputError("other")
    assert saver.leftovers(run) == []


FILL = """
import resource, sys
from pathlib import Path
import numpy as np, polars as pl
from coterie.errors import InputError
from coterie.storage.folder import replaced
from coterie.storage.state import write_state
from coterie.storage.tables import CsvWriter, ParquetWriter
run, limit = Path(sys.argv[1]), int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
frame = pl.DataFrame({"x": np.random.default_rng(0).random(500_000)})
def csv(new):
    with CsvWriter(new / "x.csv") as table: table.write(frame)
def parquet(new):
    with ParquetWriter(new / "x.parquet") as table: table.write(frame)
for fill in (csv, parquet, lambda new: write_state(new / "m", "m", {"x": frame["x"].to_numpy()}),
             lambda new: write_state(new / "m", "m", {"x": "y" * 4_000_000}),
             lambda new: (new / "x").write_bytes(bytes(4_000_000))):
    try:
        with replaced(run, marker="run.json") as new:
            (new / "run.json").write_text("new")
            fill(new)
    except InputError as error:
        print(error)
"""


def check_filled(run, output, words):
    sentences = output.splitlines()
    assert len(sentences) == 5, output
    for sentence in sentences:
        assert str(run) in sentence
        assert words in sentence
        assert ".coterie-" not in sentence


@pytest.mark.process
def test_files_over_the_limit_leave_the_old_folder(run):
    ended = subprocess.run(
        [sys.executable, "-c", FILL, run, "100000"], capture_output=True, text=True, check=True
    )
    check_filled(run, ended.stdout, "a file would be larger than this system allows")
    assert text(run) == "old"
    assert saver.leftovers(run) == []


@pytest.mark.process
def test_a_full_disk_leaves_the_old_folder(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=2m none {disk}"
    alone = ["unshare", "-rm", "sh", "-c"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*alone, mount], capture_output=True, check=False).returncode
    ):
        pytest.skip("no file system can be mounted here")
    script = f'{mount} && mkdir {disk}/run && printf old > {disk}/run/run.json && "$0" -c "$1" {disk}/run 0 && cat {disk}/run/* && ls -A {disk}'
    ended = subprocess.run([*alone, script, sys.executable, FILL], capture_output=True, text=True, check=True)
    *sentences, after = ended.stdout.splitlines()
    assert after == "oldrun"
    check_filled(disk / "run", "\n".join(sentences), "the disk is full; free some space")


def test_ctrl_c_that_hides_behind_a_fault_of_removing_is_still_ctrl_c(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        try:
            raise KeyboardInterrupt
        finally:
            raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(trees.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trees.remove(tmp_path)
