"""Finding and reading sets; what a damaged file says; the sample; the table."""

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import datasets
from coterie.datasets import locations, read
from coterie.datasets.catalog import CATALOG, SAMPLES
from coterie.errors import InputError
from coterie.storage.cache import cache_folder


@pytest.mark.usefixtures("nowhere")
def test_an_unknown_name_gives_the_names_there_are():
    with pytest.raises(InputError, match=r"no data set 'title'; available: sample, bikes, titles, .*reddit"):
        datasets.load("title")
    with pytest.raises(InputError, match="available: sample, bikes, titles"):
        datasets.fetch("../titles")


def test_a_set_that_is_nowhere_says_where_it_was_looked_for(nowhere, own_cache):
    with pytest.raises(InputError) as error:
        datasets.load("titles")
    message = str(error.value)
    assert f"{nowhere}, {own_cache}." in message
    assert "coterie.datasets.fetch('titles') downloads it" in message
    with pytest.raises(InputError, match=r"fetch\('classic4'\) explains how to get it"):
        datasets.load("classic4")


def test_load_gives_labels_and_texts_in_order(nowhere, put):
    put(nowhere, "titles", "b\t罗马 a\na\t\nb\tc\td \r".encode())
    dataset = datasets.load("titles")
    assert dataset.labels == ["b", "a", "b"]
    assert dataset.texts == ["罗马 a", "", "c\td \r"]
    assert (dataset.name, dataset.language, dataset.tokenised, dataset.dates) == ("titles", "zh", True, None)
    assert len(dataset) == 3
    assert "罗马" not in repr(dataset)


def test_an_empty_file_is_an_empty_set(nowhere, put):
    put(nowhere, "titles", b"")
    assert datasets.load("titles").texts == []


def test_folders_are_searched_in_order(nowhere, own_cache, put, monkeypatch, tmp_path):
    own_cache.mkdir()
    beside = tmp_path / "beside"
    beside.mkdir()
    monkeypatch.setattr(locations, "_beside_checkout", lambda module: [beside])
    for folder in (own_cache, beside, nowhere):
        put(folder, "tweet", f"1\t{folder.name}\n".encode())
        assert datasets.load("tweet").texts == [folder.name]
    monkeypatch.delenv("COTERIE_DATA")
    assert datasets.load("tweet").texts == ["beside"]


def test_a_folder_of_that_name_is_not_a_file(nowhere):
    (nowhere / "tweet.tsv.gz").mkdir()
    with pytest.raises(InputError, match="not found in any of these folders"):
        datasets.load("tweet")


def test_a_checkout_is_known_by_src_next_to_a_pyproject(tmp_path):
    module = tmp_path / "project" / "src" / "coterie" / "datasets" / "locations.py"
    assert locations._beside_checkout(module) == []
    module.parents[3].mkdir(parents=True)
    (module.parents[3] / "pyproject.toml").touch()
    assert locations._beside_checkout(module) == [tmp_path / "shared" / "datasets"]
    installed = tmp_path / "project" / "site-packages" / "coterie" / "datasets" / "locations.py"
    assert locations._beside_checkout(installed) == []


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the cache folder of other systems")
def test_the_cache_folder(monkeypatch):
    monkeypatch.delenv("COTERIE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/coterie")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "coterie"
    monkeypatch.setenv("COTERIE_CACHE", "~/sets")
    assert cache_folder() == Path.home() / "sets"


def whole(rows=2000):
    return "".join(f"label\ttext {i} {i * i}\n" for i in range(rows)).encode()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            gzip.compress(b"a\tb\nno tab here\nc\td\n"),
            r"line 2: no tab between label and text: 'no tab here'",
        ),
        (gzip.compress(b"a\tb\n\na\tb\n"), r"line 2: no tab"),
        (gzip.compress(b"a\tb\nc\t\xff\n"), r"line 2: not UTF-8 at byte 6"),
        (b"a\tb\n", r"incomplete or damaged gzip file after line 0"),
        (gzip.compress(whole())[:-20], r"incomplete or damaged gzip file after line \d+"),
        (gzip.compress(whole())[:200] + b"\0" * 50, r"incomplete or damaged gzip file"),
        (gzip.compress(bytes(10_000_000)), r"contains more than .* bytes, so it is not this data set"),
    ],
    ids=["no tab", "empty line", "not UTF-8", "not gzip", "cut off", "overwritten", "too large"],
)
def test_a_damaged_file_names_the_line(nowhere, file, message):
    (nowhere / "titles.tsv.gz").write_bytes(file)
    with pytest.raises(InputError, match=message) as error:
        datasets.load("titles")
    assert str(nowhere / "titles.tsv.gz") in str(error.value)


