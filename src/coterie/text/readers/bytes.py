"""A file as bytes, then as lines: opened, decompressed, inspected and decoded."""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from coterie.errors import InputError
from coterie.storage.files import spelled
from coterie.storage.temporary import TemporaryFolder, report_full
from coterie.text.readers.encodings import encoding_of
from coterie.text.readers.remote import is_url, open_url

#: How many bytes are inspected to detect format, encoding and delimiter.
HEAD_BYTES = 1 << 16
#: Longest line, in characters: a file without line breaks must not fill the memory.
MAX_LINE = 1 << 22
#: Characters read at a time.
PIECE = 1 << 16
#: Largest size of a compressed file once it is unpacked, and most memory that parsing it may take.
MAX_BYTES = 1 << 32
#: Beginnings of gzip, zip (Excel) and Parquet files, whose size says little about their content.
PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"PAR1")
#: Control characters that occur in binary files but not in texts.
_CONTROL = [chr(code) for code in range(32) if chr(code) not in "\t\n\r\f\v\x1b"]

_FOREIGN = {
    b"%PDF-": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF87a": "a picture",
    b"GIF89a": "a picture",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"SQLite format 3\0": "a database",
    b"\xd0\xcf\x11\xe0": "an old Office document; save it as .xlsx or .csv",
    b"PK\x03\x04": "a zip archive or an Office document",
    b"PAR1\x15": "a Parquet file",
    b"7z\xbc\xaf": "an archive; unpack it first",
    b"Rar!\x1a": "an archive; unpack it first",
    b"\x1f\x8b": "compressed twice; unpack it first",
    b"BZh91AY": "compressed with bzip2; use gzip or unpack it first",
    b"\xfd7zXZ": "compressed with xz; use gzip or unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; use gzip or unpack it first",
}


class PeekableBytes(io.BufferedReader):
    """A buffered stream whose first bytes can be read without advancing."""

    def head(self) -> bytes:
        """The first bytes of the stream; call it before reading."""
        return self.peek(HEAD_BYTES)[:HEAD_BYTES]


