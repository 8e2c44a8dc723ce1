"""The quality benchmark: its page, from results made up here, and the processes that measure."""

import sys
from pathlib import Path

import pytest

from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import quality
import quality_page


def made_up(accuracy, seconds):
    names = ("accuracy", "nmi", "ari", "npmi", "c_v", "diversity")
    return {**dict.fromkeys(names, accuracy), "cpu": seconds, "seconds": seconds, "megabytes": 200.0}


def add(store, method, name, *outcomes):
    for trial, values in zip(quality.trials(method, name), outcomes, strict=False):
        store.add(Outcome(trial, values, 0.0))


@pytest.fixture
def page(tmp_path):
    with Store(tmp_path / "results.jsonl") as store:
        for name in quality.MAIN:
            add(store, "gsdmm", name, made_up(0.5, 9), made_up(0.7, 1))
            add(store, "lda", name, made_up(0.4, 2))
        add(store, "nystrom-pcor", "tweet", made_up(0.6, 3), {"why": quality.TOO_LONG})
        add(store, "nystrom-pcor", "agnews", {"why": quality.TOO_LONG})
        add(store, "nystrom-pcor", "stackoverflow", {"why": "MemoryError"})
    with Store(tmp_path / "results.jsonl") as store:
        return quality_page.page(store)


def section(page, title):
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


def row(text, title):
    line = next(line for line in text.splitlines() if line.startswith(f"| {title}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_means_spread_and_the_best_in_bold(page):
    table = section(page, "Accuracy")
    assert row(table, "GSDMM")[1:] == ["**60.0 ± 14.1**"] * 5
    assert row(table, "LDA, Gibbs")[1:] == ["40.0"] * 5


def test_later_methods_have_a_table_that_can_be_written_alone(tmp_path, monkeypatch, page):
    monkeypatch.setattr(quality_page, "PAGE", tmp_path / "quality.md")
    monkeypatch.setattr(quality_page, "STORE", tmp_path / "more.jsonl")
    assert row(section(page, "Later methods for short texts"), "GSDMM")[1] == "**60.0**"
    (tmp_path / "quality.md").write_text(page.replace("Normalised", "Kept"))
    with Store(tmp_path / "more.jsonl") as store:
        for name in quality.MAIN:
            add(store, "btm", name, made_up(0.3, 1))
            add(store, "lda", name, made_up(0.9, 1))
    quality_page.write_later()
    written = (tmp_path / "quality.md").read_text()
    assert row(section(written, "Later methods for short texts"), "BTM")[1] == "**30.0**"
    assert "| LDA" not in section(written, "Later methods for short texts")
    assert "Kept mutual information" in written
    assert section(written, "Accuracy") == section(page, "Accuracy")


def test_values_that_look_alike_are_both_the_best(page):
    table = section(page, "Accuracy")
    assert row(table, "Nyström")[1:] == ["–", "–", "**60.0**", "–", "–"]


def test_fewer_seconds_are_better_and_medians_are_taken(page):
    table = section(page, "Seconds")
    assert row(table, "GSDMM")[1] == "5.0"
    assert row(table, "LDA, Gibbs")[1] == "**2.0**"


def test_only_methods_with_all_sets_have_means(page):
    table = section(page, "Means")
    assert row(table, "GSDMM")[-1] == "2"
    assert "Nyström" not in table


def test_gaps_are_told_with_their_reason(page):
    gaps = section(page, "Gaps")
    assert "processor seconds, and stopped: Nyström pcor, spherical k-means (WWW 2015) on `agnews`." in gaps
    assert "(MemoryError)" in gaps
    assert "Not run: Nyström pcor, spherical k-means (WWW 2015) on `searchsnippets`, `googlenews-ts`." in gaps


# --- processes


@pytest.fixture
def measured(tmp_path, monkeypatch, dataset, capsys):
    """`measured(…)` runs methods on the titles; what was printed, and what is then known of the first method."""
    dataset("titles")
    monkeypatch.setattr(quality, "STORE", tmp_path / "results.jsonl")

    def run(methods, limit, **more):
        quality.run(methods, ["titles"], limit, **more)
        with Store(quality.STORE) as store:
            return capsys.readouterr().out, quality.result(store, methods[0], "titles")

    return run


@pytest.mark.slow
def test_each_seed_is_measured_and_nothing_twice(measured):
    said, (runs, why) = measured(["spherical-idf"], 60)
    assert said.startswith("titles          spherical-idf      [0.")
    assert why is None
    assert len(runs) == 5
    assert len({values["accuracy"] for values in runs}) > 1
    for values in runs:
        assert 0.3 < values["nmi"] < 1
        assert values["cpu"] > 0
        assert values["used"] == 9
        assert values["megabytes"] > 50
    assert measured(["spherical-idf"], 60) == ("", (runs, None))
    said, (repeated, _) = measured(["spherical-idf"], 60, again=True)
    assert said
    assert [values["nmi"] for values in repeated] == [values["nmi"] for values in runs]
    assert [values["cpu"] for values in repeated] != [values["cpu"] for values in runs]


@pytest.mark.slow
def test_what_takes_too_long_is_stopped_and_not_tried_again(measured):
    said, (runs, why) = measured(["gsdmm"], 1)
    assert why == quality.TOO_LONG
    assert said.endswith("[] took too long\n")
    assert runs == []
    assert measured(["gsdmm"], 1)[0] == ""
