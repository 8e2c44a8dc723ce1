"""Downloads of sets whose checksum the catalogue does not know: git's hash, counts, and the first download."""

import gzip
import hashlib
import shutil
import subprocess
from dataclasses import replace

import pytest

from coterie import datasets
from coterie.datasets import convert, download
from coterie.datasets.catalog import CATALOG, Source
from coterie.errors import InputError


@pytest.fixture
def counted(tiny, monkeypatch):
    """`tiny` without a checksum."""
    monkeypatch.setitem(CATALOG, "tiny", replace(tiny.entry, sha256=None))
    return tiny


@pytest.fixture
def hashed(tiny, monkeypatch):
    """`tiny` with git's hash of its source instead of a checksum; its counts are wrong and not looked at."""
    source = replace(tiny.entry.source, blobs=(download.git_hash(tiny.file),))
    monkeypatch.setitem(CATALOG, "tiny", replace(tiny.entry, sha256=None, texts=7, source=source))
    return tiny


def fetch(site):
    return datasets.fetch("tiny", base_url=site.url)


def refused(site, message, own_cache):
    before = {path: path.read_bytes() for path in own_cache.glob("*")}
    with pytest.raises(InputError, match=message) as error:
        fetch(site)
    assert len(str(error.value).splitlines()) == 1
    assert {path: path.read_bytes() for path in own_cache.glob("*")} == before


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
@pytest.mark.parametrize("content", [b"", b"hello\n", bytes(range(256)) * 1000])
def test_the_hash_is_what_git_says(content):
    said = subprocess.run(["git", "hash-object", "--stdin"], input=content, capture_output=True, check=True)
    assert download.git_hash(content) == said.stdout.decode().strip()


def test_a_source_with_the_right_git_hash_is_taken(site, hashed):
    site.routes[hashed.path] = hashed.file
    assert gzip.decompress(fetch(site).read_bytes()) == hashed.content


def test_a_source_with_another_git_hash_is_refused(site, hashed, own_cache):
    other = hashed.file.replace(b"number 7 ", b"number 8 ")
    site.routes[hashed.path] = other
    found, expected = download.git_hash(other), download.git_hash(hashed.file)
    refused(site, f"the git hash of .*{hashed.path} is {found}, expected {expected}", own_cache)


def test_each_file_has_its_own_git_hash(site, tiny, monkeypatch, own_cache):
    files = {"texts": b"bank\nball\n", "labels": b"1\n8\n"}
    blobs = tuple(map(download.git_hash, files.values()))
    source = Source("owner/repo", "c0ffee", tuple(files), convert.search_snippets, blobs)
    monkeypatch.setitem(CATALOG, "tiny", replace(tiny.entry, sha256=None, source=source))
    site.routes |= {f"/owner/repo/c0ffee/{name}": file for name, file in files.items()}
    site.routes["/owner/repo/c0ffee/labels"] = b"8\n1\n"
    refused(site, "the git hash of .*/labels is", own_cache)
    site.routes["/owner/repo/c0ffee/labels"] = files["labels"]
    fetch(site)
    assert datasets.load("tiny").labels == ["business", "sports"]


def test_without_a_git_hash_counts_are_compared(site, counted, own_cache):
    site.routes[counted.path] = counted.file[: counted.file.index(b"5\tclass")]
    refused(site, "it has 5 texts, expected 400", own_cache)
    site.routes[counted.path] = counted.file.replace(b"class 2", b"class 1")
    refused(site, "it has 2 classes, expected 3", own_cache)
    site.routes[counted.path] = counted.file
    fetch(site)
    assert len(datasets.load("tiny")) == 400


def test_the_first_download_is_recorded_and_not_repeated(site, counted, own_cache):
    site.routes[counted.path] = counted.file
    path = fetch(site)
    checksum = hashlib.sha256(counted.content).hexdigest()
    assert (own_cache / "tiny.sha256").read_text() == f"{checksum}\n"
    assert fetch(site) == path
    assert site.asked == [counted.path]


def test_a_later_download_must_be_the_same(site, counted, own_cache):
    site.routes[counted.path] = counted.file
    path = fetch(site)
    path.unlink()
    site.routes[counted.path] = counted.file.replace(b"number 7 ", b"number 8 ")
    refused(site, r"expected [0-9a-f]{64}, as at the first download \(.*tiny\.sha256\)", own_cache)
    site.routes[counted.path] = counted.file
    assert gzip.decompress(fetch(site).read_bytes()) == counted.content


def test_a_damaged_file_is_replaced_by_what_was_recorded(site, counted):
    site.routes[counted.path] = counted.file
    path = fetch(site)
    path.write_bytes(gzip.compress(b"other\tcontent\n"))
    assert gzip.decompress(fetch(site).read_bytes()) == counted.content


@pytest.mark.parametrize("record", [b"", b"not a checksum\n", b"\xff"])
def test_a_damaged_record_is_written_anew(site, counted, own_cache, record):
    site.routes[counted.path] = counted.file
    fetch(site)
    (own_cache / "tiny.sha256").write_bytes(record)
    fetch(site)
    assert site.asked == [counted.path] * 2
    assert (own_cache / "tiny.sha256").read_text().strip() == hashlib.sha256(counted.content).hexdigest()


def test_a_set_that_lies_in_another_folder_is_loaded_without_a_record(nowhere, put, counted):
    put(nowhere, "tiny", counted.content)
    assert len(datasets.load("tiny")) == 400


def test_a_file_may_come_from_another_repository(site, tiny, monkeypatch):
    content = b"business\tbank\nsports\tball\n"
    paths = ("texts", "/other/place/0ff1ce/of/labels")
    source = Source("owner/repo", "c0ffee", paths, convert.search_snippets)
    entry = replace(tiny.entry, sha256=hashlib.sha256(content).hexdigest(), source=source)
    monkeypatch.setitem(CATALOG, "tiny", entry)
    site.routes |= {"/owner/repo/c0ffee/texts": b"bank\nball\n", "/other/place/0ff1ce/of/labels": b"1\n8\n"}
    fetch(site)
    assert datasets.load("tiny").texts == ["bank", "ball"]
