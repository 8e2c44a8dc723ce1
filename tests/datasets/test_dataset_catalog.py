"""The table of sets, by itself and against the prepared files."""

import csv
import hashlib
import io
import json
import re
import time

import pytest

from coterie import datasets
from coterie.datasets import convert, download, read
from coterie.datasets.catalog import CATALOG
from coterie.storage.cache import cache_folder

FETCHABLE = [entry.name for entry in CATALOG.values() if entry.source]
#: Sets whose lines were there when the catalogue was written.
KNOWN = [entry.name for entry in CATALOG.values() if entry.sha256]


def test_the_catalogue_is_filled_in():
    for name, entry in CATALOG.items():
        assert name == entry.name
        assert entry.language in {"en", "zh"}
        assert entry.size > entry.texts > (entry.classes or entry.queries) > 1
        assert (entry.kind == "matrix") == (entry.terms is not None)
        assert (entry.kind == "retrieval") == (entry.queries is not None) == (entry.classes is None)
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256) if entry.sha256 else entry.source
        if entry.source:
            for url in entry.source.urls(download.PUBLIC):
                owner, _, commit, *path = url.removeprefix(f"{download.PUBLIC}/").split("/")
                assert owner
                assert re.fullmatch(r"[0-9a-f]{8,40}", commit)
                assert all(path)
            assert len(entry.source.blobs) in (0, len(entry.source.paths))
            assert all(re.fullmatch("[0-9a-f]{40}", blob) for blob in entry.source.blobs)


def test_what_downloads_are_compared_with():
    assert CATALOG["titles"].check == "checksum"
    assert CATALOG["baiduqa"].check == "git hash"
    counted = {"onlinebtm-tweets", *datasets.names("matrix"), *datasets.names("retrieval")}
    assert {name for name, entry in CATALOG.items() if entry.check == "counts"} == counted


def test_which_sets_can_be_fetched():
    assert set(CATALOG) - set(FETCHABLE) == {
        *("classic4", "reuters4", "ng20", "it-tickets", "wordnet", "debian", "reddit")
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_figures_agree_with_the_prepared_file(name, prepared):
    entry, path = CATALOG[name], prepared(name)
    data = read.content(path, entry.limit)
    assert (len(data), hashlib.sha256(data).hexdigest()) == (entry.size, entry.sha256)
    started = time.process_time()
    dataset = datasets.load(name)
    assert time.process_time() - started < 10
    assert (len(dataset), len(set(dataset.labels))) == (entry.texts, entry.classes)
    assert all(dataset.texts)
    assert (dataset.language, dataset.tokenised, dataset.dates) == (entry.language, entry.tokenised, None)


def as_csv(rows):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([("text", "category"), *((text, c) for c, text in rows)])
    return file.getvalue()


def clinc(rows):
    pairs = [[text, intent] for intent, text in rows]
    parts = {
        "oos_val": [["tea", "oos"]],
        "val": pairs[15_000:18_000],
        "train": pairs[:15_000],
        "test": pairs[18_000:],
    }
    return json.dumps(parts, indent=4)


def as_source(name, rows):
    """The files of the public source, made back from the rows of a prepared set."""

    def numbered(names, label, first=1):
        return str(names.index(label) + first)

    def side_by_side(names):
        return ["".join(f"{t}\n" for _, t in rows), "".join(f"{numbered(names, c)}\n" for c, _ in rows)]

    if name == "titles":
        return ["".join(f"{i}\t{label}|{text}\n" for i, (label, text) in enumerate(rows))]
    if name in {"tweet", "googlenews-ts"}:
        return ["".join(f'{{"text": "{text}", "cluster": {label}}}\n' for label, text in rows)]
    if name == "searchsnippets":
        return side_by_side(convert.SEARCH_SNIPPETS)
    if name == "stackoverflow":
        return side_by_side(convert.STACK_OVERFLOW)
    if name == "agnews":
        return ["".join(f"{numbered(convert.AG_NEWS, label)}\t{text}\n" for label, text in rows)]
    if name == "agnews-test":
        file = io.StringIO(newline="")
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows([numbered(convert.AG_NEWS, c), *t.split(" ", 1)] for c, t in rows)
        return [file.getvalue()]
    if name == "banking77":
        return [as_csv(rows[:10_003]), as_csv(rows[10_003:])]
    if name == "clinc150":
        return [clinc(rows)]
    if name == "clinc150-domain":
        intents = datasets.load("clinc150").labels
        domains = {domain: [] for domain, _ in rows}
        for intent, (domain, _) in zip(intents, rows, strict=True):
            domains[domain].append(intent)
        return [
            clinc([(intent, text) for intent, (_, text) in zip(intents, rows, strict=True)]),
            json.dumps(domains),
        ]
    assert name == "thucnews20k"
    file = [f"{text}\t{numbered(convert.THUC_NEWS, label, first=0)}\n" for label, text in rows]
    return ["".join(file[:10_000]), "".join(file[10_000:])]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FETCHABLE if name in KNOWN])
def test_fetch_gives_the_prepared_set_byte_for_byte(name, prepared, site):
    entry = CATALOG[name]
    dataset = datasets.load(prepared(name).name.removesuffix(".tsv.gz"))
    files = as_source(name, list(zip(dataset.labels, dataset.texts, strict=True)))
    assert len(files) == len(entry.source.paths)
    for url, file in zip(entry.source.urls(""), files, strict=True):
        site.routes[url] = file.encode()
    path = datasets.fetch(name, base_url=site.url)
    assert path == cache_folder() / f"{name}.tsv.gz"
    assert hashlib.sha256(read.content(path, entry.limit)).hexdigest() == entry.sha256


# The numbers are the characters of the public files. In googlenews-ts two texts have a space at an end, which
# the converter takes away.
@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("titles", [65_670]),
        ("tweet", [212_953]),
        ("googlenews-ts", [2_547_497 - 2]),
        ("thucnews20k", [221_369, 221_798]),
    ],
)
def test_sources_made_back_are_as_long_as_the_public_files(name, lengths, prepared):
    labels, texts = read.rows(read.content(prepared(name), CATALOG[name].limit), prepared(name))
    assert [len(file) for file in as_source(name, list(zip(labels, texts, strict=True)))] == lengths
