"""The page in a real browser: it opens from disk, shows everything, and hostile texts are only text."""

import base64
import hashlib
import re
from itertools import pairwise

import polars as pl
import pytest
from report_models import tally_of

from coterie.report import write_report


def in_view(page, selector):
    box = page.locator(selector).bounding_box()
    return 0 <= box["y"] < page.viewport_size["height"]


def test_title_and_landmarks(show):
    page = show("sample")
    assert page.title() == "Topics of tickets.csv"
    assert page.locator("html").get_attribute("lang") == "en"
    for landmark in ("body > header", "body > nav", "main", "body > footer", "h1"):
        assert page.locator(landmark).count() == 1
    assert page.locator("h1").inner_text() == "Topics of tickets.csv"
    parts = page.locator("main > section")
    assert [parts.nth(i).get_attribute("id") for i in range(parts.count())] == [
        "findings", "map", "sizes", "time", "classes", "topics", "relations", "checks", "number", "agreement", "meaning",
    ]  # fmt: skip
    assert page.locator("main > section > h2").count() == parts.count()
    levels = page.eval_on_selector_all("h1,h2,h3,h4", "all => all.map(h => Number(h.tagName[1]))")
    assert all(b - a <= 1 for a, b in pairwise(levels))  # no level is skipped


def test_every_topic_has_a_bar_and_a_card(show, sample):
    page = show("sample")
    model = sample[0]
    assert page.locator(".card").count() == page.locator(".sizes a").count() == len(model.topics)
    for topic in model.topics:
        card = page.locator(f"#topic-{topic.id}")
        assert card.locator("h3 bdi").inner_text() == topic.label
        assert f"{topic.size:,} texts" in card.inner_text()
        if topic != model.topics[0]:  # all but the first are closed
            assert not card.locator(".body").is_visible()
            card.locator("summary").click()
        assert topic.terms[0] in card.locator(".terms-list").inner_text()
        assert card.locator("svg").count() == 2  # confidence and time
    sizes = page.locator(".sizes a .number:nth-of-type(4)").all_inner_texts()
    assert sizes == [f"{topic.size:,}" for topic in sorted(model.topics, key=lambda t: (-t.size, t.id))]


def test_a_bar_leads_to_its_card_by_mouse_and_keyboard(show, sample):
    page = show("sample")
    last = min(sample[0].topics, key=lambda topic: (topic.size, -topic.id)).id
    page.locator(".sizes a").last.click()
    page.wait_for_function(f"() => document.activeElement.id === 'topic-{last}'")
    assert in_view(page, f"#topic-{last}")
    page.locator(".sizes a").nth(2).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        f"() => document.activeElement.id !== 'topic-{last}' && document.activeElement.matches('.card')"
    )


def test_the_filter_leaves_cards_with_all_words(show, sample):
    page = show("sample")
    word = sample[0].topics[1].terms[0]
    page.locator("#filter").fill(word.upper())
    visible = page.locator(".card:visible")
    assert 1 <= visible.count() < len(sample[0].topics)
    assert all(word.lower() in text.lower() for text in visible.all_text_contents())
    assert (
        page.locator("#topics [role=status]").inner_text()
        == f"{visible.count()} of {len(sample[0].topics)} topics"
    )
    page.locator("#filter").fill(f"{word} nosuchword")
    assert visible.count() == 0
    assert page.get_by_text("No topic has all these words.").is_visible()
    page.locator(".sizes a").first.click()  # a card that is hidden can be reached all the same
    page.wait_for_function("() => document.activeElement.matches('.card')")
    assert visible.count() == len(sample[0].topics)


