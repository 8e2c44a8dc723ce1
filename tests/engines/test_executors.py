"""Workers of every kind: the same results in the same order, and an end when one is due."""

import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.engines import clusters, open_executor, ordered, workers_of
from coterie.errors import InputError
from dask_processes import DaskProcesses

KINDS = ["threads", "processes", "dask"]


class Odd(Exception):
    """An error that pickle writes but cannot read back."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


@pytest.fixture(scope="module")
def opened():
    """Workers of each kind, two of them, opened when they are first asked for."""
    contexts, workers = {}, {}

    def of(kind):
        if kind not in workers:
            contexts[kind] = open_executor(kind, 2)
            workers[kind] = contexts[kind].__enter__()
        return workers[kind]

    yield of
    for context in contexts.values():
        context.__exit__(None, None, None)


@pytest.fixture(
    params=[pytest.param(kind, marks=[] if kind == "threads" else pytest.mark.process) for kind in KINDS]
)
def workers(request, opened):
    return opened(request.param)


def test_lambdas_and_closures_run_and_come_back(workers):
    shift = 3
    give = workers.submit(lambda x: lambda y: x + y + shift, 4).result(60)
    assert give(10) == 17


def test_results_come_in_order(workers):
    def slow_at_first(x):
        time.sleep(0.2 if x == 0 else 0)
        return x * x

    assert list(ordered(workers, slow_at_first, range(20))) == [x * x for x in range(20)]


@settings(max_examples=20, deadline=None)
@given(items=st.lists(st.integers() | st.text() | st.none(), max_size=12))
def test_ordered_is_map(opened, items):
    for kind in KINDS[:2]:
        assert list(ordered(opened(kind), repr, items)) == list(map(repr, items))


def test_a_long_input_stays_a_stream(workers):
    taken = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield number

    results = ordered(workers, lambda x: x, items())
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert len(taken) <= 3 + 2 * 2
    results.close()


def test_two_workers_are_two(workers):
    assert workers.n_workers() == 2


def test_errors_are_those_of_the_function(workers):
    def refuse(_):
        raise InputError("there is no column 'a'", command="use --text b")

    with pytest.raises(InputError) as caught:
        list(ordered(workers, refuse, [1]))
    assert caught.value.said("command") == "there is no column 'a'; use --text b"


def test_the_place_of_an_error_is_told(workers):
    if workers.in_process:
        pytest.skip("has it anyway")

    def somewhere_deep():
        raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        workers.submit(somewhere_deep).result(60)
    assert "somewhere_deep" in str(caught.value.__cause__)


def test_an_error_that_cannot_be_read_back_is_told_in_words(workers):
    def fail():
        raise Odd("this", "that")

    with pytest.raises(Exception, match="this and that"):
        workers.submit(fail).result(60)
    assert workers.submit(int, "1").result(60) == 1


def test_warnings_of_workers_are_given_here(workers, capfd):
    def warn():
        warnings.warn("late parcel", UserWarning, stacklevel=1)
        return 1

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert workers.submit(warn).result(60) == 1
    assert [str(each.message) for each in caught] == ["late parcel"]
    assert "late parcel" not in capfd.readouterr().err


def test_a_worker_uses_one_core(workers):
    if workers.in_process:
        pytest.skip("threads share the cores")

    def threads():
        import threading

        import numpy as np
        import polars as pl
        from threadpoolctl import threadpool_info

        from coterie.engines.threads import ordered_map

        np.ones((4, 4)) @ np.ones((4, 4))
        blas = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
        mapped = set(ordered_map(lambda _: threading.get_ident(), range(8), 4))
        return max(blas), pl.thread_pool_size(), len(mapped)

    assert workers.submit(threads).result(60) == (1, 1, 1)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be kept away here")
def test_workers_do_not_get_interrupts(workers):
    if workers.in_process:
        pytest.skip("threads get none anyway")

    def kept_away():
        import signal

        return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

    assert workers.submit(kept_away).result(60)


@contextmanager
def pool(kind):
    if kind == "threads":
        with ThreadPoolExecutor(3) as executor:
            yield executor
    else:
        with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as executor:
            yield executor


@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS[:2])
def test_executors_of_others_work(kind):
    with pool(kind) as executor:
        workers = workers_of(executor)
        assert workers.n_workers() == 3
        assert workers.in_process == (kind == "threads")
        assert list(ordered(workers, lambda x: x + 1, range(5))) == [1, 2, 3, 4, 5]


@pytest.mark.process
def test_a_pool_of_others_that_breaks_is_told():
    with pool("processes") as executor:
        workers = workers_of(executor)
        with pytest.raises(InputError, match="pool of processes is broken"):
            workers.submit(lambda: os._exit(1)).result(60)
        with pytest.raises(InputError, match="open a new pool"):
            workers.submit(int)


@pytest.mark.process
def test_a_client_of_others_works(opened):
    client = opened("dask").executor._client
    for brought in (client, client.get_executor()):
        workers = workers_of(brought)
        assert workers.n_workers() == 2
        assert workers.submit(lambda: 5).result(60) == 5


def die_once(mark):
    """A task whose first attempts kill their worker, as a machine out of memory does."""

    def task(x):
        import os
        import signal
        from pathlib import Path

        if x == 3 and len(list(Path(mark).iterdir())) < 2:
            (Path(mark) / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return x * 2

    return task


@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS[1:])
def test_tasks_of_workers_that_die_are_done_again(kind, tmp_path, capfd):
    with open_executor(kind, 2) as workers:
        assert list(ordered(workers, die_once(str(tmp_path)), range(12))) == [2 * x for x in range(12)]
    assert len(list(tmp_path.iterdir())) == 2
    assert capfd.readouterr().err == ""


@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_task_that_always_kills_is_given_up(kind, tmp_path):
    def kill():
        import os
        import signal
        from pathlib import Path

        (Path(str(tmp_path)) / str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)

    with open_executor(kind, 2) as workers:
        with pytest.raises(InputError, match="workers keep dying"):
            workers.submit(kill).result(120)
        assert len(list(tmp_path.iterdir())) == 4
        assert workers.submit(int, "7").result(120) == 7


PARENT = """
import os, sys, time
from pathlib import Path
from coterie.engines import open_executor, ordered

