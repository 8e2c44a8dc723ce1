"""`read_texts`: whatever is given as files, with options that are checked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.errors import InputError, shown
from coterie.text.inputs import is_unicode
from coterie.text.readers.bytes import MAX_BYTES
from coterie.text.readers.encodings import check_encoding
from coterie.text.readers.files import TextFiles
from coterie.text.readers.formats import FORMATS, Format
from coterie.text.readers.places import files_of
from coterie.text.readers.rows import Options
from coterie.text.readers.source import BATCH_ROWS, MAX_BAD, TextSource


def read_texts(
    path: str | Path | Sequence[str | Path],
    column: str | None = None,
    *,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    skip_bad: bool = False,
    max_bad: int = MAX_BAD,
    batch_rows: int = BATCH_ROWS,
    max_bytes: int = MAX_BYTES,
    sheet: str | int | None = None,
    header_row: int | None = None,
) -> TextSource:
    """Read the texts of a file, or of several, in batches, with bounded memory.

    Parameters
    ----------
    path
        A file, gzipped or not, or "-" for standard input. Several files are one source: a pattern
        (``logs/*.csv``, ``logs/**/*.parquet``), a folder with all that is below it, or a list. They are read
        in the order of their paths. Files elsewhere have URLs, such as ``s3://bucket/logs/*.csv``; these
        need the extra ``remote``, and the package of their protocol.
    column
        Name of the column with the texts; by default the one whose values look most like texts. In JSON,
        ``ticket.subject`` is the key subject of the object ticket.
    format
        csv, tsv, jsonl, json, parquet, xlsx or lines; by default detected from the name and the content.
    encoding, delimiter
        By default detected from the content.
    header
        Whether the first row of a CSV, TSV or Excel file names the columns; if not, they are column_1,
        column_2 …
    skip_bad
        Skip rows that cannot be read instead of raising an error at the first. `TextSource.skipped` counts
        them, and `TextSource.bad_rows` has the first 10,000 with their places, reasons and contents.
    max_bad
        Most rows that may be skipped; one more is an error.
    batch_rows
        Rows in a batch; fewer in the last one, and if rows are bad or very long.
    max_bytes
        Largest size of a compressed file (gzip, Parquet, Excel) once it is unpacked, and most memory that its
        parser may take; 4 GiB by default. A small file can be larger than the memory when unpacked.
    sheet
        Name of a sheet of an Excel file, or its number from 1; by default the one with most text.
    header_row
        The row (of a CSV file: the line) with the column names; by default the first one that is not a title.

    Examples
    --------
    >>> from pathlib import Path; from tempfile import mkdtemp
    >>> file = Path(mkdtemp()) / "tickets.csv"
    >>> _ = file.write_text("id;subject\\n1;Refund, please\\n2;Broken kettle\\n")
    >>> [batch.texts.to_list() for batch in read_texts(file, "subject")]
    [['Refund, please', 'Broken kettle']]
    """
    options = Options(encoding, delimiter, header, max_bytes, sheet, header_row)
    _check_path(path)
    _check_options(column, format, batch_rows, max_bad, options)
    settings: dict[str, Any] = {"skip_bad": skip_bad, "batch_rows": batch_rows, "max_bad": max_bad}
    found = files_of(path)
    if found is None:
        assert not isinstance(path, (list, tuple))
        return TextSource(path, column, format, options, **settings)  # type: ignore[arg-type]
    return TextFiles.of(path, found, column, format, options, **settings)


def _check_path(path: Any) -> None:
    if isinstance(path, (list, tuple)):
        for one in path:
            _check_path(one)
        return
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a string, a path or a list of these, got {shown(path)}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise InputError(f"no file can have the name {shown(path)}") from None


def _check_options(column: Any, format: Any, batch_rows: Any, max_bad: Any, options: Options) -> None:
    for name, value in (
        ("column", column),
        ("format", format),
        ("encoding", options.encoding),
        ("delimiter", options.delimiter),
    ):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be a string or None, got {shown(value)}")
    counts = {"batch_rows": batch_rows, "max_bytes": options.max_bytes, "max_bad": max_bad}
    if options.header_row is not None:
        counts["header_row"] = options.header_row
    for name, number in counts.items():
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise InputError(f"{name} must be a whole number of at least 1, got {shown(number)}")
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    delimiter, sheet = options.delimiter, options.sheet
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise InputError(
            f"delimiter must be one character other than a quote or line break, got {delimiter!r}"
        )
    if options.encoding is not None:
        check_encoding(options.encoding)
    if sheet is not None and (
        isinstance(sheet, bool)
        or not isinstance(sheet, str | int)
        or not (text := str(sheet))
        or "\0" in text
        or not is_unicode(text)
    ):
        raise InputError(f"sheet must be the name or the number of a sheet, got {shown(sheet)}")
