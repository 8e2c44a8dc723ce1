"""LDA: what the sampler is given and gives, the inference written out, the contract of all estimators."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import GibbsLDA
from coterie.baselines import lda as kernels
from coterie.engines import as_engine
from coterie.errors import InputError
from coterie.metrics import ari, nmi, purity
from matrices import count_matrices, with_weights

tomotopy = pytest.importorskip("tomotopy", reason="tomotopy, of the extra lda, is not installed")

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


# scikit-learn's checks feed fractions, which are not counts: by default all would be refused
@pytest.mark.slow
@parametrize_with_checks([GibbsLDA(n_iter=10, fractions="ceil")], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


def planted(seed=0, n_rows=60, n_groups=3, terms_each=6):
    """Counts of texts of five words, nine of ten words from the text's own group of terms; the groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(n_groups, size=n_rows)
    X = np.zeros((n_rows, n_groups * terms_each))
    for row, own in enumerate(group):
        for _ in range(5):
            from_group = own if rng.random() < 0.9 else rng.integers(n_groups)
            X[row, from_group * terms_each + rng.integers(terms_each)] += 1
    return X, group


def small(n_topics=3, **parameters):
    return GibbsLDA(n_topics, **{"alpha": 0.1, "n_iter": 60, "random_state": 0} | parameters)


# what the sampler is given and what it gives


@settings(max_examples=30)
@given(with_weights(count_matrices()), st.sampled_from([0.01, 0.1, 2.0]))
def test_one_topic_is_the_smoothed_counts(case, eta):
    """φ_w = (n_w + η) / (n + Vη) with V the number of terms that occur: nothing is left to chance."""
    X, times = case
    model = GibbsLDA(1, eta=eta, n_iter=3, random_state=0).fit(X, sample_weight=times)
    counts = times @ X
    seen = counts > 0
    expected = np.where(seen, counts + eta, 0) / max(counts.sum() + seen.sum() * eta, 1e-300)
    np.testing.assert_allclose(model.components_[0], expected, rtol=1e-6)


@settings(max_examples=30)
@given(with_weights(count_matrices()))
def test_texts_are_words_written_out(case):
    X, times = case
    texts = kernels.texts_of(csr_matrix(X), times.astype(float))
    rows = [
        [str(term) for term, count in enumerate(row) for _ in range(int(count))]
        for row, n in zip(X, times, strict=True)
        for _ in range(n)
    ]
    assert texts == rows


def test_the_sampler_runs_alone_with_fixed_priors(monkeypatch):
    models = []

    class Recorded(tomotopy.LDAModel):
        def train(self, *args, **kwargs):
            models.append((self, args, kwargs, list(self.alpha)))
            super().train(*args, **kwargs)

    monkeypatch.setattr(tomotopy, "LDAModel", Recorded)
    model = GibbsLDA(4, n_iter=30, random_state=0).fit(planted()[0])
    [(sampler, args, kwargs, alpha)] = models
    assert args == (30,)
    assert kwargs == {"workers": 1, "parallel": tomotopy.ParallelScheme.NONE}
    assert (sampler.k, sampler.optim_interval) == (4, 0)
    assert sampler.eta == pytest.approx(0.1)
    assert alpha == list(sampler.alpha) == [12.5] * 4
    assert model.alpha_ == 12.5
    assert len(sampler.docs) == 60
    assert model.n_iter_ == 30


def test_the_seed_decides():
    X, _ = planted()
    first, same, other = (small(random_state=seed, n_iter=5).fit(X).components_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_planted_groups_are_found():
    X, group = planted()
    for seed in range(3):
        model = small(n_iter=200, random_state=seed).fit(X)
        assert ari(group, model.labels_) > 0.85
        np.testing.assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-12)


# the inference, one number at a time


def dense_fold_in(x, topics, alpha, steps):
    if not any(x[w] and topics[:, w].any() for w in range(len(x))):
        return np.zeros(len(topics))
    theta = np.full(len(topics), 1 / len(topics))
    for _ in range(steps):
        expected = np.zeros(len(topics))
        for w in range(len(x)):
            share = theta * topics[:, w]
            if share.sum() > 0:
                expected += x[w] * share / share.sum()
        theta = (alpha + expected) / (alpha + expected).sum()
    return theta


