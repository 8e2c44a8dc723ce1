"""A file as bytes: found, unzipped, and looked at before anything is read from it."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from coterie.errors import InputError

#: How much of a file is looked at to tell its format, encoding and delimiter.
HEAD_BYTES = 1 << 16

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16: its mark begins with the same two bytes
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_FOREIGN = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"SQLite format 3": "a database",
    b"\xd0\xcf\x11\xe0": "an old Office document; save it as .xlsx or .csv",
    b"7z\xbc\xaf": "an archive; unpack it first",
    b"Rar!": "an archive; unpack it first",
    b"BZh": "compressed with bzip2; use gzip or unpack it first",
    b"\xfd7zXZ": "compressed with xz; use gzip or unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; use gzip or unpack it first",
}


class PeekableBytes(io.BufferedReader):
    """A buffered stream that shows its first bytes without moving."""

    def head(self) -> bytes:
        """The first bytes of the stream; only before anything was read."""
        return self.peek(HEAD_BYTES)[:HEAD_BYTES]


def find(path: str | Path) -> str | Path:
    """ "-" for standard input, or the path of a file that exists."""
    if str(path) == "-":
        return "-"
    file = Path(path)
    if file.is_dir():
        inside = sorted(entry.name for entry in file.iterdir() if entry.is_file())[:5]
        hint = f"; name a file in it, such as {', '.join(inside)}" if inside else ", and an empty one"
        raise InputError(f"{file} is a directory{hint}")
    if not file.exists():
        raise InputError(f"{file} does not exist")
    return file


@contextmanager
def open_bytes(path: str | Path) -> Iterator[PeekableBytes]:
    """Open a file or standard input, through gzip where its first bytes say so."""
    if str(path) == "-":
        yield _unzipped(PeekableBytes(cast(io.RawIOBase, sys.stdin.buffer), HEAD_BYTES))
        return
    try:
        with open(path, "rb", buffering=0) as raw:
            yield _unzipped(PeekableBytes(raw, HEAD_BYTES))
    except PermissionError as error:
        raise InputError(f"{path} may not be read: {error.strerror}") from error


def _unzipped(stream: PeekableBytes) -> PeekableBytes:
    if stream.head()[:2] != b"\x1f\x8b":
        return stream
    unzipped = gzip.GzipFile(fileobj=cast(BinaryIO, stream))
    return PeekableBytes(cast(io.RawIOBase, unzipped), HEAD_BYTES)


@contextmanager
def gzip_faults(path: str | Path) -> Iterator[None]:
    """A cut or damaged gzip file as one sentence."""
    try:
        yield
    except EOFError as error:
        raise InputError(
            f"{path} ends in the middle of its gzip data; it was not copied completely"
        ) from error
    except (gzip.BadGzipFile, OSError) as error:
        if isinstance(error, gzip.BadGzipFile) or "gzip" in str(error).lower():
            raise InputError(f"{path} is damaged gzip data: {error}") from error
        raise
    except Exception as error:  # zlib.error has no public base class
        if type(error).__module__ == "zlib":
            raise InputError(f"{path} is damaged gzip data: {error}") from error
        raise


def encoding_of(head: bytes) -> str:
    """The encoding told by a byte order mark or by the zeros of UTF-16; UTF-8 without either."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if head.startswith(mark):
            return encoding
    even, odd = head[0:2000:2].count(0), head[1:2000:2].count(0)
    half = max(len(head[:2000]) // 2, 1)
    if max(even, odd) > 0.3 * half and min(even, odd) < 0.05 * half:
        return "utf-16-be" if even > odd else "utf-16-le"
    return "utf-8"


def refuse_binary(head: bytes, place: str) -> None:
    """Raise for a file that holds no text."""
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{place} is not a text file: it is {what}")
    if encoding_of(head) != "utf-8" or not head:
        return
    control = sum(head.count(byte) for byte in range(32) if byte not in b"\t\n\r\f\v\x1b")
    if control > 0.1 * len(head):
        raise InputError(f"{place} is not a text file: it begins with the bytes {head[:8]!r}")


def is_empty(stream: PeekableBytes) -> bool:
    """Whether there is nothing to read."""
    return not stream.head()


def as_text(stream: PeekableBytes, encoding: str) -> io.TextIOWrapper:
    """Decode a stream. Bytes that are not UTF-8 come out as lone surrogates, to be found row by row."""
    errors = "surrogateescape" if encoding in ("utf-8", "utf-8-sig") else "strict"
    try:
        return io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline="")
    except LookupError:
        raise InputError(f"encoding {encoding!r} is not known; try 'utf-8', 'utf-16' or 'cp1252'") from None
