"""Several processes at one run folder: no edit that was acknowledged is lost, no reader sees two runs mixed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest

import runs_crowd
from coterie import TopicModel
from coterie.errors import InputError
from coterie.runs import edit_run, edits_of, fit_run, open_run, with_run
from coterie.runs.relabel import rename
from coterie.storage.folder import FolderLock, Outdated
from coterie.text import read_texts
from coterie.text.readers import TextSource
from fuzzing import SEED, cases, chance
from golden.make import texts

#: Processes, and operations of each; `make fuzz` has more.
CROWD = int(os.environ.get("COTERIE_CROWD", "6")), cases(12)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    pl.DataFrame({"text": texts()}).write_csv(folder / "texts.csv")
    fit_run(read_texts(folder / "texts.csv", "text"), folder / "run", TopicModel(4))
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True)) / "run"


def fit(folder, source=None):
    return fit_run(source or read_texts(folder.parent / "texts.csv", "text"), folder, TopicModel(4))


def labels(folder):
    return {edit.label or edit.text for edit in open_run(folder).model.edits}


# --- one after another, in the order that loses work


def test_an_edit_that_began_before_a_fit_does_not_undo_the_fit(folder):
    run = open_run(folder)
    run.model.edits.rename(0, "late")
    after = fit(folder)
    with pytest.raises(Outdated, match="changed by another process since it was opened"):
        run.save()
    assert open_run(folder).info == after.info


def test_two_that_were_opened_together_are_not_both_saved(folder):
    one, other = open_run(folder), open_run(folder)
    one.model.edits.rename(0, "one")
    other.with_texts().edits.merge(0, 1)
    one.save()
    with pytest.raises(Outdated):
        other.save()
    assert labels(folder) == {"one"}


def test_a_run_can_be_saved_again_and_again(folder):
    run = open_run(folder)
    for label in ("one", "two", "three"):
        run.model.edits.rename(0, label)
        assert run.save() is run
        assert label in run.table["label"].to_list()
    run.with_texts().edits.merge(0, 1)
    run.save()
    assert run.info == open_run(folder).info
    assert set(run.table["topic"]) == {topic.id for topic in run.model.topics}


class Interrupted(TextSource):
    """A file; while it is read, something else happens."""

    def __iter__(self):
        self.meanwhile()
        yield from super().__iter__()


@pytest.mark.parametrize("before", [[], ["before"], ["before", "again"]])
def test_a_fit_keeps_edits_that_were_made_while_it_ran(folder, before):
    for label in before:
        rename(folder, 0, label)
    source = Interrupted(folder.parent / "texts.csv", "text")
    source.meanwhile = lambda: (
        rename(folder, 1, "meanwhile"),
        edit_run(folder, lambda model: model.edits.pin("parcel", 1)),
    )
    run = fit(folder, source)
    assert [edit.label or edit.text for edit in run.model.edits] == [*before, "meanwhile", "parcel"]
    assert edits_of(folder) == run.model.edits == open_run(folder).model.edits
    assert "meanwhile" in {topic.label for topic in run.model.topics}


def test_a_fit_keeps_what_was_undone_while_it_ran(folder):
    rename(folder, 0, "first")
    rename(folder, 1, "second")
    source = Interrupted(folder.parent / "texts.csv", "text")
    source.meanwhile = lambda: edit_run(folder, lambda model: model.edits.undo())
    assert labels(folder) == {"first", "second"}
    fit(folder, source)
    assert labels(folder) == {"first"}


def test_a_run_that_is_made_meanwhile_keeps_its_edits(folder):
    new = folder.parent / "new"
    source = Interrupted(folder.parent / "texts.csv", "text")
    source.meanwhile = lambda: (
        fit_run(read_texts(source.path, "text"), new, TopicModel(4)),
        rename(new, 0, "x"),
    )
    fit_run(source, new, TopicModel(4))
    assert labels(new) == {"x"}


def test_a_fit_that_fails_leaves_no_folder(folder):
    new = folder.parent / "new"
    with pytest.raises(InputError, match="no column"):
        fit_run(read_texts(folder.parent / "texts.csv", "text"), new, TopicModel(4), date="when")
    assert not new.exists()


def test_parts_of_a_replaced_run_are_not_taken_for_damaged(folder):
    for part in (lambda run: run.table, lambda run: run.map(), lambda run: run.with_texts()):
        run = open_run(folder)
        rename(folder, 0, f"label {time.monotonic()}")
        with pytest.raises(Outdated, match="open it again"):
            part(run)


def test_a_reader_begins_again_when_the_run_was_replaced(folder):
    seen = []

    def read(run):
        if not seen:
            rename(folder, 0, "new")
        seen.append(run.model.topics[0].label)
        return run.table["label"].unique()

    assert "new" in with_run(folder, read).to_list()
    assert len(seen) == 2


# --- the lock


def test_whoever_changes_a_folder_waits_for_the_other(folder):
    order = []

    def second():
        with FolderLock(folder).acquire():
            order.append("second")

    with FolderLock(folder).acquire():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join(60)
    assert order == ["first", "second"]


def test_a_lock_of_a_folder_that_was_swapped_is_for_the_new_one(folder):
    waiting = threading.Thread(target=lambda: edit_run(folder, lambda model: model.edits.rename(1, "waited")))
    with FolderLock(folder).acquire() as lock:
        run = open_run(folder)
        run.model.edits.rename(0, "first")
        waiting.start()
        run.save(lock)
    waiting.join(60)
    assert labels(folder) == {"first", "waited"}


def test_where_locks_do_not_work_the_later_one_is_told(folder, monkeypatch):
    from coterie.storage import folder as folders
    from coterie.storage.locks import Lock

    monkeypatch.setattr(folders, "take", lambda path: (os.stat(path), Lock(None))[1])
    with FolderLock(folder).acquire() as lock:
        run = open_run(folder)
        run.model.edits.rename(0, "slow")
        rename(folder, 0, "quick")
        with pytest.raises(Outdated):
            run.save(lock)
    assert labels(folder) == {"quick"}


# --- a crowd


class Crowd:
    """Processes that change and read one folder."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []

    def add(self, operations):
        number = len(self.processes)
        command = [
            sys.executable,
            runs_crowd.__file__,
            self.folder,
            self.folder.parent / "texts.csv",
            self.notes(number),
        ]
        self.processes.append(
            subprocess.Popen(
                [*map(str, command), f"{SEED}-{number}", str(operations)], stderr=subprocess.PIPE, text=True
            )
        )

    def notes(self, number):
        return self.folder.parent / f"notes-{number}.jsonl"

    def ended(self):
        """What the processes noted, after they have ended; one that was killed may have cut its last line."""
        for process in self.processes:
            _, said = process.communicate(timeout=600)
            assert process.returncode in (0, -signal.SIGKILL), said
        lines = [
            line
            for number in range(len(self.processes))
            for line in self.notes(number).read_text().split("\n")
        ]
        return [json.loads(line) for line in lines if line.endswith("}")]


