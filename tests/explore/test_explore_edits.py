"""Edits over the API: what is written, what readers see meanwhile, what is refused."""

import threading
import time

import pytest
from explore_runs import change, client_of, finished, version

from coterie.explore import editing
from coterie.explore.workspace import Workspace
from coterie.runs import Run, edit_run, open_run
from coterie.topics import editing as describing


def topics(client):
    return {topic["id"]: topic for topic in client.get("/api/runs/run").json()["topics"]}


def rows_of(client, topic):
    page = client.get(f"/api/runs/run/texts?topic={topic}&limit=200").json()
    return [row["row"] for row in page["rows"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"kind": "rename", "topics": [0], "label": " Deliveries "}, "to 'Deliveries'"),
        ({"kind": "merge", "topics": [0, 1]}, "into topic 0"),
        ({"kind": "split", "topics": [0], "parts": 2}, "into 2"),
        ({"kind": "ban", "terms": ["parcel"]}, "ban 'parcel'"),
        ({"kind": "pin", "topics": [1], "texts": ["a text of nobody"]}, "pin 'a text of nobody'"),
    ],
)
def test_edits_are_those_of_the_library(client, folder, body, sentence):
    expected = open_run(folder / "run").with_texts()
    first = version(client)
    job = finished(client, change(client, **body))
    assert job["state"] == "done", job
    after = client.get("/api/runs/run").json()
    assert job["version"] == after["version"] != first
    assert sentence in after["edits"][-1]["sentence"]
    written = open_run(folder / "run")
    expected.edits.apply(*written.model.edits)
    assert written.model.topics == expected.topics
    assert written.model.edits[-1].made
    assert {t: found["size"] for t, found in topics(client).items()} == {
        t.id: t.size for t in expected.topics
    }


@pytest.mark.slow
def test_many_texts_are_pinned_at_once_and_go_back_at_once(client, folder, monkeypatch):
    rows, described = rows_of(client, 0)[:10], []
    before = open_run(folder / "run").model.topics
    describe = describing.describe
    client.workspace.get("run").counted.wait()
    monkeypatch.setattr(describing, "describe", lambda *given: described.append(1) or describe(*given))
    assert finished(client, change(client, kind="pin", topics=[1], rows=rows * 2))["state"] == "done"
    assert len(described) == 1
    assert set(rows) <= set(rows_of(client, 1))
    assert len(open_run(folder / "run").model.edits) > 1
    assert finished(client, change(client, "undo"))["state"] == "done"
    after = open_run(folder / "run").model
    assert after.edits == ()
    assert after.topics == before


@pytest.mark.slow
def test_a_rename_describes_nothing_anew(client, monkeypatch):
    client.workspace.get("run").counted.wait()

    def never(*arguments):
        raise AssertionError("described")

    monkeypatch.setattr(describing, "describe", never)
    assert finished(client, change(client, kind="rename", topics=[0], label="x"))["state"] == "done"
    assert finished(client, change(client, "undo"))["state"] == "done"
    assert not topics(client)[0]["named"]


@pytest.mark.slow
def test_undo_after_a_restart_replays_the_log(folder):
    with client_of(folder) as client:
        before = topics(client)
        finished(client, change(client, kind="merge", topics=[0, 1]))
        finished(client, change(client, kind="rename", topics=[0], label="both"))
    with client_of(folder) as client:
        assert finished(client, change(client, "undo"))["state"] == "done"
        assert finished(client, change(client, "undo"))["state"] == "done"
        assert topics(client) == before
        again = change(client, "undo")
        assert again.status_code == 422
        assert "no edit" in again.json()["error"]


@pytest.mark.slow
def test_readers_see_the_old_run_until_the_new_one_is_written(client, folder, monkeypatch):
    entered, go = threading.Event(), threading.Event()
    save = Run.save

    def slow(run, lock):
        entered.set()
        assert go.wait(60)
        return save(run, lock)

    monkeypatch.setattr(Run, "save", slow)
    before, old = topics(client), version(client)
    answer = change(client, kind="merge", topics=[0, 1])
    assert entered.wait(60)
    assert topics(client) == before
    assert version(client) == old
    busy = change(client, kind="rename", topics=[0], label="x")
    assert busy.status_code == 409
    assert "is being changed" in busy.json()["error"]
    cancelled = client.delete(f"/api/jobs/{answer.json()['id']}").json()
    assert cancelled["state"] == "running"  # it is being written already
    go.set()
    assert finished(client, answer)["state"] == "done"
    assert len(topics(client)) == len(before) - 1
    assert finished(client, change(client, kind="rename", topics=[0], label="x"))["state"] == "done"


@pytest.mark.slow
def test_an_edit_that_fails_leaves_the_run_as_it_was(client, folder, monkeypatch):
    def full(run, lock):
        raise OSError(28, "No space left on device")

    old = (folder / "run" / "run.json").read_bytes()
    monkeypatch.setattr(Run, "save", full)
    job = finished(client, change(client, kind="merge", topics=[0, 1]))
    assert job["state"] == "failed"
    assert job["error"]
    assert (folder / "run" / "run.json").read_bytes() == old
    monkeypatch.undo()
    assert len(topics(client)) == 4
    assert finished(client, change(client, kind="merge", topics=[0, 1]))["state"] == "done"


