"""The page of the quality benchmark, from results made up here."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import quality
import quality_page


def made_up(accuracy, seconds):
    names = ("accuracy", "nmi", "ari", "npmi", "c_v", "diversity")
    return {
        "seed": 0,
        **dict.fromkeys(names, accuracy),
        "cpu": seconds,
        "seconds": seconds,
        "megabytes": 200.0,
    }


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "CACHE", tmp_path)
    for name in quality.MAIN:
        quality.keep("gsdmm", name, {"runs": [made_up(0.5, 9), made_up(0.7, 1)], "complete": True})
        quality.keep("lda", name, {"runs": [made_up(0.4, 2)], "complete": True})
    quality.keep("nystrom", "tweet", {"runs": [made_up(0.6, 3)], "complete": True})
    quality.keep("nystrom", "agnews", {"runs": [], "why": quality.TOO_LONG})
    quality.keep("nystrom", "stackoverflow", {"runs": [], "why": "MemoryError"})
    return tmp_path


def section(page, title):
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


def row(text, title):
    line = next(line for line in text.splitlines() if line.startswith(f"| {title}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_means_spread_and_the_best_in_bold(results):
    table = section(quality_page.page(), "Accuracy")
    assert row(table, "GSDMM")[1:] == ["**60.0 ± 14.1**"] * 5
    assert row(table, "LDA, Gibbs")[1:] == ["40.0"] * 5


def test_values_that_look_alike_are_both_the_best(results):
    table = section(quality_page.page(), "Accuracy")
    assert row(table, "Nyström")[1:] == ["–", "–", "**60.0**", "–", "–"]


def test_fewer_seconds_are_better_and_medians_are_taken(results):
    table = section(quality_page.page(), "Seconds")
    assert row(table, "GSDMM")[1] == "5.0"
    assert row(table, "LDA, Gibbs")[1] == "**2.0**"


def test_only_methods_with_all_sets_have_means(results):
    table = section(quality_page.page(), "Means")
    assert row(table, "GSDMM")[-1] == "2"
    assert "Nyström" not in table


def test_gaps_are_told_with_their_reason(results):
    gaps = section(quality_page.page(), "Gaps")
    assert "processor seconds, and stopped: Nyström pcor, spherical k-means (WWW 2015) on `agnews`." in gaps
    assert "(MemoryError)" in gaps
    assert "Not run: Nyström pcor, spherical k-means (WWW 2015) on `searchsnippets`, `googlenews-ts`." in gaps


def test_a_result_is_written_as_a_whole(results):
    file, opened = results / "lda@tweet.json", results / "opened"
    before = file.read_text()
    opened.hardlink_to(file)  # the file as a reader has it who opened it before
    quality.keep("lda", "tweet", {"runs": [], "why": quality.TOO_LONG})
    assert opened.read_text() == before
    assert json.loads(file.read_text())["why"] == quality.TOO_LONG
    assert not list(results.glob("*.part"))


def test_what_is_known_is_not_run_again(results, monkeypatch):
    ran = []
    monkeypatch.setattr(quality, "_in_a_process", lambda method, name, limit: ran.append((method, name)))
    quality.run(["gsdmm", "nystrom"], ["tweet", "agnews", "searchsnippets"], 1)
    assert ran == [("nystrom", "searchsnippets")]
