"""Tell the format of a file by its signature, its name and its first lines."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from coterie.text.readers import delimited
from coterie.text.readers.array import is_document
from coterie.text.readers.remote import is_url, without_query
from coterie.text.readers.rows import Options

Format = Literal["csv", "tsv", "jsonl", "json", "parquet", "xlsx", "lines"]
FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "json", "parquet", "xlsx", "lines")

_BY_NAME: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl",
    ".txt": "lines", ".text": "lines", ".log": "lines", ".parquet": "parquet", ".pq": "parquet",
    ".xlsx": "xlsx",
}  # fmt: skip


def packed_format(path: str | Path, head: bytes) -> Format | None:
    """The format of a file that is not text, by its signature or its name."""
    if head.startswith(b"PAR1\x15"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    by_name = format_by_name(path)
    return by_name if by_name in ("parquet", "xlsx") else None


def guess_format(path: str | Path, head: str, options: Options, column: str | None = None) -> Format:
    """The format of a text by the file name, else by the first lines.

    A .txt file is a table if its first lines name the column of the texts, or can hardly be anything else.
    """
    by_name = format_by_name(path)
    if by_name == "jsonl" or (by_name is None and head.lstrip().startswith(("{", '[{"', "[\n"))):
        return "json" if is_document(head) else "jsonl"
    table = options.delimiter is not None or delimited.names_column(head, column)
    if by_name == "lines":
        return "csv" if table or delimited.is_surely_a_table(head) else "lines"
    return by_name or ("csv" if table or delimited.looks_like_a_table(head) else "lines")


def format_by_name(path: str | Path) -> Format | None:
    """The format that the ending of a name stands for; of .json, which may be either, "jsonl".

    >>> format_by_name("logs/monday.csv.gz"), format_by_name("https://example.org/a.parquet?key=1")
    ('csv', 'parquet')
    """
    path = without_query(path) if is_url(path) else path
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if suffix.lower() != ".gz"]
    return _BY_NAME.get(suffixes[-1]) if suffixes else None
