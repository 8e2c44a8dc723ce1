"""Start a parser in a process of its own and take over what it reads (`coterie.text.readers.parsers`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

from coterie.errors import InputError
from coterie.text.readers import parsers
from coterie.text.readers.bytes import TooLarge

_FORMATS = {"parquet": "Parquet", "xlsx": "an Excel workbook"}


def parsed(
    parser: Literal["parquet", "xlsx"],
    file: Path,
    rows: int,
    max_bytes: int,
    source_name: str,
    sheet: str = "",
) -> Iterator[bytes]:
    """The batches that a parser reads from a file; its death is an InputError.

    It may take `max_bytes` of memory, and the file may not unpack to more. `sheet` is the name or the number
    of the sheet of a workbook.
    """
    numbers = [str(rows), str(max_bytes)]
    command = [sys.executable, "-P", parsers.__file__, parser, os.fspath(file), *numbers, sheet]
    # each thread takes memory, and reading waits for this side anyway
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as child:
        assert child.stdout is not None
        try:
            while (message := _message(child.stdout)) is not None:
                kind, content = message
                if kind == b"D":
                    return
                if kind == b"L":
                    raise TooLarge(max_bytes)
                if kind == b"E":
                    reason = content.decode("utf-8", "replace")
                    break
                yield content
            else:
                reason = "it is damaged, or needs too much memory"
        finally:
            child.kill()
    raise InputError(f"{source_name} could not be read as {_FORMATS[parser]}: {reason}")


def _message(stream: IO[bytes]) -> tuple[bytes, bytes] | None:
    """The next message, or None if the parser ended before it was complete."""
    head = stream.read(parsers.HEAD.size)
    if len(head) < parsers.HEAD.size:
        return None
    kind, length = parsers.HEAD.unpack(head)
    content = stream.read(length)
    return (kind, content) if len(content) == length else None