def test_a_link_opens_a_closed_card(show):
    page = show("sample")
    page.locator(".sizes a").nth(4).click()
    page.wait_for_function("() => document.activeElement.matches('.card')")
    assert page.locator(".card.chosen .body").is_visible()
    assert page.locator(".card .body:visible").count() == 2
    page.get_by_role("button", name="open all").click()
    assert page.locator(".card .body:visible").count() == page.locator(".card").count()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_begins_with_what_changed(show, grown, width):
    page = show("grown", width)
    kinds = page.locator("#findings .kind").all_inner_texts()
    assert kinds == ["Biggest", "↑ Grew", "↑ New", "↓ Fell"]
    assert in_view(page, "#findings li:first-child")
    said = page.locator("#findings").inner_text()
    assert "(1 to 15 December 2025)" in said
    assert "3 topics clearly changed" in said
    assert page.locator("#findings q").count() == 4
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, main script, main s, main i, main [onclick]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_arrows_stand_only_where_a_change_is_clear(show, grown):
    page = show("grown")
    frame = grown[0].changes(grown[2]["dates"]).filter(pl.col("against") == "earlier months")
    for row in frame.iter_rows(named=True):
        arrow = page.locator(f".sizes a[href='#topic-{row['topic']}'] .arrow")
        assert arrow.all_inner_texts() == {"": [], "grew": ["↑"], "new": ["↑"], "fell": ["↓"]}[row["trend"]]
    grew = frame.filter(pl.col("trend") == "grew").row(0, named=True)
    told = page.locator(f".sizes a[href='#topic-{grew['topic']}'] .arrow").get_attribute("title")
    assert f"{100 * grew['change']:+.1f}" in told
    assert "January to November 2025" in told


def test_the_table_of_changes_is_ordered_by_growth(show, grown):
    page = show("grown")
    rows = page.locator("#time .changes tbody tr")
    by_size = [topic.id for topic in sorted(grown[0].topics, key=lambda topic: (-topic.size, topic.id))]
    numbers = lambda: [int(text) for text in rows.locator("th .id").all_inner_texts()]  # noqa: E731
    assert numbers() == by_size
    page.locator("#time select").select_option("growth")
    frame = grown[0].changes(grown[2]["dates"]).filter(pl.col("against") == "earlier months")
    assert numbers() == frame.sort("change", descending=True)["topic"].to_list()
    assert "↑ new" in rows.nth(0).inner_text() + rows.nth(1).inner_text()


@pytest.mark.parametrize("width", [390, 340])
def test_a_telephone_shows_all_of_the_table_of_changes(show, width):
    page = show("grown", width, 844)
    cut = """() => [...document.querySelectorAll("#time .changes td, #time .changes th")].filter((cell) => cell.offsetWidth
      && (cell.scrollWidth > cell.clientWidth + 1 || cell.getBoundingClientRect().right > innerWidth - 13)).length"""
    assert page.evaluate(cut) == 0
    assert page.evaluate("document.querySelector('#time .scroll').scrollWidth") <= width - 28
    first = page.locator("#time .changes tbody tr").first.locator("td.change")
    assert first.count() == 2
    assert [cell.is_visible() for cell in first.all()] == [True, True]
    said = first.first.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert said == f'"{first.first.get_attribute("data-against")}"'
    assert said.startswith('"against ')


def test_classes_and_their_largest_topics(show, grown):
    page = show("grown")
    first = page.locator("#classes .lists").first.locator("tbody tr")
    assert first.count() == 41  # 40 desks, and one with a hostile name
    assert "<s onclick='window.hacked=7'>" in first.first.inner_text()
    assert "100 %" in first.first.inner_text()
    assert page.locator("#classes .lists").nth(1).locator("tbody tr").count() == 4
    assert page.locator("#classes .multiples svg").count() == 11
    assert "<s onclick" in page.locator("#classes .multiples .name").first.inner_text()  # it clearly grew
    assert page.locator("#classes").inner_text().lower().count("purity") == 0
    assert "purity" in page.locator("#agreement").inner_text()


def hover_somewhere(page):
    """Move over the map until a text is shown; its words, and where that was."""
    page.locator("canvas").scroll_into_view_if_needed()
    box = page.locator("canvas").bounding_box()
    for i in range(1, 40):
        for j in range(1, 12):
            x, y = box["x"] + box["width"] * i / 40, box["y"] + box["height"] * j / 12
            page.mouse.move(x, y)
            if page.locator(".readout bdi").count():
                return page.locator(".readout bdi").first.inner_text(), (x, y)
    raise AssertionError("no text anywhere on the map")


