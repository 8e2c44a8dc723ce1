"""Find the files of a pattern or a folder, local or remote, and what their folders say of them.

Names that begin with a dot or an underscore are left out, as are pipes and sockets. Links to files are
followed, links to folders are not: they may lead anywhere, also back. All rows below a folder called
``year=2024`` get the column ``year``, and of a Delta table only the files of its newest version count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from coterie.errors import InputError, shown
from coterie.storage.files import cannot, spelled
from coterie.text.readers.delta import LOG, active_files
from coterie.text.readers.remote import called, files_at, is_url

_MAGIC = re.compile(r"[*?\[]")
#: What Hive and Spark write for a missing value.
_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Place:
    """A file, and the values that the folders above it give to its rows."""

    path: str
    values: dict[str, str | None] = field(default_factory=dict)


@dataclass
class Found:
    """The files that a path stands for, in order; `links` counts links to folders, which are not followed."""

    places: list[Place]
    links: int = 0


def files_of(path: str | Path | Sequence[str | Path]) -> Found | None:
    """The files of a pattern, a folder or a list of these; None for a single file and standard input."""
    if not isinstance(path, str | Path):
        return _listed(path)
    if str(path) == "-":
        return None
    if is_url(path):
        listing = files_at(str(path))
        return None if listing is None else _found(path, listing, asked=str(path).split("/"))
    file = Path(path)
    links: list[str] = []
    if os.path.isdir(file):  # unlike Path.is_dir, it takes any name
        return _found(path, _below(file, links), links)
    if os.path.lexists(file) or not _MAGIC.search(str(path)):
        return None
    return _found(path, _matches(file, links), links, file.parts)


def _listed(paths: Sequence[str | Path]) -> Found:
    if not paths:
        raise InputError("the list of files is empty; name at least one file")
    every: dict[str, Place] = {}
    links = 0
    for path in paths:
        if str(path) == "-" or (not is_url(path) and os.path.exists(path) and not _is_plain(path)):
            raise InputError(f"{called(path)} is no file, and cannot be read with others; read it alone")
        found = files_of(path) or Found([Place(os.fspath(path))])
        every |= {place.path: place for place in found.places}
        links += found.links
    return Found(_in_order(every.values()), links)


def _is_plain(path: str | Path) -> bool:
    return os.path.isfile(path) or os.path.isdir(path)


def _found(
    path: str | Path, listing: dict[str, str], links: Sequence[str] = (), asked: Sequence[str] = ()
) -> Found:
    """The files of a listing that count; hidden ones do if a part of the pattern asks for them."""
    tables = {name.partition(f"{LOG}/")[0] for name in listing if f"/{LOG}/" in f"/{name}"}
    places: list[Place] = []
    for table in sorted(tables):
        inside = {name.removeprefix(table): at for name, at in listing.items() if name.startswith(table)}
        places += [Place(at, values) for at, values in active_files(called(path), inside)]
    for name, at in listing.items():
        parts = PurePosixPath(name).parts
        if _asked_for(parts, asked) and not any(name.startswith(table) for table in tables):
            places.append(Place(at, _values(parts[:-1])))
    if places:
        return Found(_in_order(places), len(links))
    if tables:
        raise InputError(f"the Delta table {called(path)} is empty: its newest version has no files")
    if _MAGIC.search(str(path)) and not os.path.isdir(path):
        raise InputError(f"no file matches {called(path)}; check the pattern")
    raise InputError(f"{called(path)} is a directory; there is no file in it that can be read")


def _in_order(places: object) -> list[Place]:
    """By the bytes of their paths, so that the order is the same on every machine."""
    return sorted(places, key=lambda place: os.fsencode(place.path.replace(os.sep, "/")))  # type: ignore


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _values(folders: Sequence[str]) -> dict[str, str | None]:
    """The values in the names of folders.

    >>> _values(["logs", "year=2024", "team=north%20west"])
    {'year': '2024', 'team': 'north west'}
    """
    pairs = [folder.partition("=") for folder in folders]
    named = {unquote(spelled(name)): unquote(spelled(value)) for name, sign, value in pairs if sign and name}
    return {name: None if value == _NULL else value for name, value in named.items()}


# --- on this machine


def _below(folder: Path, links: list[str]) -> dict[str, str]:
    """The files in a folder and below it, by their names there; hidden folders are not looked into."""
    files: dict[str, str] = {}
    waiting = [("", str(folder))]
    while waiting:
        above, at = waiting.pop()
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    name = f"{above}{entry.name}"
                    if _hidden(entry.name) and entry.name != LOG:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((f"{name}/", entry.path))
                    elif os.path.isdir(
                        entry.path
                    ):  # behind a link; of one to itself, entry.is_dir() would raise
                        links.append(name)
                    elif (
                        os.path.isfile(entry.path) or entry.is_symlink()
                    ):  # one that leads nowhere is reported
                        files[name] = entry.path
        except OSError as error:
            raise cannot(spelled(at), "read", error) from error
    return files


def _matches(pattern: Path, links: list[str]) -> dict[str, str]:
    """The files that a pattern matches, and those below the folders it matches."""
    parts = pattern.parts
    fixed = next(
        at
        for at, part in enumerate(parts)
        if _MAGIC.search(part) and not os.path.exists(Path(*parts[: at + 1]))
    )
    root, rest = Path(*parts[:fixed]), parts[fixed:]
    files: dict[str, str] = {}
    try:
        for found in root.glob("/".join(rest)):
            name = found.relative_to(root).as_posix()
            if found.is_dir():
                files |= {f"{name}/{below}": at for below, at in _below(found, links).items()}
            elif found.is_file() or found.is_symlink():
                files[name] = str(found)
    except ValueError as error:
        message = f"{shown(str(pattern))} is no pattern of file names: {str(error)[:100]}; use *, ? or **"
        raise InputError(message) from error
    except OSError as error:
        raise cannot(spelled(root), "read", error) from error
    return files


def _asked_for(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether hidden names among those that were found are asked for: ``_*`` does, ``*`` does not."""
    asked = [part for part in pattern if _hidden(part)]
    return all(any(fnmatchcase(name, part) for part in asked) for name in names if _hidden(name))
