import json
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from coterie import Coterie, Vectorizer, datasets, methods
from coterie.cli import main
from coterie.comparison import DEFAULT_METHODS


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)], input=stdin)


@pytest.fixture
def tickets(tmp_path):
    rows = ["late parcel,delivery", "my parcel is late,delivery", "refund my money,payment", ",payment"] * 5
    file = tmp_path / "tickets.csv"
    file.write_text("subject,kind\n" + "\n".join(rows) + "\n")
    return file


@pytest.mark.process
def test_the_sample_is_compared(tmp_path):
    sample = datasets.describe()["path"][0]
    command = [Path(sys.executable).parent / "coterie", "compare", sample, "--text", "text"]
    asked = ["--class-column", "category", "--method", "nmf-idf,term-nmf", "--restarts", "2"]
    out = subprocess.run([*command, *asked], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stderr == ""  # no progress where nobody looks
    for word in ("nmf-idf", "term-nmf", "NMI", "ARI", "accuracy", "purity", "seconds", "1,517 texts"):
        assert word in out.stdout
    assert out.stdout.count("█") > 10


@pytest.mark.slow
def test_the_number_of_topics_is_read_once_for_all_methods(tmp_path):
    drawn = random.Random(0)
    words = [[f"{letter}word{i}" for i in range(20)] for letter in "abc"]
    texts = [" ".join(drawn.sample(words[i % 3], 5)) for i in range(150)]
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(texts))
    arguments = (file, "--topics", "auto,5", "--method", "nmf,spherical-kmeans", "--restarts", 1)
    found = json.loads(run(*arguments, "--json").stdout)
    X = Vectorizer(min_df=2).fit_transform(texts)
    k = Coterie("auto", random_state=0).fit(X).number_of_topics_.n_topics
    assert found["number_of_topics"]["n_topics"] == k == 3
    assert [(row["method"], row["n_topics"]) for row in found["rows"]] == [
        ("nmf", 3), ("nmf", 5), ("spherical-kmeans", 3), ("spherical-kmeans", 5),
    ]  # fmt: skip
    low, high = found["number_of_topics"]["low"], found["number_of_topics"]["high"]
    expected = f"estimated number of topics: 3 (plausible range: {low} to {high})"
    assert expected in run(*arguments).output


def test_the_best_of_each_column_has_a_star(tickets):
    out = run(
        tickets,
        "--text",
        "subject",
        "--class-column",
        "kind",
        "--method",
        "spherical-kmeans,nmf",
        "--restarts",
        2,
    )
    assert out.exit_code == 0, out.output
    assert "20 texts, 5 without a known word, 20 in 2 known classes" in out.output
    stars = [line.count(" *") for line in out.output.splitlines() if line.startswith("│")]
    assert sum(stars) >= 5
    assert "* best in its column" in out.output


def test_json_has_a_row_for_each_method_and_number_of_topics(tickets):
    out = run(
        tickets, "--text", "subject", "--topics", "2,3", "--method", "nmf", "--method", "nystrom", "--json"
    )
    found = json.loads(out.stdout)
    assert [(row["method"], row["n_topics"]) for row in found["rows"]] == [
        ("nmf", 2), ("nmf", 3), ("nystrom", 2), ("nystrom", 3),
    ]  # fmt: skip
    assert (found["n_texts"], found["n_empty"], found["n_labelled"]) == (20, 5, 0)
    for row in found["rows"]:
        assert row["nmi"] is None
        assert -1.001 <= row["coherence"] <= 1.001
        assert 0 <= row["diversity"] <= 1
        assert -1 <= row["stability"] <= 1
        assert row["seconds"] >= 0


def test_without_a_method_those_of_the_base_install_are_compared(tickets):
    out = run(tickets, "--text", "subject", "--class-column", "kind", "--restarts", 1, "--json")
    assert [row["method"] for row in json.loads(out.stdout)["rows"]] == list(DEFAULT_METHODS)


def test_standard_input_is_read_like_a_file(tickets):
    arguments = ("--text", "subject", "--class-column", "kind", "--method", "nmf", "--json")
    from_file, from_stream = (
        json.loads(out.stdout)
        for out in (run(tickets, *arguments), run("-", *arguments, stdin=tickets.read_text()))
    )
    for found in (from_file, from_stream):
        found["rows"][0].pop("seconds")
    assert from_file == from_stream


def test_one_seed_shows_a_dash_for_stability_also_where_only_ascii_can_be_shown(tickets):
    arguments = ["--text", "subject", "--topics", "2", "--method", "nmf", "--restarts", "1"]
    out = CliRunner(charset="ascii").invoke(main, ["compare", str(tickets), *arguments])
    assert out.exit_code == 0
    row = next(line for line in out.output.splitlines() if "| nmf" in line)
    assert row.split("|")[-3].strip() == "-"
    assert "##########" in out.output


