"""The map as a picture: sound XML whatever the labels are, names that do not lie on each other."""

import base64
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie.map.colours import DARK, LIGHT
from coterie.map.groups import FEWEST, Group, groups_of
from coterie.map.labels import Name, place_names, wrapped
from coterie.map.picture import HEIGHT, WIDTH, Topic, draw_map
from coterie.map.words import neighbourhood_words
from coterie.results import Branch

SVG = "{http://www.w3.org/2000/svg}"


def some_topics(labels):
    return [Topic(label, 100 - at, "#3a7bd5", (at / 10, (at % 3) / 5)) for at, label in enumerate(labels)]


@settings(deadline=None, max_examples=15)
@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=40), st.integers(0, 80))
def test_any_label_makes_sound_xml(labels, title, n_points):
    rng = np.random.default_rng(0)
    at = rng.normal(0, 0.3, (n_points, 2))
    at[::7] = np.nan
    topics = rng.integers(-1, max(len(labels), 1), n_points) if labels else np.full(n_points, -1)
    for ground in (LIGHT, DARK):
        root = ET.fromstring(draw_map(at, topics, some_topics(labels), title, "note", ground))
        assert {child.tag for child in root.iter()} <= {
            SVG + name for name in ("svg", "title", "rect", "image", "path", "circle", "text", "tspan")
        }


def test_every_text_is_drawn_once_in_the_colour_of_its_topic():
    at = np.array([[0.0, 0.0], [0.1, 0.2], [0.3, 0.1], [np.nan, 0.0], [0.2, 0.2]])
    named = [Topic("one", 2, "#aa0000", (0.0, 0.0)), Topic("two", 1, "#00aa00", (0.3, 0.1))]
    root = ET.fromstring(draw_map(at, np.array([0, 0, 1, 1, -1]), named))
    dots = {
        p.get("stroke"): p.get("d").count("M") for p in root.iter(SVG + "path") if p.get("stroke-linecap")
    }
    assert dots == {"#aa0000": 2, "#00aa00": 1}
    shading = next(root.iter(SVG + "image")).get("href")
    assert base64.b64decode(shading.partition(",")[2]).startswith(b"\x89PNG")
    assert ["".join(text.itertext()) for text in root.iter(SVG + "text")] == ["one", "two"]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 1600), st.integers(0, 1000)), min_size=1, max_size=40))
def test_names_lie_inside_and_not_on_each_other(places):
    names = [Name(f"name {at}, word", 12.0 + at % 9, place) for at, place in enumerate(places)]
    placed = place_names(names, np.array(places, dtype=float), WIDTH, HEIGHT)
    assert len(placed) >= min(len(names), 3)
    for at, one in enumerate(placed):
        assert one.half < one.x < WIDTH - one.half
        assert one.high < one.y < HEIGHT - one.high
        for other in placed[:at]:
            assert (
                abs(one.x - other.x) >= one.half + other.half or abs(one.y - other.y) >= one.high + other.high
            )


def test_a_name_goes_beside_a_crowd_that_it_would_cover():
    rng = np.random.default_rng(0)
    crowd = rng.uniform((700, 440), (900, 560), (4000, 2))
    (beside,) = place_names([Name("a name", 20.0, (800.0, 500.0))], crowd, WIDTH, HEIGHT)
    (over,) = place_names([Name("a name", 20.0, (800.0, 500.0))], crowd[:3], WIDTH, HEIGHT)
    assert (over.x, over.y) == (800.0, 500.0)
    assert not over.aside
    assert beside.aside
    assert abs(beside.y - 500) > 60 or abs(beside.x - 800) > 100


def test_nothing_of_a_name_is_lost_in_lines():
    for text in ("one", "virtual card, disposable card, limit", "a b c d e f g", "word " * 30, ""):
        assert " ".join(wrapped(text)).split() == text.split()


def test_words_lie_where_their_texts_do():
    at = np.concatenate([np.full((20, 2), -0.3), np.full((20, 2), 0.3), [[np.nan, np.nan]]])
    X = csr_matrix(np.array([[1, 0, 1]] * 20 + [[0, 1, 1]] * 20 + [[1, 1, 1]]))
    words = neighbourhood_words(X, at)
    assert {(word.column, round(word.at[0], 3)) for word in words} == {(0, -0.3), (1, 0.3)}  # 2 is everywhere
    assert {word.texts for word in words} == {20}
    assert {word.level for word in words} == {0, 1, 2}


