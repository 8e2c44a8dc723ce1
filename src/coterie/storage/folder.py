"""A folder that is replaced as a whole: a crash, Ctrl-C or a full disk leaves the old one or the new one.

The new folder is written beside the old one, under a hidden name, and put on the disk. Then the two swap
their names in one step. Where a system has no such step, the old one is moved aside for a moment; a process
that dies in that moment leaves it there, and `recover` puts it back.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from coterie.errors import InputError, shown
from coterie.storage import trees
from coterie.storage.files import DEVICE_FAULTS, cannot, faults_reported, number, spelled
from coterie.storage.locks import Lock, take
from coterie.storage.trees import exchange

T = TypeVar("T")

PATIENCE = 30.0  # seconds to wait for another process that is in the middle of a swap
PATIENCE_TO_CHANGE = 600.0  # seconds to wait for others that read the folder, change it and write it again
_GAP = 2.0  # seconds after which nobody is between two renames any more
_PAUSE = 0.01
_DAY = 24 * 3600
_LONGEST = 120  # bytes of a name that fits into a longer one on every file system
_ATTEMPTS = 50  # to read a folder that is being replaced
_POLITE_ATTEMPTS = 3  # of these; after that, those who replace it wait for the reader


class Outdated(InputError):
    """A folder is no longer the one that was read: another process has replaced it since."""


class FolderLock:
    """The right to change a folder, from reading it to writing it again; a context that gives it up.

    Whoever changes what is in a folder acquires it first, reads, and passes it to `replaced`. Others wait, so
    no change is lost. Readers need none: see `read_steadily`.
    """

    def __init__(self, folder: str | Path):
        self._target = _real_path(folder)
        self._lock: Lock | None = None
        self._seen: tuple[int, int, int] | None = None
        self._made = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._made:
            with suppress(OSError):
                os.rmdir(self._target)  # if nothing was written into it
        if self._lock is not None:
            self._lock.release()

    def acquire(self, *, make: bool = False) -> Self:
        """Wait until nobody else changes the folder; with `make`, one that is absent is made."""
        until = time.monotonic() + PATIENCE_TO_CHANGE
        while not self._acquired(make):
            if time.monotonic() > until:
                raise InputError(
                    f"{self._target} is being changed by another process; try again when that has finished"
                )
            time.sleep(_PAUSE)
        return self

    def _acquired(self, make: bool) -> bool:
        recover(self._target)
        try:
            self._lock = take(self._target)
        except FileNotFoundError:
            if not _absent(self._target):
                return False  # it is aside for a moment
            if make:
                with suppress(FileExistsError):
                    os.mkdir(self._target)
                    self._made = True
            return not make
        except OSError:  # no folder, or not to be read: whoever reads it says so
            return True
        if self._lock is not None:
            self._seen = _identity(self._target)
        return self._lock is not None

    def holds(self, target: Path) -> bool:
        """Whether this is the lock of the folder that has this path; where locks do not work, `Outdated`."""
        if self._lock is None:
            return False
        if not self._lock.real and self._seen != _identity(target):
            raise Outdated(f"{target} was changed by another process in the meantime; try again")
        return True


@contextmanager
def replaced(
    folder: str | Path, *, marker: str, ours: Collection[str] = (), lock: FolderLock | None = None
) -> Iterator[Path]:
    """Write a folder anew: yields an empty one, which takes its place when the block ends without exception.

    1. `folder` may be absent, empty, or hold a file called `marker`; any other is refused before any work,
       for it is not ours to replace. Behind a symbolic link, the folder that it leads to is replaced.
    2. The block writes into the folder yielded, `marker` among the rest. After an exception that folder is
       removed and `folder` stays as it was.
    3. What the old folder holds beyond `ours`, the paths that we write (a/b for a file in a folder; the name
       of a folder stands for all that is in it), belongs to the user and is taken over. What is in `ours` and
       was not written again is dropped.
    4. With `lock`, which may also be acquired within the block, nobody else changes the folder from then on.

    >>> import tempfile
    >>> run = Path(tempfile.mkdtemp()) / "run"
    >>> with replaced(run, marker="run.json") as new:
    ...     _ = (new / "run.json").write_text("{}")
    >>> [path.name for path in run.iterdir()]
    ['run.json']
    """
    target = _real_path(folder)
    if spelled(target) != str(target):
        raise InputError(f"{spelled(target)} cannot be written: the name is not UTF-8; choose another name")
    ours = frozenset(ours) | {marker}
    with faults_reported(folder):
        _refuse_foreign(target, marker)
        target.parent.mkdir(parents=True, exist_ok=True)
        recover(target)
        _refuse_foreign(target, marker)
        sweep(target)
    staging, own = _beside(target, "new"), None
    try:  # from here on, for Ctrl-C may come as soon as the folder is made
        with faults_reported(folder):
            own = _stage(staging)
        with _staging_faults_reported(folder, staging):
            yield staging
        if not (staging / marker).is_file():
            raise ValueError(
                f"the block has written no {marker!r}, without which the folder is not known as ours"
            )
        with faults_reported(folder):
            trees.flush(staging)
            _put(staging, target, marker, ours, lock)
    finally:
        trees.remove(staging)  # after an exchange this name leads to the old folder
        if own is not None:
            own.release()


def recover(folder: str | Path) -> None:
    """Put a folder back that a killed process had moved aside; readers and writers call this first."""
    target = _real_path(folder)
    until = time.monotonic() + _GAP
    while not os.path.lexists(target) and (asides := _leftovers(target, "old")):
        late = time.monotonic() > until
        try:
            _put_back(asides[-1], target, late)
        except FileNotFoundError:
            continue  # another process was quicker
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return
            raise InputError(
                f"{target} was interrupted while it was being written and cannot be restored "
                f"({error.strerror or error}); rename {asides[-1].path} to {target.name}"
            ) from error
        if late:
            return
        time.sleep(_PAUSE)


def read_steadily(folder: str | Path, read: Callable[[Path], T]) -> T:
    """`read(folder)`, and again if the folder was replaced meanwhile: no answer mixes old and new files."""
    target = _real_path(folder)
    for attempt in range(_ATTEMPTS):
        recover(target)
        lock = None
        if attempt >= _POLITE_ATTEMPTS:
            with suppress(OSError):
                lock = take(target)  # without it a reader could starve beside those who write all the time
        before = _identity(target)
        try:
            answer = read(Path(folder))
        except InputError:
            if _unchanged(target, before):
                raise
        else:
            if _unchanged(target, before):
                return answer
        finally:
            if lock is not None:
                lock.release()
    raise InputError(f"{folder} is being changed by another process; try again when that has finished")


class _Leftover(NamedTuple):
    """A folder beside the target, made by `replaced`."""

    made: int  # nanoseconds
    process: int
    path: Path


def _real_path(folder: str | Path) -> Path:
    """The real path, without links."""
    try:
        return Path(os.path.realpath(as_path(folder)))
    except (ValueError, OSError) as error:
        raise InputError(f"{str(folder)!r} is not a valid folder path: {error}") from error


def as_path(folder: str | Path) -> Path:
    """The path of a folder, whatever a caller has given."""
    if not isinstance(folder, (str, os.PathLike)):
        raise InputError(f"a folder must be given by its path, got {shown(folder)}")
    return Path(folder)


def _refuse_foreign(target: Path, marker: str) -> None:
    """Refuse what is not ours to replace.

    What is in the folder is read in one step: another process may be swapping it.
    """
    try:
        names = os.listdir(target)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        if not os.path.lexists(target):  # a part of its path is the file
            raise
        raise InputError(f"{target} is a file, not a folder; choose another name") from None
    if os.path.ismount(target):
        raise InputError(f"{target} is a mount point and cannot be replaced; choose a folder inside it")
    if _inside(target):
        raise InputError(
            f"{target} is the current folder and cannot be replaced; "
            "change to another folder, or choose a folder inside it"
        )
    if names and (marker not in names or (target / marker).is_dir()):
        raise InputError(
            f"{target} contains files but no {marker}, so it was not written by coterie and is not replaced; "
            "choose an empty or a new folder"
        )


def _inside(target: Path) -> bool:
    """Is the working folder the target or in it? It would be gone afterwards, under the feet of the user."""
    with suppress(FileNotFoundError):
        return Path.cwd().is_relative_to(target)
    return False


def _beside(target: Path, ending: str) -> Path:
    unique = f"{os.getpid()}-{time.time_ns()}-{secrets.token_hex(4)}"
    return target.with_name(f".{_stem(target)}.coterie-{unique}.{ending}")


def _stem(target: Path) -> str:
    name = os.fsencode(target.name)
    return target.name if len(name) <= _LONGEST else hashlib.sha256(name).hexdigest()


def _leftovers(target: Path, ending: str) -> list[_Leftover]:
    """Folders that `_beside` has named, the newest last."""
    pattern = re.compile(rf"\.{re.escape(_stem(target))}\.coterie-(\d+)-(\d+)-[0-9a-f]+\.{ending}")
    leftovers = []
    with suppress(FileNotFoundError), os.scandir(target.parent) as entries:
        for entry in entries:
            if (match := pattern.fullmatch(entry.name)) and entry.is_dir(follow_symlinks=False):
                leftovers.append(_Leftover(int(match[2]), int(match[1]), Path(entry.path)))
    return sorted(leftovers)


def _stage(staging: Path) -> Lock:
    """Make the folder and lock it; before it is locked another process may take it for a leftover."""
    while True:
        staging.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):
            if lock := take(staging):
                return lock


def sweep(target: Path) -> None:
    """Remove what killed processes have left beside a folder that `replaced` writes."""
    old = _leftovers(target, "old") if os.path.lexists(target) else []
    for leftover in [*old, *_leftovers(target, "new")]:
        with suppress(OSError):
            if lock := take(leftover.path):
                if lock.real or _abandoned(leftover):
                    trees.remove(leftover.path)
                lock.release()


def _abandoned(leftover: _Leftover) -> bool:
    """Is its process gone, as far as can be said without a lock?"""
    if os.name == "nt":
        return time.time_ns() - leftover.made > _DAY * 10**9
    try:
        os.kill(leftover.process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _put_back(aside: _Leftover, target: Path, late: bool) -> None:
    if lock := take(aside.path):
        try:
            if lock.real or late or _abandoned(aside):
                os.rename(aside.path, target)
        finally:
            lock.release()


def _put(staging: Path, target: Path, marker: str, ours: Collection[str], held: FolderLock | None) -> None:
    """Let the finished folder take the place of the old one, alone among all processes that try to."""
    if held is not None and held.holds(target):
        if not _exchanged(staging, target, marker, ours):
            raise Outdated(f"{target} was changed by another process in the meantime; try again")
        return
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            lock = take(target)
        except FileNotFoundError:
            recover(target)  # it may be aside for a moment
            if _absent(target) and _renamed(staging, target):
                return
            continue
        if lock is None:
            time.sleep(_PAUSE)
            continue
        try:
            if _exchanged(staging, target, marker, ours):
                return
        finally:
            lock.release()
    raise InputError(f"{target} is being written by another process; try again when that has finished")


def _exchanged(staging: Path, target: Path, marker: str, ours: Collection[str]) -> bool:
    """Swap the new folder with the old one, which is locked, and take over what is the user's."""
    _refuse_foreign(target, marker)
    os.chmod(staging, os.stat(target).st_mode & 0o7777 | 0o700)
    trees.carry(target, staging, ours)
    trees.flush(staging, files=False)
    return _swapped(staging, target, ours)


