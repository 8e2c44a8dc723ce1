"""Slow and half-open connections: they hold nobody up, and go."""

import logging
import resource
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from coterie.explore import connections
from coterie.explore.connections import FewMessages, most_connections

pytestmark = pytest.mark.process
#: The server with little patience and few open files.
SERVER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from coterie.explore import connections
connections.HEADER_SECONDS = {seconds}
from coterie.cli import main
main(["explore", "--folder", sys.argv[1], "--port", "0", "--no-browser", "--token", "a-long-token"])
"""


@pytest.fixture
def start(folder):
    processes = []

    def started(seconds):
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER.format(seconds=seconds), str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        processes.append(process)
        process.port = int(process.stdout.readline().split(":")[2].split("/")[0])
        return process

    yield started
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def connected():
    clients = []

    def client(port, sent=b""):
        clients.append(socket.create_connection(("127.0.0.1", port), timeout=30))
        clients[-1].sendall(sent)
        return clients[-1]

    yield client
    for one in clients:
        one.close()


def is_closed(client):
    """Whether the server has closed a connection, without an answer."""
    client.settimeout(30)
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def asked(port):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/runs", headers={"Cookie": f"coterie-{port}=a-long-token"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status


HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-a: "


@pytest.mark.parametrize("sent", [b"", b"G", HALF], ids=["nothing", "a letter", "half"])
def test_a_request_that_does_not_arrive_is_not_waited_for(start, connected, sent):
    server = start(0.5)
    client = connected(server.port, sent)
    assert is_closed(client)


def test_a_request_that_comes_in_drops_gains_no_time(start, connected):
    server = start(1.0)
    client, begun = connected(server.port, HALF), time.monotonic()
    client.settimeout(0.05)
    closed = False
    while not closed and time.monotonic() - begun < 30:
        try:
            client.sendall(b"x")
            closed = client.recv(1) == b""
        except TimeoutError:
            continue
        except OSError:
            closed = True
    assert closed


def test_more_connections_than_files_hold_nobody_up(start, connected):
    """The reader is answered while two hundred connections are open, and little is logged."""
    server = start(600)
    clients = [connected(server.port, HALF) for _ in range(200)]
    begun = time.monotonic()
    for _ in range(5):
        assert asked(server.port) == 200
    assert time.monotonic() - begun < 30
    assert is_closed(clients[0]), "the oldest made room"
    server.kill()
    _, logged = server.communicate()
    assert len(logged.splitlines()) <= 2 * connections.MESSAGES


def test_an_upload_may_take_longer_than_headers(start, connected):
    server = start(0.5)
    head = (
        f"PUT /api/uploads?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Coterie: 1\r\n"
        f"Cookie: coterie-{server.port}=a-long-token\r\nContent-Type: application/octet-stream\r\nContent-Length: 20\r\n\r\n"
    )
    client = connected(server.port, head.encode() + b"text\n")
    time.sleep(1.5)  # nothing can be observed meanwhile: the point is that nothing happens
    client.sendall(b"late parcel 123")
    assert client.recv(100).startswith(b"HTTP/1.1 201")


def test_as_many_connections_as_files_allow(monkeypatch):
    for files, most in (
        (1024, 341),
        (10**6, connections.CONNECTIONS),
        (resource.RLIM_INFINITY, connections.CONNECTIONS),
        (1, 1),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert most_connections() == most


def test_few_messages_are_logged_in_a_minute(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(connections.time, "monotonic", lambda: now[0])
    few = FewMessages(3)
    passed = []
    for number in range(5):
        record = logging.LogRecord("x", logging.WARNING, "", 0, "message %d", (number,), None)
        if few.filter(record):
            passed.append(record.getMessage())
    assert passed == ["message 0", "message 1", "message 2 (more in this minute are left out)"]
    now[0] += 61
    assert few.filter(logging.LogRecord("x", logging.WARNING, "", 0, "later", (), None))
