import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, diags
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import weights
from coterie.cluster import SphericalKMeans
from coterie.corpus import Vectorizer
from coterie.engines import as_engine
from coterie.engines.base import pattern
from coterie.errors import InputError
from coterie.factor import nystrom
from coterie.factor.nystrom import NystromSemantics
from coterie.linalg.rows import unit_rows
from coterie.metrics import nmi
from coterie.semantics import GRAMS, TermGram
from matrices import count_matrices, with_weights

few = settings(max_examples=40)


@parametrize_with_checks(
    [NystromSemantics(random_state=0), NystromSemantics("assc", n_sampled=None, rank=2, random_state=0)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def at_unit_length(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length > 0, length, 1)


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
@given(drawn=with_weights(count_matrices(max_rows=12)), unit=st.booleans())
def test_the_exact_form_is_the_kernel(kind, drawn, unit):
    X, copies = drawn
    rows = np.repeat(X, copies, axis=0)
    W = NystromSemantics(kind, n_sampled=None, unit_rows=unit).fit(X, sample_weight=copies).transform(rows)
    assert W.shape == (len(rows), X.shape[1])
    seen = at_unit_length(rows) if unit else rows
    np.testing.assert_allclose(W @ W.T, seen @ literal_gram(seen, kind) @ seen.T, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRAMS)
@few
@given(
    X=count_matrices(max_rows=12),
    n_sampled=st.integers(1, 5),
    number=st.integers(0, 99),
    options=st.fixed_dictionaries(
        {"unit_rows": st.booleans(), "sampling": st.sampled_from(["length", "uniform"])}
    ),
)
def test_sampled_terms_give_the_approximation_of_nystrom(kind, X, n_sampled, number, options):
    model = NystromSemantics(kind, n_sampled=n_sampled, rank=n_sampled, random_state=number, **options).fit(X)
    rows = at_unit_length(X) if options["unit_rows"] else X
    s, G = model.sampled_, literal_gram(rows, kind)
    assert len(s) == min(n_sampled, X.any(axis=0).sum())
    assert X.any(axis=0)[s].all()
    W = model.transform(X)
    expected = rows @ G[:, s] @ np.linalg.pinv(G[np.ix_(s, s)], rcond=1e-10, hermitian=True) @ G[s] @ rows.T
    np.testing.assert_allclose(W @ W.T, expected, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRAMS)
@few
@given(
    drawn=with_weights(count_matrices(max_rows=12)),
    n_sampled=st.integers(1, 5),
    number=st.integers(0, 99),
    unit=st.booleans(),
)
def test_sampled_texts_give_the_approximation_of_nystrom(kind, drawn, n_sampled, number, unit):
    X, copies = drawn
    model = NystromSemantics(
        kind, n_sampled=n_sampled, rank=n_sampled, sampled="texts", unit_rows=unit, random_state=number
    ).fit(X, sample_weight=copies)
    d = model.sampled_
    assert len(d) == min(n_sampled, len(np.unique(X[X.any(axis=1)], axis=0)))
    assert X[d].any(axis=1).all()
    assert len(np.unique(X[d], axis=0)) == len(d)  # equal rows are one
    rows = at_unit_length(X) if unit else X
    K = rows @ literal_gram(np.repeat(rows, copies, axis=0), kind) @ rows.T
    W = model.transform(X)[:, : X.shape[1]]
    if n_sampled > X.shape[1]:
        return  # W has no more columns than there are terms, so some eigenpairs may be left out
    inverse = np.linalg.pinv(K[np.ix_(d, d)], rcond=1e-10, hermitian=True)
    np.testing.assert_allclose(W @ W.T, K[:, d] @ inverse @ K[d], atol=1e-6)


def some_texts(n_rows=150, n_terms=25, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(0.4 * rng.random((n_rows, 3)) @ rng.random((3, n_terms)) + 0.05).astype(float)


@pytest.mark.parametrize("kind", GRAMS)
@pytest.mark.parametrize("n_sampled", [12, None])
def test_the_leading_eigenpairs_are_kept(kind, n_sampled):
    X = some_texts()
    model = NystromSemantics(kind, n_sampled=n_sampled, rank=4, unit_rows=False, random_state=0).fit(X)
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


@pytest.mark.parametrize("kind", GRAMS)
@pytest.mark.parametrize("sampled", ["terms", "texts"])
def test_lanczos_finds_what_the_matrix_itself_gives(kind, sampled, monkeypatch):
    X = some_texts(n_rows=400, n_terms=60)
    options = {"n_sampled": 50, "rank": 4, "sampled": sampled, "random_state": 0}
    direct = NystromSemantics(kind, **options).fit(X)
    monkeypatch.setattr(nystrom, "_FEW_SAMPLED", 0)
    monkeypatch.setattr(nystrom, "_leading", None)  # the matrix must not be formed
    for _ in range(2):
        by_products = NystromSemantics(kind, **options).fit(X)
        np.testing.assert_array_equal(by_products.sampled_, direct.sampled_)
        np.testing.assert_allclose(by_products.eigenvalues_, direct.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(by_products.components_, direct.components_, atol=1e-8)


@pytest.mark.parametrize("missing", ["svds", "eigsh"])
@pytest.mark.parametrize("kind", GRAMS)
def test_either_way_of_lanczos_finds_the_leading_eigenpairs(kind, missing, monkeypatch):
    """Singular values are the way that is taken; eigenvalues are the way where those cannot be had."""

    def refuse(*args, **kwargs):
        raise np.linalg.LinAlgError("no singular values")

    gram = TermGram.of(unit_rows(csr_matrix(some_texts(n_rows=400, n_terms=60))), kind)
    G = gram.columns(np.arange(60))
    values, vectors = np.linalg.eigh((G + G.T) / 2)
    monkeypatch.setattr(nystrom, missing, refuse)
    found, columns = nystrom._by_products(gram, 6)
    np.testing.assert_allclose(found, values[::-1][:6], rtol=1e-10)
    projector = vectors[:, ::-1][:, :6] @ vectors[:, ::-1][:, :6].T
    np.testing.assert_allclose(columns @ columns.T, projector, atol=1e-7)


def test_vectors_that_miss_are_not_taken(monkeypatch):
    """What a routine calls converged is looked at before it is believed."""
    G = np.diag(np.arange(40.0, 0.0, -1.0))
    wrong = (np.eye(40)[:, :3], np.array([40.0, 39.0, 37.0]), np.eye(40)[:3])
    monkeypatch.setattr(nystrom, "svds", lambda *args, **kwargs: wrong)
    assert nystrom._by_products(G, 3)[0] == pytest.approx([40, 39, 38])


def test_no_products_where_many_eigenpairs_are_asked_for(monkeypatch):
    monkeypatch.setattr(nystrom, "_FEW_SAMPLED", 0)
    monkeypatch.setattr(nystrom, "_by_products", None)
    assert (
        NystromSemantics(n_sampled=50, rank=13, random_state=0).fit(some_texts(n_terms=60)).components_.any()
    )


@pytest.mark.parametrize(
    "X", [np.zeros((3, 25)), np.eye(25), np.ones((4, 25))], ids=["empty", "equal", "rank 1"]
)
@pytest.mark.parametrize("kind", GRAMS)
def test_lanczos_on_matrices_it_does_not_like(kind, X, monkeypatch):
    direct = NystromSemantics(kind, n_sampled=24, rank=2, random_state=0).fit(X)
    monkeypatch.setattr(nystrom, "_FEW_SAMPLED", 0)
    found = NystromSemantics(kind, n_sampled=24, rank=2, random_state=0).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, direct.eigenvalues_, atol=1e-12)


def test_products_with_g_of_low_rank(monkeypatch):
    monkeypatch.setattr(nystrom, "_FEW_TERMS", 0)
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) @ rng.random((3, 50))
    options = {"n_sampled": None, "rank": 10, "unit_rows": False}
    models = [NystromSemantics("assc", **options).fit(X) for _ in range(2)]
    np.testing.assert_array_equal(models[0].components_, models[1].components_)
    assert (models[0].eigenvalues_ > 0).sum() == 3
    W = models[0].transform(X)
    np.testing.assert_allclose(W @ W.T, X @ X.T @ X @ X.T, rtol=1e-9)


def test_small_eigenvalues_are_cut():
    X = np.repeat(some_texts(n_terms=6), 2, axis=1)  # every term twice: half of the eigenvalues are rounding
    model = NystromSemantics("assc", n_sampled=12, rank=12, unit_rows=False, random_state=0).fit(X)
    assert (model.eigenvalues_ > 0).tolist() == [True] * 6 + [False] * 6
    assert not model.components_[6:].any()
    W = model.transform(X)
    np.testing.assert_allclose(W @ W.T, X @ X.T @ X @ X.T, rtol=1e-8)


def test_terms_are_drawn_by_the_length_of_their_columns():
    lengths = np.array([1.0, 0.0, 3.0, 6.0])
    random = np.random.RandomState(0)
    first = np.array([nystrom._drawn(lengths, 1, random)[0] for _ in range(5000)])
    np.testing.assert_allclose(np.bincount(first, minlength=4) / 5000, lengths / 10, atol=0.02)
    assert sorted(nystrom._drawn(lengths, 3, random)) == [0, 2, 3]
    assert len(set(nystrom._drawn(lengths, 2, random))) == 2
    X = np.array([[3.0, 1, 0], [4, 1, 0]])
    np.testing.assert_allclose(nystrom._lengths(as_engine(X)), [5, np.sqrt(2), 0])
    np.testing.assert_allclose(nystrom._lengths(as_engine(X, [1, 4])), [np.sqrt(73), np.sqrt(5), 0])


def test_uniform_draws_do_not_look_at_lengths():
    X = np.hstack([np.ones((50, 1)) * 9, np.eye(50)[:, :9], np.zeros((50, 1))])
    for sampling, often in (("uniform", 0.1), ("length", 63 / 72)):
        options = {"sampling": sampling, "n_sampled": 1, "rank": 1, "unit_rows": False}
        first = [NystromSemantics("assc", **options, random_state=s).fit(X).sampled_[0] for s in range(150)]
        assert np.mean(np.array(first) == 0) == pytest.approx(often, abs=0.1)
        assert 10 not in first


def test_texts_are_drawn_as_often_as_they_occur():
    X, copies = np.eye(3), np.array([8, 1, 1])
    options = {"sampled": "texts", "n_sampled": 1, "rank": 1}
    for rows, copies_of in ((X, copies), (np.repeat(X, copies, axis=0), None)):
        models = [
            NystromSemantics("assc", **options, random_state=s).fit(rows, sample_weight=copies_of)
            for s in range(150)
        ]
        assert np.mean([model.sampled_[0] == 0 for model in models]) == pytest.approx(0.8, abs=0.1)


def test_a_model_of_an_earlier_version_takes_rows_as_they_are():
    X = some_texts()
    now, before = (NystromSemantics(unit_rows=unit, random_state=0).fit(X) for unit in (True, False))
    np.testing.assert_allclose(now.transform(3 * X), now.transform(X))
    del before.unit_rows_  # as read from a file of that version, in which the setting is missing too
    before.unit_rows = True
    np.testing.assert_allclose(before.transform(X), X @ before.projection_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampled": "rows"}, "'sampled' of NystromSemantics must be one of 'terms', 'texts', got 'rows'"),
        ({"sampling": "random"}, "'sampling' of NystromSemantics must be one of 'length', 'uniform'"),
        ({"unit_rows": "yes"}, "'unit_rows' of NystromSemantics must be one of True, False, got 'yes'"),
        ({"n_sampled": 0}, "'n_sampled' of NystromSemantics"),
    ],
)
def test_wrong_parameters_are_told_at_fit(options, message):
    with pytest.raises(InputError, match=message):
        NystromSemantics(**options).fit(np.eye(3))


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
