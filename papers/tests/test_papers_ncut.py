"""The command, on the Ncut paper: its examples run, the page has all its parts, claims follow from the numbers."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie import weights
from coterie.errors import InputError
from coterie_papers import ncut, ncut_kinds
from coterie_papers.bench.results import Results
from coterie_papers.bench.runner import perform
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome, trial
from coterie_papers.cli import reproduce as command
from coterie_papers.ncut_claims import (
    CLUSTERS,
    KMEANS,
    LABELLED,
    MEASURES,
    PAPER_SCORES,
    PAPER_SIZES,
    claims,
    headline,
)
from coterie_papers.page import Page
from coterie_papers.reproduction import reproduce
from coterie_papers.verdicts import Verdict
from matrices import count_matrices

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
        "method.svg", "method.png", "weights.svg", "weights.png", "clusters.svg", "clusters.png", "results.csv", "results.parquet"
    }  # fmt: skip
    for shown in re.findall(r"\]\((ncut/[^)]+)\)", text):
        assert (folder / shown).stat().st_size > 1000
    for heading in ("## The method", "## What holds", "## Data", "## Weights of terms", "### Terms with the largest rank moves", "## Words of topics",
                    "## The cut of the graph of terms", "## Clusters of titles", "### The penalty λ"):  # fmt: skip
        assert text.count(f"{heading}\n") == 1
    assert text.count("\n| k-means + idf | ") == 4  # three measures and the time
    assert text.count("\n| *paper* | ") == len(PAPER_SCORES)
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


def judged(results, folder, values):
    """The claims on changed values of the outcomes."""
    changed = Results.__new__(Results)
    changed.outcomes = [replace(o, values=o.values | values(o)) for o in results.outcomes]
    page = Page(folder, "ncut", ncut.TITLE)
    ncut.page(changed, page)
    return page.claims


RISING = ["kmeans-idf", "kmeans-idf-unit", "nmf-01", "rlsi-idf", "nmf-idf", "rlsi-ncut", "nmf-ncut"]


def altered(order, **others):
    """What a trial would have given in another world."""

    def values(outcome):
        kind, method = outcome.trial.kind, outcome.trial.method
        if kind == "ncut-weights":
            return {"tf_is_1": others["tf"], "idf_is_highest": others["idf"], "ncut_flatness": others["ncut"],
                    "idf_flatness": 0.5, "ncut_skew": others["skew"], "ncut_kurtosis": others["skew"],
                    "share_up": others["up"], "share_down": 0.5}  # fmt: skip
        if kind == "ncut-criterion":
            return {"gap": others["gap"]}
        if kind in ("ncut-statistics", "ncut-bounds", "later"):
            return {}
        level = (1 + order.index(method)) / 10
        if outcome.trial.setting("l2") is not None:
            level += others["penalty"] * (outcome.trial.setting("l2") != 1.0)
        return dict.fromkeys(("nmi", "ari", "purity", "npmi"), level)

    return values


def test_every_claim_can_come_out_either_way(results, tmp_path):
    """The numbers of each method are replaced by such as make a claim true, and then false."""
    good = altered(RISING, tf=0.97, idf=0.7, ncut=0.9, skew=0.1, up=0.9, penalty=0.0, gap=0.0)
    bad = altered(RISING[::-1], tf=0.5, idf=0.1, ncut=0.1, skew=2.0, up=0.1, penalty=0.2, gap=0.1)
    assert {claim.verdict for claim in judged(results, tmp_path, good)} == {Verdict.HOLDS}
    for claim in judged(results, tmp_path, bad):
        stand_in = claim.reason.startswith("tweet-")
        assert claim.verdict is (Verdict.OTHER_DATA if stand_in else Verdict.FAILS), claim.said


def test_a_tie_is_called_a_tie(results, tmp_path):
    level = altered(["nmf-ncut"], tf=1, idf=1, ncut=0.5, skew=0, up=0.5, penalty=0.0, gap=0.0)

    def values(outcome):
        kind = outcome.trial.kind
        return level(outcome) if kind == "ncut-weights" else {"nmi": 0.4, "ari": 0.4, "purity": 0.4}

    found = judged(results, tmp_path, values)
    outperforms = [c for c in found if c.group == CLUSTERS and "slightly" not in c.said]
    assert {c.verdict for c in outperforms} == {Verdict.IN_PART}
    assert all("ties" in c.reason for c in outperforms)
    assert {c.verdict for c in found if "slightly better" in c.said} == {Verdict.IN_PART}


def test_no_rule_refutes_what_the_paper_printed(results, tmp_path):
    """By its own numbers, at all its K, the paper's conclusions hold, if not everywhere."""
    printed = [
        Outcome(trial("cluster", LABELLED, method, k=k), dict.fromkeys(MEASURES, level), 0.0)
        for method in ncut.METHODS
        for k, level in zip(
            PAPER_SIZES, PAPER_SCORES["nmi", "kmeans-idf" if method in KMEANS else method], strict=True
        )
    ]
    changed = Results.__new__(Results)
    changed.outcomes = [
        *printed,
        *(o for o in results.outcomes if o.trial.kind != "cluster" or o.trial.setting("l2") is not None),
    ]
    page = Page(tmp_path, "ncut", ncut.TITLE)
    claims(changed, page)
    found = [claim for claim in page.claims if claim.group == CLUSTERS]
    assert len(found) == 5
    assert Verdict.FAILS not in {c.verdict for c in found}


