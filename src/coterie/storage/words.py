"""What the system says about files, in the words of a person."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from coterie.errors import InputError

ELSEWHERE = "choose another folder"

_WORDS = {
    errno.ENOSPC: ("the disk is full", "free some space or choose another folder"),
    errno.EDQUOT: ("your disk quota is used up", "free some space or choose another folder"),
    errno.EFBIG: ("a file would be larger than this system allows", ELSEWHERE),
    errno.EROFS: ("the file system is read-only", ELSEWHERE),
    errno.EACCES: ("permission denied", "change the permissions or choose another folder"),
    errno.EPERM: ("permission denied", "change the permissions or choose another folder"),
    errno.ENOTDIR: ("a part of its path is a file", ELSEWHERE),
    errno.EEXIST: ("something of that name is there already", "choose another name"),
    errno.ENAMETOOLONG: ("its name is too long", "choose a shorter name"),
    errno.EIO: ("the disk reports an error", "check the disk or choose another folder"),
    errno.EXDEV: ("it is on another file system than the folder around it", "name a folder inside it"),
    errno.EBUSY: ("the system is using it", "close what has it open, or name a folder inside it"),
    errno.ELOOP: ("its links lead in a circle", ELSEWHERE),
    errno.ENOENT: ("it does not exist", "check the path"),
    errno.EISDIR: ("it is a folder", "check the path"),
    errno.EMFILE: ("too many files are open", "close some and try again"),
}

DEVICE_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""Faults of the place that is written to, whatever file they are reported for."""


def number(error: BaseException) -> int:
    """The number of the system's error, which polars tells only in words; 0 if there is none."""
    told = re.search(r"\(os error (\d+)\)", str(error))
    return getattr(error, "errno", None) or (int(told[1]) if told else 0)


def cannot(path: str | Path, verb: str, error: BaseException) -> InputError:
    """The sentence for a file or folder that cannot be "written", "read" and so on."""
    code = number(error)
    what, remedy = _WORDS.get(code, ("", ""))
    if verb == "read":
        remedy = "check the path and its permissions"
    what = what or (os.strerror(code) if code else (str(error).splitlines() or [type(error).__name__])[0])
    return InputError(f"{path} cannot be {verb}: {what}; {remedy or ELSEWHERE}")