def check(folder, noted, tried):
    """Acknowledged edits are in the log, and nobody was told of damage."""
    for _ in filter(lambda note: "begun" in note, noted):
        tried()
    acknowledged = {note["value"] for note in noted if note.get("done") and note["value"]}
    begun = {note["value"] for note in noted if note.get("begun")}
    in_log = labels(folder) - {""}
    assert acknowledged <= in_log, acknowledged - in_log
    assert in_log <= begun
    refused = {note["sentence"] for note in noted if "refused" in note}
    assert not [sentence for sentence in refused if not any(gone in sentence for gone in runs_crowd.GONE)]
    with_run(folder, runs_crowd.read)
    assert acknowledged


@pytest.mark.process
@pytest.mark.fuzz
def test_a_crowd_loses_no_edit_and_sees_no_damage(folder, tried):
    crowd = Crowd(folder)
    for _ in range(CROWD[0]):
        crowd.add(CROWD[1])
    check(folder, crowd.ended(), tried)
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []


@pytest.mark.process
@pytest.mark.fuzz
def test_a_crowd_in_which_processes_are_killed_loses_no_edit(folder, tried):
    crowd, draw = Crowd(folder), chance("killed")
    for _ in range(CROWD[0]):
        crowd.add(CROWD[1])
    for number in range(CROWD[0] // 2):
        victim = crowd.processes[number]
        some = draw.randrange(2, 2 * CROWD[1])  # lines: two for each operation
        while victim.poll() is None and (
            not crowd.notes(number).exists() or len(crowd.notes(number).read_text().splitlines()) < some
        ):
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.2))
        victim.kill()
        crowd.add(CROWD[1])
    check(folder, crowd.ended(), tried)
    edit_run(folder, lambda model: model.edits.rename(model.topics[0].id, "last"))
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []
