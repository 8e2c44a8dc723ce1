"""The command, on the Ncut paper: its examples run, the page has all its parts, claims follow from the numbers."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coterie.errors import InputError
from coterie_papers import ncut
from coterie_papers.bench.results import Results
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import trial
from coterie_papers.cli import reproduce as command
from coterie_papers.page import Page
from coterie_papers.reproduction import reproduce

#: The examples of the help page, in their order: a small run, and its page once more.
EXAMPLES = re.findall(r"^ +(coterie reproduce .*)$", command.help, re.MULTILINE)


def typed(line, folder):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory, dataset):
    """The first example, as it was typed."""
    for name in ("titles", "tweet"):
        dataset(name)
    folder = tmp_path_factory.mktemp("example")
    done = typed(EXAMPLES[0], folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("papers/ncut.md: ")
    return reproduce(["ncut"], out=folder / "papers", quick=True, pages_only=True)[0], folder / "papers"


@pytest.fixture(scope="module")
def results(written):
    with Store(written[1] / "results.jsonl") as store:
        return Results(ncut.trials(quick=True), store)


def test_a_quick_run_gives_the_page_with_all_its_parts(written):
    done, folder = written
    text = done.path.read_text()
    assert {p.name for p in (folder / "ncut").iterdir()} == {
        "weights.svg", "weights.png", "clusters.svg", "clusters.png", "results.csv", "results.parquet"
    }  # fmt: skip
    for shown in re.findall(r"\]\((ncut/[^)]+)\)", text):
        assert (folder / shown).stat().st_size > 1000
    for heading in ("## Data", "## Weights of terms", "### Terms with the largest rank moves", "## Words of topics",
                    "## Clusters of titles", "### The penalty λ", "## What holds"):  # fmt: skip
        assert text.count(f"{heading}\n") == 1
    assert text.count("\n| k-means + idf | ") == 4  # three measures and the time
    assert "| titles-01, here | 2,630 | 1,403 | 5.2684 | 9 |" in text
    assert "nan" not in text.lower().replace("finance", "")
    assert len(done.claims) >= 12
    assert "small version" in text


def test_a_wrong_command_is_a_sentence(written):
    assert len(EXAMPLES) == 2
    done = typed(f"{EXAMPLES[1]} --fresh", written[1].parent)
    assert done.returncode == 2
    assert done.stderr.startswith("coterie: --fresh throws away what --pages-only needs")
    assert all(option.help for option in command.params if option.param_type_name == "option")


def test_pages_are_written_again_from_what_is_there(written):
    done, folder = written
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done.path.unlink()
    again = typed(EXAMPLES[1], folder.parent)
    assert (again.returncode, again.stderr) == (0, "")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    with pytest.raises(InputError, match="run without --pages-only"):
        reproduce(["ncut"], out=folder, pages_only=True)
    with pytest.raises(InputError, match="holds no results"):
        reproduce(["ncut"], out=folder / "empty", pages_only=True)


def claims(results, folder):
    page = Page(folder, "ncut", ncut.TITLE)
    ncut.page(results, page)
    return {(said, number): holds for number, (said, _, holds) in enumerate(page.claims)}


def test_every_claim_can_come_out_either_way(results, tmp_path):
    """The numbers of each method are replaced by such as make a claim true, and then false."""

    def judged(order, **others):
        changed = Results.__new__(Results)
        changed.outcomes = [replace(o, values=_altered(o, order, others)) for o in results.outcomes]
        return claims(changed, tmp_path)

    rising = ["kmeans-idf", "nmf-01", "rlsi-idf", "nmf-idf", "rlsi-ncut", "nmf-ncut"]
    good = judged(
        rising, sizes=(2630, 1403, 5.2684, 9), tf=0.97, idf=0.7, ncut=0.9, skew=0.1, up=0.9, penalty=0.0
    )
    bad = judged(
        rising[::-1], sizes=(2630, 1404, 5.2, 9), tf=0.5, idf=0.1, ncut=0.1, skew=2.0, up=0.1, penalty=0.2
    )
    assert set(good.values()) == {True}
    assert set(bad.values()) == {False}


def _altered(outcome, order, others):
    values, kind, method = dict(outcome.values), outcome.trial.kind, outcome.trial.method
    if kind == "ncut-statistics":
        values |= dict(zip(("texts", "terms", "words", "classes"), others["sizes"], strict=True))
    elif kind == "ncut-weights":
        values |= {"tf_is_1": others["tf"], "idf_is_highest": others["idf"], "ncut_flatness": others["ncut"],
                   "idf_flatness": 0.5, "ncut_skew": others["skew"], "ncut_kurtosis": others["skew"],
                   "share_up": others["up"], "share_down": 0.5}  # fmt: skip
    else:
        level = (1 + order.index(method)) / 10
        penalty = outcome.trial.setting("l2")
        if penalty is not None:
            level += others["penalty"] * (penalty != 1.0)
        values |= dict.fromkeys(("nmi", "ari", "purity", "npmi"), level)
    return values


def test_a_full_run_has_ten_runs_of_six_methods():
    full = ncut.trials(quick=False)
    assert len(set(full)) == len({one.key for one in full}) == len(full)
    for method in ncut.METHODS:
        for k in ncut.SIZES:
            assert (
                sum(one == trial("cluster", ncut.LABELLED, method, k=k, seed=one.seed) for one in full) == 10
            )


def test_rank_moves_are_those_of_the_weights(results):
    found = results.one("ncut-weights", collection=ncut.TWEETS)
    for _, _, before, _, after, move, share in found["up"] + found["down"]:
        assert move == pytest.approx(before - after)
        assert 0 < share <= 1
    assert min(row[5] for row in found["up"]) > 0 > max(row[5] for row in found["down"])
    assert sum(found["ncut_counts"]) == results.one("ncut-statistics", collection=ncut.TWEETS)["terms"]
    assert json.loads(json.dumps(found)) == found
