"""Texts in a real browser: search, filters, order, pages, marks, export."""

import io

import polars as pl
import pytest
from explore_pages import numbers, rows, settled, until, wait_total


def search(page, words, mode="words"):
    page.locator("#query").fill(words)
    page.locator(f"#search [name=mode][value={mode}]").check()
    page.locator("#query").press("Enter")


def test_search_by_words_marks_them(show, served, twenty):
    page = settled(show(f"/?run={twenty}"))
    search(page, "subversion")
    found = served.texts(twenty, q="subversion", limit=50)
    wait_total(page, f"{found['total']:,} of 20,000")
    assert numbers(page) == [text["row"] for text in found["rows"]]
    assert all("subversion" in line[4].lower() for line in rows(page))
    assert page.locator("tbody mark.query").first.inner_text().lower() == "subversion"
    assert page.locator(".map-said").inner_text().startswith(f"{found['total']:,} texts match")
    search(page, "nosuchwordatall")
    page.get_by_text("No text matches").wait_for()
    page.get_by_role("button", name="clear filters").click()
    wait_total(page, "20,000 texts")
    assert page.locator("#query").input_value() == ""


def test_search_by_meaning_finds_texts_without_the_word_and_says_through_which(show, served, twenty):
    page = settled(show(f"/?run={twenty}"))
    search(page, "subversion", "meaning")
    page.wait_for_selector("td.c-reason i.related")
    settled(page)
    found = served.texts(twenty, q="subversion", mode="meaning", sort="match", descending="true", limit=50)
    assert numbers(page) == [text["row"] for text in found["rows"]]
    assert page.locator(".explained").inner_text().startswith("Near subversion: also ")
    without = []
    while not without:  # on some page the texts without the word begin
        first = numbers(page)[0]
        page.get_by_label("Next page").click()
        until(page, "Number(document.querySelector('tbody tr').dataset.row) !== arg", first)
        settled(page)
        without = [line for line in rows(page) if "subversion" not in line[4].lower()]
    row, *_, text, reason = without[0][:6]
    assert reason.startswith("through "), reason
    named = [word.strip(" ,") for word in reason.removeprefix("through ").split(",")]
    assert any(word.lower() in text.lower() for word in named), (row, text, reason)
    assert page.locator(f"tr[data-row='{row}'] .c-text i.related").count() > 0


def test_filters_narrow_the_texts_and_are_chips(show, served):
    page = settled(show("/?run=tickets"))
    page.get_by_role("button", name="filter").click()
    form = page.get_by_role("form", name="Filters of the texts")
    form.get_by_label("Confidence from").fill("0.3")
    form.get_by_label("Confidence to").fill("0.45")
    wait_total(page, f"{served.texts('tickets', least=0.3, most=0.45)['total']} of 1,517")
    assert all(0.3 <= float(line[3]) <= 0.45 for line in rows(page))
    overview = served.api("/runs/tickets")
    offered = form.get_by_role("combobox", name="class", exact=True)
    assert offered.locator("option").count() == len(overview["classes"]) + 1
    wanted = overview["classes"][1]["name"]
    offered.select_option(label=f"{wanted} · {overview['classes'][1]['count']}")
    query = {"least": 0.3, "most": 0.45, "class": wanted}
    wait_total(page, f"{served.texts('tickets', **query)['total']} of 1,517")
    assert {line[6] for line in rows(page)} == {wanted}
    assert form.get_by_label("from", exact=True).get_attribute("min") == overview["dates"]["first"]
    form.get_by_label("from", exact=True).fill("2025-03-01")
    form.get_by_label("to", exact=True).fill("2025-06-30")
    query |= {"since": "2025-03-01", "until": "2025-06-30"}
    wait_total(page, f"{served.texts('tickets', **query)['total']} of 1,517")
    assert all("2025-03-01" <= line[7] <= "2025-06-30" for line in rows(page))
    chips = page.locator("#texts-filters .chip").all_inner_texts()
    assert [chip.removesuffix("×").strip() for chip in chips] == [
        "confidence 0.30 to 0.45", f"class: {wanted}", "2025-03-01 to 2025-06-30",
    ]  # fmt: skip
    page.locator("#texts-filters").get_by_label("Take away: dates").click()
    wait_total(
        page, f"{served.texts('tickets', **{'least': 0.3, 'most': 0.45, 'class': wanted})['total']} of 1,517"
    )
    page.get_by_role("button", name="clear all").click()
    wait_total(page, "1,517 texts")
    form.get_by_label("Texts shown").select_option("no")
    wait_total(page, f"{served.texts('tickets', known='false')['total']} of 1,517")


