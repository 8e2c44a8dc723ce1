"""Topics in a real browser: the list, the panel, and a text that is tried."""

import math

import pytest
from explore_pages import drawn, no_sideways, numbers, rows, settled, until, wait_total
from explore_runs import WORDS

from coterie.report.wording import share


def detail(served, topic, run="tickets"):
    return served.api(f"/runs/{run}/topics/{topic}")


def terms(page):
    return page.locator("ol.terms li button").all_inner_texts()


def test_the_list_has_every_topic_by_size_by_name_and_by_words(show, served, twenty):
    page = settled(show(f"/?run={twenty}"))
    topics = served.api(f"/runs/{twenty}")["topics"]
    names = page.locator(".topics .name")
    assert names.all_inner_texts() == [topic["label"] for topic in topics]
    sizes = [topic["size"] for topic in topics]
    assert sizes == sorted(sizes, reverse=True)
    shares = page.locator(".topics .number").all_inner_texts()
    assert shares == [share(topic["share"], 1) for topic in topics]
    page.get_by_label("Order of the topics").select_option("name")
    assert names.first.inner_text() == min(names.all_inner_texts(), key=str.casefold)
    page.get_by_label("Find a topic by its words").first.fill("subversion")
    found = [topic["label"] for topic in topics if "subversion" in " ".join(topic["terms"]).lower()]
    assert names.all_inner_texts() == found != []
    page.get_by_label("Find a topic by its words").first.fill("nosuchword")
    page.get_by_role("button", name="show all").click()
    assert names.count() == 20


def test_what_grew_is_told_marked_and_sorted(show, served):
    page = settled(show("/?run=grown"))
    overview = served.api("/runs/grown")
    topics = overview["topics"]
    grew = next(topic for topic in topics if topic["change"]["trend"] == "grew")
    assert grew["terms"][0] in WORDS["shipping"]
    told = page.locator("#panel .findings li")
    assert told.all_inner_texts()[0].startswith("Biggest")
    assert any(grew["change"]["sentence"] in text and "Grew" in text for text in told.all_inner_texts())
    assert "1 to 15 December 2024" in page.locator("#panel").inner_text()
    assert page.locator("#panel .findings img").count() == 0  # a typical text that tries to be a picture
    marked = page.locator(".topics button:has(.arrow)")
    assert {int(one.get_attribute("data-id")) for one in marked.all()} == {
        topic["id"] for topic in topics if topic["change"]["trend"]
    }
    page.get_by_label("Order of the topics").select_option("growth")
    names = page.locator(".topics .name").all_inner_texts()
    by_growth = sorted(topics, key=lambda topic: -topic["change"]["growth"])
    assert names == [topic["label"] for topic in by_growth]
    assert names[0] == grew["label"]
    assert page.locator(".topics .number").first.inner_text() == f"↑{100 * grew['change']['growth']:+.1f}"
    page.locator(".topics button").first.click()
    page.wait_for_selector("#panel .change")
    assert page.locator("#panel .change").inner_text() == f"↑{grew['change']['sentence']}"
    other = next(topic for topic in topics if not topic["change"]["trend"])
    page.locator(f".topics button[data-id='{other['id']}']").click()
    until(page, "document.querySelector('#panel .change').textContent.startsWith('No clear change')")


def test_without_dates_there_is_no_growth_to_sort_by(show, twenty):
    page = settled(show(f"/?run={twenty}"))
    assert page.locator("#topics-tools option[value=growth]").is_disabled()
    assert page.locator(".topics .arrow").count() == 0
    assert page.locator("#panel .findings li").count() == 1


def test_a_click_counts_though_numbers_arrive_while_the_mouse_is_down(show, served):
    page = settled(show("/?run=tickets"))
    page.locator(".topics button").nth(2).hover()
    page.mouse.down()
    with page.expect_response("**/counts?*"):
        page.keyboard.press("]")
    drawn(page)
    page.mouse.up()
    third = served.api("/runs/tickets")["topics"][2]["id"]
    until(page, "new URL(location).searchParams.get('topic') === arg", str(third))


