"""A call on its way to another process and back: one string of bytes each way.

Functions may be lambdas and closures, which only cloudpickle can write. What a function raises and what it
warns of come back as values: an error that cannot be read back would break a whole pool, and a warning of a
worker belongs to the caller, not on the standard error of some machine.
"""

from __future__ import annotations

import socket
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cloudpickle

from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError
from coterie.storage.files import DEVICE_FAULTS, number

_PROTOCOL = 5
#: `coterie.engines.threads` maps inside threads of this name on the thread itself: a worker is one core.
_WORKER_THREAD = "coterie-map worker"


class RemoteTraceback(Exception):
    """Where an error was raised on a worker; the cause of the same error at the caller."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""' if self.args else ""


def packed(value: Any) -> bytes:
    """A function or a tuple of arguments as bytes."""
    written: bytes = cloudpickle.dumps(value, protocol=_PROTOCOL)
    return written


def run(function: bytes, arguments: bytes) -> bytes:
    """Call a packed function on a worker: with one thread, and with its outcome packed."""
    with on_one_core(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            value = cloudpickle.loads(function)(*cloudpickle.loads(arguments))
            outcome = packed((True, value, _plain(caught)))
        except Exception as error:
            outcome = _failed(error, _plain(caught))
    return outcome


def unpacked(outcome: bytes) -> Any:
    """The value of a call; what it warned of is said here, what it raised is raised here."""
    succeeded, value, caught = cloudpickle.loads(outcome)
    for message in caught:
        warnings.warn(message, stacklevel=2)
    if succeeded:
        return value
    error, where = value
    raise error from RemoteTraceback(where)


def _failed(error: Exception, caught: list[Warning]) -> bytes:
    where = "".join(traceback.format_exception(error))
    if number(error.__cause__ or error) in DEVICE_FAULTS:  # the disks of workers differ
        error = InputError(f"{error} (a worker on {socket.gethostname()})")
    error = error.with_traceback(None)
    error.__cause__ = error.__context__ = None
    try:
        outcome = packed((False, (error, where), caught))
        cloudpickle.loads(outcome)  # an error whose parts are not its arguments cannot be read back
        return outcome
    except Exception:
        return packed((False, (RuntimeError(f"{type(error).__name__}: {error}"), where), caught))


def _plain(caught: list[warnings.WarningMessage]) -> list[Warning]:
    said = {(each.category, str(each.message)): each.message for each in caught}
    return [message for message in said.values() if isinstance(message, Warning)]


@contextmanager
def on_one_core() -> Iterator[None]:
    """A context for a worker that shares its machine with others: matrix products and maps use one thread."""
    thread = threading.current_thread()
    name, thread.name = thread.name, _WORKER_THREAD
    try:
        with one_blas_thread():
            yield
    finally:
        thread.name = name
