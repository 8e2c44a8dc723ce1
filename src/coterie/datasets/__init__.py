"""Labelled data sets by name: the built-in samples, and public sets on disk or to be downloaded.

    load(name)      texts and labels; never uses the network
    fetch(name)     download into the user's cache and verify, for sets with a public source
    names()         the available names
    describe()      the catalogue as a table, with the path of each set on this machine

Data sets are files ``NAME.tsv.gz`` (UTF-8 lines ``label<TAB>text``) in the folder given by ``COTERIE_DATA``,
next to a source checkout, or in the user's cache folder (``COTERIE_CACHE``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.datasets import download, locations, read
from coterie.datasets.catalog import CATALOG, SAMPLES, Entry
from coterie.errors import InputError, shown
from coterie.storage.cache import cache_folder

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Dataset", "describe", "fetch", "load", "names"]

SAMPLE_FILE = SAMPLES["sample"].file
BIKES_FILE = SAMPLES["bikes"].file


@dataclass(frozen=True, slots=True)
class Dataset:
    """Texts with their labels, in the order of the source, duplicates included.

    If `tokenised`, words are separated by spaces, so ``text.split()`` gives the words. `dates` is None if the
    set has no dates.
    """

    name: str
    texts: list[str] = field(repr=False)
    labels: list[str] = field(repr=False)
    description: str
    language: str
    tokenised: bool
    dates: list[str] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.texts)


def names() -> list[str]:
    """Names that `load` accepts.

    >>> names()[:3]
    ['sample', 'bikes', 'titles']
    """
    return [*SAMPLES, *CATALOG]


def load(name: str) -> Dataset:
    """Load a data set from the package or from disk.

    >>> bikes = load("bikes")
    >>> len(bikes.texts) == len(bikes.labels) == len(bikes.dates)
    True
    """
    if isinstance(name, str) and name in SAMPLES:
        sample = SAMPLES[name]
        labels, texts, dates = read.sample(sample.file, list(sample.columns), sample.label)
        return Dataset(name, texts, labels, sample.description, "en", False, dates)
    entry = _entry(name)
    path = locations.find(entry.file_name)
    if path is None:
        searched = ", ".join(map(str, locations.folders()))
        raise InputError(
            f"{entry.file_name} was not found in any of these folders: {searched}. {_remedy(entry)}"
        )
    labels, texts = read.rows(read.content(path, entry.limit), path)
    return Dataset(name, texts, labels, entry.description, entry.language, entry.tokenised)


def fetch(
    name: str,
    *,
    base_url: str | None = None,
    timeout: float = 30,
    progress: download.Progress | None = None,
) -> Path:
    """Download a data set from its public source into the cache folder, and return the path of the file.

    The download is converted and its checksum compared with the catalogue before the file is written. A set
    that is already there and intact is not downloaded again. `base_url` is a mirror of
    raw.githubusercontent.com; `timeout` is how many seconds to wait for the server; `progress` is called with
    the number of bytes received so far.

    >>> fetch("sample")
    Traceback (most recent call last):
    coterie.errors.InputError: 'sample' is part of the package: load('sample') needs no download
    """
    if isinstance(name, str) and name in SAMPLES:
        raise InputError(f"{name!r} is part of the package: load({name!r}) needs no download")
    return download.download(
        _entry(name), cache_folder(), base_url=base_url, timeout=timeout, progress=progress
    )


def describe() -> pl.DataFrame:
    """The catalogue, one row per data set.

    `path` is the file that `load` would read, or null; `fetch` says whether the set can be downloaded.

    >>> describe().filter(name="titles").select("texts", "classes", "language").row(0)
    (2630, 9, 'zh')
    """
    import polars as pl

    columns = ["name", "texts", "classes", "language", "tokenised", "licence", "source", "fetch", "path"]
    rows: list[tuple[object, ...]] = []
    for sample in map(load, SAMPLES):
        counts = (sample.name, len(sample), len(set(sample.labels)), sample.language, sample.tokenised)
        rows.append((*counts, "same as the package", "the package", False, str(SAMPLES[sample.name].file)))
    for e in CATALOG.values():
        path = locations.find(e.file_name)
        known = (e.name, e.texts, e.classes, e.language, e.tokenised, e.licence, e.origin)
        rows.append((*known, e.source is not None, None if path is None else str(path)))
    return pl.DataFrame(rows, schema=columns, orient="row")


def _entry(name: str) -> Entry:
    if not isinstance(name, str) or name not in CATALOG:
        raise InputError(f"there is no data set {shown(name)}; available data sets: {', '.join(names())}")
    return CATALOG[name]


def _remedy(entry: Entry) -> str:
    if entry.source is not None:
        return f"coterie.datasets.fetch({entry.name!r}) downloads it"
    return f"coterie.datasets.fetch({entry.name!r}) explains how to get it"
