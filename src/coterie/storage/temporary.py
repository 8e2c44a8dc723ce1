"""Temporary folders for copies of texts: private, and removed even if their process was killed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, Self, get_args

from coterie.errors import InputError
from coterie.storage.files import DEVICE_FAULTS, cannot, number
from coterie.storage.locks import Lock, take

Kind = Literal["input", "texts", "counts", "rows", "uploads", "fit", "export", "explore", "model"]
_NAME = re.compile(rf"coterie-(?:{'|'.join(get_args(Kind))})-[a-z0-9_]{{8}}")


class TemporaryFolder:
    """A new folder at `path`; it is removed by `close`, together with this object, or when the process ends.

    It is locked as long as its process lives, however that ends: the next one to make such a folder removes
    those that nobody holds any more.

    >>> with TemporaryFolder("texts") as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """

    def __init__(self, kind: Kind):
        sweep()
        self.path, lock = _made(kind)
        self._end = weakref.finalize(self, _remove, self.path, lock)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder; a second time does nothing."""
        self._end()

    def __copy__(self) -> Self:
        return self  # there is one folder

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[[Path], object], tuple[Path]]:
        return _Borrowed, (self.path,)


class _Borrowed(TemporaryFolder):
    """A folder of another object, or of another process, which removes it."""

    def __init__(self, path: Path):
        self.path = path

    def close(self) -> None:
        """Nothing: it is not ours."""


@contextmanager
def report_full(folder: Path | None = None) -> Iterator[None]:
    """If writing fails because the disk of a folder is full, say so; by default the temporary folder."""
    try:
        yield
    except Exception as error:
        code = number(error)
        if code not in DEVICE_FAULTS or isinstance(error, InputError):
            raise
        if folder is not None:
            raise cannot(folder, "written", error) from error
        raise InputError(
            f"temporary files could not be written to {tempfile.gettempdir()}: {os.strerror(code)}; "
            "free some space, or set TMPDIR to another folder"
        ) from error


def sweep() -> None:
    """Remove the temporary folders of processes that were killed; nobody holds their locks any more."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_abandoned(entry)


def _remove_abandoned(entry: os.DirEntry[str]) -> None:
    # where users have no numbers, each has temporary files of their own
    if hasattr(os, "getuid") and entry.stat(follow_symlinks=False).st_uid != os.getuid():
        return
    if lock := take(Path(entry.path)):
        if lock.real:
            shutil.rmtree(entry.path, ignore_errors=True)
        lock.release()


def _made(kind: Kind) -> tuple[Path, Lock]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=f"coterie-{kind}-"))  # nobody else may look into it
        # before it is locked another process may take it for abandoned
        with suppress(FileNotFoundError):
            if lock := take(path):
                return path, lock


def _remove(path: Path, lock: Lock) -> None:
    shutil.rmtree(path, ignore_errors=True)
    lock.release()
