"""Let two folders swap their names in one step, where the system can."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

_AT_FDCWD = -100  # paths count from the working folder
_RENAME_EXCHANGE = 2  # Linux
_RENAME_SWAP = 2  # macOS

# a container may forbid a call that it does not know: that is EPERM, and a real lack of permission shows
# again in the renames that are tried instead
_CANNOT = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def exchange(one: Path, other: Path) -> bool:
    """Swap two existing paths; False where the system or the file system has no such step.

    Whoever looks sees both names before or both names after, whatever happens to this process or the machine.
    """
    call = _call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))


@functools.cache
def _call() -> Callable[[bytes, bytes], int] | None:
    """The function of the C library, or None where there is none."""
    if not sys.platform.startswith(("linux", "darwin")):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    try:
        if sys.platform == "darwin":
            swap = library.renamex_np
            swap.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]
            return lambda one, other: int(swap(one, other, _RENAME_SWAP))
        rename = library.renameat2
    except AttributeError:  # an old C library
        return None
    rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return lambda one, other: int(rename(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE))