def test_the_panel_tells_everything_of_a_topic(show, served):
    page = settled(show("/?run=tickets"))
    topic = served.api("/runs/tickets")["topics"][0]
    page.locator(".topics button").first.click()
    wait_total(page, f"{served.texts('tickets', topic=topic['id'])['total']} of 1,517")
    known = detail(served, topic["id"])
    page.wait_for_selector("#panel .neighbours")
    panel = page.locator("#panel")
    assert f"{topic['size']} texts" in panel.locator(".facts-line").inner_text()
    headings = panel.locator("h3").all_inner_texts()
    assert [heading.split("\n")[0] for heading in headings] == [
        "Typical texts", "Words", "Quality", "Over time", "By class", "Borderline texts", "Related words",
        "Neighbouring topics",
    ]  # fmt: skip
    quotes = [" ".join(text.split()) for text in panel.locator(".quote").all_inner_texts()]
    for text in known["examples"] + known["borderline"]:
        assert any(quote.startswith(" ".join(text["text"].split())[:60]) for quote in quotes)
    assert len(known["examples"]) >= 3 <= len(known["borderline"])
    related = panel.locator(".related-words li button").all_inner_texts()
    assert related == [one["term"] for one in known["related"]] != []
    alike = panel.locator(".neighbours .number").all_inner_texts()
    assert alike == [f"{share(max(one['similarity'], 0), 1)} alike" for one in known["neighbours"]]
    bars = panel.locator("figure svg[role=img]")
    assert bars.count() == 2  # confidence and time
    assert bars.nth(1).locator("g").count() == len(known["over_time"]["periods"])
    assert known["over_time"]["periods"][0] in bars.nth(1).get_attribute("aria-label")
    assert panel.locator(".bars li").first.inner_text().split("\n")[0] == known["by_class"][0]["name"]


@pytest.mark.parametrize("width", [1280, 1920, 390])
def test_words_have_bars_and_stay_inside_the_panel(show, width):
    page = show("/?run=tickets&topic=1&tab=panel", width=width)
    page.locator(".terms .track").first.wait_for()
    assert min(page.eval_on_selector_all(".terms .track", "all => all.map((one) => one.offsetWidth)")) > 30
    assert page.evaluate(
        """() => {
          const panel = document.getElementById("panel"), right = panel.getBoundingClientRect().left + panel.clientWidth;
          return [...panel.querySelectorAll(".panel-body *")].filter((one) => one.getBoundingClientRect().right > right + 1)
            .map((one) => one.outerHTML.slice(0, 100));
        }"""
    ) == []  # fmt: skip


def test_the_pen_is_seen_where_nothing_hovers(show):
    page = show("/?run=tickets&topic=1&tab=panel", width=390, has_touch=True, is_mobile=True)
    page.locator(".rename .pen").wait_for()
    assert page.eval_on_selector(".rename .pen", "one => getComputedStyle(one).opacity") == "1"


def test_the_slider_goes_from_frequent_to_distinctive(show, served):
    page = settled(show("/?run=tickets&topic=0"))
    page.wait_for_selector("ol.terms")
    candidates = detail(served, 0)["candidates"]
    slider = page.locator("#relevance")
    shown = {}
    for place in (0, 0.5, 1):
        slider.fill(str(place))
        shown[place] = terms(page)
    by_share = sorted(candidates, key=lambda one: (-one["share"], one["term"]))[:12]
    by_lift = sorted(candidates, key=lambda one: (-one["lift"], one["term"]))[:12]
    assert shown[0] == [one["term"] for one in by_share]
    assert shown[1] == [one["term"] for one in by_lift] != shown[0]
    between = sorted(
        candidates, key=lambda one: (-math.log(one["share"]) - math.log(one["lift"]), one["term"])
    )
    assert shown[0.5] == [one["term"] for one in between[:12]]
    slider.focus()
    page.keyboard.press("Home")
    assert terms(page) == shown[0]
    assert slider.get_attribute("aria-valuetext") == "frequent"


def test_what_is_clicked_in_the_panel_narrows_the_texts(show, served):
    page = settled(show("/?run=tickets&topic=0"))
    page.wait_for_selector("ol.terms")
    term = terms(page)[0]
    page.locator("ol.terms li button").first.click()
    wait_total(page, f"{served.texts('tickets', topic=0, q=term)['total']} of 1,517")
    page.get_by_label("Take away: the search").click()
    first = detail(served, 0)["by_class"][0]["name"]
    page.locator("#panel .bars button", has_text=first).click()
    wait_total(page, f"{served.texts('tickets', **{'topic': 0, 'class': first})['total']} of 1,517")
    page.locator("#texts-filters .chip", has_text=first).get_by_role("button").click()
    tenth = max(range(10), key=lambda at: detail(served, 0)["histogram"][at])
    page.locator("#panel figure svg").first.locator("g.bar").nth(tenth).click()
    wait_total(
        page, f"{served.texts('tickets', topic=0, least=tenth / 10, most=(tenth + 1) / 10)['total']} of 1,517"
    )
    page.locator("#panel .neighbours button").first.click()
    until(page, "!new URL(location).searchParams.getAll('topic').includes('0')")
    page.locator("#panel .related-words button").first.click()
    until(page, "new URL(location).searchParams.get('mode') === 'meaning'")
    settled(page)
    assert numbers(page)


