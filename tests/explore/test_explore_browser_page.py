"""The page as a whole in a real browser: addresses, keys, narrow pages, a server that goes away."""

import re
import time

import pytest
from explore_pages import Served, drawn, no_sideways, numbers, rows, settled, until, wait_total


def view(page):
    """What is seen, to compare two pages."""
    settled(page)
    return page.evaluate(
        """() => {
          const words = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent);
          const names = [...document.querySelectorAll(".map-name")].map((name) => name.textContent);
          return { total: words("#texts-total"), rows: words("#texts-list tbody tr"), chips: words(".chip"),
            panel: words("#panel h2, #panel blockquote, #panel .assigned"), said: words(".map-said"),
            chosen: words(".topics [aria-pressed=true]"), query: document.getElementById("query").value,
            mode: document.querySelector("[name=mode]:checked").value, current: words("tr[aria-current]"),
            sort: words("th[aria-sort]"), tab: document.getElementById("explore").dataset.tab,
            map: names.sort() };
        }"""
    )


def address_rests(page):
    """Wait until the address has stayed the same for half a second: it is written after the map came to rest."""
    until(
        page,
        """(window.address === location.href
          ? performance.now() - window.since > 500
          : (window.address = location.href, window.since = performance.now(), false))""",
    )


def same_in_a_fresh_page(show, page, **options):
    path = page.url[page.url.index("/?") :]
    other = show(path, **options)
    end = time.monotonic() + 60
    # what is asked for comes bit by bit, and names find their places once the map is at rest, on both pages
    while not alike(seen := view(other), before := view(page)) and time.monotonic() < end:
        drawn(other)
    assert {**seen, "map": None} == {**before, "map": None}
    assert alike(seen, before), set(seen["map"]) ^ set(before["map"])
    return before


def alike(seen, before):
    """The same view, but that one name on the map may stand where another does not fit.

    A name that was there stays while the map comes to rest, so it depends on what was drawn on the way.
    """
    return {**seen, "map": None} == {**before, "map": None} and len(
        set(seen["map"]) ^ set(before["map"])
    ) <= 2


def test_an_address_brings_back_the_view(show, served):
    page = settled(show("/?run=tickets", reduced_motion="reduce"))
    page.locator(".topics button").nth(1).click()
    page.locator("#query").fill("box")
    page.keyboard.press("Enter")
    topic = served.api("/runs/tickets")["topics"][1]["id"]
    wait_total(page, f"{served.texts('tickets', topic=topic, q='box')['total']} of 1,517")
    page.locator("thead").get_by_role("button", name="conf.").click()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Zoom in").click()
    until(page, "Number(new URL(location).searchParams.get('zoom')) > 2")
    page.locator("tbody tr").nth(2).click()
    page.wait_for_selector(".of-row blockquote")
    until(page, "new URL(location).searchParams.has('row')")
    address_rests(page)
    seen = same_in_a_fresh_page(show, page, reduced_motion="reduce")
    assert seen["sort"]
    assert seen["current"]
    assert len(seen["chips"]) == 2


def test_an_address_brings_back_meaning_try_and_lasso(show):
    page = settled(
        show("/?run=tickets&q=refund&mode=meaning&lasso=-9,-9 9,-9 9,9 -9,9&try=my+parcel+is+late")
    )
    until(page, "document.querySelectorAll('.answer .sure').length === 1")
    page.wait_for_selector("tbody tr")
    seen = same_in_a_fresh_page(show, page)
    assert seen["mode"] == "meaning"
    assert seen["query"] == "refund"
    assert "selected on the map×" in seen["chips"]


def test_an_address_that_makes_no_sense_does_no_harm(show):
    show.allowed.append(
        re.compile(r"Failed to load resource: the server responded with a status of 404 \(Not Found\)")
    )
    page = show(
        "/?run=tickets&topic=x&topic=99&least=7&offset=-3&row=a&lasso=1,2&sort=up&zoom=0&x=1&y=nan&view=what"
    )
    wait_total(page, "1,517 texts")


def test_back_and_forward(show, served):
    page = settled(show("/?run=tickets"))
    totals = ["1,517 texts"]
    page.locator(".topics button").first.click()
    topic = served.api("/runs/tickets")["topics"][0]["id"]
    totals.append(f"{served.texts('tickets', topic=topic)['total']} of 1,517")
    wait_total(page, totals[-1])
    page.locator("#query").fill("refund")
    page.keyboard.press("Enter")
    totals.append(f"{served.texts('tickets', topic=topic, q='refund')['total']} of 1,517")
    wait_total(page, totals[-1])
    page.locator("tbody tr").first.click()
    page.wait_for_selector(".of-row")
    page.go_back()
    page.wait_for_selector(".of-row", state="detached")
    page.locator("#facts").click()  # out of the box: what is typed is not overwritten
    page.go_back()
    wait_total(page, totals[1])
    assert page.locator("#query").input_value() == ""
    page.go_back()
    wait_total(page, totals[0])
    until(page, "document.querySelectorAll('.topics [aria-pressed=true]').length === 0")
    page.go_forward()
    wait_total(page, totals[1])
    page.go_forward()
    wait_total(page, totals[2])


