"""Files that others may have touched: opened only if plain, read only up to a limit, JSON only if plain.

What the system says about them is put in the words of a person.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from coterie.errors import InputError

MAX_JSON_BYTES = 1 << 28
MAX_JSON_VALUES = 8_000_000
"""Brackets, braces and commas: an object of a few bytes takes hundreds of bytes of memory."""

MAX_DIGITS = 100
_PIECE = 1 << 20
AGAIN = "copy it again from its source, or fit and save again"
ELSEWHERE = "choose another folder"

_WORDS = {
    errno.ENOSPC: ("the disk is full", "free some space or choose another folder"),
    errno.EDQUOT: ("your disk quota is used up", "free some space or choose another folder"),
    errno.EFBIG: ("a file would be larger than this system allows", ELSEWHERE),
    errno.EROFS: ("the file system is read-only", ELSEWHERE),
    errno.EACCES: ("permission denied", "change the permissions or choose another folder"),
    errno.EPERM: ("permission denied", "change the permissions or choose another folder"),
    errno.ENOTDIR: ("part of its path is a file", ELSEWHERE),
    errno.EEXIST: ("it already exists", "choose another name"),
    errno.ENAMETOOLONG: ("its name is too long", "choose a shorter name"),
    errno.EIO: ("the disk reports an error", "check the disk or choose another folder"),
    errno.EXDEV: ("it is on a different file system than its parent folder", "choose a folder inside it"),
    errno.EBUSY: ("the system is using it", "close what has it open, or choose a folder inside it"),
    errno.ELOOP: ("its links form a loop", ELSEWHERE),
    errno.ENOENT: ("it does not exist", "check the path"),
    errno.EISDIR: ("it is a folder", "check the path"),
    errno.EMFILE: ("too many files are open", "close some and try again"),
}

DEVICE_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""Faults of the place that is written to, whatever file they are reported for."""


def checksum(path: str | Path) -> str:
    """The SHA-256 of a file, read piece by piece.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "empty"
    >>> path.touch()
    >>> checksum(path)[:16]
    'e3b0c44298fc1c14'
    """
    digest = hashlib.sha256()
    with opened(Path(path)) as (file, _):
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """An existing plain file and its size; what the system refuses meanwhile is reported in one sentence."""
    try:
        # a pipe would wait for a writer, for ever
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{path} is not a plain file; {AGAIN}")
            yield file, status.st_size
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing; {AGAIN}") from error
    except OSError as error:
        raise cannot(path, "read", error) from error


def spelled(path: str | Path) -> str:
    r"""A path as text; bytes of it that are not UTF-8 become escape codes.

    >>> spelled("caf\udce9.csv")
    'caf\\xe9.csv'
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    with opened(path) as (file, size):
        if size > MAX_JSON_BYTES:
            raise InputError(
                f"{path} has {size:,} bytes, more than the {MAX_JSON_BYTES:,} that can be read; {AGAIN}"
            )
        data = file.read(size)
    return parse(data, path)


def parse(data: bytes, path: Path) -> dict[str, Any]:
    """The object in JSON text: strictly by the standard, each key once, no number beyond what floats hold."""
    try:
        check_json(data)
        parsed = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_constant,
            parse_int=_integer,
            parse_float=_finite,
        )
        if b"\\ud" in data.lower():
            json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{path} is damaged: half a character (a lone surrogate); {AGAIN}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is damaged: byte {error.start} is not UTF-8; {AGAIN}") from error
    except RecursionError as error:
        raise InputError(f"{path} is damaged: it is nested too deeply; {AGAIN}") from error
    except MemoryError as error:
        raise InputError(f"{path} does not fit into memory; {AGAIN}") from error
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}; {AGAIN}") from error
    if not isinstance(parsed, dict):
        raise InputError(f"{path} is damaged: it contains a {type(parsed).__name__}, not an object; {AGAIN}")
    return parsed


def check_json(data: bytes) -> None:
    """Raise ValueError if JSON text is larger than what is ever read."""
    if len(data) > MAX_JSON_BYTES:
        raise ValueError(f"more than {MAX_JSON_BYTES:,} bytes of JSON")
    if sum(map(data.count, (b"[", b"{", b","))) > MAX_JSON_VALUES:
        raise ValueError(f"more than {MAX_JSON_VALUES:,} values in JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice[:50]!r} is there twice")
    return values


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


# --- what the system says


def number(error: BaseException) -> int:
    """The number of the system's error, which polars tells only in words; 0 if there is none."""
    code = re.search(r"\(os error (\d+)\)", str(error))
    return getattr(error, "errno", None) or (int(code[1]) if code else 0)


def cannot(path: str | Path, verb: str, error: BaseException) -> InputError:
    """The sentence for a file or folder that cannot be "written", "read" and so on."""
    code = number(error)
    what, remedy = _WORDS.get(code, ("", ""))
    if verb == "read":
        remedy = "check the path and its permissions"
    what = what or (os.strerror(code) if code else (str(error).splitlines() or [type(error).__name__])[0])
    return InputError(f"{path} could not be {verb}: {what}; {remedy or ELSEWHERE}")


@contextmanager
def faults_reported(path: str | Path) -> Iterator[None]:
    """What the system refuses while a file or folder is written is an error that names it."""
    try:
        yield
    except OSError as error:
        raise cannot(path, "written", error) from error


def same_file(old: Path, new: Path) -> None:
    """The same file in another folder: a second name for it, or a copy where there are no such names."""
    try:
        os.link(old, new)
    except OSError:
        shutil.copyfile(old, new)
