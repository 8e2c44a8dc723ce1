"""Confidence of topics: what it must be for any input, and how honest it is where the truth is known."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from coterie import Coterie, Vectorizer
from coterie.linalg.canonical import canonical
from coterie.topics.confidence import (
    COEFFICIENTS,
    Confidence,
    _purity_of,
    kept_coefficients,
    learn_confidence,
    n_known,
    size_evidence,
)
from planted import planted


def drawn(seed, n_rows, n_topics, width=6):
    """Memberships, vectors, numbers of words and weights; some texts of which nothing is known."""
    rng = np.random.default_rng(seed)
    memberships = rng.dirichlet(np.full(n_topics, 0.3), n_rows)
    text_vectors = rng.standard_normal((n_rows, width)) + 3 * memberships @ rng.standard_normal(
        (n_topics, width)
    )
    text_vectors /= np.linalg.norm(text_vectors, axis=1, keepdims=True)
    memberships[rng.random(n_rows) < 0.1] = 0
    text_vectors[rng.random(n_rows) < 0.1] = 0
    return memberships, text_vectors, rng.integers(0, 9, n_rows), rng.integers(1, 4, n_rows)


#: Opinions are many small clusterings: a few collections are enough to keep a test short.
few = settings(max_examples=12)
collections = st.builds(drawn, st.integers(0, 10_000), st.integers(0, 60), st.integers(1, 6))


def grouped(n_rows=400, n_topics=4, seed=0):
    """Texts in clear groups, their topics those groups."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(n_topics, size=n_rows)
    text_vectors = np.eye(n_topics + 2)[topics] + 0.15 * rng.standard_normal((n_rows, n_topics + 2))
    text_vectors /= np.linalg.norm(text_vectors, axis=1, keepdims=True)
    memberships = np.full((n_rows, n_topics), 0.1 / n_topics)
    memberships[np.arange(n_rows), topics] += 0.9
    return memberships, text_vectors, np.full(n_rows, 8), np.ones(n_rows)


# --- any input


@few
@given(collections)
def test_a_number_from_0_to_1_and_0_where_nothing_is_known(texts):
    found = learn_confidence(*texts).of(*texts[:3])
    assert found.shape == (len(texts[0]),)
    assert found.dtype == np.float64
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[~texts[0].any(axis=1)] == 0).all()


@few
@given(collections)
def test_alone_as_in_a_batch_to_the_last_bit(texts):
    learned = learn_confidence(*texts)
    together = learned.of(*texts[:3])
    alone = [learned.of(*(part[row : row + 1] for part in texts[:3]))[0] for row in range(len(together))]
    assert together.tolist() == alone


@pytest.mark.slow
def test_alone_as_in_a_large_batch():
    texts = drawn(3, 20_000, 12, width=100)
    learned = learn_confidence(*texts)
    together = learned.of(*texts[:3])
    some = range(0, 20_000, 97)
    assert [together[row] for row in some] == [
        learned.of(*(part[row : row + 1] for part in texts[:3]))[0] for row in some
    ]


@pytest.mark.slow
@few
@given(collections)
def test_the_same_every_time_and_from_saved_arrays(texts):
    learned, again = learn_confidence(*texts), learn_confidence(*texts)
    for field in dataclasses.fields(Confidence):
        assert np.array_equal(getattr(learned, field.name), getattr(again, field.name))
        assert isinstance(getattr(learned, field.name), np.ndarray | float | tuple)
    saved = Confidence(
        learned.centers.copy(),
        learned.purity.copy(),
        float(np.array(learned.agreement)),
        tuple(map(float, np.array(learned.coefficients))),
    )
    assert np.array_equal(learned.of(*texts[:3]), saved.of(*texts[:3]))


