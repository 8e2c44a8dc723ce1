"""The folder of runs: names become opened runs, a few of which are kept; nothing else has a name here.

A run is known by the name of its folder and by its version, a digest of its run.json. Whoever asks gets the
run as it is on disk now; one that was asked for before keeps answering as it did until nobody holds it.
"""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from coterie.errors import InputError
from coterie.explore.guard import UPLOAD_BYTES, Changed, Invalid, Missing, without_paths
from coterie.explore.opened import OpenedRun, file_name
from coterie.runs import Run, open_run
from coterie.runs.record import MARKER
from coterie.storage.files import read_json
from coterie.storage.folder import recover
from coterie.text.inputs import is_unicode
from coterie.text.readers.bytes import MAX_BYTES

__all__ = ["Listed", "Missing", "Workspace"]

#: Opened runs that are kept; each holds its index in memory.
_OPEN = 3
#: Longest name of a run, in bytes: a file system takes 255, and hidden names beside it are longer.
NAME_BYTES = 100
_ATTEMPTS = 20


@dataclass(frozen=True)
class Listed:
    """A run in the list of runs; `error` says why it cannot be opened."""

    name: str
    source: str = ""
    texts: int = 0
    topics: int = 0
    made: str = ""
    error: str | None = None


class Workspace:
    """The runs of a folder; `start` is the one that the page opens with.

    `upload_bytes` is the largest file that can be uploaded, `max_bytes` what it may unpack to.
    """

    def __init__(
        self,
        folder: str | Path,
        start: str | None = None,
        upload_bytes: int = UPLOAD_BYTES,
        max_bytes: int = MAX_BYTES,
    ):
        self.folder = Path(os.path.abspath(folder))
        self.upload_bytes, self.max_bytes = upload_bytes, max_bytes
        self.start = start
        self._lock = Lock()
        self._opening: dict[str, Lock] = {}
        self._opened: OrderedDict[str, OpenedRun] = OrderedDict()
        self._writing: set[str] = set()

    def names(self) -> list[str]:
        """Names of the runs: folders that hold a run.json."""
        try:
            entries = list(os.scandir(self.folder))
        except OSError as error:
            raise InputError(f"{self.folder} cannot be read: {error.strerror or error}") from error
        return sorted(entry.name for entry in entries if _fits(entry.name) and _is_run(Path(entry.path)))

    def folder_of(self, name: str) -> Path:
        """Where a run lies."""
        if _fits(name):
            folder = self.folder / name
            recover(folder)
            if _is_run(folder):
                return folder
        raise Missing(f"there is no run {name[:100]!r} in this folder")

    def listed(self) -> list[Listed]:
        """All runs, the newest first."""
        runs = [self._listed(name) for name in self.names()]
        return sorted(runs, key=lambda run: run.made, reverse=True)

    def _listed(self, name: str) -> Listed:
        try:
            info = read_json(self.folder / name / MARKER)
            data = info["data"]
            return Listed(
                name,
                source=file_name(data["source"]),
                texts=int(data["texts"]),
                topics=len(info["topics"]),
                made=str(info["made"]),
            )
        except InputError as error:
            return Listed(name, error=self.message(error))
        except (KeyError, TypeError, ValueError):
            return Listed(name, error=f"{MARKER} of {name} is damaged: entries are missing; fit again")

    def message(self, error: Exception) -> str:
        """What an error says, without the way to the folders of this machine."""
        said = error.said("page") if isinstance(error, InputError) else str(error)
        return without_paths(said, self.folder)

    def version(self, name: str) -> str:
        """What tells this state of a run from any other: 16 hexadecimal digits."""
        return version_of(self.folder_of(name))

    def info(self, name: str) -> dict[str, Any]:
        """What run.json says now."""
        return read_json(self.folder_of(name) / MARKER)

    def get(self, name: str) -> OpenedRun:
        """The run as it is on disk now."""
        folder = self.folder_of(name)
        with self._lock:
            opening = self._opening.setdefault(name, Lock())
        with opening:  # two that ask for the same at once do not read it twice
            version = version_of(folder)
            with self._lock:
                if (opened := self._opened.get(name)) and opened.version == version:
                    self._opened.move_to_end(name)
                    return opened
            for _ in range(_ATTEMPTS):
                run = open_run(folder)
                before, version = version, version_of(folder)
                if before == version:
                    return self.put(name, run, version)
        raise InputError(f"{folder} is being changed by another process; try again when that has finished")

    def put(self, name: str, run: Run, version: str) -> OpenedRun:
        """Keep a run that was read or written just now; one that was not asked for longest goes."""
        opened = OpenedRun(run, name, version)
        gone = []
        with self._lock:
            gone.append(self._opened.pop(name, None))
            self._opened[name] = opened
            while len(self._opened) > _OPEN:
                gone.append(self._opened.popitem(last=False)[1])
        for other in gone:
            if other is not None:
                other.counted.close()
        return opened

    def close(self) -> None:
        """Let all runs go."""
        with self._lock:
            runs = list(self._opened.values())
            self._opened.clear()
        for run in runs:
            run.counted.close()

    def check(self, name: str, version: str) -> None:
        """Refuse a change that was made for another state of the run."""
        if self.version(name) != version:
            raise Changed(f"{name} has changed in the meantime; reload it and try again")

    def reserve(self, name: str) -> None:
        """Become the one who changes this run, or is about to make it; refused if there is one already."""
        with self._lock:
            if name in self._writing:
                raise Changed(f"{name} is being changed; wait until that has finished")
            self._writing.add(name)

    def release(self, name: str) -> None:
        """Let others change the run again."""
        with self._lock:
            self._writing.discard(name)

    def new(self, name: str) -> Path:
        """The folder of a run to be made, whose name nobody has yet."""
        spelled = name.strip()
        if not _fits(spelled) or len(spelled.encode()) > NAME_BYTES or not spelled.isprintable():
            raise Invalid(
                f"a run cannot be called {name[:60]!r}: a name is at most {NAME_BYTES} bytes long, has none "
                'of / \\ : * ? " < > |, and does not begin with a dot'
            )
        if os.path.lexists(self.folder / spelled):
            raise Changed(f"{spelled!r} already exists; choose another name")
        return self.folder / spelled


def _fits(name: str) -> bool:
    """Whether a name is that of something right inside the folder, and can be written in a request."""
    return (
        bool(name) and not name.startswith(".") and not set(name) & set('/\\:*?"<>|\0') and is_unicode(name)
    )


def _is_run(folder: Path) -> bool:
    try:
        return (folder / MARKER).is_file()
    except (OSError, ValueError):
        return False


def version_of(folder: Path) -> str:
    """What tells this state of a run from any other: 16 hexadecimal digits."""
    try:
        return hashlib.sha256((folder / MARKER).read_bytes()).hexdigest()[:16]
    except FileNotFoundError:
        raise Missing(f"there is no run {folder.name!r} any more") from None
    except OSError as error:
        raise InputError(f"{folder / MARKER} cannot be read: {error.strerror or error}") from error
