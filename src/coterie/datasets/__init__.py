"""Labelled data sets by name: the built-in samples, and public sets on disk or to be downloaded.

    load(name)              texts and labels; never uses the network
    load_matrix(name)       counts of terms with labels, where the texts are not public
    load_retrieval(name)    texts, queries, and which text is relevant to which query
    fetch(name)             download into the user's cache and verify, for sets with a public source
    names()                 the available names
    describe()              the catalogue as a table, with the path of each set on this machine

Data sets are files ``NAME.tsv.gz`` (UTF-8 lines ``label<TAB>text``) in the folder given by ``COTERIE_DATA``,
next to a source checkout, or in the user's cache folder (``COTERIE_CACHE``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.datasets import download, locations, matrix, read, retrieval
from coterie.datasets.catalog import CATALOG, SAMPLES, Entry, Kind
from coterie.datasets.matrix import Matrix
from coterie.datasets.retrieval import Retrieval
from coterie.errors import InputError, shown
from coterie.storage.cache import cache_folder

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Dataset",
    "Matrix",
    "Retrieval",
    "describe",
    "fetch",
    "load",
    "load_matrix",
    "load_retrieval",
    "names",
]

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


def names(kind: Kind = "texts") -> list[str]:
    """Names that `load` accepts, or `load_matrix` ("matrix") or `load_retrieval` ("retrieval").

    >>> names()[:3]
    ['sample', 'bikes', 'titles']
    >>> names("retrieval")
    ['cacm', 'cisi', 'cran', 'med']
    """
    if kind not in _LOADERS:
        raise InputError(f"kind must be one of {', '.join(_LOADERS)}, got {shown(kind)}")
    samples = list(SAMPLES) if kind == "texts" else []
    return [*samples, *(name for name, entry in CATALOG.items() if entry.kind == kind)]


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
    entry = _entry(name, "texts")
    labels, texts = read.rows(*_content(entry))
    return Dataset(name, texts, labels, entry.description, entry.language, entry.tokenised)


def load_matrix(name: str) -> Matrix:
    """Load a matrix of counts from disk, with the label of each document.

    >>> load_matrix("bikes")
    Traceback (most recent call last):
    coterie.errors.InputError: there is no matrix 'bikes'; available: reuters-matrix, ng20-matrix
    """
    entry = _entry(name, "matrix")
    data, path = _content(entry)
    X, labels = matrix.lines(*read.rows(data, path), path)
    return Matrix(name, X, labels, entry.description)


def load_retrieval(name: str) -> Retrieval:
    """Load texts, queries and the pairs of a query and a text that is relevant to it from disk.

    >>> load_retrieval("bikes")
    Traceback (most recent call last):
    coterie.errors.InputError: there is no collection with queries 'bikes'; available: cacm, cisi, cran, med
    """
    entry = _entry(name, "retrieval")
    data, path = _content(entry)
    return Retrieval(name, *retrieval.lines(*read.rows(data, path), path), entry.description)


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

    The catalogue does not know all checksums. Where `check` in `describe` is "git hash" or "counts", git's
    hash of the source is compared, or how many texts and classes there are, and the checksum of the first
    download stays beside the file as ``NAME.sha256``, for later ones to be compared with.

    >>> fetch("sample")
    Traceback (most recent call last):
    coterie.errors.InputError: 'sample' is part of the package: load('sample') needs no download
    """
    if isinstance(name, str) and name in SAMPLES:
        raise InputError(f"{name!r} is part of the package: load({name!r}) needs no download")
    return download.download(
        _entry(name, None), cache_folder(), base_url=base_url, timeout=timeout, progress=progress
    )


def describe() -> pl.DataFrame:
    """The catalogue, one row per data set.

    `kind` says what reads it: `load` for texts, `load_matrix` or `load_retrieval`. `path` is the file that
    they read, or null; `fetch` says whether the set can be downloaded, `check` what a download is compared
    with.

    >>> describe().filter(name="titles").select("texts", "classes", "language").row(0)
    (2630, 9, 'zh')
    """
    import polars as pl

    columns = ["name", "kind", "texts", "classes", "language", "tokenised"]
    columns += ["licence", "source", "fetch", "check", "path"]
    rows: list[tuple[object, ...]] = []
    for sample in map(load, SAMPLES):
        counts = (len(sample), len(set(sample.labels)), sample.language, sample.tokenised)
        package = ("same as the package", "the package", False, None, str(SAMPLES[sample.name].file))
        rows.append((sample.name, "texts", *counts, *package))
    for e in CATALOG.values():
        path = locations.find(e.file_name)
        known = (e.name, e.kind, e.texts, e.classes, e.language, e.tokenised, e.licence, e.origin)
        check = e.check if e.source else None
        rows.append((*known, e.source is not None, check, None if path is None else str(path)))
    return pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)


#: What a set of each kind is called, and what reads it.
_LOADERS: dict[Kind, tuple[str, str]] = {
    "texts": ("data set", "load"),
    "matrix": ("matrix", "load_matrix"),
    "retrieval": ("collection with queries", "load_retrieval"),
}


def _entry(name: str, kind: Kind | None) -> Entry:
    """The entry of that name; it must be of that kind, unless that is None."""
    entry = CATALOG.get(name) if isinstance(name, str) else None
    if entry is None:
        what = "data set" if kind is None else _LOADERS[kind][0]
        available = [name for each in _LOADERS if kind in (None, each) for name in names(each)]
        raise InputError(f"there is no {what} {shown(name)}; available: {', '.join(available)}")
    if kind not in (None, entry.kind):
        what, loader = _LOADERS[entry.kind]
        raise InputError(f"{name!r} is a {what}: coterie.datasets.{loader}({name!r}) loads it")
    return entry


def _content(entry: Entry) -> tuple[bytes, Path]:
    """The lines of a set on disk, and where they are."""
    path = locations.find(entry.file_name)
    if path is None:
        searched = ", ".join(map(str, locations.folders()))
        raise InputError(
            f"{entry.file_name} was not found in any of these folders: {searched}. {_remedy(entry)}"
        )
    return read.content(path, entry.limit), path


def _remedy(entry: Entry) -> str:
    if entry.source is not None:
        return f"coterie.datasets.fetch({entry.name!r}) downloads it"
    return f"coterie.datasets.fetch({entry.name!r}) explains how to get it"
