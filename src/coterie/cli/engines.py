"""The options of commands that work on many cores or machines: --engine, --workers, --scheduler."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coterie.errors import InputError

if TYPE_CHECKING:
    from coterie.engines.executors import Kind, Workers

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What a user chose; nothing is started before `open`."""

    kind: Kind = "threads"
    workers: int | None = None
    scheduler: str | None = None

    @property
    def chosen(self) -> bool:
        """Whether anything but the default was asked for."""
        return self != EngineChoice()

    def open(self) -> AbstractContextManager[Workers]:
        """Start the workers, or connect to them."""
        from coterie.engines.executors import open_executor

        return open_executor(self.kind, self.workers, self.scheduler)


def engine_options(command: Decorated) -> Decorated:
    """The options --engine, --workers and --scheduler; the command gets `engine`, an `EngineChoice`."""

    @click.option(
        "--engine",
        type=click.Choice(["threads", "processes", "dask"]),
        help="Where the work is done: threads of this process (default), processes of this machine, or Dask.",
    )
    @click.option(
        "--workers",
        metavar="N",
        type=click.IntRange(1, 10**5),
        help="Number of workers; by default one for each core.",
    )
    @click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a running Dask scheduler, such as tcp://host:8786, whose workers to use.",
    )
    @wraps(command)
    def chosen(
        *args: Any, engine: Kind | None, workers: int | None, scheduler: str | None, **kwargs: Any
    ) -> Any:
        return command(*args, engine=_choice(engine, workers, scheduler), **kwargs)

    return chosen  # type: ignore[return-value]


def _choice(engine: Kind | None, workers: int | None, scheduler: str | None) -> EngineChoice:
    if scheduler is not None:
        if engine not in (None, "dask"):
            raise InputError(f"--scheduler belongs to --engine dask, not to --engine {engine}")
        if workers is not None:
            raise InputError(
                "--workers and --scheduler cannot be combined: the scheduler has its own workers"
            )
        engine = "dask"
    return EngineChoice(engine or "threads", workers, scheduler)