def focused(page):
    return page.evaluate(
        """() => { const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
          return { id: one.id, name: one.getAttribute("aria-label") || one.textContent.trim().slice(0, 40), tag: one.tagName,
            part: one.closest("header, section, aside, [role=tablist]")?.id || "",
            ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1
              || one.matches(".switch input, .skip, .bar") , seen: box.width > 0 && box.height > 0 }; }"""
    )


def test_everything_is_reached_by_tab_in_a_sensible_order(show):
    page = settled(show("/?run=tickets&topic=0"))
    page.wait_for_selector("#panel .neighbours")
    walked = []
    for _ in range(140):
        page.keyboard.press("Tab")
        walked.append(focused(page))
        if walked[-1]["tag"] == "BODY":
            break
    assert walked[-1]["tag"] == "BODY"  # the way ends: nobody is caught
    stops = walked[:-1]
    assert stops[0]["name"] == "To the texts"
    parts = list(dict.fromkeys(stop["part"] for stop in stops if stop["part"]))
    assert [part for part in parts if part not in ("top",)] == ["topics", "map", "texts", "panel"]
    names = {stop["name"] for stop in stops} | {stop["id"] for stop in stops}
    for needed in (
        "run",
        "query",
        "try a text",
        "edit",
        "compare",
        "export",
        "lasso",
        "split",
        "relevance",
        "merge…",
    ):
        assert any(needed in name for name in names), needed
    assert (
        sum(stop["part"] == "topics" and stop["tag"] == "BUTTON" for stop in stops) <= 4
    )  # a list is one stop, beside the switch between topics and columns and what is below the list
    assert sum(stop["tag"] == "TR" for stop in stops) == 1  # so is the table
    unseen = [stop for stop in stops if not stop["ring"] or not stop["seen"]]
    assert unseen == []


def test_keys_of_the_page(show, served):
    page = settled(show("/?run=tickets"))
    topics = served.api("/runs/tickets")["topics"]
    page.keyboard.press("/")
    assert focused(page)["id"] == "query"
    page.keyboard.type("t[refund")  # letters here
    page.keyboard.press("Enter")
    page.get_by_text("No text matches").wait_for()
    page.keyboard.press("Escape")
    wait_total(page, "1,517 texts")
    page.keyboard.press("Escape")
    page.keyboard.press("]")
    until(page, "document.querySelector('#panel h2 bdi')?.textContent === arg", topics[0]["label"])
    page.keyboard.press("]")
    until(page, "document.querySelector('#panel h2 bdi')?.textContent === arg", topics[1]["label"])
    page.keyboard.press("[")
    until(page, "document.querySelector('#panel h2 bdi')?.textContent === arg", topics[0]["label"])
    assert page.locator("#live").evaluate("one => one.getAttribute('aria-live')") == "polite"
    page.keyboard.press("t")
    until(page, "document.activeElement.id === 'try-text'")
    page.keyboard.press("Escape")
    until(page, "document.activeElement.dataset.do === 'try'")
    page.keyboard.press("Escape")
    wait_total(page, "1,517 texts")
    page.locator(".topics button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert focused(page)["name"].split("%")[1].strip().startswith(topics[2]["label"][:20])
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#panel h2 bdi')?.textContent === arg", topics[2]["label"])
    page.keyboard.press("End")
    assert topics[-1]["label"] in focused(page)["name"]
    settled(page)
    page.locator("tbody tr").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".of-row blockquote")
    second, third = numbers(page)[1:3]
    until(page, "new URL(location).searchParams.get('row') === arg", str(second))
    page.keyboard.press("ArrowDown")  # the panel follows
    until(page, "document.querySelector('tr[aria-current]')?.dataset.row === arg", str(third))
    page.keyboard.press("Escape")
    page.wait_for_selector(".of-row", state="detached")
    until(page, "document.activeElement.dataset.row === arg", str(third))  # and focus comes back
    page.locator("#split").focus()
    high = page.locator("#map").bounding_box()["height"]
    page.keyboard.press("ArrowUp")
    assert page.locator("#map").bounding_box()["height"] < high
    page.locator("#actions [data-do=export]").focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    assert focused(page)["name"] == "export"


