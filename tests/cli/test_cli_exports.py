"""Exports of helpdesks and survey tools, as a person types the command: what was decided is said in one line."""

import datetime as dt
import json
import random

import openpyxl
import polars as pl
import pytest
from click.testing import CliRunner

from coterie.cli import main
from coterie.runs import open_run

WORDS = {
    "delivery": "parcel late courier tracking doorstep depot van",
    "billing": "invoice refund charge card receipt payment bank",
}


def coterie(*arguments, code=0):
    out = CliRunner().invoke(main, list(map(str, arguments)))
    assert out.exit_code == code, (out.output, out.exception)
    return out


def tickets(n=60):
    draw = random.Random(1)
    for number in range(n):
        team = list(WORDS)[number % 2]
        subject = "my " + " ".join(draw.sample(WORDS[team].split(), 4))
        yield {
            "id": number,
            "created": dt.date(2025, 1 + number % 12, 1 + number % 28),
            "team": team,
            "subject": subject,
        }


def frame(form=None):
    whole = pl.DataFrame(list(tickets()))
    return whole if form is None else whole.with_columns(pl.col("created").dt.strftime(form))


@pytest.fixture
def fit(tmp_path):
    """`fit(file, …)` gives what was printed and the run."""

    def fitted(file, *options):
        out = coterie("fit", file, "--topics", 2, "--out", tmp_path / "run", *options)
        return out, open_run(tmp_path / "run")

    return fitted


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("%m/%d/%Y", "have the month first, as '01/13/2025' shows (--day-first reads them otherwise)."),
        (
            "%d/%m/%Y 9:05 PM",
            "have the day first, as '13/01/2025 9:05 PM' shows (--month-first reads them otherwise).",
        ),
        ("%d-%m-%Y", "have the day first, as '13-01-2025' shows (--month-first reads them otherwise)."),
        ("%d.%m.%Y", None),
        ("%Y-%m-%d", None),
    ],
)
def test_slash_dates_give_a_timeline(fit, tmp_path, form, said):
    table = frame(form)
    if said:
        assert any(f"'{value}'" in said for value in table["created"])
    table.write_csv(tmp_path / "a.csv")
    out, run = fit(tmp_path / "a.csv", "--date", "created")
    assert (f"The dates in column 'created' {said}" in out.stderr) if said else "dates" not in out.stderr
    assert run.info["data"]["day_first"] == (None if form == "%Y-%m-%d" else form.startswith("%d"))
    assert run.info["warnings"] == []
    months = json.loads(
        coterie("topics", tmp_path / "run", "--over-time", "created", "--every", "month", "--json").stdout
    )
    assert {row["period"] for row in months} == {f"2025-{month:02d}-01" for month in range(1, 13)}


def test_cells_that_stand_for_nothing_stay_as_they_were_given(fit, tmp_path):
    table = frame().with_columns(subject=pl.when(pl.col("id") == 3).then(pl.lit("NULL")).otherwise("subject"))
    assert (table["subject"] == "NULL").sum() == 1
    table.write_csv(tmp_path / "a.csv")
    _, run = fit(tmp_path / "a.csv", "--text", "subject")
    assert run.table["subject"].to_list() == table["subject"].to_list()
    at = table["subject"].to_list().index("NULL")
    assert run.texts()[at] == ""
    assert run.table["reason"][at] == "no known word"
    run.with_texts()  # the same texts as in the fit
    coterie("assign", tmp_path / "run", tmp_path / "a.csv", "--out", tmp_path / "new.csv")
    assert pl.read_csv(tmp_path / "new.csv")["subject"].to_list() == table["subject"].to_list()


