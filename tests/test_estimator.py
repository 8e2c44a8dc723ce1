"""What all estimators promise, kept by the base class: shown with three that share nothing else."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from contract import degenerate_inputs
from coterie.baselines.kmeans import KMeansIdf
from coterie.cluster import SphericalKMeans
from coterie.engines import Block, DiskEngine, MemoryEngine, write_blocks
from coterie.errors import InputError
from coterie.estimator import check_amount, check_choice, check_count, check_weights
from coterie.factor.nystrom import NystromSemantics
from coterie.linalg.canonical import canonical
from matrices import count_matrices, with_weights

ESTIMATORS = [
    partial(SphericalKMeans, 3, n_init=2, random_state=0),
    partial(KMeansIdf, 3, n_init=2, random_state=0),
    partial(NystromSemantics, "assc_n", n_sampled=5, rank=3, random_state=0),
    partial(NystromSemantics, "pcor", n_sampled=None, rank=3, random_state=0),
]
few = settings(max_examples=25)
CLUSTERERS = ESTIMATORS[:2]
each = pytest.mark.parametrize("make", ESTIMATORS, ids=lambda make: f"{make.func.__name__}{make.args}")
each_clusterer = pytest.mark.parametrize("make", CLUSTERERS, ids=lambda make: make.func.__name__)


def texts(n_rows=120, n_terms=30, seed=0):
    """Rows of three kinds, each with its own terms and some of all; no two columns are alike."""
    rng = np.random.default_rng(seed)
    X = random(n_rows, n_terms, 0.08, format="csr", rng=rng).toarray()
    kind = rng.integers(3, size=n_rows)
    for row, k in enumerate(kind):
        X[row, rng.choice(np.arange(k, n_terms, 3), 4)] += rng.integers(1, 3)
    return csr_matrix(X)


def blocks_of(X, weights, size):
    starts = range(0, X.shape[0], size)
    return [Block(X[a : a + size], weights[a : a + size], a) for a in starts]


def fitted(model):
    """Everything that was learned."""
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def assert_same(one, two):
    assert fitted(one).keys() == fitted(two).keys()
    for name, value in fitted(one).items():
        np.testing.assert_array_equal(value, fitted(two)[name], err_msg=name)  # to the last bit


@each
def test_equal_input_gives_equal_output(make):
    assert_same(make().fit(texts()), make().fit(texts()))


@each
def test_threads_change_nothing(make):
    X, weights = texts(), np.arange(120) % 3 + 1.0
    one, two = (make().fit(MemoryEngine(blocks_of(X, weights, 17), threads)) for threads in (1, 2))
    assert_same(one, two)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))


@each
def test_blocks_on_disk_are_blocks_in_memory(make, tmp_path):
    X, weights = texts(), np.arange(120) % 3 + 1.0
    write_blocks(tmp_path, blocks_of(X, weights, 17))
    memory = make().fit(MemoryEngine(blocks_of(X, weights, 17)))
    disk = make().fit(DiskEngine(tmp_path))
    whole = make().fit(MemoryEngine(blocks_of(X, weights, 120)))
    np.testing.assert_allclose(disk.components_, memory.components_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(disk.components_, whole.components_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(disk.transform(DiskEngine(tmp_path)), whole.transform(X), atol=1e-9)


@each
def test_a_matrix_is_an_engine_over_its_canonical_rows(make):
    X = texts()
    found = canonical(X)
    engine = make().fit(MemoryEngine(blocks_of(found.X, found.weights, 1000)))
    np.testing.assert_array_equal(engine.components_, make().fit(X).components_[:, found.columns])


@each
@few
@given(seed=st.integers(0, 10_000))
def test_shuffling_permutes_the_result_and_nothing_else(make, seed):
    X = texts(40, 12, seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    one, two = make().fit(X), make().fit(X[rows][:, columns])
    np.testing.assert_array_equal(two.components_, one.components_[:, columns])
    np.testing.assert_allclose(two.transform(X[rows][:, columns]), one.transform(X)[rows], atol=1e-12)
    if hasattr(one, "labels_"):
        np.testing.assert_array_equal(two.labels_, one.labels_[rows])
    else:
        np.testing.assert_array_equal(np.sort(columns[two.sampled_]), one.sampled_)


@each
@few
@given(X=count_matrices(), seed=st.integers(0, 1000))
def test_the_order_of_rows_matters_to_no_matrix(make, X, seed):
    rows = np.random.default_rng(seed).permutation(len(X))
    one, two = make().fit(X), make().fit(X[rows])
    np.testing.assert_array_equal(one.components_, two.components_)
    if hasattr(one, "labels_"):
        np.testing.assert_array_equal(two.labels_, one.labels_[rows])


@each
@few
@given(drawn=with_weights(count_matrices()))
def test_folded_duplicates_are_the_rows_themselves(make, drawn):
    X, weights = drawn
    folded = make().fit(X, sample_weight=weights)
    unfolded = make().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(folded.components_, unfolded.components_)
    if hasattr(folded, "labels_"):
        np.testing.assert_array_equal(np.repeat(folded.labels_, weights), unfolded.labels_)


@each
@few
@given(X=count_matrices())
def test_rows_without_weight_are_not_there(make, X):
    half = np.arange(len(X)) % 2 == 0
    one = make().fit(X, sample_weight=half)
    two = make().fit(X[half])
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.transform(X)[half], two.transform(X[half]))
    if hasattr(one, "labels_"):
        np.testing.assert_array_equal(one.labels_[half], two.labels_)
        assert one.labels_.shape == (len(X),)


@each
def test_alone_in_a_batch_and_in_fit_is_the_same(make):
    X = texts()
    model = make().fit(X)
    np.testing.assert_array_equal(make().fit_transform(X), model.transform(X))
    alone = np.vstack([model.transform(X[i]) for i in range(X.shape[0])])
    np.testing.assert_array_equal(alone, model.transform(X))
    if hasattr(model, "labels_"):
        np.testing.assert_array_equal(model.labels_, model.predict(X))
        np.testing.assert_array_equal(model.labels_, make().fit_predict(X))
        np.testing.assert_array_equal([model.predict(X[i])[0] for i in range(5)], model.labels_[:5])


@each
def test_how_a_matrix_is_stored_does_not_matter(make):
    X = texts()
    expected = make().fit(X)
    table = X.tocoo()
    halves = csr_matrix(X.shape)  # every entry twice, half of it each time, rows not sorted
    rows = np.argsort(np.tile(table.row, 2), kind="stable")
    halves.data, halves.indices = np.tile(table.data / 2, 2)[rows], np.tile(table.col, 2)[rows]
    halves.indptr = 2 * X.indptr
    for same in (X.toarray(), X.tocsc(), halves):
        model = make().fit(same)
        np.testing.assert_array_equal(model.components_, expected.components_)
        np.testing.assert_array_equal(model.transform(same), expected.transform(X))
    assert halves.nnz == 2 * X.nnz  # the caller's matrix is left alone


@each
@pytest.mark.parametrize(("name", "X"), degenerate_inputs(), ids=[name for name, _ in degenerate_inputs()])
def test_degenerate_input_has_an_answer(make, name, X):
    model = make().fit(X)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(X)).all()
    assert model.transform(X).shape == (X.shape[0], len(model.components_))
    if hasattr(model, "labels_"):
        assert model.components_.shape == (3, X.shape[1])
        assert set(model.labels_) <= {0, 1, 2}


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_a_number_is_refused(make, bad):
    X = texts().toarray()
    X[3, 4] = bad
    with pytest.raises(ValueError, match="Input X contains"):
        make().fit(X)
    with pytest.raises(ValueError, match="Input X contains"):
        make().fit(texts()).transform(X)
    weights = np.ones(120)
    weights[5] = bad
    with pytest.raises(InputError, match="sample_weight must be finite and non-negative"):
        make().fit(texts(), sample_weight=weights)
    engine = MemoryEngine([Block(csr_matrix(X), np.ones(120), 0)])
    with pytest.raises(InputError, match="X must contain finite numbers"):
        make().fit(engine)
    with pytest.raises(InputError, match="X must contain finite numbers"):
        make().fit(texts()).transform(engine)


def test_negative_numbers_are_refused_where_they_make_no_sense():
    X = texts() * -1.0
    with pytest.raises(ValueError, match="Negative values in data passed to X in KMeansIdf"):
        KMeansIdf(2).fit(X)
    with pytest.raises(InputError, match="X must be non-negative"):
        KMeansIdf(2).fit(MemoryEngine([Block(X, np.ones(120), 0)]))
    SphericalKMeans(2).fit(X)
    NystromSemantics().fit(X)


def test_tags_tell_what_is_taken():
    for model, positive in ((KMeansIdf(), True), (SphericalKMeans(), False)):
        assert get_tags(model).input_tags.sparse
        assert get_tags(model).input_tags.positive_only is positive


@each
def test_what_comes_after_must_fit(make):
    with pytest.raises(NotFittedError):
        make().transform(texts())
    model = make().fit(texts(n_terms=30))
    other = texts(n_terms=31)
    with pytest.raises(ValueError, match=r"X has 31 features, but .* is expecting 30 features"):
        model.transform(other)
    with pytest.raises(InputError, match=r"X has 31 features, but .* is expecting 30 features"):
        model.transform(MemoryEngine([Block(other, np.ones(120), 0)]))


@each
def test_a_fit_that_fails_leaves_nothing_that_looks_fitted(make):
    model = make().set_params(random_state="no seed")
    with pytest.raises(ValueError, match="no seed"):
        model.fit(texts())
    with pytest.raises(NotFittedError):
        model.transform(texts())


@each_clusterer
def test_an_engine_has_labels_by_predict(make):
    X = texts()
    engine = MemoryEngine(blocks_of(X, np.ones(120), 17))
    model = make()
    np.testing.assert_array_equal(model.fit_predict(engine), model.predict(X))
    assert not hasattr(model, "labels_")
    assert not hasattr(model.fit(X).fit(engine), "labels_")  # nor those of an earlier fit


@each_clusterer
def test_pandas_output_changes_no_label(make):
    X = texts()
    model = make().set_output(transform="pandas").fit(X)
    np.testing.assert_array_equal(model.labels_, make().fit(X).labels_)
    assert list(model.transform(X).columns) == list(model.get_feature_names_out())


@each
def test_a_model_is_a_step_of_a_pipeline_and_can_be_cloned(make):
    X = texts()
    pipe = make_pipeline(NystromSemantics("cov", rank=4, random_state=0), SphericalKMeans(3, random_state=0))
    assert pipe.fit_predict(X).shape == (120,)
    assert_same(clone(make()).fit(X), make().fit(X))


def test_who_belongs_to_none_goes_to_the_largest_topic():
    X = np.array([[1, 1, 0, 0], [1, 2, 0, 0], [1, 3, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    engine = MemoryEngine(blocks_of(csr_matrix(X), np.ones(5), 2))
    fallbacks = set()
    for seed in range(6):
        model = SphericalKMeans(2, random_state=seed).fit(X)
        assert model.labels_[4] == model.fallback_ == model.labels_[0] != model.labels_[3]
        assert model.predict([[0, 0, 0, 7]])[0] == model.fallback_  # a term that no centre has
        # weights count, empty rows do not
        model = SphericalKMeans(2, random_state=seed).fit(X, sample_weight=[1, 1, 1, 4, 9])
        assert model.labels_[4] == model.fallback_ == model.labels_[3] != model.labels_[0]
        model = SphericalKMeans(2, random_state=seed).fit(engine)
        assert model.predict(X)[4] == model.fallback_ == model.predict(X)[0]
        fallbacks.add(model.fallback_)
    assert fallbacks == {0, 1}


def test_weights_cannot_come_with_an_engine():
    engine = MemoryEngine(blocks_of(texts(), np.ones(120), 17))
    with pytest.raises(InputError, match="have their own weights"):
        SphericalKMeans(2).fit(engine, sample_weight=np.ones(120))


def test_checks_of_weights():
    assert check_weights(None, 2).tolist() == [1, 1]
    assert check_weights(3, 2).tolist() == [3, 3]
    with pytest.raises(InputError, match=r"one number for each of the 2 rows, got shape \(3,\)"):
        check_weights([1, 2, 3], 2)
    with pytest.raises(InputError, match="finite and non-negative"):
        check_weights([1, -1], 2)
    with pytest.raises(InputError, match="must not be zero for every row"):
        check_weights([0, 0], 2)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "8", None, True, np.nan])
def test_counts_are_whole_numbers(bad):
    with pytest.raises(InputError, match=r"'n_topics' of object must be a whole number of at least 1, got"):
        check_count("n_topics", bad, object())
    assert check_count("n_topics", np.int32(4), object()) == 4


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf, "1", None, True])
def test_amounts_are_finite_numbers(bad):
    with pytest.raises(InputError, match=r"'tol' of object must be a finite number of at least 0, got"):
        check_amount("tol", bad, object())
    assert check_amount("tol", np.float32(0.5), object()) == 0.5
    assert check_amount("tol", 1, object()) == 1.0


def test_choices_are_listed():
    check_choice("kind", None, ("a", None), object())
    with pytest.raises(InputError, match="'kind' of object must be one of 'a', None, got 'b'"):
        check_choice("kind", "b", ("a", None), object())
    with pytest.raises(InputError, match="must be one of"):
        check_choice("kind", np.ones(2), ("a", None), object())
