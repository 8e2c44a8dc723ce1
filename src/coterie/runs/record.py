"""run.json, the record of a run, and the names of its files."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coterie import __version__
from coterie.errors import InputError
from coterie.storage.files import checksum, opened, read_json
from coterie.storage.state import ARRAYS_FILE, STATE_FILE
from coterie.topics import edits as log
from coterie.topics.edits import Edit

MARKER = "run.json"
MODEL, TOPICS, TABLE, SHEET, EDITS = (
    "model",
    "topics.csv",
    "assignments.parquet",
    "assignments.csv",
    "edits.json",
)
REPORT, MAP = "report.html", "map.safetensors"
OURS = (
    *(f"{MODEL}/{name}" for name in (STATE_FILE, ARRAYS_FILE)),
    *(TOPICS, TABLE, SHEET, EDITS, MARKER, REPORT, MAP),
)
VERSION = 1
#: Columns that a run adds to those of the input.
ADDED = ("topic", "label", "confidence", "second", "reason")
_PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "safetensors")


def read_record(folder: Path) -> dict[str, Any]:
    """What run.json says, checked to have what is read from it."""
    if not folder.exists():
        raise InputError(f"folder {folder} does not exist; 'coterie fit FILE --out {folder}' creates one")
    path = folder / MARKER
    if not path.exists():
        raise InputError(
            f"{folder} is not a run folder: it has no {MARKER}; 'coterie fit FILE --out {folder}' creates one"
        )
    info = read_json(path)
    if info.get("format") != "coterie run":
        raise InputError(f"{path} is not the record of a run; check the folder")
    number = info.get("version")
    if isinstance(number, int) and number > VERSION:
        raise InputError(f"{path} was written by a newer coterie (format {number}); update coterie")
    data, columns, files = (info.get(name) for name in ("data", "columns", "files"))
    sound = (
        type(number) is int
        and number == VERSION
        and isinstance(data, dict)
        and isinstance(data.get("column"), str)
        and isinstance(data.get("texts"), int)
        and isinstance(columns, dict)
        and set(columns) == set(ADDED)
        and all(isinstance(name, str) for name in columns.values())
        and isinstance(files, dict)
        and isinstance(info.get("topics"), list)
        and all(isinstance(topic, int) for topic in info["topics"])
        and isinstance(info.get("versions"), dict)
        and all(key in info for key in ("command", "parameters"))
        and isinstance(info.get("seconds"), dict)
        and isinstance(info.get("warnings"), list)
        and all(isinstance(warning, str) for warning in info["warnings"])
    )
    if not sound:
        raise InputError(f"{path} is damaged: entries are missing; fit again")
    return info


def write_record(
    folder: Path, content: dict[str, Any], known: Mapping[str, dict[str, Any]] | None = None
) -> None:
    """Write run.json, with a checksum of every other file in the folder, if it is not `known`."""
    known = known or {}
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MARKER
    }
    content["files"] = {
        name: known.get(name) or {"bytes": path.stat().st_size, "sha256": checksum(path)}
        for name, path in files.items()
    }
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    (folder / MARKER).write_text(text, encoding="utf-8")


def check_file(folder: Path, name: str, info: dict[str, Any]) -> Path:
    """The path of a file that is the one written with this record."""
    path, expected = folder / name, info["files"].get(name)
    if not isinstance(expected, dict) or not path.exists():
        raise InputError(f"{path} is missing; fit again")
    if path.stat().st_size != expected.get("bytes") or checksum(path) != expected.get("sha256"):
        raise InputError(f"{path} is damaged or was changed: its checksum differs from {MARKER}; fit again")
    return path


def edits_of(folder: Path) -> tuple[Edit, ...]:
    """The log of edits of a run folder; none if there is no run yet."""
    path = folder / EDITS
    if not os.path.lexists(path):
        return ()
    with opened(path) as (file, size):
        if size > 1 << 26:
            raise InputError(f"{path} is too large for a log of edits; move it away to start a new one")
        content = file.read()
    try:
        return log.loads(content.decode("utf-8"), str(path))
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; move it away to start a new log of edits") from None


def now() -> str:
    """The time as run.json has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def versions() -> dict[str, str]:
    """Versions of coterie, Python and the packages that numbers come from."""
    known = {"coterie": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known


@dataclass
class Progress:
    """What happened while a run was made: seconds of each step, and warnings."""

    seconds: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    caught: list[warnings.WarningMessage] = field(default_factory=list)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Note how long the block takes."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = round(time.perf_counter() - begun, 3)

    def sentences(self) -> list[str]:
        """All warnings, each once."""
        return list(dict.fromkeys([*self.remarks, *(str(warning.message) for warning in self.caught)]))


@contextmanager
def recorded() -> Iterator[Progress]:
    """Catch warnings for the record; they are given again at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        progress = Progress(caught=caught)
        yield progress
    for remark in progress.sentences():
        warnings.warn(remark, stacklevel=3)
