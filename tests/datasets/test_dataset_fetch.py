"""The download against a real server on this machine: good, bad, slow, cut off, killed, twice at once."""

import gzip
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest

from coterie import datasets
from coterie.datasets import convert, download, read
from coterie.datasets.catalog import CATALOG, Source
from coterie.errors import InputError


def files_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def refused(site, message, **settings):
    """`fetch` fails with that message, and says that nothing was written."""
    with pytest.raises(InputError, match=message) as error:
        datasets.fetch("tiny", base_url=site.url, **settings)
    assert "'tiny' could not be downloaded" in str(error.value)
    assert "put tiny.tsv.gz into the folder given by COTERIE_DATA" in str(error.value)


def test_a_set_is_fetched_and_loaded(site, tiny, own_cache):
    site.routes[tiny.path] = tiny.file
    received = []
    path = datasets.fetch("tiny", base_url=site.url + "/", progress=received.append)
    assert path == own_cache / "tiny.tsv.gz"
    assert files_in(own_cache) == ["tiny.tsv.gz"]
    assert received == sorted(received)
    assert received[-1] == len(tiny.file)
    dataset = datasets.load("tiny")
    assert list(zip(dataset.labels, dataset.texts, strict=True)) == tiny.rows


def test_a_set_that_is_there_is_not_fetched_again(site, tiny):
    site.routes[tiny.path] = tiny.file
    assert datasets.fetch("tiny", base_url=site.url) == datasets.fetch("tiny", base_url=site.url)
    assert site.asked == [tiny.path]


@pytest.mark.parametrize(
    "damage",
    [b"no gzip", gzip.compress(b"other\tcontent\n"), b""],
    ids=["no gzip", "other content", "empty"],
)
def test_a_damaged_file_in_the_cache_is_replaced(site, tiny, own_cache, damage):
    own_cache.mkdir()
    (own_cache / "tiny.tsv.gz").write_bytes(damage)
    refused(site, "404")
    assert (own_cache / "tiny.tsv.gz").read_bytes() == damage
    site.routes[tiny.path] = tiny.file
    assert gzip.decompress(datasets.fetch("tiny", base_url=site.url).read_bytes()) == tiny.content


