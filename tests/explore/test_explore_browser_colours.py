"""Colours of the points, columns with counts and dates that play, in a real browser."""

import re

import numpy as np
import pytest
from explore_live import TEAM
from explore_pages import like, no_sideways, picture, settled, until, wait_total

from coterie.explore.server import STATIC


def counts(served, run, **query):
    return served.api(f"/runs/{run}/counts", **query)


def column(served, name):
    return next(one for one in counts(served, "teams")["columns"] if one["name"] == name)


def shades(page):
    """Colours of the legend as #rrggbb."""
    return page.eval_on_selector_all(
        ".map-legend .swatch", "all => all.map(one => one.style.getPropertyValue('--shade'))"
    )


def points(page):
    """Pixels of the map without the legend, which has the same colours."""
    page.eval_on_selector(".map-colour", "one => { one.style.visibility = 'hidden'; }")
    pixels = picture(page)
    page.eval_on_selector(".map-colour", "one => { one.style.visibility = ''; }")
    return pixels


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_points_take_the_colours_of_a_column_and_the_legend_names_them(show, served, teams, width, scheme):
    page = settled(show(f"/?run={teams}&tab=map", width=width, color_scheme=scheme))
    page.get_by_label("Colour of the points").select_option(label="team")
    team = column(served, "team")
    until(page, "document.querySelectorAll('.map-legend li').length === 3")
    settled(page)
    assert page.locator(".map-legend li").all_inner_texts() == [
        f"{value['name']} {value['count']}" for value in team["values"]
    ]
    assert f"colour={team['column']}" in page.url
    paper = (255, 255, 255) if scheme == "light" else (26, 29, 33)
    pixels = points(page)
    for shade in shades(page):
        assert like(pixels, shade, paper).sum() > 8, shade  # a whole point of each; many lie on each other
    assert page.locator(".map-legend u").count() == 0
    no_sideways(page)
    page.reload()
    settled(page)
    until(page, "document.querySelectorAll('.map-legend li').length === 3")
    page.go_back()
    until(page, "document.querySelector('.map-legend').childElementCount === 0")


def test_points_take_the_colours_of_dates_and_confidence(show, served, teams):
    page = settled(show(f"/?run={teams}&colour=date"))
    periods = counts(served, teams)["over_time"]["periods"]
    until(page, "document.querySelectorAll('.map-legend .scale i').length === arg", len(periods))
    assert page.locator(".map-legend .ends span").all_inner_texts() == [
        periods[0]["name"], periods[-1]["name"],
    ]  # fmt: skip
    first = page.eval_on_selector(".map-legend i", "one => one.style.getPropertyValue('--shade')")
    before = like(points(page), first).sum()
    assert before > 20
    page.get_by_label("Colour of the points").select_option("confidence")
    until(page, "document.querySelector('.map-legend .ends').textContent.startsWith('≤')")
    settled(page)
    assert "colour=confidence" in page.url


def test_colours_of_confidence_go_over_the_values_that_occur(show, served):
    page = settled(show("/?run=tickets&colour=confidence"))
    values = []
    for offset in range(0, 1600, 200):
        values += [
            one["confidence"]
            for one in served.texts("tickets", known="true", limit=200, offset=offset)["rows"]
        ]
    until(page, "document.querySelector('.map-legend .ends').textContent !== '≤ 0.00≥ 1.00'")
    low, high = (float(one[2:]) for one in page.locator(".map-legend .ends span").all_inner_texts())
    assert (low, high) == pytest.approx(np.quantile(values, [0.05, 0.95]), abs=0.01)
    assert "values that occur" in page.locator(".map-legend").inner_text()