def tree(ids, height=8.0):
    """A tree of topics that parts them in halves."""
    if len(ids) == 1:
        return Branch((ids[0],), f"topic {ids[0]}", 1, 0.0)
    half = len(ids) // 2
    parts = (tree(ids[:half], height / 2), tree(ids[half:], height / 2))
    return Branch(tuple(ids), f"from {ids[0]}, to {ids[-1]}", len(ids), height, parts)


def topics_of(n):
    """Topics whose words are their neighbours in the tree of all."""
    return [SimpleNamespace(id=at, terms=(f"from {at}", f"to {at}")) for at in range(n)]


def in_rows(n):
    """Eight topics to a row: a branch of eight lies together."""
    return np.array([(at % 8 / 8, at // 8 / 8) for at in range(n)])


def test_groups_are_branches_of_the_tree():
    at = in_rows(64)[:, ::-1] * [1.0, 0.4]
    found = groups_of(tree(list(range(64))), topics_of(64), at)
    assert [topic for group in found for topic in group.topics] == list(range(64))
    assert len(found) == 8
    for group in found:
        low, high = at[list(group.topics)].min(axis=0), at[list(group.topics)].max(axis=0)
        assert (low - 1e-9 <= group.at).all()
        assert (group.at <= high + 1e-9).all()
    few = FEWEST - 1
    assert groups_of(tree(list(range(few))), topics_of(few), in_rows(few)) == []


def test_a_topic_far_away_is_not_of_its_group_nor_in_its_name():
    at = in_rows(64)[:, ::-1] * [1.0, 0.4]
    at[7] = (1.0, 1.0)
    first = groups_of(tree(list(range(64))), topics_of(64), at)[0]
    assert first.topics == tuple(range(7))
    assert first.label == "from 0"


def test_a_scattered_branch_gives_way_to_its_parts():
    at = in_rows(64)[:, ::-1] * [1.0, 0.4]
    at[4:8] += (1.0, 0.0)
    found = groups_of(tree(list(range(64))), topics_of(64), at)
    assert all(np.ptp(at[list(group.topics)], axis=0).max() < 0.5 for group in found)
    assert not any({0, 7} <= set(group.topics) for group in found)


ON_EACH_OTHER = """() => {
  const boxes = [...document.querySelectorAll("text")].map((one) => [one.textContent, one.getBBox()]), found = [];
  for (const [name, a] of boxes) for (const [other, b] of boxes)
    if (name < other && a.x < b.x + b.width && b.x < a.x + a.width
      && a.y + 0.12 * a.height < b.y + 0.88 * b.height && b.y + 0.12 * b.height < a.y + 0.88 * a.height) found.push([name, other]);
  return [boxes.length, found];
}"""


@pytest.mark.parametrize("family", ["", "DejaVu Sans", "serif"])
def test_names_do_not_meet_as_a_browser_draws_them(browser, family):
    rng = np.random.default_rng(0)
    words = [
        "wrong",
        "order",
        "hub",
        "gear",
        "chain",
        "www",
        "mmm",
        "WIFI",
        "payment",
        "account",
        "tyre",
        "Motor",
        "illicit",
        "workshop",
    ]
    labels = [f"{', '.join(rng.choice(words, 3))} {at}" for at in range(80)]
    places = rng.uniform(0, 1, (80, 2))
    named = [Topic(label, 100 - n, "#3a7bd5", tuple(places[n])) for n, label in enumerate(labels)]
    at = np.repeat(places, 5, axis=0) + rng.normal(0, 0.01, (400, 2))
    groups = [Group("workshop, motor", (), (0.3, 0.3)), Group("payment", (), (0.6, 0.6))]
    drawn = draw_map(at, np.repeat(np.arange(80), 5), named, groups=groups)
    page = browser.new_page(viewport={"width": 1600, "height": 1000})
    page.set_content(drawn.replace("Inter,", f"'{family}'," if family else "Inter,"))
    number, found = page.evaluate(ON_EACH_OTHER)
    page.close()
    assert number > 30
    assert "PAYMENT" in drawn
    assert found == []
