"""Convert the files of a public source to rows: one small pure function per format.

A converter takes the bytes of the files of a set, in the order of the catalogue, and yields (label, text). A
file in an unexpected format raises ValueError, LookupError, TypeError or csv.Error.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator

Row = tuple[str, str]
Converter = Callable[..., Iterator[Row]]

AG_NEWS = ("World", "Sports", "Business", "Sci/Tech")
SEARCH_SNIPPETS = (
    "business",
    "computers",
    "culture-arts-entertainment",
    "education-science",
    "engineering",
    "health",
    "politics-society",
    "sports",
)
STACK_OVERFLOW = (
    *("wordpress", "oracle", "svn", "apache", "excel", "matlab", "visual-studio", "cocoa", "osx", "bash"),
    *("spring", "hibernate", "scala", "sharepoint", "ajax", "qt", "drupal", "linq", "haskell", "magento"),
)
THUC_NEWS = (
    *("finance", "realty", "stocks", "education", "science"),
    *("society", "politics", "sports", "game", "entertainment"),
)


def titles(file: bytes) -> Iterator[Row]:
    """Lines ``number<TAB>label|text``.

    >>> list(titles(b"0\\tsport|two goals\\n"))
    [('sport', 'two goals')]
    """
    for line in _lines(file):
        _, row = line.split("\t", 1)
        label, text = row.split("|", 1)
        yield label, text


def clusters(file: bytes) -> Iterator[Row]:
    """Lines of JSON, ``{"text": ..., "cluster": number}``.

    >>> list(clusters(b'{"text": " two goals", "cluster": 37}\\n'))
    [('37', 'two goals')]
    """
    for line in _lines(file):
        row = json.loads(line)
        yield str(int(row["cluster"])), row["text"].strip()


def days(*files: bytes) -> Iterator[Row]:
    """Lines of text; each file is a day, and days are numbered from 0.

    >>> list(days(b"late train\\n", b"two goals\\n"))
    [('0', 'late train'), ('1', 'two goals')]
    """
    for day, file in enumerate(files):
        for line in _lines(file):
            yield str(day), line.replace("\t", " ").strip()


def search_snippets(texts: bytes, labels: bytes) -> Iterator[Row]:
    """A file of texts and a file of numbers from 1 to 8."""
    return _side_by_side(texts, labels, SEARCH_SNIPPETS)


def stack_overflow(texts: bytes, labels: bytes) -> Iterator[Row]:
    """A file of titles and a file of numbers from 1 to 20."""
    return _side_by_side(texts, labels, STACK_OVERFLOW)


def ag_news(file: bytes) -> Iterator[Row]:
    """Lines ``number<TAB>text``, numbers from 1 to 4.

    >>> list(ag_news(b"2\\ttwo goals\\n"))
    [('Sports', 'two goals')]
    """
    for line in _lines(file):
        number, text = line.split("\t", 1)
        yield _named(number, AG_NEWS), text.strip()


def ag_news_csv(file: bytes) -> Iterator[Row]:
    """CSV rows ``number,title,description`` without a header; the text is both, with a space between."""
    for number, title, description in csv.reader(io.StringIO(file.decode("utf-8"), newline=""), strict=True):
        yield _named(number, AG_NEWS), f"{title} {description}".strip()


def thuc_news(*files: bytes) -> Iterator[Row]:
    """Lines ``text<TAB>number``, numbers from 0 to 9; the files follow one another.

    >>> list(thuc_news("两个进球\\t7\\n".encode()))
    [('sports', '两个进球')]
    """
    for file in files:
        for line in _lines(file):
            text, number = line.rsplit("\t", 1)
            yield _named(number, THUC_NEWS, first=0), text


def banking(*files: bytes) -> Iterator[Row]:
    """CSV rows ``text,category`` below a header; the files follow one another.

    >>> list(banking(b"text,category\\nWhere is my card?,card_arrival\\n"))
    [('card_arrival', 'Where is my card?')]
    """
    for file in files:
        for row in csv.DictReader(io.StringIO(file.decode("utf-8"), newline=""), strict=True):
            yield row["category"], re.sub(r"[\t\r\n]", " ", row["text"]).strip()


def clinc_intents(file: bytes) -> Iterator[Row]:
    """JSON with the lists ``train``, ``val`` and ``test`` of ``[text, intent]``; others are of no intent.

    >>> list(clinc_intents(b'{"val": [["hi", "greeting"]], "train": [["bye", "goodbye"]], "test": []}'))
    [('goodbye', 'bye'), ('greeting', 'hi')]
    """
    parts = json.loads(file)
    for name in ("train", "val", "test"):
        for text, intent in parts[name]:
            yield intent, text.strip()


def clinc_domains(file: bytes, domains: bytes) -> Iterator[Row]:
    """The same texts by the domain of their intent; `domains` are lists of intents by domain."""
    domain_of = {intent: name for name, intents in json.loads(domains).items() for intent in intents}
    for intent, text in clinc_intents(file):
        yield domain_of[intent], text


def _side_by_side(texts: bytes, labels: bytes, names: tuple[str, ...]) -> Iterator[Row]:
    for text, number in zip(_lines(texts), _lines(labels), strict=True):
        yield _named(number, names), text.replace("\t", " ").strip()


def _named(number: str, names: tuple[str, ...], first: int = 1) -> str:
    """The name that a number stands for, the first being number `first`."""
    index = int(number) - first
    if not 0 <= index < len(names):
        raise ValueError(f"label {number!r} is not one of {first} to {first + len(names) - 1}")
    return names[index]


def _lines(file: bytes) -> list[str]:
    """Lines of a UTF-8 file, without byte order mark, carriage returns and empty lines at the end."""
    lines = file.decode("utf-8-sig").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