@few
@given(collections)
def test_evidence_is_what_it_says(texts):
    memberships, text_vectors, n_words, _ = texts
    learned = learn_confidence(*texts)
    for row, found in enumerate(learned.evidence(*texts[:3])):
        topic, shares = memberships[row].argmax(), sorted([0.0, *memberships[row]])
        purity = 0.0
        if text_vectors[row].any():
            cosines = [np.round(centers.astype(float) @ text_vectors[row], 9) for centers in learned.centers]
            purity = np.mean(
                [learned.purity[o, cosine.argmax(), topic] for o, cosine in enumerate(cosines)], dtype=float
            )
        odds = [
            np.log((s + 0.1) / (1.1 - s))
            for s in (shares[-1] - shares[-2], purity, min(learned.agreement, 0.9))
        ]
        np.testing.assert_allclose(found, [*odds, 1 / (1 + n_words[row])], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 40])
@pytest.mark.parametrize("n_topics", [1, 2, 5])
def test_few_texts_and_no_directions(n_rows, n_topics):
    memberships = np.zeros((n_rows, n_topics))
    memberships[:, -1] = 1.0  # all other topics are empty
    for text_vectors in (np.zeros((n_rows, 3)), np.tile([1.0, 0, 0], (n_rows, 1))):
        texts = memberships, text_vectors, np.ones(n_rows), np.ones(n_rows)
        found = learn_confidence(*texts).of(*texts[:3])
        # one topic for all: there is nothing to be told apart
        assert (found < 0.2).all()


def test_arguments_are_left_as_they_are():
    texts = drawn(0, 50, 3)
    before = [part.copy() for part in texts]
    learn_confidence(*texts).of(*texts[:3])
    assert all(np.array_equal(a, b) for a, b in zip(texts, before, strict=True))


# --- what counts


def test_coefficients_point_where_they_should():
    _, share, purity, agreement, few_words, n_topics, per_topic = COEFFICIENTS
    assert min(share, purity, agreement) > 0 > max(few_words, n_topics, per_topic)


@given(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1e6), st.floats(0, 1e6))
def test_more_topics_and_more_texts_never_make_surer(one, other, fewer, more):
    few, many = sorted((one, other))
    small, large = sorted((fewer, more))
    surest, *factors = kept_coefficients(few, small)
    assert surest >= kept_coefficients(few, large)[0]
    assert surest >= kept_coefficients(many, small)[0]
    assert tuple(factors) == kept_coefficients(many, large)[1:] == COEFFICIENTS[1:5]


@few
@given(collections)
def test_the_size_of_the_collection_is_in_the_constant(texts):
    memberships, text_vectors, n_words, weights = texts
    known = memberships.any(axis=1) & text_vectors.any(axis=1) & (n_words > 0)
    n_texts = weights[known].sum()
    assert n_known(*texts) == n_texts
    n_topics = max(len(set(memberships[known].argmax(axis=1))), 1)
    per_topic = max(n_texts / n_topics, 20)
    np.testing.assert_allclose(size_evidence(n_topics, n_texts), [np.log(n_topics), np.log(per_topic)])
    constant = COEFFICIENTS[0] + COEFFICIENTS[5] * np.log(n_topics) + COEFFICIENTS[6] * np.log(per_topic)
    assert learn_confidence(*texts).coefficients == (pytest.approx(constant, abs=1e-6), *COEFFICIENTS[1:5])


def test_a_clear_share_good_company_and_more_words_make_sure():
    memberships, text_vectors, n_words, weights = grouped()
    learned = learn_confidence(memberships, text_vectors, n_words, weights)
    sure = learned.of(memberships[:1], text_vectors[:1], [8])[0]
    unclear = 0.5 * memberships[:1] + 0.5 / memberships.shape[1]
    stranger = np.roll(memberships[:1], 1, axis=1)
    assert sure > 0.8
    assert learned.of(unclear, text_vectors[:1], [8])[0] < sure
    assert learned.of(stranger, text_vectors[:1], [8])[0] < min(sure - 0.15, 0.8)
    assert learned.of(memberships[:1], text_vectors[:1], [1])[0] < sure
    assert learned.of(memberships[:1], np.zeros_like(text_vectors[:1]), [8])[0] < sure


def test_topics_dealt_out_at_random_are_never_sure():
    memberships, text_vectors, n_words, weights = grouped()
    dealt = memberships[np.random.default_rng(1).permutation(len(memberships))]
    learned = learn_confidence(dealt, text_vectors, n_words, weights)
    assert learned.agreement < 0.1
    assert learned.of(dealt, text_vectors, n_words).max() < 0.5