def test_a_method_that_warns_is_reported_under_the_table(tickets, monkeypatch):
    import warnings

    def make(n_topics, seed):
        warns = methods.make("nmf", n_topics, seed)
        fit_predict = warns.fit_predict

        class Warns(type(warns)):
            def fit_predict(self, X, y=None, sample_weight=None):
                warnings.warn("[bold]2 topics stayed empty", UserWarning, stacklevel=1)
                return fit_predict(X)

        warns.__class__ = Warns
        return warns

    monkeypatch.setitem(methods.METHODS, "warns", SimpleNamespace(name="warns", about="-", make=make))
    out = run(tickets, "--text", "subject", "--class-column", "kind", "--method", "warns")
    assert "warns, 2 topics: [bold]2 topics stayed empty" in out.output


def test_former_option_names_work_but_are_not_shown(tickets):
    arguments = (tickets, "--text", "subject", "--method", "nmf", "--json")
    old = json.loads(run(*arguments, "--label", "kind", "--seeds", 1).stdout)
    new = json.loads(run(*arguments, "--class-column", "kind", "--restarts", 1).stdout)
    for result in (old, new):
        result["rows"][0].pop("seconds")
    assert old == new
    page = run("--help").output
    assert "--label" not in page
    assert "--seeds" not in page
    assert "'--restarts'" in run(tickets, "--seeds", 0).stderr


def test_all_methods_are_listed():
    out = run("--list-methods")
    assert out.exit_code == 0
    assert [line.split()[0] for line in out.output.splitlines()] == methods.names()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--text", "title", "--topics", 2], "title"),
        (
            ["--text", "subject", "--class-column", "class"],
            "no column 'class'; it has 'subject', 'kind'",
        ),
        (["--text", "subject"], "number of topics is needed (--topics)"),
        (
            ["--text", "subject", "--topics", 2, "--method", "nfm"],
            "unknown method 'nfm'; choose one of coterie, nmf,",
        ),
        (["--text", "subject", "--topics", 21], "between 1 and the number of texts, 20; got 21"),
        (["--text", "subject", "--topics", "two"], "--topics must be an integer, got 'two'"),
    ],
)
def test_a_mistake_is_one_sentence(tickets, arguments, sentence):
    out = run(tickets, *arguments)
    assert out.exit_code == 2
    assert out.stdout == ""
    assert out.stderr.startswith("coterie: ")
    assert sentence in out.stderr
    assert len(out.stderr.splitlines()) == 1


@pytest.mark.parametrize("content", ["", "subject,kind\n"])
def test_a_file_without_rows_is_one_sentence(tmp_path, content):
    file = tmp_path / "empty.csv"
    file.write_text(content)
    out = run(file, "--text", "subject", "--topics", 2)
    assert out.exit_code == 2
    assert str(file) in out.stderr
    assert len(out.stderr.splitlines()) == 1


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    out = run(tmp_path / "gone.csv", "--text", "subject", "--topics", 2)
    assert out.exit_code == 2
    assert len(out.stderr.splitlines()) == 1


def test_markup_in_a_column_name_is_shown_as_it_is(tmp_path):
    file = tmp_path / "odd.csv"
    file.write_text("[red]subject,kind\nlate parcel,a\nlate parcel,b\n")
    out = run(file, "--text", "[red]subject", "--class-column", "sort")
    assert "[red]subject" in out.stderr


def test_bad_rows_are_refused_or_left_out_and_counted(tmp_path):
    file = tmp_path / "dirty.csv"
    rows = "".join(
        f"{word} parcel late {i},a\n{word} refund card {i},b\n" for i, word in enumerate("xyz" * 6)
    )
    file.write_text(f"text,label\n{rows}only one field\n")
    asked = [
        "compare",
        str(file),
        "--text",
        "text",
        "--class-column",
        "label",
        "--method",
        "spherical-kmeans",
    ]
    refused = CliRunner().invoke(main, asked)
    assert refused.exit_code == 2
    assert "line 38" in refused.output
    found = CliRunner().invoke(main, [*asked, "--skip-bad"])
    assert found.exit_code == 0, found.output
    assert "skipped 1 row that could not be read" in found.output


def test_labels_that_are_no_classes_are_not_taken_for_topics(tmp_path):
    file = tmp_path / "names.csv"
    file.write_text("text,label\n" + "".join(f"late parcel,{i}\n" for i in range(400)))
    found = CliRunner().invoke(main, ["compare", str(file), "--text", "text", "--class-column", "label"])
    assert found.exit_code == 2
    assert "400 different classes" in found.output
    assert "--topics" in found.output
