"""What changes runs, in a real browser: edits, refit, comparing, a new run from a file."""

import json
import re
import shutil

import openpyxl
import pytest
from explore_pages import kinds_of, log_of, numbers, rows, settled, until, wait_total
from explore_runs import write_texts


def run_json(live, run):
    return json.loads((live / run / "run.json").read_text("utf-8"))


def done(page):
    """Wait until the dialog of a change is gone, and what it changed is drawn."""
    page.get_by_role("dialog").wait_for(state="detached")
    settled(page)


def test_a_label_that_is_being_typed_stays_when_the_panel_is_drawn_again(show, fresh):
    run = fresh("typing")
    page = settled(show(f"/?run={run}&topic=1"))
    page.locator("#panel .rename").click()
    box = page.get_by_label("Label of the topic")
    box.fill("half a na")
    page.locator("#panel .measures").evaluate("element => { element.id = 'drawn-before'; }")
    page.evaluate("""async () => {
      const { state, update } = await import("/static/state.js");
      update({ overview: { ...state.overview } });
    }""")
    until(page, "!document.getElementById('drawn-before')")
    page.keyboard.type("me")
    assert box.input_value() == "half a name"
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#panel h2 bdi')?.textContent === 'half a name'")


def test_rename_in_place_and_undo(show, served, live, fresh):
    run = fresh("renamed")
    page = settled(show(f"/?run={run}&topic=1"))
    before = page.locator("#panel h2 bdi").inner_text()
    page.locator("#panel .rename").click()
    box = page.get_by_label("Label of the topic")
    box.fill("t[ ] parcels & boxes")  # keys of the page are letters here
    page.keyboard.press("Escape")
    assert page.locator("#panel h2 bdi").inner_text() == before
    page.locator("#panel .rename").click()
    box.press_sequentially("t[/] parcels")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#panel h2').textContent.startsWith('t[/] parcels')")
    until(page, "document.querySelector('#texts-list tbody tr').textContent.includes('t[/] parcels')")
    settled(page)
    assert "t[/] parcels" in page.locator(".topics .name").all_inner_texts()
    assert rows(page)[0][2] == "t[/] parcels"
    assert log_of(page) == [f"rename topic 1 ({before}) to 't[/] parcels'"]
    assert kinds_of(live, run) == ["rename"]
    page.locator("#actions [data-do=edit]").click()
    page.get_by_role("button", name="undo the last edit").click()
    done(page)
    until(page, "document.querySelector('#panel h2 bdi')?.textContent === arg", before)
    assert kinds_of(live, run) == []
    page.locator("#actions [data-do=edit]").click()
    assert page.get_by_role("button", name="undo the last edit").is_disabled()


