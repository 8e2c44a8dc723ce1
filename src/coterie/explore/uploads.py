"""Files that were dropped on the page: kept in a private folder, looked at, fitted, removed.

The name that comes with a file is what people call it. No path is made of it: files lie here under a name of
their own, and only an ending that is known is kept, for it tells the format.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import secrets
from asyncio import Semaphore
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import polars as pl
from starlette.concurrency import run_in_threadpool

from coterie.errors import InputError
from coterie.explore import schemas
from coterie.explore.guard import Changed, Invalid, Missing
from coterie.storage.temporary import TemporaryFolder
from coterie.text.guess import likely_language
from coterie.text.readers import TextSource, columnar, delimited
from coterie.text.readers.bytes import (
    MAX_BYTES,
    PIECE,
    Lines,
    PeekableBytes,
    encoding_of,
    on_disk,
    open_bytes,
    refuse_binary,
    reported_faults,
)
from coterie.text.readers.lines import json_objects
from coterie.text.readers.rows import BadRow, Options
from coterie.text.readers.source import Format, guess_format
from coterie.topics.trends import read_dates

#: Files that wait to be fitted; the oldest goes when there are more.
_KEPT = 4
#: Files that are looked at at the same time; each may take as much memory as is allowed.
_AT_ONCE = 2
_ENDING = re.compile(r"\.(?:csv|tsv|tab|jsonl|ndjson|json|txt|text|log|parquet|pq|xlsx)(?:\.gz)?$", re.I)
_LONGEST = 120
#: Rows that are looked at, those that are shown, and characters of a cell that is shown.
SEEN, SHOWN, CELL = 1000, 20, 300
#: Bytes that are looked at to tell the encoding.
_DECODED = 1 << 26
_THIS_FILE = "this file"
_NUMBER = re.compile(r"[-+]?[\d.,  ]*\d(?:e[-+]?\d+)?\s?%?", re.I)
_NAMED_LABEL = re.compile(r"label|class|categor|tag|topic|type|group|kind|intent", re.I)
Kind = Literal["text", "number", "date", "class", "empty"]


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
        self._folder: TemporaryFolder | None = None
        self._looking = Semaphore(_AT_ONCE)

    async def receive(self, name: str, body: AsyncIterator[bytes], max_bytes: int) -> schemas.Upload:
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
            folder.close()

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
    """A file that is called what the person who sent it would call it."""

    @property
    def source_name(self) -> str:
        return _THIS_FILE


def look_at(path: Path, id: str, name: str, size: int, max_bytes: int = MAX_BYTES) -> schemas.Upload:
    """What a file holds; one that cannot be read is reported in a sentence."""
    with reported_faults(_THIS_FILE), open_bytes(path, max_bytes) as stream:
        head = stream.head()
        format_ = guess_format(path, head, Options())
        encoding = None if format_ in ("parquet", "xlsx") else _encoding(head, stream)
    options = Options(encoding, max_bytes=max_bytes)
    table, skipped = _first_rows(path, format_, options)
    columns = [_column(table[column]) for column in table.columns[: schemas.MOST_COLUMNS]]
    delimiter = None
    if format_ in ("csv", "tsv"):
        text = head.decode(encoding or "utf-8", "replace")
        delimiter = "\t" if format_ == "tsv" else delimited.guess_delimiter(text)
    return schemas.Upload(
        id=id,
        name=name,
        bytes=size,
        rows_seen=len(table),
        skipped=skipped,
        columns=columns,
        preview=[
            [_cell(value) for value in row[: schemas.MOST_COLUMNS]] for row in table.head(SHOWN).iter_rows()
        ],
        guess=guess(columns, table),
        format=format_,
        encoding=None if encoding is None else encoding.removesuffix("-sig"),
        delimiter=delimiter,
    )


def _encoding(head: bytes, stream: PeekableBytes) -> str:
    """UTF-8 or a kin of it; that of old Windows programs if more bytes speak against UTF-8 than for it."""
    guessed = encoding_of(head)
    if guessed != "utf-8-sig":
        return guessed
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    good = bad = seen = 0
    while seen < _DECODED and (piece := stream.read(PIECE * 16)):
        seen += len(piece)
        if piece.isascii():
            continue
        text = decoder.decode(piece)
        wrong = text.count("\ufffd")
        bad += wrong
        good += sum(sign > "\x7f" for sign in text) - wrong
    return "cp1252" if bad > good else guessed


def _first_rows(path: Path, format_: Format, options: Options) -> tuple[pl.DataFrame, int]:
    """The first rows that can be read, and how many among them cannot."""
    with reported_faults(_THIS_FILE), open_bytes(path, options.max_bytes) as stream:
        if format_ in ("parquet", "xlsx"):
            with on_disk(path, stream) as file:
                return _parsed_rows(file, format_, options), 0
        refuse_binary(stream.head(), _THIS_FILE, options.encoding if options.encoding == "cp1252" else None)
        with Lines(stream, options.encoding, _THIS_FILE) as text:
            names = _columns(text, format_, options)
    # to read, a text column is named; any that holds texts will do
    fault: InputError | None = None
    for column in names[: schemas.MOST_COLUMNS]:
        source = _Shown(path, column, format_, options, skip_bad=True, batch_rows=SEEN)
        try:
            return next(iter(source)).table, source.skipped
        except InputError as error:
            fault = fault or error
    raise fault or InputError(f"{_THIS_FILE} has no columns")


def _parsed_rows(file: Path, format_: Format, options: Options) -> pl.DataFrame:
    if format_ == "parquet":
        tables = columnar.parquet_tables(file, SEEN, options.max_bytes, _THIS_FILE)
        first = next(islice(tables, 1, None), None)  # after the empty one
        if first is None:
            raise InputError(f"{_THIS_FILE} has column names but no rows")
        return first
    sheet = columnar.read_xlsx(file, True, SEEN, options.max_bytes, _THIS_FILE)
    source = _Shown(file, next(iter(sheet.columns)), format_, options, batch_rows=SEEN)
    return next(source.batches_of(sheet)).table


def _columns(text: Lines, format_: Format, options: Options) -> list[str]:
    """Names of the columns, in their order."""
    if format_ == "lines":
        return ["text"]
    if format_ == "jsonl":
        return _keys(text)
    return list((delimited.read_tsv if format_ == "tsv" else delimited.read_csv)(text, options).columns)


def _keys(text: Lines) -> list[str]:
    """Keys of the first objects, those that hold one value first: texts are never in the others."""
    keys: dict[str, bool] = {}
    first_bad: BadRow | None = None
    for number, row in enumerate(json_objects(text)):
        if number >= SEEN or text.read > 1 << 20:
            break
        if isinstance(row, BadRow):
            first_bad = first_bad or row
        else:
            keys |= {key: keys.get(key, False) or isinstance(v, (list, dict)) for key, v in row[1].items()}
    if not keys:
        raise InputError(f"no row of {_THIS_FILE} could be read" + (f"; {first_bad}" if first_bad else ""))
    return sorted(keys, key=keys.__getitem__)


def _column(values: pl.Series) -> schemas.UploadedColumn:
    texts = [_cell(value, None).strip() for value in values]
    filled = [text for text in texts if text]
    distinct = len(set(filled))
    return schemas.UploadedColumn(
        name=values.name,
        kind=_kind(values, filled, distinct),
        filled=round(len(filled) / max(len(texts), 1), 4),
        mean_length=round(sum(map(len, filled)) / max(len(filled), 1), 1),
        distinct_share=round(distinct / max(len(filled), 1), 4),
        samples=[text[:CELL] for text in list(dict.fromkeys(filled))[:3]],
    )


def _kind(values: pl.Series, filled: Sequence[str], distinct: int) -> Kind:
    if not filled:
        return "empty"
    if values.dtype.is_temporal() or _are_dates(filled):
        return "date"
    numbers = values.dtype.is_numeric() or sum(bool(_NUMBER.fullmatch(t)) for t in filled) > 0.95 * len(
        filled
    )
    if distinct <= min(100, max(0.2 * len(filled), 2)) and len(filled) > distinct:
        return "class"
    return "number" if numbers or values.dtype.is_numeric() else "text"


def _are_dates(filled: Sequence[str]) -> bool:
    """Whether nearly all are dates; somebody may have written "n/a"."""
    dates, _ = read_dates(list(filled[:200]))
    return dates.null_count() <= 0.1 * len(dates)


def guess(columns: Sequence[schemas.UploadedColumn], table: pl.DataFrame) -> schemas.Guess:
    """The text column is the one with long and different values; dates look like dates, classes repeat."""

    def worth(column: schemas.UploadedColumn) -> float:
        wordy = any(" " in text or not text.isascii() for text in column.samples)
        likely = {"text": 1.0, "class": 0.3, "number": 0.01, "date": 0.001, "empty": 0.0}[column.kind]
        # keys and addresses are long and all different, but they have no words
        return column.mean_length * column.distinct_share * column.filled * likely * (1.0 if wordy else 0.05)

    text = max(columns, key=worth)
    others = [column for column in columns if column is not text]
    date = next((column.name for column in others if column.kind == "date"), None)
    classes = [column for column in others if column.kind == "class" and column.filled > 0.5]
    label = max(classes, key=lambda c: (bool(_NAMED_LABEL.search(c.name)), c.distinct_share), default=None)
    language = (
        likely_language(table[text.name].cast(pl.String, strict=False)) if text.kind == "text" else None
    )
    return schemas.Guess(
        text=text.name, date=date, label=label.name if label else None, language=language or "english"
    )


def _cell(value: Any, most: int | None = CELL) -> str:
    text = "" if value is None else value if isinstance(value, str) else str(value)
    return text if most is None or len(text) <= most else text[: most - 1] + "…"
