"""Workers: any `concurrent.futures.Executor` under one small interface.

Threads, processes, Dask and MPI all take a function and give a future. What differs is hidden here: whether
functions are packed, what happens when a worker dies, and how many tasks run at once.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from coterie.engines import clusters
from coterie.engines.processes import ProcessPool
from coterie.engines.remote import packed, run, unpacked
from coterie.engines.threads import usable_threads
from coterie.errors import InputError

S = TypeVar("S")
T = TypeVar("T")

Kind = Literal["threads", "processes", "dask"]
KINDS: tuple[Kind, ...] = ("threads", "processes", "dask")

#: Seconds for which the size of a cluster is taken as known: asking costs a message.
_SIZE_SECONDS = 1.0


@dataclass(frozen=True)
class Workers:
    """An executor, and what callers need to know about it.

    >>> with open_executor("threads", 2) as workers:
    ...     workers.submit(lambda x: x + 1, 2).result()
    3
    """

    executor: Executor
    #: Whether functions run in this process, and nothing is copied.
    in_process: bool
    count: Callable[[], int]
    #: Seconds after which a cluster that has no workers is given up; None waits for some without end.
    patience: float | None = None

    def n_workers(self) -> int:
        """How many tasks run at once; a cluster may have grown since the last call."""
        return max(self.count(), 1)

    def submit(self, function: Callable[..., T], *args: Any) -> Future[T]:
        """Run a function on a worker. It may be a lambda or a closure; so may its arguments hold some."""
        if self.in_process:
            return self.executor.submit(function, *args)
        return self._submit_packed(packed(function), args)

    def _submit_packed(self, function: bytes, args: tuple[Any, ...]) -> Future[Any]:
        outer: Future[Any] = Future()
        inner = _submitted(self.executor, function, packed(args))
        outer.add_done_callback(lambda _: inner.cancel())
        inner.add_done_callback(lambda _: _settle(inner, outer))
        return outer


@contextmanager
def open_executor(kind: Kind, workers: int | None = None, scheduler: str | None = None) -> Iterator[Workers]:
    """Workers of a kind, which end with the context: threads, processes of this machine, or Dask.

    `workers` is their number, by default the number of cores. With `scheduler`, such as
    ``"tcp://host:8786"``, a Dask cluster that runs already is used, with the workers that it has.
    """
    if kind not in KINDS:
        raise InputError(f'the engine must be "threads", "processes" or "dask", got {kind!r}')
    if scheduler is not None and kind != "dask":
        raise InputError(f'a scheduler belongs to the engine "dask", not to {kind!r}')
    if scheduler is not None:
        if workers is not None:
            raise InputError(
                f"the scheduler at {scheduler} has the workers that it has; leave out their number"
            )
        with clusters.remote_client(scheduler) as client:
            yield replace(workers_of(client), patience=clusters.WORKER_SECONDS)
        return
    number = _checked(workers)
    if kind == "dask":
        with clusters.local_client(number) as client:
            yield replace(workers_of(client), patience=clusters.WORKER_SECONDS)
        return
    pool = ThreadPoolExecutor(number) if kind == "threads" else ProcessPool(number)
    try:
        yield Workers(pool, kind == "threads", lambda: number)
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def workers_of(executor: Any) -> Workers:
    """Workers of your own: a `distributed.Client`, or any `concurrent.futures.Executor`.

    >>> with ThreadPoolExecutor(2) as threads:
    ...     list(ordered(workers_of(threads), str.upper, ["a", "b"]))
    ['A', 'B']

    They stay yours: nothing here closes them. A `ProcessPoolExecutor` that breaks stays broken; the processes
    of `open_executor` are replaced.
    """
    if isinstance(executor, Workers):
        return executor
    client = executor if hasattr(executor, "get_executor") else getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        tasks = clusters.Tasks(client)
        return Workers(tasks, False, tasks.count)
    if not isinstance(executor, Executor):
        raise InputError(
            "workers must be a distributed.Client or a concurrent.futures.Executor, "
            f"got {type(executor).__name__}"
        )
    return Workers(executor, isinstance(executor, ThreadPoolExecutor), lambda: _size(executor))


def ordered(workers: Workers, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """`map(function, items)` on workers: same results, same order.

    Two items for each worker are taken ahead of the consumer, so that a long input stays a stream.
    """
    sent = None if workers.in_process else packed(function)
    waiting: deque[Future[T]] = deque()
    ahead, asked = 0, -_SIZE_SECONDS
    try:
        for item in items:
            if time.monotonic() - asked >= _SIZE_SECONDS:
                ahead, asked = 2 * workers.n_workers(), time.monotonic()
            while len(waiting) >= ahead:
                yield _result(workers, waiting.popleft())
            waiting.append(
                workers.submit(function, item) if sent is None else workers._submit_packed(sent, (item,))
            )
        while waiting:
            yield _result(workers, waiting.popleft())
    finally:  # the consumer stopped early, or a function failed: do not start what is not started
        for future in waiting:
            future.cancel()
        if workers.in_process:
            wait(waiting)


def _result(workers: Workers, future: Future[T]) -> T:
    """What a future gives, unless there is nobody to work on it."""
    if workers.patience is None:
        return future.result()
    end = time.monotonic() + workers.patience
    while not wait([future], _SIZE_SECONDS).done:
        if workers.count():
            end = time.monotonic() + workers.patience
        elif time.monotonic() > end:
            raise InputError(
                f"all workers are gone, and none came within {workers.patience:g} seconds; "
                "start some, then try again"
            )
    return future.result()


def _checked(workers: int | None) -> int:
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be a whole number of at least 1, got {workers!r}")
    return usable_threads(workers)


def _size(executor: Executor) -> int:
    """The number of workers of an executor: public where there is a name for it."""
    for name in ("num_workers", "_max_workers"):  # mpi4py; the executors of Python, and loky
        if isinstance(number := getattr(executor, name, None), int):
            return number
    return 1


def _submitted(executor: Executor, function: bytes, arguments: bytes) -> Future[bytes]:
    try:
        return executor.submit(run, function, arguments)
    except BrokenExecutor as error:
        raise InputError(
            "the pool of processes is broken: one of them died; open a new pool, or use "
            "coterie.engines.open_executor, which does so by itself"
        ) from error


def _settle(inner: Future[bytes], outer: Future[Any]) -> None:
    """Unpack what came back into the future that the caller has."""
    if inner.cancelled():
        outer.cancel()
    if not outer.set_running_or_notify_cancel():
        return
    try:
        outer.set_result(unpacked(inner.result()))
    except BaseException as error:
        outer.set_exception(_said(error))


def _said(error: BaseException) -> BaseException:
    """A pool that broke as a sentence; what functions raise stays what it is."""
    if not isinstance(error, BrokenExecutor):
        return error
    said = InputError("the pool of processes is broken: one of them died; it may have run out of memory")
    said.__cause__ = error
    return said
