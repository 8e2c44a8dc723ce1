"""Fits in their own process: progress, order, cancelling, and what is left when somebody is killed."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from explore_runs import change, client_of, finished, version, write_texts

from coterie.explore.jobs import Handle
from coterie.progress import Step
from coterie.runs import fit_run, open_run, verify
from coterie.text import read_texts
from coterie.topics import TopicModel

pytestmark = pytest.mark.process


def hidden(folder):
    return [path.name for path in Path(folder).iterdir() if path.name.startswith(".")]


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_a_refit_keeps_texts_parameters_and_edits(client, folder, capfd):
    before = open_run(folder / "run")
    texts = before.input()
    finished(client, change(client, kind="rename", topics=[0], label="Named"))
    finished(client, change(client, kind="ban", terms=["kettle"]))
    job = finished(client, change(client, "refit"))
    assert job["state"] == "done", job
    after = open_run(folder / "run")
    assert job["version"] == version(client)
    assert after.info["data"] == before.info["data"]
    assert verify(folder / "run").identical
    assert after.info["parameters"] == before.info["parameters"]
    assert after.input().equals(texts)
    assert [edit.kind for edit in after.model.edits] == ["rename", "ban"]
    assert "Named" in [topic.label for topic in after.model.topics]
    assert hidden(folder) == []
    assert capfd.readouterr().err == ""  # the worker ends in peace


def test_boilerplate_is_told_and_can_be_counted_again(tmp_path):
    every = itertools.product(("parcel", "invoice", "kettle"), range(20), ("late", "lost", "broken", "wrong"))
    texts = [f"my {thing} is {fault} {word}" for thing, word, fault in every]
    closed = [f"{text}\nSent from my phone" if at % 7 == 0 else text for at, text in enumerate(texts)]
    file = tmp_path / "mails.csv"
    pl.DataFrame({"text": closed}).write_csv(file)
    fit_run(read_texts(file, "text"), tmp_path / "runs" / "run", TopicModel(3), edits=())
    with client_of(tmp_path / "runs") as client:

        def told():
            return [
                c["text"]
                for c in client.get("/api/runs/run").json()["checks"]
                if "sent from my phone" in c["text"]
            ]

        assert "were left out of the counts" in told()[0]
        for asked, kept in ((True, True), (False, False)):
            assert finished(client, change(client, "refit", keep_boilerplate=asked))["state"] == "done"
            assert open_run(tmp_path / "runs" / "run").model.keep_boilerplate is kept
            assert bool(told()) is not kept


def test_a_refit_under_another_name_leaves_the_run_alone(client, folder):
    old = version(client)
    job = finished(client, change(client, "refit", topics=2, name="two"))
    assert job["state"] == "done", job
    assert job["run"] == "two"
    assert version(client) == old
    assert len(client.get("/api/runs/two").json()["topics"]) == 2
    assert client.get("/api/compare?a=run&b=two").json()["same_texts"]
    assert change(client, "refit", name="two").status_code == 409
    for name in ("../x", "a/b", ".hidden", "a\\b", "a\0b", "x" * 101):
        assert change(client, "refit", name=name).status_code == 422, name


def as_jsonl(path, lists):
    path.write_text("".join(json.dumps({"t": tokens}) + "\n" for tokens in lists))


def as_parquet(path, lists):
    pl.DataFrame({"t": lists}).write_parquet(path)


def as_parquet_with_nulls(path, lists):
    pl.DataFrame({"t": [None, *([None, *tokens] for tokens in lists)]}).write_parquet(path)


def as_arrays(path, lists):
    pl.DataFrame({"t": lists}, schema={"t": pl.Array(pl.String, 4)}).write_parquet(path)


@pytest.mark.parametrize("write", [as_jsonl, as_parquet, as_parquet_with_nulls, as_arrays])
def test_a_refit_of_tokens(folder, tmp_path, write):
    path = tmp_path / ("tokens.jsonl" if write is as_jsonl else "tokens.parquet")
    rows = pl.read_csv(write_texts(tmp_path / "texts.csv"))
    write(path, [text.split() for text in rows["text"]])
    fit_run(read_texts(path, "t"), folder / "tokens", TopicModel(4))
    before = open_run(folder / "tokens")
    texts = before.input()
    with client_of(folder) as client:
        shown = client.get("/api/runs/tokens/texts?limit=200").json()["rows"]
        assert sorted(row["text"] for row in shown if row["text"]) == sorted(rows["text"])
        assert client.get("/api/runs/tokens/texts/1").json()["text"] in set(rows["text"])
        assert finished(client, change(client, "refit", run="tokens"))["state"] == "done"
    after = open_run(folder / "tokens")
    assert after.info["data"] == before.info["data"]
    assert after.input().equals(texts)
    assert after.model.topics == before.model.topics
    assert after.texts().list.eval(pl.element().is_null().any()).list.any().sum() == 0


@pytest.fixture
def slow(once, folder):
    """A run that takes long to fit."""

    def fit(place):
        fit_run(read_texts(write_texts(place / "slow.csv", 3000), "text"), place / "slow", TopicModel(4))

    shutil.copytree(once("slow", fit) / "slow", folder / "slow")
    return folder


def test_fits_wait_for_each_other_and_can_be_cancelled(slow):
    folder = slow
    with client_of(folder) as client:
        old = version(client, "slow")
        first = change(client, "refit", run="slow", topics="auto").json()
        second = change(client, "refit", topics=3, name="later").json()
        running = lambda: client.get(f"/api/jobs/{first['id']}").json()  # noqa: E731
        until(lambda: running()["state"] == "running")
        assert client.get(f"/api/jobs/{second['id']}").json()["state"] == "waiting"
        assert [job["id"] for job in client.get("/api/jobs").json()["jobs"]] == [second["id"], first["id"]]
        third = change(client, "refit", name="never").json()
        assert client.delete(f"/api/jobs/{third['id']}").json()["state"] == "cancelled"
        until(lambda: running()["stage"] not in ("starting", ""))
        assert change(client, run="slow", kind="rename", topics=[0], label="x").status_code == 409
        client.delete(f"/api/jobs/{first['id']}")
        until(lambda: running()["state"] == "cancelled")
        assert version(client, "slow") == old
        until(lambda: client.get(f"/api/jobs/{second['id']}").json()["state"] == "done")
        assert client.delete(f"/api/jobs/{second['id']}").json()["state"] == "done"
        assert hidden(folder) == []
        assert sorted(run["name"] for run in client.get("/api/runs").json()["runs"]) == [
            "later",
            "run",
            "slow",
        ]
        assert change(client, run="slow", kind="rename", topics=[0], label="x").status_code == 202


def test_jobs_that_are_not_there(client):
    assert client.get("/api/jobs/none").status_code == 404
    assert client.delete("/api/jobs/none").status_code == 404


def test_remaining_time_is_told_where_the_total_is_known():
    handle = Handle("id", "fit", "run", "title", state="running", begun=time.monotonic() - 10)
    handle.tell(Step("reading", 25, 100, "texts"))
    handle.stage_begun = time.monotonic() - 5
    assert handle.shown().remaining == pytest.approx(15, abs=0.5)
    handle.tell(Step("reading", 25, None, "texts"))
    assert handle.shown().remaining is None
    handle.tell(Step("writing", 0, 100, "texts"))
    assert handle.shown().remaining is None
    handle.state = "done"
    assert handle.shown().stage == ""


# --- a server of its own


def children(pid):
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
            int(c)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for c in (task / "children").read_text().split()
        ]
    except FileNotFoundError:
        return []


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_server(slow, tmp_path, number):
    import httpx2

    temporary = tmp_path / "temporary"
    temporary.mkdir()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # not ignored, as under a shell's &
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "coterie",
            "explore",
            str(slow / "slow"),
            "--no-browser",
            "--port",
            "0",
            "--no-token",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    try:
        address = server.stdout.readline().split("/?")[0]
        client = httpx2.Client(base_url=address, headers={"X-Coterie": "1"}, timeout=60)
        old = version(client, "slow")
        job = change(client, "refit", run="slow", topics="auto").json()
        until(lambda: client.get(f"/api/jobs/{job['id']}").json()["stage"] not in ("starting", ""))
        workers = children(server.pid)
        assert workers
        client.close()
        server.send_signal(number)
        assert server.wait(60) == {2: 130, 15: 143, 9: -9}[number]
        until(lambda: not any(map(alive, workers)))
        assert hidden(slow) == []
        assert version_on_disk(slow / "slow") == old
        if number != signal.SIGKILL:
            assert list(temporary.iterdir()) == []
            assert "Traceback" not in server.stderr.read()
        else:
            assert [path for path in temporary.iterdir() if path.name.startswith("coterie-fit")] == []
    finally:
        server.kill()
        server.communicate()


def version_on_disk(folder):
    from coterie.explore.workspace import version_of

    return version_of(folder)


def test_as_many_topics_as_before_are_those_that_were_found(folder, tmp_path):
    source = read_texts(write_texts(tmp_path / "texts.csv"), "text")
    fit_run(source, folder / "found", TopicModel("auto"), edits=())
    found = len(open_run(folder / "found").model.topics)
    with client_of(folder) as client:
        assert finished(client, change(client, run="found", kind="merge", topics=[0, 1]))["state"] == "done"
        assert finished(client, change(client, "refit", run="found"))["state"] == "done"
    after = open_run(folder / "found")
    assert after.info["parameters"]["n_topics"] == found
    assert len(after.model.topics) == found - 1  # the edit is applied again
