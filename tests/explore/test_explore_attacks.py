"""A real server, attacked over the network as other sites, broken clients and hurried users would."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

from coterie.storage.tables import read_csv

pytestmark = [pytest.mark.process, pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")]
JSON = {"X-Coterie": "1", "Content-Type": "application/json"}
BYTES = {"X-Coterie": "1", "Content-Type": "application/octet-stream"}
NONSENSE = "Invalid HTTP request received."
HOSTILE = [
    "=HYPERLINK(1) parcel",
    "+1 parcel",
    "-1 parcel",
    "@SUM(1) parcel",
    "\tparcel",
    "<script>alert(1)</script> parcel",
    "javascript:alert(1) parcel",
    "\u202eparcel\u202c",
    "x" * 100_000,
]


class Server:
    """`coterie explore` in a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "coterie", "explore", "--folder", str(folder), "--port", "0",
             "--no-browser", "--no-token", "--limit", "1"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        address = self.process.stdout.readline()
        self.port = int(address.split(":")[2].split("/")[0])

    def ask(self, method, path, body=None, headers=(), host=None, timeout=60):
        """Status, headers and body of an answer; the path is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            for name, value in dict(headers).items():
                connection.putheader(name, value)
            if isinstance(body, bytes):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def get(self, path):
        status, _, body = self.ask("GET", f"/api{path}")
        assert status == 200, body[:300]
        return json.loads(body)

    def send(self, method, path, value, headers=JSON):
        status, _, body = self.ask(method, f"/api{path}", json.dumps(value).encode(), headers)
        return status, json.loads(body)

    def finished(self, job):
        until = time.monotonic() + 120
        while job["state"] in ("waiting", "running"):
            assert time.monotonic() < until
            time.sleep(0.02)
            job = self.get(f"/jobs/{job['id']}")
        return job

    def raw(self, data, wait=30.0):
        """What is answered to bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as wire:
            wire.sendall(data)
            answer = b""
            while b"\r\n\r\n" not in answer and (piece := wire.recv(65536)):
                answer += piece
            return answer

    def sockets(self):
        """How many it has open, where the system tells."""
        count = 0
        for file in Path(f"/proc/{self.process.pid}/fd").glob("*"):
            with suppress(OSError):  # closed meanwhile
                count += os.readlink(file).startswith("socket:")
        return count

    def end(self):
        """Output and errors; texts may still be counted in the background."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.communicate(timeout=60)
        finally:
            self.process.kill()


@pytest.fixture(scope="module")
def server(fitted, tmp_path_factory):
    place = tmp_path_factory.mktemp("attacked")
    shutil.copytree(fitted / "run", place / "runs" / "run")
    shutil.copytree(fitted / "run", place / "outside")
    shutil.copytree(fitted / "run", place / "runs" / ".hidden")
    (place / "secret.csv").write_text("text\na secret\n")
    server = Server(place / "runs")
    yield server
    said = server.end()[1].splitlines()
    assert server.process.returncode == 143, said
    # nothing of all this was a fault
    assert set(said) <= {f"coterie: {NONSENSE}", "coterie: interrupted; no incomplete files were left behind"}


NAMES = [
    "..", "../outside", "..%2foutside", "%2e%2e%2foutside", "%2e%2e/outside", "..%5coutside", "..%252foutside",
    "run%2f..%2f..%2foutside", "%2fetc", "//etc", "C:%5coutside", "C:outside", "run%00", "run%00.json", ".hidden",
    "%2ehidden", "run/", "run%2f", "run.", "run%20", "RUN%2f.", "..;/outside", "%c0%ae%c0%ae%c0%afoutside", "%ff%fe",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_name_leads_out_of_the_folder(server, name):
    for method, way in [("GET", ""), ("GET", "/texts"), ("GET", "/report"), ("POST", "/undo")]:
        body = b'{"version": "0000000000000000"}' if method == "POST" else None
        status, _, answer = server.ask(method, f"/api/runs/{name}{way}", body, JSON if body else ())
        assert status in (400, 404, 405, 422), (method, way, status)
        assert b"a secret" not in answer
        assert b"Traceback" not in answer
    for path in (f"/static/{name}/run.json", f"/static/{name}", f"/{name}/secret.csv"):
        assert server.ask("GET", path)[0] in (400, 404)


@pytest.mark.parametrize(
    "name", ["../../new", "/tmp/new", "C:\\new", "..", ".new", "a/b", "a\x00b", "x" * 101, " "]
)
def test_no_run_is_written_elsewhere(server, name):
    before = sorted(path.name for path in server.folder.parent.rglob("*"))
    upload = upload_of(server)
    for path, body in [
        (f"/uploads/{upload['id']}/fit", {"name": name, "text": "text"}),
        ("/runs/run/refit", {"version": server.get("/runs/run")["version"], "name": name}),
    ]:
        status, answer = server.send("POST", path, body)
        assert status == 422, answer
        assert list(answer) == ["error"]
    assert sorted(path.name for path in server.folder.parent.rglob("*")) == before


def upload_of(server, content=b"text\nlate parcel\n", name="a.csv"):
    status, _, body = server.ask("PUT", f"/api/uploads?name={quote(name, safe='')}", content, BYTES)
    assert status == 201, body
    return json.loads(body)


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd.csv", "/etc/passwd", "C:\\a\\b.csv", "a\x00.csv", "CON", "a" * 900]
)
def test_a_name_of_a_file_is_no_path(server, name):
    found = upload_of(server, name=name)
    assert not set(found["name"]) & set("/\\\x00")
    assert server.ask("DELETE", f"/api/uploads/{found['id']}", None, JSON)[0] == 204


@pytest.mark.parametrize("id", ["..", "..%2f..%2fsecret", "%00", "*", "x" * 64, "x" * 65, "%2fetc%2fpasswd"])
def test_ids_are_no_paths(server, id):
    assert server.ask("DELETE", f"/api/uploads/{id}", None, JSON)[0] in (404, 405, 422)
    assert server.ask("DELETE", f"/api/jobs/{id}", None, JSON)[0] in (404, 405, 422)


def test_a_name_that_was_made_to_lead_here_is_not_served(server):
    for host in ("evil.example", f"evil.example:{server.port}", f"127.0.0.1.evil.example:{server.port}"):
        for path in ("/", "/api/runs", "/api/runs/run/texts", "/openapi.json", "/static/main.js"):
            status, _, body = server.ask("GET", path, host=host)
            assert (status, b"parcel" in body) == (421, False)
    answer = server.raw(b"GET http://evil.example/api/runs HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 421")


def test_another_site_changes_nothing(server):
    body = {"version": server.get("/runs/run")["version"], "kind": "rename", "topics": [0], "label": "taken"}
    sent, jobs = json.dumps(body).encode(), server.get("/jobs")
    kinds = [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": f"http://127.0.0.1:{server.port + 1}"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"X-Coterie": ""}, 403),
        ({"X-Coterie": "2"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ({"Content-Type": ""}, 415),
    ]
    for headers, status in kinds:
        assert server.ask("POST", "/api/runs/run/edits", sent, {**JSON, **headers})[0] == status, headers
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "x-coterie"}  # fmt: skip
    status, headers, _ = server.ask("OPTIONS", "/api/runs/run/edits", None, preflight)
    assert status == 403
    assert not [name for name in headers if name.lower().startswith("access-control")]
    assert server.get("/runs/run")["version"] == body["version"]
    assert server.get("/jobs") == jobs


def pieces(total, size=65_536):
    for start in range(0, total, size):
        part = b" " * min(size, total - start)
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


@pytest.mark.parametrize(("method", "path", "most"), [
    ("POST", "/api/runs/run/undo", 8_000_000), ("PUT", "/api/uploads?name=a.csv", 1 << 20)
])  # fmt: skip
def test_bodies_that_are_too_large_are_refused_with_and_without_a_length(server, method, path, most):
    headers = JSON if method == "POST" else BYTES
    assert server.ask(method, path, b" " * (most + 1), headers)[0] == 413
    status = server.ask(method, path, pieces(most + 1), {**headers, "Transfer-Encoding": "chunked"})[0]
    assert status == 413
    begun = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{begun}Content-Length: {10**15}\r\n\r\n"
    assert b" 413 " in server.raw(head.encode()).split(b"\r\n")[0]  # at once, nothing was sent


def test_slow_and_broken_bodies_hold_nobody_up(server):
    heads = [
        b"POST /api/runs/run/undo HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Coterie: 1\r\nContent-Type: application/json\r\n",
        b"PUT /api/uploads?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Coterie: 1\r\n"
        b"Content-Type: application/octet-stream\r\n",
        b"GET /api/runs HTTP/1.1\r\n",
    ]
    before = server.sockets()
    wires = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
    try:
        for at, wire in enumerate(wires):
            wire.sendall(heads[at % 3] + (b"" if at % 3 == 2 else b"Content-Length: 1000\r\n\r\n{"))
        begun = time.monotonic()
        for _ in range(5):
            server.get("/runs/run")
            server.get("/runs/run/texts?q=parcel")
        assert time.monotonic() - begun < 30  # those sixty never end
    finally:
        for wire in wires:
            wire.close()
    for nonsense in (b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"A" * 200_000,
                     b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"):  # fmt: skip
        with suppress(OSError):  # hung up on
            assert server.raw(nonsense)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 421", b"")
    assert server.get("/about")["workspace"] == "runs"
    until = time.monotonic() + 60
    while server.sockets() > before:  # it lets go of all of them, before it is ended
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_hostile_file_is_text_from_upload_to_export(server):
    texts = [*HOSTILE, *["late parcel depot", "card refund tax"] * 20]
    file = pl.DataFrame({"=1+1": ["=cmd()"] * len(texts), "text": texts}).write_csv().encode()
    upload = upload_of(server, file, "<script>.csv")
    assert upload["name"] == "<script>.csv"
    assert upload["preview"][0][:2] == ["=cmd()", HOSTILE[0]]
    assert max(len(cell) for row in upload["preview"] for cell in row) <= 300
    wanted = {"name": "hostile", "text": "text", "topics": 2}
    status, job = server.send("POST", f"/uploads/{upload['id']}/fit", wanted)
    assert status == 202, job
    assert server.finished(job)["state"] == "done"
    page = server.get("/runs/hostile/texts?limit=50")
    assert [row["text"] for row in page["rows"]] == [text[:2000] for text in texts]
    status, headers, body = server.ask("GET", "/api/runs/hostile/export?format=csv")
    assert headers["Content-Disposition"].startswith("attachment")
    assert headers["X-Content-Type-Options"] == "nosniff"
    cells = pl.read_csv(body, infer_schema=False)
    assert not [cell for column in cells.columns for cell in [column, *cells[column]]
                if (cell or "").startswith(("=", "+", "-", "@", "\t"))]  # fmt: skip
    path = server.folder.parent / "export.csv"
    path.write_bytes(body)
    assert read_csv(path)["text"].to_list() == texts
    nul = server.ask("PUT", "/api/uploads?name=a.csv", b"text\nwords\x00 and words\n" * 9, BYTES)
    assert nul[0] in (201, 422)
    shutil.rmtree(server.folder / "hostile")


def test_of_two_users_who_edit_the_same_state_one_wins(server):
    version, old = server.get("/runs/run")["version"], server.get("/runs/run")["topics"]
    topic = old[0]["id"]
    bodies = [
        {"version": version, "kind": "rename", "topics": [topic], "label": f"user {n}"} for n in range(8)
    ]
    with ThreadPoolExecutor(8) as users:
        answers = list(users.map(lambda body: server.send("POST", "/runs/run/edits", body), bodies))
    jobs = [server.finished(job) for status, job in answers if status == 202]
    won = [job for job in jobs if job["state"] == "done"]
    assert len(won) == 1
    lost = [answer["error"] for status, answer in answers if status == 409]
    lost += [job["error"] for job in jobs if job["state"] == "failed"]
    assert len(lost) == 7
    assert all("changed in the meantime" in error or "is being changed" in error for error in lost)
    after = server.get("/runs/run")
    assert after["version"] == won[0]["version"]
    winner = next(body["label"] for body, (status, job) in zip(bodies, answers, strict=True)
                  if status == 202 and job["id"] == won[0]["id"])  # fmt: skip
    assert next(one["label"] for one in after["topics"] if one["id"] == topic) == winner
    assert len(after["edits"]) == 1
    server.finished(server.send("POST", "/runs/run/undo", {"version": after["version"]})[1])


def test_readers_never_see_half_an_edit(server):
    over, seen, faults = threading.Event(), set(), []

    def read():
        while not over.is_set():
            found = server.get("/runs/run")
            topics = {topic["id"]: topic["size"] for topic in found["topics"]}
            seen.add((found["version"], len(topics)))
            page = server.get("/runs/run/texts?limit=200")
            again = server.get("/runs/run")["version"]
            counts = dict.fromkeys(topics, 0)
            if again == found["version"]:
                for row in page["rows"]:
                    counts[row["topic"]] = counts.get(row["topic"], 0) + 1
                if counts != topics:
                    faults.append((found["version"], topics, counts))
            if len({row["topic"] for row in page["rows"]}) > 4 or page["total"] != 160:
                faults.append(page["total"])

    with ThreadPoolExecutor(4) as readers:
        reading = [readers.submit(read) for _ in range(4)]
        try:
            for _ in range(3):
                found = server.get("/runs/run")
                two = [topic["id"] for topic in found["topics"][:2]]
                body = {"version": found["version"], "kind": "merge", "topics": two}
                assert server.finished(server.send("POST", "/runs/run/edits", body)[1])["state"] == "done"
                body = {"version": server.get("/runs/run")["version"]}
                assert server.finished(server.send("POST", "/runs/run/undo", body)[1])["state"] == "done"
        finally:
            over.set()
        for reader in reading:
            reader.result()
    assert faults == []
    assert {size for _, size in seen} == {3, 4}
    by_version = {}
    for version, size in seen:
        by_version.setdefault(version, set()).add(size)
    assert all(len(sizes) == 1 for sizes in by_version.values())
