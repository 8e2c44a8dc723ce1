"""The Semantic-NMF page: what is measured, checked by hand, and claims that follow the numbers."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.sparse import csr_array, csr_matrix

from coterie import SemanticNMF, semantics
from coterie.baselines import OrthogonalNMF
from coterie.datasets import locations
from coterie.metrics.windows import WindowCounts
from coterie_papers import semantic, semantic_claims, semantic_kinds
from coterie_papers.bench.collections import collection
from coterie_papers.bench.results import Results
from coterie_papers.bench.runner import perform
from coterie_papers.bench.trial import Outcome, trial
from coterie_papers.page import Page
from coterie_papers.semantic_kinds import PlainNMF, PrintedSemanticNMF
from coterie_papers.verdicts import Verdict


@pytest.fixture
def X():
    """Forty texts of two kinds, with a few words in common."""
    random = np.random.default_rng(0)
    rates = np.vstack([np.repeat([[2, 2, 2, 0.1, 0.1, 0.1, 0.5]], 20, axis=0),
                       np.repeat([[0.1, 0.1, 0.1, 2, 2, 2, 0.5]], 20, axis=0)])  # fmt: skip
    return csr_matrix(random.poisson(rates).astype(float))


@pytest.fixture
def outside(monkeypatch):
    """`outside(name)` takes another data set as the outside texts."""
    cached = ("outside_counts", "cooccurrence_outside", "_outside_words")

    def forget():
        for name in cached:
            getattr(semantic_kinds, name).cache_clear()

    def take(name):
        monkeypatch.setattr(semantic_kinds, "OUTSIDE", name)
        forget()

    yield take
    forget()


def test_plain_nmf_knows_nothing_of_cooccurrence(X):
    halves = np.array([0, 0, 0, 1, 1, 1, 1])
    counts = csr_matrix(100.0 * (halves[:, None] == halves) - 100 * np.eye(7))
    settings = {"max_iter": 300, "tol": 0.0, "random_state": 0}
    plain = PlainNMF(2, **settings).fit(X, cooccurrence=counts)
    assert not plain.semantic_core_.any()
    with_counts = SemanticNMF(2, **settings).fit(X, cooccurrence=counts)
    assert with_counts.objective_[-1] != pytest.approx(plain.objective_[-1])
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


@pytest.mark.parametrize("make", [SemanticNMF, PlainNMF, OrthogonalNMF])
def test_clusters_with_w_at_unit_length_are_those_of_the_formula(X, make):
    """Z minimises ‖x − Wz‖² for each text, with columns of W of unit length; its largest entry decides."""
    model = make(3, random_state=1).fit(X)
    W = model.components_.T / np.linalg.norm(model.components_, axis=1)
    Z = np.array([nnls(W, row)[0] for row in model._weighted(X).toarray()])
    clear = np.sort(Z, axis=1)[:, -1] - np.sort(Z, axis=1)[:, -2] > 0.01
    assert clear.sum() > 30
    found = semantic_kinds.unit_topics(model, X)
    np.testing.assert_array_equal(found[clear], Z[clear].argmax(axis=1))


def test_the_two_scales_of_topics_differ(X):
    """A topic that nearly every text has is strong with W at unit length, and not with Z."""
    many = csr_matrix(np.vstack([X.toarray()[:20], X.toarray()[:20] * 2, X.toarray()]))
    model = SemanticNMF(5, random_state=0).fit(many)
    assert (semantic_kinds.unit_topics(model, many) != model.labels_).any()


def test_a_text_without_words_goes_where_others_go():
    X = csr_matrix(np.array([[2, 1, 0], [1, 2, 0], [0, 0, 1], [0, 0, 0]], dtype=float))
    model = SemanticNMF(2, random_state=0).fit(X)
    assert semantic_kinds.unit_topics(model, X)[3] == model.fallback_


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
def test_fit_on_the_sample(outside, method):
    outside("sample")
    settings = {} if method.startswith("spherical") else {"iterations": 5, "tol": 1e-8}
    values, _, _ = perform(trial("semantic-fit", "sample", method, k=3, **settings))
    assert [len(topic) for topic in values["topics"]] == [semantic_kinds.TOP] * 3
    assert 0 < values["met"] <= 1
    assert values["pmi"] <= values["pmi_of_met"]
    assert ("nmi_unit_topics" in values) == (method != "spherical-idf")
    assert ("objective" in values) == (method == "senmf")
    if method == "senmf":
        assert values["iterations"] == len(values["objective"]) == 5
        assert values["criterion"] == pytest.approx(values["objective"][-1], rel=1e-8)
        assert values["objective"][-1] < values["objective"][0]


def test_a_run_ends_when_an_iteration_lowers_the_objective_too_little():
    long, short = (
        perform(trial("semantic-curve", "sample", "senmf", k=3, iterations=400, tol=tol))[0]["objective"]
        for tol in (1e-6, 1e-3)
    )
    assert len(short) < len(long) < 400
    assert long[: len(short)] == short
    assert short[-2] - short[-1] <= 1e-3 * short[-2]


def test_cooccurrence_comes_from_where_the_trial_says(outside):
    outside("bikes")
    X, found = collection("sample").X, {}
    for counts in (None, "texts", "outside"):
        one = trial("semantic-scores", "sample", "senmf", k=3, iterations=5, counts=counts)
        found[counts] = perform(one)[0]["objective"]
    own = SemanticNMF(3, random_state=0, max_iter=5, tol=0.0)
    np.testing.assert_allclose(found["texts"], own.fit(X).objective_, rtol=1e-8)
    windows = semantic_kinds.cooccurrence("sample")
    np.testing.assert_allclose(found[None], own.fit(X, cooccurrence=windows).objective_, rtol=1e-8)
    assert len({way[-1] for way in found.values()}) == 3
    bikes = semantic_kinds.cooccurrence_outside("sample", None)
    assert bikes.nnz > 1000
    assert abs(bikes - bikes.T).nnz == 0


def test_terms_of_classic4_are_stems_of_three_letters_or_more(dataset):
    dataset("classic4")
    few, all_tokens = collection("classic4-quick"), collection("classic4-tokens-quick")
    assert all(term.isalpha() and len(term) > 2 for term in few.terms)
    assert any(not term.isalpha() for term in all_tokens.terms)
    assert few.labels == all_tokens.labels


def test_sizes_of_the_sample(outside):
    outside("sample")
    values, _, _ = perform(trial("semantic-data", "sample", outside=None))
    M = semantics.ppmi(semantic_kinds.cooccurrence("sample"), shift=semantic_kinds.NEGATIVES).toarray()
    assert values["squared_norm_of_m"] == pytest.approx((M**2).sum())
    assert values["filled_m"] == values["filled_m_outside"] == pytest.approx((M > 0).mean())
    assert values["outside_terms"] == 1.0


# --- the paper's own counts, which may be on this machine


@pytest.fixture
def matrix(tmp_path, monkeypatch):
    """A stand-in for the matrix of REUTERS: five classes of texts that share few terms."""
    random = np.random.default_rng(0)
    lines = ["terms\t40"]
    for kind, size in enumerate([30, 25, 20, 15, 5]):
        for _ in range(size):
            columns = np.unique(np.append(8 * kind + random.integers(0, 8, 6), random.integers(0, 40)))
            lines.append(f"{kind}\t" + " ".join(f"{j}:{random.integers(1, 4)}" for j in columns))
    (tmp_path / "reuters-matrix.tsv.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    monkeypatch.setattr(locations, "folders", lambda: [tmp_path])
    collection.cache_clear()
    yield
    collection.cache_clear()


def test_matrices_are_run_only_where_they_are(monkeypatch, matrix):
    listed = {one.collection for one in semantic.trials(False)}
    assert "reuters4-matrix" in listed
    assert "ng20-matrix" not in listed
    assert "reuters4-matrix" not in {one.collection for one in semantic.trials(True)}
    monkeypatch.setattr(locations, "folders", lambda: [Path("nowhere")])
    assert "reuters4-matrix" not in {one.collection for one in semantic.trials(False)}


def test_a_matrix_without_terms_is_clustered(matrix, tmp_path):
    data = collection("reuters4-matrix")
    assert sorted(set(data.labels)) == ["0", "1", "2", "3"]  # the smallest class is left out
    assert data.X.shape[0] == 90
    listed = [one for one in semantic.trials(False) if one.collection == "reuters4-matrix"]
    assert {one.method for one in listed} == set(semantic.MATRIX_METHODS)
    outcomes = [Outcome(one, perform(one)[0], 0.0) for one in listed if one.seed < 2]
    assert all(o.values["nmi"] > 0.8 for o in outcomes if o.trial.method == "senmf")
    results = Results([o.trial for o in outcomes] + semantic.trials(True), _Made([*outcomes, *_made(0.1)]))
    page = Page(tmp_path, "semantic", semantic.TITLE)
    semantic.page(results, page)
    text = page.markdown(results)
    assert "| reuters4-matrix, NMI, 2 runs | " in text
    assert "| *paper* | *0.40* | *0.35* | *0.61* |" in text
    assert "coterie data fetch reuters-matrix" not in text


def test_embeddings_of_the_sample():
    values, _, _ = perform(trial("semantic-cosines", "sample", "senmf", k=3, iterations=20))
    for what in ("words", "texts"):
        summary = values[what]
        assert 0 <= summary["low"] <= summary["q1"] <= summary["median"] <= summary["q3"] <= summary["high"]
        assert summary["high"] <= 1 + 1e-9
        assert summary["mean"] > values[f"{what}_across"]["mean"]


def test_full_trials_are_distinct_and_run_to_convergence():
    listed = semantic.trials(False)
    assert len({one.key for one in listed}) == len(listed)
    for name, runs in semantic.RUNS.items():
        for method in semantic.METHODS:
            found = [t for t in listed if (t.kind, t.collection, t.method) == ("semantic-fit", name, method)]
            assert len(found) == runs >= 5
            if method != "spherical-idf":
                assert {(t.setting("iterations"), t.setting("tol")) for t in found} == {(1000, 1e-8)}
    assert len(semantic.trials(True)) < len(listed)


# --- the page, from numbers made up so that what holds is known


def _values(one, better):
    """Outcomes in which SeNMF is better by as much, or worse where that is negative."""
    level = 0.5 + (better if one.method.startswith("senmf") else 0) + 0.001 * one.seed
    level += 0.03 if one.method == "spherical-idf" else 0
    if one.kind == "semantic-outside":
        return {"texts": 1000, "words": 10_000}
    if one.kind in ("semantic-data", "semantic-sizes"):
        return {"texts": 10, "terms": 20, "classes": 4, "balance": 0.5, "filled_x": 0.1, "filled_m": 0.2,
                "about": "made up", "outside_windows": 100, "outside_terms": 0.9, "entries": 20,
                "filled_m_outside": 0.05, "squared_norm_of_m": 160.0, "with_header": 0.25}  # fmt: skip
    if one.kind == "semantic-cosines":
        box = {"low": 0.1, "q1": 0.2, "median": level, "q3": 0.9, "high": 1.0, "mean": level}
        return dict.fromkeys(("words", "texts", "words_across", "texts_across"), box)
    way = [1e6 * (1 + 0.5**i) for i in range(200)]
    if one.kind == "semantic-curve":
        return {"objective": way[:50] if better > 0 else way[50::-1]}
    if better < 0:  # all of the fall comes late
        way = [1e6 * (2 - i / 1000) for i in range(1000)]
    values = {"nmi": level, "ari": level, "seconds": 1.0, "criterion": 1.0 + one.seed, "objective": way,
              "iterations": 200, "nmi_unit_topics": level - 0.2, "ari_unit_topics": level - 0.2}  # fmt: skip
    if one.kind == "semantic-scores":
        return values
    return {**values, "topics": [["a|b", "<c>"]] * one.k, "topic_pmi": [1.0] * one.k, "pmi": level,
            "pmi_of_met": 1.0 + better if one.method == "senmf" else 1.0, "met": 0.5}  # fmt: skip


class _Made:
    """Outcomes that were made up, in place of a store on disk."""

    def __init__(self, outcomes):
        self.outcomes = {outcome.trial.key: outcome for outcome in outcomes}

    def __contains__(self, one):
        return one.key in self.outcomes


def _made(better, change=lambda one, values: values):
    return [Outcome(one, change(one, _values(one, better)), 0.0) for one in semantic.trials(True)]


def _results(*made):
    return Results(semantic.trials(True), _Made(_made(*made)))


def _page(folder, *made):
    page = Page(folder, "semantic", semantic.TITLE)
    semantic.page(_results(*made), page)
    return page


def test_every_claim_can_come_out_either_way(tmp_path):
    def worse(one, values):
        if one.kind == "semantic-fit" and one.method == "spherical-idf":
            values |= {"nmi": 0.1, "ari": 0.1}
        if one.kind == "semantic-fit" and one.method == "senmf":
            values["nmi"] -= 0.1 * (one.seed == 0)  # its criterion is the best
        return values

    good, bad = _page(tmp_path, 0.1), _page(tmp_path, -0.1, worse)
    assert len(good.claims) == len(bad.claims) == 23
    assert {claim.verdict for claim in good.claims} == {Verdict.HOLDS}
    for claim in bad.claims:
        stand_in = claim.group == semantic_claims.WORDS  # Wikipedia is not here
        assert claim.verdict is (Verdict.OTHER_DATA if stand_in else Verdict.FAILS), claim.said


def test_what_is_alike_is_a_tie(tmp_path):
    found = _page(tmp_path, 0.005).claims
    embeddings = [claim for claim in found if claim.group == semantic_claims.EMBEDDINGS]
    better = [claim for claim in found if "better than NMF (" in claim.said]
    assert len(embeddings) == 6
    assert len(better) == 3
    assert {claim.verdict for claim in embeddings + better} == {Verdict.IN_PART}


def test_few_topics_do_not_decide_about_embeddings(tmp_path):
    def change(one, values):
        if one.kind == "semantic-cosines" and one.k < 40:
            values = {what: {**box, "median": 1.0 - box["median"]} for what, box in values.items()}
        return values

    found = [c for c in _page(tmp_path, 0.1, change).claims if c.group == semantic_claims.EMBEDDINGS]
    assert {claim.verdict for claim in found} == {Verdict.HOLDS}


def test_the_mean_of_the_runs_decides_about_convergence(tmp_path):
    """One run that is late is no matter, if the others are early."""

    def change(one, values):
        if one.kind == "semantic-fit" and one.method == "senmf" and one.seed == 0:
            values["objective"] = [1e6 * (1 + 0.5 ** (i / 20)) for i in range(400)]
        return values

    (claim,) = (c for c in _page(tmp_path, 0.1, change).claims if "converges" in c.said)
    late = 1 - 0.5 ** (99 / 20)
    assert claim.verdict is Verdict.HOLDS
    assert late < 0.98
    assert claim.reason == f"lowest {(1 + late) / 2:.1%}"


def test_no_rule_refutes_what_the_paper_printed(tmp_path):
    def change(one, values):
        if one.kind == "semantic-fit":
            for value in semantic_claims.MEASURES:
                said = semantic_claims.PAPER_SCORES[semantic_claims.base(one.collection), value]
                values[value] = said[semantic_claims.METHODS.index(one.method)][0]
        return values

    page = _page(tmp_path, 0.1, change)
    found = [claim for claim in page.claims if claim.group == semantic_claims.CLUSTERS]
    assert {claim.verdict for claim in found} == {Verdict.HOLDS}
    assert "REUTERS 0.61 against 0.35 (paper: 0.61 against 0.35)" in page.markdown(_results(0.1))


def test_mutual_information_decides_only_if_both_numbers_agree(tmp_path):
    def measured(of_met):
        def change(one, values):
            if one.kind == "semantic-fit":
                values["pmi_of_met"] = of_met if one.method == "senmf" else 1.0
            return values

        return change

    expected = ((0.1, 2.0, Verdict.HOLDS), (-0.1, 0.5, Verdict.OTHER_DATA), (0.1, 0.5, Verdict.IN_PART))
    for better, of_met, holds in expected:
        page = _page(tmp_path, better, measured(of_met))
        assert [claim.verdict for claim in page.claims if "go together" in claim.said] == [holds] * 3


def test_page_begins_with_the_method(tmp_path):
    text = _page(tmp_path, 0.1).markdown(_results(0.1))
    parts = ["**NMI of SeNMF", "## The method", "semantic/method.svg", "--method semantic-nmf", "## What holds",
             "### On clusters", "## Data", "## Clusters", "### W at unit length", "### M from other texts",
             "### The paper's own counts", "coterie data fetch ng20-matrix", "## Convergence"]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "| classic4-quick, NMI | W | 0.30 ± 0.00 (0.30) | " in text


def test_the_level_of_the_objective_tells_the_logarithm(tmp_path):
    """‖M‖² of 160 with 80 entries: 2 each, and 2 / ln² 2 in base 2."""
    text = _page(tmp_path, 0.1).markdown(_results(0.1))
    assert "| classic4-quick | 4.18e+06 | 80 | 167 | 10.0 | 2.0 | 4.2 |" in text


def test_page_is_whole_and_the_same_again(tmp_path):
    first, second = _page(tmp_path / "a", 0.1), _page(tmp_path / "b", 0.1)
    assert first.markdown(_results(0.1)) == second.markdown(_results(0.1))
    for page in (first, second):
        page.write(_results(0.1))
    names = ("method", "convergence", "cosines-words", "cosines-texts")
    for name in names:
        assert f"semantic/{name}.svg" in first.markdown(_results(0.1))
        for ending in ("svg", "png"):
            files = [tmp_path / run / "semantic" / f"{name}.{ending}" for run in "ab"]
            assert files[0].read_bytes() == files[1].read_bytes()
    assert r"a\|b" in first.markdown(_results(0.1))  # a word is text, whatever it is made of
