"""The one exception for input a person can mend; its message says where, what and what to do."""

from __future__ import annotations

from typing import Literal

#: Who reads a message: somebody who writes Python, types commands, or looks at the live page.
Reader = Literal["python", "command", "page"]


class InputError(ValueError):
    """Input that cannot be used as it is. The message names the place, the value and the way out.

    Where the way out depends on who reads it, `python`, `command` and `page` each say it in their words.

    >>> error = InputError("there is no column 'a'", python="pass column='b'", command="use --text b")
    >>> print(error, error.said("command"), error.said("page"), sep="\\n")
    there is no column 'a'; pass column='b'
    there is no column 'a'; use --text b
    there is no column 'a'
    """

    def __init__(self, message: str, *, python: str = "", command: str = "", page: str = ""):
        self.fact = message
        self.advice: dict[Reader, str] = {"python": python, "command": command, "page": page}
        super().__init__(self.said("python"))

    def said(self, reader: Reader) -> str:
        """The message for this reader."""
        advice = self.advice[reader]
        return f"{self.fact}; {advice}" if advice else self.fact

    def replaced(self, old: str, new: str) -> InputError:
        """The same error about a file that people know by another name."""
        return type(self)(self.fact.replace(old, new), **self.advice)


def shown(value: object) -> str:
    """A value for a sentence: in one line, not too long."""
    return " ".join(repr(value)[:80].split())


def check_flag(name: str, value: object) -> bool:
    """True or False as such; numbers and arrays, which may be neither, are refused."""
    if type(value).__name__ not in ("bool", "bool_"):  # numpy has its own, by either name
        raise InputError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)
