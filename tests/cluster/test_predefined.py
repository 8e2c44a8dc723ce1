"""Topics that are known beforehand, as counts."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie.cluster import Coterie, refining
from coterie.cluster.beginning import Beginning
from coterie.cluster.predefined import FREE, Predefined
from coterie.cluster.refining import Representation
from coterie.cluster.space import Space
from coterie.errors import InputError
from matrices import count_matrices
from planted import planted, sample_of

KMEANS = {"n_init": 5, "tol": 1e-6}


def by_columns(columns, X):
    return Predefined.of_columns(columns, X.shape[1])


def by_texts(rows, topics, n_topics):
    """Topics by texts about them alone."""
    return Predefined(n_topics, csr_matrix(rows), np.array(topics), np.zeros(len(topics), dtype=bool))


@settings(max_examples=60)
@given(
    count_matrices(max_rows=10, max_terms=6),
    st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=3),
)
def test_a_text_begins_in_the_only_topic_of_which_it_contains_a_word(X, columns):
    columns = [[column for column in some if column < X.shape[1]] for some in columns]
    found = by_columns(columns, X).begin(csr_matrix(X))
    for row, counts in enumerate(X):
        matching = [number for number, some in enumerate(columns) if any(counts[c] > 0 for c in some)]
        assert found[row] == (matching[0] if len(matching) == 1 else FREE)


def test_no_text_begins_in_a_topic_without_words():
    known = by_texts(np.eye(2), [0, 1], 2)
    assert known.begin(csr_matrix(np.eye(2))).tolist() == [FREE, FREE]


@settings(max_examples=40)
@given(count_matrices(max_rows=12, max_terms=6), st.integers(0, 99))
def test_centres_lie_between_texts_and_what_stands_for_topics(X, seed):
    rng = np.random.default_rng(seed)
    n_terms = X.shape[1]
    space = Space(np.ones(n_terms), rng.standard_normal((n_terms, 4)))
    texts = sample_of(X, rng.standard_normal((len(X), 4)), weights := rng.integers(1, 4, len(X)))
    rows, topics = rng.integers(0, 2, (3, n_terms)), [0, 1, 1]
    begun = rng.integers(-1, 2, len(X))
    centers = by_texts(rows, topics, 2).centers(texts, begun, space, None)

    def unit(vector):
        length = np.linalg.norm(vector)
        return vector / length if length > 1e-6 else np.zeros_like(vector)

    vectors = texts.gather(lambda block: block.text_vectors)
    for topic in range(2):
        own = unit((weights[:, None] * vectors)[begun == topic].sum(axis=0))
        said = unit(
            sum(unit(row @ space.vectors) for row, of in zip(rows, topics, strict=True) if of == topic)
        )
        np.testing.assert_allclose(centers[topic], unit(own + said), atol=1e-3)


def beginning(known, X, vectors, n_topics):
    """Where clusters begin, in a space whose axes are the terms."""
    given_ = Representation(sample_of(X, vectors), np.ones(X.shape[1]))
    space = Space(np.ones(X.shape[1]), np.eye(X.shape[1]))
    return Beginning.of(known, given_, space, n_topics, np.random.RandomState(0), KMEANS)


def test_new_centres_are_those_of_the_free_texts():
    X = np.repeat(np.eye(4), 10, axis=0)
    begun = beginning(by_columns([[0], [3]], X), X, X, 4)
    np.testing.assert_allclose(begun.centers[:2], np.eye(4)[[0, 3]], atol=1e-6)
    assert sorted(begun.centers[2:].argmax(axis=1).tolist()) == [1, 2]
    np.testing.assert_array_equal(begun.topics, np.repeat([0, FREE, FREE, 1], 10))


@pytest.mark.parametrize("chosen", list(permutations(range(4), 2)))
def test_a_topic_without_words_stands_for_a_cluster_so_that_none_is_found_twice(chosen):
    X = np.repeat(np.eye(4), 10, axis=0)
    begun = beginning(by_texts(np.eye(4)[list(chosen)], [0, 1], 2), X, X, 4)
    assert tuple(begun.centers.argmax(axis=1)[:2]) == chosen
    assert set(begun.centers[2:].argmax(axis=1)) == set(range(4)) - set(chosen)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_predefined_topics_come_first_and_contain_their_texts(seed):
    X, truth = planted(200, 5, own=10, seed=seed)
    chosen = [3, 0]
    model = Coterie(5, restarts=2)
    model.fit(X, predefined=by_columns([range(10 * k, 10 * k + 3) for k in chosen], X))
    assert model.n_predefined_ == 2
    for topic, kind in enumerate(chosen):
        np.testing.assert_array_equal(model.labels_ == topic, truth == kind)


def test_words_make_a_topic_of_what_others_would_divide():
    """Every text has one of two words that go with anything: topics are those words if they are given."""
    X, _ = planted(300, 3, own=8, words=3, noise=0)
    side = np.arange(300) % 2
    X = csr_matrix(np.hstack([X.toarray(), np.eye(2)[side] * 2]))
    n = X.shape[1]
    plain = Coterie(2, restarts=2).fit(X)
    guided = Coterie(2, restarts=2).fit(X, predefined=by_columns([[n - 2], [n - 1]], X))
    assert max(np.mean(plain.labels_ == side), np.mean(plain.labels_ != side)) < 0.9
    np.testing.assert_array_equal(side, guided.labels_)


def test_texts_that_begin_with_a_wrong_word_may_leave():
    """One word of each topic is also in some texts of the other, which all their other words contradict."""
    X, truth = planted(300, 2, own=10, words=6, noise=0)
    X = X.toarray()
    X[truth == 1, 0] = 0
    X[np.flatnonzero(truth == 1)[::5], 0] = 1
    model = Coterie(2, restarts=1).fit(csr_matrix(X), predefined=by_columns([[0], [10, 11, 12]], X))
    np.testing.assert_array_equal(model.labels_, truth)


def test_anchored_topics_stay_where_they_began_the_more_the_stronger_the_pull(monkeypatch):
    X, _ = planted(120, 2, own=8, words=4, noise=1)
    vectors = np.random.default_rng(0).standard_normal((120, 3))  # which words contradict
    given_ = Representation(sample_of(X, vectors), np.ones(X.shape[1]))
    centers = np.eye(3)[:2].astype(np.float32)
    nearest = given_.texts.gather(lambda block: block.text_vectors @ centers.T).argmax(axis=1)

    def agree(pull):
        monkeypatch.setattr(refining, "_PULL", pull)
        found = refining.find_topics(given_, centers, np.full(120, FREE), True, anchored=True)
        scores = given_.texts.gather(lambda block: found.coefficients.scores(block.words, block.text_vectors))
        return np.mean(scores.argmax(axis=1) == nearest)

    assert agree(100.0) == 1
    assert agree(0.0) < 1


@settings(max_examples=15)
@given(count_matrices(max_rows=14, max_terms=8), st.integers(0, 999))
def test_the_order_of_rows_and_columns_does_not_matter(X, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    known = by_columns([[0], list(range(1, X.shape[1]))[:2]], X)
    one = Coterie(3, restarts=1).fit(X, predefined=known)
    two = Coterie(3, restarts=1).fit(X[rows][:, columns], predefined=known.of_terms(columns))
    np.testing.assert_array_equal(one.labels_[rows], two.labels_)


def test_a_topic_of_which_nothing_is_known_is_there_and_has_no_text():
    X, truth = planted(90, 3, own=8)
    X = csr_matrix(np.hstack([X.toarray(), np.zeros((90, 1))]))
    model = Coterie(4, restarts=2).fit(X, predefined=by_columns([[X.shape[1] - 1], [0]], X))
    assert not (model.labels_ == 0).any()
    np.testing.assert_array_equal(model.labels_ == 1, truth == 0)
    assert model.n_topics_ == len(model.components_) == 4
    assert not model.transform(X)[:, 0].any()


def test_nothing_is_remembered_of_earlier_topics():
    X, _ = planted(90, 3)
    model, plain = Coterie(3, restarts=1), Coterie(3, restarts=1).fit(X)
    model.fit(X, predefined=by_columns([[0]], X))
    assert model.n_predefined_ == 1
    model.fit(X)
    assert model.n_predefined_ == 0
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.coefficients_, plain.coefficients_)


def test_wrong_columns_are_told():
    for wrong in (99, -1):
        with pytest.raises(InputError, match=rf"^columns of words must be 0 to 9; got \[{wrong}\]$"):
            Predefined.of_columns([[wrong]], 10)


def test_more_predefined_topics_than_topics_are_told():
    X, _ = planted(60, 3)
    with pytest.raises(InputError, match=r"^n_topics must be at least 4, as many as predefined; got 3$"):
        Coterie(3, restarts=1).fit(X, predefined=by_columns([[0], [1], [2], [3]], X))


def test_there_are_at_least_as_many_topics_as_predefined():
    X, _ = planted(120, 3, own=8)
    model = Coterie(restarts=1).fit(X, predefined=by_columns([[0], [8], [16]], X))
    assert model.n_topics_ >= 3
