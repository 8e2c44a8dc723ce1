"""The same bytes from every engine: threads, processes, Dask, workers that die, and a fit that was stopped."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future

import polars as pl
import pytest

import coterie.cluster.texts
import coterie.corpus.folding
import coterie.topics.describe
from coterie import TopicModel, read_texts
from coterie.corpus import stored
from coterie.engines import Cluster, open_executor
from coterie.errors import InputError
from coterie.runs import verify
from coterie.topics.collection import READ, TextStore
from engine_fits import fitted, small_blocks, write_texts, written
from killed_fits import kill_fits

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    write_texts(path)
    return path


@pytest.fixture(scope="module")
def expected(texts, tmp_path_factory):
    """What one thread finds."""
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch.setattr)
        with open_executor("threads", 1) as workers:
            run = fitted(texts, tmp_path_factory.mktemp("one") / "run", workers=workers)
    return written(run)


def texts_were_read(folder):
    """From here on, what a fit leaves is kept."""
    (folder / "texts").mkdir(exist_ok=True)
    (folder / "texts" / READ).touch()


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch):
    small_blocks(monkeypatch.setattr)


def test_there_are_enough_blocks_to_go_wrong(texts, tmp_path):
    model = TopicModel(4).fit(read_texts(texts, "title"), cluster=Cluster(folder=tmp_path))
    assert model.collection.corpus.engine.n_blocks > 16  # more than two levels of the tree


def test_in_memory_and_in_a_folder_agree(texts, expected, tmp_path):
    assert written(fitted(texts, tmp_path / "run")) == expected


@pytest.mark.parametrize(("kind", "workers"), [("threads", 3), ("processes", 2), ("dask", 4)])
def test_every_engine_finds_the_same(texts, expected, tmp_path, monkeypatch, kind, workers):
    here = []
    honest = stored._Steps.encode
    monkeypatch.setattr(stored._Steps, "encode", lambda self, part: here.append(part) or honest(self, part))
    with open_executor(kind, workers) as chosen:
        run = fitted(texts, tmp_path / "run", workers=chosen)
    assert written(run) == expected
    assert bool(here) == (kind == "threads")  # what other processes do is not done here
    assert not (tmp_path / "run.work").exists()


def test_workers_that_are_killed_change_nothing(texts, expected, tmp_path):
    """Two of four Dask workers are killed while passes are made."""
    distributed = pytest.importorskip("distributed")
    killed = []
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        ids = list(client.run(os.getpid).values())

        def kill() -> None:
            work = tmp_path / "run.work"
            for pid, after in zip(ids[:2], (1, 4), strict=True):
                deadline = time.monotonic() + 120
                while time.monotonic() < deadline and len(list(work.glob("*/passes-blocks/*"))) < after:
                    time.sleep(0.01)
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        thread = threading.Thread(target=kill)
        thread.start()
        run = fitted(texts, tmp_path / "run", workers=client)
        thread.join()
    assert len(killed) == 2
    assert written(run) == expected


class Counting(Executor):
    """Does the work at once, and counts the bytes that a worker would get and send back."""

    _max_workers = 1

    def __init__(self):
        self.sent = self.came_back = 0

    def submit(self, function, *packed):
        result = function(*packed)
        self.sent += sum(map(len, packed))
        self.came_back += len(result)
        future = Future()
        future.set_result(result)
        return future


def traffic(folder, monkeypatch, times):
    """Bytes to and from workers, for so many times as many texts in as many parts and blocks."""
    for module in (stored, coterie.topics.collection):
        monkeypatch.setattr(module, "PART_ROWS", 300 * times)
    monkeypatch.setattr(coterie.corpus.folding, "BLOCK_ROWS", 200 * times)
    draw, words = random.Random(0), [f"word{number}" for number in range(300)]
    subjects = [words[start : start + 75] for start in range(0, 300, 75)]
    lines = [" ".join(draw.sample(draw.choice(subjects), 6)) for _ in range(3_000 * times)]
    folder.mkdir()
    (folder / "texts.txt").write_text("\n".join(lines) + "\n")
    workers = Counting()
    source = read_texts(folder / "texts.txt", format="lines")
    model = TopicModel(4).fit(source, cluster=Cluster(workers, folder=folder))
    assert model.collection.corpus.n_distinct > 0.99 * len(lines)
    return workers


def test_what_passes_through_the_driver_does_not_grow_with_the_texts(tmp_path, monkeypatch):
    """One byte for each text, in one pass, would be 9,000 bytes more."""
    monkeypatch.setattr(coterie.topics.describe, "_SAMPLE", 500)
    monkeypatch.setattr(coterie.cluster.texts, "MOST_TEXTS", 500)
    few, many = (traffic(tmp_path / str(times), monkeypatch, times) for times in (1, 4))
    assert abs(many.came_back - few.came_back) < 2_000
    assert abs(many.sent - few.sent) < 20_000  # numbers have more digits, and names of files


@pytest.mark.slow
def test_fits_that_are_killed_at_random_moments_end_with_the_same_bytes(tmp_path):
    """A few kills; `make kills` makes fifty."""
    outcome = kill_fits(tmp_path, 4, random.Random(7))
    assert outcome.kills == 4
    assert outcome.same
    assert not outcome.differing


def test_what_was_done_is_not_done_again(texts, expected, tmp_path, monkeypatch):
    from coterie.topics import describe

    calls = []
    monkeypatch.setattr(describe, "describe", lambda *_: calls.append(1) or 1 / 0)
    from coterie.topics import editing

    monkeypatch.setattr(editing, "describe", describe.describe)
    with pytest.raises(ZeroDivisionError):
        fitted(texts, tmp_path / "run", memory=1 << 31)
    monkeypatch.undo()
    small_blocks(monkeypatch.setattr)
    assert calls
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(stored._Steps, "encode", lambda *_: 1 / 0)
    monkeypatch.setattr(TextStore, "_joined", lambda *_: 1 / 0)
    run = fitted(texts, tmp_path / "run", resume=True)  # no text is read or counted again
    assert written(run) == expected


def test_more_memory_than_allowed_is_refused_before_anything_is_learned(
    texts, expected, tmp_path, monkeypatch
):
    monkeypatch.setattr("coterie.topics.fitting.fit_method", lambda *_, **__: 1 / 0)
    with pytest.raises(
        InputError, match=r"^\d+ terms and 4 topics need about 0\.\d GB in this process"
    ) as error:
        fitted(texts, tmp_path / "run", memory=100_000_000)
    assert "raise --memory" in error.value.said("command")
    assert not (tmp_path / "run").exists()
    monkeypatch.undo()
    small_blocks(monkeypatch.setattr)
    assert written(fitted(texts, tmp_path / "run", memory=1 << 31, resume=True)) == expected


def test_other_settings_are_not_resumed(texts, tmp_path, monkeypatch):
    from coterie import TopicModel, read_texts
    from coterie.runs import fit_run
    from coterie.topics import editing

    monkeypatch.setattr(editing, "describe", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fitted(texts, tmp_path / "run", memory=1 << 31)
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"run\.work was begun with another file, other options"):
        fit_run(read_texts(texts, "title"), tmp_path / "run", TopicModel(5), resume=True)
    run = fit_run(read_texts(texts, "title"), tmp_path / "run", TopicModel(5), memory=1 << 31)  # starts again
    assert run.model.n_topics_ == 5
    assert not (tmp_path / "run.work").exists()


def test_a_late_task_of_a_fit_that_was_stopped_writes_nothing_into_another(tmp_path):
    """A worker may be at a task still when its fit was killed and another has begun."""
    from coterie.engines.values import write_value
    from coterie.runs import work

    def begun(topics):
        with work.work_folder(tmp_path / "run", {"topics": topics}, resume=False) as folder:
            Cluster(folder=folder).inside("tasks")
            texts_were_read(folder)
            raise ZeroDivisionError

    folders = []
    for topics in (4, 5):
        with pytest.raises(ZeroDivisionError):
            begun(topics)
        folders += (tmp_path / "run.work").glob("*/tasks")
    assert len(folders) == 2
    with pytest.raises(InputError, match="could not be written"):
        write_value(folders[0] / "encode-000000", 4)
    assert [len(list(folder.glob("*"))) for folder in folders] == [0, 0]
    write_value(folders[1] / "encode-000000", 5)


@pytest.mark.parametrize("resumed", [False, True])
def test_a_fit_that_is_killed_while_it_removes_its_files_can_be_resumed(tmp_path, monkeypatch, resumed):
    """Killed at each file in turn: the next fit finds all files or none, and leaves no folder."""
    from coterie.runs import work

    class Killed(BaseException):
        pass

    def use(run, resume, end=None):
        with work.work_folder(run, {}, resume=resume) as folder:
            found = sorted(path.name for path in folder.iterdir())
            for name in "abc":
                (folder / name).touch()
            texts_were_read(folder)
            if end:
                raise end
        return found

    for last in range(4):
        run = tmp_path / str(last)
        with pytest.raises(ZeroDivisionError):
            use(run, False, ZeroDivisionError())
        unlink, left = os.unlink, [None] * last

        def dying(*place, left=left, unlink=unlink, **settings):
            if not left:
                raise Killed
            left.pop()
            unlink(*place, **settings)

        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", dying)
            with pytest.raises(Killed):
                use(run, resumed)
        assert use(run, True) in ([], ["a", "b", "c", "texts"])
        assert not run.with_name(f"{run.name}.work").exists()


def test_a_fit_that_is_killed_before_its_folder_is_marked_can_be_resumed(tmp_path):
    from coterie.runs import work

    (tmp_path / "run.work").mkdir()
    (tmp_path / "run.work" / ".work.json.0123456789ab").touch()  # not renamed yet
    with work.work_folder(tmp_path / "run", {}, resume=True):
        pass
    assert not (tmp_path / "run.work").exists()


def test_files_of_others_are_not_removed(texts, tmp_path):
    (tmp_path / "run.work").mkdir()
    (tmp_path / "run.work" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="files of somebody else"):
        fitted(texts, tmp_path / "run", memory=1 << 31)
    assert (tmp_path / "run.work" / "thesis.txt").read_text() == "mine"


def test_the_table_has_every_row_in_order(texts, tmp_path):
    table = pl.read_parquet(fitted(texts, tmp_path / "run", memory=1 << 31) / "assignments.parquet")
    assert table["id"].cast(pl.Int64).to_list() == list(range(3_000))
    empty = table.filter(pl.col("title").fill_null("") == "")
    assert empty["topic"].is_null().all()
    misspelt = table.filter(pl.col("title").fill_null("").str.contains("invioce"))["reason"]
    assert misspelt.str.contains("invioce → invoice").any()


def test_a_run_is_verified_on_another_engine(texts, tmp_path):
    run = fitted(texts, tmp_path / "run")  # in memory, in one process
    with open_executor("processes", 2) as workers:
        found = verify(run, workers=workers)
    assert found.identical, found


def test_who_interrupts_a_fit_is_told_how_it_goes_on(texts, tmp_path):
    command = [sys.executable, "-m", "coterie", "fit", str(texts), "--text", "title", "--topics", "4"]
    process = subprocess.Popen(
        [*command, "--memory", "2GB", "--out", "run"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not any(tmp_path.glob("run.work/*/*/read.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run.work; the same command with --resume goes on\n" in said
    again = subprocess.run(
        [*command, "--resume", "--out", "run"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "run" / "report.html").exists()
    assert not (tmp_path / "run.work").exists()
