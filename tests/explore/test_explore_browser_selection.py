"""Selected texts, two topics, links, keys, undo and files that are assigned, in a real browser."""

import csv
import io

import pytest
from explore_pages import Served, kinds_of, no_sideways, settled, until, wait_total
from explore_runs import WORDS, write_texts


def contrasts(served, run, **query):
    return served.api(f"/runs/{run}/contrasts", **query)


def lasso(page, part=0.3):
    """Draw around the middle of the map."""
    box = page.locator("#map [role=application]").bounding_box()
    x, y, reach = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, part * box["height"]
    page.get_by_role("button", name="lasso").click()
    page.mouse.move(x - reach, y - reach)
    page.mouse.down()
    for right, down in [(reach, -reach), (reach, reach), (-reach, reach), (-reach, -reach + 4)]:
        page.mouse.move(x + right, y + down, steps=4)
    page.mouse.up()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_lasso_tells_what_sets_its_texts_apart(show, served, width):
    page = settled(show("/?run=tickets&tab=map", width=width))
    until(page, "document.querySelector('.map-colour select').options.length > 2")
    lasso(page)
    page.wait_for_url("**lasso=**")
    corners = page.evaluate("new URLSearchParams(location.search).get('lasso')")
    found = contrasts(served, "tickets", lasso=corners)
    assert 0 < found["total"] < 1517
    if width < 900:
        assert page.locator("#tab-panel").inner_text() == "Selected"
        page.locator("#tab-panel").click()
    page.wait_for_selector("#panel .of-selection")
    until(
        page,
        "document.querySelector('#panel .facts-line strong').textContent === arg",
        f"{found['total']:,} texts",
    )
    until(page, "document.querySelectorAll('#panel .contrasts li').length === arg", len(found["words"]))
    assert page.locator("#panel .contrasts li .link").all_inner_texts() == [
        word["name"] for word in found["words"]
    ]
    assert page.locator("#panel .contrasts li .number:nth-child(3)").all_inner_texts() == [
        f"{word['count']:,}" for word in found["words"]
    ]
    assert page.locator("#panel .contrasts-rows").first.locator("li").count() == len(found["topics"])
    assert "Over time" in page.locator("#panel").inner_text()
    no_sideways(page)
    page.locator("#panel .close").click()
    until(page, "document.querySelector('#panel h2').textContent === 'This run'")


def test_too_many_texts_to_move_are_said(show, served):
    page = settled(show("/?run=tickets&since=2000-01-01"))
    assert served.texts("tickets", since="2000-01-01")["total"] > 500
    page.get_by_text("at most 500 can be moved").wait_for()
    page.goto(f"{served.origin}/?run=tickets&q=refund")
    settled(page)
    page.get_by_role("button", name="move these").wait_for()


@pytest.mark.parametrize("width", [1280, 390])
def test_two_topics_stand_side_by_side(show, served, width):
    topics = served.api("/runs/tickets")["topics"][:2]
    details = [served.api(f"/runs/tickets/topics/{topic['id']}") for topic in topics]
    page = settled(show("/?run=tickets&tab=topics", width=width))
    buttons = page.locator(".topics button")
    buttons.nth(0).click()
    if width < 900:
        page.locator("#tab-topics").click()
    buttons.nth(1).click(modifiers=["Shift"])
    page.wait_for_selector("#panel .of-pair")
    names = page.locator("#panel .pair-name").all_inner_texts()
    assert names == [topic["label"] for topic in topics]
    text = page.locator("#panel .of-pair").inner_text()
    for topic in topics:
        assert f"{topic['size']} texts" in text
    lists = page.locator("#panel .side-by-side .pair-words")
    words = [lists.nth(at).locator("li").all_inner_texts() for at in (0, 1)]
    candidates = [{one["term"]: one["share"] for one in detail["candidates"]} for detail in details]
    for at in (0, 1):
        assert len(words[at]) == 10
        assert all(candidates[at][word] > candidates[1 - at].get(word, 0) for word in words[at])
    both = page.locator("#panel .pair-words.both li").all_inner_texts()
    assert all(word in candidates[0] and word in candidates[1] for word in both)
    assert page.locator("#panel .side-by-side svg").count() == 2
    assert page.locator("#panel .side-by-side .quotes").count() == 2
    no_sideways(page)


