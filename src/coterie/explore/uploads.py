"""Files that were dropped on the page: kept in a private folder, looked at, fitted, removed.

The name that comes with a file is what people call it. No path is made of it: files lie here under a name of
their own, and only an ending that is known is kept, for it tells the format.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from threading import Lock

from starlette.concurrency import run_in_threadpool

from coterie.errors import InputError
from coterie.explore import schemas
from coterie.explore.preview import look_at
from coterie.explore.refusals import Changed, Invalid, Missing
from coterie.storage import locks

#: Files that wait to be fitted; the oldest goes when there are more.
_KEPT = 4
_PREFIX = "coterie-uploads-"
_ENDING = re.compile(r"\.(?:csv|tsv|tab|jsonl|ndjson|json|txt|text|log|parquet|pq|xlsx)(?:\.gz)?$", re.I)
_LONGEST = 120


@dataclass
class _File:
    path: Path
    shown: schemas.Upload
    in_use: bool = False


class Uploads:
    """The uploaded files of a server; they are gone when it ends."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._lock = Lock()
        self._folder: Path | None = None
        self._held: locks.Lock | None = None

    async def receive(self, name: str, body: AsyncIterator[bytes]) -> schemas.Upload:
        """Keep a file and look at it."""
        label = label_of(name)
        path = self._place() / f"{secrets.token_hex(8)}{_ending(label)}"
        try:
            size = await _keep(body, path)
            shown = await run_in_threadpool(look_at, path, path.name.split(".")[0], label, size)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        with self._lock:
            self._files[shown.id] = _File(path, shown)
            waiting = [id for id, file in self._files.items() if not file.in_use]
        for old in waiting[:-_KEPT]:
            self._remove(old)
        return shown

    def take(self, id: str) -> _File:
        """A file to be fitted; nobody else can take or remove it until it is given back or dropped."""
        with self._lock:
            file = self._find(id)
            file.in_use = True
            return file

    def give_back(self, id: str) -> None:
        """A file that was not fitted after all."""
        with self._lock:
            if id in self._files:
                self._files[id].in_use = False

    def drop(self, id: str) -> None:
        """Remove a file that was fitted."""
        self._remove(id)

    def delete(self, id: str) -> None:
        """Remove a file that waits."""
        with self._lock:
            self._find(id)
        self._remove(id)

    def close(self) -> None:
        """Remove all files."""
        with self._lock:
            self._files.clear()
            folder, self._folder = self._folder, None
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if self._held is not None:
            self._held.release()

    def _find(self, id: str) -> _File:
        file = self._files.get(id)
        if file is None:
            raise Missing(f"there is no uploaded file {id[:40]!r}; drop it on the page again")
        if file.in_use:
            raise Changed(f"{file.shown.name} is being fitted right now")
        return file

    def _remove(self, id: str) -> None:
        with self._lock:
            file = self._files.pop(id, None)
        if file is not None:
            file.path.unlink(missing_ok=True)

    def _place(self) -> Path:
        with self._lock:
            if self._folder is None:
                _sweep()
                self._folder = Path(mkdtemp(prefix=_PREFIX))  # nobody else may look into it
                self._held = locks.take(self._folder)
            return self._folder


def label_of(name: str) -> str:
    """What to call a file that somebody sent under a name.

    >>> label_of("..\\\\..\\\\etc/pass\\nwd.csv"), label_of("..")
    ('passwd.csv', 'upload')
    """
    last = re.split(r"[/\\]", name)[-1]
    plain = "".join(sign for sign in last if sign.isprintable()).strip()
    stem, dot, ending = plain.rpartition(".")
    short = plain if len(plain) <= _LONGEST else f"{stem[: _LONGEST - 20]}…{dot}{ending[-19:]}"
    return short if short.strip(". ") else "upload"


def _ending(label: str) -> str:
    found = _ENDING.search(label)
    return found[0].lower() if found else ""


async def _keep(body: AsyncIterator[bytes], path: Path) -> int:
    """Write what comes to a file that only this user can read."""
    size = 0
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in body:
                size += len(piece)
                await run_in_threadpool(file.write, piece)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Invalid("there is no room for this file on the disk of temporary files") from error
        raise InputError(f"this file cannot be kept: {error.strerror or error}") from error
    if not size:
        raise Invalid("this file is empty")
    return size


def _sweep() -> None:
    """Remove what servers have left that were killed: nobody holds the locks of those folders any more."""
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if _is_ours(folder) and (lock := locks.take(folder)):
                if lock.real:
                    shutil.rmtree(folder, ignore_errors=True)
                lock.release()


def _is_ours(folder: Path) -> bool:
    """Whether this user made a folder; where users have no numbers, each has temporary files of their own."""
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
