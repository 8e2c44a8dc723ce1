"""The data of the papers: fetched from stand-ins in the form of their sources, written for these tests, and loaded."""

import io
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_matrix, random

from coterie import datasets
from coterie.datasets import download
from coterie.datasets.catalog import CATALOG
from coterie.errors import InputError

QUESTIONS = "0\t电脑|电脑 死机 怎么 办\n1\t美食|怎么 做 面条\n2\t电脑|鼠标 没有 反应\n".encode()
DAYS = [b"late train\nsnow snow\n", b"two goals\n", "café\tnews \nrain\n".encode()]


def matlab(X, gnd, **settings):
    file = io.BytesIO()
    savemat(file, {"fea": X, "gnd": gnd, "trainIdx": np.arange(3)[:, None]}, **settings)
    return file.getvalue()


COUNTS = np.array([[1, 0, 2, 0], [0, 0, 0, 3], [0, 1, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0]], dtype=float)
CLASSES = np.array([[3.0], [1.0], [3.0], [1.0], [2.0]])

CACM = [
    b".I 1\r\n.T\r\nSorting by Hand\r\n.B\r\nCACM January, 1960\r\n.A\r\nDoe, J.\r\n.N\r\nCA600101 JB\r\n.X\r\n"
    b"2\t5\t1\r\n1\t5\t1\r\n.I 2\r\n.T\r\nA Note on\r\nQueues\r\n.W\r\nQueues are  measured.\r\n"
    b".5 of them are long.\r\n.B\r\nCACM June, 1961\r\n",
    b".I 1\r\n.W\r\n How do I sort?\r\n.N\r\n 1. Jane Doe (sort)\r\n \r\n.I 2\r\n.W\r\n papers by Doe\r\n.A\r\n"
    b"Doe, J.\r\n",
    b"01 0001  0 0\r\n02 1 0 0\r\n02 2  0 0\r\n",
]
CISI = [
    b".I 1\n.T\nUse of Shelves\n.A\nRoe, R.\n.W\nShelves bend.\n.X\n1\t2\t3\n.I 2\n.T\nCards\n.W\nCards tear.\n",
    b".I 1\n.W\nDo shelves bend?\n\n\n.I 2\n.T\nOn Cards\n.A\nPoe, P.\n.W\n    Are cards used?\n.B\n(Journal, 1)\n",
    b"     1      1\t0\t0.000000\n     2      2\t0\t0.000000\n     2      2\t0\t0.000000\n",
]
CRAN = [
    b".I 1\n.T\nflow past a plate .\n.A\ndoe,j.\n.B\nj. ae. scs. 1, 1950 .\n.W\nflow past a plate .\n  a plate is studied .\n"
    b".I 2\n.T\n.A\n.B\n.W\n.I 3\n.T\nwings .\n.A\n.B\n.W\nwings .\nwings are two- \ndimensional .\n",
    b".I 001\n.W\nwhat of plates .\n.I 004\n.W\nwhat of wings .\n",
    b"1 1 2 \n1 3 -1\n2 3 4 \n2 1 -1",
]
MED = [
    b".I 1\n.W\nthe lens of the eye .          \n  lenses are clear .    \n.I 2\n.W\nhearts beat.\n",
    b".I 1\n.W\n lenses.\n.I 2\n.W\n hearts,\nand valves.\n\n",
    b"1 1 1\n2 2 1\n",
]
#: What stands in for the files of each set, and how many of everything they hold.
STAND_INS = {
    "baiduqa": ([QUESTIONS], {"texts": 3, "classes": 2}),
    "onlinebtm-tweets": (DAYS, {"texts": 5, "classes": 3}),
    "reuters-matrix": (
        [matlab(csc_matrix(COUNTS), CLASSES, do_compression=True)],
        {"texts": 5, "classes": 3, "terms": 4},
    ),
    "ng20-matrix": ([matlab(csc_matrix(COUNTS), CLASSES)], {"texts": 5, "classes": 3, "terms": 4}),
    "cacm": (CACM, {"texts": 2, "queries": 2}),
    "cisi": (CISI, {"texts": 2, "queries": 2}),
    "cran": (CRAN, {"texts": 3, "queries": 2}),
    "med": (MED, {"texts": 2, "queries": 2}),
}
LOADERS = {"texts": datasets.load, "matrix": datasets.load_matrix, "retrieval": datasets.load_retrieval}


