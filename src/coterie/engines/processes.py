"""A pool of processes that is opened again when one of them dies, and never outlives its parent.

`concurrent.futures.ProcessPoolExecutor` gives up as a whole when a process dies, and its processes wait for
work forever when the parent is killed. Here a task that was lost is submitted again, and each worker watches
a pipe that only the parent holds open: it ends with the parent, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from coterie.errors import InputError

T = TypeVar("T")

#: How often a task is tried. Each death of a worker counts for every task that ran then: nobody knows whose
#: fault it was. The same number as Dask's: it gives a task up when a fourth worker dies of it.
TRIES = 4

DYING = (
    "workers keep dying: {tries} of them died in the same task; they may have run out of memory: use fewer "
    "workers (--workers), or a machine with more memory"
)


class ProcessPool(Executor):
    """Processes that are replaced when they die, and end with their parent."""

    def __init__(self, workers: int):
        self.workers = workers
        self._lock = threading.Lock()
        self._closed = False
        self._context = multiprocessing.get_context("spawn")  # a fork would copy locks that threads hold
        self._lifeline, self._end = self._context.Pipe(duplex=False)
        self._pool = self._opened()

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a function in one of the processes; again, if that dies."""
        outer: Future[T] = Future()
        if self._closed:
            raise RuntimeError("the pool is closed")
        self._attempt(outer, lambda pool: pool.submit(function, *args, **kwargs), TRIES)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close the pool; with `cancel_futures`, end what still runs, too."""
        with self._lock:
            self._closed = True
        if cancel_futures:
            self._end.close()
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            self._end.close()

    def _opened(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, mp_context=self._context, initializer=begin_worker, initargs=(self._lifeline,)
        )

    def _attempt(
        self, outer: Future[T], submit: Callable[[ProcessPoolExecutor], Future[T]], tries: int
    ) -> None:
        """Submit a task whose outcome becomes that of `outer`."""
        with self._lock:
            pool = self._pool
        try:
            with interrupts_kept_from_children():
                inner = submit(pool)
        except BrokenExecutor:  # it broke since; the task itself was not tried
            self._replace(pool)
            return self._attempt(outer, submit, tries)
        except RuntimeError:  # it was closed since
            outer.cancel()
            return None

        def done(inner: Future[T]) -> None:
            if inner.cancelled() or (self._closed and isinstance(inner.exception(), BrokenExecutor)):
                outer.cancel()
                outer.set_running_or_notify_cancel()
            elif not isinstance(inner.exception(), BrokenExecutor):
                pass_on(inner, outer)
            elif tries > 1:
                self._replace(pool)
                self._attempt(outer, submit, tries - 1)
            elif outer.set_running_or_notify_cancel():
                outer.set_exception(InputError(DYING.format(tries=TRIES)))

        outer.add_done_callback(lambda _: inner.cancel())
        inner.add_done_callback(done)

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        with self._lock:
            if self._pool is broken and not self._closed:
                self._pool = self._opened()


def pass_on(inner: Future[T], outer: Future[T]) -> None:
    """Give the outcome of one future to another, unless nobody waits for it any more."""
    if not outer.set_running_or_notify_cancel():
        return
    error = inner.exception()
    if error is None:
        outer.set_result(inner.result())
    else:
        outer.set_exception(error)


def begin_worker(lifeline: Connection) -> None:
    """What each process does first: use one core, and end when the other side of the pipe is closed."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    parent = multiprocessing.parent_process()
    ends: list[Any] = [lifeline] if parent is None else [lifeline, parent.sentinel]

    def watch() -> None:
        wait(ends)
        os._exit(1)

    threading.Thread(target=watch, name="coterie lifeline", daemon=True).start()


@contextmanager
def interrupts_kept_from_children() -> Iterator[None]:
    """Processes and threads that are started here do not get Ctrl-C: the parent gets it and ends them.

    A terminal sends it to all processes; each would print where it was just then.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its first start would let them through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