class _Borrowed(io.RawIOBase):
    """A stream of another owner: read, but never closed."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class TooLarge(Exception):
    """A compressed file is larger than allowed when unpacked."""

    def __init__(self, max_bytes: int):
        super().__init__(f"is larger than {readable_size(max_bytes)} when unpacked")


class _Unpacked(io.RawIOBase):
    """What a gzip stream unpacks to, up to a limit."""

    def __init__(self, packed: PeekableBytes, max_bytes: int):
        self._stream = gzip.GzipFile(fileobj=cast(BinaryIO, packed))
        self._left = self._max_bytes = max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        size = self._stream.readinto(buffer)
        self._left -= size
        if self._left < 0:
            raise TooLarge(self._max_bytes)
        return size


def readable_size(size: int) -> str:
    """A number of bytes as people say it.

    >>> readable_size(1 << 32), readable_size(1_500), readable_size(10)
    ('4 GiB', '1.5 KiB', '10 bytes')
    """
    step = min(max((size.bit_length() - 1) // 10, 0), 4)
    number = f"{size / (1 << 10 * step):,.1f}".removesuffix(".0")
    return f"{number} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[step]}"


def find(path: str | Path) -> str | Path:
    """ "-" for standard input, a URL, or the path of a file that exists."""
    if str(path) == "-" or is_url(path):
        return path
    file = Path(path)
    if file.is_dir():
        inside = sorted(entry.name for entry in file.iterdir() if entry.is_file())[:5]
        hint = f"; choose a file in it, such as {', '.join(inside)}" if inside else "; there is no file in it"
        raise InputError(f"{file} is a directory{hint}")
    if not file.exists():
        raise InputError(f"{file} does not exist")
    return file


@contextmanager
def open_bytes(path: str | Path, max_bytes: int = MAX_BYTES) -> Iterator[PeekableBytes]:
    """Open a file, a URL or standard input; gzip is detected and unpacked, to `max_bytes` at most."""
    if str(path) == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise InputError("there is no standard input to read from")
        yield _unpacked(PeekableBytes(_Borrowed(cast(BinaryIO, sys.stdin.buffer)), HEAD_BYTES), max_bytes)
        return
    if is_url(path):
        with open_url(str(path)) as remote:
            yield _unpacked(PeekableBytes(remote, HEAD_BYTES), max_bytes)
        return
    # buffered, as a pipe may give a few bytes at a time and the inspection needs all of them
    with open(path, "rb") as file:
        yield _unpacked(PeekableBytes(cast(io.RawIOBase, file), HEAD_BYTES), max_bytes)


def _unpacked(stream: PeekableBytes, max_bytes: int) -> PeekableBytes:
    if stream.head()[:2] != b"\x1f\x8b":
        return stream
    return PeekableBytes(_Unpacked(stream, max_bytes), HEAD_BYTES)


@contextmanager
def on_disk(path: str | Path, stream: PeekableBytes) -> Iterator[Path]:
    """The file itself; of standard input, URLs, pipes, gzip and names that are not UTF-8 a temporary copy."""
    plain = Path(path).is_file() and str(path) != "-" and spelled(path) == str(path)
    if plain and not isinstance(stream.raw, _Unpacked):
        yield Path(path)
        return
    with TemporaryFolder("input") as folder:
        copy = folder / "copy"
        with report_full(), copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        yield copy


@contextmanager
def reported_faults(source_name: str) -> Iterator[None]:
    """Turn errors of opening, reading and decompressing into an InputError."""
    try:
        yield
    except TooLarge as error:
        raise InputError(
            f"{source_name} {error}",
            python="if you trust the file, raise the limit with max_bytes=…",
            command="if you trust the file, raise the limit with --max-bytes 20G",
            page="unpack it first, or use a smaller file",
        ) from error
    except EOFError as error:
        raise InputError(f"{source_name} is an incomplete gzip file; copy it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{source_name} is a damaged gzip file: {error}") from error
    except OSError as error:
        raise InputError(f"{source_name} could not be read: {error.strerror or error}") from error
    except UnicodeError as error:  # of the few encodings that cannot mark undecodable bytes
        raise InputError(f"{source_name} could not be read: {error}") from error


def refuse_binary(head: bytes, source_name: str, encoding: str | None = None) -> None:
    """Raise an error if the file is not text; if an encoding was given, only if that is certain."""
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise InputError(f"{source_name} is not a text file: it is {what}")
    if encoding is None:
        text = head.decode(encoding_of(head), "replace")
        control, undecodable = sum(map(text.count, _CONTROL)), text.count("\ufffd")
        if control > 0.3 * len(text) or (control > 0.02 * len(text) and undecodable > 0.05 * len(text)):
            raise InputError(f"{source_name} is not a text file: its first bytes are {head[:8]!r}")


class Lines:
    """The lines of a stream with their line breaks; `number` and `read` count lines and characters so far.

    A line ends with LF, CR LF or CR, but not with a form feed or U+2028. Bytes that cannot be decoded become
    lone surrogates, so that the rows with errors can be reported.
    """

    def __init__(self, stream: PeekableBytes, encoding: str | None, source_name: str):
        head = stream.head()
        self.encoding = encoding_of(head, encoding)
        self.source_name = source_name
        self.head = head.decode(self.encoding, "replace")
        self.number = self.read = 0
        errors = "surrogateescape" if self.encoding == "utf-8-sig" else "coterie.escape"
        codecs.register_error("coterie.escape", _escaped)
        self._text = io.TextIOWrapper(stream, encoding=self.encoding, errors=errors, newline="")

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()

    def piece(self, characters: int = PIECE) -> str:
        """The next characters, whatever lines they are in; nothing at the end."""
        text = self._text.read(characters)
        self.read += len(text)
        return text

    def take(self, characters: int = PIECE) -> list[str]:
        """The next lines, with at least `characters` characters in total unless the stream ends."""
        lines: list[str] = []
        readline = self._text.readline
        wanted = characters
        while wanted > 0 and (line := readline(MAX_LINE)):
            lines.append(line)
            wanted -= len(line)
            if len(line) == MAX_LINE:
                raise InputError(
                    f"{self.source_name}, line {self.number + len(lines)}: "
                    f"longer than {MAX_LINE:,} characters: {line[:60]!r}"
                )
        self.number += len(lines)
        self.read += characters - wanted
        return lines


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Bytes as lone surrogates, also those below 0x80, unlike Python's "surrogateescape"."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end
