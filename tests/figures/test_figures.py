"""Figures: what they show is what the model says, in sound SVG, whatever the labels are."""

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import polars as pl
import pytest
from figure_models import HOSTILE, TYPED, bikes, every_figure
from hypothesis import given
from hypothesis import strategies as st

from coterie import TopicModel
from coterie.errors import InputError
from coterie.figures.svg import cut
from coterie.map.labels import line_width

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"svg", "title", "rect", "image", "path", "circle", "text", "tspan", "line"}


def typed_by(typed, given):
    names = {"model": given.model, "other": given.other, "dates": given.dates}
    if "number_of_topics" in typed and given.model.number_of_topics_ is None:
        names["model"] = given.other if given.other.number_of_topics_ else pytest.skip("the number was given")
    return eval(typed, names)


def said(figure):
    return [one.text for one in ET.fromstring(figure.svg).iter(SVG + "text")]


# --- sound drawings


@every_figure
def test_a_figure_is_sound_and_the_same_every_time(typed, fitted):
    figure, again = typed_by(typed, fitted), typed_by(typed, fitted)
    root = ET.fromstring(figure.svg)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= TAGS
    assert figure.svg == again.svg
    assert figure._repr_html_() == again._repr_html_()
    assert figure.data.equals(again.data)
    assert not re.search(r"\b(nan|inf)\b", figure.svg)


@every_figure
def test_hostile_labels_are_only_text(typed, hostile):
    figure = typed_by(typed, hostile)
    assert {one.tag.removeprefix(SVG) for one in ET.fromstring(figure.svg).iter()} <= TAGS
    for page in (figure.svg, figure._repr_html_()):
        assert "<script" not in page
        assert not re.search(r"<[^>]* onload=", page)
        assert not re.search(r"[\x00-\x08\x0b-\x1f]", page)


def test_every_label_can_be_read_in_full_under_the_pointer(hostile):
    tips = [one.text for one in ET.fromstring(hostile.model.plot.topics().svg).iter(SVG + "title")]
    for label in HOSTILE:
        plain = "".join(sign if sign >= " " else " " for sign in label)
        assert any(plain.strip() in tip for tip in tips), label


def test_the_same_texts_in_another_order_give_the_same_bytes(fitted):
    texts, _ = bikes(900)
    shuffled = np.random.default_rng(1).permutation(len(texts))
    again = TopicModel(n_topics=6).fit([texts[at] for at in shuffled])
    for name in ("topics", "hierarchy", "similarity", "confidence"):
        assert getattr(fitted.other.plot, name)().svg == getattr(again.plot, name)().svg, name


@given(
    st.text(max_size=60), st.floats(20, 400), st.sampled_from([9.0, 12.0, 16.0]), st.sampled_from([400, 600])
)
def test_what_is_cut_fits(text, width, size, weight):
    short = cut(text, width, size, weight)
    assert short in ("…", "") or (0.92 if weight == 400 else 1.0) * line_width(short, size) <= width + 1e-9
    assert " ".join(text.split()).startswith(short.removesuffix("…"))


# --- numbers


def test_topics_are_those_of_the_model(fitted):
    model, figure = fitted.model, fitted.model.plot.topics()
    expected = sorted(model.topics, key=lambda topic: -topic.size)
    assert figure.data["size"].to_list() == [topic.size for topic in expected]
    ours = {row["topic"]: row for row in figure.data.to_dicts()}
    for topic in model.topics:
        row = ours[topic.id]
        assert (row["label"], row["size"], row["share"]) == (topic.label, topic.size, topic.share)
        assert row["terms"] == list(topic.terms[:3])
        assert row["trend"] is None


def test_bars_are_as_long_as_topics_are_large(fitted):
    figure = fitted.model.plot.topics()
    bars = [one for one in ET.fromstring(figure.svg).iter(SVG + "rect") if one.get("rx")]
    sizes = figure.data["size"].to_list()
    assert len(bars) == len(sizes)
    longest = float(bars[0].get("width"))
    for bar, size in zip(bars, sizes, strict=True):
        assert float(bar.get("width")) == pytest.approx(longest * size / sizes[0], abs=0.11)


