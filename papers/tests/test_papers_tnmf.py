"""The TNMF paper: its page, its counts, and conclusions that can come out either way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie import TermNMF
from coterie_papers import tnmf, tnmf_kinds
from coterie_papers.bench.results import Results
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome
from coterie_papers.page import Page
from coterie_papers.tnmf_claims import METHODS, OURS, claims
from matrices import count_matrices


def cosines(rows):
    """Cosines between rows as the textbook has them, one pair at a time."""
    found = np.zeros((len(rows), len(rows)))
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            lengths = np.sqrt(a @ a) * np.sqrt(b @ b)
            found[i, j] = a @ b / lengths if lengths else 0.0
    return found


def dense_ppmi(X):
    """PPMI of terms that share texts, from dense counts, entry by entry."""
    held = (X > 0).astype(float)
    n = held.T @ held
    np.fill_diagonal(n, 0)
    found = np.zeros_like(n)
    for i in range(len(n)):
        for j in range(len(n)):
            if n[i, j]:
                found[i, j] = max(np.log(n[i, j] * n.sum() / (n[i].sum() * n[j].sum())), 0.0)
    return found


@settings(max_examples=50)
@given(count_matrices(max_rows=9, max_terms=8))
def test_densities_are_those_of_the_dense_matrices(X):
    sparse = csr_matrix(X)
    assert tnmf_kinds.share_of_pairs(sparse) == np.mean(cosines(X) > 0)
    assert tnmf_kinds.share_of_pairs(sparse.T.tocsr()) == np.mean(cosines(X.T) > 0)
    # values a rounding error above zero are zero or not by chance, in either computation
    company = dense_ppmi(X)
    if not ((company > 0) & (company < 1e-9)).any():
        assert tnmf_kinds.share_of_pairs(tnmf_kinds.company(sparse)) == np.mean(cosines(company) > 0)


def test_densities_are_counted_over_all_strips(monkeypatch):
    X = csr_matrix((np.random.default_rng(0).random((23, 11)) < 0.1).astype(float))
    X.data[::5] = 0.0  # zeros that are stored are none
    whole = tnmf_kinds.share_of_pairs(X)
    monkeypatch.setattr(tnmf_kinds, "_STRIP", 5)
    assert tnmf_kinds.share_of_pairs(X) == whole == np.mean(cosines(X.toarray()) > 0)


def test_company_is_what_goes_together_more_often_than_chance():
    X = (np.random.default_rng(0).random((12, 14)) < np.linspace(0.02, 0.3, 14)).astype(float)
    found = tnmf_kinds.share_of_pairs(tnmf_kinds.company(csr_matrix(X)))
    assert found == np.mean(cosines(dense_ppmi(X)) > 0)
    together = X.T @ X
    np.fill_diagonal(together, 0)
    assert found < np.mean(cosines(together) > 0)  # terms that only meet by chance are no company


@settings(max_examples=50)
@given(count_matrices(max_rows=10), st.integers(1, 4), st.randoms(use_true_random=False))
def test_terms_arrive_with_the_text_that_makes_them_often_enough(X, least, random):
    order = np.array(random.sample(range(len(X)), len(X)))
    found = tnmf_kinds.arrivals(csr_matrix(X), order, least)
    for n in range(len(X) + 1):
        so_far = np.count_nonzero(X[order[:n]], axis=0) >= least
        assert (found < n).tolist() == so_far.tolist()


def test_clusters_of_counts_are_the_strongest_memberships():
    X = csr_matrix(
        [[1, 1, 0, 0], [2, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 2, 1], [0, 0, 0, 0]], dtype=float
    )
    found, memberships = tnmf_kinds.learn(TermNMF(2, init="svd"), X)
    assert found[0] == found[1] == found[2] != found[3] == found[4]
    assert memberships.shape == (6, 2)
    assert found[5] == found[0]  # a text without words goes where most are


# --- conclusions, from numbers made up


def level(method, world):
    """Scores in a world: with what the paper says true, or all of it false."""
    order = ("nmf-i", "gnmf", "symnmf", "nmf-e", "lda", "tnmf-i", "tnmf-e")
    rank = order.index(method) / 10
    return {"paper": rank, "opposite": 0.9 - rank}[world]


def made_up(trial, world):
    paper = world == "paper"
    many_topics = trial.k == tnmf.trials(True)[0].k
    question = trial.collection != "titles"
    if trial.kind == "tnmf-topics":
        base = level(trial.method, world)
        if trial.method in OURS and question:
            base += 0.2 if paper else -0.2
        steady = trial.method in ("symnmf", *OURS)
        if many_topics and steady != paper:
            base -= 0.05
        lda, ours = trial.method == "lda", trial.method in OURS
        return {
            **dict.fromkeys(("nmi", "ari", "purity", "svm"), base),
            "coherence": level("nmf-e" if trial.method == "gnmf" and paper else trial.method, world),
            "common": 0.1 if lda == paper else (0.01 if ours else 0.02),
        }
    if trial.kind == "tnmf-growth":
        growth = {"all": 5, "enough": 4, "seen": 1.1} if paper else {"all": 12, "enough": 11, "seen": 2}
        return {
            "texts": [2000, 20_000],
            "fixed": 20_000,
            **{n: [100, int(100 * g)] for n, g in growth.items()},
        }
    if trial.kind == "tnmf-statistics":
        prepared = trial.collection == "titles"
        return {"rare": (0.0 if prepared else 0.9) if paper else (0.5 if prepared else 0.1)}
    if trial.kind == "tnmf-density":
        return {"by_texts": 0.05 if paper else 0.2, "by_company": 0.9 if paper else 0.3}
    return {}


@pytest.mark.parametrize(("world", "holds"), [("paper", True), ("opposite", False)])
def test_every_conclusion_can_come_out_either_way(tmp_path, world, holds):
    trials = tnmf.trials(quick=True)
    with Store(tmp_path / "results.jsonl") as store:
        for trial in trials:
            store.add(Outcome(trial, made_up(trial, world), 0.0))
        page = Page(tmp_path, "tnmf", tnmf.TITLE)
        claims(Results(trials, store), page)
    assert len(page.claims) > 20
    assert [said for said, _, found in page.claims if found is not holds] == []


# --- the page


def test_all_trials_are_there_for_every_method_and_run():
    found = [t for t in tnmf.trials(quick=False) if t.kind == "tnmf-topics"]
    assert len(found) == len(set(found)) == 2 * 5 * 10 * len(METHODS)
    assert sorted({t.k for t in found}) == [20, 40, 60, 80, 100]
