"""Which words count, as a person says it on the command line."""

import polars as pl
import pytest
from click.testing import CliRunner

from coterie.cli import main
from coterie.cli.counting import vectorizer_of
from coterie.runs import open_run

SUBJECTS = ("parcel late 17 depot", "invoice refund 42 charge", "password login 99 reset www.example.com")
TEXTS = [f"{subject} {'card' if row % 2 else 'cards'}" for row in range(30) for subject in SUBJECTS]


@pytest.fixture
def fit(tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join([*TEXTS, "submarine parcel"]), encoding="utf-8")

    def fitted(*options, code=0):
        given = ["fit", tmp_path / "texts.txt", "--format", "lines", "--topics", 3, "--out", tmp_path / "run"]
        out = CliRunner().invoke(main, list(map(str, [*given, *options])))
        assert out.exit_code == code, (out.output, out.exception)
        if code:
            return out.stderr
        return set(open_run(tmp_path / "run").model.vectorizer_.vocabulary_.display)

    return fitted


def test_words_are_counted_as_ever_if_nothing_is_said(fit):
    assert vectorizer_of("english", None, "urls,emails", 2, 1) is None
    words = fit()
    assert {"parcel", "17", "card"} <= words or {"parcel", "17", "cards"} <= words
    assert not {"www.example.com", "submarine", "parcel late"} & words


def test_stop_words_are_read_from_a_file(fit, tmp_path):
    (tmp_path / "ours.txt").write_bytes(
        " Parcel \n# a remark: refund\n\nr\u00e9set\nreset\n".encode("cp1252")
    )
    words = fit("--stop-words", tmp_path / "ours.txt")
    assert not {"parcel", "reset"} & words
    assert {"refund", "late", "password"} <= words
    assert "does not exist" in fit("--stop-words", tmp_path / "none.txt", code=2)


def test_a_line_with_several_words_is_told(tmp_path):
    (tmp_path / "ours.txt").write_text("parcel\nkind regards\nbest wishes to all\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="'kind regards' and 1 more have several words on a line"):
        vectorizer_of("english", tmp_path / "ours.txt", "urls,emails", 2, 1)


def test_kinds_of_words_are_dropped_or_counted(fit):
    assert not {"17", "42", "99", "www.example.com"} & fit("--drop", "urls, emails, Numbers")
    assert {"17", "www.example.com"} <= fit("--drop", "none")
    said = fit("--drop", "urls,verbs", code=2)
    assert (
        "--drop must be none or some of numbers, hashtags, mentions, urls, emails, emoji; got 'verb'" in said
    )


def test_rare_words_and_phrases_count_if_asked_for(fit):
    assert "submarine" in fit("--min-df", 1)
    assert "parcel late" in fit("--ngrams", 2)
    assert "0" in fit("--min-df", 0, code=2)


def test_misspelt_words_and_non_answers_in_a_run(tmp_path):
    rows = ["parcel did not arrive", "refund my invoice"] * 8 + ["my parcel didnt arive", "N/A", "don't know"]
    (tmp_path / "texts.txt").write_text("\n".join(rows), encoding="utf-8")
    given = ["fit", tmp_path / "texts.txt", "--format", "lines", "--topics", 2, "--out", tmp_path / "run"]
    out = CliRunner().invoke(main, list(map(str, given)))
    assert "texts.txt, 2 without a known word (non-answers such as 'n/a': 2)" in " ".join(out.output.split())
    table = pl.read_csv(tmp_path / "run" / "assignments.csv")
    assert table["topic"][:16].null_count() == 0
    assert table["topic"][-2:].null_count() == 2
    assert "arive → arrive" in table["reason"][16]
    assert table["topic"][16] == table["topic"][0]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Non-answers such as “n/a” among them: 2." in page
