"""PTM: what the sampler is given and gives, the inference written out, the contract of all estimators."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie.baselines import PTM
from coterie.baselines import ptm as kernels
from coterie.engines import as_engine
from coterie.errors import InputError
from coterie.metrics import nmi
from matrices import count_matrices, with_weights
from planted import planted

tomotopy = pytest.importorskip("tomotopy", reason="tomotopy, of the extra lda, is not installed")

REFUSED = {"check_clustering": "feeds negative values, which are refused"}


@pytest.mark.slow
@parametrize_with_checks([PTM(n_iter=10, fractions="ceil")], expected_failed_checks=lambda _: REFUSED)
def test_scikit_learn(estimator, check):
    check(estimator)


def small(n_topics=3, **parameters):
    return PTM(n_topics, **{"n_iter": 60, "random_state": 0} | parameters)


@settings(max_examples=20)
@given(with_weights(count_matrices()), st.sampled_from([0.01, 0.1, 2.0]))
def test_one_topic_is_the_smoothed_counts(case, eta):
    X, times = case
    model = small(1, eta=eta, n_iter=3).fit(X, sample_weight=times)
    counts = times @ X
    seen = counts > 0
    expected = np.where(seen, counts + eta, 0) / max(counts.sum() + seen.sum() * eta, 1e-300)
    np.testing.assert_allclose(model.components_[0], expected, rtol=1e-6)
    np.testing.assert_array_equal(model.pseudo_topics_, np.ones((len(model.pseudo_shares_), 1)))


def recorded(monkeypatch):
    models = []

    class Recorded(tomotopy.PTModel):
        def train(self, *args, **kwargs):
            models.append((self, args, kwargs))
            super().train(*args, **kwargs)

    monkeypatch.setattr(tomotopy, "PTModel", Recorded)
    return models


def test_the_sampler_runs_alone_with_fixed_priors(monkeypatch):
    models = recorded(monkeypatch)
    model = small(4, alpha=0.3, eta=0.2, n_iter=30).fit(planted(60, 3)[0])
    small(4, n_pseudo=7, n_iter=1).fit(planted(60, 3)[0])
    (sampler, args, kwargs), (other, _, _) = models
    assert args == (30,)
    assert kwargs == {"workers": 1, "parallel": tomotopy.ParallelScheme.NONE}
    assert (sampler.k, sampler.p, sampler.optim_interval) == (4, 40, 0)
    assert (sampler.eta, list(sampler.alpha)) == (pytest.approx(0.2), [pytest.approx(0.3)] * 4)
    assert other.p == 7
    assert len(sampler.docs) == 60
    assert model.n_iter_ == 30


def test_pseudo_documents_are_counted_from_the_last_round(monkeypatch):
    models = recorded(monkeypatch)
    model = small(3, n_pseudo=5, alpha=0.3).fit(planted(60, 3)[0])
    docs = list(models[0][0].docs)
    filled = [p for p in range(5) if any(doc.pseudo_doc_id == p for doc in docs)]
    assert len(filled) == len(model.pseudo_shares_)
    for p, theta, psi in zip(filled, model.pseudo_topics_, model.pseudo_shares_, strict=True):
        inside = [doc for doc in docs if doc.pseudo_doc_id == p]
        words = [k for doc in inside for k in doc.topics]
        expected = [(words.count(k) + 0.3) / (len(words) + 0.9) for k in range(3)]
        np.testing.assert_allclose(theta, expected, rtol=1e-12)
        assert psi == pytest.approx(len(inside) / 60)


def literal_shares(x, topics, theta, psi):
    words = [w for w in range(len(x)) for _ in range(int(x[w])) if topics[:, w].any()]
    if not words:
        return np.zeros(len(topics))
    belongs = psi.copy()
    for w in words:
        belongs = belongs * (theta @ topics[:, w])
    own = belongs / belongs.sum() @ theta
    return np.mean([own * topics[:, w] / (own @ topics[:, w]) for w in words], axis=0)


@pytest.mark.parametrize("cells", [1, 1 << 20])
@settings(max_examples=40)
@given(X=count_matrices(), n_topics=st.integers(1, 4), n_pseudo=st.integers(1, 5), seed=st.integers(0, 100))
def test_inference_is_the_formula_written_out(cells, X, n_topics, n_pseudo, seed):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(X.shape[1], 0.5), n_topics) + 1e-6
    topics[:, 0] = 0  # a term of no topic
    theta, psi = rng.dirichlet(np.ones(n_topics), n_pseudo), rng.dirichlet(np.ones(n_pseudo))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_CELLS", cells)
        found = kernels.shares_of_topics(csr_matrix(X), topics, theta, psi)
    expected = [literal_shares(x, topics, theta, psi) for x in X]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


def test_alone_and_in_a_batch_are_the_same_to_the_last_bit():
    X, _ = planted(60, 3)
    model = small().fit(X)
    batch = model.transform(X)
    for row in range(0, 60, 7):
        np.testing.assert_array_equal(model.transform(X[row])[0], batch[row])


def test_planted_topics_are_found_and_the_seed_decides():
    X, truth = planted(150, 3, words=5, noise=0)
    model = small(n_iter=200).fit(X)
    assert nmi(truth, model.labels_) > 0.8
    np.testing.assert_allclose(model.components_.sum(axis=1), 1, rtol=1e-12)
    first, same, other = (small(random_state=seed, n_iter=5).fit(X).components_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_fractions_are_refused_or_counted_up():
    X = np.array([[1, 0.2], [0, 2]])
    with pytest.raises(InputError, match=r"X must contain counts for PTM, got 0.2; fractions='ceil'"):
        small().fit(X)
    model, counted = small(fractions="ceil").fit(as_engine(X)), small().fit(as_engine(np.ceil(X)))
    np.testing.assert_array_equal(model.components_, counted.components_)


def test_more_topics_than_can_be_numbered_are_refused():
    with pytest.raises(InputError, match="'n_topics' of PTM must be at most 32767, got 40000"):
        PTM(40_000).fit(np.eye(3))


def test_without_tomotopy_the_way_out_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(InputError, match=r"PTM needs tomotopy: pip install 'coterie\[lda\]'"):
        small().fit(np.eye(3))


@pytest.mark.slow
def test_titles(dataset):
    from coterie import Vectorizer

    titles = dataset("titles")
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(titles.texts)
    assert nmi(titles.labels, PTM(9, random_state=0).fit(X).labels_) > 0.3
