"""Runs that the live page shows, the server, and a page that must stay quiet."""

from __future__ import annotations

import shutil

import numpy as np
import polars as pl
import pytest
from explore_pages import ALLOWED, BAD_RUN, COLUMN, FILE, LABEL, Served, hostile_table
from explore_runs import WORDS, make_run, write_grown, write_texts

from coterie import datasets
from coterie.runs import fit_run
from coterie.text import read_texts
from coterie.topics import TopicModel


def _table(path, found):
    columns = {"text": found.texts, "class": found.labels, "date": found.dates}
    pl.DataFrame({name: values for name, values in columns.items() if values is not None}).write_csv(path)
    return path


def _fit_live(folder):
    sources, live = folder / "sources", folder / "runs"
    sources.mkdir()
    tickets = _table(sources / "tickets.csv", datasets.load("sample"))
    for name, number in (("tickets", 9), ("tickets-7", 7)):
        fit_run(
            read_texts(tickets, "text"),
            live / name,
            TopicModel(number),
            date="date",
            class_column="class",
            edits=(),
        )
    make_run(live / "crowd", write_texts(sources / "crowd.csv", 24_000))
    make_run(live / "grown", write_grown(sources / "grown.csv", "<img src=x onerror='window.hacked=15'>"))
    bad = read_texts(hostile_table(sources / FILE), COLUMN)
    hostile = fit_run(bad, live / BAD_RUN, TopicModel(2), date="date", class_column="<i>class", edits=())
    hostile.with_texts().edits.rename(0, LABEL)
    hostile.save()


@pytest.fixture(scope="session")
def live(once, tmp_path_factory):
    """A folder of runs: tickets in nine and in seven topics, 24,000 made-up texts, some that grow, hostile ones."""
    live = tmp_path_factory.mktemp("live")
    shutil.copytree(once("live", _fit_live) / "runs", live, dirs_exist_ok=True)
    return live


@pytest.fixture(scope="session")
def twenty(live, dataset, once):
    """The name of a run of 20,000 texts."""

    def fit(folder):
        source = _table(folder / "stackoverflow.csv", dataset("stackoverflow"))
        fit_run(read_texts(source, "text"), folder / "run", TopicModel(20), class_column="class", edits=())

    shutil.copytree(once("twenty", fit) / "run", live / "stackoverflow")
    return "stackoverflow"


TEAM = "<u>north</u>"


def _teams(folder):
    rng = np.random.default_rng(5)
    kinds = list(WORDS)
    teams = rng.choice([TEAM, "south", "east: 1"], 400, p=[0.5, 0.3, 0.2])
    pl.DataFrame(
        {
            "text": [" ".join(rng.choice(WORDS[kinds[at % 4]], 4, replace=False)) for at in range(400)],
            "date": [f"2024-{at % 6 + 1:02}-{at % 28 + 1:02}" for at in range(400)],
            "class": [kinds[at % 4] for at in range(400)],
            "team": teams,
            "url": [f"https://tickets.example.org/{at}" for at in range(400)],
        }
    ).write_csv(folder / "teams.csv")
    source = read_texts(folder / "teams.csv", "text")
    fit_run(source, folder / "run", TopicModel(4), date="date", class_column="class", edits=())


@pytest.fixture(scope="session")
def teams(once, live):
    """The name of a run with a column of teams."""
    shutil.copytree(once("teams", _teams) / "run", live / "teams")
    return "teams"


@pytest.fixture(scope="session")
def served(browser, live):
    """The server of the folder."""
    server = Served(live)
    yield server
    server.stop()


@pytest.fixture
def fresh(live):
    """`fresh(name)` is a copy of the tickets that may be changed; it goes away in the end."""
    made = []

    def copied(name, of="tickets"):
        shutil.copytree(live / of, live / name)
        made.append(live / name)
        return name

    yield copied
    for path in made:
        shutil.rmtree(path)


@pytest.fixture
def show(browser, served, fresh):  # runs are removed when no page shows them any more
    """`show(address, width=…)` opens a page; in the end it asked no other server and had nothing to complain about.

    `show.allowed` takes what the console may say beyond that in this test.
    """
    contexts, pages, said, asked = [], [], [], []

    def opened(address="/", width=1280, height=800, server=served, **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True, **options
        )
        context.set_default_timeout(60_000)
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))"
        )
        contexts.append(context)
        context.on("console", lambda message: said.append(message.text))
        context.on("weberror", lambda error: said.append(str(error.error)))
        context.on("request", lambda request: asked.append(request.url))
        context.add_cookies([{"name": server.cookie, "value": server.token, "url": server.origin}])
        page = context.new_page()
        pages.append(page)
        page.goto(server.origin + address)
        return page

    opened.allowed = []
    yield opened
    hacked = [page.evaluate("window.hacked") for page in pages if not page.is_closed()]
    for context in contexts:
        context.close()
    assert hacked == [None] * len(hacked)
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:"))] == []
    fine = [ALLOWED, *opened.allowed]
    assert [text for text in said if not any(one.fullmatch(text) for one in fine)] == []