@settings(max_examples=50)
@given(
    count_matrices(), st.integers(1, 4), st.sampled_from([0.01, 0.5, 6.0]), st.integers(0, 100), st.booleans()
)
def test_inference_is_the_formula_written_out(X, n_topics, alpha, seed, unknown):
    topics = np.random.default_rng(seed).dirichlet(np.full(X.shape[1], 0.5), n_topics) + 1e-6
    if unknown:
        topics[:, 0] = 0
    found = kernels.fold_in(csr_matrix(X), topics, alpha, 20)
    np.testing.assert_allclose(found, [dense_fold_in(x, topics, alpha, 20) for x in X], rtol=1e-8, atol=1e-12)


def test_inference_reaches_the_maximum():
    topics = np.random.default_rng(0).dirichlet(np.full(8, 0.3), 3) + 1e-4
    x, alpha = np.array([2.0, 0, 1, 0, 3, 0, 0, 1]), 0.4

    def loss(free):
        theta = np.exp(free) / np.exp(free).sum()
        return -(x @ np.log(theta @ topics)) - alpha * np.log(theta).sum()

    best = minimize(loss, np.zeros(3), tol=1e-12).x
    theta = kernels.fold_in(csr_matrix(x), topics, alpha)[0]
    np.testing.assert_allclose(theta, np.exp(best) / np.exp(best).sum(), rtol=1e-4)
    assert theta.sum() == pytest.approx(1)


def test_a_document_without_a_known_word_belongs_to_no_topic():
    X, _ = planted()
    X = np.hstack([X, np.zeros((60, 1))])
    model = small().fit(X)
    strange = np.zeros((2, X.shape[1]))
    strange[1, -1] = 3
    assert not model.transform(strange).any()
    assert model.predict(strange).tolist() == [model.fallback_] * 2
    assert not model.components_[:, -1].any()


# the contract


def test_fractions_are_refused_or_counted_up():
    X = np.array([[1, 0.2], [0, 2]])
    with pytest.raises(InputError, match=r"X must contain counts for GibbsLDA, got 0.2; fractions='ceil'"):
        small().fit(X)
    model = small(fractions="ceil", n_iter=5).fit(as_engine(X))
    counted = small(n_iter=5).fit(as_engine(np.ceil(X)))
    np.testing.assert_array_equal(model.components_, counted.components_)
    np.testing.assert_array_equal(model.transform(X), model.transform(np.ceil(X)))
    with pytest.raises(InputError, match="X must contain counts"):
        counted.transform(X)


def test_texts_in_part_are_refused():
    with pytest.raises(InputError, match=r"sample_weight must contain whole numbers for GibbsLDA, got 1.5"):
        small().fit(np.eye(2), sample_weight=[1, 1.5])


def test_numbers_that_cannot_be_counts_are_refused():
    with pytest.raises(
        InputError, match="X must contain at most 2147483647 words for GibbsLDA, got 1000000000001"
    ):
        small().fit([[1e12, 1]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_topics": 0}, "'n_topics' of GibbsLDA must be a whole number of at least 1, got 0"),
        ({"n_topics": 40_000}, "'n_topics' of GibbsLDA must be at most 32767, got 40000"),
        ({"alpha": 0}, "'alpha' of GibbsLDA must be above 0, got 0"),
        ({"alpha": -1}, "'alpha' of GibbsLDA"),
        ({"eta": 0.0}, "'eta' of GibbsLDA must be above 0"),
        ({"eta": np.nan}, "'eta' of GibbsLDA"),
        ({"n_iter": 0}, "'n_iter' of GibbsLDA"),
        ({"fractions": "round"}, "'fractions' of GibbsLDA must be one of 'refuse', 'ceil', got 'round'"),
    ],
)
def test_wrong_parameters_are_told_when_fitting(parameters, message):
    model = GibbsLDA(**parameters)
    with pytest.raises(InputError, match=message):
        model.fit(np.eye(3))


def test_without_tomotopy_the_way_out_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(InputError, match=r"GibbsLDA needs tomotopy: pip install 'coterie\[lda\]'"):
        small().fit(np.eye(3))


@pytest.mark.slow
def test_importing_the_baselines_does_not_import_tomotopy():
    code = "import sys, coterie.baselines; sys.exit('tomotopy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_titles(dataset):
    from coterie import Vectorizer

    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    for priors, least in (({}, (0.36, 0.13, 0.09)), ({"alpha": 0.1, "eta": 0.01}, (0.52, 0.35, 0.24))):
        found = [GibbsLDA(9, random_state=seed, **priors).fit(X).labels_ for seed in range(3)]
        scores = [np.mean([score(titles.labels, labels) for labels in found]) for score in (purity, nmi, ari)]
        assert (np.array(scores) >= least).all(), (priors, scores)