def test_results_are_told_to_screen_readers(show, served):
    page = settled(show("/?run=tickets"))
    page.locator("#query").fill("refund")
    total = served.texts("tickets", q="refund")["total"]
    until(page, "document.getElementById('live').textContent === arg", f"{total} texts found")


def test_a_narrow_page_has_tabs_and_scrolls_only_down(show, served):
    page = settled(show("/?run=tickets", 390, 844))
    tabs = page.get_by_role("tab")
    assert tabs.all_inner_texts() == ["Topics", "Map", "Run", "Texts"]
    for name in ("Map", "Run", "Texts", "Topics"):
        page.get_by_role("tab", name=name).click()
        assert page.get_by_role("tab", selected=True).inner_text() == name
        assert page.get_by_role("tabpanel").count() == 1
        no_sideways(page)
    page.locator(".topics button").first.click()
    page.wait_for_selector("#explore[data-tab=panel] ol.terms")
    assert page.get_by_role("tab", selected=True).inner_text() == "Topic"
    no_sideways(page)
    page.get_by_role("tab", name="Texts").click()
    settled(page)
    page.locator("tbody tr").nth(1).click()
    page.wait_for_selector("#explore[data-tab=panel] .of-row blockquote")
    no_sideways(page)
    page.go_back()
    page.wait_for_selector("#explore[data-tab=texts] tbody tr")
    page.get_by_role("button", name="filter", exact=True).click()
    no_sideways(page)
    page.locator("td.c-pick input").first.check()
    no_sideways(page)
    page.locator("#query").fill("refund")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('tbody mark.query').length > 0")
    settled(page)
    assert rows(page)
    for action in ("edit", "export"):
        page.get_by_role("button", name="menu").click()
        page.locator(f"#actions [data-do={action}]").click()
        page.get_by_role("dialog").wait_for()
        box = page.get_by_role("dialog").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        no_sideways(page)
        page.keyboard.press("Escape")
    page.get_by_role("tab").nth(1).press("ArrowRight")
    assert page.get_by_role("tab", selected=True).get_attribute("data-tab") == "panel"


def test_the_start_page_offers_nothing_that_needs_a_run_on_show(show):
    page = show("/?run=tickets&view=start")
    page.get_by_role("button", name="back to the run").wait_for()
    assert not page.locator("#actions").is_visible()
    cut = page.eval_on_selector("#run", "one => one.scrollWidth > one.clientWidth")
    assert not cut, page.locator("#run option:checked").inner_text()
    page.get_by_role("button", name="back to the run").click()
    settled(page)
    assert page.locator("#actions").is_visible()


@pytest.mark.parametrize("path", ["/?run=tickets&view=compare&against=tickets-7", "/?view=start", "/docs"])
def test_other_views_are_narrow_too(show, path):
    page = show(path, 390, 844)
    page.wait_for_selector(".flows, .run-card, .request")
    no_sideways(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(show, scheme):
    page = settled(show("/?run=tickets", color_scheme=scheme))
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(252, 252, 250)", "dark": "rgb(20, 22, 25)"}[scheme]


def test_a_server_that_goes_away_and_comes_back(show, live, browser):
    show.allowed.append(re.compile(r"Failed to load resource: net::ERR_(CONNECTION_\w+|EMPTY_RESPONSE)"))
    server = Served(live)
    try:
        page = settled(show("/?run=tickets", server=server))
        server.stop()
        page.locator(".topics button").first.click()
        page.locator("#banner").wait_for()
        assert "does not respond" in page.locator("#banner").inner_text()
        assert len(rows(page)) == 50  # what was there stays
        server.start()
        page.locator("#banner").wait_for(state="hidden")
        until(page, "document.getElementById('texts-total').textContent.endsWith(' of 1,517')")
        settled(page)
        page.wait_for_selector("ol.terms")
    finally:
        server.stop()


def test_the_same_origin_is_all_that_is_needed(show, served):
    """No part of the page comes from elsewhere, and the policy says so."""
    page = settled(show("/?run=tickets"))
    answer = page.request.get(served.origin + "/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy or "default-src 'self'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    show.allowed.append(re.compile("policy: script-src.*|.*Content Security Policy.*", re.DOTALL))
    page.evaluate(
        """() => { const script = document.createElement("script"); script.textContent = "window.hacked = 99";
          document.body.append(script); const button = document.createElement("button");
          button.setAttribute("onclick", "window.hacked = 98"); document.body.append(button); button.click(); }"""
    )
    assert page.evaluate("window.hacked") is None  # even markup that was let in would not run
