"""Progress of long work: the library reports steps, and callers may listen.

`shown` is the listener that people see: a bar in a notebook or a terminal. `TopicModel.fit` shows it by
itself in a notebook and at an interactive prompt, and nowhere else (`automatic`).

A listener cannot change the work: its return value is ignored, and an error in it ends the listening but not
the work.
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
    """`done` of `total` units of a stage; the total is None if it is unknown."""

    stage: str
    done: int
    total: int | None
    unit: str = ""


Listener = Callable[[Step], None]

_listener: ContextVar[Listener | None] = ContextVar("coterie_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report the progress of work in this thread to `listener`, and to no other listener.

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
        # a listener that calls the library must not be called for that
        inner = _listener.set(None)
        try:
            listener(step)
        except Exception as error:  # an error of the listener is no reason to lose a fit
            fault = error
        finally:
            _listener.reset(inner)

    outer = _listener.set(guarded)
    try:
        yield
    finally:
        _listener.reset(outer)
    if fault is not None:
        warnings.warn(f"the progress listener failed: {fault!r}", RuntimeWarning, stacklevel=3)


@contextmanager
def shown(quiet: bool = False) -> Iterator[None]:
    """Show a bar with the current stage of work that takes more than a moment, until the end of the block.

    In a notebook it is part of the cell, else on standard error if that is a terminal; otherwise, or if
    `quiet`, nothing is shown.
    """
    from coterie.progress.display import bar_here

    bar = None if quiet else bar_here()
    if bar is None:
        yield
        return
    try:
        with listening(bar.update):
            yield
    finally:
        bar.close()


@contextmanager
def automatic() -> Iterator[None]:
    """Show a bar where a person is waiting and nobody listens yet; scripts stay silent."""
    from coterie.progress.display import somebody_waits

    with shown(quiet=_listener.get() is not None or not somebody_waits()):
        yield


@contextmanager
def silent() -> Iterator[None]:
    """Report nothing: for work that is part of another stage."""
    outer = _listener.set(None)
    try:
        yield
    finally:
        _listener.reset(outer)


def tell(stage: str, done: int, total: int | None = None, unit: str = "") -> None:
    """Report how far a stage is; costs next to nothing if nobody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(Step(stage, done, total, unit))


def counted(items: Iterable[T], stage: str, total: int | None = None, unit: str = "") -> Iterator[T]:
    """Yield the same items, and report progress at the start and after each.

    The total defaults to the number of items, if they have a length.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    tell(stage, 0, total, unit)
    for done, item in enumerate(items, start=1):
        yield item
        tell(stage, done, total, unit)
