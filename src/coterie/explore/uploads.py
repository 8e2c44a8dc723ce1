"""Files that were dropped on the page: kept in a private folder, looked at, fitted, removed.

The name that comes with a file is what people call it. No path is made of it: files lie here under a name of
their own, and only an ending that is known is kept, for it tells the format.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from asyncio import Semaphore
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl
from starlette.concurrency import run_in_threadpool

from coterie.errors import InputError
from coterie.explore.guard import Changed, Invalid, Missing
from coterie.explore.schemas_changes import MOST_COLUMNS, Guess, LookRequest, Upload, UploadedColumn
from coterie.storage.temporary import TemporaryFolder
from coterie.text import columns
from coterie.text.columns import SEEN, guess_text
from coterie.text.dates import read_dates
from coterie.text.guess import likely_language
from coterie.text.readers import TextSource
from coterie.text.readers.bytes import MAX_BYTES
from coterie.text.readers.rows import Options

#: Files that wait to be fitted; the oldest goes when there are more.
_KEPT = 4
#: Files that are looked at at the same time; each may take as much memory as is allowed.
_AT_ONCE = 2
_ENDING = re.compile(r"\.(?:csv|tsv|tab|jsonl|ndjson|json|txt|text|log|parquet|pq|xlsx)(?:\.gz)?$", re.I)
_LONGEST = 120
#: Rows that are shown, and characters of a cell that is shown.
SHOWN, CELL = 20, 300
_THIS_FILE = "this file"


@dataclass
class _File:
    path: Path
    shown: Upload
    in_use: bool = False

    @property
    def assigned(self) -> Path:
        """Where the file with topics is, once it was assigned."""
        return self.path.with_name(f"{self.shown.id}.assigned")


class Uploads:
    """The uploaded files of a server; they are gone when it ends."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._lock = Lock()
        self._folder: TemporaryFolder | None = None
        self._looking = Semaphore(_AT_ONCE)

    async def receive(self, name: str, body: AsyncIterator[bytes], max_bytes: int) -> Upload:
        """Keep a file and look at it; packed, it may unpack to `max_bytes`."""
        label = label_of(name)
        path = self._place() / f"{secrets.token_hex(8)}{_ending(label)}"
        try:
            size = await _keep(body, path)
            async with self._looking:
                id = path.name.split(".")[0]
                shown = await run_in_threadpool(look_at, path, id, label, size, max_bytes)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        with self._lock:
            self._files[shown.id] = _File(path, shown)
            waiting = [id for id, file in self._files.items() if not file.in_use]
        for old in waiting[:-_KEPT]:
            self._remove(old)
        return shown

    async def look_again(self, id: str, request: LookRequest, max_bytes: int) -> Upload:
        """Inspect an uploaded file again, with another sheet or header row."""
        file = self.take(id)
        try:
            before = file.shown
            async with self._looking:
                file.shown = await run_in_threadpool(
                    look_at, file.path, id, before.name, before.bytes, max_bytes, request
                )
            return file.shown
        finally:
            self.give_back(id)

    def take(self, id: str) -> _File:
        """A file to be fitted; nobody else can take or remove it until it is given back or dropped."""
        with self._lock:
            file = self._find(id)
            file.in_use = True
            return file

    def result(self, id: str) -> tuple[Path, str]:
        """The table of a file that was assigned, and what to call it."""
        with self._lock:
            file = self._find(id)
        if not file.assigned.exists():
            raise Missing(f"{file.shown.name} was not assigned yet")
        return file.assigned, f"{_ENDING.sub('', file.shown.name)}-topics.csv"

    def give_back(self, id: str) -> None:
        """A file that was not fitted after all."""
        with self._lock:
            if id in self._files:
                self._files[id].in_use = False

    def drop(self, id: str) -> None:
        """Remove a file that was fitted."""
        self._remove(id)

    def delete(self, id: str) -> None:
        """Remove an uploaded file."""
        with self._lock:
            self._find(id)
        self._remove(id)

    def close(self) -> None:
        """Remove all files."""
        with self._lock:
            self._files.clear()
            folder, self._folder = self._folder, None
        if folder is not None:
            folder.close()

    def _find(self, id: str) -> _File:
        file = self._files.get(id)
        if file is None:
            raise Missing(f"there is no uploaded file {id[:40]!r}; drop it on the page again")
        if file.in_use:
            raise Changed(f"{file.shown.name} is in use right now; wait until that has finished")
        return file

    def _remove(self, id: str) -> None:
        with self._lock:
            file = self._files.pop(id, None)
        if file is not None:
            file.path.unlink(missing_ok=True)
            file.assigned.unlink(missing_ok=True)

    def _place(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = TemporaryFolder("uploads")
            return self._folder.path


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
    match = _ENDING.search(label)
    return match[0].lower() if match else ""


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
            raise Invalid("the disk for temporary files is full") from error
        raise InputError(f"this file could not be stored: {error.strerror or error}") from error
    if not size:
        raise Invalid("this file is empty")
    return size


# --- a file before it is fitted: its first rows, what its columns hold, and which of them is likely which


@dataclass
class _Shown(TextSource):
    """A file that is called what its sender would call it; any column will do to show its rows."""

    @property
    def source_name(self) -> str:
        return _THIS_FILE

    def _choose(self, names: Sequence[str], sample: Callable[[], pl.DataFrame]) -> str:
        table = sample()
        return self._chosen(guess_text(table) or table.columns[0])


def look_at(
    path: Path,
    id: str,
    name: str,
    size: int,
    max_bytes: int = MAX_BYTES,
    request: LookRequest | None = None,
) -> Upload:
    """What a file holds; one that cannot be read is reported in a sentence."""
    asked = request or LookRequest()
    options = Options(max_bytes=max_bytes, sheet=asked.sheet, header_row=asked.header_row)
    source = _Shown(path, options=options, skip_bad=True, batch_rows=SEEN)
    table = next(iter(source)).table
    layout = source.layout
    assert layout is not None
    looked = [columns.look_at(column) for column in table.get_columns()[:MOST_COLUMNS]]
    dates = {column.name: read_dates(table[column.name]) for column in looked if column.kind == "date"}
    return Upload(
        id=id,
        name=name,
        bytes=size,
        rows_seen=len(table),
        skipped=source.skipped,
        columns=[UploadedColumn(**asdict(column)) for column in looked],
        preview=[[_cell(value) for value in row[:MOST_COLUMNS]] for row in table.head(SHOWN).iter_rows()],
        guess=_guess(looked, table),
        format=layout.format,
        encoding=None if layout.encoding is None else layout.encoding.removesuffix("-sig"),
        delimiter=layout.delimiter,
        sheets=layout.sheets,
        sheet=layout.sheet,
        header_row=layout.header_row,
        open_dates=[name for name, read in dates.items() if read.order.assumed],
        notes=[note.fact for note in source.notes],
    )


def _guess(looked: Sequence[columns.Column], table: pl.DataFrame) -> Guess:
    """Which columns are likely which, and the language of the texts."""
    found = columns.guess(looked)
    text = looked[0].name if len(looked) == 1 else found.text
    language = None if text is None else likely_language(table[text].cast(pl.String, strict=False))
    return Guess(text=text, date=found.date, label=found.label, language=language or "english")


def _cell(value: Any, most: int | None = CELL) -> str:
    text = "" if value is None else value if isinstance(value, str) else str(value)
    return text if most is None or len(text) <= most else text[: most - 1] + "…"
