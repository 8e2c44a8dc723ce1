"""Who wants to know how far the work is: a listener for the time of a `with`, and what tells it.

The library tells; whoever calls it may listen. A listener hears and changes nothing: what it returns is
dropped, what it raises ends the listening and not the work.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """`done` of `total` units of a stage; the total is None where nobody knows it."""

    stage: str
    done: int
    total: int | None
    unit: str = ""


Listener = Callable[[Step], None]

_listener: ContextVar[Listener | None] = ContextVar("coterie_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, work of the library in this thread is told to the listener, and to no one else.

    >>> heard = []
    >>> with listening(heard.append):
    ...     for text in counted(["late parcel", "refund"], "reading", unit="texts"):
    ...         pass
    >>> [(step.stage, step.done, step.total) for step in heard]
    [('reading', 0, 2), ('reading', 1, 2), ('reading', 2, 2)]
    """
    fault: Exception | None = None

    def guarded(step: Step) -> None:
        nonlocal fault
        if fault is not None:
            return
        # while it listens nobody does: a listener that calls the library must not be told of that
        inner = _listener.set(None)
        try:
            listener(step)
        except Exception as error:  # whatever it is, it is the listener's, and no reason to lose a fit
            fault = error
        finally:
            _listener.reset(inner)

    outer = _listener.set(guarded)
    try:
        yield
    finally:
        _listener.reset(outer)
    if fault is not None:
        warnings.warn(f"the listener to progress failed: {fault!r}", RuntimeWarning, stacklevel=3)


@contextmanager
def unheard() -> Iterator[None]:
    """Within it nothing is told: for work that is a part of a stage and no stage of its own."""
    outer = _listener.set(None)
    try:
        yield
    finally:
        _listener.reset(outer)


def tell(stage: str, done: int, total: int | None = None, unit: str = "") -> None:
    """Say how far a stage is; next to nothing happens where nobody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(Step(stage, done, total, unit))


def counted(items: Iterable[T], stage: str, total: int | None = None, unit: str = "") -> Iterator[T]:
    """The same items; told at the start and after each of them is done with.

    The total is the number of items where they have one.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    tell(stage, 0, total, unit)
    for done, item in enumerate(items, start=1):
        yield item
        tell(stage, done, total, unit)
