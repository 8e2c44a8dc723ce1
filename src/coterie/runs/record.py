"""run.json, the record of a run, and the names of its files."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
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
from coterie.storage.folder import as_path
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
REPORT, MAP, EMBEDDINGS = "report.html", "map.safetensors", "embeddings.safetensors"
OURS = (
    *(f"{MODEL}/{name}" for name in (STATE_FILE, ARRAYS_FILE)),
    *(TOPICS, TABLE, SHEET, EDITS, MARKER, REPORT, MAP, EMBEDDINGS),
)
VERSION = 1
#: Columns that a run adds to those of the input.
ADDED = ("topic", "label", "confidence", "second", "reason")
_PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "safetensors", "jieba", "tomotopy", "wordllama")


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _or_none(sound: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or sound(value)


def _list_of(sound: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(sound, value))


def _object_of(sound: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(sound, value.values()))


def _anything(value: Any) -> bool:
    return True


def _said(value: Any) -> bool:
    """Whether something was said about a predefined topic, in one of its forms."""
    return value is None or _words_or_text(value) or _object_of(_words_or_text)(value)


def _words_or_text(value: Any) -> bool:
    return _text(value) or _list_of(_text)(value)


#: What run.json must contain; an entry that may be None may be absent.
_ENTRIES: dict[str, Callable[[Any], bool]] = {
    "made": _text,
    "command": _text,
    "versions": _object_of(_text),
    "versions.coterie": _text,
    "parameters": _object_of(_anything),
    "parameters.language": lambda value: value is None or _text(value) or _list_of(_text)(value),
    "parameters.predefined": _or_none(_object_of(_said)),
    "parameters.seed_words": _or_none(_object_of(_list_of(_text))),  # of older runs
    "parameters.seeds": _or_none(_object_of(_list_of(_text))),  # of older runs
    "columns": lambda value: _object_of(_text)(value) and set(value) == set(ADDED),
    "data.source": _text,
    "data.column": _text,
    "data.texts": _count,
    "data.tokenised": _or_none(lambda value: isinstance(value, bool)),
    "data.date": _or_none(_text),
    "data.day_first": _or_none(lambda value: isinstance(value, bool)),
    "data.label": _or_none(_text),
    "data.notes": _or_none(_list_of(_text)),
    "data.skipped": _or_none(_count),
    "data.sha256": _or_none(_text),
    "data.reading": _or_none(_object_of(_anything)),
    "fit": _or_none(_object_of(_anything)),
    "fit.edits": _or_none(_list_of(_anything)),
    "steps": _or_none(_object_of(_text)),
    "topics": _list_of(_count),
    "number_of_topics": _or_none(_object_of(_anything)),
    "known": _or_none(_count),
    "stability": _or_none(_object_of(_anything)),
    "non_answers": _or_none(_count),
    "distinct": _or_none(_count),
    "edits_applied": _or_none(_count),
    "seconds": _object_of(lambda value: type(value) in (int, float)),
    "warnings": _list_of(_text),
    "files": _object_of(_object_of(_anything)),
}


def read_record(folder: Path) -> dict[str, Any]:
    """What run.json says, checked to have what is read from it."""
    if not folder.exists():
        raise InputError(f"folder {folder} does not exist; 'coterie fit FILE --out {folder}' creates one")
    if folder.is_file():
        raise InputError(f"{folder} is a file, not a run folder; 'coterie fit {folder}' creates one")
    path = folder / MARKER
    if not path.exists() and (folder / STATE_FILE).exists():
        raise InputError(
            f"{folder} contains a model without its texts, not a run; in Python, "
            "model.save(folder) of a fitted model saves a run"
        )
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
    wrong = [] if type(number) is int and number == VERSION else ["version"]
    wrong += [name for name, sound in _ENTRIES.items() if not sound(_entry(info, name))]
    if wrong:
        raise InputError(
            f"{path} is damaged: the entry {wrong[0]!r} is missing or has the wrong type; fit again"
        )
    return info


def _entry(info: Any, name: str) -> Any:
    """The value of an entry such as ``data.texts``; None where there is none."""
    for part in name.split("."):
        info = info.get(part) if isinstance(info, dict) else None
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


def edits_of(folder: str | Path) -> tuple[Edit, ...]:
    """The log of edits of a run folder; none if there is no run yet."""
    path = as_path(folder) / EDITS
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


def kept_boilerplate(folder: str | Path) -> bool:
    """Whether the run in a folder counts boilerplate; False if there is no run yet."""
    try:
        return read_record(as_path(folder))["parameters"].get("keep_boilerplate") is True
    except InputError:  # whoever writes there says what is wrong
        return False


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
