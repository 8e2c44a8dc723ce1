"""Files that are not on this machine: URLs such as s3://bucket/tickets.csv, opened through fsspec.

Only URLs come here; a path of this machine never needs fsspec. A URL can contain a password or a signature,
and what libraries say about a fault can repeat it. So messages name a URL without these, and errors of
libraries are not kept as causes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from coterie.errors import InputError
from coterie.storage.files import spelled

# at least two letters: C:// is a disk; several in a row as in simplecache::s3://bucket
_URL = re.compile(r"(?:[A-Za-z][\w+.-]+::)*([A-Za-z][\w+.-]+)://")
_USER = re.compile(r"(?<=//)[^/\s@]*@")
#: What follows the address: in a path, a ? without values is part of a name or a pattern.
_QUERY = re.compile(r"\?(?=[^/\s]*=)\S*")
_WEB_QUERY = re.compile(r"[?#]\S*")
#: Protocols in which ? and [ belong to the address, and which have no folders.
_WEB = ("http", "https")
_MAGIC = re.compile(r"[*?\[]")


def is_url(path: object) -> bool:
    """Whether a path has a protocol in front.

    >>> [is_url(path) for path in ("s3://bucket/a.csv", "C://a.csv", "a.csv", "-")]
    [True, False, False, False]
    """
    return isinstance(path, str) and _URL.match(path) is not None


def without_query(url: object) -> str:
    """A URL without the values that follow a question mark."""
    return _query(str(url)).sub("", str(url))


def shown_url(url: str) -> str:
    """A URL for messages: without user, password, and the values that follow a question mark.

    >>> shown_url("ftp://ann:secret@host/a.csv"), shown_url("https://host/a.csv?key=secret")
    ('ftp://host/a.csv', 'https://host/a.csv?…')
    """
    return _query(url).sub("?…", _USER.sub("", url))


def called(path: str | Path) -> str:
    """The name of a path or URL in messages."""
    # a name that is not UTF-8, as from an old archive, is spelled
    return shown_url(str(path)) if is_url(path) else spelled(path)


def _query(url: str) -> re.Pattern[str]:
    return _WEB_QUERY if _protocol(url) in _WEB else _QUERY


def _protocol(url: str) -> str:
    match = _URL.match(url)
    assert match is not None
    return match[1].lower()


@contextmanager
def open_url(url: str) -> Iterator[io.RawIOBase]:
    """The bytes of a URL as a stream that is read piece by piece."""
    with reported(url):
        files, path = _place(url)
        file = files.open(path, "rb")
    try:
        yield _Remote(file, url)
    finally:
        with suppress(Exception):  # what was read is good, whatever closing says
            file.close()


class _Remote(io.RawIOBase):
    """A stream of fsspec; its faults are sentences."""

    def __init__(self, file: Any, url: str):
        self._file, self._url = file, url
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        done = 0
        with reported(self._url):
            # in memory, all who open a file share one place in it
            if self._file.seekable() and self._file.tell() != self._at:
                self._file.seek(self._at)
            while done < len(buffer) and (piece := self._file.read(len(buffer) - done)):
                buffer[done : done + len(piece)] = piece
                done += len(piece)
        self._at += done
        return done


def files_at(url: str) -> dict[str, str] | None:
    """The files that a pattern matches, or those of a folder and all below it; None for a single file.

    Each has its URL, by its name below the folder, or below what comes before the wildcards.
    """
    if _protocol(url) in _WEB:
        return None
    with reported(url):
        files, path = _place(url)
        files.invalidate_cache()  # others write there as well
        if (wild := _MAGIC.search(path)) and not files.exists(path):
            fixed = path[: wild.start()].rpartition("/")[0]
            found = files.glob(path, detail=True)
            names = [name for name, info in found.items() if info["type"] == "file"]
            for name, info in found.items():
                names += files.find(name) if info["type"] == "directory" else []
        elif url.endswith("/") or files.isdir(path):
            fixed, names = path.rstrip("/"), files.find(path)
        else:
            return None
    whole = url.rstrip("/")
    before = whole[: -len(path)] if path and whole.endswith(path) else url.partition("://")[0] + "://"
    return {name[len(fixed) :].lstrip("/"): before + name for name in names}


def state_at(url: str) -> str | None:
    """What changes when the file changes, such as its time and size; None where that cannot be said."""
    with suppress(Exception):  # whoever reads it reports what is wrong
        files, path = _place(url)
        files.invalidate_cache()
        return str(files.ukey(path))
    return None


def _place(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InputError(f"reading {shown_url(url)} needs fsspec: pip install 'coterie[remote]'") from None
    files, path = url_to_fs(url)
    return files, str(path)


@contextmanager
def reported(url: str) -> Iterator[None]:
    """Turn whatever a library raises about a URL into one sentence, without what is secret in the URL."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(_sentence(url, error)) from None


def _sentence(url: str, error: Exception) -> str:
    name, protocol = shown_url(url), _protocol(url)
    if isinstance(error, ImportError):
        return f"reading {name} needs another package: {_said(url, error)}"
    if isinstance(error, ValueError) and "rotocol not known" in str(error):
        return f"{name} cannot be read: fsspec knows no protocol {protocol}://"
    answers = {getattr(fault, "status", None) for fault in (error, error.__cause__)}
    refused = isinstance(error, PermissionError) or not answers.isdisjoint({401, 403})
    if isinstance(error, FileNotFoundError) and not refused:
        return f"{name} does not exist"
    why = _said(url, error)
    if refused:
        why = "permission denied; check the credentials"
    elif "Credential" in type(error).__name__:
        why = f"no credentials were found for {protocol}://"
    elif isinstance(error, TimeoutError):
        why = "no answer in time"
    return f"{name} could not be read: {why}"


def _said(url: str, error: Exception) -> str:
    """The first line of what a library says, without what is secret in the URL."""
    said = (str(error).strip().splitlines() or [""])[0] or type(error).__name__
    for secret in _secrets(url):
        said = said.replace(secret, "…")
    return _WEB_QUERY.sub("?…", _USER.sub("", said))[:200]


def _secrets(url: str) -> list[str]:
    """The secrets in a URL: user and password, what follows a question mark, and each value in it."""
    users = [part for found in _USER.findall(url) for part in re.split("[:@]", found)]
    query = url.partition("?")[2]
    values = [query, *(part.partition("=")[2] for part in query.split("&"))]
    written = [secret for secret in users + values if len(secret) > 2]
    return sorted({*written, *map(unquote, written)}, key=len, reverse=True)
