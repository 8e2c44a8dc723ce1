"""Read a data set: lines ``label<TAB>text`` from a gzip file, or a built-in sample."""

from __future__ import annotations

import csv
import gzip
import zlib
from pathlib import Path

from coterie.errors import InputError

_PIECE = 1 << 20


def content(path: Path, limit: int) -> bytes:
    """The uncompressed content of `path`, at most `limit` bytes."""
    data = bytearray()
    try:
        with gzip.open(path) as file:
            while piece := file.read(_PIECE):
                data += piece
                if len(data) > limit:
                    raise InputError(
                        f"{path}: contains more than {limit:,} bytes, so it is not this data set"
                    )
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        after = data.count(b"\n")
        raise InputError(f"{path}: incomplete or damaged gzip file after line {after}: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: could not be read: {error.strerror or error}") from error
    return bytes(data)


def rows(data: bytes, path: Path) -> tuple[list[str], list[str]]:
    """Labels and texts; `path` is used in error messages."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {number}: not UTF-8 at byte {error.start}: {error.reason}") from error
    if not lines[-1]:
        lines.pop()
    labels: list[str] = []
    texts: list[str] = []
    same: dict[str, str] = {}  # one string for each label, not one for each line
    for line in lines:
        label, tab, text = line.partition("\t")
        if not tab:
            raise InputError(f"{path}, line {len(texts) + 1}: no tab between label and text: {line[:60]!r}")
        labels.append(same.setdefault(label, label))
        texts.append(text)
    return labels, texts


def sample(path: Path, columns: list[str], label: str) -> tuple[list[str], list[str], list[str]]:
    """Labels, texts and dates of a sample; `label` is the column with the labels."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            header, *records = list(csv.reader(file, strict=True)) or [[]]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: the sample could not be read; reinstall the package: {error}") from error
    if header != columns:
        raise InputError(f"{path}: the columns must be {','.join(columns)}, got {','.join(header)}")
    for number, record in enumerate(records, 1):
        if len(record) != len(columns):
            raise InputError(f"{path}, record {number}: {len(record)} cells instead of {len(columns)}")
    labels, texts, dates = ([row[columns.index(name)] for row in records] for name in (label, "text", "date"))
    return labels, texts, dates
