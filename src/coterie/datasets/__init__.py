"""Named labelled texts: the built-in sample, and public sets that are looked up on disk or fetched.

    load(name)      texts and labels; never touches the network
    fetch(name)     the checked download into the user's cache, for sets with a public source
    names()         what there is
    describe()      the catalogue as a table, with the place where each set was found

Data sets lie as ``NAME.tsv.gz`` (UTF-8 lines ``label<TAB>text``) in the folder that ``COTERIE_DATA`` names,
beside a source checkout, or in the user's cache folder (``COTERIE_CACHE``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.datasets import download, places, read
from coterie.datasets.catalog import CATALOG, SAMPLE, Entry
from coterie.errors import InputError
from coterie.storage.cache import cache_folder

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Dataset", "describe", "fetch", "load", "names"]

SAMPLE_FILE = Path(__file__).with_name("sample.csv")
_SAMPLE_ABOUT = "messages to the customer service of a shop over a year, raw, some of them empty"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Texts with a label each, in the order of the source; nothing is deduplicated.

    `tokenised` says that the words stand separated by spaces, so that ``text.split()`` gives the words.
    `dates` is None where the set has none.
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
    """Names that `load` knows.

    >>> names()[:3]
    ['sample', 'titles', 'searchsnippets']
    """
    return [SAMPLE, *CATALOG]


def load(name: str) -> Dataset:
    """The data set of that name, from the package or from disk.

    >>> sample = load("sample")
    >>> len(sample.texts) == len(sample.labels) == len(sample.dates)
    True
    """
    if name == SAMPLE:
        labels, texts, dates = read.sample(SAMPLE_FILE)
        return Dataset(SAMPLE, texts, labels, _SAMPLE_ABOUT, "en", False, dates)
    entry = _entry(name)
    path = places.find(entry.file_name)
    if path is None:
        searched = ", ".join(map(str, places.folders()))
        raise InputError(
            f"{entry.file_name} is in none of the folders searched: {searched}. {_remedy(entry)}"
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
    """Download a set from its public source into the cache folder, and return the path of its file.

    What arrives is converted and must have the checksum that the catalogue holds; the file appears only when
    it is whole. A set that is there already, intact, is not downloaded again. `base_url` is a mirror of
    raw.githubusercontent.com; `timeout` is how many seconds the server may be silent; `progress` is called
    with the number of bytes received so far.

    >>> fetch("sample")
    Traceback (most recent call last):
    coterie.errors.InputError: 'sample' comes with the package: load('sample') needs no download
    """
    if name == SAMPLE:
        raise InputError("'sample' comes with the package: load('sample') needs no download")
    return download.download(
        _entry(name), cache_folder(), base_url=base_url, timeout=timeout, progress=progress
    )


def describe() -> pl.DataFrame:
    """The catalogue: one row for each set; `found` is the file that `load` would read, or null.

    `fetch` says whether the set can be downloaded.

    >>> describe().filter(name="titles").select("texts", "classes", "language").row(0)
    (2630, 9, 'zh')
    """
    import polars as pl

    sample = load(SAMPLE)
    classes = len(set(sample.labels))
    columns = ["name", "texts", "classes", "language", "tokenised", "licence", "source", "fetch", "found"]
    package = ("that of the package", "the package", False, str(SAMPLE_FILE))
    rows: list[tuple[object, ...]] = [
        (SAMPLE, len(sample), classes, sample.language, sample.tokenised, *package)
    ]
    for e in CATALOG.values():
        path = places.find(e.file_name)
        found = None if path is None else str(path)
        fetchable = e.source is not None
        rows.append(
            (e.name, e.texts, e.classes, e.language, e.tokenised, e.licence, e.origin, fetchable, found)
        )
    return pl.DataFrame(rows, schema=columns, orient="row")


def _entry(name: str) -> Entry:
    if name not in CATALOG:
        raise InputError(f"there is no data set {name!r}; there are {', '.join(names())}")
    return CATALOG[name]


def _remedy(entry: Entry) -> str:
    if entry.source is not None:
        return f"coterie.datasets.fetch({entry.name!r}) downloads it"
    return f"coterie.datasets.fetch({entry.name!r}) says where it comes from"