def task(number, folder={folder!r}):
    import os, time
    from pathlib import Path
    Path(folder, str(os.getpid())).touch()
    time.sleep(600 if number < 2 else 0)  # the third worker has nothing to do any more

if __name__ == "__main__":
    with open_executor({kind!r}, 3) as workers:
        list(ordered(workers, task, range(3)))
"""


@contextmanager
def parent_with_busy_workers(kind, folder):
    (folder / "pids").mkdir()
    script = folder / "parent.py"
    script.write_text(PARENT.format(kind=kind, folder=str(folder / "pids")))
    process = subprocess.Popen(
        [sys.executable, str(script)], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    pids = []
    try:
        until(lambda: len(list((folder / "pids").iterdir())) == 3)
        pids = [int(path.name) for path in (folder / "pids").iterdir()]
        yield process, pids
    finally:
        for pid in [process.pid, *pids]:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()


def until(true, seconds=90):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("kind", KINDS[1:])
def test_workers_end_with_a_killed_parent(kind, tmp_path):
    with parent_with_busy_workers(kind, tmp_path) as (process, pids):
        assert all(map(alive, pids))
        process.kill()
        until(lambda: not any(map(alive, pids)), 20)


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("kind", KINDS[1:])
def test_interrupt_ends_parent_and_workers_without_a_mess(kind, tmp_path):
    with parent_with_busy_workers(kind, tmp_path) as (process, pids):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        process.wait(20)
        until(lambda: not any(map(alive, pids)), 10)
        said = process.stderr.read()
    assert process.returncode == -signal.SIGINT
    assert said.count("Traceback") == 1
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert "distributed" not in said.lower().replace("from distributed", "")


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="engine must be"), open_executor("spark"):
        pass
    with pytest.raises(InputError, match="workers must be a whole number"), open_executor("threads", 0):
        pass
    with (
        pytest.raises(InputError, match='belongs to the engine "dask"'),
        open_executor("threads", None, "tcp://x:1"),
    ):
        pass
    with pytest.raises(InputError, match="leave out their number"), open_executor("dask", 2, "tcp://x:1"):
        pass
    with pytest.raises(InputError, match=r"distributed\.Client or"):
        workers_of([])


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r'pip install "coterie\[dask\]"'), open_executor("dask", 1):
        pass


@pytest.mark.process
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "http://127.0.0.1:1", "tcp://"])
def test_a_scheduler_that_does_not_answer_is_named(monkeypatch, address):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 1)
    told = pytest.raises(InputError, match=r"no Dask scheduler answered at .* within 1 seconds")
    with told, open_executor("dask", scheduler=address):
        pass


@pytest.mark.process
def test_a_scheduler_that_runs_is_used_and_one_without_workers_named(monkeypatch):
    import distributed

    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        address = cluster.scheduler_address
        with open_executor("dask", scheduler=address) as workers:
            assert list(ordered(workers, lambda x: x + 1, range(3))) == [1, 2, 3]
            cluster.scale(2)
            until(lambda: workers.n_workers() == 2)
        cluster.scale(0)
        until(lambda: not cluster.scheduler.workers)
        monkeypatch.setattr(clusters, "WORKER_SECONDS", 1)
        told = pytest.raises(InputError, match="had no workers within 1 seconds")
        with told, open_executor("dask", scheduler=address):
            pass


@pytest.mark.process
def test_tasks_end_with_their_scheduler(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 5)
    with DaskProcesses(tmp_path) as dask:
        dask.start(None)
        with open_executor("dask", scheduler=dask.address) as workers:
            assert workers.submit(int, "1").result(60) == 1
            results = ordered(workers, lambda x: time.sleep(600 * x), range(3))
            next(results)
            dask.kill_scheduler()
            with pytest.raises(InputError, match="the Dask scheduler was lost, and the tasks with it"):
                next(results)
            until(lambda: workers.executor._client.status == "closed")
            with pytest.raises(InputError, match="the Dask scheduler was lost"):
                workers.submit(int, "1")
            with pytest.raises(InputError, match="the Dask scheduler was lost"):
                workers.n_workers()
    assert capfd.readouterr().err == ""


def test_dask_is_not_imported_unless_asked_for():
    code = "import sys, coterie.engines; print([name for name in sys.modules if name in ('dask', 'distributed')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