def test_a_colour_that_a_run_does_not_have_is_forgotten(show):
    show.allowed.append(
        re.compile("Failed to load resource: .* 422 .*")
    )  # points in a colour that is not there
    page = settled(show("/?run=tickets&colour=999"))
    until(page, "!location.search.includes('colour')")
    assert page.get_by_label("Colour of the points").input_value() == ""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_on_a_value_filters_and_the_other_counts_follow(show, served, teams, width):
    page = settled(show(f"/?run={teams}&tab=topics", width=width))
    page.get_by_role("button", name="Columns").click()
    team, kind = column(served, "team"), column(served, "class")
    values = page.locator(".facet li button")
    assert values.count() == 7
    first = page.locator(f"[data-key='{team['column']}:{TEAM}']")
    first.click()
    wanted = f"{team['column']}:{TEAM}"
    wait_total(page, f"{team['values'][0]['count']} of 400")
    until(
        page,
        "document.querySelector('[data-key=\"' + arg + '\"]').getAttribute('aria-pressed') === 'true'",
        wanted,
    )
    after = counts(served, teams, only=wanted)

    def told(number):
        return page.eval_on_selector_all(
            f"[data-key^='{number}:'] .number", "all => all.map(one => Number(one.textContent))"
        )

    of_class = next(one for one in after["columns"] if one["name"] == "class")
    assert told(kind["column"]) == [value["count"] for value in of_class["values"]]
    assert told(team["column"]) == [value["count"] for value in team["values"]]
    page.locator(f"[data-key='{team['column']}:south']").click()
    both = sum(value["count"] for value in team["values"] if value["name"] in (TEAM, "south"))
    wait_total(page, f"{both} of 400")
    page.locator(f"[data-key='{kind['column']}:login']").click()
    page.wait_for_url("**class=login**")
    until(page, "document.querySelectorAll('#texts-filters .chip').length === 3")
    assert page.locator("main u").count() == 0
    no_sideways(page)
    page.reload()
    settled(page)
    until(page, "document.querySelectorAll('.facet [aria-pressed=true]').length === 3")
    if width == 1280:
        page.get_by_role("button", name="Topics", exact=True).click()
        assert page.locator(".topics").is_visible()
        assert not page.locator("#columns").is_visible()


def window(page):
    return page.locator(".time-bars").get_attribute("aria-valuetext")