def test_two_files_make_one_set(site, tiny, monkeypatch):
    texts, labels = b"bank\nball\n", b"1\n8\n"
    content = b"business\tbank\nsports\tball\n"
    source = Source("owner/repo", "c0ffee", ("texts", "labels"), convert.search_snippets)
    entry = replace(tiny.entry, source=source, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(CATALOG, "tiny", entry)
    site.routes |= {"/owner/repo/c0ffee/texts": texts, "/owner/repo/c0ffee/labels": labels}
    received = []
    datasets.fetch("tiny", base_url=site.url, progress=received.append)
    assert datasets.load("tiny").labels == ["business", "sports"]
    assert received[-1] == len(texts) + len(labels)


def test_two_files_share_one_limit(site, tiny, monkeypatch):
    source = Source("owner/repo", "c0ffee", ("texts", "labels"), convert.search_snippets)
    monkeypatch.setitem(CATALOG, "tiny", replace(tiny.entry, source=source))
    site.routes["/owner/repo/c0ffee/texts"] = bytes(tiny.entry.limit - 10)
    site.routes["/owner/repo/c0ffee/labels"] = bytes(11)
    refused(site, "labels is larger than the 10 bytes")


def test_another_content_is_refused(site, tiny, own_cache):
    site.routes[tiny.path] = tiny.file.replace(b"number 7 ", b"number 8 ")
    refused(site, rf"SHA-256 is [0-9a-f]{{64}}, expected {tiny.entry.sha256}")
    assert files_in(own_cache) == []


def test_another_form_is_refused(site, tiny, own_cache):
    site.routes[tiny.path] = b"<!DOCTYPE html>\n<title>Sorry</title>\n"
    refused(site, "owner/repo are not in the expected format")
    assert files_in(own_cache) == []


def test_a_missing_file(site, tiny, own_cache):
    refused(site, f"{tiny.path} returned 404 Not Found")
    assert files_in(own_cache) == []


def test_a_body_cut_off(site, tiny, own_cache):
    def half(answer):
        answer.start(len(tiny.file))
        answer.wfile.write(tiny.file[: len(tiny.file) // 2])

    site.routes[tiny.path] = half
    size = len(tiny.file)
    refused(site, f"connection lost after {size // 2:,} of {size:,} bytes")
    assert files_in(own_cache) == []


def test_a_body_cut_off_without_a_length_fails_the_checksum(site, tiny):
    def half(answer):
        answer.start()
        answer.wfile.write(tiny.file[: tiny.file.index(b"\n", len(tiny.file) // 2)])

    site.routes[tiny.path] = half
    refused(site, "SHA-256")


@pytest.mark.slow
@pytest.mark.parametrize("sent", [None, 0, 100])
def test_a_silent_server(site, tiny, own_cache, sent):
    def silent(answer):
        if sent is not None:
            answer.start(len(tiny.file))
            answer.wfile.write(tiny.file[:sent])
        site.released.wait(30)

    site.routes[tiny.path] = silent
    started = time.perf_counter()
    refused(site, "did not respond for 0.2 seconds", timeout=0.2)
    assert time.perf_counter() - started < 25  # the server would have gone on after 30
    assert files_in(own_cache) == []


def test_no_server(tiny, site):
    closed = type(site)()
    closed.server_close()
    refused(closed, "could not be reached")


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:1/file",
        "http://localhost:{port}/file",
        "https://example.org/file",
        "//example.org/x",
    ],
)
def test_a_redirect_to_another_host_is_refused(site, tiny, own_cache, target):
    target = target.format(port=site.server_port)
    site.routes["/file"] = tiny.file
    site.routes[tiny.path] = lambda answer: answer.start(0, 302, Location=target)
    refused(site, "redirects to another host")
    assert site.asked == [tiny.path]
    assert files_in(own_cache) == []


def test_a_redirect_within_the_host_is_followed(site, tiny):
    site.routes["/moved"] = tiny.file
    site.routes[tiny.path] = lambda answer: answer.start(0, 301, Location="/moved")
    datasets.fetch("tiny", base_url=site.url)
    assert site.asked == [tiny.path, "/moved"]


def test_a_redirect_in_a_circle_ends(site, tiny):
    site.routes[tiny.path] = lambda answer: answer.start(0, 302, Location=tiny.path)
    refused(site, "returned 302")


def test_a_redirect_to_a_file_is_refused(site, tiny):
    site.routes[tiny.path] = lambda answer: answer.start(0, 302, Location="file:///etc/hostname")
    refused(site, "returned 302")


def test_an_announced_size_beyond_the_limit_is_refused_at_once(site, tiny, own_cache):
    def huge(answer):
        answer.start(10**12)
        site.released.wait(30)

    site.routes[tiny.path] = huge
    refused(site, f"larger than the {tiny.entry.limit:,} bytes", timeout=10)
    assert files_in(own_cache) == []


def test_an_unannounced_size_beyond_the_limit_is_refused_there(site, tiny):
    def huge(answer):
        answer.start()
        for _ in range(2_000):
            answer.wfile.write(bytes(10_000))

    site.routes[tiny.path] = huge
    received = []
    refused(site, "larger than the", progress=received.append)
    assert max(received) <= tiny.entry.limit


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    "base",
    [
        "http://example.org",
        "ftp://127.0.0.1",
        "file:///etc",
        "127.0.0.1:80",
        "https://",
        "http://127.0.0.1.example.org",
    ],
)
def test_only_https_or_this_machine(base):
    with pytest.raises(InputError, match="base_url must start with https://"):
        datasets.fetch("tiny", base_url=base)


@pytest.mark.usefixtures("tiny")
def test_a_timeout_must_be_above_zero(site):
    with pytest.raises(InputError, match="timeout must be a positive number of seconds, got -1"):
        datasets.fetch("tiny", base_url=site.url, timeout=-1)


@pytest.mark.parametrize("name", [entry.name for entry in CATALOG.values() if not entry.source])
def test_a_set_without_public_files_says_where_it_comes_from(name):
    with pytest.raises(InputError) as error:
        datasets.fetch(name)
    message = str(error.value)
    assert message.startswith(f"{name!r} cannot be downloaded")
    assert f"It comes from {CATALOG[name].origin}. Convert it to {name}.tsv.gz" in message
    assert message.endswith("put that into the folder given by COTERIE_DATA")


def test_a_cache_that_cannot_be_written(site, tiny, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "file"))
    site.routes[tiny.path] = tiny.file
    with pytest.raises(
        InputError, match=r"could not be written: .*; set COTERIE_CACHE to use another folder"
    ):
        datasets.fetch("tiny", base_url=site.url)


@pytest.mark.parametrize(
    "fault", [OSError(28, "No space left"), KeyboardInterrupt()], ids=["full", "interrupt"]
)
def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch, fault):
    def fail(handle):
        raise fault

    target = tmp_path / "set.tsv.gz"
    download.write(target, b"first")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((InputError, KeyboardInterrupt)):
        download.write(target, b"second")
    assert target.read_bytes() == b"first"
    assert files_in(tmp_path) == ["set.tsv.gz"]


def test_several_fetches_at_once(site, tiny, own_cache):
    together = threading.Barrier(4, timeout=60)

    def served(answer):
        together.wait()  # all four are under way before the first gets its file
        answer.start(len(tiny.file))
        answer.wfile.write(tiny.file)

    site.routes[tiny.path] = served
    with ThreadPoolExecutor(4) as pool:
        paths = set(pool.map(lambda _: datasets.fetch("tiny", base_url=site.url), range(4)))
    assert paths == {own_cache / "tiny.tsv.gz"}
    assert files_in(own_cache) == ["tiny.tsv.gz"]
    assert gzip.decompress((own_cache / "tiny.tsv.gz").read_bytes()) == tiny.content


SCRIPT = """
import os, sys, time
from pathlib import Path
from coterie.datasets import convert, download
from coterie.datasets.catalog import Entry, Source

base, folder, size, sha256, hang = sys.argv[1:]
if hang == "hang":
    def fsync(handle):
        print("writing", flush=True)
        time.sleep(60)
    os.fsync = fsync
source = Source("owner/repo", "c0ffee", ("data/titles.txt",), convert.titles)
entry = Entry("tiny", 2, 1, "en", True, "free", "", "a test", int(size), sha256, source)
print("start", flush=True)
download.download(entry, Path(folder), base_url=base, timeout=30, progress=None)
"""

needs_sigkill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")


def started(entry, site, folder, hang="go on"):
    """A process that fetches the set; it has said that it starts."""
    arguments = [site.url, str(folder), str(entry.size), entry.sha256, hang]
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "start\n"
    return process


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.process
@needs_sigkill
def test_killed_while_receiving_leaves_nothing(site, tiny, own_cache):
    def half(answer):
        answer.start(len(tiny.file))
        answer.wfile.write(tiny.file[:5000])
        site.reached.set()
        site.released.wait(30)

    site.routes[tiny.path] = half
    process = started(tiny.entry, site, own_cache)
    assert site.reached.wait(30)
    kill(process)
    assert files_in(own_cache) == []


@pytest.mark.process
@needs_sigkill
def test_killed_while_writing_leaves_no_set_and_no_obstacle(site, tiny, own_cache, nowhere):
    site.routes[tiny.path] = tiny.file
    process = started(tiny.entry, site, own_cache, "hang")
    assert process.stdout.readline() == "writing\n"
    kill(process)
    assert "tiny.tsv.gz" not in files_in(own_cache)
    with pytest.raises(InputError, match="not found in any of these folders"):
        datasets.load("tiny")
    datasets.fetch("tiny", base_url=site.url)
    assert len(datasets.load("tiny")) == 400


@pytest.mark.process
@needs_sigkill
def test_killed_at_any_moment_leaves_the_whole_set_or_none(site, larger, own_cache):
    entry = larger.entry
    site.routes[larger.path] = larger.file
    target = own_cache / "tiny.tsv.gz"
    outcomes = set()
    for delay in (0.0, 0.03, 0.06, 0.09, 0.12, 0.15, 0.2, 60):
        target.unlink(missing_ok=True)
        process = started(entry, site, own_cache)
        with suppress(subprocess.TimeoutExpired):
            process.wait(delay)
        kill(process)
        outcomes.add(target.exists())
        if target.exists():
            assert hashlib.sha256(read.content(target, entry.limit)).hexdigest() == entry.sha256
    assert True in outcomes