def test_trends_are_those_of_the_changes(fitted):
    model, labels = fitted.model, fitted.model.labels_
    new, fell = model.topics[0].id, model.topics[1].id
    month = {new: lambda at: 6, fell: lambda at: 1 + at % 5}
    dates = [
        f"2025-{month.get(topic, lambda at: 1 + at % 6)(at):02d}-{1 + at % 28:02d}"
        for at, topic in enumerate(labels)
    ]
    changes = model.changes(dates)
    expected = dict(changes.filter(pl.col("trend") != "").select("topic", "trend").iter_rows())
    assert (expected[new], expected[fell]) == ("new", "fell")
    figure = model.plot.topics(dates)
    found = dict(figure.data.select("topic", "trend").iter_rows())
    assert found == {topic.id: expected.get(topic.id, "") for topic in model.topics}
    shown = Counter(said(figure))
    for trend, sign in {"grew": "↑", "fell": "↓", "new": "new"}.items():
        assert shown[sign] == Counter(expected.values())[trend]
    # what changed comes first over time, the others by size
    by_size = [
        topic.label
        for topic in sorted(model.topics, key=lambda topic: -topic.size)
        if topic.id not in expected
    ]
    panels = [
        one.text
        for one in ET.fromstring(model.plot.over_time(dates, top=len(expected) + 2).svg).iterfind(
            f"{SVG}text/{SVG}title"
        )
    ]
    assert set(panels[: len(expected)]) == {topic.label for topic in model.topics if topic.id in expected}
    assert panels[len(expected) :] == by_size[:2]


def test_shares_over_time_are_those_of_the_model(fitted):
    figure = fitted.model.plot.over_time(fitted.dates, "month")
    columns = ["topic", "label", "period", "texts", "share"]
    assert figure.data.select(columns).equals(fitted.model.over_time(fitted.dates, "month").select(columns))


def test_points_of_the_map_are_the_texts_of_their_topics(fitted):
    data, labels = fitted.model.plot.map().data, fitted.model.labels_
    assert (labels[data["text"].to_numpy()] == data["topic"].to_numpy()).all()
    assert len(data) == len({text for text, topic in zip(fitted.texts, labels, strict=True) if topic >= 0})


def test_the_tree_is_that_of_the_model(fitted):
    root, data = fitted.model.hierarchy(), fitted.model.plot.hierarchy().data
    assert data["size"][0] == root.size
    assert data["label"].to_list() == [
        re.sub(r"^[\s│├└]*(\[\d+\] )?|\s\([\d,]+\)$", "", line) for line in str(root).splitlines()
    ]
    for row in data.filter(pl.col("part_of").is_not_null()).to_dicts():
        whole = data.row(row["part_of"], named=True)
        assert set(row["topics"]) < set(whole["topics"])
        assert row["height"] <= whole["height"]


def test_similarity_is_the_cosine_of_centres(fitted):
    model, data = fitted.model, fitted.model.plot.similarity().data
    at = {topic.id: number for number, topic in enumerate(model.topics)}
    centers = model.state.description.centers
    assert len(data) == len(at) * (len(at) - 1)
    for row in data.to_dicts():
        one, other = centers[at[row["topic"]]], centers[at[row["other"]]]
        assert row["similarity"] == pytest.approx(float(sum(one * other)), abs=1e-6)


def test_confidence_is_that_of_the_texts(fitted):
    data, answers = fitted.model.plot.confidence().data, fitted.model.assign(fitted.texts)
    there = answers.topic >= 0
    whole = data.filter(pl.col("topic").is_null())
    assert whole["texts"].sum() == fitted.model.n_known_
    assert whole["mean"][0] == pytest.approx(answers.confidence[there].mean())
    for topic in fitted.model.topics:
        own = data.filter(pl.col("topic") == topic.id)
        sure = answers.confidence[answers.topic == topic.id]
        expected = [
            sum(low <= value < high or (high == 1 and value == 1) for value in sure)
            for low, high in own.select("low", "high").iter_rows()
        ]
        assert own["texts"].to_list() == expected
        assert own["mean"][0] == pytest.approx(sure.mean())