@pytest.fixture
def served(site, monkeypatch):
    """The paths of the stand-ins of a set, which the site serves; the catalogue has their counts and hashes."""

    def serve(name):
        files, counts = STAND_INS[name]
        entry = CATALOG[name]
        assert {what for what, number in entry.counts.items() if number is not None} == set(counts)
        blobs = tuple(map(download.git_hash, files)) if entry.source.blobs else ()
        monkeypatch.setitem(
            CATALOG, name, replace(entry, source=replace(entry.source, blobs=blobs), **counts)
        )
        paths = entry.source.urls("")
        site.routes |= dict(zip(paths, files, strict=True))
        return paths

    return serve


def refused(site, name, message, own_cache):
    with pytest.raises(InputError, match=message) as error:
        datasets.fetch(name, base_url=site.url)
    assert len(str(error.value).splitlines()) == 1
    assert not list(own_cache.glob("*"))


def test_every_set_without_a_checksum_has_a_stand_in():
    assert set(STAND_INS) == {entry.name for entry in CATALOG.values() if entry.sha256 is None}


@pytest.mark.parametrize("name", STAND_INS)
def test_a_set_is_fetched_and_loaded(site, served, own_cache, nowhere, name):
    paths = served(name)
    load = LOADERS[CATALOG[name].kind]
    with pytest.raises(InputError, match=rf"not found .* coterie.datasets.fetch\('{name}'\) downloads it"):
        load(name)
    assert datasets.fetch(name, base_url=site.url) == own_cache / f"{name}.tsv.gz"
    assert site.asked == paths
    assert len(load(name)) == CATALOG[name].texts
    assert len(repr(load(name))) < 300
    datasets.fetch(name, base_url=site.url)
    assert site.asked == paths  # not fetched again


@pytest.mark.parametrize("name", STAND_INS)
def test_a_missing_file_is_said(site, served, own_cache, name):
    last = served(name)[-1]
    del site.routes[last]
    refused(site, name, f"{last} returned 404", own_cache)


