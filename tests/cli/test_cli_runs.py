"""fit, topics, assign, evaluate and edit, as a person types them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from coterie import datasets, embeddings
from coterie.cli import main
from coterie.metrics import svm_scores
from coterie.runs import open_run
from coterie.storage.tables import read_csv
from coterie.topics import fitting

BIN = Path(sys.executable).parent
WORDS = {
    "delivery": ["parcel", "late", "courier", "tracking", "doorstep", "delivery", "depot", "van"],
    "billing": ["invoice", "refund", "charge", "card", "receipt", "payment", "bank", "tax"],
    "login": ["password", "login", "account", "reset", "email", "locked", "code", "browser"],
}


def rows(n=240, seed=0):
    """Texts of three subjects, their subject and a date; row 0 is empty and row 1 has no known word."""
    import random

    draw = random.Random(seed)
    found = [("", "", "2025-01-01"), ("zzyzx", "", "2025-01-02")]
    for number in range(n):
        team = list(WORDS)[number % 3]
        text = " ".join(draw.sample(WORDS[team], 4))
        found.append((f"my {text}", team, f"2025-{number % 12 + 1:02d}-15"))
    return found


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    file = tmp_path_factory.mktemp("tickets") / "tickets.csv"
    texts, teams, dates = zip(*rows(), strict=True)
    frame = pl.DataFrame({"id": range(len(texts)), "subject": texts, "team": teams, "date": dates})
    frame.write_csv(file)
    return file


@pytest.fixture(scope="module")
def fitted(tickets):
    folder = tickets.parent / "fitted"
    coterie("fit", tickets, "--text", "subject", "--topics", 3, "--out", folder)
    return folder


@pytest.fixture
def run(fitted, tmp_path):
    """A copy of a fitted folder to change."""
    import shutil

    return Path(shutil.copytree(fitted, tmp_path / "run"))


def coterie(*arguments, code=0, text=None):
    out = CliRunner().invoke(main, list(map(str, arguments)), input=text)
    assert out.exit_code == code, (out.output, out.exception)
    return out


def test_fit_says_how_embeddings_were_used(tickets, tmp_path):
    given = ["fit", tickets, "--text", "subject", "--topics", 3, "--out", tmp_path / "run"]
    out = " ".join(coterie(*given, "--embeddings", "static").stdout.split())
    decision = open_run(tmp_path / "run").model.decision_
    assert decision.startswith("The embeddings count for ")
    assert decision in out
    assert "The embeddings" not in coterie(*given, "--embeddings", "none").stdout


def test_few_texts_are_fitted_with_word_embeddings_if_there_are_any(tickets, tmp_path, monkeypatch):
    given = ["fit", tickets, "--text", "subject", "--topics", 3, "--out", tmp_path / "run"]
    out = " ".join(coterie(*given).stdout.split())
    model = open_run(tmp_path / "run").model
    assert model.embeddings_ == "static"
    assert f"word embeddings are used too (--embeddings none turns them off). {model.decision_}" in out
    monkeypatch.setattr(embeddings, "static_installed", lambda: False)
    monkeypatch.setattr(fitting, "static_installed", lambda: False)
    out = " ".join(coterie(*given).stdout.split())
    assert 'word embeddings may give better topics (pip install "coterie[words]")' in out
    assert open_run(tmp_path / "run").model.embeddings_ is None
    assert "word embeddings" not in coterie(*given, "--method", "kmeans-idf").stdout
    monkeypatch.setattr(embeddings, "FEW_TEXTS", 100)
    assert "word embeddings" not in coterie(*given).stdout


def test_fit_shows_the_topics_and_writes_the_folder(tickets, tmp_path):
    out = coterie("fit", tickets, "--text", "subject", "--topics", 3, "--out", tmp_path / "run").stdout
    assert "242 texts" in out
    assert "2 without a known word" in out
    assert "coterie topics" in out
    assert "--over-time" not in out
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {
        "model",
        "topics.csv",
        "assignments.csv",
        "assignments.parquet",
        "edits.json",
        "run.json",
        "report.html",
        "map.safetensors",
    }
    table = pl.read_parquet(tmp_path / "run/assignments.parquet")
    assert table["subject"].to_list() == [text for text, _, _ in rows()]
    # every subject is one topic
    pairs = Counter(zip(table["team"], table["topic"], strict=True))
    assert len([pair for pair in pairs if pair[0]]) == 3
    assert table.row(1, named=True)["reason"] == "no known word"
    assert table.row(1, named=True)["confidence"] == 0
    sheet = read_csv(tmp_path / "run/assignments.csv")
    assert sheet["topic"].cast(pl.Int64).to_list() == table["topic"].to_list()
    assert read_csv(tmp_path / "run/topics.csv")["size"].cast(pl.Int64).sum() == 240


def test_without_a_number_it_says_which_one_it_took_and_how_to_take_another(tickets, tmp_path):
    out = coterie("fit", tickets, "--text", "subject", "--out", tmp_path / "run").stdout
    found = json.loads((tmp_path / "run/run.json").read_text())["number_of_topics"]
    plausible = f"plausible range: {found['low']} to {found['high']}"
    assert f"estimated number of topics: {found['n_topics']} ({plausible})" in " ".join(out.split())
    assert "--topics N sets it" in out
    assert found["curve"]


def test_the_folder_is_named_after_the_file(tickets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    coterie("fit", tickets, "--text", "subject", "--topics", 2)
    assert (tmp_path / "tickets-topics/run.json").exists()


def test_json_and_standard_input(tickets, tmp_path):
    text = "\n".join(text for text, _, _ in rows() if text)
    out = coterie(
        "fit", "-", "--format", "lines", "--topics", 3, "--out", tmp_path / "run", "--json", text=text
    )
    found = json.loads(out.stdout)
    assert len(found["topics"]) == 3
    assert found["run"]["data"]["texts"] == 241
    assert found["run"]["data"]["source"] != "-"


@pytest.mark.parametrize(
    ("option", "money", "parcels"),
    [
        ("--seed-words", "Money: invoice, refund", "Parcels: parcel"),
        ("--seed-words", "Money=invoice,refund", "Parcels=parcel"),
        ("--seed", "Money=invoice,refund", "Parcels=parcel"),  # as it was called before
    ],
)
def test_seed_words_name_topics(tickets, tmp_path, option, money, parcels):
    arguments = ["--text", "subject", "--topics", 3, "--out", tmp_path / "run", "--json"]
    out = coterie("fit", tickets, *arguments, option, money, option, parcels)
    labels = {topic["label"]: topic["terms"] for topic in json.loads(out.stdout)["topics"]}
    assert set(labels["Money"][:8]) == set(WORDS["billing"])
    assert set(labels["Parcels"][:8]) == set(WORDS["delivery"])


def test_edits_are_applied_again_by_the_next_fit_unless_it_is_fresh(tickets, run):
    coterie("edit", "rename", run, 0, "First")
    again = ["fit", tickets, "--text", "subject", "--topics", 3, "--out", run]
    assert "1 edit applied from the earlier run" in coterie(*again).stdout
    assert "First" in coterie("topics", run).stdout
    coterie(*again, "--fresh")
    assert "First" not in coterie("topics", run).stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--text", "subject", "--topics", "many"], "--topics must be auto or an integer"),
        (["--text", "subject", "--topics", "0"], "--topics must be auto or an integer"),
        (["--text", "subject", "--seed-words", "billing"], "--seed-words must look like"),
        (["--text", "title"], "no column 'title'"),
        (["--text", "subject", "--method", "nfm"], "unknown method 'nfm'"),
        (["--text", "subject", "--random-state", "-1"], "-1"),
        (["--text", "subject", "--random-state", "4294967296"], "4294967296"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(tickets, tmp_path, arguments, sentence):
    out = coterie("fit", tickets, "--out", tmp_path / "run", *arguments, code=2)
    assert sentence in out.stderr.splitlines()[-1]
    assert out.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_somebodys_folder_is_not_touched(tickets, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters/love.txt").write_text("dear")
    out = coterie("fit", tickets, "--text", "subject", "--topics", 2, "--out", tmp_path / "letters", code=2)
    assert "letters" in out.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["letters", "love.txt"]


@pytest.mark.process
def test_ctrl_c_leaves_no_half_written_folder(tmp_path):
    file = tmp_path / "many.csv"
    texts = [text for seed in range(20) for text, _, _ in rows(1000, seed)]
    pl.DataFrame({"subject": [f"{text} {i % 997}" for i, text in enumerate(texts)]}).write_csv(file)
    process = subprocess.Popen(
        [BIN / "coterie", "fit", file, "--out", tmp_path / "run"], stderr=subprocess.PIPE, text=True
    )
    until = time.time() + 60
    while not any(path.name.startswith(".run") for path in tmp_path.iterdir()):
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.time() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert os.listdir(tmp_path) == ["many.csv"]


def test_topics_with_examples_by_column_over_time_and_as_a_tree(fitted, tmp_path):
    assert "· my " in coterie("topics", fitted, "--examples", 2).stdout
    by = json.loads(coterie("topics", fitted, "--by", "team", "--json").stdout)
    known = {row["class"]: row["texts"] for row in by if row["texts"] == 80}
    assert {"delivery", "billing", "login"} <= set(known)
    months = json.loads(coterie("topics", fitted, "--over-time", "date", "--every", "month", "--json").stdout)
    assert sum(row["texts"] for row in months) == 240
    assert {row["period"] for row in months} == {f"2025-{month:02d}-01" for month in range(1, 13)}
    assert "all texts (240)" in coterie("topics", fitted, "--tree").stdout
    coterie("topics", fitted, "--out", tmp_path / "topics.csv")
    assert len(read_csv(tmp_path / "topics.csv")) == 3
    assert len(json.loads(coterie("topics", fitted, "--json").stdout)) == 3
    assert "no column 'when'" in coterie("topics", fitted, "--by", "when", code=2).stderr
    assert "choose one" in coterie("topics", fitted, "--by", "team", "--tree", code=2).stderr


def test_topics_by_level(fitted, tmp_path):
    shown = coterie("topics", fitted, "--levels", "--out", tmp_path / "levels.csv").stdout
    assert "levels: 3 topics\nthe words of the topics show no groups" in shown
    assert len(read_csv(tmp_path / "levels.csv")) == 3
    assert len(json.loads(coterie("topics", fitted, "--levels", "--json").stdout)[0]["groups"]) == 3
    assert "choose one" in coterie("topics", fitted, "--levels", "--tree", code=2).stderr


def test_topics_of_a_term(fitted, tmp_path):
    topic = json.loads(coterie("topics", fitted, "--json").stdout)[0]
    word = topic["terms"][0]
    found = json.loads(coterie("topics", fitted, "--of-term", word, "--json").stdout)
    assert found[0]["topic"] == topic["id"]
    assert sum(one["share"] for one in found) == pytest.approx(1)
    shown = coterie("topics", fitted, "--of-term", word, "--out", tmp_path / "term.csv").stdout
    assert f"{word}: {sum(one['uses'] for one in found)} uses in {len(found)} of 3 topics" in shown
    assert topic["label"] in shown
    assert read_csv(tmp_path / "term.csv")["label"].to_list() == [one["label"] for one in found]
    assert (
        "'qwertz' is no term of this model" in coterie("topics", fitted, "--of-term", "qwertz", code=2).stderr
    )
    assert "choose one" in coterie("topics", fitted, "--of-term", word, "--tree", code=2).stderr


def test_groups_of_topics_are_listed_with_their_evidence(tmp_path):
    pl.DataFrame({"text": datasets.load("bikes").texts}).write_csv(tmp_path / "bikes.csv")
    told = coterie("fit", tmp_path / "bikes.csv", "--topics", 28, "--out", tmp_path / "run").stdout
    levels = open_run(tmp_path / "run").model.levels
    assert len(levels) > 1
    assert f"levels: {levels.in_short()} (coterie topics {tmp_path / 'run'} --levels lists them)" in told
    shown = coterie("topics", tmp_path / "run", "--levels").stdout
    for group in levels[0].groups:
        assert f"{group.label} ({group.size:,})" in shown
    assert f"halves of the vocabulary {levels[0].agreement:.2f}, by chance {levels[0].chance:.2f}" in shown


def test_assign_keeps_rows_and_columns_and_agrees_with_the_fit(fitted, tickets, tmp_path):
    before = pl.read_parquet(fitted / "assignments.parquet")
    for name in ("out.parquet", "out.jsonl", "out.csv"):
        coterie("assign", fitted, tickets, "--out", tmp_path / name)
    table = pl.read_parquet(tmp_path / "out.parquet")
    assert table.drop("id").equals(before.drop("id"))
    assert pl.read_ndjson(tmp_path / "out.jsonl")["topic"].to_list() == before["topic"].to_list()
    assert read_csv(tmp_path / "out.csv")["reason"].to_list() == before["reason"].to_list()
    printed = coterie("assign", fitted, tickets).stdout
    assert pl.read_csv(printed.encode())["topic"].to_list() == before["topic"].to_list()
    assert "must end in" in coterie("assign", fitted, tickets, "--out", tmp_path / "a.xls", code=2).stderr


def test_assign_reads_lines_and_neutralises_what_it_prints(fitted):
    lines = coterie(
        "assign", fitted, "-", "--format", "lines", text="=parcel late\nqqq\n"
    ).stdout.splitlines()
    assert lines[1].startswith("'=parcel late,")
    assert lines[2].endswith("no known word")
    plain = coterie("assign", fitted, "-", "--format", "lines", "--json", text="=parcel late\n").stdout
    assert json.loads(plain)["text"] == "=parcel late"


def test_evaluate_against_classes_and_alone(fitted):
    found = json.loads(coterie("evaluate", fitted, "--class-column", "team", "--json").stdout)
    assert found["scores"]["nmi"] == pytest.approx(1.0)
    assert found["scores"]["texts with a class"] == 240
    assert found["scores"]["texts without a topic"] == 0
    assert sum(band["texts"] for band in found["confidence"]) == 240
    assert {topic["class"] for topic in found["topics"]} == set(WORDS)
    shares = [band["share_in_largest_class"] for band in found["confidence"] if band["texts"]]
    assert shares == [1.0] * len(shares)
    assert (
        json.loads(coterie("evaluate", fitted, "--label", "team", "--json").stdout) == found
    )  # the old name
    alone = coterie("evaluate", fitted).stdout
    assert "coherence (NPMI)" in alone
    assert "diversity" in alone
    assert "no column 'x'" in coterie("evaluate", fitted, "--class-column", "x", code=2).stderr
    assert "did you mean 'team'?" in coterie("evaluate", fitted, "--class-column", "teams", code=2).stderr


def test_evaluate_trains_a_classifier_on_memberships_vectors_and_words(fitted, tickets):
    found = json.loads(coterie("evaluate", fitted, "--class-column", "team", "--svm", "--json").stdout)
    run, frame = open_run(fitted), pl.read_csv(tickets)
    frame = frame.filter(pl.col("team").fill_null("") != "")
    memberships = run.model.transform(frame["subject"])
    memberships /= np.linalg.norm(memberships, axis=1, keepdims=True)
    expected = svm_scores(memberships, frame["team"].to_list())
    assert found["svm"][0] == {"features": "memberships", "dimensions": 3, **asdict(expected)}
    assert [one["features"] for one in found["svm"]] == ["memberships", "vectors", "words (tf-idf)"]
    assert all(one["n_train"] == 192 and one["n_test"] == 48 for one in found["svm"])
    assert all(one["accuracy"] > 0.9 for one in found["svm"])  # each subject has words of its own
    assert "macro-F1" in coterie("evaluate", fitted, "--class-column", "team", "--svm").stdout
    assert "add --class-column COLUMN" in coterie("evaluate", fitted, "--svm", code=2).stderr


def test_who_has_no_topic_hides_in_none(fitted, tmp_path):
    table = read_csv(fitted / "assignments.csv")
    sizes = Counter(row["topic"] for row in table.iter_rows(named=True))
    topics = read_csv(fitted / "topics.csv")
    assert sizes == {None: 2} | {row["topic"]: int(row["size"]) for row in topics.iter_rows(named=True)}
    assert table.filter(pl.col("topic").is_null())["label"].to_list() == [None, None]
    given = ["assign", fitted, "-", "--format", "lines", "--json"]
    asked = "parcel courier\nparcel invoice password\nqqq\n"
    every = [json.loads(line) for line in coterie(*given, text=asked).stdout.splitlines()]
    assert [one["topic"] is None for one in every] == [False, False, True]
    least = str((every[0]["confidence"] + every[1]["confidence"]) / 2)
    some = [
        json.loads(line)
        for line in coterie(*given, "--min-confidence", least, text=asked).stdout.splitlines()
    ]
    assert some == [every[0], every[1] | {"topic": None, "label": None}, every[2]]
    assert "0<=x<=1" in coterie(*given, "--min-confidence", 2, text=asked, code=2).stderr
    (tmp_path / "new.txt").write_text(asked)
    lines = ["assign", fitted, tmp_path / "new.txt", "--format", "lines", "--out", tmp_path / "new.csv"]
    assert "wrote 3 texts to" in (said := coterie(*lines).stderr)
    assert said.endswith(", 1 of them without a topic\n")


def test_evaluate_says_how_many_texts_have_no_topic(tmp_path):
    texts = [f"{' '.join(words[n % 5 : n % 5 + 3])}" for n in range(30) for words in WORDS.values()]
    table = pl.DataFrame({"subject": [*texts, "qqq", "zzz"], "team": [*list(WORDS) * 30, "login", "login"]})
    table.write_csv(tmp_path / "t.csv")
    coterie("fit", tmp_path / "t.csv", "--text", "subject", "--topics", 3, "--out", tmp_path / "run")
    found = json.loads(coterie("evaluate", tmp_path / "run", "--class-column", "team", "--json").stdout)
    assert found["scores"]["texts without a topic"] == 2
    assert sum(topic["texts"] for topic in found["topics"]) == 90


@pytest.mark.slow
def test_edits_one_after_another_and_back(run):
    before = (run / "assignments.csv").read_text()
    said = coterie("edit", "merge", run, 0, 1).stdout
    assert said.startswith("done: merge topic 1 ")
    assert "changed topics" in said
    said = coterie("edit", "rename", run, 0, "Both").stdout
    assert said.startswith("done: rename topic 0 ")
    assert "Both" in said.partition("changed topics")[2]
    coterie("edit", "split", run, "Both", "--parts", 2)
    before_ban = {topic["id"]: topic for topic in json.loads(coterie("topics", run, "--json").stdout)}
    said = coterie("edit", "ban", run, "parcel").stdout
    after_ban = json.loads(coterie("topics", run, "--json").stdout)
    seen = [(topic["label"], topic["size"], topic["terms"][:8]) for topic in after_ban]
    known = [(topic["label"], topic["size"], topic["terms"][:8]) for topic in before_ban.values()]
    listed = said.partition("changed topics")[2]
    same = [one for one in seen if one in known]
    assert same, "some topic must stay as it was for this to say anything"
    assert not any(", ".join(terms[:4]) in listed for _, _, terms in same)
    topics = json.loads(coterie("topics", run, "--json").stdout)
    assert sum(topic["size"] for topic in topics) == 240
    pinned = coterie("edit", "pin", run, "zzyzx", 2)
    assert pinned.stdout.startswith("done: ")
    assert pinned.stderr == ""
    topics = {topic["id"]: topic for topic in json.loads(coterie("topics", run, "--json").stdout)}
    assert set(topics) == {0, 2, 3}
    assert topics[0]["label"] == "Both"
    assert sum(topic["size"] for topic in topics.values()) == 241  # a pinned text counts
    assert not any("parcel" in topic["terms"] for topic in topics.values())
    table = pl.read_parquet(run / "assignments.parquet")
    assert table.row(1, named=True)["topic"] == 2
    assert table.row(1, named=True)["confidence"] == 1
    log = json.loads(coterie("edit", "log", run, "--json").stdout)
    assert [edit["kind"] for edit in log] == ["merge", "rename", "split", "ban", "pin"]
    assert "merge topic 1" in coterie("edit", "log", run).stdout
    for kind, left in (
        ("pin", "4 edits"),
        ("ban", "3 edits"),
        ("split", "2 edits"),
        ("rename", "1 edit"),
        ("merge", "0 edits"),
    ):
        said = coterie("edit", "undo", run).stdout
        assert said.startswith(f"undone: {kind} ")
        assert said.splitlines()[0].endswith(f"; {left} left")
    assert (run / "assignments.csv").read_text() == before
    assert "no edit to undo" in coterie("edit", "undo", run, code=2).stderr


def test_a_topic_that_is_not_there_is_told_and_nothing_changes(run):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert "there is no topic '9'" in coterie("edit", "rename", run, 9, "x", code=2).stderr
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def test_hostile_texts_are_shown_as_text(tmp_path):
    file = tmp_path / "hostile.jsonl"
    texts = [f"\x1b[2J[red]{word} <script>alert(1)</script> \u202e {word}s" for word in ("evil", "bad")] * 20
    file.write_text("".join(json.dumps({"text": text, "=cmd": "@x"}) + "\n" for text in texts))
    out = coterie("fit", file, "--text", "text", "--topics", 2, "--out", tmp_path / "run").stdout
    out += coterie("topics", tmp_path / "run", "--examples", 3).stdout
    assert "\x1b" not in out
    assert "\u202e" not in out
    sheet = (tmp_path / "run/assignments.csv").read_text()
    assert "'=cmd" in sheet
    assert "'@x" in sheet
    assert pl.read_parquet(tmp_path / "run/assignments.parquet")["=cmd"].to_list() == ["@x"] * 40


def test_a_run_that_is_not_there_says_how_to_make_one(tmp_path):
    for command in (
        ["topics", "gone"],
        ["assign", "gone", "x.csv"],
        ["evaluate", "gone"],
        ["edit", "log", "gone"],
    ):
        out = coterie(
            *command[:-1], *[tmp_path / command[-1]] if command[0] != "assign" else ["x.csv"], code=2
        )
        assert "coterie fit" in out.stderr or "x.csv" in out.stderr


@pytest.mark.filterwarnings("always::UserWarning")
def test_many_rows_left_out_are_a_warning_of_the_run(tmp_path):
    file = tmp_path / "umlauts.csv"
    rows = ["Größe passt nicht", "Jacke zu gross", "Rückgabe der Jacke", "Jacke passt"] * 10
    file.write_bytes(("text\n" + "\n".join(rows) + "\n").encode("cp1252"))
    given = ["fit", file, "--topics", 2, "--out", tmp_path / "run"]
    refused = coterie(*given, "--encoding", "utf-8", code=2)
    assert "--encoding cp1252" in refused.stderr
    assert "--skip-bad" not in refused.stderr
    out = coterie(*given, "--encoding", "utf-8", "--skip-bad")
    assert "20 of 40 rows that could not be read" in out.stderr
    assert "20 of 40 rows" in json.loads((tmp_path / "run/run.json").read_text())["warnings"][0]
    whole = coterie(*given)
    assert "40 texts" in whole.stdout
    assert "The text encoding is Windows-1252 (--encoding sets another)." in whole.stderr


def test_assign_does_not_write_over_what_it_reads(fitted, tickets):
    before = tickets.read_bytes()
    out = coterie("assign", fitted, tickets, "--out", tickets, code=2)
    assert "is the input file; choose another file" in out.stderr
    assert tickets.read_bytes() == before


@pytest.mark.process
def test_texts_do_not_command_the_terminal(fitted, tmp_path):
    """A file gets the text as it is; what a terminal would obey is spelled."""
    pty = pytest.importorskip("pty")
    (tmp_path / "new.csv").write_text('subject\n"parcel \x1b[2J late"\n')
    command = [BIN / "coterie", "assign", fitted, tmp_path / "new.csv", "--text", "subject"]
    plain = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "\x1b[2J" in plain
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "\x1b" not in shown
    assert shown.replace("\r\n", "\n") == plain.replace("\x1b", "\\x1b")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_that_are_not_utf8(tickets, tmp_path, ending):
    name = os.fsdecode(b"caf\xe9." + ending.encode())
    table = pl.read_csv(tickets)
    with open(tmp_path / name, "wb") as file:
        table.write_csv(file) if ending == "csv" else table.write_parquet(file)
    asked = ["--text", "subject", "--topics", 3]
    coterie("fit", tmp_path / name, *asked, "--out", tmp_path / "run")
    assert json.loads((tmp_path / "run/run.json").read_text())["data"]["source"].endswith(
        f"caf\\xe9.{ending}"
    )
    out = coterie("fit", tickets, *asked, "--out", tmp_path / os.fsdecode(b"o\xff"), code=2)
    assert "o\\xff cannot be written: the name is not UTF-8" in out.stderr
    assert len(out.stderr.splitlines()) == 1


# --- odd places


@pytest.mark.parametrize(
    "name", ["run.json", "topics.csv", "assignments.csv", "model/state.json", "model/../topics.csv"]
)
def test_a_file_of_a_run_is_not_overwritten(run, tickets, name):
    before = (run / name).read_bytes()
    for command in (["topics", run], ["assign", run, tickets]):
        done = CliRunner().invoke(main, [*map(str, command), "--out", str(run / name)])
        assert done.exit_code == 2
        assert "belongs to the run in" in done.output or "--out must end in" in done.output
    assert (run / name).read_bytes() == before


def test_a_file_of_the_user_in_a_run_can_be_written(run):
    coterie("topics", run, "--out", run / "mine.csv")
    assert (run / "mine.csv").exists()


def test_assignments_are_utf_8_whatever_the_locale(fitted, tmp_path):
    text = "快递 à la 🦉 parcel late"
    (tmp_path / "new.csv").write_text(f"subject\n{text}\n", encoding="utf-8")
    for locale in ({"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}):
        for option in ([], ["--json"]):
            done = subprocess.run(
                [BIN / "coterie", "assign", fitted, tmp_path / "new.csv", *option],
                env={**os.environ, **locale}, capture_output=True, check=True,
            )  # fmt: skip
            assert text in done.stdout.decode("utf-8")
            assert not option or json.loads(done.stdout)["subject"] == text


def test_a_locale_without_umlauts_shows_codes(run):
    coterie("edit", "rename", run, 0, "Größe")
    done = subprocess.run(
        [BIN / "coterie", "topics", run],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}, capture_output=True, check=True,
    )  # fmt: skip
    assert b"Gr\\xf6\\xdfe" in done.stdout


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_a_table_may_be_called_txt(tmp_path, separator):
    table = tmp_path / "export.txt"
    lines = [
        separator.join(("id", "text")),
        *(separator.join((str(i), t)) for i, (t, _, _) in enumerate(rows(60))),
    ]
    table.write_text("\n".join(lines))
    found = json.loads(
        coterie("fit", table, "--text", "text", "--topics", 3, "--out", tmp_path / "run", "--json").output
    )
    assert found["run"]["data"]["texts"] == 62
    assert set(pl.read_parquet(tmp_path / "run" / "assignments.parquet").columns) >= {"id", "text"}


def test_a_run_without_its_report_can_be_renamed(run):
    (run / "report.html").unlink()
    coterie("edit", "rename", run, 0, "a name")
    assert "a name" in coterie("topics", run).stdout
    coterie("edit", "merge", run, 1, 2)
    assert "a name" in (run / "report.html").read_text()


def test_a_file_is_not_a_run_folder(tickets, fitted):
    done = CliRunner().invoke(main, ["assign", str(tickets), str(fitted)])
    assert "is a file, not a run folder" in done.output


def test_no_language_is_refused(tickets):
    done = CliRunner().invoke(main, ["fit", str(tickets), "--text", "subject", "--language", ""])
    assert done.exit_code == 2
    assert "--language" in done.output


@pytest.mark.process
def test_a_full_temporary_folder_is_told(tickets, tmp_path):
    """With a limit on the size of files, as a full disk would need the rights to make one."""
    code = (
        "import resource, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\nfrom coterie.cli import main\nmain()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", tickets, "--text", "subject", "--out", tmp_path / "run"],
        env={**os.environ, "TMPDIR": str(tmp_path)}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"coterie: temporary files could not be written to {tmp_path}: File too large; "
    )
    assert not (tmp_path / "run").exists()
