"""A model that was fitted in Python as a report, as a run folder, and as a live page."""

import datetime as dt
import gc
import http.server
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from coterie import TopicModel, open_run, read_texts
from coterie.errors import InputError
from coterie.report.page import content_of
from typed import typed

TEXTS = [
    *("late parcel depot", "parcel lost depot", "depot lost my parcel", "late depot", None),
    *(
        "refund my card",
        "card refund money",
        "my money card",
        "refund money",
        "card refund",
        "parcel late",
        "NaT",
    ),
] * 4
N = len(TEXTS)
DAYS = [dt.date(2025, 1, 1) + dt.timedelta(days=3 * i) for i in range(N)]
TEAMS = ["support", "billing"] * (N // 2)


def tickets():
    return pd.DataFrame(
        {"id": range(N), "subject": TEXTS, "created": pd.to_datetime(DAYS), "team": TEAMS},
        index=[f"row {i}" for i in range(N)],
    )


@pytest.fixture(scope="module")
def model():
    return TopicModel(n_topics=2).fit(tickets(), text="subject", date="created", classes="team")


@pytest.fixture(scope="module")
def run(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    model.save(folder)
    return folder


def test_the_report_is_one_page_with_dates_and_classes(model, tmp_path):
    path = model.report(tmp_path / "report.html")
    assert path == tmp_path / "report.html"
    content = content_of(path.read_text(encoding="utf-8"))
    assert [topic["label"] for topic in content["topics"]] == [topic.label for topic in model.topics]
    assert content["time"] is not None
    assert "support" in str(content["classes"])
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_list_of_texts_has_a_report_too(tmp_path):
    plain = TopicModel(n_topics=2).fit(TEXTS)
    content = content_of(plain.report(tmp_path / "plain.html").read_text(encoding="utf-8"))
    assert content["time"] is None
    assert content["classes"] is None
    given = TopicModel(n_topics=2).fit(TEXTS, date=DAYS, classes=TEAMS)
    page = given.report(tmp_path / "given.html", title="Tickets <b>").read_text(encoding="utf-8")
    assert content_of(page)["time"] is not None
    assert "Tickets <b>" not in page
    with pytest.raises(InputError, match=r"none/report\.html could not be written"):
        plain.report(tmp_path / "none" / "report.html")


def test_a_run_folder_has_everything_and_opens_again(model, run):
    assert {path.name for path in run.iterdir()} == {
        "run.json", "report.html", "topics.csv", "assignments.csv", "assignments.parquet", "map.safetensors",
        "edits.json", "model",
    }  # fmt: skip
    opened = open_run(run)
    table = opened.table
    assert table["subject"].to_list() == TEXTS
    assert table.columns == [
        "id",
        "subject",
        "created",
        "team",
        "topic",
        "label",
        "confidence",
        "second",
        "reason",
    ]
    assert table["topic"].fill_null(-1).to_list() == model.labels_.tolist()
    assert opened.info["data"]["date"] == "created"
    again = opened.with_texts()
    assert again.labels_.tolist() == model.labels_.tolist()
    # with the dates and classes of the fit, and every other column
    assert again.over_time()["texts"].to_list() == model.over_time()["texts"].tolist()
    assert again.by_class()["texts"].to_list() == model.by_class()["texts"].tolist()
    assert again.by_class("id").equals(again.by_class(list(range(N))))
    assert TopicModel.load(run).predict(tickets()).tolist() == model.predict(tickets()).tolist()


@pytest.mark.process
def test_the_commands_take_the_run(run, tmp_path):
    tickets().to_csv(tmp_path / "new.csv", index=False)
    for line in (
        f"coterie topics {run} --over-time created --by team",
        f"coterie edit rename {run} 0 Parcels",
        f"coterie assign {run} new.csv --out assigned.csv",
        f"coterie evaluate {run} --class-column team",
    ):
        done = typed(line, tmp_path)
        assert done.code == 0, (line, done.err)
    assigned = pl.read_csv(tmp_path / "assigned.csv")
    assert assigned.filter(pl.col("topic") == 0)["label"].unique().to_list() == ["Parcels"]
    assert TopicModel.load(run).topics[0].label == "Parcels"


KINDS = {
    "tokens": [text.split() if text else [] for text in TEXTS],
    "numbers": pd.DataFrame({"id": range(N), "text": pd.Series([3, 2.5, True, *TEXTS[3:]], dtype=object)}),
    "answers": pd.DataFrame({"id": range(N), "text": [True, False] * (N // 2)}),
    "twice": tickets().set_axis(["a", "subject", "a", "topic"], axis=1),
    "odd": tickets().assign(
        period=pd.period_range("2025-01", periods=N, freq="M"), mixed=[1, "x"] * (N // 2), sets=[{1}] * N
    ),
}


@pytest.mark.filterwarnings("ignore:.* share no word with others")
@pytest.mark.parametrize("kind", KINDS)
def test_runs_of_other_texts_open_again(kind, tmp_path):
    text = "subject" if kind in ("twice", "odd") else None if kind == "tokens" else "text"
    model = TopicModel(n_topics=2).fit(KINDS[kind], text=text)
    model.save(tmp_path / "run")
    opened = open_run(tmp_path / "run")
    assert opened.texts().to_list() == model.collection.texts.memory.to_list()
    assert opened.with_texts().labels_.tolist() == model.labels_.tolist()


def test_values_beside_the_texts_become_columns(tmp_path):
    model = TopicModel(n_topics=2).fit(TEXTS, date=DAYS, classes=TEAMS)
    model.save(tmp_path / "run")
    opened = open_run(tmp_path / "run")
    assert opened.input().columns == ["text", "date", "class"]
    assert opened.info["data"]["label"] == "class"
    table = tickets().rename(columns={"created": "date"})
    beside = TopicModel(n_topics=2).fit(table, text="subject", date=DAYS)
    beside.save(tmp_path / "run")  # the folder of a run is replaced
    assert open_run(tmp_path / "run").info["data"]["date"] == "date_2"


def test_a_file_that_was_fitted_in_python_is_saved_with_its_columns(tmp_path):
    tickets().to_csv(tmp_path / "tickets.csv", index=False)
    model = TopicModel(n_topics=2).fit(
        read_texts(tmp_path / "tickets.csv", "subject"), date="created", classes=TEAMS
    )
    model.save(tmp_path / "run")
    opened = open_run(tmp_path / "run")
    assert opened.input().columns == ["id", "subject", "created", "team", "class"]
    assert opened.with_texts().labels_.tolist() == model.labels_.tolist()


def test_a_model_has_no_texts_and_says_so(model, tmp_path):
    model.save(tmp_path / "model", texts=False)
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"state.json", "arrays.safetensors"}
    with pytest.raises(InputError, match=r"contains a model without its texts, not a run; "):
        open_run(tmp_path / "model")
    loaded = TopicModel.load(tmp_path / "model")
    for use in (
        lambda: loaded.report(tmp_path / "r.html"),
        lambda: loaded.save(tmp_path / "run", texts=True),
        lambda: loaded.explore(browser=False),
    ):
        with pytest.raises(InputError, match=r"need the fitted texts, which a loaded model does not have"):
            use()
    with pytest.raises(InputError, match=r"contains files but no run\.json"):
        model.save(tmp_path / "model")


# --- the live page


def visitor():
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor())


def test_the_live_page_answers_until_it_is_stopped(model):
    with model.explore(browser=False) as page:
        folder = page._temporary.path
        assert (folder / "run" / "run.json").exists()
        with visitor().open(page.url, timeout=60) as answer:
            assert answer.status == 200
            policy = answer.headers["content-security-policy"]
        assert "frame-ancestors http://localhost:* http://127.0.0.1:*" in policy
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(page.url.split("?")[0], timeout=60)
        frame = page._repr_html_()
        assert f"src='{page.url.replace('127.0.0.1', 'localhost')}".replace("&", "&amp;") in frame
        assert page.model.labels_.tolist() == model.labels_.tolist()
        assert isinstance(page.model.topics.frame(), pd.DataFrame)
        assert page.url in repr(page)
    assert "coterie-explore" not in {thread.name for thread in threading.enumerate()}
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(page.url, timeout=10)
    page.stop()
    assert "stopped" in page._repr_html_()
    assert page.model.labels_.tolist() == model.labels_.tolist()  # edits made there can still be had
    del page
    gc.collect()
    assert not folder.exists()


def test_a_browser_is_opened_unless_a_notebook_shows_the_page(model, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with model.explore() as page:
        assert opened == [page.url]
    monkeypatch.setattr("coterie.explore.live.in_notebook", lambda: True)
    with model.explore():
        assert len(opened) == 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_notebook_shows_the_page(model, browser, tmp_path, host):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with (
        model.explore(browser=False) as live,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as notebook,
    ):
        (tmp_path / "cell.html").write_text(f"<!doctype html>{live._repr_html_()}")
        threading.Thread(target=notebook.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://{host}:{notebook.server_port}/cell.html")
        inside = page.frame_locator("iframe")
        inside.get_by_text(model.topics[0].label).first.wait_for(timeout=60_000)
        page.close()
        notebook.shutdown()


@pytest.mark.process
def test_a_script_that_ends_leaves_nothing_behind(tmp_path):
    code = """
from coterie import TopicModel
page = TopicModel(n_topics=2).fit(["late parcel", "parcel lost", "refund my card", "card refund"] * 5).explore(browser=False)
print(page._temporary.path)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    folder = done.stdout.strip()
    assert re.search(r"coterie-explore-\w+$", folder)
    assert not Path(folder).exists()


def test_without_the_extra_one_sentence_says_so(model, monkeypatch):
    monkeypatch.setattr("coterie.explore.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"model\.explore\(\) needs additional packages: pip install"):
        model.explore()
