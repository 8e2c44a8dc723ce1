"""Download a data set: get the source files, convert them, verify the checksum, write the file.

The file appears under its name only when it is complete and verified.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import re
import secrets
from collections.abc import Callable
from http.client import HTTPException
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from coterie.datasets import read, retrieval
from coterie.datasets.catalog import Entry, Kind, Source
from coterie.errors import InputError

PUBLIC = "https://raw.githubusercontent.com"
_LOCAL = ("127.0.0.1", "localhost", "::1")
_PIECE = 1 << 16

Progress = Callable[[int], None]


def download(
    entry: Entry, folder: Path, *, base_url: str | None, timeout: float, progress: Progress | None
) -> Path:
    """Download the set into `folder`, unless it is already there and intact, and return its path."""
    target = folder / entry.file_name
    if entry.source is None:
        raise InputError(
            f"{entry.name!r} cannot be downloaded: {entry.obstacle}. It comes from {entry.origin}. Convert "
            f"it to {entry.file_name} (UTF-8 lines of label, tab and text, gzip-compressed) and put that "
            "into the folder given by COTERIE_DATA"
        )
    if timeout <= 0:
        raise InputError(f"timeout must be a positive number of seconds, got {timeout!r}")
    known = entry.sha256 or _recorded(target)
    if _intact(target, entry.limit, known):
        return target
    try:
        files = _files(entry.source, base_url or PUBLIC, entry.limit, timeout, progress)
        data = _converted(entry.source, files)
        _check(data, entry, known, target)
    except InputError as error:
        raise InputError(
            f"{entry.name!r} could not be downloaded: {error}. Nothing was written; try again later, or put "
            f"{entry.file_name} into the folder given by COTERIE_DATA"
        ) from error
    write(target, gzip.compress(data, mtime=0))
    if entry.sha256 is None:
        write(record(target), f"{_sha256(data)}\n".encode())
    return target


def record(target: Path) -> Path:
    """Where the checksum of the first download is kept, if the catalogue does not know it."""
    return target.with_name(f"{target.name.removesuffix('.tsv.gz')}.sha256")


def write(target: Path, data: bytes) -> None:
    """Write a file completely or not at all."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{target} could not be written: {error.strerror or error}; "
            "set COTERIE_CACHE to use another folder"
        ) from error


def _recorded(target: Path) -> str | None:
    """The checksum found at the first download, if there was one."""
    try:
        checksum = record(target).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return checksum if re.fullmatch(r"[0-9a-f]{64}", checksum) else None


def _intact(target: Path, limit: int, known: str | None) -> bool:
    """Whether the file exists with the right content."""
    if known is None or not target.is_file():
        return False
    try:
        return _sha256(read.content(target, limit)) == known
    except InputError:
        return False


def _files(source: Source, base: str, limit: int, timeout: float, progress: Progress | None) -> list[bytes]:
    """The source files; together at most `limit` bytes."""
    opener = build_opener(_SameHost(base))
    files: list[bytes] = []
    for url, blob in zip_longest(source.urls(_allowed(base)), source.blobs):
        before = sum(map(len, files))
        files.append(_read(opener, url, limit - before, timeout, _shifted(progress, before)))
        if blob is not None and (found := git_hash(files[-1])) != blob:
            raise InputError(f"the git hash of {url} is {found}, expected {blob}")
    return files


def git_hash(file: bytes) -> str:
    """The hash by which git knows the content of a file.

    >>> git_hash(b"hello\\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    return hashlib.sha1(b"blob %d\0" % len(file) + file, usedforsecurity=False).hexdigest()


def _read(opener: OpenerDirector, url: str, limit: int, timeout: float, progress: Progress) -> bytes:
    data = bytearray()
    try:
        with opener.open(Request(url, headers={"User-Agent": "coterie"}), timeout=timeout) as response:
            length = response.headers.get("Content-Length", "")
            expected = int(length) if length.isdecimal() else None
            _bound(url, expected or 0, limit)
            while piece := response.read(_PIECE):
                data += piece
                _bound(url, len(data), limit)
                progress(len(data))
    except HTTPError as error:
        error.close()
        raise InputError(f"{url} returned {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise InputError(f"{url} did not respond for {timeout:g} seconds") from error
    except URLError as error:
        raise InputError(f"{url} could not be reached: {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise InputError(f"{url}: connection lost after {len(data):,} bytes: {error}") from error
    if expected is not None and len(data) != expected:
        raise InputError(f"{url}: connection lost after {len(data):,} of {expected:,} bytes")
    return bytes(data)


def _bound(url: str, size: int, limit: int) -> None:
    if size > limit:
        raise InputError(f"{url} is larger than the {limit:,} bytes expected for this data set")


def _shifted(progress: Progress | None, before: int) -> Progress:
    """Report the bytes of the whole set, of which `before` came with earlier files."""
    return (lambda received: progress(before + received)) if progress else (lambda received: None)


def _converted(source: Source, files: list[bytes]) -> bytes:
    try:
        return "".join(f"{label}\t{text}\n" for label, text in source.convert(*files)).encode("utf-8")
    except (ValueError, LookupError, TypeError, AttributeError, csv.Error) as error:
        raise InputError(
            f"the files of {source.repository} are not in the expected format: {error}"
        ) from error


def _check(data: bytes, entry: Entry, known: str | None, target: Path) -> None:
    checksum = _sha256(data)
    if known is not None and checksum != known:
        since = "" if entry.sha256 else f", as at the first download ({record(target)})"
        raise InputError(f"its SHA-256 is {checksum}, expected {known}{since}")
    if entry.check == "counts":
        found = _counts(entry.kind, *read.rows(data, target))
        wrong = [
            f"{found[what]:,} {what}, expected {entry.counts[what]:,}"
            for what in found
            if found[what] != entry.counts[what]
        ]
        if wrong:
            raise InputError(f"it has {' and '.join(wrong)}")


def _counts(kind: Kind, labels: list[str], rows: list[str]) -> dict[str, int]:
    """How many of everything there are in the lines of a set."""
    if kind == "retrieval":
        return retrieval.counts(labels)
    if kind == "matrix":
        return {"texts": len(rows) - 1, "terms": int(rows[0]), "classes": len(set(labels[1:]))}
    return {"texts": len(rows), "classes": len(set(labels))}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _allowed(base: str) -> str:
    """`base` if it is https, or http on this machine."""
    parts = urlsplit(base)
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)):
        return base
    raise InputError(f"base_url must start with https://, or with http:// on 127.0.0.1, got {base!r}")


class _SameHost(HTTPRedirectHandler):
    """Follows redirects within the same host, also from http to https; refuses all others."""

    def __init__(self, base: str) -> None:
        self._base = urlsplit(base)

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        """The redirected request, if it stays on the same host."""
        target = urlsplit(newurl)
        same = (target.scheme, target.netloc) == (self._base.scheme, self._base.netloc)
        if not same and (target.scheme, target.hostname) != ("https", self._base.hostname):
            fp.close()
            raise InputError(f"{req.full_url} redirects to another host, {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
