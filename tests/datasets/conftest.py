"""A local server that behaves well or badly, a set small enough to serve, the prepared data if present."""

import gzip
import hashlib
import os
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from coterie.datasets import convert, locations
from coterie.datasets.catalog import CATALOG, Entry, Source


class Site(ThreadingHTTPServer):
    """Answers each path of `routes` with bytes or lets a function answer; notes what was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.routes = {}
        self.asked = []
        self.reached = threading.Event()  # set by a route when it has come to its interesting point
        self.released = threading.Event()  # what a slow route waits for; set when the test is over
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """A client that goes away is what these tests are about."""


class Answer(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        route = self.server.routes.get(self.path)
        if route is None:
            self.send_error(404)
        elif callable(route):
            route(self)
        else:
            self.start(len(route))
            self.wfile.write(route)

    def start(self, length=None, status=200, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        """Quiet."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test touches the cache of the person who runs it, nor goes through a proxy."""
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "cache"


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """Only an empty COTERIE_DATA and an empty cache are searched."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("COTERIE_DATA", str(folder))
    monkeypatch.setattr(locations, "_beside_checkout", lambda module: [])
    return folder


@pytest.fixture
def site():
    server = Site()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass(frozen=True)
class Tiny:
    """A set whose source is one file in the form of `titles`."""

    rows: list[tuple[str, str]]
    path = "/owner/repo/c0ffee/data/titles.txt"

    @property
    def content(self):
        return "".join(f"{label}\t{text}\n" for label, text in self.rows).encode()

    @property
    def file(self):
        return "".join(f"{i}\t{label}|{text}\n" for i, (label, text) in enumerate(self.rows)).encode()

    @property
    def entry(self):
        return Entry(
            "tiny",
            texts=len(self.rows),
            classes=len({label for label, _ in self.rows}),
            language="en",
            tokenised=True,
            licence="free",
            description="a small set",
            origin="a test",
            size=len(self.content),
            sha256=hashlib.sha256(self.content).hexdigest(),
            source=Source("owner/repo", "c0ffee", ("data/titles.txt",), convert.titles),
        )


@pytest.fixture
def tiny(monkeypatch):
    """A set of 400 rows that the catalogue holds for the time of a test."""
    tiny = Tiny([(f"class {i % 3}", f"text number {i} of a small set") for i in range(400)])
    monkeypatch.setitem(CATALOG, "tiny", tiny.entry)
    return tiny


@pytest.fixture
def larger():
    """A set that takes a while to convert and compress."""
    return Tiny([(str(i % 7), f"text {i} {i * i * 7919}") for i in range(60_000)])


@pytest.fixture
def prepared():
    """The path of a prepared set; skips where the data is absent, unless COTERIE_REQUIRE_DATA=1.

    A set that must be fetched is never required.
    """

    def find(name, fetched=False) -> Path:
        path = locations.find(f"{name}.tsv.gz")
        if path is None:
            reason = f"{name}.tsv.gz is in none of {[str(folder) for folder in locations.folders()]}"
            if os.environ.get("COTERIE_REQUIRE_DATA") == "1" and not fetched:
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return find


@pytest.fixture
def put():
    """Write a gzip file of some content."""

    def write(folder, name, content):
        path = folder / f"{name}.tsv.gz"
        path.write_bytes(gzip.compress(content))
        return path

    return write