def test_a_change_for_another_version_is_refused(client, folder):
    old = version(client)
    run = open_run(folder / "run")
    run.with_texts().edits.rename(0, "from elsewhere")
    run.save()
    answer = client.post("/api/runs/run/edits", json={"version": old, "kind": "ban", "terms": ["parcel"]})
    assert answer.status_code == 409
    assert "changed in the meantime" in answer.json()["error"]
    assert topics(client)[0]["label"] == "from elsewhere"


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"kind": "rename", "topics": [99], "label": "x"}, 404, "99"),
        ({"kind": "rename", "topics": [0], "label": "  "}, 422, "must not be empty"),
        ({"kind": "rename", "topics": [0, 1], "label": "x"}, 422, "1 topics"),
        ({"kind": "rename", "topics": [0]}, 422, "must not be empty"),
        ({"kind": "rename", "topics": [0], "label": "x", "parts": 2}, 422, "parts"),
        ({"kind": "merge", "topics": [0]}, 422, "2 topics"),
        ({"kind": "merge", "topics": [0, 0]}, 422, "twice"),
        ({"kind": "split", "topics": [0], "parts": 1}, 422, "parts"),
        ({"kind": "ban"}, 422, "no term"),
        ({"kind": "ban", "terms": ["xyzzy"]}, 422, "xyzzy"),
        ({"kind": "pin", "topics": [0]}, 422, "rows or texts"),
        ({"kind": "pin", "topics": [0], "rows": [160]}, 422, "160"),
        ({"kind": "pin", "topics": [0], "rows": [-1]}, 422, "rows"),
        ({"kind": "pin", "topics": [0], "rows": list(range(501))}, 422, "500"),
        ({"kind": "pin", "topics": [0], "texts": ["\ud800"]}, 422, "texts"),
        ({"kind": "paint", "topics": [0]}, 422, "kind"),
        ({"kind": "ban", "terms": ["x"], "more": 1}, 422, "more"),
        ({"kind": "split", "topics": ["0"]}, 422, "topics must be a whole number; got '0'"),
    ],
)
def test_what_cannot_be_done_is_told(reader, body, status, word):
    answer = change(reader, **body)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}
    assert word in answer.json()["error"]
    assert reader.get("/api/jobs").json() == {"jobs": []}


@pytest.mark.slow
def test_hostile_labels_are_text(client, folder):
    label = "<script>alert(1)</script> \u202e =cmd()"
    assert finished(client, change(client, kind="rename", topics=[0], label=label))["state"] == "done"
    assert topics(client)[0]["label"] == label
    assert "<script>alert(1)" not in (folder / "run" / "report.html").read_text()


@pytest.mark.slow
def test_edits_of_two_runs_do_not_wait_for_each_other(client, folder):
    import shutil

    shutil.copytree(folder / "run", folder / "other")
    jobs = [change(client, run=run, kind="rename", topics=[0], label=run) for run in ("run", "other")]
    assert [finished(client, job)["state"] for job in jobs] == ["done", "done"]
    labels = {t["id"]: t["label"] for t in client.get("/api/runs/other").json()["topics"]}
    assert labels[0] == "other"


@pytest.mark.slow
def test_counted_texts_are_taken_over(client, monkeypatch):
    from coterie.runs import run as opening

    client.workspace.get("run").counted.wait()

    def never(*arguments):
        raise AssertionError("counted again")

    monkeypatch.setattr(opening, "collect", never)
    assert finished(client, change(client, kind="merge", topics=[0, 1]))["state"] == "done"
    until = time.monotonic() + 20
    while not client.get("/api/runs/run").json()["ready"]:
        assert time.monotonic() < until
    assert client.workspace.get("run").counted.problem is None


def test_texts_moved_together_are_known_by_one_time():
    from coterie.topics import Edit
    from coterie.topics.edits import Reference

    to = (Reference(0, "a", ("a",)),)
    pins = [Edit("pin", to, text=text, made="2024-01-01T00:00:00+00:00") for text in "abc"]
    assert editing.together(pins) == 3
    assert editing.together([Edit("pin", to, text="x"), Edit("pin", to, text="y")]) == 1
    assert editing.together([*pins, Edit("rename", to, label="x", made=pins[0].made)]) == 1
    assert editing.together([Edit("rename", to, label="x", made=pins[0].made), *pins]) == 3


def test_a_question_is_answered_although_another_process_changes_the_run(folder, monkeypatch):
    get, changes = Workspace.get, []

    def overtaken(self, name):
        """The run as it is on disk; twice somebody changes it before its table was read."""
        found = get(self, name)
        if len(changes) < 2:
            changes.append(
                edit_run(folder / name, lambda model: model.edits.rename(0, f"name {len(changes)}"))
            )
        return found

    monkeypatch.setattr(Workspace, "get", overtaken)
    with client_of(folder) as client:
        answer = client.get("/api/runs/run")
    assert answer.status_code == 200, answer.text
    assert len(changes) == 2
    assert "name 1" in [topic["label"] for topic in answer.json()["topics"]]


@pytest.mark.slow
def test_two_servers_on_one_folder_lose_no_edit_that_they_called_done(folder):
    """Each of two people sees 409, or a job that failed, where the other one was quicker; then they try again."""
    done, refused = [], []

    def person(client, name):
        for number in range(8):
            label, state = f"{name} {number}", ""
            while state != "done":
                response = change(client, kind="rename", topics=[number % 4], label=label)
                job = finished(client, response) if response.status_code == 202 else {"state": "refused"}
                state = job["state"]
                (done if state == "done" else refused).append(label)

    with client_of(folder) as one, client_of(folder) as other:
        people = [threading.Thread(target=person, args=pair) for pair in ((one, "one"), (other, "other"))]
        for thread in people:
            thread.start()
        for thread in people:
            thread.join(120)
    assert len(done) == 16
    assert {edit.label for edit in open_run(folder / "run").model.edits} == set(done)
    assert refused, "they never met"
