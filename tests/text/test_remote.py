"""Files that are elsewhere: URLs of fsspec, and a server of S3 on this machine."""

import gzip
import io
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import fsspec
import polars as pl
import pytest
from fsspec.registry import known_implementations

from coterie.errors import InputError
from coterie.text import read_texts
from coterie.text.readers.remote import shown_url


def rows_of(path, *args, **kwargs):
    return [row for batch in read_texts(path, *args, **kwargs) for row in batch.table.rows()]


def told(path, *args, **kwargs):
    with pytest.raises(InputError) as error:
        rows_of(path, *args, **kwargs)
    assert "hidden" not in repr(error.value.__cause__)
    return str(error.value)


def parquet(**columns):
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


FILES = {
    "logs/b.csv": b"id,text\n2,b\n",
    "logs/a.csv": b"id,text\n1,a\n",
    "logs/x/c.csv.gz": gzip.compress(b"id,text\n3,c\n"),
    "logs/_done": b"",
    "parts/year=2024/p.parquet": parquet(text=["p"]),
}


@pytest.fixture(params=["memory", "file"])
def place(request, tmp_path):
    """The URL of a folder with files."""
    root = f"memory://{tmp_path.name}" if request.param == "memory" else f"file://{tmp_path}"
    files = fsspec.filesystem(request.param)
    for name, content in FILES.items():
        files.makedirs(f"{root}/{name}".rpartition("/")[0], exist_ok=True)
        files.pipe_file(f"{root}/{name}", content)
    yield root
    files.rm(root, recursive=True)


def check_place(root):
    """Whatever works for paths works for URLs."""
    assert rows_of(f"{root}/logs/a.csv", "text") == [("1", "a")]
    assert rows_of(f"{root}/logs/x/c.csv.gz", "text") == [("3", "c")]
    assert rows_of(f"{root}/logs/*.csv", "text") == [("1", "a"), ("2", "b")]
    assert (
        rows_of(f"{root}/logs", "text")
        == rows_of(f"{root}/logs/", "text")
        == [("1", "a"), ("2", "b"), ("3", "c")]
    )
    assert rows_of([f"{root}/logs/b.csv", f"{root}/logs/a.csv"], "text") == [("1", "a"), ("2", "b")]
    assert rows_of(f"{root}/parts", "text") == rows_of(f"{root}/parts/*", "text") == [("p", "2024")]
    assert told(f"{root}/none.csv") == f"{root}/none.csv does not exist"
    assert told(f"{root}/none/*.csv") == f"no file matches {root}/none/*.csv; check the pattern"
    assert "is larger than 1 bytes" in told(f"{root}/logs/x/c.csv.gz", max_bytes=1)
    source = read_texts(f"{root}/logs", "text")
    assert [part.source_name for part in source.parts()] == [
        f"{root}/logs/{name}" for name in ("a.csv", "b.csv", "x/c.csv.gz")
    ]
    assert source.plain_bytes() is None


def test_urls(place):
    check_place(place)


def test_a_file_is_read_piece_by_piece(place, monkeypatch):
    from coterie.text.readers import remote

    asked = []
    reads = remote._Remote.readinto

    def counted(self, buffer):
        asked.append(len(buffer))
        return reads(self, buffer)

    monkeypatch.setattr(remote._Remote, "readinto", counted)
    line = b"some words of a text\n"
    fsspec.filesystem(place.partition(":")[0]).pipe_file(f"{place}/long.txt", line * 200_000)
    assert sum(len(batch.texts) for batch in read_texts(f"{place}/long.txt", encoding="utf-8")) == 200_000
    assert max(asked) <= 1 << 20


def test_encodings_are_told_from_the_whole_file(place):
    data = b"text\n" + b"plain\n" * 30_000 + "Où est le café ?\n".encode("cp1252") * 3
    fsspec.filesystem(place.partition(":")[0]).pipe_file(f"{place}/late.csv", data)
    assert rows_of(f"{place}/late.csv")[-1] == ("Où est le café ?",)


def test_secrets_in_urls_are_not_told(monkeypatch):
    assert shown_url("sftp://ann:se:cret@host/x?.csv") == "sftp://host/x?.csv"
    secret = "https://ann:hidden1@127.0.0.1:9/x.csv?token=hidden2&sig=hidden%33"
    for message in (told(secret), told(secret, format="csv"), read_texts(secret).source_name):
        assert "hidden" not in message
        assert "https://127.0.0.1:9/x.csv?…" in message


class Leaky(fsspec.AbstractFileSystem):
    """A file system that repeats whatever it was given."""

    protocol = "leaky"

    def info(self, path, **_):
        return {"name": path, "type": "file", "size": None}

    def _open(self, path, **_):
        raise RuntimeError(
            f"ann may not log in with hidden 1 and sig hidden2 at leaky://ann:hidden%201@{path}\nmore"
        )


