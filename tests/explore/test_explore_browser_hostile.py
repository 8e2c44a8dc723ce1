"""Texts, labels, classes, columns and names that try to be markup are text in every view."""

from urllib.parse import quote

import pytest
from explore_pages import (
    BAD_RUN,
    CLASSES,
    COLUMN,
    FILE,
    HOSTILE,
    LABEL,
    hostile_table,
    no_sideways,
    nothing_ran,
    place_of,
    settled,
    until,
)

RUN = quote(BAD_RUN)
WIDTHS = pytest.mark.parametrize("width", [1280, 390])


def clean(page):
    nothing_ran(page)
    no_sideways(page)


def tab(page, name):
    if page.viewport_size["width"] < 900:
        page.locator(f"#tab-{name}").click()


def shown(text):
    """As much of a text as any view must show, without marks of direction and with single spaces."""
    return " ".join(text.split())[:25]


def words(page, selector):
    return " ".join(page.locator(selector).first.evaluate("one => one.textContent").split())


@WIDTHS
def test_table_details_and_panel(show, served, width):
    page = settled(show(f"/?run={RUN}", width))
    assert page.locator("#run option:checked").inner_text() == BAD_RUN
    page_words = words(page, "#texts-list tbody")
    for text in HOSTILE:
        assert shown(text) in page_words
    for name in CLASSES:
        assert name in page_words
    tab(page, "texts")
    clean(page)
    tab(page, "topics")
    assert LABEL in page.locator(".topics .name").all_inner_texts()
    clean(page)
    tab(page, "panel")
    if width > 900:
        assert words(page, "#facts .source") == FILE
    assert FILE in words(page, ".run-facts")
    assert COLUMN in words(page, ".run-facts")
    for row, text in enumerate(HOSTILE):
        if row == 0:
            tab(page, "texts")
            page.locator("tbody tr").first.focus()
            page.keyboard.press("Enter")
        elif width > 900:
            page.keyboard.press("ArrowDown")  # the panel follows
        else:
            tab(page, "texts")
            page.locator(f"tbody tr[data-row='{row}']").click()
        until(page, "document.querySelector('.of-row h2, #panel h2').textContent === arg", f"Text {row + 1}")
        page.wait_for_selector(".of-row:not(.busy) blockquote")
        assert words(page, ".of-row blockquote").startswith(shown(text))
        assert CLASSES[row % 2] in words(page, ".of-row dl.cells")
        assert COLUMN in words(page, ".of-row dl.cells")
        clean(page)
    assert words(page, ".of-row blockquote") == " ".join(HOSTILE[-1].split())
    page.goto(f"{served.origin}/?run={RUN}&topic=0&tab=panel")
    page.wait_for_selector("#panel .neighbours")
    assert words(page, "#panel h2 bdi") == " ".join(LABEL.split())
    assert page.title().startswith(LABEL[:40])
    classes = [words(page, f"#panel .bars li:nth-child({at}) .name") for at in (1, 2)]
    assert sorted(classes) == sorted(CLASSES)
    clean(page)
    tab(page, "texts")
    page.get_by_role("button", name="filter", exact=True).click()
    options = page.get_by_role("form", name="Filters of the texts").locator("option").all_inner_texts()
    assert all(any(option.startswith(name) for option in options) for name in CLASSES)
    clean(page)


def test_a_word_of_a_hundred_thousand_letters(show, served):
    page = settled(show(f"/?run={RUN}&row=6"))
    page.wait_for_selector(".of-row blockquote")
    until(page, "document.querySelector('.of-row blockquote').textContent.length > 90000")
    clean(page)
    reasons = [word for text in served.texts(BAD_RUN)["rows"] for word in text["words"] + text["related"]]
    assert max(map(len, reasons)) == 80  # with whole words the table takes half a second to lay out


@WIDTHS
def test_the_tooltip_of_the_map(show, served, width):
    page = settled(show(f"/?run={RUN}&tab=map", width))
    hovered = 0
    for topic in served.api(f"/runs/{RUN}")["topics"]:
        try:
            place = place_of(page, topic["colour"])
        except IndexError:  # all its points are near names
            continue
        hovered += 1
        page.mouse.move(*place)
        page.locator(".map-tip").wait_for()
        until(page, "document.querySelector('.map-tip-text')?.textContent.length > 3")
        assert topic["label"][:40] in page.locator(".map-tip-head").evaluate("one => one.textContent")
        said = words(page, ".map-tip-text").rstrip("…")
        assert any(" ".join(text.split()).startswith(said[:100].strip()) for text in HOSTILE)
        clean(page)
    assert hovered


