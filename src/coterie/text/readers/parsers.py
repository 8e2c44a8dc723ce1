"""Parsers of Parquet files and workbooks, run as a program of their own (`coterie.text.readers.isolated`).

A hostile file can make them abort, or ask for more memory than there is: then this process ends, and not the
one that wants the rows. It imports nothing of coterie, so that it starts quickly.

Standard output gets messages: a letter, the length of the content, the content. B is a batch, E a sentence
about what is wrong with the file, L says that the file is larger than allowed, D is the end.
"""

from __future__ import annotations

import io
import json
import os
import re
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, time
from itertools import islice
from typing import IO, Any

HEAD = struct.Struct(">cQ")
#: Cells of a sheet, empty ones included; more only if the sheet has as many bytes.
MOST_CELLS = 1 << 25
#: Memory that even a small limit leaves: libraries need some for themselves.
LEAST_MEMORY = 1 << 29
_CELLS_AT_ONCE = 1 << 16
#: Rows of a sheet that are looked at to tell how much text it has.
_ROWS_SEEN = 1_000
_PIECE = 1 << 20

# <c r="AB12"> and <row r="12">; up to Z a sheet cannot have too many cells
_BEYOND_Z = re.compile(rb'\br="([A-Z]{2,3})\d{1,7}"')
_ROW = re.compile(rb'\br="[A-Z]{0,3}(\d{1,7})"')
_LONGEST_MATCH = 16

Parser = Callable[[str, int, int, str], Iterator[bytes]]


class Refused(Exception):
    """The file is larger than allowed."""


def parquet(path: str, rows: int, most: int, _: str) -> Iterator[bytes]:
    """The rows of a Parquet file as Arrow streams; at least one, which may be empty."""
    import polars as pl

    scan = pl.scan_parquet(path, glob=False)
    yield _arrow(scan.head(0).collect())
    size = 0.0
    for batch in scan.collect_batches(chunk_size=rows, maintain_order=True):
        for part in batch.iter_slices(rows):
            size += part.estimated_size()
            if size > most:
                raise Refused
            yield _arrow(part)


def _arrow(frame: Any) -> bytes:
    stream = io.BytesIO()
    frame.write_ipc_stream(stream)
    return stream.getvalue()


def xlsx(path: str, rows: int, most: int, wanted: str = "") -> Iterator[bytes]:
    """A sheet as JSON: the names of all sheets and the number of this one, then its rows, some at a time.

    `wanted` is the name or the number of the sheet, or nothing for the one with most text; if there is no
    such sheet, the number is null and no rows follow. Rows come with the number of the first one.
    """
    from python_calamine import CalamineWorkbook

    with suppress(zipfile.BadZipFile):  # an older kind of workbook
        _check_sizes(path, most)
    book = CalamineWorkbook.from_path(path)
    names = book.sheet_names
    chosen = _sheet(book, names, wanted)
    yield json.dumps([names, chosen], ensure_ascii=False).encode()
    if chosen is None:
        return
    sheet = book.get_sheet_by_index(chosen)
    above = sheet.start[0] if sheet.start else 0  # number of empty rows above the table
    lines = islice(sheet.iter_rows(), above, None)
    number, at_once = above + 1, max(1, min(rows, _CELLS_AT_ONCE // max(sheet.width, 1)))
    while cells := [[_spelling(cell) for cell in line] for line in islice(lines, at_once)]:
        yield json.dumps([number, cells], ensure_ascii=False).encode()
        number += len(cells)


def _sheet(book: Any, names: list[str], wanted: str) -> int | None:
    """The number of a sheet, counted from 0."""
    if wanted:
        if wanted in names:
            return names.index(wanted)
        number = int(wanted) if wanted.isdecimal() and len(wanted) < 6 else 0
        return number - 1 if 0 < number <= len(names) else None
    if len(names) == 1:
        return 0
    best, most, cells = None, -1.0, 0
    for number in range(len(names)):
        try:
            sheet = book.get_sheet_by_index(number)
            amount = _amount_of_text(sheet)
        except Exception:  # a chart, or a sheet that is damaged
            amount = -1.0
        else:
            cells += sheet.height * sheet.width
        if best is None or amount > most:
            best, most = number, amount
        if cells > MOST_CELLS:  # making room for all of them takes too long
            break
    return best


def _amount_of_text(sheet: Any) -> float:
    """About how many characters of text a sheet has, judged by its first rows."""
    seen = list(islice(sheet.iter_rows(), _ROWS_SEEN))
    texts = (cell for line in seen for cell in line if isinstance(cell, str))
    return sum(map(len, texts)) * max(sheet.height, 1) / max(len(seen), 1)


def _check_sizes(path: str, most: int) -> None:
    """Refuse a workbook before a parser makes room for all of its bytes and cells."""
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > most:
            raise Refused
        for member in archive.infolist():
            if member.filename.startswith("xl/worksheets/") and member.filename.endswith(".xml"):
                columns = max((_column(name) for name in _matches(archive, member, _BEYOND_Z)), default=0)
                rows = max(map(int, _matches(archive, member, _ROW)), default=0) if columns else 0
                if rows * columns > max(MOST_CELLS, member.file_size):
                    raise Refused(
                        f"its cells reach column {columns:,} and row {rows:,}, which makes "
                        f"{rows * columns:,} cells, nearly all empty; delete the cells outside the table"
                    )


def _matches(archive: zipfile.ZipFile, member: zipfile.ZipInfo, wanted: re.Pattern[bytes]) -> Iterator[bytes]:
    with archive.open(member) as file:
        before = b""
        while piece := file.read(_PIECE):
            yield from set(wanted.findall(before + piece))
            before = piece[-_LONGEST_MATCH:]


def _column(name: bytes) -> int:
    """The number of a column: A is 1, Z 26, AA 27."""
    number = 0
    for letter in name:
        number = number * 26 + letter - ord("A") + 1
    return number


def _spelling(cell: Any) -> str:
    """A cell as a person would read it in the sheet."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time(0):
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, (date, datetime)) else str(cell)


def _limit_memory(most: int) -> None:
    """Let the system refuse memory beyond the limit; where it has no such limits there is none."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        with open("/proc/self/status", encoding="ascii") as file:
            now = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData"))
        limit = now + max(most, LEAST_MEMORY)
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(name: str, path: str, rows: str, most: str, sheet: str) -> None:
    """Parse a file and write messages."""
    out: IO[bytes] = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no message
    parse: Parser = parquet if name == "parquet" else xlsx
    __import__({"parquet": "polars", "xlsx": "python_calamine"}[name])
    _limit_memory(int(most))
    kind, content = b"D", b""
    try:
        for batch in parse(path, int(rows), int(most), sheet):
            _send(out, b"B", batch)
    except BrokenPipeError:  # nobody wants more
        return
    except (Refused, MemoryError) as error:
        kind, content = (b"E", str(error).encode()) if str(error) else (b"L", b"")
    except BaseException as error:  # whatever a library says about a damaged file, panics included
        first = (str(error).splitlines() or [type(error).__name__])[0]
        kind, content = b"E", first[:200].encode("utf-8", "replace")
    with suppress(BrokenPipeError):
        _send(out, kind, content)


def _send(out: IO[bytes], kind: bytes, content: bytes) -> None:
    out.write(HEAD.pack(kind, len(content)))
    out.write(content)
    out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
