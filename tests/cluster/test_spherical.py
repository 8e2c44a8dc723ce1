import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_matrix, diags, random
from sklearn.utils.estimator_checks import parametrize_with_checks

from coterie import weights
from coterie.cluster import SphericalKMeans, spherical_kmeans
from coterie.corpus import Vectorizer
from coterie.engines import Block, DiskEngine, MemoryEngine, as_engine, write_blocks
from coterie.linalg import spherical
from coterie.metrics import nmi
from matrices import count_matrices

few = settings(max_examples=40)


@parametrize_with_checks([SphericalKMeans(n_topics=3, n_init=2, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def seed(number=0):
    return np.random.RandomState(number)


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, length, where=length > 0, out=np.zeros_like(X))


def text_vectors(X):
    """The number of different vectors."""
    return len(np.unique(unit(X)[X.any(axis=1)].round(9), axis=0))


def planted(n_rows=300, n_clusters=5, n_terms=40, seed=0):
    """Clusters with terms of their own: which row belongs where is known."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_clusters, size=n_rows)
    X = np.zeros((n_rows, n_terms))
    for row, cluster in enumerate(truth):
        own = np.arange(cluster, n_terms, n_clusters)
        X[row, rng.choice(own, 5)] = rng.integers(1, 4, 5)
    return X, truth


def same_clusters(one, two):
    return nmi(one, two) == pytest.approx(1)


def literal_lloyd(X, weights, centers, sweeps):
    """Spherical k-means by the book, from given centres that never lose all their rows."""
    rows = unit(X)
    for _ in range(sweeps):
        nearest = (rows @ centers.T).argmax(axis=1)
        sums = [(weights[:, None] * rows)[nearest == k].sum(axis=0) for k in range(len(centers))]
        centers = unit(np.array(sums))
    return centers


@pytest.mark.parametrize("fill", [0.1, 0.9])
def test_sweeps_are_those_of_the_book(fill):
    X = random(200, 12, fill, format="csr", rng=np.random.default_rng(0))
    row_weights = np.arange(200) % 4 + 1.0
    for sweeps in (1, 3, 10):
        start = spherical_kmeans(as_engine(X, row_weights), 4, seed(), max_iter=1, tol=0.0)
        found = spherical_kmeans(as_engine(X, row_weights), 4, seed(), max_iter=1 + sweeps, tol=0.0)
        expected = literal_lloyd(X.toarray(), row_weights, start.centers, sweeps)
        if found.n_iter == 1 + sweeps:
            np.testing.assert_allclose(found.centers, expected, atol=1e-9)


@few
@given(count_matrices(max_rows=12), st.integers(1, 5), st.integers(0, 99))
def test_centers_are_where_their_rows_point(X, n_clusters, number):
    found = spherical_kmeans(as_engine(X), n_clusters, seed(number), n_init=2, tol=0.0)
    used = found.centers.any(axis=1)
    assert used.sum() == min(n_clusters, text_vectors(X))
    np.testing.assert_allclose(np.linalg.norm(found.centers[used], axis=1), 1.0)
    if not used.any():
        return
    cosines = unit(X) @ found.centers[used].T
    assert found.objective[-1] == pytest.approx(cosines.max(axis=1)[X.any(axis=1)].mean())
    np.testing.assert_allclose(literal_lloyd(X, np.ones(len(X)), found.centers[used], 1) @ np.eye(X.shape[1]),
                               found.centers[used], atol=1e-6)  # fmt: skip


@few
@given(hnp.arrays(np.float64, (9, 3), elements=st.integers(-2, 2)), st.integers(1, 5), st.integers(0, 99))
def test_the_objective_never_falls_also_with_negative_numbers(X, n_clusters, number):
    found = spherical_kmeans(as_engine(X), n_clusters, seed(number), tol=0.0, max_iter=30)
    assert (np.diff(found.objective) >= 0).all()
    assert len(found.objective) == found.n_iter or not X.any()
    assert np.isfinite(found.centers).all()
    if X.any():
        cosines = (unit(X) @ found.centers.T)[X.any(axis=1)]
        assert found.objective[-1] <= cosines.max(axis=1).mean() + 1e-9


def test_planted_clusters_are_found():
    X, truth = planted()
    model = SphericalKMeans(5, random_state=0).fit(X)
    assert same_clusters(truth, model.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, model.components_)
    assert model.n_iter_ == len(model.objective_)
    assert model.transform(X).max(axis=1).mean() == pytest.approx(model.objective_[-1], abs=1e-3)


def test_the_start_takes_one_row_of_each_tight_cluster():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(12), [200, *[5] * 11])  # rows drawn evenly would nearly all be of the first
    X = np.eye(12)[truth] + 0.05 * rng.random((len(truth), 12))
    for number in range(10):
        runs = [spherical._Run(seed(number), np.zeros((12, 12)))]
        spherical._seed(as_engine(X), runs, np.ones(len(X)))
        assert sorted(runs[0].centers.argmax(axis=0)) == list(range(12))


def test_the_length_of_rows_does_not_matter():
    X, _ = planted()
    scale = np.random.default_rng(0).uniform(0.01, 100, len(X))
    one = spherical_kmeans(as_engine(X), 5, seed())
    two = spherical_kmeans(as_engine(X * scale[:, None]), 5, seed())
    np.testing.assert_allclose(one.centers, two.centers, atol=1e-12)


def test_rows_are_drawn_by_their_shares():
    shares = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    drawn = spherical._draw(seed(), shares, 20_000)
    assert set(drawn) == {1, 3}
    assert (drawn == 3).mean() == pytest.approx(0.75, abs=0.02)
    assert set(spherical._draw(seed(), np.array([1.0, 0.0]), 100)) == {0}


def test_weights_are_probabilities_of_the_first_center():
    X = np.eye(3)
    engine = as_engine(X, np.array([1.0, 0.0, 9.0]))
    first = [spherical_kmeans(engine, 1, seed(number), max_iter=1).centers for number in range(3)]
    for centers in first:  # one centre: the sum of all, in which weights count
        np.testing.assert_allclose(centers, unit(np.array([[1.0, 0, 9]])))
    found = spherical_kmeans(engine, 3, seed())
    assert (found.centers.any(axis=1)).sum() == 2  # a row without weight is never a centre


def test_dense_and_sparse_rows_give_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8)) + 3 * rng.normal(size=(4, 8))[rng.integers(4, size=500)]
    row_weights = rng.integers(1, 4, 500).astype(float)
    monkeypatch.setattr(spherical, "_DENSE_ROWS", 64)
    two_blocks = [Block(X[:300], row_weights[:300], 0), Block(X[300:], row_weights[300:], 300)]
    dense = spherical_kmeans(MemoryEngine(two_blocks), 4, seed(), n_init=3)
    filled = spherical_kmeans(as_engine(csr_matrix(X), row_weights), 4, seed(), n_init=3)
    turned = spherical_kmeans(
        MemoryEngine([Block(np.asfortranarray(X), row_weights, 0)]), 4, seed(), n_init=3
    )
    monkeypatch.setattr(spherical, "_DENSE", 2.0)  # a CSR matrix is then never made dense
    sparse = spherical_kmeans(as_engine(csr_matrix(X), row_weights), 4, seed(), n_init=3)
    for other in (filled, turned, sparse):
        np.testing.assert_allclose(dense.centers, other.centers, atol=1e-9)
        np.testing.assert_allclose(dense.objective, other.objective, rtol=1e-9)


def test_threads_change_nothing_for_dense_rows():
    X = np.random.default_rng(0).normal(size=(9000, 6))
    one, two = (
        spherical_kmeans(MemoryEngine([Block(X, np.ones(9000), 0)], threads), 3, seed(), n_init=2)
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(one.centers, two.centers)


def test_filled_rows_on_disk(tmp_path):
    X = csr_matrix(np.random.default_rng(0).normal(size=(300, 6)))
    write_blocks(
        tmp_path, [Block(X[a : a + 70], np.ones(X[a : a + 70].shape[0]), a) for a in range(0, 300, 70)]
    )
    disk = spherical_kmeans(DiskEngine(tmp_path), 3, seed(), n_init=2)
    np.testing.assert_allclose(
        disk.centers, spherical_kmeans(as_engine(X), 3, seed(), n_init=2).centers, atol=1e-9
    )


def test_restarts_worked_on_one_by_one_give_the_same(monkeypatch):
    X, _ = planted()
    together = spherical_kmeans(as_engine(X), 6, seed(), n_init=4)
    monkeypatch.setattr(spherical, "_TOGETHER", 1)
    monkeypatch.setattr(spherical, "_PRODUCT", 1)
    alone = spherical_kmeans(as_engine(X), 6, seed(), n_init=4)
    np.testing.assert_allclose(together.centers, alone.centers, atol=1e-9)


def test_the_best_restart_wins():
    X = random(150, 20, 0.15, format="csr", rng=np.random.default_rng(3))
    # the first starts of many are those of few
    reached = [spherical_kmeans(as_engine(X), 5, seed(7), n_init=n).objective[-1] for n in range(1, 7)]
    assert reached == sorted(reached)
    assert reached[0] < reached[-1]


def test_an_empty_cluster_starts_again_from_the_farthest_row():
    X = np.array([[1.0, 0, 0], [1, 0.1, 0], [1, 0, 0.2], [0.2, 0, 1]])
    run = spherical._Run(seed(), np.array([[1.0, 0, 0], [0, 0, 0]]).T.copy())
    assert spherical._refill(as_engine(X), run)
    np.testing.assert_allclose(run.centers[:, 1], unit(X)[3])
    assert not spherical._refill(as_engine(X), run)
    # a start in which two centres are the same loses one of them in the first sweep
    run = spherical._Run(seed(), np.array([[1.0, 0, 0], [1, 0, 0]]).T.copy())
    spherical._settle(as_engine(X), [run], 4.0, max_iter=20, tol=0.0)
    assert run.centers.any(axis=0).all()
    assert same_clusters([0, 0, 0, 1], (X @ run.centers).argmax(axis=1))


def test_rows_that_cancel_out_leave_no_center_without_direction():
    X = np.array([[1.0, 0], [-1, 0]])
    found = spherical_kmeans(as_engine(X), 1, seed())
    np.testing.assert_allclose(np.abs(found.centers), [[1, 0]])
    assert found.objective[-1] == pytest.approx(0, abs=1e-12)
    # three vectors whose sum is zero but for rounding: that has no direction either
    X = np.array(
        [[np.cos(angle), np.sin(angle)] for angle in np.pi * np.array([0.1, 0.1 + 2 / 3, 0.1 + 4 / 3])]
    )
    assert X.sum(axis=0).any()
    found = spherical_kmeans(as_engine(X), 1, seed())
    assert (X @ found.centers[0]).max() == pytest.approx(1)


def test_the_farthest_row_may_lie_opposite():
    X = np.array([[0.0, 1], [1, 0], [-1, 0.1]])
    run = spherical._Run(seed(), np.array([[1.0, 0], [0, 0]]).T.copy())
    spherical._refill(as_engine(X), run)
    np.testing.assert_allclose(run.centers[:, 1], unit(X)[2])


def test_nobody_is_put_into_a_spare_cluster():
    X = np.array([[1.0, 2], [2, 4], [-1, 0]])
    model = SphericalKMeans(5, random_state=0).fit(X)
    used = np.flatnonzero(model.components_.any(axis=1))
    assert len(used) == 2
    assert set(model.labels_) == set(used)
    # cosines to both centres are negative, those to spare centres 0
    assert (model.transform([[0.1, -1]])[0, used] < 0).all()
    assert set(model.predict([[0.1, -1], [0, 0]])) <= set(used)


@pytest.mark.parametrize("n_topics", [1, 3, 12])
def test_edges(n_topics):
    for X in (np.zeros((4, 3)), np.ones((5, 4)), np.array([[0.0, 2, 0]]), np.array([[1.0], [3], [0]])):
        model = SphericalKMeans(n_topics, random_state=0).fit(X)
        assert model.components_.shape == (n_topics, X.shape[1])
        assert model.components_.any(axis=1).sum() == text_vectors(X)
        assert len(set(model.labels_)) == 1
        assert model.objective_[-1] == pytest.approx(1.0 if X.any() else 0.0)


def test_no_rows_at_all():
    found = spherical_kmeans(as_engine(csr_matrix((0, 3))), 2, seed())
    assert not found.centers.any()
    assert found.objective == [0.0]


def test_a_block_may_have_no_rows():
    X, _ = planted(60)
    blocks = [Block(csr_matrix(X[a:b]), np.ones(b - a), a) for a, b in ((0, 25), (25, 25), (25, 60))]
    found = spherical_kmeans(MemoryEngine(blocks), 5, seed())
    np.testing.assert_allclose(found.centers, spherical_kmeans(as_engine(X), 5, seed()).centers, atol=1e-9)


def test_titles(dataset):
    data = dataset("titles")
    counts = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(data.texts)
    assert counts.shape == (2630, 1403)
    X = counts @ diags(weights.idf(counts))
    scores = [nmi(data.labels, SphericalKMeans(9, random_state=s).fit_predict(X)) for s in range(3)]
    assert np.mean(scores) == pytest.approx(0.40, abs=0.05)


@pytest.mark.parametrize("number", range(4))
def test_a_finer_tolerance_never_ends_lower(number):
    X = seed(number).uniform(size=(400, 12)) ** 3
    rough, fine = (
        spherical_kmeans(as_engine(X), 6, seed(number), n_init=8, tol=tol).objective[-1]
        for tol in (1e-4, 1e-8)
    )
    assert fine >= rough - 1e-9


def test_rows_in_single_precision_give_the_same_clusters():
    X, truth = planted()
    rows = X.astype(np.float32)
    single = MemoryEngine([Block(rows[:150], np.ones(150), 0), Block(rows[150:], np.ones(150), 150)])
    centers = spherical_kmeans(single, 5, seed(), n_init=3).centers
    assert same_clusters((unit(X) @ centers.T).argmax(axis=1), truth)


def test_single_precision_does_not_tell_equal_directions_apart():
    rows = np.repeat(np.random.RandomState(3).uniform(size=(2, 7)), 20, axis=0).astype(np.float32)
    rows *= np.linspace(0.1, 3.0, 40, dtype=np.float32)[:, None]
    centers = spherical_kmeans(MemoryEngine([Block(rows, np.ones(40), 0)]), 5, seed()).centers
    assert centers.any(axis=1).sum() == 2
