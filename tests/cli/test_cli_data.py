import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from coterie import datasets
from coterie.cli import main
from coterie.datasets import convert, locations
from coterie.datasets.catalog import CATALOG, Entry, Source

ROWS = [(f"class {i % 3}", f"text number {i}") for i in range(50)]
CONTENT = "".join(f"{label}\t{text}\n" for label, text in ROWS).encode()
SERVED = "".join(f"{i}\t{label}|{text}\n" for i, (label, text) in enumerate(ROWS)).encode()


def run(*arguments):
    return CliRunner().invoke(main, ["data", *arguments])


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A set of the catalogue for the time of a test, a set that cannot be fetched, and an empty cache."""
    source = Source("owner/repo", "c0ffee", ("titles.txt",), convert.titles)
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    entry = Entry("tiny", 50, 3, "en", True, "free", "small", "a test", len(CONTENT), sha256, source)
    elsewhere = Entry("elsewhere", 5, 3, "en", True, "free", "small", "a far shelf", 9, sha256)
    for added in (entry, elsewhere):
        monkeypatch.setitem(CATALOG, added.name, added)
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("COTERIE_DATA", raising=False)
    monkeypatch.setattr(locations, "_beside_checkout", lambda module: [])
    return tmp_path / "cache" / "tiny.tsv.gz"


@pytest.fixture
def mirror():
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            body = SERVED if self.path == "/owner/repo/c0ffee/titles.txt" else None
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_list_has_all_sets_and_where_they_are(tiny):
    out = run("list")
    assert out.exit_code == 0
    rows = {line.split("│")[1].strip(): line for line in out.output.splitlines() if line.startswith("│")}
    assert list(rows) == datasets.describe()["name"].to_list()
    assert "1,517" in rows["sample"]
    assert "on this machine" in rows["sample"]
    assert "coterie data fetch tiny" in rows["tiny"]
    assert "'coterie data fetch elsewhere' explains how to get it" in rows["elsewhere"]


def test_the_list_as_json_is_the_catalogue(tiny):
    assert json.loads(run("list", "--json").output) == datasets.describe().to_dicts()


def test_a_set_is_fetched_and_then_here(tiny, mirror):
    out = run("fetch", "tiny", "--mirror", mirror)
    assert (out.exit_code, out.output) == (0, f"{tiny}\n")
    assert run("path", "tiny").output == f"{tiny}\n"
    assert len(datasets.load("tiny")) == 50
    assert (
        run("fetch", "tiny", "--mirror", "https://127.0.0.1:1").output == f"{tiny}\n"
    )  # nothing is asked again


def test_the_mirror_can_be_an_environment_variable(tiny, mirror, monkeypatch):
    monkeypatch.setenv("COTERIE_MIRROR", mirror)
    assert run("fetch", "tiny").output == f"{tiny}\n"


def test_bytes_are_told_as_they_come(tiny, mirror, monkeypatch):
    from coterie import progress

    heard = []
    with progress.listening(heard.append):
        assert run("fetch", "tiny", "--mirror", mirror).exit_code == 0
    assert {(step.stage, step.unit) for step in heard} == {("downloading tiny", "bytes")}
    assert heard[-1].done == len(SERVED)


def test_a_fetched_file_is_read_as_the_help_says(tiny, mirror):
    run("fetch", "tiny", "--mirror", mirror)
    arguments = ["weights", str(tiny), "--no-header", "--text", "column_2", "--min-df", "1", "--json"]
    assert json.loads(CliRunner().invoke(main, arguments).output)["n_texts"] == 50


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fetch", "tiny", "--mirror", "http://example.org"], "--mirror must start with https://"),
        (["fetch", "tiny", "--mirror", "{mirror}/other"], "returned 404"),
        (["fetch", "tiny", "--mirror", "http://127.0.0.1:1"], "could not be reached"),
        (["fetch", "elsewhere"], "It comes from a far shelf. Convert it to elsewhere.tsv.gz"),
        (["fetch", "sample"], "is part of the package"),
        (["fetch", "tny"], "there is no data set 'tny'; did you mean 'tiny'?"),
        (["path", "zzz"], "there is no data set 'zzz'; available data sets: sample, bikes, titles"),
        (["path", "tiny"], "'tiny' is not on this machine; 'coterie data fetch tiny' downloads it"),
        (["path", "elsewhere"], "'coterie data fetch elsewhere' explains how to get it"),
    ],
)
def test_a_mistake_is_one_sentence(tiny, mirror, arguments, sentence):
    out = run(*(argument.format(mirror=mirror) for argument in arguments))
    assert out.exit_code == 2
    assert out.stdout == ""
    assert out.stderr.startswith("coterie: ")
    assert sentence in out.stderr
    assert len(out.stderr.splitlines()) == 1
    assert not tiny.exists()


def test_the_sample_is_a_file_of_the_package():
    out = run("path", "sample")
    with open(out.output.strip(), encoding="utf-8") as file:
        assert file.readline() == "id,date,category,text\n"
