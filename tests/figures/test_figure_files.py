"""Figures as files, in notebooks and in the colours of the report."""

import re
import struct
import sys
import xml.etree.ElementTree as ET
from importlib import resources

import pytest
from figure_models import TYPED, every_figure
from test_figures import typed_by

from coterie import TopicModel
from coterie.errors import InputError
from coterie.map.colours import GROUNDS


def test_files_are_what_their_names_say(fitted, tmp_path):
    figure = fitted.model.plot.topics()
    for name in ("topics.svg", "topics.png", "topics.HTML"):
        figure.save(tmp_path / name)
    assert (tmp_path / "topics.svg").read_text(encoding="utf-8") == figure.svg
    picture = (tmp_path / "topics.png").read_bytes()
    width, height = (float(ET.fromstring(figure.svg).get(side)) for side in ("width", "height"))
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (2 * width, 2 * height)
    page = (tmp_path / "topics.HTML").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "<title>" in page


def test_a_png_has_words_in_it(fitted, tmp_path):
    figure = fitted.model.plot.number_of_topics()
    figure.save(tmp_path / "with.png")
    without = figure.__class__(
        figure.kind,
        figure.title,
        figure.data,
        lambda ground: re.sub(r"<text.*?</text>", "", figure.draw(ground)),
    )
    without.save(tmp_path / "without.png")
    assert (tmp_path / "with.png").stat().st_size > 1.2 * (tmp_path / "without.png").stat().st_size


