"""The level that the live page shows: list, map and selection follow one control."""

import os

import polars as pl
import pytest
from explore_pages import ALLOWED, Served, no_sideways, picture, settled, until

from coterie import datasets
from coterie.runs import fit_run, open_run
from coterie.text import read_texts
from coterie.topics import TopicModel


@pytest.fixture(scope="module")
def grouped(browser, tmp_path_factory):
    """A server of a run that has groups of topics."""
    folder = tmp_path_factory.mktemp("levels")
    source = folder / "bikes.csv"
    pl.DataFrame({"text": datasets.load("bikes").texts}).write_csv(source)
    fit_run(read_texts(source, "text"), folder / "runs" / "bikes", TopicModel(28), edits=())
    server = Served(folder / "runs")
    yield server, open_run(folder / "runs" / "bikes").model
    server.stop()


@pytest.fixture
def show(browser, grouped):
    """`show(width)` opens the run; in the end the page had nothing to complain about."""
    server, _ = grouped
    contexts, said = [], []

    def opened(width, tab):
        context = browser.new_context(viewport={"width": width, "height": 800})
        contexts.append(context)
        context.set_default_timeout(60_000)
        context.on("console", lambda message: said.append(message.text))
        context.on("weberror", lambda error: said.append(str(error.error)))
        context.add_cookies([{"name": server.cookie, "value": server.token, "url": server.origin}])
        page = context.new_page()
        page.goto(f"{server.origin}/?run=bikes&tab={tab}")
        until(page, "document.querySelectorAll('.levels input').length > 1")
        return settled(page)

    yield opened
    for context in contexts:
        context.close()
    assert [text for text in said if not ALLOWED.search(text)] == []


def photo(page, name):
    """A picture for somebody who wants to look, where a folder for it is named."""
    if folder := os.environ.get("COTERIE_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png")


def test_the_names_on_the_map_have_the_levels_of_the_model(grouped):
    server, model = grouped
    found = server.api("/runs/bikes/map/names")["levels"]
    assert len(found) == len(model.levels) - 1 >= 1
    for level, own in zip(found, model.levels, strict=False):
        assert [group["label"] for group in level["groups"]] == [group.label for group in own.groups]
        assert [sorted(group["topics"]) for group in level["groups"]] == [list(g.topics) for g in own.groups]


@pytest.mark.parametrize("width", [1280, 390])
def test_the_list_shows_groups_and_their_topics(show, grouped, width):
    _, model = grouped
    page = show(width, "topics")
    groups = model.levels[0].groups
    assert page.locator(".topics .group").count() == 0
    page.locator(".levels label").first.click()
    assert page.locator(".topics .group .name").all_inner_texts() == [group.label for group in groups]
    assert page.locator(".topics button[data-id]").count() == len(model.topics)
    no_sideways(page)
    photo(page, f"levels-list-{width}")
    page.locator(".topics .group").nth(1).click()
    until(
        page, f"document.querySelectorAll('.topics [aria-pressed=true]').length === {len(groups[1].topics)}"
    )
    if width == 390:
        page.get_by_role("tab", name="topics").click()
    page.locator(".levels label").last.click()
    assert page.locator(".topics .group").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_map_names_and_colours_groups(show, grouped, width):
    _, model = grouped
    page = show(width, "map")
    before = picture(page)
    page.evaluate("document.querySelector('.levels input').click()")
    labels = {group.label.upper() for group in model.levels[0].groups}
    until(
        page,
        "document.querySelectorAll('.map-name.group').length > 0 && !document.querySelector('.map-name.topic')",
    )
    settled(page)
    named = {" ".join(text.split()) for text in page.locator(".map-name.group").all_inner_texts()}
    assert named <= labels
    assert len(named) >= len(labels) // 2
    assert (picture(page) != before).any()
    photo(page, f"levels-map-{width}")
    page.evaluate("[...document.querySelectorAll('.levels input')].at(-1).click()")
    until(page, "document.querySelectorAll('.map-name.topic').length > 0")
