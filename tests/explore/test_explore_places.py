"""Points of the map: a view and a lasso give what lies in them, and nothing that is placed ever moves."""

import json
import struct
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from explore_runs import make_run, write_texts
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.explore.guard import Later
from coterie.explore.mapped import map_names, map_picture
from coterie.explore.opened import OpenedRun, assigned, overview
from coterie.explore.selection import Points, in_polygon, priority
from coterie.map.file import read_map
from coterie.runs import open_run
from coterie.runs.record import MAP
from coterie.storage.arrays import read_arrays, write_arrays

RNG = np.random.default_rng(0)
AT = RNG.normal(0, 0.3, (3000, 2)).astype(np.float32)
AT[::50] = np.nan
PLACE = RNG.integers(0, 7, 3000).astype(np.uint16)
SURE = RNG.random(3000).astype(np.float32)


def unpacked(data):
    n, in_view, everyone, zero = struct.unpack("<4I", data[:16])
    sizes = [("x", "<f4"), ("y", "<f4"), ("row", "<u4"), ("place", "<u2"), ("sure", "u1")]
    found, at = {"n": n, "in_view": in_view, "all": everyone, "zero": zero}, 16
    for name, kind in sizes:
        found[name] = np.frombuffer(data, kind, n, at)
        at += n * np.dtype(kind).itemsize
    assert at == len(data)
    return found


@pytest.fixture(scope="module")
def points():
    return Points(AT, PLACE, SURE)


def test_all_points_are_there_with_what_they_are(points):
    found = unpacked(points.packed(None, 10**6))
    rows = found["row"]
    assert sorted(rows) == np.flatnonzero(np.isfinite(AT[:, 0])).tolist()
    assert found["n"] == found["in_view"] == found["all"] == len(rows)
    assert found["zero"] == 0
    assert np.array_equal(np.column_stack([found["x"], found["y"]]), AT[rows])
    assert np.array_equal(found["place"], PLACE[rows])
    assert np.abs(found["sure"] / 255 - SURE[rows]).max() < 1 / 255


def test_a_view_can_be_as_wide_as_numbers_are(points):
    assert points.packed((-1e300, -1e300, 1e300, 1e300), 10**6) == points.packed(None, 10**6)


@given(
    st.tuples(*[st.floats(-1, 1)] * 4),
    st.integers(0, 500),
    st.integers(0, 500),
    st.booleans(),
    st.floats(0, 0.5),
)
def test_more_points_and_closer_views_only_add(box, few, more, filtered, shrink):
    points = Points(AT, PLACE, SURE)
    x0, x1 = sorted((box[0], box[2]))
    y0, y1 = sorted((box[1], box[3]))
    mask = PLACE == 3 if filtered else None
    inside = np.isfinite(AT[:, 0]) & (AT[:, 0] >= x0) & (AT[:, 0] <= x1) & (AT[:, 1] >= y0) & (AT[:, 1] <= y1)
    inside &= True if mask is None else mask
    one = unpacked(points.packed((x0, y0, x1, y1), few, mask))
    other = unpacked(points.packed((x0, y0, x1, y1), few + more, mask))
    assert one["in_view"] == inside.sum()
    assert one["all"] == (np.isfinite(AT[:, 0]) & (True if mask is None else mask)).sum()
    assert one["n"] == min(few, inside.sum())
    assert other["row"][: one["n"]].tolist() == one["row"].tolist()
    dx, dy = shrink * (x1 - x0), shrink * (y1 - y0)
    closer = (x0 + dx, y0 + dy, x1 - dx, y1 - dy)
    near = unpacked(points.packed(closer, few, mask))
    x, y = one["x"], one["y"]
    still = one["row"][(x >= closer[0]) & (x <= closer[2]) & (y >= closer[1]) & (y <= closer[3])]
    assert set(still) <= set(near["row"])


def test_a_priority_is_that_of_the_row_alone():
    few, many = priority(np.arange(10)), priority(np.arange(1000))
    assert np.array_equal(few, many[:10])
    assert len(set(many.tolist())) == 1000
    # a thousand first rows of a million are spread evenly over it
    first = np.argsort(priority(np.arange(10**6)))[:1000]
    assert np.abs(np.bincount(first // 10**5, minlength=10) - 100).max() < 40


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=3, max_size=12))
def test_a_lasso_holds_what_a_ray_says(corners):
    at = AT[:300]
    found = in_polygon(at, corners)
    for (x, y), inside in zip(at.astype(np.float64), found, strict=True):
        crossings = 0
        for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
            if (ay > y) != (by > y) and x < ax + (y - ay) * ((bx - ax) / (by - ay)):
                crossings += 1
        assert inside == (crossings % 2 == 1)


