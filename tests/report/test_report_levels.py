"""The level that is shown in a report: the list of topics and the map follow one control."""

import pytest
from report_models import info_of, tally_of

from coterie import TopicModel, datasets
from coterie.report import write_report
from coterie.report.levels import levels_of
from coterie.report.page import content_of


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """A model with a level of groups, and its report."""
    model = TopicModel(28).fit(datasets.load("bikes").texts)
    model.edits.rename(model.levels[0].groups[0].topics[0], "</script><b>Late</b>")
    path = tmp_path_factory.mktemp("levels") / "report.html"
    write_report(path, model, info_of(model), tally_of(model))
    return model, path


def test_the_content_has_the_groups_of_the_model(grouped):
    model, path = grouped
    content = content_of(path.read_text(encoding="utf-8"))
    assert len(content["levels"]) == len(model.levels) - 1 >= 1
    for level, own in zip(content["levels"], model.levels, strict=False):
        assert [group["size"] for group in level["groups"]] == [group.size for group in own.groups]
        assert [set(group["topics"]) for group in level["groups"]] == [
            set(group.topics) for group in own.groups
        ]
        assert len({group["colour"] for group in level["groups"]}) == len(own)
        x0, y0, x1, y1 = content["map"]["extent"]
        assert all(x0 <= group["at"][0] <= x1 and y0 <= group["at"][1] <= y1 for group in level["groups"])


def test_a_group_of_one_topic_has_no_label_of_its_own(grouped):
    model, _ = grouped
    ids = [topic.id for topic in model.topics]
    shown = levels_of(model.levels, ids, model.state.description.map.positions, float)
    for level in shown:
        assert all((group["label"] is None) == (len(group["topics"]) == 1) for group in level["groups"])


@pytest.mark.parametrize("width", [1280, 390])
def test_list_and_map_show_the_level_that_is_chosen(browser, grouped, width):
    model, path = grouped
    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
    page, errors = context.new_page(), []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    picture = "document.querySelector('#map canvas').toDataURL()"
    before, order = page.evaluate(picture), page.locator("#sizes .sizes li").all_inner_texts()
    assert page.locator("#sizes .group").count() == 0
    page.locator("#map .levels label").first.click()
    groups = model.levels[0].groups
    assert page.locator("#sizes .group strong").all_inner_texts() == [group.label for group in groups]
    assert page.locator("#sizes .sizes li").count() == len(groups) + len(model.topics)
    assert page.locator("#sizes .levels input").first.is_checked()
    assert page.evaluate(picture) != before
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#sizes .levels input").last.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.locator("#map .levels input").last.is_checked()
    assert page.locator("#sizes .sizes li").all_inner_texts() == order
    assert page.evaluate(picture) == before
    context.close()
    assert errors == []


def test_a_report_without_groups_has_no_control(show):
    assert show("tiny").locator(".levels").count() == 0
