"""The map as a picture: sound XML whatever the labels are, names that do not lie on each other."""

import base64
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie import TopicModel
from coterie.errors import InputError
from coterie.map.groups import FEWEST, groups_of
from coterie.map.labels import Name, place_names, wrapped
from coterie.map.picture import DARK, HEIGHT, LIGHT, WIDTH, Topic, draw_map
from coterie.map.words import neighbourhood_words
from coterie.results import Branch
from coterie.topics.picture import map_picture

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


def test_groups_are_branches_of_the_tree():
    def tree(ids, height):
        if len(ids) == 1:
            return Branch((ids[0],), f"topic {ids[0]}", 1, 0.0)
        half = len(ids) // 2
        parts = (tree(ids[:half], height / 2), tree(ids[half:], height / 2))
        return Branch(tuple(ids), f"from {ids[0]}", len(ids), height, parts)

    where = {at: (at / 64, 0.0) for at in range(64)}
    found = groups_of(tree(list(range(64)), 8.0), where)
    assert [topic for group in found for topic in group.topics] == list(range(64))
    assert len(found) == 8
    assert all(where[g.topics[0]][0] <= g.at[0] <= where[g.topics[-1]][0] for g in found)
    assert groups_of(tree(list(range(FEWEST - 1)), 8.0), where) == []


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_a_model_draws_its_map(ground):
    texts = ["parcel late depot", "parcel courier late", "refund card money", "card refund invoice"] * 5
    model = TopicModel(n_topics=2).fit(texts)
    root = ET.fromstring(map_picture(model, "Tickets <b>", ground=ground))
    said = [" ".join(text.itertext()) for text in root.iter(SVG + "text")]
    assert {topic.label for topic in model.topics} <= set(said)
    assert "Tickets <b>" in said
    with pytest.raises(InputError, match="ground must be 'light' or 'dark'"):
        map_picture(model, ground="blue")