def test_several_topics_at_once(show, served):
    page = settled(show("/?run=tickets"))
    ids = [topic["id"] for topic in served.api("/runs/tickets")["topics"][:2]]
    page.locator(".topics button").nth(0).click()
    page.locator(".topics button").nth(1).click(modifiers=["Shift"])
    wait_total(page, f"{served.texts('tickets', topic=ids)['total']} of 1,517")
    until(page, "document.querySelectorAll('.topics button[aria-pressed=true]').length === 2")
    assert page.locator(".topics-foot").inner_text().startswith("2 topics")
    page.get_by_role("button", name="all topics").click()
    wait_total(page, "1,517 texts")


@pytest.mark.parametrize("width", [1280, 390])
def test_try_says_topic_sureness_and_reason_as_one_types(show, served, width):
    page = settled(show("/?run=tickets", width))
    if width < 900:
        page.get_by_role("button", name="menu").click()
    page.get_by_role("button", name="try a text").click()
    box = page.get_by_label("Try a text")
    assert box.evaluate("one => one === document.activeElement")
    text = "I want my money back, the card was charged twice"
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/assign") else None)
    box.press_sequentially(text[:20])
    page.wait_for_selector(".answer .sure")
    first = page.locator(".answer .assigned").inner_text()
    box.press_sequentially(text[20:])
    until(page, "document.querySelector('.answer blockquote').textContent.endsWith('twice')")
    assert len(asked) < 40  # not at every letter
    answer = page.locator(".answer")
    told = page.evaluate(
        """async (text) => (await (await fetch("/api/runs/tickets/assign", { method: "POST",
          headers: { "X-Coterie": "1", "Content-Type": "application/json" }, body: JSON.stringify({ texts: [text] }) })).json()).answers[0]""",
        text,
    )
    assert first
    assert answer.locator(".assigned").inner_text() == told["label"]
    assert f"{told['confidence']:.2f}" in answer.locator(".sure").inner_text()
    assert all(word in answer.inner_text() for word in told["words"])
    assert answer.locator("blockquote b.word").count() == sum(mark[2] == "word" for mark in told["marks"]) > 0
    assert answer.locator(".shares li").count() == len(told["shares"])
    no_sideways(page)
    if width > 900:
        page.locator(".map-over .pin").wait_for()
        top = page.evaluate(
            "[...document.querySelectorAll('.map-body > *')].map(one => one.getAttribute('class'))"
        )
        assert top.index("map-over") > top.index("map-names")  # the pin does not hide behind names
    box.fill("zzzqqq xyzzy")
    until(
        page,
        "document.querySelector('.answer').textContent.includes('It has no known word, so it has no topic')",
    )
    assert "zzzqqq" in answer.inner_text()
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('#try-text')")
    if width > 900:
        page.locator(".map-over .pin").wait_for(state="hidden")


def test_the_panel_of_a_text(show, served, twenty):
    page = settled(show(f"/?run={twenty}"))
    page.locator("#texts-list tbody tr").nth(3).click()
    page.wait_for_selector(".of-row blockquote")
    row = numbers(page)[3]
    until(
        page, "document.querySelectorAll('.of-row .quotes li').length > 0"
    )  # similar texts come when counted
    whole = served.api(f"/runs/{twenty}/texts/{row}")
    panel = page.locator("#panel")
    assert panel.locator("blockquote").inner_text() == whole["text"]
    assert panel.locator("blockquote b.word").count() == sum(mark[2] == "word" for mark in whole["marks"])
    assert panel.locator(".quote").all_inner_texts() == [text["text"] for text in whole["similar"]]
    cells = dict(
        zip(panel.locator("dt").all_inner_texts(), panel.locator("dd").all_inner_texts(), strict=True)
    )
    assert cells == {cell["name"]: cell["value"] for cell in whole["columns"]}
    assert rows(page)[3][4] == whole["text"]
    panel.locator(".quote").first.click()
    until(
        page, "document.querySelector('.of-row blockquote').textContent === arg", whole["similar"][0]["text"]
    )
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('.of-row')")
