"""Spaces of sampled terms: the shortcuts of the experiment give what the plain way gives, and the page reads."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from coterie import NystromSemantics, SphericalKMeans
from coterie.metrics import nmi
from coterie.weights import IdfWeights
from coterie_papers import nystrom, nystrom_kinds
from coterie_papers.bench.collections import COLLECTIONS, SOURCES, Collection, collection, drawn_classes
from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.kinds import KINDS
from coterie_papers.bench.results import Results
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome, plain, trial
from coterie_papers.page import Page

SMALL = "nystrom-small"


@pytest.fixture
def small(monkeypatch):
    """Texts of three classes with words of their own and some that all share."""
    random = np.random.default_rng(0)
    rows = np.zeros((150, 40))
    for i in range(150):
        own = 10 * (i % 3) + random.integers(0, 10, 4)
        rows[i, own] += 1
        rows[i, 30 + random.integers(0, 10, 2)] += 1
    labels = [str(i % 3) for i in range(150)]
    terms = [f"t{j}" for j in range(40)]
    made = Collection(SMALL, csr_matrix(rows), labels, terms, [""] * 150, "made up")
    monkeypatch.setitem(COLLECTIONS, SMALL, lambda: made)
    monkeypatch.setitem(SOURCES, SMALL, ())
    collection.cache_clear()
    yield made
    collection.cache_clear()


def space_trial(semantics="nystrom-pcor", sampled=20, seed=1):
    return trial("nystrom", SMALL, semantics, k=3, seed=seed, sampled=sampled, iterations=30,
                 ranks="2,5,10", nmf_ranks="5")  # fmt: skip


@pytest.mark.parametrize("semantics", ["assc", "assc_n", "cov", "pcor"])
def test_a_space_cut_at_a_rank_is_the_space_of_that_rank(small, semantics):
    found = KINDS["nystrom"](space_trial(f"nystrom-{semantics}"))
    X = IdfWeights().fit_transform(small.X)
    for rank, score in zip((2, 5, 10), found["spherical"]["nmi"], strict=True):
        W = NystromSemantics(semantics, n_sampled=20, rank=rank, random_state=1).fit_transform(X)
        clusters = SphericalKMeans(3, n_init=1, random_state=1).fit_predict(W)
        assert score == pytest.approx(nmi(small.labels, clusters))
    assert found["nmf"]["rank"] == [5]
    assert found["nmf"]["nmi"][0] > 0.3  # classes with words of their own are easy
    assert all(seconds >= found["space_seconds"] for seconds in found["spherical"]["seconds"])


def test_a_draw_of_all_terms_is_told_and_not_made(small):
    assert KINDS["nystrom"](space_trial(sampled=40)) == {"terms": 40, "made": False}
    assert KINDS["nystrom"](space_trial(sampled=39))["made"]


@pytest.mark.parametrize("semantics", ["assc", "assc_n"])
def test_full_rank_needs_no_eigenvectors(small, semantics, monkeypatch):
    """Rows of X A Xᵀ have the inner products of the exact space."""
    seen = {}

    def watched(rows, one):
        seen["W"] = rows.toarray()
        return np.zeros(rows.shape[0], dtype=np.int64), 1

    monkeypatch.setattr(nystrom_kinds, "_spherical", watched)
    KINDS["nystrom-full"](trial("nystrom-full", SMALL, f"nystrom-{semantics}", k=3))
    X = IdfWeights().fit_transform(small.X)
    W = NystromSemantics(semantics, n_sampled=None, rank=40).fit_transform(X)
    np.testing.assert_allclose(seen["W"] @ seen["W"].T, W @ W.T, atol=1e-8 * (W @ W.T).max())


def test_chance_is_far_below_and_the_matrix_of_terms_is_counted(small):
    found = KINDS["nystrom-data"](trial("nystrom-data", SMALL))
    held = (small.X > 0).astype(float)
    assert found["affinity_density"] == (held.T @ held).nnz / 40**2
    assert 0 <= found["chance"] < 0.1
    assert (found["texts"], found["terms"], found["classes"]) == (150, 40, 3)


def test_samples_of_classes_are_nested_and_do_not_overlap():
    class Data:
        labels = [name for name in "abcdefgh" for _ in range(5)] + ["rare"] * 2

    chosen = {span: set(drawn_classes(*span)(Data()).tolist()) for span in ((0, 2), (2, 4), (0, 4), (0, 8))}
    assert {span: len(rows) for span, rows in chosen.items()} == {
        (0, 2): 10, (2, 4): 10, (0, 4): 20, (0, 8): 40,
    }  # fmt: skip
    assert chosen[0, 2] | chosen[2, 4] == chosen[0, 4]
    assert chosen[0, 8] == set(range(40))  # the rare class is none of the largest


@pytest.mark.parametrize("quick", [True, False])
def test_trials_are_unique_and_known(quick):
    trials = nystrom.trials(quick)
    assert len(set(trials)) == len(trials)
    for one in trials:
        assert one.collection in COLLECTIONS
        assert not one.method or one.method in CONTENDERS
        assert one.kind in KINDS


def values(one, good):
    """Made-up outcomes; `good` says whether they are those the paper reports."""
    ours = one.method.startswith("nystrom-")
    score = (0.6 if one.method in ("nystrom-pcor", "nystrom-assc_n") else 0.5) if ours else 0.3
    level = score if good else 0.9 - score
    slow = 4000.0 if one.method.startswith("nmf-ncut") and good else 1.0
    seconds = {"nmf-idf": 4000.0 if good else 1.0}.get(one.method, slow)
    if one.kind == "nystrom-data":
        names = ("texts", "terms", "classes", "words", "chance", "weights_seconds", "affinity_seconds")
        sizes = {"4k": 4000}.get(one.collection.rpartition("-")[2], 2000)
        return dict.fromkeys(names, 0.1) | {
            "texts": sizes, "terms": 3000, "classes": 5, "about": "made up", "affinity_density": 0.01,
        }  # fmt: skip
    if one.kind == "nystrom":
        sampled = one.setting("sampled")
        if sampled >= 3000:
            return {"terms": 3000, "made": False}
        measured = {"terms": 3000, "made": True, "space_seconds": 0.1}
        for name, setting in (("spherical", "ranks"), ("nmf", "nmf_ranks")):
            ranks = nystrom_kinds.numbers(one.setting(setting))
            several = {key: [1.0] * len(ranks) for key in ("ari", "used", "iterations")}
            # without the paper's outcome, NMI needs the rank and time does not depend on ℓ
            scores = [level if good else level * min(1.0, 0.2 + rank / 100) for rank in ranks]
            times = [0.01 * sampled if good else 50.0 for _ in ranks]
            measured[name] = {"rank": ranks, "nmi": scores, "seconds": times, **several}
        return measured
    return {"nmi": level, "ari": level, "used": 5, "seconds": seconds}


def page_of(tmp_path, good):
    trials = nystrom.trials(quick=True)
    with Store(tmp_path / "results.jsonl") as store:
        for one in trials:
            store.add(Outcome(one, plain(values(one, good)), 0.1))
        results = Results(trials, store)
    page = Page(tmp_path, "nystrom", nystrom.TITLE)
    nystrom.page(results, page)
    return page, results


@pytest.mark.parametrize("good", [True, False])
def test_claims_follow_the_numbers(tmp_path, good):
    page, _ = page_of(tmp_path, good)
    verdicts = {said: holds for said, _, holds in page.claims}
    depends = ["best two of the four", "higher NMI than k-means", "a lower rank costs", "outperforms",
               "not feasible", "drastically", "give the best NMI"]  # fmt: skip
    for words in depends:
        found = [holds for said, holds in verdicts.items() if words in said]
        assert found, words
        assert set(found) == {good}, words


def test_the_page_has_its_figures_and_says_what_could_not_be_drawn(tmp_path):
    page, results = page_of(tmp_path, good=True)
    text = page.write(results).read_text(encoding="utf-8")
    assert "fewer than ℓ = 5,000: there is nothing to draw" in text
    for figure in ("spherical-subreddits-2k-a", "nmf-subreddits-2k-b", "spherical-wordnet-2k", "sizes"):
        assert (tmp_path / "nystrom" / f"{figure}.svg").stat().st_size > 10_000
        assert f"nystrom/{figure}.svg" in text