def test_merge(show, served, live, fresh):
    run = fresh("merged")
    page = settled(show(f"/?run={run}&topic=1"))
    sizes = {topic["id"]: topic["size"] for topic in served.api(f"/runs/{run}")["topics"]}
    page.get_by_role("button", name="merge…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("% alike").first.wait_for()  # the neighbours stand first
    assert dialog.get_by_role("button", name="merge", exact=True).is_disabled()
    dialog.locator(".pick input").first.check()
    other = int(dialog.locator(".pick .id").first.inner_text())
    assert f"2 topics become one with {sizes[1] + sizes[other]} texts" in dialog.locator(".sum").inner_text()
    dialog.get_by_role("button", name="merge", exact=True).click()
    done(page)
    until(page, "document.querySelectorAll('.topics button').length === 8")
    left = {topic["id"]: topic["size"] for topic in served.api(f"/runs/{run}")["topics"]}
    assert other not in left
    assert left[1] == sizes[1] + sizes[other]
    assert kinds_of(live, run) == ["merge"]
    assert log_of(page)[0].startswith(f"merge topic {other} ")


def test_split(show, served, live, fresh):
    run = fresh("split")
    page = settled(show(f"/?run={run}&topic=0"))
    page.get_by_role("button", name="split…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Parts").fill("3")
    dialog.get_by_role("button", name="split", exact=True).click()
    done(page)
    until(page, "document.querySelectorAll('.topics button').length === 11")
    assert kinds_of(live, run) == ["split"]
    assert log_of(page)[0].endswith("into 3")


def test_ban(show, served, live, fresh):
    run = fresh("banned")
    page = settled(show(f"/?run={run}&topic=2"))
    term = served.api(f"/runs/{run}/topics/2")["terms"][0]
    page.get_by_role("button", name="ban a term…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="ban", exact=True).click()
    dialog.get_by_text("Choose a term").wait_for()
    dialog.get_by_label(term, exact=True).check()
    dialog.get_by_role("button", name="ban", exact=True).click()
    done(page)
    assert log_of(page) == [f"ban {term!r}"]
    assert kinds_of(live, run) == ["ban"]
    assert all(term not in topic["terms"] for topic in served.api(f"/runs/{run}")["topics"])


def test_move_one_text_from_its_panel_and_several_by_their_marks(show, served, live, fresh):
    run = fresh("moved")
    page = settled(show(f"/?run={run}&topic=0&row={numbers_of(served, run)[0]}"))
    page.wait_for_selector(".of-row")
    row = numbers_of(served, run)[0]
    page.get_by_role("button", name="move to another topic…").click()
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_role("button", name="move", exact=True).is_disabled()
    dialog.locator("blockquote").wait_for()
    dialog.get_by_label("Find a topic by its words").fill(served.api(f"/runs/{run}/topics/3")["label"])
    dialog.locator(".pick input").check()
    dialog.get_by_role("button", name="move", exact=True).click()
    done(page)
    assert served.api(f"/runs/{run}/texts/{row}")["topic"] == 3
    assert kinds_of(live, run) == ["pin"]
    page.keyboard.press("Escape")
    total = served.texts(run, topic=0)["total"]
    wait_total(page, f"{total} of 1,517")
    page.locator("tbody tr").first.focus()
    for _ in range(3):
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    marked = numbers(page)[:3]
    page.get_by_role("button", name="Move the 3 marked texts").click()
    assert dialog.locator("h2").inner_text() == "Move 3 texts"
    dialog.get_by_label("Find a topic by its words").fill(served.api(f"/runs/{run}/topics/2")["label"])
    dialog.locator(".pick input").check()
    dialog.get_by_role("button", name="move", exact=True).click()
    done(page)
    left = served.texts(run, topic=0)["total"]
    assert left <= total - 3  # texts that read the same move together
    wait_total(page, f"{left} of 1,517")
    assert [served.api(f"/runs/{run}/texts/{each}")["topic"] for each in marked] == [2, 2, 2]
    page.locator(".picks").wait_for(state="detached")
    assert set(kinds_of(live, run)) == {"pin"}
    assert len(log_of(page)) == len(kinds_of(live, run)) >= 2


def numbers_of(served, run):
    return [text["row"] for text in served.texts(run, topic=0)["rows"]]


def test_two_pages_at_once_are_told_that_the_run_changed(show, live, fresh):
    show.allowed.append(
        re.compile(r"Failed to load resource: the server responded with a status of 409 \(Conflict\)")
    )
    run = fresh("twice")
    one, other = settled(show(f"/?run={run}&topic=1")), settled(show(f"/?run={run}&topic=1"))
    other.get_by_role("button", name="split…").click()
    one.locator("#panel .rename").click()
    one.get_by_label("Label of the topic").fill("first")
    one.keyboard.press("Enter")
    until(one, "document.querySelector('#panel h2').textContent.startsWith('first')")
    other.get_by_role("dialog").get_by_role("button", name="split", exact=True).click()
    other.get_by_role("button", name="reload").click()
    until(other, "document.querySelector('#panel h2').textContent.startsWith('first')")
    assert kinds_of(live, run) == ["rename"]


def test_refit_in_the_background_with_progress(show, served, live, fresh):
    run = fresh("refitted")
    page = settled(show(f"/?run={run}&topic=1"))
    page.locator("#panel .rename").click()
    page.get_by_label("Label of the topic").fill("kept name")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#panel h2').textContent.startsWith('kept name')")
    page.locator("#actions [data-do=edit]").click()
    page.get_by_role("button", name="find topics again with these edits…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("this many").check()
    dialog.get_by_label("Number of topics").fill("8")
    dialog.get_by_label("a new run named").check()
    dialog.get_by_label("Name of the new run").fill("refitted-eight")
    page.evaluate(
        """() => {
          const jobs = document.getElementById("jobs");
          window.stages = new Set();
          window.bars = 0;
          new MutationObserver(() => {
            window.stages.add(jobs.textContent);
            window.bars += jobs.querySelectorAll("[role=progressbar]").length;
          }).observe(jobs, { subtree: true, childList: true, characterData: true, attributes: true });
        }"""
    )
    dialog.get_by_role("button", name="find topics again", exact=True).click()
    dialog.wait_for(state="detached")
    page.locator("#jobs .job.done").wait_for()
    assert page.evaluate("window.bars") > 0
    assert page.evaluate("window.stages.size") > 2  # it was told how far it is
    page.locator("#jobs").get_by_role("button", name="open it").click()
    try:
        until(page, "document.getElementById('run').value === 'refitted-eight'")
        until(page, "document.querySelectorAll('.topics button').length === 8")
        settled(page)
        assert "kept name" in page.locator(".topics .name").all_inner_texts()  # edits were applied again
        assert kinds_of(live, "refitted-eight") == ["rename"]
        assert len(served.api(f"/runs/{run}")["topics"]) == 9
    finally:
        shutil.rmtree(live / "refitted-eight")


def test_a_refit_can_be_cancelled(show, served, live, fresh, twenty):
    run = fresh("stopped", of=twenty)
    page = settled(show(f"/?run={run}"))
    before = run_json(live, run)
    page.locator("#actions [data-do=edit]").click()
    page.get_by_role("button", name="find topics again…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("estimate it").check()
    dialog.get_by_role("button", name="find topics again", exact=True).click()
    dialog.wait_for(state="detached")
    page.locator("#jobs [role=progressbar]").wait_for()
    page.reload()  # jobs live on the server
    settled(page)
    page.locator("#jobs").get_by_role("button", name="Cancel").click()
    until(
        page,
        "[...document.querySelectorAll('.toast')].some((one) => one.textContent.startsWith('Cancelled: '))",
    )
    page.locator("#jobs .job").wait_for(state="detached")
    assert [job["state"] for job in served.api("/jobs")["jobs"] if job["run"] == run] == ["cancelled"]
    assert run_json(live, run) == before
    assert page.locator(".topics button").count() == 20


def test_compare_two_runs(show, served):
    page = settled(show("/?run=tickets"))
    page.get_by_role("button", name="compare").click()
    page.get_by_text("Choose a run to compare with.").wait_for()
    page.get_by_label("after:").select_option("tickets-7")
    page.wait_for_selector(".flows")
    found = served.api("/compare", a="tickets", b="tickets-7")
    said = page.locator(".summary").inner_text()
    assert said.startswith(f"{found['moved']} of {found['common']:,} texts")
    assert said.endswith("Before 9 topics, after 7.")
    headings = [heading.split(" · ")[0] for heading in page.locator(".changes h3").all_inner_texts()]
    known = {
        "merged": "merged",
        "split": "split",
        "born": "new",
        "gone": "gone",
        "kept": "kept, with the share of their texts",
    }
    assert headings == [title for key, title in known.items() if found[key]]
    assert page.locator(".flows .bar").count() == len({flow["from"] for flow in found["flows"]}) + len(
        {flow["to"] for flow in found["flows"]}
    )
    bar = page.locator(".flows .bar").first
    bar.focus()
    until(page, "document.querySelector('.readout').textContent.includes(' goes to ')")
    assert page.locator(".flows .band.on").count() >= 1
    page.locator(".as-table summary").click()
    page.wait_for_selector(".as-table td")
    counts = [
        int(text.replace(",", "")) for text in page.locator(".as-table td:nth-child(3)").all_inner_texts()
    ]
    assert counts == sorted((flow["count"] for flow in found["flows"]), reverse=True)
    address = page.url
    page.get_by_role("button", name="swap").click()
    until(page, "document.querySelector('.summary')?.textContent.endsWith('Before 7 topics, after 9.')")
    page.go_back()
    until(page, "document.querySelector('.summary')?.textContent.endsWith('Before 9 topics, after 7.')")
    other = show(address[address.index("/?") :])
    other.wait_for_selector(".flows")
    assert other.locator(".summary").inner_text() == said


def drop(page, path, on=".drop"):
    """Drop a file on the page as a person does: a DataTransfer with the file in it."""
    carried = page.evaluate_handle(
        """([name, text]) => {
          const carried = new DataTransfer();
          carried.items.add(new File([text], name, { type: "text/csv" }));
          return carried;
        }""",
        [path.name, path.read_text("utf-8")],
    )
    for name in ("dragenter", "dragover"):
        page.dispatch_event(on, name, {"dataTransfer": carried})
    assert on != ".drop" or page.locator(on).evaluate("zone => zone.classList.contains('over')")
    page.dispatch_event(on, "drop", {"dataTransfer": carried})


@pytest.mark.parametrize("how", ["drop", "button"])
def test_a_file_becomes_a_run(show, served, live, tmp_path, how):
    page = settled(show("/?run=tickets"))
    page.select_option("#run", "")
    page.wait_for_selector(".drop")
    source = write_texts(tmp_path / f"by {how}.csv")
    if how == "drop":
        drop(page, source)
    else:
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="choose a file").click()
        chooser.value.set_files(source)
    page.wait_for_selector(".preview")
    assert page.locator(".chosen-column").inner_text().startswith("The texts are in text.")
    said = page.locator(".start-new").inner_text()
    assert "null" not in said
    assert "could not be read" not in said
    assert [cell.split("\n")[0] for cell in page.locator(".preview th").all_inner_texts()] == [
        "id",
        "date",
        "class",
        "text",
    ]
    page.locator(".preview th button", has_text="class").click()
    assert page.locator(".chosen-column").inner_text().startswith("The texts are in class.")
    page.locator(".preview th button").nth(3).click()
    assert page.get_by_label("Dates").input_value() == "date"
    assert page.get_by_label("Known classes").input_value() == "class"
    page.get_by_label("this many").check()
    page.get_by_label("Number of topics").fill("4")
    name = f"by-{how}"
    assert page.get_by_label("Name of the run").input_value() == name
    page.get_by_role("button", name="find topics", exact=True).click()
    page.locator(".drop.waiting [role=progressbar]").wait_for()
    until(page, "new URL(location).searchParams.get('run') === arg", name)
    try:
        until(page, "document.querySelectorAll('.topics button').length === 4")
        settled(page)
        assert page.locator("#facts").inner_text().split("\n") == [source.name, "160 texts", "4 topics"]
        wait_total(page, "160 texts")
    finally:
        shutil.rmtree(live / name)


def test_a_file_may_be_dropped_anywhere(show, tmp_path):
    page = settled(show("/?run=tickets"))
    drop(page, write_texts(tmp_path / "anywhere.csv"), on="#topics-list")
    page.get_by_role("dialog").get_by_role("button", name="new run").click()
    page.wait_for_selector(".preview")
    assert page.locator(".start strong", has_text="anywhere.csv").count() == 1
    drop(page, write_texts(tmp_path / "beside.csv"), on="#top")
    page.locator(".start strong", has_text="beside.csv").wait_for()


def test_a_file_whose_fit_was_cancelled_can_be_fitted_again(show, served, live, tmp_path):
    page = show("/?view=start")
    page.wait_for_selector(".drop")
    drop(page, write_texts(tmp_path / "slow.csv", 20_000))
    page.wait_for_selector(".preview")
    page.get_by_role("button", name="find topics", exact=True).click()
    page.get_by_role("button", name="cancel", exact=True).first.click()
    page.wait_for_selector(".preview")
    assert page.locator(".settings .look").inner_text() == "Cancelled."
    page.get_by_role("button", name="find topics", exact=True).click()
    page.locator(".drop.waiting [role=progressbar]").wait_for()
    page.get_by_role("button", name="cancel", exact=True).first.click()
    page.wait_for_selector(".preview")
    assert not (live / "slow").exists()


def test_rows_that_cannot_be_read_are_told_before_the_fit(show, tmp_path):
    page = show("/?view=start")
    page.wait_for_selector(".drop")
    report = tmp_path / "report.csv"
    report.write_text("id,subject,team\n" + "1,late parcel,north\n" * 30 + "total,30\n" * 3)
    drop(page, report)
    page.wait_for_selector(".preview")
    assert re.search(
        r"\d+ rows could not be read and would be left out", page.locator(".start-new .look").inner_text()
    )


def test_a_workbook_shows_its_table_and_lets_one_choose(show, served, live, tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["Exported by HelpdeskPro"])
    book.active.append(["please do not reply"])
    sheet = book.create_sheet("Tickets")
    for row in [["Tickets of May"], [], ["id", "created", "subject"]]:
        sheet.append(row)
    for number in range(60):
        words = ["parcel late courier", "refund card invoice"][number % 2]
        sheet.append([number, f"{1 + number % 12}/{1 + number % 9}/2025", f"my {words} {number % 7}"])
    book.save(tmp_path / "export.xlsx")
    page = show("/?view=start")
    page.wait_for_selector(".drop")
    page.locator("input[type=file]").set_input_files(tmp_path / "export.xlsx")
    page.wait_for_selector(".preview")
    assert page.get_by_label("Sheet").input_value() == "Tickets"
    assert page.get_by_label("Column names in row").input_value() == "3"
    assert page.locator(".chosen-column").inner_text().startswith("The texts are in subject.")
    page.get_by_label("Sheet").select_option("Notes")
    page.locator(".preview th", has_text="Exported by HelpdeskPro").wait_for()
    page.get_by_label("Sheet").select_option("Tickets")
    page.locator(".preview th", has_text="subject").wait_for()
    page.get_by_label("Dates").select_option("")
    assert not page.get_by_label("3/4/2025 is").is_visible()
    page.get_by_label("Dates").select_option("created")
    page.get_by_label("3/4/2025 is").select_option("month")
    page.get_by_label("this many").check()
    page.get_by_label("Number of topics").fill("2")
    page.get_by_role("button", name="find topics", exact=True).click()
    until(page, "new URL(location).searchParams.get('run') === arg", "export")
    try:
        settled(page)
        data = json.loads((live / "export/run.json").read_text())["data"]
        assert (data["column"], data["date"], data["day_first"], data["texts"]) == (
            "subject",
            "created",
            False,
            60,
        )
    finally:
        shutil.rmtree(live / "export")


def test_a_column_must_be_chosen_where_none_looks_like_texts(show, tmp_path):
    (tmp_path / "keys.csv").write_text("id,key\n1,a7\n2,b8\n3,c9\n")
    page = show("/?view=start")
    page.wait_for_selector(".drop")
    drop(page, tmp_path / "keys.csv")
    page.wait_for_selector(".preview")
    fit = page.get_by_role("button", name="find topics", exact=True)
    assert fit.is_disabled()
    assert "Click the header of the column with the texts" in page.locator(".chosen-column").inner_text()
    page.locator(".preview th button", has_text="key").click()
    assert fit.is_enabled()


def test_a_file_that_cannot_be_read_is_told(show, tmp_path):
    show.allowed.append(
        re.compile(r"Failed to load resource: the server responded with a status of 4\d\d \(.*\)")
    )
    page = show("/?view=start")
    page.wait_for_selector(".drop")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no such thing")
    page.locator("input[type=file]").set_input_files(tmp_path / "broken.parquet")
    page.locator(".drop .look").wait_for()
    assert "could not be read as Parquet" in page.locator(".drop .look").inner_text()
    page.get_by_role("button", name="choose a file").wait_for()


def test_the_start_lists_runs_and_opens_them(show, served):
    page = show("/?view=start")
    page.wait_for_selector(".run-card")
    listed = {run["name"] for run in served.api("/runs")["runs"]}
    assert set(page.locator(".run-card strong").all_inner_texts()) == listed
    page.locator(".run-card", has_text="crowd").click()
    wait_total(page, "24,000 texts")
    page.go_back()
    page.wait_for_selector(".run-card")
