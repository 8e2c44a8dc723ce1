import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import diags
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import weights
from coterie.cluster import SphericalKMeans
from coterie.corpus import Vectorizer
from coterie.engines import as_engine
from coterie.engines.base import pattern
from coterie.factor import nystrom
from coterie.factor.nystrom import NystromSemantics
from coterie.metrics import nmi
from coterie.semantics import GRAMS
from matrices import count_matrices, with_weights

few = settings(max_examples=40)


@parametrize_with_checks(
    [NystromSemantics(random_state=0), NystromSemantics("assc", n_sampled=None, rank=2, random_state=0)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def literal_gram(X, kind):
    """G as the paper writes it, dense; terms without spread have no correlation."""
    if kind == "assc":
        return X.T @ X
    if kind == "assc_n":
        length = np.linalg.norm(X, axis=0)
        length[length == 0] = np.inf
        return X.T @ X / np.outer(length, length)
    centred = X - X.mean(axis=0)
    cov = centred.T @ centred / max(len(X) - 1, 1)
    if kind == "cov":
        return cov
    sd = np.sqrt(np.diag(cov))
    sd[sd < 1e-9] = np.inf
    return cov / np.outer(sd, sd)


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRAMS)
@few
@given(drawn=with_weights(count_matrices(max_rows=12)))
def test_the_exact_form_is_the_kernel(kind, drawn):
    X, copies = drawn
    rows = np.repeat(X, copies, axis=0)
    W = NystromSemantics(kind, n_sampled=None).fit(X, sample_weight=copies).transform(rows)
    assert W.shape == (len(rows), X.shape[1])
    np.testing.assert_allclose(W @ W.T, rows @ literal_gram(rows, kind) @ rows.T, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRAMS)
@few
@given(X=count_matrices(max_rows=12), n_sampled=st.integers(1, 5), number=st.integers(0, 99))
def test_sampled_terms_give_the_approximation_of_nystrom(kind, X, n_sampled, number):
    model = NystromSemantics(kind, n_sampled=n_sampled, rank=n_sampled, random_state=number).fit(X)
    s, G = model.sampled_, literal_gram(X, kind)
    assert len(s) == min(n_sampled, X.any(axis=0).sum())
    assert X.any(axis=0)[s].all()
    W = model.transform(X)
    expected = X @ G[:, s] @ np.linalg.pinv(G[np.ix_(s, s)], rcond=1e-10, hermitian=True) @ G[s] @ X.T
    np.testing.assert_allclose(W @ W.T, expected, atol=1e-7)


def some_texts(n_rows=150, n_terms=25, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.4 * rng.random((n_rows, 3)) @ rng.random((3, n_terms)) + 0.05).astype(float)


@pytest.mark.parametrize("kind", GRAMS)
@pytest.mark.parametrize("n_sampled", [12, None])
def test_the_leading_eigenpairs_are_kept(kind, n_sampled):
    X = some_texts()
    model = NystromSemantics(kind, n_sampled=n_sampled, rank=4, random_state=0).fit(X)
    s, G = model.sampled_, literal_gram(X, kind)
    values, Q = np.linalg.eigh(G[np.ix_(s, s)])
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:4], rtol=1e-9)
    expected = X @ G[:, s] @ Q[:, ::-1][:, :4] / np.sqrt(values[::-1][:4])
    W = model.transform(X)
    np.testing.assert_allclose(np.abs(W), np.abs(expected), atol=1e-8)  # column by column, but for the sign
    np.testing.assert_allclose(W, X @ model.projection_, atol=1e-12)
    assert model.projection_.shape == (25, 4)


