"""Prepared collections by name: adding one is a line in `COLLECTIONS`.

A line says which data set, which of its texts, how their words are counted, and in a sentence what was done
and what had to be guessed. Preparing takes a while for the large ones, so what took long is kept on disk
while a folder is set with `keep_in`, and read from there by the other processes.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import getsourcefile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie import __version__
from coterie.corpus import Vectorizer
from coterie.corpus.sequences import Sequences
from coterie.datasets import Dataset, load, load_matrix, locations
from coterie.datasets.catalog import Entry
from coterie.errors import InputError

Ints = npt.NDArray[np.int64]
#: Chooses texts of a data set: their numbers, in the order wanted.
Choice = Callable[[Dataset], Ints]

#: Seconds of preparing from which on the result is kept on disk.
_LONG = 2.0
#: Collections that a process holds at a time.
_HELD = 3


@dataclass(frozen=True, eq=False)
class Collection:
    """Counts (documents × terms) with labels and the texts they come from; `about` says how they were got."""

    name: str
    X: csr_matrix = field(repr=False)
    labels: list[str] = field(repr=False)
    terms: list[str] = field(repr=False)
    texts: list[str] = field(repr=False)
    about: str
    vectorizer: Vectorizer | None = field(default=None, repr=False)

    def sequences(self) -> Sequences:
        """Columns of the running words of each text, for windows; −1 for a word that is no term."""
        return _words(self)


Recipe = Callable[[], Collection]
COLLECTIONS: dict[str, Recipe] = {}
#: The data sets that each collection comes from.
SOURCES: dict[str, tuple[str, ...]] = {}


def define(
    name: str,
    dataset: str,
    about: str,
    *,
    choose: Choice | None = None,
    least: int = 1,
    binary: bool = False,
    **words: Any,
) -> None:
    """Add a collection: texts of one data set, counted by a `Vectorizer` with these settings.

    `choose` picks texts before their words are counted. Texts with fewer than `least` different terms are
    left out: with none, there is nothing to cluster by. `binary` takes a term once in a text.
    """

    def prepare() -> Collection:
        data = load(dataset)
        texts, labels = data.texts, data.labels
        if choose is not None:
            rows = choose(data)
            texts, labels = [texts[i] for i in rows], [labels[i] for i in rows]
        vectorizer = Vectorizer(threads=1, **words)
        X = vectorizer.fit_transform(texts)
        kept = np.flatnonzero(np.diff(X.indptr) >= least)
        if len(kept) < len(texts):
            texts, labels = [texts[i] for i in kept], [labels[i] for i in kept]
            X = X[kept]
        if binary:
            X.data[:] = 1.0
        return Collection(
            name, X, labels, [str(t) for t in vectorizer.get_feature_names_out()], texts, about, vectorizer
        )

    COLLECTIONS[name] = prepare
    SOURCES[name] = (dataset,)


def define_matrix(name: str, dataset: str, about: str, *, classes: int) -> None:
    """Add a collection of counts alone, the documents of the largest classes; terms are numbers."""

    def prepare() -> Collection:
        data = load_matrix(dataset).largest(classes)
        numbers = [str(column) for column in range(data.X.shape[1])]
        return Collection(name, data.X, data.labels, numbers, [""] * len(data), about)

    COLLECTIONS[name] = prepare
    SOURCES[name] = (dataset,)


def at_random(n: int, seed: int) -> Choice:
    """So many texts drawn at random, in the order of the data set."""

    def choose(data: Dataset) -> Ints:
        drawn = np.random.default_rng(seed).choice(len(data), min(n, len(data)), replace=False)
        return np.sort(drawn)

    return choose


def words_of(data: Dataset | Entry) -> dict[str, Any]:
    """Settings of a `Vectorizer` for a data set in its own language: terms that two texts or more hold."""
    cut = data.tokenised and data.language == "zh"
    return {
        "language": {"en": "english", "zh": "chinese"}[data.language],
        "tokenizer": "whitespace" if cut else "words",
        "min_df": 2,
    }


# --- the collections

#: Words that stand separated by spaces, with nothing done to them.
_AS_GIVEN: dict[str, Any] = {"tokenizer": "whitespace", "stop_words": None, "stem": False, "drop": ()}

define("titles", "titles",
       "the titles as their authors cut them into words; all words are terms",
       **_AS_GIVEN)  # fmt: skip
define("titles-01", "titles",
       "the titles as their authors cut them into words; all words are terms, each once in a title",
       binary=True, **_AS_GIVEN)  # fmt: skip
define("tweet-all", "tweet", "the tweets with all their words", **_AS_GIVEN)
define("tweet-01", "tweet",
       "the tweets without words that fewer than 6 of them hold, then without tweets of fewer than 4 words; "
       "the data set comes with stop words and inflections taken out, so nothing else is done; each word "
       "once in a tweet",
       binary=True, min_df=6, least=4, **_AS_GIVEN)  # fmt: skip
define("sample", "sample",
       "the sample that comes with the package: stop words out, stemmed, terms that two texts or more hold",
       min_df=2)  # fmt: skip
define("tweet-10", "tweet",
       "the tweets without words that fewer than 10 of them hold; the data set comes with stop words and "
       "inflections taken out",
       min_df=10, **_AS_GIVEN)  # fmt: skip
define("stackoverflow-all", "stackoverflow", "the questions with all their words: stop words out, stemmed")
define("stackoverflow", "stackoverflow",
       "the questions: stop words out, stemmed, without terms that fewer than 10 of them hold, and without "
       "questions that have no term left",
       min_df=10)  # fmt: skip
define("stackoverflow-2k", "stackoverflow",
       "2,000 questions at random: stop words out, stemmed, without terms that fewer than 3 of them hold",
       choose=at_random(2000, 0), min_df=3)  # fmt: skip
define("searchsnippets", "searchsnippets",
       "snippets of a search engine: stop words out, stemmed, without terms that fewer than 10 of them hold",
       min_df=10)  # fmt: skip
define("searchsnippets-1k", "searchsnippets",
       "1,000 snippets at random: stop words out, stemmed, without terms that fewer than 10 of them hold",
       choose=at_random(1000, 0), min_df=10)  # fmt: skip
# data that must be fetched; pages say so where they are absent
define("tweets-01", "onlinebtm-tweets",
       "5,000 at random of the tweets that the paper's first author cleaned, without words that fewer than 6 "
       "of them hold, then without tweets of fewer than 4 words; each word once in a tweet",
       choose=at_random(5_000, 0), binary=True, min_df=6, least=4, **_AS_GIVEN)  # fmt: skip
define("questions", "baiduqa",
       "as many of the questions as the paper has, at random, without terms that fewer than 10 of them hold",
       choose=at_random(36_219, 0), min_df=10, **_AS_GIVEN)  # fmt: skip
define("questions-2k", "baiduqa",
       "2,000 of the questions at random, without terms that fewer than 3 of them hold",
       choose=at_random(2_000, 0), min_df=3, **_AS_GIVEN)  # fmt: skip
define("reddit-all", "reddit", "all titles with all their words: stop words out, stemmed", least=0)
define("reddit-20k", "reddit",
       "20,000 of the titles, drawn at random: stop words out, stemmed",
       choose=at_random(20_000, 0), least=0)  # fmt: skip

#: As the vocabularies of the SIGIR 2017 paper suggest: stems, without stop words, numbers, addresses and
#: lines drawn with underscores. All texts stay.
_STEMS: dict[str, Any] = {
    "drop": ("url", "email", "number"), "extra_stop_words": ["_" * n for n in range(1, 81)], "least": 0,
}  # fmt: skip
_LETTERS = re.compile("[A-Za-z]{3,}")
for _suffix, _drawn, _choice in (
    ("", "", None),
    ("-quick", "of 1,000 texts at random, ", at_random(1000, seed=0)),
):
    define(f"classic4{_suffix}", "classic4",
           f"{_drawn}stems of three letters or more, without digits, that three texts or more hold",
           choose=_choice, min_df=3, least=0, tokenizer=_LETTERS.findall)  # fmt: skip
    define(f"classic4-tokens{_suffix}", "classic4", f"{_drawn}stems that three texts or more hold",
           choose=_choice, min_df=3, **_STEMS)  # fmt: skip
    define(f"reuters4{_suffix}", "reuters4", f"{_drawn}all stems, however rare", choose=_choice, **_STEMS)
    define(f"ng20{_suffix}", "ng20",
           f"{_drawn}stems that four texts or more hold, headers of the messages kept",
           choose=_choice, min_df=4, **_STEMS)  # fmt: skip
    for _name in ("classic4", "reuters4", "ng20"):
        SOURCES[_name + _suffix] += ("reddit",)  # its titles say how words go together outside
define_matrix("reuters4-matrix", "reuters-matrix", "counts as Deng Cai made them, the four largest classes",
              classes=4)  # fmt: skip
define_matrix("ng20-matrix", "ng20-matrix", "counts as Deng Cai made them", classes=20)


def drawn_classes(first: int, last: int, seed: int = 0) -> Choice:
    """All texts of classes `first` up to `last`, of the classes with the most texts in a random order."""

    def choose(data: Dataset) -> Ints:
        names, numbers = np.unique(np.asarray(data.labels, dtype=object), return_inverse=True)
        sizes = np.bincount(numbers, minlength=len(names))
        largest = np.random.default_rng(seed).permutation(np.flatnonzero(sizes == sizes.max()))
        return np.flatnonzero(np.isin(numbers, largest[first:last]))

    return choose


#: Titles and glosses as the WWW 2015 paper has its tweets: stop words out, stemmed, no term left out.
_SUBREDDITS = {"2k-a": (0, 5), "2k-b": (5, 10), "4k": (0, 10), "10k-a": (0, 25), "10k-b": (25, 50),
               "20k": (0, 50), "50k": (0, 125), "100k": (0, 250)}  # fmt: skip
for _size, (_first, _last) in _SUBREDDITS.items():
    define(f"subreddits-{_size}", "reddit",
           f"all titles of {_last - _first} subreddits: stop words out, stemmed, all terms",
           choose=drawn_classes(_first, _last))  # fmt: skip
for _thousands in (2, 10):
    define(f"snippets-{_thousands}k", "searchsnippets",
           f"{_thousands * 1000:,} snippets at random: stop words out, stemmed, all terms",
           choose=at_random(_thousands * 1000, 0))  # fmt: skip
for _thousands in (2, 4, 10, 20, 50, 100):
    define(f"wordnet-{_thousands}k", "wordnet",
           f"{_thousands * 1000:,} glosses at random: stop words out, stemmed, all terms",
           choose=at_random(_thousands * 1000, 0))  # fmt: skip


# --- looking them up


def present(name: str) -> bool:
    """Whether the data sets of a collection are on this machine."""
    return all(locations.find(f"{dataset}.tsv.gz") for dataset in SOURCES[name])


_folder: Path | None = None


def keep_in(folder: Path | None) -> None:
    """Keep what takes long to prepare in this folder, and look there first; None keeps nothing."""
    global _folder  # noqa: PLW0603  # set once in each process, before any collection is asked for
    _folder = folder
    collection.cache_clear()


@lru_cache(maxsize=_HELD)
def collection(name: str) -> Collection:
    """The collection of that name, prepared or from disk; a few are held."""
    if name not in COLLECTIONS:
        raise InputError(f"there is no collection {name!r}; there are {', '.join(COLLECTIONS)}")
    path = _kept(name, "counts")
    if path is not None and path.is_file():
        return _read(name, path)
    began = time.process_time()
    found = COLLECTIONS[name]()
    if path is not None and time.process_time() - began > _LONG:
        _write(path, _packed(found))
    return found


@lru_cache(maxsize=1)
def _words(found: Collection) -> Sequences:
    path = _kept(found.name, "words")
    if path is not None and path.is_file():
        with np.load(path) as arrays:
            return Sequences(arrays["ids"], arrays["offsets"])
    began = time.process_time()
    # from disk come counts alone: what cuts texts into terms is learned again
    vectorizer = found.vectorizer or COLLECTIONS[found.name]().vectorizer
    if vectorizer is None:
        raise InputError(f"the collection {found.name!r} has no running words")
    words = vectorizer.sequences(found.texts)
    if path is not None and time.process_time() - began > _LONG:
        _write(path, {"ids": words.ids, "offsets": words.offsets})
    return words


def checksums(names: Sequence[str]) -> dict[str, str]:
    """The SHA-256 of the file of each data set behind these collections."""
    from coterie.storage.files import checksum

    found: dict[str, str] = {}
    for dataset in sorted({source for name in names for source in SOURCES.get(name, ())}):
        path = locations.find(f"{dataset}.tsv.gz")
        if path is not None:
            found[dataset] = checksum(path)
        else:
            load(dataset)  # says what is missing, and how to get it; the sample has no file of its own
    return found


def _kept(name: str, what: str) -> Path | None:
    """Where a prepared collection is kept: a change of how it is prepared is another file."""
    if _folder is None:
        return None
    source = getsourcefile(COLLECTIONS[name])
    code = Path(source).read_bytes() if source else b""
    files = [locations.find(f"{dataset}.tsv.gz") for dataset in SOURCES.get(name, ())]
    state = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files if path]
    digest = hashlib.sha256(code + repr((__version__, state)).encode()).hexdigest()
    return _folder / f"{name}-{what}-{digest[:12]}.npz"


def _packed(found: Collection) -> dict[str, npt.NDArray[Any]]:
    X = found.X
    arrays: dict[str, npt.NDArray[Any]] = {
        "data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape),
        "about": np.frombuffer(found.about.encode(), dtype=np.uint8),
    }  # fmt: skip
    for name in ("labels", "terms", "texts"):
        # one string after another: an array of strings would pad all to the longest
        encoded = [line.encode("utf-8", "surrogatepass") for line in getattr(found, name)]
        arrays[name] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays[f"{name}_at"] = np.cumsum([0, *map(len, encoded)])
    return arrays


def _read(name: str, path: Path) -> Collection:
    with np.load(path) as arrays:
        X = csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
        lines: dict[str, Any] = {}
        for part in ("labels", "terms", "texts"):
            joined, at = arrays[part].tobytes(), arrays[f"{part}_at"].tolist()
            lines[part] = [joined[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(at)]
        about = arrays["about"].tobytes().decode()
    return Collection(name, X, about=about, **lines)


def _write(path: Path, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write so that a reader sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.npz")
    try:
        np.savez(temporary, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