def test_columns_sort_and_pages_turn(show, served):
    page = settled(show("/?run=tickets"))

    def sorted_by(column, **query):
        page.locator("thead").get_by_role("button", name=column).click()
        found = served.texts("tickets", limit=50, **query)
        until(page, "document.querySelector('tbody tr')?.dataset.row === arg", str(found["rows"][0]["row"]))
        settled(page)
        assert numbers(page) == [text["row"] for text in found["rows"]]

    sorted_by("conf.", sort="confidence")
    values = [float(line[3]) for line in rows(page)]
    assert values == sorted(values)
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    sorted_by("conf.", sort="confidence", descending="true")
    assert float(rows(page)[0][3]) > 0.6
    sorted_by("date", sort="date", descending="true")
    sorted_by("text", sort="length", descending="true")
    sorted_by("class", sort="class")
    page.get_by_label("Order of the texts").select_option("row")
    until(page, "document.querySelector('tbody tr').dataset.row === '0'")
    page.locator(".topics button").first.click()
    topic = served.api("/runs/tickets")["topics"][0]["id"]
    found = served.texts("tickets", topic=topic, limit=200)
    wait_total(page, f"{found['total']} of 1,517")
    found["rows"] += served.texts("tickets", topic=topic, limit=200, offset=200)["rows"]
    wanted, seen = [text["row"] for text in found["rows"]], numbers(page)
    assert found["total"] == len(wanted) > 200
    while not page.get_by_label("Next page").is_disabled():
        page.get_by_label("Next page").click()
        until(page, "document.querySelector('tbody tr').dataset.row === arg", str(wanted[len(seen)]))
        settled(page)
        seen += numbers(page)
    assert seen == wanted
    page.get_by_label("Page before").click()
    last = (len(wanted) - 1) // 50 * 50
    until(page, "document.querySelector('.pages .number').textContent === arg", f"{last - 49}–{last}")


def test_deep_pages_of_many_texts(show, served, twenty):
    page = settled(show(f"/?run={twenty}&sort=confidence&descending=true&offset=19950"))
    found = served.texts(twenty, sort="confidence", descending="true", offset=19950, limit=50)
    assert numbers(page) == [text["row"] for text in found["rows"]]
    assert page.get_by_label("Next page").is_disabled()
    page.goto(page.url.replace("19950", "900000"))  # an old link: the last page there is
    until(page, "new URL(location).searchParams.get('offset') === '19950'")
    settled(page)
    assert numbers(page) == [text["row"] for text in found["rows"]]


def test_texts_are_marked_by_mouse_and_keys_on_several_pages(show):
    page = settled(show("/?run=tickets"))
    boxes = page.locator("td.c-pick input")
    boxes.nth(1).click()
    boxes.nth(3).click(modifiers=["Shift"])
    tools = page.locator(".picks")
    assert tools.locator("strong").inner_text() == "3 marked"
    assert not page.locator(".of-row").is_visible()  # a mark opens nothing
    page.get_by_label("Next page").click()
    until(page, "document.querySelector('tbody tr').dataset.row === '50'")
    settled(page)
    page.locator("tbody tr").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert tools.locator("strong").inner_text() == "5 marked"
    page.keyboard.press("Space")
    assert tools.locator("strong").inner_text() == "4 marked"
    page.get_by_label("Page before").click()
    until(page, "document.querySelector('tbody tr').dataset.row === '0'")
    settled(page)
    assert [box.is_checked() for box in boxes.all()[:5]] == [False, True, True, True, False]
    head = page.get_by_label("Mark all texts of this page")
    assert head.evaluate("box => box.indeterminate")
    head.check()
    assert tools.locator("strong").inner_text() == "51 marked"
    page.get_by_label("Clear the selection").click()
    tools.wait_for(state="detached")
    assert not any(box.is_checked() for box in boxes.all())


def test_export_says_every_filter(show, served, teams):
    columns = served.api(f"/runs/{teams}/counts")["columns"]
    number = next(one["column"] for one in columns if one["name"] == "team")
    page = settled(
        show(f"/?run={teams}&class=shipping&only={number}:south&only={number}:east%3A%201&since=2024-02-01")
    )
    until(page, "document.querySelector('#texts-filters').textContent.includes('team: south')")
    page.get_by_role("button", name="export").click()
    page.locator("dialog .selection li").nth(2).wait_for()
    assert page.locator("dialog .selection li").all_inner_texts() == [
        "class shipping", "team south or east: 1", "since 2024-02-01",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_export_is_what_is_selected(show, served, live, kind):
    page = settled(show("/?run=tickets&topic=1&least=0.3&q=box"))
    page.get_by_role("button", name="export").click()
    dialog = page.get_by_role("dialog")
    found = served.texts("tickets", topic=1, least=0.3, q="box", limit=200)
    assert 0 < found["total"] <= 200
    until(
        page,
        "document.querySelector('dialog .sum').textContent.startsWith(arg)",
        f"{found['total']} of 1,517 texts",
    )
    told = dialog.locator(".selection li").all_inner_texts()
    assert [part.split()[0] for part in told] == ["topic", "with", "confidence"]
    dialog.locator(f"[value={kind}]").check()
    with page.expect_download() as saved:
        dialog.get_by_role("link", name="save the file").click()
    assert saved.value.suggested_filename == f"tickets.{kind}"
    content = saved.value.path().read_bytes()
    table = pl.read_csv(io.BytesIO(content)) if kind == "csv" else pl.read_parquet(io.BytesIO(content))
    assert table["text"].to_list() == [text["text"] for text in found["rows"]]
    assert table["topic"].unique().to_list() == [1]
    assert table["confidence"].to_list() == pytest.approx(
        [text["confidence"] for text in found["rows"]], abs=6e-5
    )
    dialog.wait_for(state="detached")


def test_the_report_opens(show):
    page = settled(show("/?run=tickets"))
    with page.expect_popup() as opened:
        page.get_by_role("link", name="report of this run").click()
    report = opened.value
    report.wait_for_selector(".card")
    assert report.title() == "Topics of tickets.csv"
    assert report.locator(".card").count() == 9
    with page.expect_popup() as opened:
        page.get_by_role("link", name="API").click()
    docs = opened.value
    docs.wait_for_selector(".request")
    paths = {path.strip() for path in docs.locator(".request h3 code").all_inner_texts()}
    assert {"/api/runs/{run}/texts", "/api/runs/{run}/edits", "/api/compare"} <= paths