def test_a_window_of_dates_is_drawn_moved_and_cleared(show, served, teams):
    page = settled(show(f"/?run={teams}"))
    periods = counts(served, teams)["over_time"]["periods"]
    until(page, "document.querySelectorAll('.time-bars .room').length === arg", len(periods))
    rooms = page.locator(".time-bars .room")
    start, end = rooms.nth(1).bounding_box(), rooms.nth(2).bounding_box()
    page.mouse.move(start["x"] + 3, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(end["x"] + 3, end["y"] + 20, steps=5)
    page.mouse.up()
    wait_total(page, f"{periods[1]['count'] + periods[2]['count']} of 400")
    assert window(page) == f"{periods[1]['name']} to {periods[2]['name']}"
    assert f"since={periods[1]['first']}&until={periods[2]['last']}" in page.url
    page.locator(".time-bars").focus()
    page.keyboard.press("ArrowRight")
    wait_total(page, f"{periods[2]['count'] + periods[3]['count']} of 400")
    page.keyboard.press("Shift+ArrowLeft")
    wait_total(page, f"{periods[2]['count']} of 400")
    page.keyboard.press("Escape")
    wait_total(page, "400 texts")
    assert window(page) == "all dates"


def test_dates_play_until_they_are_paused(show, served, teams):
    page = settled(show(f"/?run={teams}"))
    periods = [one["name"] for one in counts(served, teams)["over_time"]["periods"]]
    until(page, "document.querySelector('.time-bars')?.hasAttribute('aria-valuetext')")
    page.get_by_role("button", name="Play the texts over time").click()
    until(page, "document.querySelector('.time-bars').getAttribute('aria-valuetext') === arg", periods[0])
    until(page, "document.querySelector('.time-bars').getAttribute('aria-valuetext') === arg", periods[1])
    page.get_by_role("button", name="Pause").click()
    now = window(page)
    page.wait_for_timeout(1500)  # longer than a step
    assert window(page) == now
    page.get_by_role("button", name="Play the texts over time").click()
    until(page, "document.querySelector('.time-bars').getAttribute('aria-valuetext') === arg", periods[-1])
    page.get_by_role("button", name="Play the texts over time").wait_for()  # it stops at the end


def test_without_motion_each_click_moves_the_window_once(show, served, teams):
    page = settled(show(f"/?run={teams}", reduced_motion="reduce"))
    periods = [one["name"] for one in counts(served, teams)["over_time"]["periods"]]
    step = page.get_by_role("button", name="Next period")
    for name in periods[:2]:
        step.click()
        until(page, "document.querySelector('.time-bars').getAttribute('aria-valuetext') === arg", name)
    page.wait_for_timeout(1500)
    assert window(page) == periods[1]


def test_a_run_without_dates_has_no_dates_to_play(show, twenty):
    page = settled(show(f"/?run={twenty}"))
    page.get_by_label("Colour of the points").wait_for()
    assert not page.locator(".time").is_visible()
    assert page.locator("option[value=date]").count() == 0


def test_the_map_counts_as_the_table_does(show, served, teams):
    page = settled(show(f"/?run={teams}"))
    topic = served.api(f"/runs/{teams}")["topics"][0]["id"]
    page.goto(f"{served.origin}/?run={teams}&topic={topic}&since=2024-02-01&until=2024-03-31")
    settled(page)
    total = served.texts(teams, topic=topic, since="2024-02-01", until="2024-03-31")["total"]
    wait_total(page, f"{total} of 400")
    until(page, "document.querySelector('.map-said').textContent.startsWith(arg)", f"{total} in ")
    everywhere = served.texts(teams, since="2024-02-01", until="2024-03-31")["total"]
    assert f"{everywhere} in all topics" in page.locator(".map-said").inner_text()
    page.get_by_role("button", name="Show the matches of all topics").click()
    wait_total(page, f"{everywhere} of 400")
    until(page, "document.querySelector('.map-said').textContent === arg", f"{everywhere} texts match")


def test_a_search_that_only_other_topics_have_says_so(show, served, teams):
    topics = counts(served, teams, q="parcel")["topics"]
    empty = min(topics, key=lambda one: one["count"])["id"]
    total = served.texts(teams, q="parcel")["total"]
    page = settled(show(f"/?run={teams}&topic={empty}&q=parcel"))
    until(page, "document.querySelector('#texts-list').textContent.includes(arg)", f"{total} in all topics")
    page.get_by_role("button", name="search all topics").click()
    wait_total(page, f"{total} of 400")


def test_texts_that_match_stand_inside_all_texts_of_their_period(show, served, teams):
    page = settled(show(f"/?run={teams}&q=parcel"))
    found = counts(served, teams, q="parcel")["over_time"]["periods"]
    most = max(one["texts"] for one in found)
    for kind, key in (("all", "texts"), ("some", "count")):
        tall = page.eval_on_selector_all(
            f".time-bars .{kind}", "all => all.map((one) => Number(one.getAttribute('height')))"
        )
        assert tall == pytest.approx([34 * one[key] / most for one in found], abs=1)


def test_the_order_of_the_topics_is_in_the_address(show):
    page = settled(show("/?run=grown"))
    page.get_by_label("Order of the topics").select_option("growth")
    page.wait_for_url("**order=growth**")
    names = page.locator(".topics .name").all_inner_texts()
    page.reload()
    settled(page)
    assert page.get_by_label("Order of the topics").input_value() == "growth"
    assert page.locator(".topics .name").all_inner_texts() == names


def test_a_search_shows_its_hits_in_the_list_of_topics(show, served):
    page = settled(show("/?run=tickets&q=card"))
    hits = {one["id"]: one["count"] for one in counts(served, "tickets", q="card")["topics"]}
    until(page, "document.querySelectorAll('.topics button').length > 0")
    first = max(hits, key=hits.get)
    until(
        page,
        "document.querySelector(`.topics [data-id='${arg[0]}'] .number`).textContent === arg[1]",
        [first, str(hits[first])],
    )
    told = page.eval_on_selector_all(
        ".topics button",
        "all => all.map(one => [Number(one.dataset.id), Number(one.querySelector('.number').textContent)])",
    )
    assert dict(told) == hits
    widths = page.eval_on_selector_all(
        ".topics button",
        "all => all.map(one => [Number(one.dataset.id), one.querySelector('.fill').style.getPropertyValue('--part')])",
    )
    assert {id: float(part.rstrip("%")) for id, part in widths} == pytest.approx(
        {id: 100 * n / max(hits.values()) for id, n in hits.items()}, abs=0.01
    )
    order = page.get_by_label("Order of the topics")
    assert order.input_value() == "matches"  # by itself
    assert [n for _, n in told] == sorted(hits.values(), reverse=True)
    order.select_option("size")
    largest = max(served.api("/runs/tickets")["topics"], key=lambda one: one["size"])["id"]
    until(page, "Number(document.querySelector('.topics button').dataset.id) === arg", largest)
    page.reload()
    settled(page)
    assert order.input_value() == "size"
    page.locator("#query").fill("")
    until(page, "document.querySelector('.topics .number').textContent.includes('%')")


def test_every_module_is_asked_for_early():
    """What main.js needs at once is named in the head, so that no module waits for another."""
    html = (STATIC / "index.html").read_text("utf-8")
    for name in ("counts", "facets", "colour", "time", "selection", "pair", "links", "map-colours"):
        assert f'href="/static/{name}.js"' in html