def test_secrets_that_libraries_repeat_are_not_told():
    fsspec.register_implementation("leaky", Leaky, clobber=True)
    message = told("leaky://ann:hidden%201@host/x.csv?sig=hidden2")
    assert message.startswith(
        "leaky://host/x.csv?… could not be read: … may not log in with … and sig … at leaky://"
    )
    assert not re.search("ann|hidden|more", message)


def test_protocols_that_are_not_there():
    assert told("nosuch://x/y.csv") == "nosuch://x/y.csv cannot be read: fsspec knows no protocol nosuch://"
    missing = next(
        name for name in ("oss", "gdrive", "box", "dropbox", "ocilake") if name in known_implementations
    )
    assert told(f"{missing}://x/y.csv").startswith(f"reading {missing}://x/y.csv needs another package: ")


def test_without_fsspec(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert told("s3://b/x.csv") == "reading s3://b/x.csv needs fsspec: pip install 'coterie[remote]'"
    (tmp_path / "a.csv").write_text("text\na\n")
    assert rows_of(tmp_path) == [("a",)]


def test_the_web(tmp_path):
    pytest.importorskip("aiohttp")
    (tmp_path / "a.csv").write_text("id,text\n1,a\n")
    (tmp_path / "p.parquet").write_bytes(parquet(text=["p"]))

    class Quiet(SimpleHTTPRequestHandler):
        def do_GET(self):
            if "secret" in self.path:
                self.send_error(403)
            else:
                super().do_GET()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            root = f"http://127.0.0.1:{server.server_port}"
            assert rows_of(f"{root}/a.csv?key=hidden", "text") == [("1", "a")]
            assert rows_of(f"{root}/p.parquet?key=hidden") == [("p",)]
            denied = told(f"{root}/secret.csv?key=hidden")
            assert (
                denied == f"{root}/secret.csv?… could not be read: permission denied; check the credentials"
            )
            assert told(f"{root}/none.csv?key=hidden") == f"{root}/none.csv?… does not exist"
        finally:
            server.shutdown()
            thread.join()


# --- S3


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    """A bucket on a server of this machine, with the files."""
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    pytest.importorskip("flask")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("s3") / "log"
    environment = {**os.environ, "MOTO_S3_CUSTOM_ENDPOINTS": f"http://127.0.0.1:{port}"}
    command = [
        sys.executable,
        "-c",
        "import sys; from moto.server import main; main(sys.argv[1:])",
        "-H",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    patch = pytest.MonkeyPatch()
    patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-key")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with log.open("wb") as out, subprocess.Popen(command, env=environment, stdout=out, stderr=out) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/moto-api/", server, log)
            files = fsspec.filesystem("s3")
            files.mkdir("bucket")
            for name, content in FILES.items():
                files.pipe_file(f"bucket/{name}", content)
            yield "s3://bucket"
        finally:
            server.terminate()
            server.wait(30)
            fsspec.filesystem("s3").clear_instance_cache()
            patch.undo()


def _wait_for(url, server, log):
    for _ in range(300):
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())


@pytest.mark.process
def test_a_server_of_s3(s3):
    check_place(s3)


@pytest.mark.process
def test_buckets_that_are_not_there(s3):
    for path in ("s3://no-such-bucket/a.csv", "s3://no-such-bucket/*.csv", "s3://no-such-bucket/"):
        message = told(path)
        assert re.fullmatch(
            r"(s3://no-such-bucket/\S* (does not exist|is a directory.*)|no file matches .*)", message
        ), message
        assert "hidden" not in message


@pytest.mark.process
def test_a_file_that_appears_later_is_seen(s3):
    files = fsspec.filesystem("s3", skip_instance_cache=True)
    files.pipe_file("bucket/more/a.csv", b"text\na\n")
    assert rows_of(f"{s3}/more") == [("a",)]
    files.pipe_file("bucket/more/b.csv", b"text\nb\n")
    assert rows_of(f"{s3}/more") == [("a",), ("b",)]


@pytest.mark.process
def test_a_delta_table_on_s3(s3):
    files = fsspec.filesystem("s3")
    meta = '{"metaData": {"id": "t", "partitionColumns": []}}\n{"add": {"path": "b.parquet", "partitionValues": {}}}\n'
    files.pipe_file("bucket/table/_delta_log/00000000000000000000.json", meta.encode())
    for name in "ab":
        files.pipe_file(f"bucket/table/{name}.parquet", parquet(text=[name]))
    assert rows_of(f"{s3}/table") == [("b",)]
