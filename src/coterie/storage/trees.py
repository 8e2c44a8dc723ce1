"""Whole folders: put on the disk, taken over, swapped, removed."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import shutil
import stat
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from coterie.errors import InputError

_AT_FDCWD = -100  # paths count from the working folder
_RENAME_EXCHANGE = 2  # Linux
_RENAME_SWAP = 2  # macOS

# a container may forbid a call that it does not know: that is EPERM, and a real lack of permission shows
# again in the renames that are tried instead
_CANNOT = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def flush(folder: Path, *, files: bool = True) -> None:
    """Wait until the disk has a folder with all that is in it, or only the names that are in it."""
    for root, _, names in os.walk(folder, topdown=False):
        for name in names if files else ():
            path = os.path.join(root, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                sync(path)
        flush_names(root)


def flush_names(folder: str | Path) -> None:
    """Wait until the disk has the names in one folder, where the system can promise that."""
    if os.name != "nt":
        sync(folder)


def carry(old: Path, new: Path, ours: Collection[str], *, inside: str = "") -> None:
    """Take over what is in `old` but not in `new`, except for the paths in `ours` and what is below them.

    Files become hard links, or copies where links are impossible. Folders that `ours` goes into (a/b names a
    file in folder a) are taken over only for the foreign files in them.
    """
    with os.scandir(old) as entries:
        for entry in entries:
            path, target = inside + entry.name, new / entry.name
            if path in ours:
                continue
            if entry.is_dir(follow_symlinks=False):
                _carry_folder(Path(entry.path), target, ours, path + "/")
            elif not os.path.lexists(target):
                new.mkdir(parents=True, exist_ok=True)
                _carry_file(entry, target)


def _carry_folder(old: Path, new: Path, ours: Collection[str], inside: str) -> None:
    if os.path.lexists(new) and (new.is_symlink() or not new.is_dir()):
        return
    made = not new.exists() and not any(path.startswith(inside) for path in ours)
    if made:
        new.mkdir()
    carry(old, new, ours, inside=inside)
    if made:
        shutil.copystat(old, new)  # afterwards: the folder may be read-only


def _carry_file(entry: os.DirEntry[str], target: Path) -> None:
    if entry.is_symlink():
        os.symlink(os.readlink(entry.path), target)
        return
    try:
        os.link(entry.path, target)
    except OSError:
        if not entry.is_file(follow_symlinks=False):  # to copy a pipe would wait for ever
            raise InputError(
                f"{entry.path} is neither a file nor a folder and cannot be kept; move it away and try again"
            ) from None
        shutil.copy2(entry.path, target)
        sync(target)


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


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as the system lets us; a link is never followed."""
    _remove(folder)
    if not os.path.lexists(folder):
        return
    with suppress(OSError):
        os.chmod(folder, 0o700)  # a folder that may not be written keeps its files
        for root, folders, _ in os.walk(folder):
            for name in folders:
                if not os.path.islink(path := os.path.join(root, name)):
                    os.chmod(path, 0o700)
    _remove(folder)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        # Ctrl-C at the wrong moment makes it close a descriptor twice, and that hides the Ctrl-C
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise


def sync(path: str | Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