def test_a_million_points_are_quick():
    import time

    at = np.random.default_rng(1).normal(0, 0.3, (10**6, 2)).astype(np.float32)
    points = Points(at, np.zeros(10**6, np.uint16), np.ones(10**6, np.float32))
    mask = np.arange(10**6) % 3 == 0
    times = []
    for _ in range(5):
        begun = time.process_time()
        points.packed((-0.2, -0.2, 0.2, 0.2), 20_000, mask)
        times.append(time.process_time() - begun)
    assert min(times) < 0.25  # about 15 ms on an idle machine


# --- the file of a run


def without_map(folder):
    """Make the run one of an older coterie."""
    (folder / MAP).unlink()
    info = json.loads((folder / "run.json").read_text())
    del info["files"][MAP], info["distinct"]
    (folder / "run.json").write_text(json.dumps(info))


def places_of(opened, texts):
    return [answer.at for answer in assigned(opened, texts)]


def test_every_text_has_a_place_near_its_topic(folder):
    opened = OpenedRun(open_run(folder / "run"), "run", "0" * 16)
    found, rows = opened.text_map(), opened.rows()
    assert found.at.shape == (rows.n, 2)
    away = np.linalg.norm(found.at[:, None] - found.topics.positions, axis=2)
    sure = rows.confidence > 0.8
    assert sure.sum() > 50
    assert (away.argmin(axis=1) == rows.topic)[sure].mean() > 0.9
    left, top, right, bottom = overview(opened).extent
    assert (found.at >= np.array([left, top]) - 0.05).all()
    assert (found.at <= np.array([right, bottom]) + 0.05).all()


def test_texts_are_placed_where_they_were_and_new_ones_move_none(folder):
    opened = OpenedRun(open_run(folder / "run"), "run", "0" * 16)
    before = opened.text_map().at.copy()
    texts = opened.rows().frame["text"].to_list()
    again = np.array([at or (np.nan, np.nan) for at in places_of(opened, texts)])
    assert np.allclose(again, before, atol=1e-4, equal_nan=True)
    alone = places_of(opened, ["refund of a broken kettle", "zzz"])
    assert places_of(opened, ["zzz", "parcel", "refund of a broken kettle"])[2] == alone[0]
    assert alone[1] is None
    assert np.array_equal(opened.text_map().at, before, equal_nan=True)


def test_a_run_without_a_map_gets_the_same_one(folder):
    new = OpenedRun(open_run(folder / "run"), "run", "0" * 16)
    stored, briefs = new.text_map(), new.panel.briefs()
    without_map(folder / "run")
    old = OpenedRun(open_run(folder / "run"), "run", "0" * 16)
    rough = old.panel.briefs()  # topics are somewhere before any text is counted
    assert [brief.id for brief in rough] == [brief.id for brief in briefs]
    assert np.isfinite([brief.at for brief in rough]).all()
    with pytest.raises(Later):
        old.text_map()
    assert overview(old).distinct == overview(new).distinct
    assert old.counted.wait(60)
    assert np.allclose(old.text_map().at, stored.at, atol=1e-5, equal_nan=True)
    assert old.panel.briefs() == briefs


def test_a_map_that_is_damaged_or_of_another_run_is_told(folder, tmp_path):
    path = folder / "run" / MAP
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(InputError, match="damaged or was changed"):
        open_run(folder / "run").map()
    make_run(tmp_path / "other", write_texts(tmp_path / "other.csv", n_texts=80))
    with pytest.raises(InputError, match="does not belong to this run"):
        read_map(tmp_path / "other" / MAP, [0, 1, 2, 3], 160)
    (tmp_path / "torn").write_bytes(whole[:40])
    with pytest.raises(InputError):
        read_map(tmp_path / "torn", [0, 1, 2, 3], 160)


def test_names_and_the_picture_of_a_run(folder):
    opened = OpenedRun(open_run(folder / "run"), "run", "0" * 16)
    assert map_names(opened).words is None  # texts are not counted yet
    opened.counted.warm_up()
    assert opened.counted.wait(60)
    names = map_names(opened)
    assert names.groups == []  # there are few topics
    assert names.words
    known = set(opened.model.vectorizer_.vocabulary_.display)
    assert all(word.term in known and np.isfinite(word.at).all() for word in names.words)
    drawn = ET.fromstring(map_picture(opened, "dark"))
    said = {" ".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {topic.label for topic in opened.topics} <= said


def test_an_old_map_is_drawn_again(folder):
    path = folder / "run" / MAP
    arrays, _ = read_arrays(path)
    arrays["axes"] = np.zeros((4, 3, 2))
    path.unlink()
    write_arrays(path, arrays)
    assert read_map(path, [0, 1, 2, 3], 160) is None