def _absent(target: Path) -> bool:
    """Is there no such folder, and none moved aside? Looked at three times: a listing may miss a rename."""
    for _ in range(3):
        if os.path.lexists(target) or _leftovers(target, "old"):
            return False
        time.sleep(_PAUSE)
    return not os.path.lexists(target)


def _renamed(staging: Path, target: Path) -> bool:
    """Give the new folder its name, unless another process has just given that name to its own."""
    try:
        os.rename(staging, target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    trees.flush_names(target.parent)
    return True


def _swapped(staging: Path, target: Path, ours: Collection[str]) -> bool:
    """Swap the two; False if another process was quicker."""
    # what the user puts into the old folder while it is being replaced is taken over after the swap
    if exchange(staging, target):
        trees.flush_names(target.parent)
        trees.carry(staging, target, ours)
        return True
    aside = _beside(target, "old")
    try:
        os.rename(target, aside)
        if not _renamed(staging, target):
            return False
        trees.carry(aside, target, ours)
        return True
    finally:
        if os.path.lexists(target):
            trees.remove(aside)
        else:
            os.rename(aside, target)


def _identity(target: Path) -> tuple[int, int, int] | None:
    """What tells a folder from the one that had its name before; the number alone is soon used again."""
    try:
        status = os.stat(target)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_ctime_ns


def _unchanged(target: Path, before: tuple[int, int, int] | None) -> bool:
    if before is None and _leftovers(target, "old"):
        return False  # it is aside for a moment
    return before == _identity(target)


@contextmanager
def _staging_faults_reported(folder: str | Path, staging: Path) -> Iterator[None]:
    """Report faults of files being written for the folder that people know; let other errors pass."""
    try:
        yield
    except OSError as error:
        ours = str(error.filename).startswith(str(staging)) or number(error) in DEVICE_FAULTS
        if not ours:
            raise
        raise cannot(folder, "written", error) from error
    except InputError as error:
        if str(staging) not in str(error):
            raise
        raise InputError(str(error).replace(str(staging), str(folder))) from error