@pytest.mark.parametrize("name", STAND_INS)
def test_a_file_cut_off_is_refused(site, served, own_cache, name):
    last = served(name)[-1]
    whole = site.routes[last]

    def half(answer):
        answer.start(len(whole))
        answer.wfile.write(whole[: len(whole) // 2])

    site.routes[last] = half
    refused(site, name, f"connection lost after {len(whole) // 2:,} of {len(whole):,} bytes", own_cache)


@pytest.mark.parametrize("name", STAND_INS)
def test_a_file_that_is_shorter_is_refused(site, served, own_cache, name):
    """Cut off where nobody announced a length: the git hash, the format or the counts tell."""
    first = served(name)[0]
    site.routes[first] = site.routes[first][: len(site.routes[first]) // 3]
    refused(site, name, "git hash|expected format|expected", own_cache)


@pytest.mark.parametrize("name", STAND_INS)
def test_a_page_instead_of_a_file_is_refused(site, served, own_cache, name):
    site.routes[served(name)[0]] = b"<!DOCTYPE html>\n<html>\n<title>Sorry</title>\n"
    refused(site, name, "git hash|expected format|expected", own_cache)


@pytest.mark.parametrize("name", STAND_INS)
def test_a_redirect_to_another_host_is_refused(site, served, own_cache, name):
    last = served(name)[-1]
    site.routes[last] = lambda answer: answer.start(0, 302, Location="https://example.org/file")
    refused(site, name, "redirects to another host", own_cache)


@pytest.mark.parametrize("name", STAND_INS)
def test_a_redirect_within_the_host_is_followed(site, served, name):
    last = served(name)[-1]
    site.routes["/moved"] = site.routes[last]
    site.routes[last] = lambda answer: answer.start(0, 301, Location="/moved")
    datasets.fetch(name, base_url=site.url)


@pytest.mark.parametrize("name", [name for name in STAND_INS if CATALOG[name].check == "counts"])
def test_other_counts_are_refused(site, served, own_cache, monkeypatch, name):
    served(name)
    entry = CATALOG[name]
    for what, number in entry.counts.items():
        if number is not None:
            monkeypatch.setitem(CATALOG, name, replace(entry, **{what: number + 1}))
            refused(site, name, f"it has {number} {what}, expected {number + 1}", own_cache)


def test_questions(site, served):
    served("baiduqa")
    datasets.fetch("baiduqa", base_url=site.url)
    questions = datasets.load("baiduqa")
    assert questions.labels == ["电脑", "美食", "电脑"]
    assert questions.texts[1].split() == ["怎么", "做", "面条"]
    assert (questions.language, questions.tokenised) == ("zh", True)


def test_tweets_come_in_slices(site, served):
    served("onlinebtm-tweets")
    datasets.fetch("onlinebtm-tweets", base_url=site.url)
    tweets = datasets.load("onlinebtm-tweets")
    assert tweets.labels == ["0", "0", "1", "2", "2"]
    assert tweets.texts == ["late train", "snow snow", "two goals", "café news", "rain"]


@pytest.mark.parametrize("name", ["reuters-matrix", "ng20-matrix"])
def test_a_matrix_is_the_same_after_all(site, served, name):
    served(name)
    datasets.fetch(name, base_url=site.url)
    matrix = datasets.load_matrix(name)
    assert matrix.X.format == "csr"
    assert (matrix.X.toarray() == COUNTS).all()
    assert matrix.labels == ["3", "1", "3", "1", "2"]
    assert "without the names of the terms" in matrix.description


def test_the_largest_classes_with_the_terms_they_have(site, served):
    served("reuters-matrix")
    datasets.fetch("reuters-matrix", base_url=site.url)
    matrix = datasets.load_matrix("reuters-matrix")
    assert matrix.largest(1).labels == ["3", "3"]
    assert (matrix.largest(1).X.toarray() == [[1, 0, 2], [0, 1, 0]]).all()
    assert matrix.largest(2).labels == ["3", "1", "3", "1"]
    assert (matrix.largest(9).X.toarray() == COUNTS).all()


def test_a_matrix_of_fractions_keeps_every_digit(site, served, monkeypatch):
    X = random(40, 30, 0.1, format="csc", random_state=0) / 3
    gnd = np.arange(40)[:, None] % 4
    (path,) = served("ng20-matrix")
    monkeypatch.setitem(
        CATALOG, "ng20-matrix", replace(CATALOG["ng20-matrix"], texts=40, classes=4, terms=30)
    )
    site.routes[path] = matlab(X, gnd)
    datasets.fetch("ng20-matrix", base_url=site.url)
    loaded = datasets.load_matrix("ng20-matrix")
    assert (loaded.X != X).nnz == 0
    assert loaded.labels == [str(label) for label in gnd.ravel()]


EXPECTED = {
    "cacm": (
        ["Sorting by Hand", "A Note on Queues Queues are measured. .5 of them are long."],
        ["How do I sort?", "papers by Doe"],
        [(0, 0), (1, 0), (1, 1)],
    ),
    "cisi": (
        ["Use of Shelves Shelves bend.", "Cards Cards tear."],
        ["Do shelves bend?", "On Cards Are cards used?"],
        [(0, 0), (1, 1)],
    ),
    "cran": (
        ["flow past a plate . a plate is studied .", "", "wings . wings are two- dimensional ."],
        ["what of plates .", "what of wings ."],
        [(0, 0), (1, 2)],
    ),
    "med": (
        ["the lens of the eye . lenses are clear .", "hearts beat."],
        ["lenses.", "hearts, and valves."],
        [(0, 0), (1, 1)],
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_collection_with_queries(site, served, name):
    served(name)
    datasets.fetch(name, base_url=site.url)
    collection = datasets.load_retrieval(name)
    assert (collection.texts, collection.queries, collection.relevant) == EXPECTED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_documents_are_those_of_classic4(prepared, name):
    """Once such a collection is here, its texts are those of the prepared set, which has no empty ones."""
    prepared("classic4")
    prepared(name, fetched=True)
    classic = datasets.load("classic4")
    same = [text for text, label in zip(classic.texts, classic.labels, strict=True) if label == name]
    assert [text for text in datasets.load_retrieval(name).texts if text] == same


@pytest.mark.slow
def test_the_largest_classes_of_reuters_are_the_matrix_of_the_paper(prepared):
    prepared("reuters-matrix", fetched=True)
    assert datasets.load_matrix("reuters-matrix").largest(4).X.shape == (6_387, 16_921)


@pytest.mark.parametrize(
    ("file", "number", "message"),
    [
        (b"late trains\n", 0, "no line begins a record with .I and a number"),
        (b"", 1, "no line begins a record with .I and a number"),
        (b".I 1\n.W\na\n.I 3\n.W\nb\n", 0, "not numbered 1, 2, 3"),
        (b"1 3 0 0\n", 2, "no query 1 or no document 3"),
        (b"3 1 0 0\n", 2, "no query 3 or no document 1"),
        (b"0 1 0 0\n", 2, "no query 0 or no document 1"),
        (b"1\n", 2, "no query and document begin the judgement '1'"),
        (b"1 1 0\n\none two\n", 2, "no query and document begin the judgement 'one two'"),
        (b"\xff\xfe\x00", 2, "no query and document begin the judgement"),
        (b"9999999999 1\n", 2, "no query and document begin the judgement"),
    ],
)
def test_a_damaged_collection_is_refused(site, served, own_cache, file, number, message):
    site.routes[served("cacm")[number]] = file
    refused(site, "cacm", message, own_cache)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("document\ta\nlabel\tb\n", "line 2: not a document, a query or a relevant pair: 'label'"),
        ("document\ta\nquery\tb\nrelevant\t0 1\n", "'0 1' is not a query and a document"),
        ("document\ta\nquery\tb\nrelevant\t1 0\n", "'1 0' is not a query and a document"),
        ("document\ta\nquery\tb\nrelevant\t-1 0\n", "'-1 0' is not"),
        ("document\ta\nquery\tb\nrelevant\t0\n", "'0' is not"),
        ("relevant\t0 0\n", "'0 0' is not"),
    ],
)
def test_a_damaged_collection_on_disk_is_one_sentence(nowhere, put, lines, message):
    put(nowhere, "cacm", lines.encode())
    with pytest.raises(InputError, match=message):
        datasets.load_retrieval("cacm")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "the first line must be 'terms'"),
        ("3\t0:1\n", "the first line must be 'terms'"),
        ("terms\tmany\n1\t0:1\n", "invalid literal"),
        ("terms\t-4\n", "not a matrix"),
        ("terms\t4\n1\t4:1\n", "a column is not below 4"),
        ("terms\t4\n1\t-1:1\n", "line 2 must consist"),
        ("terms\t4\n1\t0.5:1\n", "line 2 must consist"),
        ("terms\t4\n1\t0:nan\n", "line 2 must consist"),
        ("terms\t4\n1\t0:1e999\n", "a count is not finite"),
        ("terms\t4\n1\tnan:1\n", "line 2 must consist"),
        ("terms\t4\n1\t0:1\n1\t0 1\n", "line 3 must consist of column:count"),
        ("terms\t4\n1\t0:1:2 3\n", "line 2 must consist"),
        ("terms\t4\n1\t0:1 \n", "line 2 must consist"),
        ("terms\t4\n1\t0:1-1\n", "could not convert"),
        ("terms\t4\n1\tlate train\n", "line 2 must consist of column:count"),
        ("terms\t99999999999999999999\n1\t0:1\n", "not a matrix"),
    ],
)
def test_a_damaged_matrix_on_disk_is_one_sentence(nowhere, put, lines, message):
    put(nowhere, "ng20-matrix", lines.encode())
    with pytest.raises(InputError, match=message) as error:
        datasets.load_matrix("ng20-matrix")
    assert len(str(error.value).splitlines()) == 1


def test_a_set_of_another_kind_says_what_loads_it():
    with pytest.raises(
        InputError, match=r"'cacm' is a collection with queries: .*load_retrieval\('cacm'\) loads it"
    ):
        datasets.load("cacm")
    with pytest.raises(
        InputError, match=r"'ng20-matrix' is a matrix: .*load_matrix\('ng20-matrix'\) loads it"
    ):
        datasets.load_retrieval("ng20-matrix")
    with pytest.raises(
        InputError, match=r"'titles' is a data set: coterie.datasets.load\('titles'\) loads it"
    ):
        datasets.load_matrix("titles")
    with pytest.raises(InputError, match="there is no matrix None; available: reuters-matrix, ng20-matrix"):
        datasets.load_matrix(None)
    with pytest.raises(InputError, match="kind must be one of texts, matrix, retrieval, got 'sounds'"):
        datasets.names("sounds")
    with pytest.raises(InputError, match=r"there is no data set 'cac'; available: sample, .* med"):
        datasets.fetch("cac")