def test_the_map_shows_texts_under_the_pointer(show):
    page = show("sample")
    text, at = hover_somewhere(page)
    assert text in page.evaluate("modules['content.js'].content.map.texts")
    before = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.mouse.click(*at)
    chosen = page.locator("#map-topic").input_value()
    assert chosen != "-1"
    topics = page.evaluate("modules['content.js'].topics")
    assert page.locator(".readout a").get_attribute("href") == f"#topic-{topics[int(chosen)]['id']}"
    assert page.evaluate("document.querySelector('canvas').toDataURL()") != before
    assert text in page.locator(".readout").inner_text()
    page.get_by_role("button", name="Show all").click()
    assert page.locator("#map-topic").input_value() == "-1"
    page.select_option("#map-topic", "2")
    assert topics[2]["label"] in page.locator(".readout").inner_text()


def test_the_map_is_dragged(show):
    page = show("sample")
    _, at = hover_somewhere(page)
    before = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.mouse.down()
    page.mouse.move(at[0] + 60, at[1] + 30, steps=4)
    page.mouse.up()
    assert page.evaluate("document.querySelector('canvas').toDataURL()") != before
    assert page.locator("#map-topic").input_value() == "-1"  # a drag is no click


def test_a_finger_taps_a_text(show):
    page = show("sample", 390, 844, has_touch=True)
    page.locator("canvas").scroll_into_view_if_needed()
    box = page.locator("canvas").bounding_box()
    for i in range(1, 12):
        page.touchscreen.tap(box["x"] + box["width"] * i / 12, box["y"] + box["height"] / 2)
        if page.locator("#map-topic").input_value() != "-1":
            break
    assert page.locator(".readout bdi").count() >= 2


def test_the_map_speaks_of_fingers_only_where_there_are_fingers(show):
    said = [show("sample", 390, 844, has_touch=finger, is_mobile=finger).locator("#map").inner_text().lower()
            for finger in (True, False)]  # fmt: skip
    assert "tap a point" in said[0]
    assert not any(word in said[0] for word in ("hover", "wheel", "keys", "click", "disc"))
    assert "hover over a point" in said[1]
    assert "wheel" in said[1]


def test_the_map_zooms_by_wheel_buttons_and_keys(show):
    page = show("sample")
    drawn = lambda: page.evaluate("document.querySelector('canvas').toDataURL()")  # noqa: E731
    pictures = [drawn()]
    page.get_by_role("button", name="Zoom in").click()
    pictures.append(drawn())
    page.locator("canvas").focus()
    page.keyboard.press("+")
    pictures.append(drawn())
    _, at = hover_somewhere(page)
    page.mouse.move(*at)
    page.mouse.wheel(0, -400)
    page.wait_for_function(
        "(before) => document.querySelector('canvas').toDataURL() !== before", arg=pictures[-1]
    )
    pictures.append(drawn())
    assert len(set(pictures)) == len(pictures)


def test_the_map_is_read_with_the_keyboard(show):
    page = show("sample")
    page.locator("#map .buttons button").first.focus()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"
    first = page.locator(".readout bdi").first.inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator(".readout bdi").first.inner_text() != first
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.matches('.card')")


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_texts_are_text(show, width):
    page = show("hostile", width)
    shown = page.locator("main").inner_text()
    assert "<script>window.hacked=9</script>" in shown
    assert "</script><script>window.hacked=6</script>" in page.locator("h3 bdi").first.inner_text()
    assert page.locator("h1").inner_text() == "Topics of <script>window.hacked=5<script>.csv"
    hover_somewhere(page)
    page.locator(".card a").first.click()
    assert page.evaluate("window.hacked") is None
    assert (
        page.locator("img, main script, iframe, main u, main s, main [onclick], [href^='javascript']").count()
        == 0
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # a word of 100,000 letters
    isolated = page.locator(".texts bdi").first.evaluate("node => getComputedStyle(node).unicodeBidi")
    assert isolated == "isolate"


@pytest.mark.slow
def test_the_policy_lets_only_our_script_and_style_in(written):
    for path in written.values():
        page = path.read_text(encoding="utf-8")
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1]
        assert policy.startswith("default-src 'none'; ")
        assert "unsafe" not in policy
        for tag, kind in (("script", "script-src"), ("style", "style-src")):
            inside = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            assert len(inside) == 1
            digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
            assert f"{kind} 'sha256-{digest}'" in policy
        assert page.count("<script") == 2  # ours and the content; none of the texts opens another
        assert "http://www.w3.org/2000/svg" in page
        assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)


