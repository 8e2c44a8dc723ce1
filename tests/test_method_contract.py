"""What every method promises; a new method is tested by registering it in `coterie.methods`."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from contract import (
    VARIANTS,
    assert_same,
    blocks_of,
    cases,
    degenerate_inputs,
    estimators,
    learned,
    make,
    skip_without_tomotopy,
    steps,
)
from coterie import methods
from coterie.engines import Block, DiskEngine, MemoryEngine, write_blocks
from coterie.errors import InputError
from coterie.linalg.canonical import canonical
from matrices import count_matrices, with_weights
from planted import planted

pytestmark = [
    pytest.mark.filterwarnings("ignore:only .* topics are used:sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Number of distinct clusters:sklearn.exceptions.ConvergenceWarning"),
]
ESTIMATORS = dict(estimators())
#: Methods that compare all texts with each other, and say so where texts are on disk.
IN_MEMORY = {"graph-nmf"}
#: Methods in which fitted texts have neighbours, which new ones do not have: `labels_` may differ.
LINKED = {"graph-nmf"}
#: Parameters that may be None.
OPTIONAL = {"n_sampled", "alpha", "n_pseudo"}
few = settings(max_examples=5)
each_method = pytest.mark.parametrize("name", cases())
each_estimator = pytest.mark.parametrize("name", ESTIMATORS)
degenerate = pytest.mark.parametrize(
    "X", [X for _, X in degenerate_inputs()], ids=[name for name, _ in degenerate_inputs()]
)


@pytest.fixture(autouse=True)
def _installed(request):
    if hasattr(request.node, "callspec"):
        skip_without_tomotopy(request.node.callspec.params.get("name"))


def texts():
    """Counts of planted texts; some rows are empty, some equal."""
    X, _ = planted(100, 3, own=8, common=9, words=4, noise=2)
    return vstack([X, csr_matrix((2, X.shape[1])), X[:20]], format="csr")


def wide():
    """So many terms that a product with the topics of `MANY` is shared out among BLAS threads."""
    return planted(1500, 12, own=60, common=60, words=6, noise=2)[0]


MANY = 30  # topics
X = texts()
WEIGHTS = np.arange(X.shape[0]) % 3 + 1.0


def labels_of(model):
    return steps(model)[-1].labels_


# --- order, copies, threads, disk


@each_method
def test_planted_topics_are_found(name):
    """Not a promise but a guard: an estimator that learned nothing would keep most of them."""
    X, truth = planted(90, 3, noise=0)
    model = make(name).fit(X)
    pure = [np.bincount(truth[labels_of(model) == topic], minlength=3) for topic in range(3)]
    assert sum(counts.max() for counts in pure) > 45  # one topic for all has about 30


@each_method
def test_equal_input_gives_equal_output(name):
    assert_same(learned(make(name).fit(X)), learned(make(name).fit(X.copy())))


@each_method
@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_rows_and_columns_does_not_matter(name, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    one, two = make(name).fit(X), make(name).fit(X[rows][:, columns])
    np.testing.assert_array_equal(labels_of(two), labels_of(one)[rows])
    shuffled = one.transform(X)[rows]
    np.testing.assert_allclose(two.transform(X[rows][:, columns]), shuffled, rtol=1e-9, atol=1e-9)
    if name in ESTIMATORS:
        for attribute in one._by_column:
            np.testing.assert_array_equal(getattr(two, attribute), getattr(one, attribute)[..., columns])


@each_method
@few
@given(X=count_matrices(), seed=st.integers(0, 1000))
def test_the_order_of_rows_matters_to_no_matrix(name, X, seed):
    rows = np.random.default_rng(seed).permutation(len(X))
    one, two = make(name).fit(X), make(name).fit(X[rows])
    np.testing.assert_array_equal(labels_of(two), labels_of(one)[rows])
    assert_same(*([values | {"labels_": 0} for values in learned(model)] for model in (one, two)))


@each_estimator
@few
@given(drawn=with_weights(count_matrices()))
def test_a_weight_is_as_many_copies(name, drawn):
    X, weights = drawn
    folded = ESTIMATORS[name]().fit(X, sample_weight=weights)
    unfolded = ESTIMATORS[name]().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_array_equal(folded.components_, unfolded.components_)
    if hasattr(folded, "labels_"):
        np.testing.assert_array_equal(np.repeat(folded.labels_, weights), unfolded.labels_)


@each_estimator
@few
@given(X=count_matrices())
def test_rows_of_weight_0_are_not_there(name, X):
    half = np.arange(len(X)) % 2 == 0
    one, two = ESTIMATORS[name]().fit(X, sample_weight=half), ESTIMATORS[name]().fit(X[half])
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.transform(X)[half], two.transform(X)[half])
    if hasattr(one, "labels_"):
        np.testing.assert_array_equal(one.labels_[half], two.labels_)
        assert one.labels_.shape == (len(X),)


@each_estimator
def test_threads_change_nothing(name):
    engines = [MemoryEngine(blocks_of(X, WEIGHTS, 17), threads) for threads in (1, 2, 4)]
    models = [ESTIMATORS[name]().fit(engine) for engine in engines]
    for engine, model in zip(engines, models, strict=True):
        assert_same(learned(model), learned(models[0]))
        np.testing.assert_array_equal(model.transform(engine), models[0].transform(engines[0]))
        np.testing.assert_allclose(model.transform(engine), model.transform(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", methods.names())
def test_blas_threads_change_nothing(name):
    X, found = wide(), []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="blas"):
            model = make(name, MANY).fit(X)
            found.append((learned(model), model.transform(X), model.predict(X)))
    assert_same(found[1], found[0])
    assert_same(found[2], found[0])


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="types of processors that can be forced are these")
@pytest.mark.parametrize("core", os.environ.get("COTERIE_CORES", "Prescott").split(","))
def test_nor_on_another_type_of_processor(core):
    """OpenBLAS has other code for each type, and rounds elsewhere; COTERIE_CORES=Haswell,SkylakeX tries more."""
    tests = [
        __file__,
        "-k",
        "test_blas_threads_change_nothing",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *tests],
        env={**os.environ, "OPENBLAS_CORETYPE": core},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@each_estimator
def test_blocks_on_disk_are_blocks_in_memory(name, tmp_path):
    write_blocks(tmp_path, blocks_of(X, WEIGHTS, 17))
    if name.split(",")[0] in IN_MEMORY:
        with pytest.raises(InputError, match=r"X must be a matrix or an engine in memory.* got DiskEngine$"):
            ESTIMATORS[name]().fit(DiskEngine(tmp_path))
        return
    memory = ESTIMATORS[name]().fit(MemoryEngine(blocks_of(X, WEIGHTS, 17), 1))
    for threads in (1, 2):
        disk = ESTIMATORS[name]().fit(DiskEngine(tmp_path, threads))
        np.testing.assert_allclose(disk.components_, memory.components_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            disk.transform(DiskEngine(tmp_path)), memory.transform(X), rtol=1e-9, atol=1e-12
        )
        if hasattr(disk, "predict"):
            np.testing.assert_array_equal(disk.predict(DiskEngine(tmp_path)), memory.predict(X))


@each_estimator
def test_a_matrix_is_an_engine_over_its_canonical_rows(name):
    found = canonical(X)
    engine = ESTIMATORS[name]().fit(MemoryEngine(blocks_of(found.X, found.weights, 1000)))
    np.testing.assert_array_equal(engine.components_, ESTIMATORS[name]().fit(X).components_[:, found.columns])


@each_estimator
def test_blocks_of_any_size_give_the_same_topics(name):
    one, many = (
        ESTIMATORS[name]().fit(MemoryEngine(blocks_of(X, WEIGHTS, size))) for size in (X.shape[0], 17)
    )
    np.testing.assert_allclose(many.components_, one.components_, rtol=1e-6, atol=1e-8)
    if hasattr(one, "predict"):
        np.testing.assert_array_equal(many.predict(X), one.predict(X))


@each_estimator
def test_an_engine_has_labels_by_predict(name):
    engine = MemoryEngine(blocks_of(X, np.ones(X.shape[0]), 17))
    model = ESTIMATORS[name]()
    if not hasattr(model, "fit_predict"):
        pytest.skip("it has no topics")
    np.testing.assert_array_equal(model.fit_predict(engine), model.predict(X))
    assert not hasattr(model, "labels_")
    assert not hasattr(model.fit(X).fit(engine), "labels_")  # nor those of an earlier fit


# --- one row, and no row


@each_method
def test_alone_in_a_batch_and_in_fit_is_the_same(name):
    model = make(name).fit(X)
    batch = model.transform(X)
    np.testing.assert_array_equal(make(name).fit_transform(X), batch)
    alone = np.vstack([model.transform(X[i]) for i in range(X.shape[0])])
    np.testing.assert_allclose(alone, batch, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal([model.predict(X[i])[0] for i in range(X.shape[0])], model.predict(X))
    np.testing.assert_array_equal(make(name).fit_predict(X), labels_of(model))
    if name.split(",")[0] not in LINKED:
        np.testing.assert_array_equal(labels_of(model), model.predict(X))
        known = batch.any(axis=1)
        np.testing.assert_array_equal(labels_of(model)[known], batch[known].argmax(axis=1))


@each_method
@pytest.mark.parametrize("n_topics", [1, 12])
@degenerate
def test_degenerate_input_has_an_answer(name, X, n_topics):
    model = make(name, n_topics).fit(X)
    last = steps(model)[-1]
    memberships = model.transform(X)
    assert np.isfinite(last.components_).all()
    assert np.isfinite(memberships).all()
    assert memberships.shape == (X.shape[0], len(last.components_))
    assert len(last.components_) <= n_topics
    assert ((last.labels_ >= 0) & (last.labels_ < n_topics)).all()
    assert last.labels_.shape == (X.shape[0],)
    nowhere = ~memberships.any(axis=1)
    assert (model.predict(X)[nowhere] == last.fallback_).all()
    for row in np.flatnonzero(np.diff(X.indptr) == 0):
        np.testing.assert_array_equal(last.labels_[row], model.predict(X[row])[0])
    same = {X[row].toarray().tobytes(): last.labels_[row] for row in range(X.shape[0])}
    assert [same[X[row].toarray().tobytes()] for row in range(X.shape[0])] == last.labels_.tolist()
    assert len(methods.topic_terms(model)) == len(last.components_)


@each_method
def test_no_rows_are_refused(name):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        make(name).fit(np.zeros((0, 4)))


# --- what is refused


@each_method
@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_what_is_not_a_count_is_refused(name, bad):
    wrong = X.toarray()
    wrong[3, 4] = bad
    if bad == -1.0 and not get_tags(steps(make(name))[0]).input_tags.positive_only:
        make(name).fit(wrong)
        return
    for use in (make(name).fit, make(name).fit(X).transform, make(name).fit(X).predict):
        with pytest.raises(ValueError, match=r"\bX\b"):
            use(wrong)


@each_estimator
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_engines_and_weights_that_are_not_numbers_are_refused(name, bad):
    wrong, weights = X.toarray(), np.ones(X.shape[0])
    wrong[3, 4] = weights[5] = bad
    engine = MemoryEngine([Block(csr_matrix(wrong), np.ones(X.shape[0]), 0)])
    for use in (ESTIMATORS[name]().fit, ESTIMATORS[name]().fit(X).transform):
        with pytest.raises(InputError, match="X must contain finite numbers"):
            use(engine)
    with pytest.raises(InputError, match="sample_weight must be finite and non-negative"):
        ESTIMATORS[name]().fit(X, sample_weight=weights)
    with pytest.raises(InputError, match="whose blocks have their own weights"):
        ESTIMATORS[name]().fit(MemoryEngine(blocks_of(X, WEIGHTS, 17)), sample_weight=WEIGHTS)


def bad_values():
    """Estimator, parameter and a value that makes no sense for it, for every parameter there is."""
    for name in [name for name in ESTIMATORS if name.split(":")[0] not in VARIANTS]:
        for parameter, value in ESTIMATORS[name]().get_params().items():
            if parameter in ("random_state", "embeddings"):  # the one is scikit-learn's, the other anything
                continue
            yield from ((name, parameter, bad) for bad in ("no such value", -1))
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                bad = [np.nan, True] if parameter in OPTIONAL else [np.nan, True, None]
                yield from ((name, parameter, value) for value in bad)


@pytest.mark.parametrize(("name", "parameter", "bad"), list(bad_values()))
def test_a_bad_parameter_is_named_with_its_value_in_one_sentence(name, parameter, bad):
    model = ESTIMATORS[name]().set_params(**{parameter: bad})  # which judges nothing yet
    with pytest.raises(InputError) as caught:
        model.fit(X)
    said = str(caught.value)
    assert said.startswith(f"The parameter {parameter!r} of {type(model).__name__} must be ")
    assert said.endswith(f", got {bad!r}")
    assert "\n" not in said
    with pytest.raises(NotFittedError):
        model.transform(X)


@each_method
def test_a_fit_that_fails_leaves_nothing_that_looks_fitted(name):
    model = make(name)
    steps(model)[-1].set_params(random_state="no seed")
    with pytest.raises(ValueError, match="no seed"):
        model.fit(X)
    with pytest.raises(NotFittedError):
        steps(model)[-1].transform(X)


@each_method
def test_what_comes_after_must_fit(name):
    with pytest.raises(NotFittedError):
        make(name).transform(X)
    model, other = make(name).fit(X), csr_matrix((2, X.shape[1] + 1))
    with pytest.raises(ValueError, match=r"X has 34 features, but .* is expecting 33 features"):
        model.transform(other)
    if name in ESTIMATORS:
        with pytest.raises(InputError, match=r"X has 34 features, but .* is expecting 33 features"):
            model.transform(MemoryEngine([Block(other, np.ones(2), 0)]))


# --- an estimator of scikit-learn


@each_method
def test_a_method_can_be_cloned_and_only_fit_learns(name):
    model = make(name)
    for step in steps(model):
        assert vars(step) == step.get_params(deep=False)
    assert {key: repr(value) for key, value in clone(model).get_params().items()} == {
        key: repr(value) for key, value in model.get_params().items()
    }
    assert_same(learned(clone(model).fit(X)), learned(model.fit(X)))
    assert_same(learned(clone(model).fit(X)), learned(model.fit(X)))  # a fitted one as well
    for step in steps(model):
        assert not {key for key in vars(step) if key.startswith("_")}  # nothing is left over from the fit


@each_method
def test_how_a_matrix_is_stored_does_not_matter(name):
    expected = make(name).fit(X)
    table = X.tocoo()
    halves = csr_matrix(X.shape)  # every entry twice, half of it each time, rows not sorted
    rows = np.argsort(np.tile(table.row, 2), kind="stable")
    halves.data, halves.indices = np.tile(table.data / 2, 2)[rows], np.tile(table.col, 2)[rows]
    halves.indptr = 2 * X.indptr
    for same in (X.toarray(), X.tocsc(), halves):
        model = make(name).fit(same)
        assert_same(learned(model), learned(expected))
        np.testing.assert_array_equal(model.transform(same), expected.transform(X))
    assert halves.nnz == 2 * X.nnz  # the caller's matrix is left alone


@each_estimator
def test_pandas_output_changes_no_label(name):
    model = ESTIMATORS[name]().set_output(transform="pandas").fit(X)
    assert_same(learned(model), learned(ESTIMATORS[name]().fit(X)))
    assert list(model.transform(X).columns) == list(model.get_feature_names_out())
