"""Locks on folders that the system releases when their process ends, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class Lock:
    """A lock on a folder; `real` is False where the system or the file system has none."""

    _descriptor: int | None = None

    def __init__(self, descriptor: int | None):
        self._descriptor = descriptor
        self.real = descriptor is not None

    def release(self) -> None:
        """Give the lock up; a second time does nothing."""
        if self._descriptor is not None and sys.platform != "win32":
            descriptor, self._descriptor = self._descriptor, None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked child may still have the descriptor open
            finally:
                os.close(descriptor)

    def __del__(self) -> None:
        self.release()  # Ctrl-C may come before anybody else could do it


def take(folder: Path) -> Lock | None:
    """Lock a folder; None if another holds the lock, or if the folder was replaced just now.

    The lock is on the folder itself, not on its name: it goes with it through renames.
    """
    if sys.platform == "win32":
        os.stat(folder)
        return Lock(None)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    lock = Lock(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        same = os.path.samestat(os.fstat(descriptor), os.lstat(folder))
    except (BlockingIOError, FileNotFoundError):
        same = False
    except OSError:  # some network file systems have no locks
        lock.release()
        return Lock(None)
    if not same:
        lock.release()
        return None
    return lock
