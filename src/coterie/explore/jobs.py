"""Work that takes longer than a request: edits in a thread, fits in a process of their own, one at a time.

A job holds its run from the moment it is asked for: nobody else changes that run until it has ended. A fit
can be cancelled at any time, for a run folder is replaced as a whole or not at all.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Literal

from coterie.errors import InputError
from coterie.explore.guard import FAULT, Changed, Missing, Refused
from coterie.explore.schemas_changes import Job
from coterie.explore.workspace import Workspace
from coterie.progress import Step, listening
from coterie.storage.folder import sweep
from coterie.storage.temporary import TemporaryFolder

Kind = Literal["edit", "undo", "refit", "fit"]
State = Literal["waiting", "running", "done", "failed", "cancelled"]

#: Jobs that are remembered after they have ended.
_REMEMBERED = 100
#: Seconds that a worker has to clean up after it was told to end.
PATIENCE = 3.0
_log = logging.getLogger("coterie.explore")


class Cancelled(Exception):
    """Raised by work that was told to end, and did."""


@dataclass
class Handle:
    """A job as its work sees it: whom to tell how far it is, and whether to go on."""

    id: str
    kind: Kind
    run: str
    title: str
    state: State = "waiting"
    step: Step = field(default_factory=lambda: Step("starting", 0, None))
    begun: float | None = None
    stage_begun: float = 0.0
    ended: float | None = None
    error: str | None = None
    version: str | None = None
    cancelled: Event = field(default_factory=Event)
    final: bool = False  # from here on it is finished, come what may
    given_up: Callable[[], None] | None = None
    lock: Lock = field(default_factory=Lock)

    def tell(self, step: Step) -> None:
        """Say how far the work is."""
        if step.stage != self.step.stage or step.done < self.step.done:
            self.stage_begun = time.monotonic()
        self.step = step

    def go_on(self, final: bool = False) -> None:
        """Raise if the job was cancelled; after a final step it cannot be any more."""
        with self.lock:
            if self.cancelled.is_set():
                raise Cancelled
            self.final = final

    def shown(self) -> Job:
        """The job as the API tells it."""
        now, step = time.monotonic(), self.step
        running = self.state == "running"
        remaining = None
        if running and step.total and step.done and (spent := now - self.stage_begun) > 0.2:
            remaining = round(spent * max(step.total - step.done, 0) / step.done, 1)
        seconds = 0.0 if self.begun is None else (self.ended or now) - self.begun
        return Job(
            id=self.id,
            kind=self.kind,
            run=self.run,
            title=self.title,
            state=self.state,
            stage=step.stage if running else "",
            done=step.done,
            total=step.total,
            unit=step.unit,
            seconds=round(seconds, 2),
            remaining=remaining,
            error=self.error,
            version=self.version,
        )


#: Does the work, and returns the version of the run that it has written.
Work = Callable[[Handle], str]


class Jobs:
    """All jobs of a server."""

    def __init__(self, workspace: Workspace):
        self._workspace = workspace
        self._jobs: dict[str, Handle] = {}
        self._lock = Lock()
        self._fits: queue.Queue[tuple[Handle, Work]] = queue.Queue()
        self._fitter: Thread | None = None
        self._closed = False

    def edit(self, kind: Kind, run: str, title: str, work: Work) -> Job:
        """Begin work in a thread; the server does not end before it has."""
        handle = self._new(kind, run, title)
        Thread(target=self._do, args=(handle, work), name=f"coterie-{kind}").start()
        return handle.shown()

    def fit(
        self, kind: Kind, run: str, title: str, work: Work, given_up: Callable[[], None] | None = None
    ) -> Job:
        """Put work behind the fits that wait; `given_up` is called if it is cancelled before it began."""
        handle = self._new(kind, run, title)
        handle.given_up = given_up
        self._fits.put((handle, work))
        with self._lock:
            if self._fitter is None:
                self._fitter = Thread(target=self._fit_on, name="coterie-fits", daemon=True)
                self._fitter.start()
        return handle.shown()

    def all(self) -> list[Job]:
        """Jobs, the newest first."""
        with self._lock:
            return [handle.shown() for handle in reversed(self._jobs.values())]

    def get(self, id: str) -> Job:
        """One job."""
        return self._find(id).shown()

    def cancel(self, id: str) -> Job:
        """End a job, unless it has ended or is writing its result."""
        handle = self._find(id)
        self._cancel(handle)
        return handle.shown()

    def close(self) -> None:
        """Cancel what can be cancelled."""
        with self._lock:
            self._closed = True
            handles = list(self._jobs.values())
        for handle in handles:
            self._cancel(handle)
        until = time.monotonic() + PATIENCE + 1
        while time.monotonic() < until and any(handle.state == "running" for handle in handles):
            time.sleep(0.02)

    def _new(self, kind: Kind, run: str, title: str) -> Handle:
        if self._closed:
            raise Changed("the server is shutting down; no new work is started")
        handle = Handle(secrets.token_hex(8), kind, run, title)
        self._workspace.reserve(run)
        with self._lock:
            self._jobs[handle.id] = handle
            ended = [other.id for other in self._jobs.values() if other.ended is not None]
            for old in ended[: max(len(ended) - _REMEMBERED, 0)]:
                del self._jobs[old]
        return handle

    def _find(self, id: str) -> Handle:
        with self._lock:
            handle = self._jobs.get(id)
        if handle is None:
            raise Missing(f"there is no job {id[:40]!r} any more")
        return handle

    def _cancel(self, handle: Handle) -> None:
        with handle.lock:
            if handle.ended is not None or handle.final:
                return
            handle.cancelled.set()
            if handle.state == "waiting":
                self._end(handle, "cancelled")
                if handle.given_up is not None:
                    handle.given_up()

    def _fit_on(self) -> None:
        while True:
            self._do(*self._fits.get())

    def _do(self, handle: Handle, work: Work) -> None:
        with handle.lock:
            if handle.ended is not None:
                return
            handle.state, handle.begun = "running", time.monotonic()
            handle.stage_begun = handle.begun
        state: State = "failed"
        try:
            with listening(handle.tell):
                handle.version = work(handle)
            state = "done"
        except Cancelled:
            state = "cancelled"
        except (InputError, Refused) as error:
            handle.error = self._workspace.message(error)
        except MemoryError:
            handle.error = "not enough memory; try fewer texts"
        except Exception as error:
            handle.error = FAULT
            _log.error("%s of %s failed", handle.kind, handle.run, exc_info=error)
        finally:
            self._end(handle, state)

    def _end(self, handle: Handle, state: State) -> None:
        self._workspace.release(handle.run)
        handle.ended = time.monotonic()
        handle.begun = handle.begun or handle.ended
        handle.state = state


# --- fits


def in_own_process(job: dict[str, Any], folder: Path, handle: Handle) -> None:
    """Let a worker do a fit, hear from it how far it is, and end it if the job is cancelled.

    `folder` is the run that it writes. What the worker leaves behind when it is killed is removed.
    """
    handle.go_on()
    temporary = TemporaryFolder("fit")
    private = temporary.path
    try:
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", "coterie.explore.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(private), "TEMP": str(private), "TMP": str(private)},
        )
        with worker:
            watch = Thread(target=_end_if_cancelled, args=(worker, handle), daemon=True)
            watch.start()
            result = _hear({**job, "folder": str(folder), "private": str(private)}, worker, handle)
        watch.join()
    finally:
        temporary.close()
        with suppress(OSError):
            sweep(folder)
    if "written" in result:
        return
    if handle.cancelled.is_set():
        raise Cancelled
    if "error" in result:
        raise InputError(result["error"])
    raise RuntimeError(result.get("fault") or f"the worker ended with code {worker.returncode}")


def _hear(job: dict[str, Any], worker: subprocess.Popen[bytes], handle: Handle) -> dict[str, Any]:
    """Hand the job over and listen until the worker has ended; its last words are the result."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    result: dict[str, Any] = {}
    with suppress(BrokenPipeError):
        worker.stdin.write(json.dumps(job).encode() + b"\n")
        worker.stdin.flush()  # and left open: a worker whose input ends has lost its server, and ends too
    for line in worker.stdout:
        heard = json.loads(line)
        if "stage" in heard:
            handle.tell(Step(**heard))
        else:
            result = heard
    worker.wait()
    with suppress(BrokenPipeError):  # it was ended before it had read its job
        worker.stdin.close()
    return result


def _end_if_cancelled(worker: subprocess.Popen[bytes], handle: Handle) -> None:
    while worker.poll() is None:
        if handle.cancelled.wait(0.1):
            worker.terminate()
            try:
                worker.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                worker.kill()
            return