def test_the_curve_is_that_of_the_choice(fitted):
    found, figure = fitted.model.number_of_topics_, fitted.model.plot.number_of_topics()
    assert list(figure.data.select("n_topics", "plausibility").iter_rows()) == list(found.curve)
    assert figure.data.filter("in_interval")["n_topics"].is_between(found.low, found.high).all()
    shown = said(figure)
    assert str(found.n_topics) in shown
    assert any(f"{found.low} to {found.high}" in line for line in shown)
    with pytest.raises(InputError, match="was given"):
        fitted.other.plot.number_of_topics()


def test_what_became_of_topics_can_be_counted(fitted):
    data = fitted.model.plot.compare(fitted.other).data
    pairs = Counter(zip(fitted.model.labels_.tolist(), fitted.other.labels_.tolist(), strict=True))
    expected = {pair: count for pair, count in pairs.items() if min(pair) >= 0}
    assert {(row["topic"], row["other"]): row["texts"] for row in data.to_dicts()} == expected
    sizes = data.group_by("topic").agg(pl.col("texts").sum(), pl.col("share").sum())
    assert all(math.isclose(share, 1.0) for share in sizes["share"])
    assert set(data["became"]) <= {"kept", "merged", "split", ""}
    same = fitted.model.plot.compare(fitted.model)
    assert set(same.data["became"]) == {"kept"}
    assert any(f"{len(fitted.model.topics)} kept. 0 % of" in line for line in said(same))


def test_models_of_other_texts_are_asked(fitted, tmp_path):
    fitted.other.save(tmp_path / "model")
    loaded = TopicModel.load(tmp_path / "model")
    assert fitted.model.plot.compare(loaded).data.equals(fitted.model.plot.compare(fitted.other).data)
    newer = TopicModel(n_topics=5).fit(bikes()[0][900:1500])
    data = fitted.model.plot.compare(newer).data
    there = newer.predict(fitted.texts)
    assert data["texts"].sum() == ((there >= 0) & (fitted.model.labels_ >= 0)).sum()
    with pytest.raises(InputError, match="other must be a TopicModel"):
        fitted.model.plot.compare("run")


# --- few and many topics


@every_figure
def test_one_topic_is_enough(typed):
    texts = ["parcel late depot", "parcel courier late", "late parcel van"] * 4
    model = TopicModel(n_topics=1).fit(texts)
    given = {"model": model, "other": model, "dates": ["2025-01-02"] * len(texts)}
    if "number_of_topics" not in typed:
        figure = eval(typed, given)
        ET.fromstring(figure.svg)
        assert figure._repr_html_()


@pytest.mark.parametrize("name", ["topics", "hierarchy", "similarity", "confidence"])
def test_only_the_largest_are_shown_if_asked_for(name, fitted):
    n = len(fitted.model.topics)
    figure = getattr(fitted.model.plot, name)(top=4)
    labels = {topic.label for topic in fitted.model.topics}
    assert n > 6
    assert 0 < sum(one in labels for one in said(figure)) <= 4 or name == "hierarchy"
    if name in ("topics", "confidence"):
        assert any(one.startswith(f"and {n - 4} others") for one in said(figure))
    with pytest.raises(InputError, match="top"):
        getattr(fitted.model.plot, name)(top=0)


def test_others_of_a_comparison_are_counted_together(fitted):
    shown = said(fitted.model.plot.compare(fitted.other, top=3))
    assert f"{len(fitted.model.topics) - 3} others" in shown
    assert f"{len(fitted.other.topics) - 3} others" in shown


def test_a_loaded_model_draws_what_needs_no_texts(fitted, tmp_path):
    fitted.model.save(tmp_path / "model")
    loaded = TopicModel.load(tmp_path / "model")
    for name in ("topics", "hierarchy", "similarity", "number_of_topics"):
        assert getattr(loaded.plot, name)().data.equals(getattr(fitted.model.plot, name)().data)
    for typed in ("map", "over_time with", "confidence", "compare"):
        figure = next(line for name, line in TYPED.items() if name.startswith(typed.split()[0]))
        with pytest.raises(InputError, match="loaded model does not have"):
            eval(figure, {"model": loaded, "other": loaded, "dates": fitted.dates})


def test_dates_that_do_not_fit_are_reported(fitted):
    with pytest.raises(InputError):
        fitted.model.plot.topics(fitted.dates[:5])
    with pytest.raises(InputError):
        fitted.model.plot.over_time(["no date"] * 900)
