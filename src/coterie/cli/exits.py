"""How a command ends: an error is one sentence on standard error, and an exit code."""

from __future__ import annotations

import _thread
import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TextIO

import click

from coterie.cli.shared import safe
from coterie.errors import InputError

DONE, FAULT, WRONG = 0, 1, 2
INTERRUPTED, CLOSED, TERMINATED = (128 + number for number in (2, 13, 15))  # as shells count signals

#: For the end of the help page. Each line is a code and its meaning.
CODES = f"""\b
Exit codes:
  {DONE}    success
  {FAULT}    a bug in coterie; please report the traceback ('verify': something differs)
  {WRONG}    wrong input or command, or the result could not be written
  {INTERRUPTED}  interrupted (Ctrl-C)
  {CLOSED}  output closed early, as by "| head"
  {TERMINATED}  terminated (SIGTERM)"""

_LONGEST = 600  # characters of a sentence
_MORE_MEMORY = "try fewer texts, or a machine with more memory"

#: Raised by newer versions of click to show the help page of a group without a command.
_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


class _Terminated(KeyboardInterrupt):
    """SIGTERM; whatever cleans up after Ctrl-C cleans up after this."""


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors that users can fix, signals and closed pipes into one sentence and an exit code.

    Bugs pass through and end in a traceback.
    """
    _open_closed_streams()
    _escape_unprintable()
    try:
        with _warnings_as_sentences(), _signals_raise():
            yield
            sys.stdout.flush()  # a closed pipe is noticed only when written to
    except (click.exceptions.Exit, _NO_ARGUMENTS):
        raise
    except BrokenPipeError:
        _discard_output()
        raise click.exceptions.Exit(CLOSED) from None
    except (KeyboardInterrupt, click.Abort) as error:
        if sys.stderr.isatty():
            click.echo(err=True)  # behind the ^C that the terminal shows
        _print_error("interrupted; no incomplete files were left behind")
        raise click.exceptions.Exit(TERMINATED if isinstance(error, _Terminated) else INTERRUPTED) from None
    except (click.ClickException, InputError, MemoryError, OSError) as error:
        _print_error(_sentence(error))
        try:
            sys.stdout.flush()
        except OSError:
            _discard_output()
        raise click.exceptions.Exit(WRONG) from None
    except RuntimeError as error:
        if "can't start new thread" not in str(error):
            raise
        _print_error(f"the system allows no more threads; {_MORE_MEMORY}, or a higher limit (ulimit)")
        raise click.exceptions.Exit(WRONG) from None


def _print_error(sentence: str) -> None:
    # file and column names may contain control characters, and may be long
    sentence = safe(sentence)
    if len(sentence) > _LONGEST:
        sentence = f"{sentence[: _LONGEST - 200]} … {sentence[-200:]}"
    try:
        click.echo(f"coterie: {sentence}", err=True)
    except OSError:
        _discard_output(sys.stderr)


def _sentence(error: Exception) -> str:
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, MemoryError):
        return f"not enough memory; {_MORE_MEMORY}"
    if isinstance(error, InputError):
        return error.said("command")
    return _os_error(error) if isinstance(error, OSError) else str(error)


def _usage(error: click.ClickException) -> str:
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "coterie"
    return f"{message}{'' if message.endswith('?') else ';'} see '{path} --help'"


_ADVICE = {
    errno.ENOSPC: "free some space, or choose another disk",
    errno.EDQUOT: "free some space, or choose another disk",
    errno.EACCES: "choose a path that you may read and write",
    errno.EPERM: "choose a path that you may read and write",
    errno.EROFS: "choose a path that you may read and write",
}


def _os_error(error: OSError) -> str:
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    advice = _ADVICE.get(error.errno or 0, "check the path and try again")
    return f"{where}{error.strerror or error}; {advice}"


@contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    """Show warnings of the library as one sentence, without the line of code they come from."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *location: Any, **more: Any) -> None:
            if issubclass(category, UserWarning):
                _print_error(str(message))
            else:
                usual(message, category, *location, **more)

        warnings.showwarning = show
        yield


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the block by an exception.

    A library written in another language may swallow that exception, or raise one of its own instead. Then it
    is raised again.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main:
        yield  # only the main thread may set handlers
        return
    received: list[type[KeyboardInterrupt]] = []
    swallowed_before = sys.unraisablehook

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(_Terminated if number == signal.SIGTERM else KeyboardInterrupt)
        raise received[-1]

    def swallowed(error: Any) -> None:
        if not issubclass(error.exc_type, KeyboardInterrupt):
            return swallowed_before(error)
        # a moment later, when the library has returned: raised in here it would be lost again
        number = signal.SIGTERM if issubclass(error.exc_type, _Terminated) else signal.SIGINT
        return threading.Timer(0.05, send, (number,)).start()

    def send(number: int) -> None:
        if sys.unraisablehook is not swallowed:
            return  # the block has ended meanwhile
        if sys.platform == "win32":
            _thread.interrupt_main(number)
        else:
            signal.pthread_kill(main.ident or 0, number)

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, interrupt)}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it may be ignored
        before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = swallowed
    try:
        yield
    except click.exceptions.Exit:
        raise
    except BaseException as error:
        if received and not isinstance(error, KeyboardInterrupt):
            raise received[-1] from error
        raise
    finally:
        sys.unraisablehook = swallowed_before
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device; otherwise files would get their numbers."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _escape_unprintable() -> None:
    """Print characters that the terminal cannot show as escape codes instead of failing."""
    errors = getattr(sys.stdout, "errors", "")  # in the C locale those of what was read as bytes
    if errors in ("strict", "surrogateescape") and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_output(*streams: TextIO) -> None:
    """Discard what is still in the buffers, or Python would complain at exit and change the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams or (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
