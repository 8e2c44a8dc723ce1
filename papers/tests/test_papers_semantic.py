"""The Semantic-NMF page: what is measured, checked by hand, and claims that follow the numbers."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from coterie import SemanticNMF
from coterie.metrics.windows import WindowCounts
from coterie_papers import semantic, semantic_kinds
from coterie_papers.bench.results import Results
from coterie_papers.bench.runner import perform
from coterie_papers.bench.trial import Outcome, trial
from coterie_papers.page import Page
from coterie_papers.semantic_kinds import PlainNMF, PrintedSemanticNMF


@pytest.fixture
def X():
    """Forty texts of two kinds, with a few words in common."""
    random = np.random.default_rng(0)
    rates = np.vstack([np.repeat([[2, 2, 2, 0.1, 0.1, 0.1, 0.5]], 20, axis=0),
                       np.repeat([[0.1, 0.1, 0.1, 2, 2, 2, 0.5]], 20, axis=0)])  # fmt: skip
    return csr_matrix(random.poisson(rates).astype(float))


def test_plain_nmf_knows_nothing_of_company(X):
    halves = np.array([0, 0, 0, 1, 1, 1, 1])
    company = csr_matrix(100.0 * (halves[:, None] == halves) - 100 * np.eye(7))
    settings = {"max_iter": 300, "tol": 0.0, "random_state": 0}
    plain = PlainNMF(2, **settings).fit(X, cooccurrence=company)
    assert not plain.semantic_core_.any()
    with_company = SemanticNMF(2, **settings).fit(X, cooccurrence=company)
    assert with_company.objective_[-1] != pytest.approx(plain.objective_[-1])
    # the objective is that of NMF: memberships inferred anew with W fixed reach the same
    Y = plain._weighted(X).toarray()
    Z = plain.transform(X)
    W = plain.components_.T / np.linalg.norm(plain.components_, axis=1) * plain.topic_lengths_
    assert 0.5 * ((Y - Z @ W.T) ** 2).sum() == pytest.approx(plain.objective_[-1], rel=1e-3)


def test_printed_updates_are_those_of_senmf_until_a_step_is_shortened(X):
    settings = {"max_iter": 30, "tol": 0.0, "random_state": 0}
    safe = SemanticNMF(2, **settings).fit(X).objective_
    printed = PrintedSemanticNMF(2, **settings).fit(X).objective_
    rising = np.flatnonzero(np.diff(printed) > 1e-9 * printed[0])
    same = int(rising[0]) + 1 if len(rising) else min(len(safe), len(printed))
    assert same > 3
    np.testing.assert_allclose(printed[:same], safe[:same], rtol=1e-9)


def test_mutual_information_of_words_by_hand():
    together = np.array([[40, 20, 0], [20, 30, 0], [0, 0, 10]])
    counts = WindowCounts(100, csr_array(together))
    pmi, of_met, met = semantic_kinds._together(np.array([0, 1, 2]), counts)
    known = np.log(0.2 / (0.4 * 0.3))
    assert (pmi, of_met, met) == pytest.approx((known / 3, known, 1 / 3))


def test_words_that_never_meet_have_no_mutual_information():
    counts = WindowCounts(100, csr_array(np.diag([40, 30])))
    pmi, of_met, met = semantic_kinds._together(np.array([0, 1]), counts)
    assert (pmi, met) == (0.0, 0.0)
    assert np.isnan(of_met)


def test_cosines_of_pairs():
    vectors = np.array([[1.0, 0], [2, 0], [1, 1], [0, 0]])
    found = semantic_kinds._cosine(vectors, np.array([[0, 0, 0], [1, 2, 3]]))
    np.testing.assert_allclose(found, [1, 2**-0.5, 0])


def test_pairs_of_texts_are_of_one_class_or_of_two():
    classes = np.repeat([0, 1, 2], [5, 50, 500])
    same, other = semantic_kinds._pairs_of_texts(classes, np.random.default_rng(0))
    assert (classes[same[0]] == classes[same[1]]).all()
    assert (same[0] != same[1]).all()
    assert (classes[other[0]] != classes[other[1]]).all()
    # all pairs are as likely as each other: of those of one class, most are of the largest
    assert np.mean(classes[same[0]] == 2) == pytest.approx(
        500 * 499 / (500 * 499 + 50 * 49 + 5 * 4), abs=0.01
    )


@pytest.mark.parametrize("method", semantic.METHODS)
def test_fit_on_the_sample(monkeypatch, method):
    monkeypatch.setattr(semantic_kinds, "OUTSIDE", "sample")
    settings = {} if method.startswith("spherical") else {"iterations": 5}
    values, _, _ = perform(trial("semantic-fit", "sample", method, k=3, **settings))
    assert [len(topic) for topic in values["topics"]] == [semantic_kinds.TOP] * 3
    assert 0 < values["met"] <= 1
    assert values["pmi"] <= values["pmi_of_met"]
    way = values["objective"] if method != "spherical-idf" else [-value for value in values["objective"]]
    assert values["criterion"] == way[-1] <= way[0]


def test_embeddings_of_the_sample():
    values, _, _ = perform(trial("semantic-cosines", "sample", "senmf", k=3, iterations=20))
    for what in ("words", "texts"):
        summary = values[what]
        assert 0 <= summary["low"] <= summary["q1"] <= summary["median"] <= summary["q3"] <= summary["high"]
        assert summary["high"] <= 1 + 1e-9
        assert summary["mean"] > values[f"{what}_across"]["mean"]


def test_full_trials_are_distinct_and_have_ten_runs_or_more():
    listed = semantic.trials(False)
    assert len({one.key for one in listed}) == len(listed)
    for name in semantic.CLASSES:
        for method in semantic.METHODS:
            runs = [t for t in listed if (t.kind, t.collection, t.method) == ("semantic-fit", name, method)]
            assert len(runs) >= 10
    assert len(semantic.trials(True)) < len(listed)


# --- the page, from numbers made up so that what holds is known


def _values(one, better):
    """Outcomes in which SeNMF is better by as much, or worse where that is negative."""
    level = 0.5 + (better if one.method.startswith("senmf") else 0) + 0.001 * one.seed
    level += 0.01 if one.method == "spherical-idf" else 0
    if one.kind == "semantic-outside":
        return {"texts": 1000, "words": 10_000}
    if one.kind == "semantic-data":
        return {"texts": 10, "terms": 20, "classes": 4, "balance": 0.5, "filled_x": 0.1, "filled_m": 0.2,
                "about": "made up", "outside_windows": 100, "outside_terms": 0.9}  # fmt: skip
    if one.kind == "semantic-cosines":
        box = {"low": 0.1, "q1": 0.2, "median": level, "q3": 0.9, "high": 1.0, "mean": level}
        return dict.fromkeys(("words", "texts", "words_across", "texts_across"), box)
    way = [1e6 * (1 + 0.5**i) for i in range(20)]
    if one.kind == "semantic-curve":
        return {"objective": way if better > 0 else way[::-1]}
    return {"nmi": level, "ari": level, "seconds": 1.0, "criterion": 1.0 + one.seed, "objective": way,
            "topics": [["a|b", "<c>"]] * one.k, "topic_pmi": [1.0] * one.k, "pmi": level,
            "pmi_of_met": 1.0 if better else level, "met": 0.5}  # fmt: skip


class _Made:
    """Outcomes that were made up, in place of a store on disk."""

    def __init__(self, outcomes):
        self.outcomes = {outcome.trial.key: outcome for outcome in outcomes}

    def __contains__(self, one):
        return one.key in self.outcomes


def _results(better, change=lambda one, values: values):
    listed = semantic.trials(True)
    return Results(listed, _Made(Outcome(one, change(one, _values(one, better)), 0.0) for one in listed))


def _page(folder, *made):
    page = Page(folder, "semantic", semantic.TITLE)
    semantic.page(_results(*made), page)
    return page


def test_claims_follow_the_numbers(tmp_path):
    good, bad = _page(tmp_path, 0.1), _page(tmp_path, -0.1)
    for (said, _, holds), (_, _, fails) in zip(good.claims, bad.claims, strict=True):
        if "go together" in said:  # the two numbers for the same words disagree, or are equal
            continue
        if any(part in said for part in ("spherical k-means clusters", "converges", "best criterion")):
            assert holds is fails is True
        else:
            assert (holds, fails) == (True, False), said


def test_claim_about_the_best_run_follows_its_score(tmp_path):
    def change(one, values):
        if one.kind == "semantic-fit" and one.seed == 0:  # its criterion is the best
            values["nmi"] = 0.0
        return values

    page = _page(tmp_path, 0.1, change)
    found = [(measured, holds) for said, measured, holds in page.claims if "best criterion" in said]
    assert [holds for _, holds in found] == [False] * 3
    assert all(measured.startswith("NMI 0.00, 0.30 ±") for measured, _ in found)


def test_mutual_information_decides_only_if_both_numbers_agree(tmp_path):
    def measured(of_met):
        def change(one, values):
            if one.kind == "semantic-fit":
                values["pmi_of_met"] = of_met if one.method == "senmf" else 1.0
            return values

        return change

    for better, of_met, holds in ((0.1, 2.0, True), (-0.1, 0.5, False), (0.1, 0.5, None)):
        page = _page(tmp_path, better, measured(of_met))
        assert [claim[2] for claim in page.claims if "go together" in claim[0]] == [holds] * 3


def test_page_is_whole_and_the_same_again(tmp_path):
    first, second = _page(tmp_path / "a", 0.1), _page(tmp_path / "b", 0.1)
    assert first.markdown(_results(0.1)) == second.markdown(_results(0.1))
    for page in (first, second):
        page.write(_results(0.1))
    names = ("convergence", "cosines-words", "cosines-texts")
    for name in names:
        assert f"semantic/{name}.svg" in first.markdown(_results(0.1))
        for ending in ("svg", "png"):
            files = [tmp_path / run / "semantic" / f"{name}.{ending}" for run in "ab"]
            assert files[0].read_bytes() == files[1].read_bytes()
    assert r"a\|b" in first.markdown(_results(0.1))  # a word is text, whatever it is made of
