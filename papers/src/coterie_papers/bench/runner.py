"""Runs the trials that the store lacks, in worker processes, and keeps each outcome as soon as it is there.

Workers are new processes with one BLAS thread each, so that CPU seconds mean the same however many of them
work beside each other. A worker ends when the process that started it does, however that ended.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

from coterie.errors import InputError
from coterie.progress import tell
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome, Trial, plain

#: For the environment of a process: numerical libraries that start no threads of their own.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
_STAGE = "experiments"


def run(
    trials: Sequence[Trial],
    store: Store,
    *,
    workers: int,
    kinds: Sequence[str] = (),
    prepared: Path | None = None,
) -> None:
    """Run the trials that the store has no outcome of, in this order.

    Ctrl-C loses no more than the trials that are running. `kinds` are names of the modules that register the
    kinds of these trials; workers import them. `prepared` is the folder in which workers keep collections
    that take long to prepare; by default it lies beside the store.
    """
    wanted = list(dict.fromkeys(trials))
    missing = [trial for trial in wanted if trial not in store]
    done, total = len(wanted) - len(missing), len(wanted)
    tell(_STAGE, done, total, "trials")
    if not missing:
        return
    folder = prepared or store.path.parent / "prepared"
    waiting = iter(missing)
    with _started(min(workers, len(missing)), folder, kinds) as crew:
        busy: dict[Connection, Trial] = {}
        for pipe, trial in zip(crew, waiting, strict=False):
            _hand_over(pipe, trial, busy)
        while busy:
            for pipe in cast(list[Connection], wait(list(busy))):
                store.add(_answer(pipe, busy.pop(pipe)))
                done += 1
                tell(_STAGE, done, total, "trials")
                following = next(waiting, None)
                if following is not None:
                    _hand_over(pipe, following, busy)


def _hand_over(pipe: Connection, trial: Trial, busy: dict[Connection, Trial]) -> None:
    busy[pipe] = trial
    try:
        pipe.send(trial)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise _gone(trial) from error


def _answer(pipe: Connection, trial: Trial) -> Outcome:
    try:
        what, content = pipe.recv()
    except (EOFError, ConnectionResetError) as error:
        raise _gone(trial) from error
    if what == "done":
        return Outcome(trial, *content)
    if what == "input":
        raise InputError(content)
    raise RuntimeError(f"the trial '{trial.key}' failed:\n{content}")


def _gone(trial: Trial) -> InputError:
    return InputError(
        f"the process that worked on '{trial.key}' was ended from outside, as systems do that run out of "
        "memory; start again with fewer --workers: what is done is kept"
    )


@contextmanager
def _started(n: int, folder: Path, kinds: Sequence[str]) -> Iterator[dict[Connection, BaseProcess]]:
    """Workers by the pipe to each; they are gone at the end, also in the middle of a trial."""
    context = multiprocessing.get_context("spawn")
    crew: dict[Connection, BaseProcess] = {}
    try:
        with environment(ONE_THREAD), _deaf_to_ctrl_c():
            for _ in range(n):
                here, there = context.Pipe()
                process: BaseProcess = context.Process(
                    target=_serve, args=(there, folder, kinds), daemon=True
                )
                process.start()
                there.close()  # so that the end of the worker is the end of the pipe
                crew[here] = process
        yield crew
    finally:
        for pipe, process in crew.items():
            process.terminate()
            process.join()
            pipe.close()


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes begun meanwhile ignore Ctrl-C, also while they import: the first of them decides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Within it the environment has these values; afterwards it is what it was."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# --- in the worker


def _serve(pipe: Connection, folder: Path, kinds: Sequence[str]) -> None:
    """Work on trials as they come, until no more can come."""
    from coterie_papers.bench.collections import keep_in

    threading.Thread(target=_end_with_parent, daemon=True).start()
    keep_in(folder)
    for module in kinds:
        import_module(module)
    while True:
        try:
            trial = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_reply(trial))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reply(trial: Trial) -> tuple[str, Any]:
    try:
        return "done", perform(trial)
    except InputError as error:
        return "input", str(error)
    except Exception:  # whatever it is, the process that waits must tell it
        return "failed", traceback.format_exc()


def perform(trial: Trial) -> tuple[dict[str, Any], float, tuple[str, ...]]:
    """Do what a trial says: values, CPU seconds, and the warnings that were given."""
    from coterie_papers.bench.collections import collection
    from coterie_papers.bench.kinds import KINDS

    work = KINDS[trial.kind]
    if trial.collection:
        collection(trial.collection)  # preparing is not the trial's time
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        began = time.process_time()
        values = plain(work(trial))
        seconds = time.process_time() - began
    remarks = [str(w.message) for w in given if issubclass(w.category, UserWarning | RuntimeWarning)]
    return values, seconds, tuple(dict.fromkeys(remarks))