@WIDTHS
def test_search_try_and_filters(show, served, width):
    page = settled(show(f"/?run={RUN}", width))
    for text in (HOSTILE[2], LABEL, "{{refund}} ${card}"):
        page.locator("#query").fill(text)
        page.keyboard.press("Enter")
        until(page, "new URL(location).searchParams.get('q') === arg", text)
        settled(page)
        assert text[:40] in words(page, "#texts-filters")
        clean(page)
    page.goto(f"{served.origin}/?run={RUN}&class={quote(CLASSES[1])}&since=2024-02-01&tab=texts")
    settled(page)
    assert CLASSES[1] in words(page, "#texts-filters")
    clean(page)
    page.goto(f"{served.origin}/?run={RUN}&try=x&tab=panel")
    for text in HOSTILE if width > 900 else HOSTILE[::3]:
        page.locator("#try-text").fill(text[:10_000])
        until(page, "document.querySelector('.answer blockquote')?.textContent === arg", text[:10_000])
        clean(page)


@WIDTHS
def test_dialogs_and_the_log(show, served, live, width):
    page = settled(show(f"/?run={RUN}&topic=0&tab=panel", width))
    page.wait_for_selector("#panel .neighbours")
    for name, part in (("merge…", "p"), ("split…", "p"), ("ban a term…", ".checks-list")):
        page.get_by_role("button", name=name).click()
        page.get_by_role("dialog").wait_for()
        if part == "p":
            assert " ".join(LABEL.split()) in words(page, "dialog .dialog-body")
        clean(page)
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")
    page.goto(
        f"{served.origin}/?run={RUN}&row=2&class={quote(CLASSES[0])}&q={quote(HOSTILE[3][:30])}&tab=panel"
    )
    page.wait_for_selector(".of-row")
    page.get_by_role("button", name="move to another topic…").click()
    page.locator("dialog blockquote").wait_for()
    assert shown(HOSTILE[2]) in words(page, "dialog blockquote")
    clean(page)
    page.keyboard.press("Escape")
    for action in ("edit", "export"):
        if width < 900:
            page.get_by_role("button", name="menu").click()
        page.locator(f"#actions [data-do={action}]").click()
        page.get_by_role("dialog").wait_for()
        said = words(page, "dialog .dialog-body")
        if action == "edit":
            assert "window.hacked=10" in said
        else:
            assert CLASSES[0] in said
            assert HOSTILE[3][:30] in said
        clean(page)
        page.keyboard.press("Escape")


@WIDTHS
def test_compare(show, served, width):
    page = show(f"/?run={RUN}&view=compare&against=tickets", width)
    page.wait_for_selector(".summary")
    clean(page)
    page.goto(f"{served.origin}/?run=tickets&view=compare&against={RUN}")
    page.wait_for_selector(".summary")
    assert BAD_RUN in words(page, ".compare-pick")
    assert LABEL[:30] in words(page, ".changes")
    clean(page)


@WIDTHS
def test_the_start_and_its_preview(show, tmp_path, width):
    page = show("/?view=start", width)
    page.wait_for_selector(".run-card")
    assert BAD_RUN in page.locator(".run-card strong").all_inner_texts()
    clean(page)
    page.locator("input[type=file]").set_input_files(hostile_table(tmp_path / FILE))
    page.wait_for_selector(".preview")
    said = words(page, ".start-new")
    assert FILE in said
    assert COLUMN[:30] in said
    for text in HOSTILE[:6]:
        assert shown(text) in said
    assert CLASSES[1] in said
    clean(page)
    page.locator(".preview th button").nth(1).click()
    page.get_by_label("Name of the run").fill("../<b>")
    clean(page)


@WIDTHS
def test_renaming_to_markup(show, fresh, width):
    run = fresh("bad-label")
    page = settled(show(f"/?run={run}&topic=0&tab=panel", width))
    page.locator("#panel .rename").click()
    page.get_by_label("Label of the topic").fill(LABEL)
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#panel h2 bdi')?.textContent === arg", LABEL)
    page.locator(".toast").wait_for()
    assert "window.hacked=10" in words(page, ".toast")
    clean(page)