def test_typical_texts_come_first_and_words_as_in_the_label(show, served):
    topic = next(t for t in served.api("/runs/tickets")["topics"] if not t["named"])
    page = settled(show(f"/?run=tickets&topic={topic['id']}"))
    page.wait_for_selector("#panel ol.terms li")
    assert page.locator("#panel .panel-body h3").first.inner_text() == "Typical texts"
    terms = page.locator("#panel ol.terms li button").all_inner_texts()
    candidates = {one["term"] for one in served.api(f"/runs/tickets/topics/{topic['id']}")["candidates"]}
    words = [word for word in topic["label"].split(", ") if word in candidates]
    assert words == terms[: len(words)] != []


def test_addresses_in_a_row_are_links_and_hostile_ones_are_not(show, served, teams):
    page = settled(show(f"/?run={teams}&row=3"))
    link = page.locator("#panel .cells a")
    link.wait_for()
    assert link.get_attribute("href") == "https://tickets.example.org/3"
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert link.get_attribute("target") == "_blank"
    pieces = page.evaluate(
        """async (texts) => {
          const { linkPieces } = await import("/static/links.js");
          return texts.map((text) => linkPieces(text));
        }""",
        [
            "see https://a.example/x(1), or HTTP://b.example.",
            "javascript:window.hacked=1 data:text/html,x //c.example ftp://d.example",
            "https://bank.example@evil.example/ https:// http://[",
            "https://e.example/\u202egnp.exe \"https://f.example/<b>\"",
            "plain",
        ],
    )  # fmt: skip
    assert [[address for _, address in each if address] for each in pieces] == [
        ["https://a.example/x(1)", "http://b.example/"],
        [],
        [],
        ["https://e.example/", "https://f.example/"],
        [],
    ]
    for each, text in zip(pieces, ["see https://a.example/x(1), or HTTP://b.example."], strict=False):
        assert "".join(piece for piece, _ in each) == text


def test_addresses_in_a_text_are_links_with_its_marks(show, teams):
    page = settled(show(f"/?run={teams}&row=3"))
    page.locator(".of-row .quotes li").first.wait_for()
    heads = page.locator(".of-row h3").all_inner_texts()
    assert heads.index("Its row in the file") < heads.index("Similar texts")
    text = "😀 see https://a.example/parcel, or javascript:parcel now"
    made = page.evaluate(
        """async ([text, marks]) => {
          const { markedLinks } = await import("/static/marks.js"), box = markedLinks(text, marks);
          return [box.textContent, [...box.querySelectorAll("a")].map((one) => [one.href, one.rel]),
            [...box.querySelectorAll("b")].map((one) => [one.textContent, Boolean(one.closest("a"))])];
        }""",
        [text, [[2, 5, "word"], [24, 30, "word"], [46, 52, "word"]]],
    )
    assert made == [
        text,
        [["https://a.example/parcel", "noopener noreferrer"]],
        [["see", False], ["parcel", True], ["parcel", False]],
    ]


def test_a_question_mark_lists_the_keys(show):
    page = settled(show("/?run=tickets"))
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    assert "undo the last edit" in dialog.inner_text()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.locator("#query").focus()
    page.keyboard.type("?")
    assert page.get_by_role("dialog").count() == 0
    assert page.locator("#query").input_value() == "?"


def test_an_edit_is_undone_by_its_message_or_ctrl_z(show, served, live, fresh):
    run = fresh("undone")
    page = settled(show(f"/?run={run}"))
    page.locator(".topics button").first.click()

    def rename(label):
        settled(page)  # the panel is drawn again after an edit, and an open form with it
        page.locator("#panel .rename").click()
        page.get_by_label("Label of the topic").fill(label)
        page.keyboard.press("Enter")
        # the new label stands before the run is written
        until(page, "document.querySelector('.topics .name').textContent === arg", label)
        page.locator(".toast", has_text=f"to '{label}'").wait_for()

    before = page.locator(".topics .name").first.inner_text()
    rename("Parcels")
    toast = page.locator(".toast", has_text="Done: rename")
    assert "Parcels" in toast.inner_text()
    toast.get_by_role("button", name="Undo").click()
    page.locator(".toast", has_text="Undone: rename").wait_for()
    until(page, "document.querySelector('.topics .name').textContent === arg", before)
    assert kinds_of(live, run) == []
    rename("Post")
    rename("Letters")
    assert page.locator(".toast .act").count() == 1  # only the last edit can be undone
    page.locator("#texts-title").click()
    page.keyboard.press("Control+z")
    until(page, "document.querySelector('.topics .name').textContent === 'Post'")
    page.locator(".toast", has_text="Undone: rename topic 0 (Post) to 'Letters'").wait_for()
    page.keyboard.press("Control+z")
    until(page, "document.querySelector('.topics .name').textContent === arg", before)
    page.keyboard.press("Control+z")
    page.locator(".toast", has_text="There is no edit to undo.").wait_for()