@pytest.mark.parametrize("kind", GRAMS)
def test_products_with_g_find_what_g_itself_gives(kind, monkeypatch):
    X = some_texts()
    direct = NystromSemantics(kind, n_sampled=None, rank=5, random_state=0).fit(X)
    monkeypatch.setattr(nystrom, "_FEW_TERMS", 0)
    monkeypatch.setattr(nystrom, "_leading", None)  # G must not be formed
    by_products = NystromSemantics(kind, n_sampled=None, rank=5, random_state=0).fit(X)
    np.testing.assert_allclose(by_products.eigenvalues_, direct.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(by_products.components_, direct.components_, atol=1e-8)
    empty = NystromSemantics(kind, n_sampled=None, rank=5).fit(np.zeros((3, 25)))
    assert not empty.components_.any()


def test_products_with_g_of_low_rank(monkeypatch):
    monkeypatch.setattr(nystrom, "_FEW_TERMS", 0)
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) @ rng.random((3, 50))
    models = [NystromSemantics("assc", n_sampled=None, rank=10, random_state=0).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
    assert (models[0].eigenvalues_ > 0).sum() == 3
    W = models[0].transform(X)
    np.testing.assert_allclose(W @ W.T, X @ X.T @ X @ X.T, rtol=1e-9)


def test_small_eigenvalues_are_cut():
    X = np.repeat(some_texts(n_terms=6), 2, axis=1)  # every term twice: half of the eigenvalues are rounding
    model = NystromSemantics("assc", n_sampled=12, rank=12, random_state=0).fit(X)
    assert (model.eigenvalues_ > 0).tolist() == [True] * 6 + [False] * 6
    assert not model.components_[6:].any()
    W = model.transform(X)
    np.testing.assert_allclose(W @ W.T, X @ X.T @ X @ X.T, rtol=1e-8)


def test_terms_are_drawn_by_the_length_of_their_columns():
    lengths = np.array([1.0, 0.0, 3.0, 6.0])
    random = np.random.RandomState(0)
    first = np.array([nystrom._draw(lengths, 1, random)[0] for _ in range(5000)])
    np.testing.assert_allclose(np.bincount(first, minlength=4) / 5000, lengths / 10, atol=0.02)
    assert sorted(nystrom._draw(lengths, 3, random)) == [0, 2, 3]
    assert len(set(nystrom._draw(lengths, 2, random))) == 2
    X = np.array([[3.0, 1, 0], [4, 1, 0]])
    np.testing.assert_allclose(nystrom._lengths(as_engine(X)), [5, np.sqrt(2), 0])
    np.testing.assert_allclose(nystrom._lengths(as_engine(X, [1, 4])), [np.sqrt(73), np.sqrt(5), 0])


def test_signs_are_fixed():
    model = NystromSemantics("cov", rank=6, random_state=0).fit(some_texts())
    assert ((model.components_ * np.abs(model.components_)).sum(axis=1) > 0).all()


@pytest.mark.parametrize("n_sampled", [1, 3, 1000, None])
def test_rank_is_at_most_what_there_is(n_sampled):
    X = some_texts(n_terms=5)
    model = NystromSemantics(n_sampled=n_sampled, rank=100, random_state=0).fit(X)
    assert model.transform(X).shape == (150, min(n_sampled or 5, 5))
    assert model.get_feature_names_out()[0] == "nystromsemantics0"


def test_a_draw_depends_on_the_seed_and_on_nothing_else():
    X = some_texts()
    drawn = [
        tuple(NystromSemantics(n_sampled=5, random_state=seed).fit(X).sampled_) for seed in (0, 0, 1, 2, 3)
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 2


@pytest.mark.slow
def test_titles(dataset):
    data = dataset("titles")
    X = pattern(Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(data.texts))
    assert X.shape == (2630, 1403)

    def score(rows, seed):
        return nmi(data.labels, SphericalKMeans(9, n_init=5, random_state=seed).fit_predict(rows))

    found = {
        kind: np.mean([score(NystromSemantics(kind, random_state=s).fit_transform(X), s) for s in range(3)])
        for kind in GRAMS
    }
    plain = np.mean([score(X @ diags(weights.idf(X)), s) for s in range(3)])
    for kind, expected in {"assc": 0.44, "assc_n": 0.50, "cov": 0.45, "pcor": 0.50}.items():
        assert found[kind] == pytest.approx(expected, abs=0.05), kind
    assert min(found["assc_n"], found["pcor"]) > plain + 0.05