def test_without_scripts_the_topics_are_a_table(show, hostile):
    page = show("hostile", java_script_enabled=False)
    rows = page.locator("noscript tbody tr")
    assert rows.count() == len(hostile[0].topics)
    assert "</script><script>window.hacked=6</script>" in rows.first.inner_text()


def test_a_telephone_needs_no_sideways_scrolling(show):
    for name in ("sample", "tiny"):
        page = show(name, 390, 844)
        assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize(("width", "longest"), [(1280, 15_000), (390, 22_000)])
def test_a_hundred_topics_are_a_page_one_can_scroll(show, many, width, longest):
    page = show("many", width, 900)
    assert len(many[0].topics) == 100
    assert page.locator(".card").count() == 100
    assert page.locator(".card .body:visible").count() == 1
    assert page.evaluate("document.documentElement.scrollHeight") <= longest
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#relations svg").count() == 1  # the tree; so many squares nobody reads


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["sample", "many"])
def test_the_navigation_wraps(show, name, width):
    page = show(name, width, 900)
    assert page.locator("nav a").count() == page.locator("main > section").count()
    for box in page.eval_on_selector_all(
        "nav a", "all => all.map((one) => one.getBoundingClientRect().right)"
    ):
        assert box <= width
    assert page.evaluate("(one => one.scrollWidth - one.clientWidth)(document.querySelector('nav ul'))") == 0


def test_the_similarities_fit_beside_the_tree_and_a_telephone_shades_the_edge(show):
    hidden = "(one => one.scrollWidth - one.clientWidth)(document.querySelector('#relations .fits'))"
    assert show("sample").evaluate(hidden) == 0
    shade = "getComputedStyle(document.querySelector('#relations .fits')).backgroundImage"
    assert "gradient" in show("sample", 390, 844).evaluate(shade)


def test_a_tall_tree_shades_the_edge_below(show):
    page = show("many")
    tree = page.locator("#relations .tall")
    assert tree.evaluate("one => one.scrollHeight > one.clientHeight")
    assert tree.evaluate("one => getComputedStyle(one).backgroundAttachment") == "local, scroll"


def test_dark_and_light(show):
    background = "getComputedStyle(document.body).backgroundColor"
    light = show("sample", color_scheme="light").evaluate(background)
    dark = show("sample", color_scheme="dark").evaluate(background)
    assert sum(map(int, re.findall(r"\d+", light))) > 600 > 200 > sum(map(int, re.findall(r"\d+", dark)))


def test_on_paper_all_cards_and_no_controls(show, sample):
    page = show("sample", color_scheme="dark")
    page.locator("#filter").fill("nosuchword")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".card .body:visible").count() == len(sample[0].topics)
    assert page.locator(".card:visible").count() == len(sample[0].topics)
    assert not page.locator("nav").is_visible()
    assert not page.locator("#filter").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_three_texts(show):
    page = show("tiny")
    assert page.locator(".card").count() == 1
    parts = page.eval_on_selector_all("main > section", "all => all.map(part => part.id)")
    assert parts == ["findings", "map", "sizes", "topics", "checks", "number", "meaning"]
    assert "late parcel" in page.locator(".card").inner_text()
    assert "1 text (33 %) has no known word" in page.locator("#checks").inner_text()


def test_columns_that_cannot_be_used_are_told(browser, tmp_path, tiny):
    import polars as pl

    model, info, columns = tiny
    path = tmp_path / "report.html"
    dates, many = pl.Series(["2024-01-01", "tomorrow", "soon"]), pl.Series(["a", None, "b"])
    write_report(path, model, info, tally_of(model, dates, "when", many, "team", **columns))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert "tomorrow" in page.locator("#time").inner_text()
    assert "Without 1 text that has no class." in page.locator("#classes").inner_text()
    page.close()
