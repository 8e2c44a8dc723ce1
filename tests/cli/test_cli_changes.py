"""What grew, as a person types it: the table, the order, the files, and classes by the hundred."""

import json
import random

import polars as pl
import pytest
from click.testing import CliRunner

from coterie.cli import main
from coterie.cli.grouped import grouped
from coterie.runs import open_run
from coterie.storage.tables import read_csv
from coterie.topics import TopicModel

WORDS = {
    "delivery": ["parcel", "late", "courier", "tracking", "doorstep", "delivery", "depot", "van"],
    "billing": ["invoice", "refund", "charge", "card", "receipt", "payment", "bank", "tax"],
    "login": ["password", "login", "account", "reset", "email", "locked", "code", "browser"],
}
HOSTILE = "\x1b[31m<b>=1+1"


def coterie(*arguments, code=0):
    out = CliRunner().invoke(main, list(map(str, arguments)), env={"COLUMNS": "200"})
    assert out.exit_code == code, (out.output, out.exception)
    return out


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A run of eleven months, and half of a twelfth in which deliveries go from a third to two thirds."""
    draw = random.Random(0)
    rows = []
    for month in range(1, 13):
        for number in range(120 if month < 12 else 90):
            subject = list(WORDS)[number % 3] if month < 12 or number % 2 else "delivery"
            day = number % 28 + 1 if month < 12 else number % 15 + 1
            text = " ".join(draw.sample(WORDS[subject], 4))
            desk = HOSTILE if number % 10 == 0 else f"desk {number % 100}"
            rows.append((text, subject, desk, f"2025-{month:02d}-{day:02d}", None))
    file = tmp_path_factory.mktemp("grown") / "tickets.csv"
    pl.DataFrame(rows, schema=["subject", "team", "desk", "date", "never"], orient="row").write_csv(file)
    out = coterie(
        "fit", file, "--text", "subject", "--topics", 3, "--date", "date", "--out", file.parent / "run"
    )
    assert f"coterie topics {file.parent / 'run'} --over-time date" in out.stdout
    return file.parent / "run"


def lines_of(out, words):
    """Lines of a table that name a topic or class, in order."""
    found = [line for line in out.stdout.splitlines() if "│" in line]
    return [next(word for word in words if word in line) for line in found if any(w in line for w in words)]


def topic_words(run):
    """The label of each topic, by its subject."""
    labels = {}
    for topic in open_run(run).model.topics:
        labels[next(name for name, words in WORDS.items() if topic.terms[0] in words)] = topic.label
    return labels


def test_over_time_says_what_grew(grown):
    out = coterie("topics", grown, "--over-time", "date", "--every", "month")
    assert "texts by period" in out.stdout
    assert "1 to 15 December 2025 against November 2025 (month before)" in out.stdout
    assert "January to November 2025 (earlier months)" in out.stdout
    labels = topic_words(grown)
    changes = out.stdout.split("against November")[1].splitlines()
    arrows = {name: next(line for line in changes if label in line) for name, label in labels.items()}
    assert arrows["delivery"].count("↑") == 2
    assert "+33.3 (+" in arrows["delivery"]
    assert "↑" not in arrows["billing"]
    assert "−16.7 (−" in arrows["billing"]


def test_growth_orders_topics(grown):
    labels = topic_words(grown)
    out = coterie("topics", grown, "--over-time", "date", "--changes", "--sort", "growth")
    assert lines_of(out, labels.values())[0] == labels["delivery"]
    assert "texts by period" not in out.stdout
    said = json.loads(
        coterie("topics", grown, "--over-time", "date", "--changes", "--json", "--sort", "growth").stdout
    )
    main_rows = [row for row in said if row["against"] == "earlier months"]
    assert [row["change"] for row in main_rows] == sorted((r["change"] for r in main_rows), reverse=True)
    assert main_rows[0]["label"] == labels["delivery"]
    assert (main_rows[0]["trend"], main_rows[0]["texts"], main_rows[0]["texts_before"]) == ("grew", 60, 440)


def test_growth_is_that_against_the_longer_time(grown, monkeypatch):
    """Where the comparisons disagree, the last one orders both tables."""
    changes = pl.DataFrame(
        {
            "topic": [0, 1, 0, 1],
            "label": ["a", "b"] * 2,
            "against": ["month before"] * 2 + ["year before"] * 2,
        }
    ).with_columns(change=pl.Series([0.5, 0.1, 0.1, 0.5]))
    monkeypatch.setattr(TopicModel, "changes", lambda *_, **__: changes)
    counts = pl.DataFrame({"topic": [0, 1], "label": ["a", "b"], "period": [1, 1], "texts": [5, 5]})
    monkeypatch.setattr(TopicModel, "over_time", lambda *_, **__: counts)
    tables = grouped(open_run(grown), None, "date", "month", "growth")
    assert tables.counts["topic"].to_list() == [1, 0]
    assert tables.changes["topic"].to_list() == [1, 1, 0, 0]
    assert grouped(open_run(grown), None, "date", "month", "size").counts["topic"].to_list() == [0, 1]


def test_changes_are_those_of_the_model_and_of_the_file(grown, tmp_path):
    frame = open_run(grown).with_texts().changes(open_run(grown).input()["date"], "month")
    said = json.loads(coterie("topics", grown, "--over-time", "date", "--changes", "--json").stdout)
    assert [row["change"] for row in said] == pytest.approx(frame["change"].to_list())
    coterie("topics", grown, "--over-time", "date", "--changes", "--out", tmp_path / "changes.csv")
    written = read_csv(tmp_path / "changes.csv")
    assert written.columns == frame.columns
    assert written["trend"].to_list() == frame["trend"].to_list()
    counts = json.loads(coterie("topics", grown, "--over-time", "date", "--json").stdout)
    assert sum(row["texts"] for row in counts) == 11 * 120 + 90


def test_classes_over_time(grown):
    out = coterie("topics", grown, "--by", "team", "--over-time", "date", "--sort", "growth")
    assert lines_of(out, WORDS)[0] == "delivery"
    rows = json.loads(coterie("topics", grown, "--by", "team", "--over-time", "date", "--json").stdout)
    assert {row["class"] for row in rows} == set(WORDS)
    assert sum(row["texts"] for row in rows) == 11 * 120 + 90
    assert all(
        abs(sum(r["share"] for r in rows if r["period"] == p) - 1) < 1e-9 for p in {r["period"] for r in rows}
    )
    grew = json.loads(
        coterie("topics", grown, "--by", "team", "--over-time", "date", "--changes", "--json").stdout
    )
    assert {row["class"]: row["trend"] for row in grew}["delivery"] == "grew"


def test_many_classes_are_short_lists(grown):
    out = coterie("topics", grown, "--by", "desk").stdout
    assert "the largest topics of each class (the largest 40 of 91)" in out
    assert "the largest classes of each topic" in out
    assert "\x1b" not in out
    assert "<b>=1+1" in out
    for label in topic_words(grown).values():
        assert label in out
    rows = json.loads(coterie("topics", grown, "--by", "desk", "--json").stdout)
    assert len(rows) == 3 * 91


def test_many_periods_show_the_last(grown):
    out = coterie("topics", grown, "--over-time", "date", "--every", "week").stdout
    assert "the last 13 of" in out
    assert "week before" in out


def test_what_cannot_be_asked(grown):
    assert "add --over-time" in coterie("topics", grown, "--sort", "growth", code=2).stderr
    assert "add --over-time" in coterie("topics", grown, "--by", "team", "--changes", code=2).stderr
    assert "choose one" in coterie("topics", grown, "--tree", "--over-time", "date", code=2).stderr
    assert (
        "no column 'when'" in coterie("topics", grown, "--by", "team", "--over-time", "when", code=2).stderr
    )
    assert "nothing to compare" in coterie("topics", grown, "--over-time", "date", "--every", "year").stdout
    for more in ([], ["--by", "team"], ["--sort", "growth"]):
        out = coterie("topics", grown, "--over-time", "never", *more).stdout
        assert "nothing to compare" in out
    one_year = coterie("topics", grown, "--over-time", "date", "--every", "year", "--changes", "--json")
    assert json.loads(one_year.stdout) == []


def test_texts_without_a_date_or_a_class_are_left_out_and_told(tmp_path):
    draw = random.Random(0)
    rows = [
        {
            "date": f"2024-{1 + n % 6:02}-10",
            "team": "a" if n % 4 else "NULL",
            "text": " ".join(draw.sample(words, 3)),
        }
        for n, words in enumerate(list(WORDS.values()) * 40)
    ]
    rows[7]["date"], rows[8]["date"] = "soon", ""
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    run = tmp_path / "run"
    coterie("fit", tmp_path / "t.csv", "--text", "text", "--topics", 3, "--out", run)
    out = coterie("topics", run, "--over-time", "date", "--json")
    assert out.stderr == "2 texts have no date that can be read; counts leave them out.\n"
    assert sum(row["texts"] for row in json.loads(out.stdout)) == 118
    out = coterie("topics", run, "--by", "team", "--json")
    assert out.stderr == "30 texts have no class; counts leave them out.\n"
    assert {row["class"] for row in json.loads(out.stdout)} == {"a"}
    assert "row 1 has the date" in coterie("topics", run, "--over-time", "text", code=2).stderr