def test_copies_weigh_as_rows_would():
    rng = np.random.default_rng(0)
    clusters, topics, weights = rng.integers(3, size=30), rng.integers(4, size=30), rng.integers(1, 5, 30)
    folded = _purity_of(clusters, topics, weights.astype(float), (3, 4))
    unfolded = _purity_of(
        np.repeat(clusters, weights), np.repeat(topics, weights), np.ones(weights.sum()), (3, 4)
    )
    np.testing.assert_allclose(folded, unfolded, rtol=1e-6)


def test_weights_decide_whose_company_it_is():
    memberships, text_vectors, n_words, _ = grouped()
    topics = memberships.argmax(axis=1)
    # of the texts around topic 0 every third is said to be of topic 1
    odd = (topics == 0) & (np.arange(len(topics)) % 3 == 0)
    memberships[odd] = np.roll(memberships[odd], 1, axis=1)
    texts = memberships[odd], text_vectors[odd], n_words[odd]
    purity = [
        learn_confidence(memberships, text_vectors, n_words, np.where(odd, weight, 1.0))
        .evidence(*texts)[:, 1]
        .mean()
        for weight in (1, 4, 16)
    ]
    assert purity[0] < purity[1] < purity[2]


def test_a_row_without_weight_teaches_nothing():
    memberships, text_vectors, n_words, weights = grouped()
    weights[::5] = 0
    changed = memberships.copy()
    changed[::5] = np.roll(memberships[::5], 1, axis=1)
    first, second = (
        learn_confidence(part, text_vectors, n_words, weights) for part in (memberships, changed)
    )
    assert np.array_equal(first.centers, second.centers)
    assert np.array_equal(first.purity, second.purity)
    assert first.agreement == second.agreement


def test_learning_takes_a_sample_of_many_texts():
    texts = drawn(5, 20_000, 4)
    every_third = [part[::3] for part in texts]
    assert np.array_equal(learn_confidence(*texts).purity, learn_confidence(*every_third).purity)


# --- honesty


def test_texts_of_two_topics_are_less_sure_than_texts_of_one():
    X, truth = planted(600, 5, words=6, noise=1)
    mixed = np.arange(0, 600, 6)
    others = [np.flatnonzero(truth != truth[row])[row % 400] for row in mixed]
    both = X.toarray()
    both[mixed] += X[others].toarray()
    X = csr_matrix(both)
    model = Coterie(5).fit(X)
    texts = model.transform(X), model.embed(X), np.diff(X.indptr)
    found = learn_confidence(*texts, np.ones(600)).of(*texts)
    pure = np.delete(found, mixed)
    assert pure.mean() > 0.8
    # twice the doubt, and of a mixed and a pure text the pure one is nearly always surer
    assert 1 - found[mixed].mean() > 2 * (1 - pure.mean())
    assert (found[mixed][:, None] < pure).mean() > 0.8


@pytest.mark.slow
def test_of_the_sure_texts_four_in_five_are_right(dataset):
    data = dataset("searchsnippets")
    X = Vectorizer(min_df=2).fit_transform(data.texts)
    labels = np.unique(data.labels, return_inverse=True)[1]
    model = Coterie(8).fit(X)
    found = canonical(X)
    distinct = found.X[:, np.argsort(found.columns)]
    texts = model.transform(distinct), model.embed(distinct), np.diff(distinct.indptr)
    confidence = learn_confidence(*texts, found.weights).of(*texts)[found.rows]
    together = np.zeros((8, 8))
    np.add.at(together, (model.labels_, labels), 1)
    right = together.argmax(axis=1)[model.labels_] == labels
    sure = confidence >= 0.8
    assert right[sure].mean() >= 0.8
    assert sure.mean() > 0.1
    # the surer, the better
    thirds = np.array_split(right[np.argsort(confidence, kind="stable")], 3)
    assert thirds[0].mean() < thirds[1].mean() < thirds[2].mean()
    assert abs(confidence.mean() - right.mean()) < 0.25
