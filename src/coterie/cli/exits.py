"""How a command ends: what went wrong in one sentence on standard error, and the exit code for it."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from coterie.cli.shared import safe
from coterie.errors import InputError

DONE, FAULT, WRONG = 0, 1, 2
INTERRUPTED, CLOSED, TERMINATED = (128 + number for number in (2, 13, 15))  # as shells count signals

#: For the end of the help page. Each line is a code and its meaning.
CODES = f"""\b
Exit codes:
  {DONE}    done
  {FAULT}    a fault of coterie itself; the traceback says where
  {WRONG}    the input or the command is wrong, or there is no room for the result
  {INTERRUPTED}  interrupted (Ctrl-C)
  {CLOSED}  the reader of the output went away, as with "| head"
  {TERMINATED}  terminated (SIGTERM)"""

#: click's way to show the help page of a group without a command; not known to older versions of it.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


class _Terminated(KeyboardInterrupt):
    """SIGTERM; whatever cleans up after Ctrl-C cleans up after this."""


@contextmanager
def told() -> Iterator[None]:
    """Turn what a person can mend, signals and closed pipes into a sentence and an exit code.

    A fault of the program itself passes through, to end in a traceback.
    """
    _forgive_encodings()
    try:
        with _warnings_as_sentences(), _sigterm_raises():
            yield
            sys.stdout.flush()  # a pipe that is closed shows only when written to
    except (click.exceptions.Exit, _NO_ARGUMENTS):
        raise
    except BrokenPipeError:
        _write_no_more()
        raise click.exceptions.Exit(CLOSED) from None
    except (KeyboardInterrupt, click.Abort) as error:
        if sys.stderr.isatty():
            click.echo(err=True)  # behind the ^C that the terminal shows
        _say("interrupted; nothing was left half-written")
        raise click.exceptions.Exit(TERMINATED if isinstance(error, _Terminated) else INTERRUPTED) from None
    except (click.ClickException, InputError, MemoryError, OSError) as error:
        _say(_sentence(error))
        try:
            sys.stdout.flush()
        except OSError:
            _write_no_more()
        raise click.exceptions.Exit(WRONG) from None


def _say(sentence: str) -> None:
    # names of files and columns are somebody's writing
    with suppress(BrokenPipeError):
        click.echo(f"coterie: {safe(sentence)}", err=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, MemoryError):
        return "this takes more memory than there is; try a part of the texts, or a machine with more of it"
    return _trouble(error) if isinstance(error, OSError) else str(error)


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "coterie"
    return f"{message}{'' if message.endswith('?') else ';'} '{path} --help' tells how"


_ADVICE = {
    errno.ENOSPC: "make room there, or name a place with more room",
    errno.EDQUOT: "make room there, or name a place with more room",
    errno.EACCES: "choose a place that you may read and write",
    errno.EPERM: "choose a place that you may read and write",
    errno.EROFS: "choose a place that you may read and write",
}


def _trouble(error: OSError) -> str:
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    advice = _ADVICE.get(error.errno or 0, "check that the path is right, and try again")
    return f"{where}{error.strerror or error}; {advice}"


@contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    """What the library warns of is said as a sentence, without the line of code it comes from."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, UserWarning):
                _say(str(message))
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show
        yield


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def terminate(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _forgive_encodings() -> None:
    """A terminal that cannot show a character gets its number instead, and the command goes on."""
    if getattr(sys.stdout, "errors", "") == "strict" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _write_no_more() -> None:
    """Send what is still in the buffers nowhere: Python would complain about it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
