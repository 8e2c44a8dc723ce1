"""The page on runs whose embeddings were given: it shows, edits and refits, and says what it cannot do."""

import json

import numpy as np
import pytest
from explore_runs import WORDS, change, client_of, finished, write_texts

from coterie.runs import fit_run, open_run
from coterie.text import read_texts
from coterie.topics import TopicModel


def encode(texts):
    return np.array(
        [[sum(word in pool for word in text.split()) + 0.1 for pool in WORDS.values()] for text in texts]
    )


@pytest.fixture
def folder(tmp_path):
    source = write_texts(tmp_path / "texts.csv")
    texts = [line.split(",")[3] for line in source.read_text().splitlines()[1:]]
    (tmp_path / "runs").mkdir()
    fit_run(
        read_texts(source, "text"),
        tmp_path / "runs" / "run",
        TopicModel(4, embeddings="given"),
        embeddings=encode(texts),
        date="date",
        class_column="class",
        edits=(),
    )
    return tmp_path / "runs"


@pytest.mark.slow
def test_the_page_works_on_a_run_with_given_embeddings(folder):
    assert open_run(folder / "run").model.embeddings_ == "given"
    with client_of(folder) as client:
        client.workspace.get("run").counted.wait()
        overview = client.get("/api/runs/run").json()
        assert overview["parameters"]["embeddings"] == "given"
        page = client.get("/api/runs/run/texts?topic=0&limit=5").json()["rows"]
        assert all(row["words"] for row in page)
        whole = client.get(f"/api/runs/run/texts/{page[0]['row']}").json()
        assert {near["topic"] for near in whole["similar"]} == {0}
        assert finished(client, change(client, kind="split", topics=[0], parts=2))["state"] == "done"
        assert finished(client, change(client, "undo"))["state"] == "done"
        job = finished(client, change(client, "refit", topics=3, name="three"))
        assert job["state"] == "done", job
        again = open_run(folder / "three")
        assert len(again.model.topics) == 3
        np.testing.assert_array_equal(again.vectors().all(), open_run(folder / "run").vectors().all())


@pytest.mark.slow
def test_new_texts_on_the_page_are_refused_in_a_sentence(folder):
    with client_of(folder) as client:
        answer = client.post("/api/runs/run/assign", json={"texts": ["late parcel"]})
        assert answer.status_code == 422
        assert "--embeddings VECTORS.npy' in a terminal" in answer.json()["error"]
        upload = client.put(
            "/api/uploads",
            params={"name": "new.csv"},
            content=b"text\nparcel van\nrefund card\n",
            headers={"content-type": "application/octet-stream"},
        ).json()
        answer = client.post(f"/api/uploads/{upload['id']}/assign", json={"run": "run", "text": "text"})
        assert answer.status_code == 422, answer.text
        assert "--embeddings VECTORS.npy' in a terminal" in answer.json()["error"]


def test_the_folder_of_a_model_is_nobody_s_business(folder):
    path = folder / "run" / "run.json"
    info = json.loads(path.read_text())
    info["parameters"]["embeddings"] = "model2vec:/home/somebody/models/tiny"
    path.write_text(json.dumps(info))
    with client_of(folder) as client:
        assert client.get("/api/runs/run").json()["parameters"]["embeddings"] == "model2vec:tiny"
