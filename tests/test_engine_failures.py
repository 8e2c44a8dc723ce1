"""What can go wrong on a cluster, with real processes: the same bytes in the end, or one sentence."""

import os
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from dask_processes import DEADLINE, DaskProcesses, fit_command, until, write_files
from engine_fits import written

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here"),
]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("texts"))


@pytest.fixture(scope="module")
def undisturbed(texts, tmp_path_factory):
    """A run that nothing happened to."""
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    assert ended(fit_command(texts, run, "--memory", "2GB")) == (0, "")
    return run


@pytest.fixture
def dask(tmp_path):
    (tmp_path / "dask").mkdir()
    with DaskProcesses(tmp_path / "dask") as processes:
        yield processes


@pytest.fixture
def out(tmp_path):
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared" / "run"


def ended(command):
    """The exit code and what was said; nothing of the command is left running."""
    try:
        _, said = command.communicate(timeout=DEADLINE)
    finally:
        command.kill()
    assert "Traceback" not in said
    until(lambda: not group_of(command), 20)
    return command.returncode, said


def group_of(command):
    try:
        os.killpg(command.pid, 0)
    except ProcessLookupError:
        return False
    return True


def sentences(said):
    """What a command said, without how it goes on."""
    return [line for line in said.splitlines() if "with --resume goes on" not in line]


def files_in(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def reached(out, step, many):
    """Wait until so many results of a step are written: "tasks" while terms are counted, then "passes-blocks"."""
    work = out.with_name("run.work")
    until(lambda: sum(1 for _ in work.glob(f"*/{step}/*")) >= many)


def names_beside(out):
    return sorted(path.name for path in out.parent.iterdir())


def on_workers(dask, workers):
    """A client of the test's own, once there are so many workers."""
    client = distributed.Client(dask.address, set_as_default=False)
    client.wait_for_workers(workers, timeout=DEADLINE)
    return client


def test_a_worker_that_joins_is_used(dask, texts, undisturbed, out):
    dask.start(None)
    command = fit_command(texts, out, "--scheduler", dask.address)
    reached(out, "passes-blocks", 1)
    command.send_signal(signal.SIGSTOP)  # until the other has joined
    dask.start_worker()
    with on_workers(dask, 2) as client:
        command.send_signal(signal.SIGCONT)
        assert ended(command) == (0, "")
        executed = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert min(executed.values()) > 10
    assert written(out) == written(undisturbed)


def test_a_worker_that_is_slow_changes_nothing(dask, texts, undisturbed, out):
    slow, _ = dask.start(None, None)
    with on_workers(dask, 2):
        command = fit_command(texts, out, "--scheduler", dask.address)
    for moment in (("tasks", 3), ("passes-blocks", 4)):
        reached(out, *moment)
        slow.send_signal(signal.SIGSTOP)
        with pytest.raises(subprocess.TimeoutExpired):  # it waits for the answers of this worker
            command.wait(2)
        slow.send_signal(signal.SIGCONT)
    assert ended(command) == (0, "")
    assert written(out) == written(undisturbed)


def test_a_worker_that_stops_for_good_is_replaced(dask, texts, undisturbed, out):
    # five minutes unless configured
    stopped, _ = dask.start(None, None, DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="3s")
    with on_workers(dask, 2):
        command = fit_command(texts, out, "--scheduler", dask.address)
        reached(out, "passes-blocks", 2)
    stopped.send_signal(signal.SIGSTOP)
    assert ended(command) == (0, "")
    assert written(out) == written(undisturbed)


@pytest.mark.parametrize("step", ["tasks", "passes-blocks"])
def test_a_scheduler_that_is_killed_and_restarted(dask, texts, undisturbed, out, step):
    """Tasks that were on their way are lost, and the command says so; between two passes it goes on."""
    dask.start(None)
    command = fit_command(texts, out, "--scheduler", dask.address)
    reached(out, step, 3)
    dask.kill_scheduler()
    dask.start(None)
    code, said = ended(command)
    if code:
        lost = "coterie: the Dask scheduler was lost, and the tasks with it; start it again, and the work"
        assert (code, sentences(said)) == (2, [lost])
        assert names_beside(out) == ["run.work"]
        assert ended(fit_command(texts, out, "--scheduler", dask.address, "--resume")) == (0, "")
    assert written(out) == written(undisturbed)
    assert names_beside(out) == ["run"]


def test_a_cluster_without_workers_is_given_up(dask, texts, out):
    (only,) = dask.start(None)
    command = fit_command(texts, out, "--scheduler", dask.address)
    reached(out, "passes-blocks", 2)
    only.kill()
    code, said = ended(command)
    gone = "coterie: all workers are gone, and none came within 4 seconds; start some, then try again"
    assert (code, sentences(said)) == (2, [gone])
    assert names_beside(out) == ["run.work"]


def test_a_worker_that_may_not_write_large_files_is_named(dask, texts, undisturbed, out):
    dask.start(3_000)
    code, said = ended(fit_command(texts, out, "--scheduler", dask.address))
    (told,) = sentences(said)
    assert code == 2
    assert "run.work" in told
    assert "could not be written: a file would be larger than this system allows" in told
    assert f"(a worker on {os.uname().nodename})" in told
    assert names_beside(out) == ["run.work"]
    assert ended(fit_command(texts, out, "--memory", "2GB", "--resume")) == (0, "")
    assert written(out) == written(undisturbed)


@contextmanager
def small_disk(folder: Path, size: str):
    if shutil.which("mount") is None or os.geteuid():
        pytest.skip("only root can mount a small disk")
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={size}", "coterie-test", str(folder)]
    if subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_named(dask, texts, undisturbed, out):
    """The disk of the work folder is full while workers count; then somebody makes room."""
    dask.start(None)
    with small_disk(out.parent, "400k"):
        code, said = ended(fit_command(texts, out, "--scheduler", dask.address))
        (told,) = sentences(said)
        assert code == 2
        assert str(out) in told
        assert "could not be written: the disk is full" in told
        assert names_beside(out) == ["run.work"]
        subprocess.run(["mount", "-o", "remount,size=100m", str(out.parent)], check=True)
        assert ended(fit_command(texts, out, "--memory", "2GB", "--resume")) == (0, "")
        assert written(out) == written(undisturbed)


@pytest.mark.parametrize(("step", "removed"), [("tasks", False), ("passes-blocks", True)])
def test_a_work_folder_that_disappears_is_told(dask, texts, undisturbed, out, step, removed):
    """Removed, or moved away; the run that was there before stays."""
    shutil.copytree(undisturbed, out)
    before = files_in(out)
    dask.start(None)
    command = fit_command(texts, out, "--scheduler", dask.address)
    work = out.with_name("run.work")
    reached(out, step, 2)
    away = work.rename(out.parent.with_name("moved away"))
    if removed:
        shutil.rmtree(away)
    code, said = ended(command)
    told = f"coterie: {work} disappeared while the fit was working there; check the disk, then fit again"
    assert (code, said) == (2, told + "\n")
    assert names_beside(out) == ["run"]
    assert files_in(out) == before
