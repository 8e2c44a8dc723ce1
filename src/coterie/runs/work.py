"""The folder in which a large fit works: beside the run, until the run is written.

A fit that was stopped, however that happened, goes on from there: texts that were read are not read again,
and passes that were finished are not made again. The answers are the same as those of a fit that nobody
stopped. A fit with other settings, or of a file that has changed, is refused there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coterie.engines.values import whole
from coterie.errors import InputError
from coterie.storage import trees
from coterie.storage.locks import take
from coterie.text.readers import TextFiles, TextSource
from coterie.text.readers.remote import is_url, state_at, without_query
from coterie.topics.collection import READ

#: What a fit is about, and a sign that the folder is ours.
_ABOUT = "work.json"
#: What is being removed.
_OLD = "old"


@contextmanager
def work_folder(run: Path, about: Mapping[str, Any], *, resume: bool) -> Iterator[Path]:
    """A folder inside the work folder of a run, which is removed when the block ends well, and kept if not,
    unless not even the texts were read by then.

    `about` says what is fitted and how, in plain values. With `resume` the folder of a fit that was stopped
    is used, otherwise it is emptied first.
    """
    folder = beside(run)
    folder.mkdir(parents=True, exist_ok=True)
    lock = take(folder)
    if lock is None:
        raise InputError(
            f"{folder} is in use: another fit is working there; wait for it, or use another --out"
        )
    try:
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        _check(folder, digest, resume)
        # a worker may still be at a task of a fit that was stopped: what it writes must not end up in another
        (folder / digest[:16]).mkdir(exist_ok=True)
        try:
            with _loss_told(folder):
                yield folder / digest[:16]
        except BaseException:
            if is_begun(folder) and not any(folder.glob(f"*/*/{READ}")):
                _remove(folder)
            raise
        _remove(folder)
    finally:
        lock.release()


def _remove(folder: Path) -> None:
    _empty(folder)
    (folder / _ABOUT).unlink(missing_ok=True)
    trees.remove(folder)


@contextmanager
def _loss_told(folder: Path) -> Iterator[None]:
    """If something fails because the folder is gone, say so: each file in it would be told as missing."""
    try:
        yield
    except Exception as error:
        if is_begun(folder):
            raise
        raise InputError(
            f"{folder} disappeared while the fit was working there; check the disk, then fit again"
        ) from error


def is_begun(folder: Path) -> bool:
    """Whether a fit has begun to work in a folder, and another can go on."""
    return (folder / _ABOUT).exists()


def beside(run: Path) -> Path:
    """Where the work folder of a run is, if there is one."""
    whole_path = Path(os.path.abspath(run))
    return whole_path.with_name(f"{whole_path.name}.work")


def _check(folder: Path, about: str, resume: bool) -> None:
    record = folder / _ABOUT
    begun = json.loads(record.read_text("utf-8"))["about"] if record.exists() else None
    if begun is None and not all(path.name.startswith(f".{_ABOUT}.") for path in folder.iterdir()):
        raise InputError(f"{folder} has files of somebody else; move them, or use another --out")
    if resume and begun is not None and begun != about:
        raise InputError(
            f"{folder} was begun with another file, other options or another version; use the same, or leave "
            "out --resume to start again"
        )
    if begun is None or not resume:
        _empty(folder)
        with whole(record) as file:
            file.write(json.dumps({"about": about}).encode())


def _empty(folder: Path) -> None:
    """Remove the folders in a folder; the sign that it is ours stays, in case this is killed.

    What a fit has written is renamed first, so that no fit goes on from one half of it.
    """
    old = folder / _OLD
    trees.remove(old)
    for path in folder.iterdir():
        if path.is_dir():
            path.rename(old)
            trees.remove(old)


def state_of_files(source: TextSource) -> list[list[Any]]:
    """Names, sizes and times of the files of a source, by which a change is noticed."""
    paths = [file.path for file in source.files] if isinstance(source, TextFiles) else [source.path]
    found: list[list[Any]] = []
    for path in map(str, paths):
        if path == "-":
            raise InputError(
                "standard input cannot be read again after the fit was stopped, which --memory, --engine and "
                "--resume need; save it to a file first"
            )
        if is_url(path):
            found.append([without_query(path), state_at(path), None])
            continue
        try:
            status = os.stat(path)
            found.append([os.path.abspath(path), status.st_size, status.st_mtime_ns])
        except OSError:  # missing: the reader reports it
            found.append([path, None, None])
    return found