def test_a_file_that_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="could not be read"):
        read.content(tmp_path / "missing.tsv.gz", 100)


character = st.characters(exclude_categories=["Cs"], exclude_characters="\n")


@given(st.lists(st.tuples(st.text(character).filter(lambda label: "\t" not in label), st.text(character))))
def test_what_is_written_is_read(rows):
    data = "".join(f"{label}\t{text}\n" for label, text in rows).encode()
    labels, texts = read.rows(data, Path("set"))
    assert list(zip(labels, texts, strict=True)) == rows


def test_the_sample_comes_with_the_package():
    sample = datasets.load("sample")
    assert len(sample.texts) == len(sample.labels) == len(sample.dates) > 100
    assert len(set(sample.labels)) > 1
    assert sum(map(bool, sample.texts)) > 0.9 * len(sample)
    assert all(sample.labels)
    assert all(sample.dates)
    with pytest.raises(InputError, match="is part of the package"):
        datasets.fetch("sample")


def test_a_sample_with_dates_and_categories(tmp_path, monkeypatch):
    path = tmp_path / "sample.csv"
    path.write_text('id,date,category,text\n1,2024-01-02,sport,"Two, three goals"\n', encoding="utf-8")
    monkeypatch.setitem(SAMPLES, "sample", replace(SAMPLES["sample"], file=path))
    sample = datasets.load("sample")
    assert (sample.texts, sample.labels, sample.dates) == (["Two, three goals"], ["sport"], ["2024-01-02"])


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"id,text\n1,a\n", "columns must be id,date,category,text, got id,text"),
        (b"", "columns must be"),
        (b"id,date,category,text\n1,2,3,4\n1,2,3\n", "record 2: 3 cells instead of 4"),
        (b"id,date,category,text\n1,2,3,\xff\n", "could not be read"),
    ],
    ids=["other columns", "empty", "a cell missing", "not UTF-8"],
)
def test_a_damaged_sample(tmp_path, file, message):
    (tmp_path / "sample.csv").write_bytes(file)
    with pytest.raises(InputError, match=message):
        read.sample(tmp_path / "sample.csv", ["id", "date", "category", "text"], "category")


def test_a_missing_sample(tmp_path):
    with pytest.raises(InputError, match="reinstall the package"):
        read.sample(tmp_path / "sample.csv", ["id", "date", "category", "text"], "category")


@pytest.mark.parametrize("left", [0.5, 0.9])
def test_a_sample_cut_short(tmp_path, left):
    whole = datasets.BIKES_FILE.read_bytes()
    (tmp_path / "bikes.csv.gz").write_bytes(whole[: int(left * len(whole))])
    with pytest.raises(InputError, match="reinstall the package"):
        read.sample(tmp_path / "bikes.csv.gz", list(SAMPLES["bikes"].columns), "about")


def test_the_bike_shop_has_thousands_of_messages_and_few_repeat():
    bikes = datasets.load("bikes")
    assert len(bikes) > 3_000
    assert len(set(bikes.texts)) > 0.99 * len(bikes)
    assert len(set(bikes.labels)) == 29
    assert min(bikes.dates) >= "2026-04-01"
    assert max(bikes.dates) <= "2026-09-30"
    assert datasets.BIKES_FILE.stat().st_size < 200_000


def test_describe_says_where_each_set_is(nowhere, put):
    path = put(nowhere, "tweet", b"1\ta\n")
    table = datasets.describe()
    assert table["name"].to_list() == ["sample", "bikes", *CATALOG]
    assert table.filter(kind="texts")["name"].to_list() == datasets.names()
    for kind in ("matrix", "retrieval"):
        assert table.filter(kind=kind)["name"].to_list() == datasets.names(kind)
    checks = table.filter(fetch=True).select("name", "check").rows()
    assert dict(checks) == {name: CATALOG[name].check for name, _ in checks}
    found = dict(zip(table["name"], table["path"], strict=True))
    assert found["tweet"] == str(path)
    assert found["titles"] is None
    assert Path(found["sample"]).name == "sample.csv"
    assert table.filter(name="reddit").select("texts", "fetch").row(0) == (971_100, False)
