"""Topics that somebody named beforehand, as columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie.cluster import Coterie
from coterie.cluster.anchors import FREE, centers_around, held_by
from coterie.errors import InputError
from matrices import count_matrices
from planted import planted, sample_of


@settings(max_examples=60)
@given(
    count_matrices(max_rows=10, max_terms=6), st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=3)
)
def test_a_text_is_held_by_the_only_anchor_of_which_it_has_a_word(X, anchors):
    anchors = [[column for column in columns if column < X.shape[1]] for columns in anchors]
    found = held_by(anchors, csr_matrix(X)) if anchors else np.full(len(X), FREE)
    for row, counts in enumerate(X):
        holding = [number for number, columns in enumerate(anchors) if any(counts[c] > 0 for c in columns)]
        assert found[row] == (holding[0] if len(holding) == 1 else FREE)


@settings(max_examples=40)
@given(count_matrices(max_rows=12, max_terms=6), st.integers(0, 99))
def test_centres_of_anchors_are_the_mean_directions_of_their_texts(X, seed):
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((len(X), 4))
    held, weights = rng.integers(-1, 2, len(X)), rng.integers(1, 4, len(X))
    texts = sample_of(X, directions, weights)
    centers = centers_around(texts, held, 2, 2, np.random.RandomState(0), n_init=2, tol=1e-6)
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    for anchor in range(2):
        mean = (weights[:, None] * unit)[held == anchor].sum(axis=0)
        expected = mean / np.linalg.norm(mean) if mean.any() else mean
        np.testing.assert_allclose(centers[anchor], expected, atol=1e-4)


def test_the_other_centres_are_those_of_the_free_texts():
    directions = np.repeat(np.eye(4), 10, axis=0)
    held = np.repeat([0, FREE, FREE, 1], 10)
    texts = sample_of(np.ones((40, 1)), directions)
    centers = centers_around(texts, held, 2, 4, np.random.RandomState(0), n_init=5, tol=1e-6)
    np.testing.assert_allclose(centers[:2], np.eye(4)[[0, 3]], atol=1e-6)
    assert sorted(centers[2:].argmax(axis=1).tolist()) == [1, 2]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_topic_of_an_anchor_holds_its_texts(seed):
    X, truth = planted(200, 5, own=10, seed=seed)
    chosen = [3, 0]
    model = Coterie(5, restarts=2).fit(X, anchors=[range(10 * k, 10 * k + 3) for k in chosen])
    assert len(model.anchor_topics_) == 2
    for topic, kind in zip(model.anchor_topics_, chosen, strict=True):
        np.testing.assert_array_equal(model.labels_ == topic, truth == kind)


def test_an_anchor_makes_a_topic_of_what_others_would_divide():
    """Every text has one of two words that go with anything: topics are those words if anchors say so."""
    X, truth = planted(300, 3, own=8, words=3, noise=0)
    side = np.arange(300) % 2
    marks = np.eye(2)[side] * 2
    X = csr_matrix(np.hstack([X.toarray(), marks]))
    n = X.shape[1]
    plain, anchored = Coterie(2, restarts=2).fit(X), Coterie(2, restarts=2).fit(X, anchors=[[n - 1], [n - 2]])
    agree = max(np.mean(plain.labels_ == side), np.mean(plain.labels_ != side))
    assert agree < 0.9
    np.testing.assert_array_equal(anchored.anchor_topics_[[1, 0]][side], anchored.labels_)
    assert len(set(truth)) == 3


@settings(max_examples=15)
@given(count_matrices(max_rows=14, max_terms=8), st.integers(0, 999))
def test_the_order_of_rows_and_columns_does_not_matter(X, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    anchors = [[0], list(range(1, X.shape[1]))[:2]]
    place = np.argsort(columns)
    one = Coterie(3, restarts=1).fit(X, anchors=anchors)
    two = Coterie(3, restarts=1).fit(X[rows][:, columns], anchors=[place[columns_] for columns_ in anchors])
    np.testing.assert_array_equal(one.labels_[rows], two.labels_)
    np.testing.assert_array_equal(one.anchor_topics_, two.anchor_topics_)


def test_the_order_of_anchors_and_of_their_columns_does_not_matter():
    X, _ = planted(120, 4, own=8, noise=2)
    one = Coterie(4, restarts=2).fit(X, anchors=[[0, 1, 2], [8, 9]])
    two = Coterie(4, restarts=2).fit(X, anchors=[[9, 8, 8], [2, 0, 1]])
    np.testing.assert_array_equal(one.anchor_topics_[one.anchor_topics_ >= 0], [0, 1])
    swapped = {0: two.anchor_topics_[1], 1: two.anchor_topics_[0]}
    for topic in (0, 1):
        np.testing.assert_array_equal(one.labels_ == topic, two.labels_ == swapped[topic])


def test_an_anchor_that_no_text_holds_has_no_topic():
    X, truth = planted(90, 3, own=8)
    X = csr_matrix(np.hstack([X.toarray(), np.zeros((90, 1))]))
    model = Coterie(4, restarts=2).fit(X, anchors=[[X.shape[1] - 1], [0]])
    assert model.anchor_topics_[0] == -1
    np.testing.assert_array_equal(model.labels_ == model.anchor_topics_[1], truth == 0)
    assert len(set(model.labels_)) == model.n_topics_ == len(model.components_)


def test_without_anchors_nothing_is_remembered_of_earlier_ones():
    X, _ = planted(90, 3)
    model, plain = Coterie(3, restarts=1), Coterie(3, restarts=1).fit(X)
    model.fit(X, anchors=[[0]])
    assert len(model.anchor_topics_) == 1
    model.fit(X)
    assert len(model.anchor_topics_) == 0
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.coefficients_, plain.coefficients_)


@pytest.mark.parametrize("anchors", [[[99]], [[-1]], [[0], [1], [2], [3]]])
def test_wrong_anchors_are_told(anchors):
    X, _ = planted(60, 3)
    with pytest.raises(InputError, match="anchors"):
        Coterie(3, restarts=1).fit(X, anchors=anchors)


def test_there_are_at_least_as_many_topics_as_anchors():
    X, truth = planted(120, 3, own=8)
    model = Coterie(restarts=1).fit(X, anchors=[[0], [8], [16]])
    assert model.n_topics_ >= 3
    assert set(model.anchor_topics_) == {0, 1, 2}
    assert len(set(truth)) == 3
