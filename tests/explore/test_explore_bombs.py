"""Hostile files dropped on a running server: a sentence each, and the server goes on as before.

COTERIE_UPLOADS=1000 sends more of them than the few seconds of a usual run allow.
"""

import gzip
import io
import os
import random
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from explore_pages import Served

pytestmark = [pytest.mark.process, pytest.mark.fuzz]
UPLOADS = int(os.environ.get("COTERIE_UPLOADS", "40"))


def workbook(cell):
    book = openpyxl.Workbook()
    for place, value in {"A1": "text", "A2": "late parcel", cell: "x"}.items():
        book.active[place] = value
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def parquet(rows):
    content = io.BytesIO()
    pl.select(text=pl.repeat("late parcel", rows)).write_parquet(content)
    return content.getvalue()


def zeros(begin):
    content = io.BytesIO()
    with gzip.GzipFile(fileobj=content, mode="wb", compresslevel=9) as file:
        file.write(begin)
        for _ in range(256):
            file.write(bytes(1 << 20))
    return content.getvalue()


@pytest.fixture(scope="module")
def bombs():
    """Name, content and the statuses that may answer it."""
    sound = parquet(1000)
    draw = random.Random(0)

    def battered():
        data = bytearray(sound)
        for _ in range(8):
            data[draw.randrange(len(data))] = draw.randrange(256)
        return bytes(data)

    refused = {
        "far.xlsx": workbook("XFD1048576"),
        "wide.xlsx": workbook("XFD5000"),
        "tall.xlsx": workbook("Z1048576"),
        "zeros.csv.gz": zeros(b"text\n"),
        "zeros.xlsx.gz": zeros(b"PK\x03\x04"),
        "zeros.parquet.gz": zeros(b"PAR1\x15\x00"),
        "nested.jsonl": b"[" * 3_000_000,
    }
    allowed = {"equal.parquet": parquet(20_000_000), "good.csv": b"text\n" + b"late parcel\n" * 50}
    either = {f"{number}.parquet": battered() for number in range(40)}
    return [
        *((name, content, {422}) for name, content in refused.items()),
        *((name, content, {201}) for name, content in allowed.items()),
        *((name, content, {201, 422}) for name, content in either.items()),
    ]


def send(server, name, content):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/uploads?name={urllib.parse.quote(name)}",
        data=content,
        method="PUT",
        headers={
            "Content-Type": "application/octet-stream",
            "Cookie": f"{server.cookie}={server.token}",
            "X-Coterie": "1",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def peak(server):
    """The most memory that the server has had, in kilobytes."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_a_server_survives_hostile_uploads(folder, bombs):
    server = Served(folder, options=["--max-bytes", "200M"])
    try:
        status, answer = send(server, "good.csv", b"text\n" + b"late parcel\n" * 50)
        assert status == 201, answer
        before, draw = peak(server), random.Random(1)
        chosen = [bombs[i % len(bombs)] if i < len(bombs) else draw.choice(bombs) for i in range(UPLOADS)]
        with ThreadPoolExecutor(4) as people:
            answers = people.map(lambda bomb: send(server, *bomb[:2]), chosen)
            for (name, _, expected), (status, answer) in zip(chosen, answers, strict=True):
                assert status in expected, (name, status, answer[:300])
        assert send(server, "good.csv", b"text\nlate parcel\n")[0] == 201
        assert server.process.poll() is None
        assert peak(server) <= 1.2 * before
    finally:
        server.stop()