def test_open_dates_are_assumed_aloud_and_can_be_set(fit, tmp_path):
    frame().with_columns(created=pl.lit("03/04/2025")).write_csv(tmp_path / "a.csv")
    out, run = fit(tmp_path / "a.csv", "--date", "created")
    sentence = "the dates in column 'created' could begin with the day or the month; '03/04/2025' was read with the day first"
    assert f"T{sentence[1:]} (--month-first reads them otherwise)." in out.stderr
    assert run.info["warnings"] == [sentence]
    out, run = fit(tmp_path / "a.csv", "--date", "created", "--month-first")
    assert "could begin" not in out.stderr
    assert (run.info["warnings"], run.info["data"]["day_first"]) == ([], False)
    shown = coterie("topics", tmp_path / "run", "--over-time", "created", "--every", "month", "--json").stdout
    assert {row["period"] for row in json.loads(shown)} == {"2025-03-01"}  # as in the run
    coterie("edit", "merge", tmp_path / "run", 0, 1)
    assert open_run(tmp_path / "run").info["data"]["day_first"] is False


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["Exported by HelpdeskPro"])
    sheet = book.create_sheet("Tickets")
    for row in [["Tickets of 2025"], [], ["id", "created", "team", " Your\nsubject "]]:
        sheet.append(row)
    for row in tickets():
        sheet.append(list(row.values()))
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_a_workbook_with_notes_and_a_title(fit, workbook):
    out, run = fit(workbook, "--date", "created")
    assert out.stderr.splitlines() == [
        "Reading the sheet 'Tickets', which has more text than 1 other sheet (--sheet NAME reads another).",
        "The column names are in row 3; 1 row above them left out (--header-row N says otherwise).",
        r"The texts are in column 'Your\nsubject', judging by its values (--text NAME names another).",
    ]
    assert run.info["data"]["column"] == "Your\nsubject"
    assert run.info["data"]["notes"][0].startswith("reading the sheet 'Tickets'")
    out, _ = fit(workbook, "--sheet", 2, "--header-row", 3, "--text", "Your subject")
    assert out.stderr == ""
    refused = coterie("fit", workbook, "--sheet", "Ticket", code=2)
    assert "has no sheet 'Ticket'; it has 'Notes', 'Tickets'" in refused.stderr


def test_json_arrays_and_inner_keys(fit, tmp_path):
    rows = [
        {"id": row["id"], "ticket": {"subject": row["subject"], "at": str(row["created"])}}
        for row in tickets()
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    out, run = fit(tmp_path / "a.json", "--text", "ticket.subject", "--date", "ticket.at")
    assert "60 texts" in out.stdout
    assert run.table.columns[:3] == ["id", "ticket.subject", "ticket.at"]


def test_another_encoding_is_read_and_named_by_fit_and_assign(fit, tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes(frame().with_columns(pl.col("subject") + " à café").write_csv().encode("cp1252"))
    out, _ = fit(file)
    assert "The text encoding is Windows-1252 (--encoding sets another)." in out.stderr
    out = coterie("assign", tmp_path / "run", file)
    assert "Windows-1252" in out.stderr
    assert "à café" in out.stdout


def test_assign_tells_the_true_reason(fit, tmp_path):
    frame().write_csv(tmp_path / "a.csv")
    fit(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes(b"id,subject\n1,a,b\n")
    assert (
        "line 2: expected 2 cells, found 3"
        in coterie("assign", tmp_path / "run", tmp_path / "b.csv", code=2).stderr
    )
    frame().rename({"subject": "body"}).write_csv(tmp_path / "c.csv")
    out = coterie("assign", tmp_path / "run", tmp_path / "c.csv")
    assert "The texts are in column 'body', judging by its values (--text NAME names another)." in out.stderr
    assert len(out.stdout.splitlines()) == 61


def test_columns_are_listed_where_none_looks_like_texts(tmp_path):
    (tmp_path / "a.csv").write_text("id,key\n1,a7\n2,b8\n")
    out = coterie("fit", tmp_path / "a.csv", code=2)
    assert "it has 'id', 'key'; --text NAME says which one holds the texts" in out.stderr
    assert "column=" not in out.stderr


def test_excel_in_and_excel_out(fit, workbook, tmp_path):
    pytest.importorskip("xlsxwriter")
    fit(workbook, "--date", "created", "--class-column", "team")
    coterie("assign", tmp_path / "run", workbook, "--out", tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert [cell.value for cell in sheet[1]][-5:] == ["topic", "label", "confidence", "second", "reason"]
    assert sheet.max_row == 61
    coterie("topics", tmp_path / "run", "--out", tmp_path / "run/topics.xlsx")
    book = openpyxl.load_workbook(tmp_path / "run/topics.xlsx")
    assert book.sheetnames == ["topics", "typical texts", "over time", "what grew", "by class"]
    assert sum(row[2].value for row in list(book["topics"])[1:]) == 60
    assert {row[2].value.month for row in list(book["over time"])[1:]} == set(range(1, 13))
    assert {row[2].value for row in list(book["by class"])[1:]} == set(WORDS)


def test_formulas_in_texts_are_texts_in_excel(fit, tmp_path):
    pytest.importorskip("xlsxwriter")
    frame().with_columns("=cmd() " + pl.col("subject")).write_csv(tmp_path / "a.csv")
    fit(tmp_path / "a.csv", "--text", "subject")
    coterie("assign", tmp_path / "run", tmp_path / "a.csv", "--out", tmp_path / "out.xlsx")
    coterie("topics", tmp_path / "run", "--out", tmp_path / "topics.xlsx")
    kinds = {
        cell.data_type
        for name in ("out.xlsx", "topics.xlsx")
        for sheet in openpyxl.load_workbook(tmp_path / name)
        for row in sheet
        for cell in row
    }
    assert "f" not in kinds
