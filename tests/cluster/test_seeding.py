"""Topics that somebody named beforehand, as columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie.cluster import Coterie
from coterie.cluster.seeding import FREE, centers_around, seed_of_text
from coterie.errors import InputError
from matrices import count_matrices
from planted import planted, sample_of


@settings(max_examples=60)
@given(
    count_matrices(max_rows=10, max_terms=6), st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=3)
)
def test_a_text_belongs_to_the_only_seed_of_which_it_contains_a_word(X, seed_columns):
    seed_columns = [[column for column in columns if column < X.shape[1]] for columns in seed_columns]
    found = seed_of_text(seed_columns, csr_matrix(X)) if seed_columns else np.full(len(X), FREE)
    for row, counts in enumerate(X):
        matching = [
            number for number, columns in enumerate(seed_columns) if any(counts[c] > 0 for c in columns)
        ]
        assert found[row] == (matching[0] if len(matching) == 1 else FREE)


@settings(max_examples=40)
@given(count_matrices(max_rows=12, max_terms=6), st.integers(0, 99))
def test_centres_of_seeds_are_the_mean_vectors_of_their_texts(X, seed):
    rng = np.random.default_rng(seed)
    text_vectors = rng.standard_normal((len(X), 4))
    held, weights = rng.integers(-1, 2, len(X)), rng.integers(1, 4, len(X))
    texts = sample_of(X, text_vectors, weights)
    centers = centers_around(texts, held, 2, 2, np.random.RandomState(0), n_init=2, tol=1e-6)
    unit = text_vectors / np.linalg.norm(text_vectors, axis=1, keepdims=True)
    for number in range(2):
        mean = (weights[:, None] * unit)[held == number].sum(axis=0)
        expected = mean / np.linalg.norm(mean) if mean.any() else mean
        np.testing.assert_allclose(centers[number], expected, atol=1e-4)


def test_the_other_centres_are_those_of_the_free_texts():
    text_vectors = np.repeat(np.eye(4), 10, axis=0)
    held = np.repeat([0, FREE, FREE, 1], 10)
    texts = sample_of(np.ones((40, 1)), text_vectors)
    centers = centers_around(texts, held, 2, 4, np.random.RandomState(0), n_init=5, tol=1e-6)
    np.testing.assert_allclose(centers[:2], np.eye(4)[[0, 3]], atol=1e-6)
    assert sorted(centers[2:].argmax(axis=1).tolist()) == [1, 2]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_topic_of_a_seed_contains_its_texts(seed):
    X, truth = planted(200, 5, own=10, seed=seed)
    chosen = [3, 0]
    model = Coterie(5, restarts=2).fit(X, seed_columns=[range(10 * k, 10 * k + 3) for k in chosen])
    assert len(model.seed_topics_) == 2
    for topic, kind in zip(model.seed_topics_, chosen, strict=True):
        np.testing.assert_array_equal(model.labels_ == topic, truth == kind)


def test_a_seed_makes_a_topic_of_what_others_would_divide():
    """Every text has one of two words that go with anything: topics are those words if they are seeds."""
    X, truth = planted(300, 3, own=8, words=3, noise=0)
    side = np.arange(300) % 2
    marks = np.eye(2)[side] * 2
    X = csr_matrix(np.hstack([X.toarray(), marks]))
    n = X.shape[1]
    plain, seeded = (
        Coterie(2, restarts=2).fit(X),
        Coterie(2, restarts=2).fit(X, seed_columns=[[n - 1], [n - 2]]),
    )
    agree = max(np.mean(plain.labels_ == side), np.mean(plain.labels_ != side))
    assert agree < 0.9
    np.testing.assert_array_equal(seeded.seed_topics_[[1, 0]][side], seeded.labels_)
    assert len(set(truth)) == 3


@settings(max_examples=15)
@given(count_matrices(max_rows=14, max_terms=8), st.integers(0, 999))
def test_the_order_of_rows_and_columns_does_not_matter(X, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    seed_columns = [[0], list(range(1, X.shape[1]))[:2]]
    place = np.argsort(columns)
    one = Coterie(3, restarts=1).fit(X, seed_columns=seed_columns)
    two = Coterie(3, restarts=1).fit(
        X[rows][:, columns], seed_columns=[place[columns_] for columns_ in seed_columns]
    )
    np.testing.assert_array_equal(one.labels_[rows], two.labels_)
    np.testing.assert_array_equal(one.seed_topics_, two.seed_topics_)


def test_the_order_of_seeds_and_of_their_columns_does_not_matter():
    X, _ = planted(120, 4, own=8, noise=2)
    one = Coterie(4, restarts=2).fit(X, seed_columns=[[0, 1, 2], [8, 9]])
    two = Coterie(4, restarts=2).fit(X, seed_columns=[[9, 8, 8], [2, 0, 1]])
    np.testing.assert_array_equal(one.seed_topics_[one.seed_topics_ >= 0], [0, 1])
    swapped = {0: two.seed_topics_[1], 1: two.seed_topics_[0]}
    for topic in (0, 1):
        np.testing.assert_array_equal(one.labels_ == topic, two.labels_ == swapped[topic])


def test_a_seed_that_no_text_contains_has_no_topic():
    X, truth = planted(90, 3, own=8)
    X = csr_matrix(np.hstack([X.toarray(), np.zeros((90, 1))]))
    model = Coterie(4, restarts=2).fit(X, seed_columns=[[X.shape[1] - 1], [0]])
    assert model.seed_topics_[0] == -1
    np.testing.assert_array_equal(model.labels_ == model.seed_topics_[1], truth == 0)
    assert len(set(model.labels_)) == model.n_topics_ == len(model.components_)


def test_without_seeds_nothing_is_remembered_of_earlier_ones():
    X, _ = planted(90, 3)
    model, plain = Coterie(3, restarts=1), Coterie(3, restarts=1).fit(X)
    model.fit(X, seed_columns=[[0]])
    assert len(model.seed_topics_) == 1
    model.fit(X)
    assert len(model.seed_topics_) == 0
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.coefficients_, plain.coefficients_)


@pytest.mark.parametrize(
    ("seed_columns", "message"),
    [
        ([[99]], r"^seed columns must be columns of X, 0 to \d+; got \[99\]$"),
        ([[-1]], r"^seed columns must be columns of X, 0 to \d+; got \[-1\]$"),
        ([[0], [1], [2], [3]], r"^n_topics must be at least the number of seeded topics, 4; got 3$"),
    ],
)
def test_wrong_seed_columns_are_told(seed_columns, message):
    X, _ = planted(60, 3)
    with pytest.raises(InputError, match=message):
        Coterie(3, restarts=1).fit(X, seed_columns=seed_columns)


def test_there_are_at_least_as_many_topics_as_seeds():
    X, truth = planted(120, 3, own=8)
    model = Coterie(restarts=1).fit(X, seed_columns=[[0], [8], [16]])
    assert model.n_topics_ >= 3
    assert set(model.seed_topics_) == {0, 1, 2}
    assert len(set(truth)) == 3
