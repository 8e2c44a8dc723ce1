"""Progress bars: one for notebooks, one for terminals."""

from __future__ import annotations

import html
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from coterie.progress import Step

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID
    from rich.text import Text

#: Seconds before the bar is shown: one that flashes up and goes is of no use.
PATIENCE = 1.5
_REFRESHES = 5
_SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


class Bar(Protocol):
    """What shows steps."""

    def update(self, step: Step) -> None:
        """Show a step."""

    def close(self) -> None:
        """Remove the bar."""


def bar_here() -> Bar | None:
    """The bar for this place: a notebook, a terminal, or None."""
    if (shell := _notebook()) is not None:
        return NotebookBar(shell.display_pub.publish)
    return TerminalBar() if sys.stderr.isatty() else None


def somebody_waits() -> bool:
    """Whether this is a notebook or an interactive prompt."""
    return _notebook() is not None or hasattr(sys, "ps1")


def _notebook() -> Any:
    """The shell of a notebook, or None; IPython is there if this is one, and is never imported."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if hasattr(shell, "kernel") else None


class NotebookBar:
    """A bar in the output of a cell, gone when the work is done; `publish` is that of IPython."""

    def __init__(self, publish: Callable[..., object]) -> None:
        self._publish = publish
        self._name = f"coterie-{uuid.uuid4().hex}"
        self._began = self._last = time.monotonic()
        self._open = False

    def update(self, step: Step) -> None:
        """Show the step, after `PATIENCE` seconds and not too often."""
        now = time.monotonic()
        if now - self._began >= PATIENCE and now - self._last >= 1 / _REFRESHES:
            self._last = now
            self._show(_markup(step))

    def close(self) -> None:
        """Remove the bar."""
        if self._open:
            self._show("")

    def _show(self, markup: str) -> None:
        data = {"text/html": markup, "text/plain": ""}
        self._publish(data=data, metadata={}, transient={"display_id": self._name}, update=self._open)
        self._open = True


def _markup(step: Step) -> str:
    """A step as HTML.

    >>> _markup(Step("reading", 3, 10, "texts"))
    'reading <progress value="3" max="10"></progress> 3/10 texts'
    """
    of = "" if step.total is None else f' value="{step.done}" max="{step.total}"'
    total = "" if step.total is None else f"/{step.total:,}"
    return (
        f"{html.escape(step.stage)} <progress{of}></progress> {step.done:,}{total} {html.escape(step.unit)}"
    )


class TerminalBar:
    """One bar for the current stage. A separate thread opens it, as a slow stage may report nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reported = threading.Event()
        self._over = threading.Event()
        self._step: Step | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._began = time.monotonic()
        self._opener = threading.Thread(target=self._open, daemon=True)
        self._opener.start()

    def update(self, step: Step) -> None:
        """Remember the latest step, and show it if the bar is open."""
        with self._lock:
            new = self._step is None or self._step.stage != step.stage or step.done < self._step.done
            self._step = step
            if self._bar is not None:
                self._show(step, new)
        self._reported.set()

    def close(self) -> None:
        """Remove the bar."""
        self._over.set()
        self._reported.set()
        self._opener.join()
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> None:
        if self._over.wait(PATIENCE):
            return
        self._reported.wait()
        if self._over.is_set():
            return
        bar = _progress()  # outside the lock: the first import of rich takes a while
        with self._lock:
            self._bar = bar
            if self._step is not None:
                self._show(self._step, True)
        bar.start()

    def _show(self, step: Step, new: bool) -> None:
        assert self._bar is not None
        if new:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(step.stage, total=step.total, unit=step.unit)
        if self._task is not None:
            self._bar.update(self._task, completed=step.done, total=step.total)


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    class Done(ProgressColumn):
        def render(self, task: Task) -> Text:
            return _text(_done(task))

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return _text(_rate(task))

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        Done(),
        Rate(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=_REFRESHES,
        # standard output is the result and may go to a file, so it must not pass through the bar's console
        redirect_stdout=False,
    )


def _text(plain: str) -> Text:
    from rich.text import Text

    return Text(plain)


def _done(task: Task) -> str:
    unit = task.fields["unit"]
    if unit == "bytes":
        of = "" if task.total is None else f" of {_size(task.total)}"
        return f"{_size(task.completed)}{of}"
    of = "" if task.total is None else f"/{task.total:,.0f}"
    return f"{task.completed:,.0f}{of} {unit}".rstrip()


def _rate(task: Task) -> str:
    speed = task.finished_speed or task.speed
    if not speed:
        return ""
    unit = task.fields["unit"]
    if unit == "bytes":
        return f"{_size(speed)}/s"
    number = f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"
    return f"{number} {unit}/s" if unit else f"{number}/s"


def _size(n_bytes: float) -> str:
    for name, size in _SIZES:
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {name}"
    return f"{n_bytes:,.0f} bytes"
