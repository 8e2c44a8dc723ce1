"""Dask as an executor: a cluster on this machine, or a scheduler that runs already.

Dask runs a task again when its worker dies, up to `distributed.scheduler.allowed-failures` times (3 unless
configured otherwise). What a function raises is not tried again: it would raise the same.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from coterie.engines.processes import interrupts_kept_from_children
from coterie.errors import InputError

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
    package = distributed()
    connect_seconds = CONNECT_SECONDS if connect_seconds is None else connect_seconds
    worker_seconds = WORKER_SECONDS if worker_seconds is None else worker_seconds
    try:
        client = package.Client(scheduler, timeout=connect_seconds, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise InputError(
            f"no Dask scheduler answered at {scheduler!r} within {connect_seconds:g} seconds; "
            "check the address, such as tcp://host:8786, and that the scheduler runs"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=worker_seconds)
        except TimeoutError as error:
            raise InputError(
                f"the Dask scheduler at {scheduler} had no workers within {worker_seconds:g} seconds; "
                "start some, then try again"
            ) from error
        check_installed(client)
        yield client
    finally:
        with suppress(TimeoutError):
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


def died(error: BaseException) -> bool:
    """Whether Dask gave a task up because workers die."""
    return type(error).__name__ == "KilledWorker"


def lost(error: BaseException) -> bool:
    """Whether the scheduler is gone, and the tasks with it."""
    return type(error).__name__ in ("FutureCancelledError", "CommClosedError", "FuturesCancelledError")