def test_the_start_offers_a_sample_and_nothing_that_needs_a_run(show, tmp_path):
    (tmp_path / "empty").mkdir()
    server = Served(tmp_path / "empty")
    try:
        page = show("/", server=server)
        page.get_by_role("button", name="Try it with a sample").wait_for()
        assert not page.locator("#actions").is_visible()
        page.get_by_role("button", name="Try it with a sample").click()
        page.get_by_role("button", name="find topics", exact=True).wait_for()
        assert page.get_by_label("Known classes").input_value() == "team"
        assert "bikes" in page.locator(".start-new").inner_text()
        assert page.locator(".chosen-column strong").inner_text() == "text"
    finally:
        page.close()
        server.stop()


DROP = """(text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "tomorrow.csv", { type: "text/csv" }));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_a_dropped_file_is_assigned_or_becomes_a_run(show, served, teams, tmp_path):
    page = settled(show(f"/?run={teams}"))
    texts = write_texts(tmp_path / "t.csv", 40, seed=9).read_text("utf-8") + "40,2024-01-01,x,zzz qqq\n"
    page.evaluate(DROP, texts)
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="assign with this run").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="save as CSV").click()
    assert saved.value.suggested_filename == "tomorrow-topics.csv"
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text("utf-8-sig"))))
    assert len(rows) == 41
    assert rows[-1]["topic"] == ""
    told = page.locator(".assigned-topics tbody tr")
    shown = {
        one.locator("td").first.inner_text(): int(one.locator("td").nth(1).inner_text()) for one in told.all()
    }
    labels = [row["label"] for row in rows if row["topic"]]
    assert shown == {label: labels.count(label) for label in set(labels)}
    assert set(labels[:4]) == {row["label"] for row in rows if row["topic"]}
    assert len(set(labels)) == len(WORDS)
    assert "41 texts" in dialog.inner_text()
    assert "1 without a topic" in dialog.inner_text()
    page.get_by_role("button", name="close").click()
    page.evaluate(DROP, texts)
    page.get_by_role("dialog").get_by_role("button", name="new run").click()
    page.get_by_role("button", name="find topics", exact=True).wait_for()


def test_only_what_is_well_has_a_tick(show, served):
    page = settled(show("/?run=tickets"))
    told = page.eval_on_selector_all(
        "#panel .checks li",
        "all => all.map(one => [one.textContent, getComputedStyle(one, '::before').content])",
    )
    checks = {one["text"]: one for one in served.api("/runs/tickets")["checks"]}
    assert len(told) == len(checks)
    for text, sign in told:
        check = checks[text.removeprefix("Warning: ")]
        assert sign == ('"!"' if check["look"] else '"✓"' if check["well"] else '"·"')
    assert any(check["well"] for check in checks.values())
    assert any(not check["well"] and not check["look"] for check in checks.values())


def test_both_sides_of_a_comparison_have_colours(show, served):
    page = show("/?run=tickets&view=compare&against=tickets-7")
    page.wait_for_selector(".flows .bar rect")
    answer = served.api("/compare", a="tickets", b="tickets-7")
    shades = page.eval_on_selector_all(".flows .bar rect", "all => all.map(one => one.getAttribute('fill'))")
    assert set(shades) <= {topic["colour"] for topic in answer["a"]}
    sizes = {side: {} for side in ("from", "to")}
    for flow in answer["flows"]:
        for side, known in sizes.items():
            known.setdefault(flow[side], []).append(flow["count"])
    large = [
        flow
        for flow in answer["flows"]
        if all(flow["count"] >= 0.01 * sum(known[flow[side]]) for side, known in sizes.items())
        or any(flow["count"] == max(known[flow[side]]) for side, known in sizes.items())
    ]
    assert page.locator(".flows .band").count() == len(large) < len(answer["flows"])
    wait = page.locator(".as-table summary").inner_text()
    assert str(len(answer["flows"])) in wait


def test_searching_words_of_a_selection_narrows_it(show, served, teams):
    page = settled(show(f"/?run={teams}&class=login"))
    page.wait_for_selector("#panel .contrasts li .link")
    word = page.locator("#panel .contrasts li .link").first.inner_text()
    page.locator("#panel .contrasts li .link").first.click()
    total = served.texts(teams, q=word, **{"class": "login"})["total"]
    wait_total(page, f"{total} of 400")
