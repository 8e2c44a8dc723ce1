"""The map in a real browser: points, names, tooltips, lasso, zoom."""

import re

import numpy as np
import pytest
from explore_pages import (
    drawn,
    like,
    no_sideways,
    numbers,
    picture,
    place_of,
    rows,
    settled,
    until,
    wait_total,
)


def overview(served, run):
    return served.api(f"/runs/{run}")


def drag(page, corners, steps=6):
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=steps)
    page.mouse.up()


def around(page, colour):
    """Corners on the screen of a box around texts of a topic."""
    x, y = place_of(page, colour)
    return [(x - 45, y - 45), (x + 45, y - 45), (x + 45, y + 45), (x - 45, y + 45)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_points_have_the_colours_of_their_topics(show, served, scheme):
    page = settled(show("/?run=tickets", color_scheme=scheme))
    paper = {"light": (255, 255, 255), "dark": (0x1A, 0x1D, 0x21)}[scheme]
    pixels, topics = picture(page), overview(served, "tickets")["topics"]
    assert tuple(pixels[-20, -20]) == paper
    drawn = {topic["label"]: int(like(pixels, topic["colour"], paper).sum()) for topic in topics}
    assert min(drawn.values()) > 15, drawn  # every topic is there
    sizes = [topic["size"] for topic in topics]
    assert np.corrcoef(sizes, [drawn[topic["label"]] for topic in topics])[0, 1] > 0.5
    assert page.locator(".map-name").count() >= 5


def test_twenty_thousand_points_come_soon(show, served, twenty):
    page = show(f"/?run={twenty}")
    page.wait_for_selector(".topics button")
    paint = "performance.getEntriesByName('first-contentful-paint')[0]"
    until(page, paint)
    assert page.evaluate(f"{paint}.startTime") < 5000  # about 200 on an idle machine
    settled(page)
    pixels, topics = picture(page), overview(served, twenty)["topics"]
    assert len(topics) == 20
    drawn = [int(like(pixels, topic["colour"]).sum()) for topic in topics]
    assert sum(number > 100 for number in drawn) == 20
    assert page.locator("#facts").inner_text().split("\n")[1:] == ["20,000 texts", "20 topics"]


@pytest.mark.parametrize("run", ["tickets", "twenty"])
def test_hover_shows_the_text_and_a_click_opens_it(show, served, request, run):
    name = request.getfixturevalue("twenty") if run == "twenty" else run
    page = settled(show(f"/?run={name}"))
    topic = overview(served, name)["topics"][2]
    spot = place_of(page, topic["colour"])
    page.mouse.move(*spot)
    tip = page.locator(".map-tip")
    tip.wait_for()
    until(page, "document.querySelector('.map-tip-text')?.textContent.length > 3")
    assert topic["label"] in tip.locator(".map-tip-head").inner_text()
    said = tip.locator(".map-tip-text").inner_text().rstrip("…").strip()
    page.mouse.click(*spot)
    page.wait_for_selector(".of-row blockquote")
    until(page, "new URL(location).searchParams.has('row')")
    row = int(page.evaluate("new URL(location).searchParams.get('row')"))
    whole = served.api(f"/runs/{name}/texts/{row}")
    assert whole["topic"] == topic["id"]
    assert " ".join(whole["text"].split()).startswith(" ".join(said.split()))
    assert " ".join(page.locator(".of-row blockquote").inner_text().split()) == " ".join(
        whole["text"].split()
    )
    page.locator(".map-over .row").wait_for()  # ringed on the map
    tip.wait_for(state="hidden")  # the panel has the text now
    page.mouse.move(spot[0] + 0.5, spot[1])
    settled(page)
    # where points lie this dense, the next one may begin here
    assert tip.is_hidden() or tip.locator(".map-tip-text").inner_text().rstrip("…").strip() != said


def test_a_name_on_the_map_chooses_its_topic_and_empty_ground_takes_it_back(show, served):
    page = settled(show("/?run=tickets"))
    topic, other = overview(served, "tickets")["topics"][:2]
    bright = like(picture(page), other["colour"]).sum()
    box = page.locator(".map-name", has_text=topic["label"]).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_total(page, f"{served.texts('tickets', topic=topic['id'])['total']} of 1,517")
    until(page, "document.querySelector('#panel h2').textContent.startsWith(arg)", topic["label"])
    assert like(picture(page), other["colour"]).sum() < bright / 10  # the others are dimmed
    page.locator(".map-over .outline").wait_for()
    canvas = page.locator("#map [role=application]").bounding_box()
    page.mouse.click(canvas["x"] + 8, canvas["y"] + canvas["height"] - 12)
    wait_total(page, "1,517 texts")


class Held:
    """Requests that wait until they are released."""

    def __init__(self):
        self.routes, self.released = [], False

    def hold(self, route):
        if self.released:
            route.continue_()
        else:
            self.routes.append(route)

    def release(self):
        assert self.routes
        self.released = True
        for route in self.routes:
            route.continue_()


def test_names_stand_where_they_belong_whatever_arrives_first(show, served):
    """Points before names of groups, as on most machines, or after them, as on busy ones."""
    named = "!document.querySelector('.map-names[aria-busy]')"
    dotted = "!document.querySelector('#map.waiting')"
    found = []
    for late, early in (("**/map?*", named), ("**/map/names*", dotted)):
        page, held = show("/"), Held()
        page.route(late, held.hold)
        page.goto(f"{served.origin}/?run=tickets")
        until(page, f"{early} && document.querySelector('.map-name')")
        drawn(page)
        held.release()
        settled(page)
        found.append(
            page.eval_on_selector_all(
                ".map-name", "all => all.map((name) => [name.textContent, name.style.transform]).sort()"
            )
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("how", ["button", "shift"])
def test_the_lasso_selects_and_the_table_follows(show, served, how):
    page = settled(show("/?run=tickets"))
    topic = overview(served, "tickets")["topics"][1]
    corners = around(page, topic["colour"])
    if how == "button":
        page.get_by_role("button", name="lasso").click()
        drag(page, corners)
    else:
        page.keyboard.down("Shift")
        drag(page, corners)
        page.keyboard.up("Shift")
    until(page, "new URL(location).searchParams.has('lasso')")
    settled(page)
    lasso = page.evaluate("new URL(location).searchParams.get('lasso')")
    drawn = np.array([[float(part) for part in pair.split(",")] for pair in lasso.split(" ")])
    x, y, row = served.points("tickets", limit=20000)
    inside = np.zeros(len(x), bool)  # even-odd rule, counted here once more
    for (ax, ay), (bx, by) in zip(drawn, np.roll(drawn, -1, axis=0), strict=True):
        crossing = (ay > y) != (by > y)
        inside ^= crossing & (x < (bx - ax) * (y - ay) / np.where(by == ay, 1, by - ay) + ax)
    assert 20 < inside.sum() < 700
    wait_total(page, f"{inside.sum()} of 1,517")
    assert set(numbers(page)) <= set(row[inside].tolist())
    assert page.locator(".map-said").inner_text().startswith(f"{inside.sum()} texts selected")
    topics = [line[2] for line in rows(page)]
    assert topics.count(topic["label"]) > len(topics) / 3  # it was drawn around that topic
    page.get_by_role("button", name="Clear the lasso").click()
    wait_total(page, "1,517 texts")


def test_closer_loads_more_points(show, served):
    page = settled(show("/?run=crowd"))
    until(page, "document.querySelector('.map-said').textContent.startsWith('20,000 of 24,000 drawn')")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/map?" in request.url else None)
    canvas = page.locator("#map [role=application]").bounding_box()
    with page.expect_response(lambda answer: "/map?" in answer.url and "x0=" in answer.url):
        page.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2)
        for _ in range(5):
            page.mouse.wheel(0, -240)
    until(page, "!document.querySelector('.map-said').textContent.includes('drawn')")  # all in sight are
    until(page, "Number(new URL(location).searchParams.get('zoom')) > 5")
    page.get_by_role("button", name="all", exact=True).click()
    until(page, "!new URL(location).searchParams.has('zoom')")
    until(page, "document.querySelector('.map-said').textContent.startsWith('20,000 of 24,000 drawn')")
    assert len(asked) < 6  # not at every turn of the wheel


def test_a_filter_leaves_the_others_as_ghosts(show, served):
    page = settled(show("/?run=tickets&q=refund"))
    total = served.texts("tickets", q="refund")["total"]
    assert page.locator(".map-said").inner_text() == f"{total} texts match"
    topics = overview(served, "tickets")["topics"]

    def coloured():
        pixels = picture(page)
        return sum(int(like(pixels, topic["colour"]).sum()) for topic in topics)

    few = coloured()
    page.locator("#texts-filters .chip button").click()
    wait_total(page, "1,517 texts")
    assert 0 < few < 0.6 * coloured()


def test_drag_moves_and_keys_work(show):
    page = settled(show("/?run=tickets", reduced_motion="reduce"))
    place = "document.querySelector('.map-name').getBoundingClientRect().x"
    canvas = page.locator("#map [role=application]").bounding_box()
    x, y = canvas["x"] + 30, canvas["y"] + canvas["height"] - 30
    before = page.evaluate(place)
    drag(page, [(x, y), (x + 80, y - 20)])
    until(page, f"Math.abs({place} - {before} - 80) < 3")
    page.locator("#map [role=application]").focus()
    page.keyboard.press("0")
    until(page, f"Math.abs({place} - {before}) < 1")
    page.keyboard.press("ArrowRight")
    until(page, f"Math.abs({place} - {before} + 60) < 3")
    page.keyboard.press("0")
    page.keyboard.press("+")
    until(page, "Number(new URL(location).searchParams.get('zoom')) > 1.3")
    page.keyboard.press("-")
    page.keyboard.press("0")
    until(page, "!new URL(location).searchParams.has('zoom')")
    for _ in range(12):  # Enter opens what is in the middle, as soon as a text is there
        page.keyboard.press("ArrowLeft")
        drawn(page)
        if page.locator(".map-tip").is_visible():
            break
    page.keyboard.press("Enter")
    page.wait_for_selector(".of-row blockquote")


def test_a_finger_sees_the_text_before_it_opens(show, served):
    page = settled(show("/?run=tickets&tab=map", 390, 844, has_touch=True))
    topic = overview(served, "tickets")["topics"][0]
    spot = place_of(page, topic["colour"])
    page.touchscreen.tap(*spot)
    tip = page.locator(".map-tip")
    tip.wait_for()
    until(page, "document.querySelector('.map-tip-text')?.textContent.length > 3")
    no_sideways(page)
    assert page.locator("#explore").get_attribute("data-tab") == "map"
    said = " ".join(tip.locator(".map-tip-text").inner_text().rstrip("…").split())
    tip.get_by_role("button", name="open this text").tap()
    page.wait_for_selector("#explore[data-tab=panel] .of-row blockquote")
    assert " ".join(page.locator(".of-row blockquote").inner_text().split()).startswith(said)
    page.go_back()
    page.wait_for_selector("#explore[data-tab=map]")
    page.touchscreen.tap(*spot)
    tip.wait_for()
    page.touchscreen.tap(*spot)  # the second tap opens it, too
    page.wait_for_selector("#explore[data-tab=panel] .of-row blockquote")


def test_a_run_that_cannot_be_opened_leaves_an_empty_map(show):
    show.allowed.append(
        re.compile(r"Failed to load resource: the server responded with a status of 404 \(Not Found\)")
    )
    page = show("/?run=nosuch")
    page.wait_for_selector("#panel .wrong")
    page.wait_for_selector("#map [role=application]")
    assert "nosuch" in page.locator("#panel .wrong").inner_text()
    pixels = picture(page, "#map")
    assert (pixels[2:-8, 2:-2] == pixels[40, 40]).all()  # no stray mark, no button that does nothing
    page.select_option("#run", "tickets")
    settled(page)
    page.evaluate("history.back()")
    page.wait_for_selector("#panel .wrong")
    until(page, "document.querySelectorAll('.map-name').length === 0")
    drawn(page)
    assert (picture(page, "#map")[2:-8, 2:-2] == pixels[40, 40]).all()


def test_names_do_not_lie_on_each_other_and_large_topics_have_large_ones(show, twenty, served):
    page = settled(show(f"/?run={twenty}"))
    boxes = [name.bounding_box() for name in page.locator(".map-name.topic").all()]
    assert len(boxes) > 12
    for at, one in enumerate(boxes):
        for other in boxes[:at]:
            assert (
                one["x"] + one["width"] <= other["x"] + 1
                or other["x"] + other["width"] <= one["x"] + 1
                or one["y"] + one["height"] <= other["y"] + 3
                or other["y"] + other["height"] <= one["y"] + 3
            )
    labels = [topic["label"] for topic in overview(served, twenty)["topics"]]
    shown = page.eval_on_selector_all(
        ".map-name.topic", "all => all.map(name => [name.textContent, parseFloat(name.style.fontSize)])"
    )
    assert {text for text, _ in shown} <= set(labels)  # none is cut
    by_size = [size for label in labels for text, size in shown if text == label]
    assert by_size == sorted(by_size, reverse=True)


def test_closer_there_are_words_then_texts_and_a_small_map(show, served):
    topic = overview(served, "tickets")["topics"][0]
    x, y = topic["at"]
    page = settled(show(f"/?run=tickets&x={x}&y={y}&zoom=3"))
    page.locator(".map-small:not([hidden])").wait_for()
    page.locator(".map-name.word").first.wait_for(timeout=60_000)
    assert page.locator(".map-name.text").count() == 0
    x, y = (float(places[7]) for places in served.points("tickets", limit=20)[:2])
    page = settled(show(f"/?run=tickets&x={x:.5f}&y={y:.5f}&zoom=60"))
    page.locator(".map-name.text").first.wait_for(timeout=60_000)
    page.get_by_role("button", name="all", exact=True).click()
    page.locator(".map-small").wait_for(state="hidden")
    until(page, "!document.querySelector('.map-name.text')")


def test_the_map_alone_by_a_key_and_back(show):
    page = settled(show("/?run=tickets"))
    before = page.locator("#map").bounding_box()
    assert before["width"] * before["height"] > 0.35 * 1280 * 800  # of the window, with everything else in it
    page.keyboard.press("f")
    page.locator("#topics").wait_for(state="hidden")
    assert page.locator("#map").bounding_box()["width"] == 1280
    page.keyboard.press("Escape")
    page.locator("#topics").wait_for()
    assert page.locator("#map").bounding_box() == before


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_map_is_saved_as_a_picture(show, kind):
    page = settled(show("/?run=tickets"))
    page.locator("#actions [data-do=export]").click()
    with page.expect_download() as saved:
        page.get_by_role("dialog").get_by_role("button", name=kind.upper(), exact=True).click()
    assert saved.value.suggested_filename == f"tickets.{kind}"
    content = saved.value.path().read_bytes()
    assert content.startswith({"svg": b"<svg ", "png": b"\x89PNG"}[kind])
    if kind == "png":
        assert int.from_bytes(content[16:20], "big") == 4000  # wide enough for print


WANTED = """async ([zoom, width]) => {
  const { Names } = await import("/static/map-names.js"), names = new Names(document.createElement("div"), document.createElement("div"));
  names.show(Array.from({ length: 100 }, (_, at) => ({ id: at, label: `topic ${at}`, size: 1 + at, at: [at / 100, 0] })));
  names.more({ groups: [{ label: "group", at: [0.5, 0] }], words: [] });
  const found = names.wanted({ zoom, width, height: 800 }, -1, width < 520), of = (kind) => found.filter((name) => name.kind === kind);
  return [of("group").length, of("topic").map((name) => name.topic)];
}"""


def test_from_far_groups_stand_with_the_largest_topics_only(show):
    page = settled(show("/?run=tickets"))
    groups, wide = page.evaluate(WANTED, [1, 1280])
    assert groups == 1
    assert wide == list(range(99, 99 - len(wide), -1))
    assert 10 < len(wide) < 40
    assert 0 < len(page.evaluate(WANTED, [1, 390])[1]) < len(wide) / 2
    groups, closer = page.evaluate(WANTED, [1.6, 1280])
    assert (groups, len(closer)) == (1, 100)
    assert page.evaluate(WANTED, [2.56, 1280])[0] == 0