def test_what_cannot_be_saved_is_said(fitted, tmp_path, monkeypatch):
    figure = fitted.model.plot.topics()
    with pytest.raises(InputError, match=r"saved as .svg, .png, .html; got .*x.pdf"):
        figure.save(tmp_path / "x.pdf")
    with pytest.raises(InputError, match="its folder does not exist; create it"):
        figure.save(tmp_path / "no" / "x.svg")
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(InputError, match=r"coterie\[figures\]"):
        figure.save(tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []


@every_figure
def test_a_file_has_fixed_colours_and_a_notebook_those_of_its_theme(typed, fitted):
    figure = typed_by(typed, fitted)
    assert "var(" not in figure.svg
    assert "var(--coterie-ink,#" in figure._repr_html_()
    dark = typed_by(typed[:-1] + (", " if typed[-2] != "(" else "") + "ground='dark')", fitted)
    assert GROUNDS["dark"].paper in dark.svg
    assert GROUNDS["light"].ink not in dark.svg
    assert "var(--coterie-ink,#" not in dark._repr_html_()
    with pytest.raises(InputError, match="ground must be 'auto', 'light' or 'dark'; got 'blue'"):
        fitted.model.plot.topics(ground="blue")


def test_colours_are_those_of_report_and_page():
    style = (resources.files("coterie.report") / "shared" / "palette.css").read_text(encoding="utf-8")
    for ground, part in zip(("light", "dark"), style.split("@media")[:2], strict=True):
        colours = dict(re.findall(r"--([\w-]+): (#\w+);", part))
        for name in ("ink", "quiet", "line", "soft", "accent", "look", "bar"):
            assert getattr(GROUNDS[ground], name) == colours[name], (ground, name)
        raised = colours["raised"]
        assert GROUNDS[ground].paper == ("#ffffff" if raised == "#fff" else raised)


# --- Altair


@every_figure
def test_altair_draws_the_data(typed, fitted):
    figure = typed_by(typed, fitted)
    if figure.kind == "hierarchy":
        with pytest.raises(InputError, match="no chart for hierarchy"):
            figure.to_altair()
        return
    chart = figure.to_altair().to_dict()
    (rows,) = chart["datasets"].values()
    assert len(rows) == len(figure.data)
    assert chart["title"] == figure.title


def test_altair_is_asked_for_in_a_sentence(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InputError, match="pip install altair"):
        fitted.model.plot.topics().to_altair()


# --- notebooks


def shown_by_ipython(thing):
    from IPython.core.formatters import DisplayFormatter

    return DisplayFormatter().format(thing)[0]


def test_ipython_shows_pictures(fitted):
    model = fitted.model
    figure = shown_by_ipython(model.plot.topics())
    assert {"text/html", "image/svg+xml", "text/plain"} <= set(figure)
    page = shown_by_ipython(model)["text/html"]
    assert shown_by_ipython(model)["image/svg+xml"] == model.plot.topics().svg
    assert page == model.plot.topics()._repr_html_()
    for thing in (model.hierarchy(), model.number_of_topics_):
        assert "<svg" in shown_by_ipython(thing)["text/html"]
        assert shown_by_ipython(thing)["image/svg+xml"].startswith("<svg")
    tables = (model.topics, model.assign(fitted.texts[:30]))
    for table in tables:
        assert "<table>" in shown_by_ipython(table)["text/html"]
    assert "and 20 others" in tables[1]._repr_html_()
    assert "text/html" not in shown_by_ipython(type(model)())  # not fitted: nothing to see


def test_tables_of_hostile_labels_are_only_text(hostile):
    for page in (
        hostile.model.topics._repr_html_(),
        hostile.model.assign(["parcel", "<script> app"])._repr_html_(),
    ):
        assert "<script" not in page
        assert not re.search(r"<[^>]* onload=", page)
        assert "<bdi>" in page


# --- as a browser draws them

TEXTS = """() => {
  const frame = document.querySelector("svg").getBoundingClientRect(), outside = [], found = [];
  const boxes = [...document.querySelectorAll("svg text")].map((one) => {
    const title = one.querySelector("title"), b = one.getBoundingClientRect();
    return [title ? one.textContent.slice(0, -title.textContent.length) : one.textContent, b];
  });
  for (const [name, b] of boxes)
    if (b.left < -1 || b.top < -1 || b.right > frame.right + 1 || b.bottom > frame.bottom + 1) outside.push(name);
  boxes.forEach(([name, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    if (a.left < b.right && b.left < a.right && a.top + 0.12 * a.height < b.bottom - 0.12 * b.height
      && b.top + 0.12 * b.height < a.bottom - 0.12 * a.height) found.push([name, other]);
  }));
  return [boxes.length, found, outside];
}"""


@pytest.mark.parametrize("which", ["fitted", "hostile"])
def test_no_text_lies_on_another_or_leaves_the_figure(browser, which, request):
    given = request.getfixturevalue(which)
    page = browser.new_page(viewport={"width": 900, "height": 700})
    for name, typed in TYPED.items():
        if name == "number_of_topics" and which == "hostile":
            continue  # the number was given
        page.set_content(f"<body style='margin:0'>{typed_by(typed, given).svg}")
        number, found, outside = page.evaluate(TEXTS)
        assert number > 1, name
        assert found == [], name
        assert outside == [], name
    page.close()


def test_many_topics_stay_readable(browser):
    words = [
        [f"{a}{b}{c}" for c in "kmprt"]
        for a in ("ba", "de", "fi", "lo", "mu", "ra", "so", "ty", "vu", "wi", "zo")
        for b in "abcdefghij"
    ]
    texts = [" ".join(own[at % 5 :] + own[: at % 5 - 1]) for own in words for at in range(6)]
    model = TopicModel(n_topics=110).fit(texts)
    assert len(model.topics) > 100
    dates = [f"2025-{1 + at % 12:02d}-01" for at in range(len(texts))]
    page = browser.new_page(viewport={"width": 900, "height": 700})
    for typed in TYPED.values():
        if "number_of_topics" not in typed:
            page.set_content(
                f"<body style='margin:0'>{eval(typed, {'model': model, 'other': model, 'dates': dates}).svg}"
            )
            _, found, outside = page.evaluate(TEXTS)
            assert (found, outside) == ([], []), typed
    page.close()


@pytest.mark.parametrize(
    ("scheme", "theme", "paper"),
    [("light", None, "light"), ("dark", None, "dark"), ("dark", "true", "light"), ("light", "false", "dark")],
)
def test_a_notebook_decides_light_or_dark(browser, fitted, scheme, theme, paper):
    page = browser.new_page(color_scheme=scheme)
    attribute = "" if theme is None else f' data-jp-theme-light="{theme}"'
    page.set_content(f"<body{attribute}>{fitted.model._repr_html_()}")
    fill = page.evaluate("getComputedStyle(document.querySelector('svg rect')).fill")
    page.close()
    colour = GROUNDS[paper].paper
    assert fill == f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"
