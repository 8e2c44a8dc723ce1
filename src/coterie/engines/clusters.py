"""Dask as an executor: a cluster on this machine, or a scheduler that runs already.

Dask runs a task again when its worker dies, up to `distributed.scheduler.allowed-failures` times (3 unless
configured otherwise). What a function raises is not tried again: it would raise the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from coterie.engines.processes import DYING, TRIES, interrupts_kept_from_children
from coterie.errors import InputError

T = TypeVar("T")

#: Seconds to wait for a scheduler to answer, and for its first worker to appear.
CONNECT_SECONDS = 20
WORKER_SECONDS = 120
_CLOSE_SECONDS = 10


def distributed() -> Any:
    """The package, or a sentence that says how to install it."""
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            'the engine "dask" needs a package that is missing; run: pip install "coterie[dask]"'
        ) from error
    return distributed


class Tasks(Executor):
    """A client as an executor whose tasks all end.

    That of Dask does not settle a task whose result was lost together with the scheduler: whoever waits for
    it waits forever.
    """

    def __init__(self, client: Any):
        self._client = client

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run a function on a worker; again, if that dies."""
        outer: Future[T] = Future()
        with _losses_told(self._client):
            task = self._client.submit(function, *args, **kwargs, pure=False, retries=0)

        async def pass_on() -> None:
            try:
                with _losses_told(self._client):
                    value = await task
            except BaseException as error:
                if outer.set_running_or_notify_cancel():
                    outer.set_exception(error)
            else:
                if outer.set_running_or_notify_cancel():
                    outer.set_result(value)

        def cancel(outer: Future[T]) -> None:
            if outer.cancelled() and not task.done():
                task.cancel()

        outer.add_done_callback(cancel)
        self._client.loop.add_callback(pass_on)
        return outer

    def count(self) -> int:
        """How many tasks run at once."""
        with _losses_told(self._client):
            return sum(self._client.nthreads().values())


@contextmanager
def _losses_told(client: Any) -> Iterator[None]:
    """Errors of Dask itself as sentences; what functions raise comes back as a value."""
    try:
        yield
    except (Exception, asyncio.CancelledError) as error:
        if type(error).__name__ == "KilledWorker":
            raise InputError(DYING.format(tries=TRIES)) from error
        lost = isinstance(error, OSError | CancelledError | asyncio.CancelledError)
        if lost or client.status == "closed":  # then it fails in any way
            raise InputError(
                "the Dask scheduler was lost, and the tasks with it; start it again, and the work"
            ) from error
        raise


@contextmanager
def _quiet() -> Iterator[None]:
    """Let Dask log nothing but what ends it: what matters is said in an error."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    handlers = {handler for name in names for handler in logging.getLogger(name).handlers}
    before = {handler: handler.level for handler in handlers}
    try:
        for handler in handlers:
            handler.setLevel(logging.CRITICAL)
        yield
    finally:
        for handler, level in before.items():
            handler.setLevel(level)


@contextmanager
def local_client(workers: int) -> Iterator[Any]:
    """A client of a cluster on this machine: one process with one thread for each worker."""
    package = distributed()
    with interrupts_kept_from_children():  # the threads that are started here start the workers later
        cluster = package.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",  # any free port, seen from here alone
            silence_logs=logging.CRITICAL,  # what matters is said in an error
            env={"POLARS_MAX_THREADS": "1"},
        )
        client = package.Client(cluster)
    try:
        yield client
    finally:
        with suppress(TimeoutError):
            client.close(timeout=_CLOSE_SECONDS)
        with suppress(TimeoutError):
            cluster.close(timeout=_CLOSE_SECONDS)


@contextmanager
def remote_client(
    scheduler: str, connect_seconds: float | None = None, worker_seconds: float | None = None
) -> Iterator[Any]:
    """A client of a scheduler that runs already, once it has a worker with coterie."""
    connect_seconds = CONNECT_SECONDS if connect_seconds is None else connect_seconds
    worker_seconds = WORKER_SECONDS if worker_seconds is None else worker_seconds
    package = distributed()
    with _quiet(), _connected(package, scheduler, connect_seconds) as client:
        with _losses_told(client):
            try:
                client.wait_for_workers(1, timeout=worker_seconds)
            except TimeoutError as error:
                raise InputError(
                    f"the Dask scheduler at {scheduler} had no workers within {worker_seconds:g} seconds; "
                    "start some, then try again"
                ) from error
            check_installed(client)
        yield client


@contextmanager
def _connected(package: Any, scheduler: str, seconds: float) -> Iterator[Any]:
    try:
        client = package.Client(scheduler, timeout=seconds, set_as_default=False)
    # an assertion fails where a busy machine does not start the client's thread for ten seconds
    except (OSError, TimeoutError, ValueError, TypeError, AssertionError) as error:
        raise InputError(
            f"no Dask scheduler answered at {scheduler!r} within {seconds:g} seconds; "
            "check the address, such as tcp://host:8786, and that the scheduler runs"
        ) from error
    try:
        yield client
    finally:
        with suppress(OSError):  # it may be gone; a wait that is too long is such an error, too
            client.close(timeout=_CLOSE_SECONDS)


def check_installed(client: Any) -> None:
    """Refuse workers that cannot import the version of coterie that is used here."""
    from importlib.metadata import version

    def installed() -> str:  # goes there as code: a worker without coterie could not look it up
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("coterie")
        except PackageNotFoundError:
            return ""

    here = version("coterie")
    for address, there in client.run(installed).items():
        if there != here:
            found = f"has coterie {there}" if there else "cannot import coterie"
            raise InputError(
                f"the Dask worker at {address} {found}; install coterie {here} there, as it is here"
            )
