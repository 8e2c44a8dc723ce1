"""Small runs whose topics are known, and a client that speaks as the page does."""

import csv
import json
import time
from contextlib import contextmanager

import numpy as np
from fastapi.testclient import TestClient

from coterie.explore.server import Settings, make_app
from coterie.explore.workspace import Workspace
from coterie.runs import fit_run
from coterie.text import read_texts
from coterie.topics import TopicModel

WORDS = {
    "shipping": ["parcel", "courier", "depot", "tracking", "doorstep", "van"],
    "billing": ["refund", "invoice", "card", "payment", "receipt", "tax"],
    "login": ["password", "username", "captcha", "token", "browser", "cookie"],
    "kitchen": ["kettle", "toaster", "oven", "spoon", "plate", "fridge"],
}
HEADERS = {"X-Coterie": "1", "host": "127.0.0.1:8765"}


def write_texts(path, n_texts=160, seed=0):
    rng = np.random.default_rng(seed)
    names = list(WORDS)
    with open(path, "w", newline="", encoding="utf-8") as file:
        sheet = csv.writer(file)
        sheet.writerow(["id", "date", "class", "text"])
        for number in range(n_texts):
            name = names[number % 4]
            text = " ".join(rng.choice(WORDS[name], 4, replace=False))
            sheet.writerow([number, f"2024-{number % 12 + 1:02}-01", name, text])
    return path


def write_grown(path, hostile=""):
    """Eleven months and half of a twelfth, in which shipping grows to twice its share."""
    rng = np.random.default_rng(1)
    names = list(WORDS)
    with open(path, "w", newline="", encoding="utf-8") as file:
        sheet = csv.writer(file)
        sheet.writerow(["id", "date", "class", "text"])
        for month in range(1, 13):
            for number in range(120):
                name = rng.choice(names, p=[0.25] * 4 if month < 12 else [0.55, 0.15, 0.15, 0.15])
                text = " ".join(rng.choice(WORDS[name], 4, replace=False))
                day = number % (15 if month == 12 else 28) + 1
                sheet.writerow([number, f"2024-{month:02}-{day:02}", name, f"{text} {hostile}"])
    return path


def make_run(folder, source, n_topics=4):
    model = TopicModel(n_topics)
    return fit_run(read_texts(source, "text"), folder, model, date="date", class_column="class", edits=())


@contextmanager
def client_of(folder, **settings):
    limit = settings.pop("upload_bytes", None)
    workspace = Workspace(folder, **({} if limit is None else {"upload_bytes": limit}))
    with TestClient(
        make_app(workspace, Settings(**settings)), base_url="http://127.0.0.1:8765", headers=HEADERS
    ) as client:
        client.workspace = workspace
        yield client


def finished(client, response, seconds=120):
    """The job of a response, once it has ended."""
    assert response.status_code == 202, response.text
    job = response.json()
    until = time.monotonic() + seconds
    while job["state"] in ("waiting", "running"):
        assert time.monotonic() < until, job
        time.sleep(0.02)
        job = client.get(f"/api/jobs/{job['id']}").json()
    return job


def version(client, run="run"):
    answer = client.get(f"/api/runs/{run}")
    assert answer.status_code == 200, answer.text
    return answer.json()["version"]


def change(client, what="edits", run="run", **body):
    written = json.dumps({"version": version(client, run), **body})  # lone surrogates, too
    return client.post(
        f"/api/runs/{run}/{what}", content=written, headers={"content-type": "application/json"}
    )