def test_the_headline_is_the_largest_difference(results):
    changed = Results.__new__(Results)
    said = PAPER_SCORES["nmi", "nmf-ncut"]
    changed.outcomes = [
        replace(o, values=o.values | {"nmi": said[PAPER_SIZES.index(o.trial.k)] - 0.02 * (o.trial.k == 9)})
        if o.trial.kind == "cluster"
        else o
        for o in results.outcomes
    ]
    assert "within 0.020 of its Figure 3 at K = 3, 9" in headline(changed)


# --- the criterion


def dense_criterion(X, parts):
    """Equation 2, edge by edge."""
    held = (X > 0).astype(float)
    S = held.T @ held
    total = 0.0
    for k in set(parts):
        inside = [i for i, part in enumerate(parts) if part == k]
        outside = [i for i, part in enumerate(parts) if part != k]
        leaves = sum(S[i, j] for i in inside for j in outside)
        stays = sum(S[i, j] for i in inside for j in inside)
        total += leaves / (leaves + stays) if leaves + stays else 0.0
    return total / 2


@settings(max_examples=50)
@given(count_matrices(max_rows=8, max_terms=7), st.data())
def test_the_criterion_is_that_of_the_graph_and_the_theorem_holds(X, data):
    parts = np.array(data.draw(st.lists(st.integers(0, 2), min_size=X.shape[1], max_size=X.shape[1])))
    sparse = csr_matrix(X)
    assert ncut_kinds.ncut_criterion(sparse, parts) == pytest.approx(dense_criterion(X, parts))
    if X.any():
        assert ncut_kinds.theorem_gap(sparse, parts) < 1e-12


@settings(max_examples=50)
@given(count_matrices(max_rows=8, max_terms=7))
def test_the_largest_singular_value_is_the_root_of_the_smallest_degree(X):
    held = (X[:, X.any(axis=0)] > 0).astype(float)
    if not held.size:
        return
    degree = (held.T @ held).sum(axis=1)
    assert np.linalg.norm(held / np.sqrt(degree), 2) == pytest.approx(1.0)
    weighted = held * weights.ncut(held)
    assert np.linalg.norm(weighted, 2) == pytest.approx(np.sqrt(degree.min()))


def test_bounds_are_those_of_the_dense_matrices(results):
    found = results.one("ncut-bounds", collection=LABELLED)
    assert found["unscaled"] == pytest.approx(1.0)
    assert found["largest"] == pytest.approx(np.sqrt(found["least_degree"]))


def test_a_full_run_has_ten_runs_of_six_methods():
    full = ncut.trials(quick=False)
    assert len(set(full)) == len({one.key for one in full}) == len(full)
    for method in ncut.METHODS:
        for k in ncut.SIZES:
            assert (
                sum(one == trial("cluster", ncut.LABELLED, method, k=k, seed=one.seed) for one in full) == 10
            )


def test_tweets_of_the_author_are_used_where_they_are_on_this_machine(fetched, tmp_path, results):
    assert ncut.TWEETS_OF_AUTHOR not in {one.collection for one in ncut.trials(quick=True)}
    fetched("onlinebtm-tweets")
    ours = [one for one in ncut.trials(quick=True) if one.collection == ncut.TWEETS_OF_AUTHOR]
    assert [one.kind for one in ours] == ["ncut-statistics", "ncut-weights"]
    more = Results.__new__(Results)
    more.outcomes = [*results.outcomes, *(Outcome(one, *perform(one)) for one in ours)]
    page = Page(tmp_path, "ncut", ncut.TITLE)
    ncut.page(more, page)
    text = page.markdown(more)
    assert "| tweets-01, here | " in text
    assert "coterie data fetch" not in text
    assert len([claim for claim in page.claims if "(Tweets)" in claim.said]) == 4


def test_rank_moves_are_those_of_the_weights(results):
    found = results.one("ncut-weights", collection=ncut.TWEETS)
    for _, _, before, _, after, move, share in found["up"] + found["down"]:
        assert move == pytest.approx(before - after)
        assert 0 < share <= 1
    assert min(row[5] for row in found["up"]) > 0 > max(row[5] for row in found["down"])
    assert sum(found["ncut_counts"]) == results.one("ncut-statistics", collection=ncut.TWEETS)["terms"]
    assert json.loads(json.dumps(found)) == found
