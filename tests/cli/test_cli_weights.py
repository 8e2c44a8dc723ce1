import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from coterie import Vectorizer, datasets, weights
from coterie.cli import main
from coterie.storage.tables import read_csv


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, ["weights", *map(str, arguments)], input=stdin)


@pytest.fixture(scope="module")
def sample():
    return datasets.describe()["path"][0]


def test_all_terms_are_written_with_both_weights(sample, tmp_path):
    out = run(sample, "--text", "text", "--out", tmp_path / "weights.csv", "--min-df", 3)
    assert out.exit_code == 0, out.output
    assert f"Wrote {tmp_path}/weights.csv" in out.output
    terms = pl.read_csv(tmp_path / "weights.csv")
    vectorizer = Vectorizer(min_df=3)
    X = vectorizer.fit_transform(datasets.load("sample").texts)
    order = np.argsort(np.array(vectorizer.vocabulary_.terms, dtype=object))
    np.testing.assert_allclose(terms["idf"], weights.idf(X)[order])
    np.testing.assert_allclose(terms["ncut"], weights.ncut(X)[order])
    np.testing.assert_array_equal(terms["document_frequency"], weights.document_frequency(X)[order])
    assert f"{len(terms):,} terms in at least 3 of 1,517 texts" in out.output
    for name in ("idf", "ncut"):
        literal = [1 + (terms[name] > w).sum() + ((terms[name] == w).sum() - 1) / 2 for w in terms[name]]
        np.testing.assert_allclose(terms[f"{name}_rank"], literal)
    np.testing.assert_allclose(terms["rank_difference"], terms["idf_rank"] - terms["ncut_rank"])
    assert [file.name for file in tmp_path.iterdir()] == ["weights.csv"]


def test_lists_hold_the_heaviest_and_the_largest_moves(sample, tmp_path):
    run(sample, "--text", "text", "--out", tmp_path / "weights.csv")
    found = json.loads(run(sample, "--text", "text", "--top", 4, "--json").output)
    terms = pl.read_csv(tmp_path / "weights.csv")
    assert (found["n_texts"], found["n_terms"], found["min_df"]) == (1517, len(terms), 5)
    for name, column, largest in (
        ("largest_by_idf", "idf", True), ("largest_by_ncut", "ncut", True),
        ("higher_rank_by_ncut", "rank_difference", True), ("higher_rank_by_idf", "rank_difference", False),
    ):  # fmt: skip
        expected = sorted(terms[column], reverse=largest)[:4]
        assert [row[column] for row in found[name]] == pytest.approx(expected)
        assert all(row["document_frequency"] >= 5 for row in found[name])


def test_tables_show_terms_as_people_write_them(sample):
    out = run(sample, "--text", "text", "--top", 3).output
    for heading in (
        "largest by idf",
        "largest by Ncut",
        "higher rank by Ncut",
        "higher rank by idf",
        "texts",
    ):
        assert heading in out
    assert len([line for line in out.splitlines() if line.startswith("│")]) == 6


def test_a_common_term_in_short_texts_ranks_higher_by_ncut():
    short, long = "refund\n" * 20, "parcel late again driver lost somewhere\n" * 19
    found = json.loads(run("-", "--json", stdin=short + long).output)
    assert found["higher_rank_by_ncut"][0]["display"] == "refund"
    assert found["largest_by_idf"][0]["display"] != "refund"


def test_terms_of_equal_weight_differ_in_no_rank():
    out = run("-", "--json", stdin="late parcel\n" * 6)
    found = json.loads(out.output)
    assert found["higher_rank_by_ncut"] == found["higher_rank_by_idf"] == []
    assert run("-", stdin="late parcel\n" * 6).exit_code == 0


def test_no_cell_of_the_file_is_a_formula(tmp_path):
    texts = "@evil_corp owes me a refund\n" * 6
    out = run("-", "--format", "lines", "--out", tmp_path / "weights.csv", stdin=texts)
    assert out.exit_code == 0, out.output
    cells = [cell for line in (tmp_path / "weights.csv").read_text().splitlines() for cell in line.split(",")]
    assert any("@evil_corp" in cell for cell in cells)
    assert not [cell for cell in cells if cell.strip('"').startswith(("=", "+", "-", "@"))]
    assert "@evil_corp" in read_csv(tmp_path / "weights.csv")["term"].to_list()


def test_hostile_terms_are_shown_as_text(tmp_path):
    out = run("-", "--format", "lines", stdin="[red]late[/red] \x1b[2Jparcel\n" * 6)
    assert out.exit_code == 0
    assert "\x1b" not in out.output
    assert "red" in out.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--text", "title"], "no column 'title'"),
        (
            ["--text", "subject", "--min-df", 9],
            "no term occurs in 9 texts of standard input; use a smaller",
        ),
        (["--text", "subject", "--language", "klingon"], "klingon"),
        (
            ["--text", "subject", "--min-df", 1, "--out", "/nowhere/at/all.csv"],
            "cannot write all.csv: folder /nowhere/at does not exist",
        ),
        (["--text", "subject", "--min-df", 0], "--min-df"),
    ],
)
def test_a_mistake_is_one_sentence(arguments, sentence):
    out = run("-", *arguments, stdin="id,subject\n1,late parcel\n2,late refund\n")
    assert out.exit_code == 2
    assert out.stderr.startswith("coterie: ")
    assert sentence in out.stderr
    assert len(out.stderr.splitlines()) == 1


def test_texts_without_a_word_are_no_fault_of_the_program():
    out = run("-", "--format", "lines", stdin="!!\n??\n")
    assert out.exit_code == 2
    assert "no term occurs" in out.stderr


def test_bad_rows_are_left_out_and_counted():
    arguments = ("--format", "csv", "--text", "b", "--min-df", 1, "--skip-bad")
    out = run("-", *arguments, stdin="a,b\n1,late parcel\nonly one\n")
    assert out.exit_code == 0
    assert "skipped 1 row that could not be read; the first is line 3" in out.stderr


def test_the_input_is_not_overwritten(tmp_path):
    (tmp_path / "texts.csv").write_text("text\n" + "late parcel\n" * 9)
    out = run(tmp_path / "texts.csv", "--out", tmp_path / "texts.csv")
    assert out.exit_code == 2
    assert "is the input file; choose another file" in out.stderr
    assert (tmp_path / "texts.csv").read_text().startswith("text\n")


def test_more_terms_than_a_number_of_the_machine_can_count_are_all(tmp_path):
    (tmp_path / "texts.csv").write_text("text\n" + "late parcel\nlost refund\n" * 9)
    out = run(tmp_path / "texts.csv", "--top", 10**20)
    assert out.exit_code == 0, out.output
    assert "parcel" in out.output
