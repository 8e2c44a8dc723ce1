"""The server as a whole: errors, names of runs, the API against its own description, the command."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from explore_runs import HEADERS, change, client_of, finished, version

from coterie.cli import main
from coterie.explore.opened import overview
from coterie.explore.server import STATIC, make_app
from coterie.explore.workspace import Workspace


def test_runs_are_folders_with_a_record(client, folder):
    (folder / "notes").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text("{")
    shutil.copytree(folder / "run", folder / ".hidden")
    listed = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}
    assert set(listed) == {"run", "broken"}
    assert listed["run"]["texts"] == 160
    assert listed["run"]["error"] is None
    assert listed["broken"]["error"]
    broken = client.get("/api/runs/broken")
    assert broken.status_code == 422
    assert "run.json" in broken.json()["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["none", "..%2frun", "%2e%2e", ".hidden", "run%00", "run%2f..", "a%5cb", "%ff", "x" * 300]
)
def test_no_path_comes_from_a_request(client, folder, name):
    shutil.copytree(folder / "run", folder.parent / "outside")
    shutil.copytree(folder / "run", folder / ".hidden")
    for path in (f"/api/runs/{name}", f"/api/runs/{name}/texts", f"/api/runs/{name}/report"):
        answer = client.get(path)
        assert answer.status_code in (404, 422), path
        assert set(answer.json()) == {"error"}


def test_a_run_that_is_changed_on_disk_is_opened_anew(client, folder):
    from coterie.runs import open_run

    first = version(client)
    assert client.workspace.get("run") is client.workspace.get("run")
    run = open_run(folder / "run")
    run.with_texts().edits.rename(0, "changed")
    run.save()
    assert version(client) != first
    shutil.rmtree(folder / "run")
    assert client.get("/api/runs/run").status_code == 404


def test_few_runs_are_open_at_once(folder):
    for number in range(5):
        shutil.copytree(folder / "run", folder / f"run{number}")
    workspace = Workspace(folder)
    first = workspace.get("run0")
    for number in range(5):
        workspace.get(f"run{number}")
    assert len(workspace._opened) == 3
    assert overview(first).name == "run0"  # whoever holds it can go on
    workspace.close()


def test_two_who_ask_at_once_open_it_once(folder, monkeypatch):
    from coterie.explore import workspace as module

    opened, real = [], module.open_run
    monkeypatch.setattr(module, "open_run", lambda path: opened.append(path) or real(path))
    workspace, found = Workspace(folder), []
    threads = [threading.Thread(target=lambda: found.append(workspace.get("run"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 1
    assert len(set(map(id, found))) == 1


@pytest.mark.slow
def test_no_answer_has_a_path_of_this_machine(folder, tmp_path):
    for name in ("broken", "damaged", "cut"):
        shutil.copytree(folder / "run", folder / name)
    (folder / "broken" / "run.json").write_text("{")
    (folder / "damaged" / "assignments.parquet").write_bytes(b"PAR1 and no table")
    (folder / "cut" / "model" / "state.json").unlink(missing_ok=True)
    info = json.loads((folder / "run" / "run.json").read_text())
    assert str(tmp_path.parent.parent) in info["data"]["source"]
    info["parameters"]["embeddings"] = str(tmp_path / "vectors" / "glove.txt")
    info["warnings"] = [f"{info['data']['source']} is odd"]
    (folder / "run" / "run.json").write_text(json.dumps(info))
    with client_of(folder) as client:
        runs = client.get("/api/runs").json()["runs"]
        assert {run["source"] for run in runs} == {"texts.csv", ""}
        found = client.get("/api/runs/run").json()
        assert found["source"] == "texts.csv"
        assert found["parameters"]["embeddings"] == "glove.txt"
        assert found["warnings"] == ["texts.csv is odd"]
        ways = ["", "/topics/0", "/texts", "/texts/0", "/map", "/export", "/report"]
        paths = [
            f"/api/runs/{run}{way}" for run in ("run", "broken", "damaged", "cut", "none") for way in ways
        ]
        paths += ["/api/about", "/api/runs", "/api/jobs", "/api/jobs/x", "/openapi.json", "/", "/docs"]
        paths += ["/api/compare?a=run&b=damaged", "/api/compare?a=run&b=broken"]
        answers = [client.get(path) for path in paths]
        answers += [
            client.post(f"/api/runs/{run}/assign", json={"texts": ["a parcel"]}) for run in ("run", "cut")
        ]
        wanted = {"version": client.workspace.version("damaged"), "kind": "ban", "terms": ["parcel"]}
        job = finished(client, client.post("/api/runs/damaged/edits", json=wanted))
        assert job["state"] == "failed"
        answers.append(client.get(f"/api/jobs/{job['id']}"))
    assert "assignments.parquet" in job["error"]
    for answer in answers:
        assert str(tmp_path.parent.parent).encode() not in answer.content, answer.url
        assert b"site-packages" not in answer.content
    gone = next(answer.json() for answer in answers if answer.url.path == "/api/runs/none")
    assert gone["error"] == "there is no run 'none' in this folder"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/none", 404),
        ("GET", "/none", 404),
        ("POST", "/api/about", 405),
        ("GET", "/api/about?x=1", 422),
        ("GET", "/api/runs/run?version=1", 422),
        ("GET", "/api/runs/run/topics/-1", 422),
        ("GET", "/api/runs/run/topics/a", 422),
        ("GET", "/api/runs/run/texts?limit=201", 422),
        ("GET", "/docs/", 404),
    ],
)
def test_errors_are_sentences(reader, method, path, status):
    answer = reader.request(method, path)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff", b"1e999", b"[" * 100_000])
def test_bodies_that_are_no_request(reader, body):
    answer = reader.post("/api/runs/run/undo", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert list(answer.json()) == ["error"]


def test_a_fault_is_told_without_its_inside(folder, caplog):
    from fastapi.testclient import TestClient

    workspace = Workspace(folder)
    app = make_app(workspace)

    def broken(name):
        raise RuntimeError("secret /path")

    workspace.get = broken
    with TestClient(
        app, base_url="http://127.0.0.1", headers=HEADERS, raise_server_exceptions=False
    ) as client:
        answer = client.get("/api/runs/run")
    assert answer.status_code == 500
    assert list(answer.json()) == ["error"]
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "secret" in caplog.text


def test_the_page_and_its_files_are_there(reader):
    page = reader.get("/")
    assert page.status_code == 200
    for name in ("index.html", "docs.html", "main.js"):
        assert (STATIC / name).is_file()
    assert "<script>" not in page.text
    assert reader.get("/docs").status_code == 200


def test_the_description_names_every_answer(reader):
    described = reader.get("/openapi.json").json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            answers = operation["responses"]
            assert {"401", "403", "421", "422"} <= set(answers), (method, path)
            for code, answer in answers.items():
                if code[0] in "45":
                    schema = answer["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Problem"}, (method, path, code)
            headers = {found["name"] for found in operation.get("parameters", ()) if found["in"] == "header"}
            assert headers == (set() if method == "get" else {"X-Coterie"}), (method, path)
    assert "HTTPValidationError" not in json.dumps(described)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_are_of_the_kind_that_is_described(reader, kind):
    described = reader.get("/openapi.json").json()["paths"]["/api/runs/{run}/export"]["get"]["responses"][
        "200"
    ]
    answer = reader.get(f"/api/runs/run/export?format={kind}")
    assert answer.headers["content-type"] in described["content"]
    assert len(described["content"]) == 2


# --- the command


def started(*arguments, **settings):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # not ignored, as under a shell's &
    server = subprocess.Popen(
        [sys.executable, "-m", "coterie", "explore", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )
    return server, server.stdout.readline()


def ended(server, number):
    server.send_signal(number)
    try:
        code = server.wait(60)
        return code, server.stdout.read(), server.stderr.read()
    finally:
        server.kill()
        server.communicate()


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_command_serves_and_ends_with_ctrl_c(folder):
    import httpx2

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server, said = started(folder / "run", "--no-browser", "--port", port)
        try:
            assert f"port {port} is in use; using " in said
            address = server.stdout.readline().split()[0]
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}&run=run", address)
            origin = address.partition("/?")[0]
            assert httpx2.get(f"{origin}/api/runs").status_code == 401  # another user of the machine
            with httpx2.Client(follow_redirects=True) as client:
                answer = client.get(address)
                assert (answer.status_code, str(answer.url)) == (200, f"{origin}/?run=run")
                assert client.get(f"{origin}/api/about?x=1").status_code == 422
        finally:
            code, _, errors = ended(server, signal.SIGINT)
    assert code == 130
    assert errors.strip() == "coterie: interrupted; no incomplete files were left behind"


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_without_a_token_if_asked_for(folder):
    import httpx2

    server, said = started("--folder", folder, "--port", "0", "--no-browser", "--no-token")
    try:
        assert "token" not in said
        assert httpx2.get(f"{said.split()[0]}api/runs").status_code == 200
    finally:
        ended(server, signal.SIGTERM)


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_servers_that_start_at_once_have_ports_of_their_own(folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    servers = [
        subprocess.Popen(
            [sys.executable, "-m", "coterie", "explore", str(folder / "run"), "--no-browser", "--port", str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    try:
        said = [server.stdout.readline() for server in servers]
        said = [
            server.stdout.readline() if "in use" in line else line
            for server, line in zip(servers, said, strict=True)
        ]
        ports = {re.search(r":(\d+)/", line)[1] for line in said}
        assert len(ports) == 4
    finally:
        for server in servers:
            server.kill()
            _, errors = server.communicate()
            assert "Traceback" not in errors


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_other_machines_need_a_token(folder, tmp_path):
    import httpx2

    server, said = started("--folder", folder, "--host", "0.0.0.0", "--port", "0", "--no-browser")
    try:
        token = said.split("token=")[1].split()[0].split("&")[0]
        port = said.split(":")[2].split("/")[0]
        assert len(token) >= 24
        plain = f"http://127.0.0.1:{port}/api/about"
        assert httpx2.get(plain).status_code == 401
        with httpx2.Client(follow_redirects=True) as client:
            assert client.get(f"{plain}?token={token}").json()["workspace"] == "runs"
            assert client.get(plain).status_code == 200
    finally:
        assert ended(server, signal.SIGTERM)[0] == 143


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["none"], "none is not a run folder: it has no run.json"),
        (["--folder", "none"], "none does not exist"),
        (["run", "--folder", ".."], "is not in"),
        (["run", "--folder", "loop"], "is not in"),
        (["run", "--token", "short"], "at least 8 ASCII characters"),
        (["run", "--host", ""], "--host must be a name"),
        (["run", "--no-token", "--token", "long enough"], "--no-token"),
        (["run", "--no-token", "--host", "0.0.0.0"], "--no-token"),
        (["run", "--port", "99999"], "port"),
        (["run", "--host", "999.1.1.1", "--no-browser"], "--host"),
        (["run", "--host", "\u202eabc", "--no-browser"], "cannot listen on --host"),
    ],
)
def test_what_the_command_cannot_do_is_told(folder, monkeypatch, arguments, word):
    from click.testing import CliRunner

    monkeypatch.chdir(folder)
    (folder / "loop").symlink_to("loop")
    result = CliRunner().invoke(main, ["explore", *arguments])
    assert result.exit_code == 2
    assert word in result.output
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(("most", "said"), [(159, True), (160, False)])
def test_a_run_that_takes_much_memory_is_announced(folder, monkeypatch, most, said):
    from click.testing import CliRunner

    monkeypatch.setattr("coterie.explore.server.serve", lambda *_, **__: None)
    monkeypatch.setattr("coterie.cli.explore._MANY_TEXTS", most)
    result = CliRunner().invoke(main, ["explore", str(folder / "run")])
    assert result.exit_code == 0
    assert ("this run has 160 texts; the page reads all of them into memory" in result.stderr) == said
    (folder / "run" / "run.json").write_text("{")
    assert CliRunner().invoke(main, ["explore", str(folder / "run")]).exit_code == 0


def test_the_browser_opens_once_the_server_answers(folder, monkeypatch):
    from coterie.explore import server as module

    opened = []
    monkeypatch.setattr(module.webbrowser, "open", lambda address: opened.append(address) or False)
    said = []

    class Server:
        started, should_exit = True, False

    with socket.socket() as listener:
        module._welcome(Server(), listener, "http://127.0.0.1:1/?run=run", True, said.append)
        module._welcome(Server(), listener, "http://127.0.0.1:1/", False, said.append)
    assert opened == ["http://127.0.0.1:1/?run=run"]
    assert "open the URL yourself" in said[1]
    assert len(said) == 3


@pytest.mark.slow
def test_two_people_change_the_same_run(client):
    old = version(client)
    answers = [
        client.post(
            "/api/runs/run/edits", json={"version": old, "kind": "rename", "topics": [0], "label": label}
        )
        for label in ("one", "two")
    ]
    assert [answer.status_code for answer in answers] == [202, 409]
    finished(client, answers[0])
    late = client.post("/api/runs/run/undo", json={"version": old})
    assert late.status_code == 409
    assert finished(client, change(client, "undo"))["state"] == "done"


def test_the_package_ships_the_page():
    assert {path.suffix for path in Path(STATIC).iterdir()} >= {".html", ".js", ".css"}
