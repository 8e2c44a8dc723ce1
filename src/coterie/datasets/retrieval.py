"""Collections with queries and the texts relevant to each: from SMART files to lines, and back from lines.

A line is ``document<TAB>text``, ``query<TAB>text``, or ``relevant<TAB>query document``, where both are
numbers counted from 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coterie.datasets.convert import Row
from coterie.errors import InputError

_FIELD = re.compile(r"\.([A-Z])(?:\s+(\d{1,9}))?\s*", re.ASCII)
_JUDGEMENT = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})(\s+-)?.*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Texts, queries, and which text is relevant to which query: pairs of a query and a text."""

    name: str
    texts: list[str] = field(repr=False)
    queries: list[str] = field(repr=False)
    relevant: list[tuple[int, int]] = field(repr=False)
    description: str

    def __len__(self) -> int:
        return len(self.texts)


def smart(documents: bytes, queries: bytes, judgements: bytes, fields: tuple[str, ...]) -> Iterator[Row]:
    """Files of the SMART system; `fields` of a document are its text. Documents are numbered from 1.

    Judgements are lines that begin with a query and a document. The query is counted from 1 whatever its own
    number is (those of Cranfield have gaps), and a third number below zero says that it is not relevant.

    >>> list(smart(b".I 1\\n.T\\nLate\\n.W\\ntrains\\n", b".I 7\\n.W\\nany train?\\n", b"1 1\\n", ("T", "W")))
    [('document', 'Late trains'), ('query', 'any train?'), ('relevant', '0 0')]
    """
    numbers, texts = _texts(documents, fields)
    if numbers != list(range(1, len(texts) + 1)):
        raise ValueError("the documents are not numbered 1, 2, 3 and so on")
    asked = _texts(queries, ("T", "W"))[1]
    yield from (("document", text) for text in texts)
    yield from (("query", text) for text in asked)
    for query, document in _judged(judgements):
        if not (1 <= query <= len(asked) and 1 <= document <= len(texts)):
            raise ValueError(f"no query {query} or no document {document} for a judgement")
        yield "relevant", f"{query - 1} {document - 1}"


def lines(
    labels: list[str], rows: list[str], path: Path
) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Texts, queries and relevant pairs of a collection; `path` is used in error messages."""
    found: dict[str, list[str]] = {"document": [], "query": [], "relevant": []}
    for number, (label, row) in enumerate(zip(labels, rows, strict=True), 1):
        if label not in found:
            raise InputError(
                f"{path}, line {number}: not a document, a query or a relevant pair: {label[:60]!r}"
            )
        found[label].append(row)
    texts, queries = found["document"], found["query"]
    pairs = []
    for pair in found["relevant"]:
        match = re.fullmatch(r"(\d{1,9}) (\d{1,9})", pair, re.ASCII)
        query, text = map(int, match.groups()) if match else (len(queries), 0)
        if query >= len(queries) or text >= len(texts):
            raise InputError(f"{path}: {pair[:60]!r} is not a query and a document that is relevant to it")
        pairs.append((query, text))
    return texts, queries, pairs


def counts(labels: list[str]) -> dict[str, int]:
    """How many documents and queries there are."""
    number = Counter(labels)
    return {"texts": number["document"], "queries": number["query"]}


def _texts(file: bytes, fields: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """The numbers of the records, and their `fields` as texts, white space made one space each."""
    numbers: list[int] = []
    parts: list[list[str]] = []
    inside = ""
    for line in file.decode("latin-1").splitlines():
        match = _FIELD.fullmatch(line)
        if match and match[1] == "I" and match[2]:
            numbers.append(int(match[2]))
            parts.append([])
            inside = "I"
        elif match and not match[2]:
            inside = match[1]
        elif inside in fields and parts:
            parts[-1] += line.split()
    if not numbers:
        raise ValueError("no line begins a record with .I and a number")
    return numbers, [" ".join(words) for words in parts]


def _judged(file: bytes) -> Iterator[tuple[int, int]]:
    """Each pair of a query and a relevant document once."""
    seen: dict[tuple[int, int], None] = {}
    for line in file.decode("latin-1").splitlines():
        match = _JUDGEMENT.fullmatch(line)
        if match is None and line.strip():
            raise ValueError(f"no query and document begin the judgement {line[:60]!r}")
        if match and not match[3]:
            seen.setdefault((int(match[1]), int(match[2])))
    return iter(seen)
