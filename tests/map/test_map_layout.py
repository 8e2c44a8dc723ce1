"""The map lays texts out by their neighbours; where one lies depends on it and on the landmarks alone."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.manifold import trustworthiness

from coterie import TopicModel
from coterie.map import unfold
from coterie.map.colours import colours, shades
from coterie.map.landmarks import text_keys
from coterie.map.layout import Known, TopicMap, dense_place
from coterie.map.unfold import best_columns


def planted(n_topics=6, n_texts=300, dimensions=10, seed=0):
    """Directions around some centres, the topic of each, and keys."""
    rng = np.random.default_rng(seed)
    topics = np.arange(n_texts) % n_topics
    around = rng.standard_normal((n_topics, dimensions))
    vectors = around[topics] + 0.4 * rng.standard_normal((n_texts, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    centers = np.stack([vectors[topics == topic].sum(axis=0) for topic in range(n_topics)])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    return centers, vectors, rng.permutation(n_texts).astype(np.uint64), topics


def test_neighbours_stay_neighbours_and_topics_lie_apart():
    centers, vectors, keys, topics = planted(8, 600, 20)
    made = TopicMap.learn(centers, vectors, keys, topics)
    at = made.landmarks.place(vectors)
    assert trustworthiness(vectors, at, n_neighbors=15) > 0.9
    own = np.linalg.norm(at - made.positions[topics], axis=1)
    other = np.linalg.norm(at - made.positions[(topics + 1) % 8], axis=1)
    assert (own < other).mean() > 0.95
    assert np.ptp(at, axis=0).max() == pytest.approx(1.0, abs=0.1)


@settings(deadline=None, max_examples=8)
@given(st.permutations(range(120)))
def test_the_order_of_texts_does_not_matter(order):
    order = np.array(order)
    centers, vectors, keys, topics = planted(4, 120)
    one = TopicMap.learn(centers, vectors, keys, topics)
    other = TopicMap.learn(centers, vectors[order], keys[order], topics[order])
    assert one.landmarks.at.tobytes() == other.landmarks.at.tobytes()
    np.testing.assert_allclose(one.positions, other.positions, atol=2e-6)
    at = one.landmarks.place(vectors)
    np.testing.assert_allclose(other.landmarks.place(vectors[order]), at[order], atol=1e-9)


def test_a_text_lies_where_it_lies_alone_and_moves_no_other():
    centers, vectors, keys, topics = planted(n_texts=4500, n_topics=12)  # more than there are landmarks
    made = TopicMap.learn(centers, vectors, keys, topics)
    assert len(made.landmarks.at) == 4000
    together = made.landmarks.place(vectors)
    for row in (0, 17, 299, 4499):
        np.testing.assert_allclose(made.landmarks.place(vectors[[row]])[0], together[row], atol=1e-9)
    doubled = made.landmarks.place(np.concatenate([vectors, vectors]))
    np.testing.assert_allclose(doubled[4500:], together, atol=1e-9)


@pytest.mark.parametrize("n_texts", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("alike", [False, True])
def test_few_texts_and_texts_that_are_all_alike(n_texts, alike):
    vectors = np.tile([[1.0, 0.0, 0.0]], (n_texts, 1)) if alike else np.eye(5)[:n_texts]
    topics = np.zeros(n_texts, dtype=np.int64)
    centers = np.eye(vectors.shape[1])[:1]
    made = TopicMap.learn(centers, vectors, np.arange(n_texts).astype(np.uint64), topics)
    at = made.landmarks.place(vectors)
    assert np.isfinite(at).all()
    assert np.isfinite(made.positions).all()
    assert np.abs(at).max(initial=0.0) < 0.7
    if not alike:
        assert len(np.unique(np.round(at, 6), axis=0)) == n_texts


def test_texts_without_a_topic_or_a_vector():
    centers, vectors, keys, topics = planted(3, 60)
    vectors[5] = 0.0
    topics[5], topics[6] = -1, -1
    made = TopicMap.learn(centers, vectors, keys, topics)
    at = made.landmarks.place(vectors)
    assert np.isnan(at[5]).all()
    assert np.isfinite(np.delete(at, 5, axis=0)).all()
    assert len(made.landmarks.at) == 58


@pytest.mark.parametrize("seed", range(4))
def test_known_topics_stay_and_new_ones_lie_among_their_texts(seed):
    centers, vectors, keys, topics = planted(8, seed=seed)
    before = TopicMap.learn(centers, vectors, keys, topics)
    known = Known([25, 20, 22, 24], before.positions[:4] + 0.01, before.shades[:4], before.landmarks)
    made = TopicMap.learn(centers, vectors, keys, topics, range(20, 28), known)
    np.testing.assert_array_equal(made.positions[[5, 0, 2, 4]], known.positions)
    np.testing.assert_array_equal(made.shades[[5, 0, 2, 4]], known.shades)
    np.testing.assert_array_equal(made.positions[[1, 3, 6, 7]], before.positions[[1, 3, 6, 7]])
    assert made.landmarks is before.landmarks
    gone = made.remembered([20, 21], known)
    assert gone.ids == [20, 21, 25, 22, 24]


def test_keys_are_those_of_terms_and_counts():
    rows = csr_matrix([[0, 2, 1], [0, 0, 0], [0, 2, 1], [0, 1, 2], [3, 0, 0]])
    keys = text_keys(rows)
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 4
    assert text_keys(rows[::-1]).tolist() == keys[::-1].tolist()


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(0, 900), st.integers(0, 10**6))
def test_best_columns_are_those_of_a_full_sort(k, more, seed):
    alike = np.random.default_rng(seed).integers(0, 50, (5, k + more)).astype(np.float32)
    columns, values = best_columns(alike, k)
    assert values.tolist() == (-np.sort(-alike, axis=1)[:, :k]).tolist()
    assert np.take_along_axis(alike, columns, axis=1).tolist() == values.tolist()


def test_the_dense_place_is_in_the_larger_crowd():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(0, 0.02, (70, 2)), rng.normal(1, 0.02, (30, 2))])
    assert np.linalg.norm(dense_place(points)) < 0.05


def test_colours_differ_and_neighbours_differ_in_lightness():
    angles = np.linspace(-3, 3, 24)
    found = colours(shades(np.column_stack([np.cos(angles), np.sin(angles)])))
    assert len(set(found)) == 24

    def lightness(colour):  # relative luminance of WCAG
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        return np.dot(
            [0.2126, 0.7152, 0.0722], [((v + 0.055) / 1.055) ** 2.4 if v > 0.04 else v / 12.92 for v in parts]
        )

    found_shades = [lightness(colour) for colour in found]
    assert min(abs(a - b) for a, b in pairwise(found_shades)) > 0.04
    assert all(0.12 < shade < 0.6 for shade in found_shades)  # seen on white and on black


def test_edits_move_neither_topics_nor_texts_but_those_with_a_banned_word():
    words = [
        ["parcel", "late", "depot", "van"],
        ["card", "refund", "money", "bank"],
        ["login", "code", "sms", "app"],
    ]
    rng = np.random.default_rng(0)
    texts = sorted({" ".join(rng.permutation(words[at % 3])[: 2 + at % 2]) for at in range(120)})
    model = TopicModel(n_topics=3, language="en").fit(texts)

    def places():
        known, position = model.state.description.known, model.state.scores.position
        at = position[model.collection.corpus.rows]
        return dict(zip(known.ids, known.positions.tolist(), strict=True)), dict(
            zip(texts, at.tolist(), strict=True)
        )

    topics, lie = places()
    model.edits.rename(0, "A name")
    model.edits.merge(0, 1)
    merged = places()
    assert merged[0] == topics
    assert merged[1] == lie
    model.edits.ban("van")
    moved = {text for text, at in places()[1].items() if at != lie[text]}
    assert moved
    assert all("van" in text.split() for text in moved)
    assert places()[0] == topics
    model.edits.undo()
    model.edits.split(0, 2)
    split = places()
    assert split[1] == lie
    assert split[0].items() >= topics.items()
    assert len(split[0]) == 4
    model.edits.undo()
    assert places()[1] == lie


@settings(deadline=None, max_examples=2)
@given(st.integers(0, 10**6))
def test_a_model_of_shuffled_texts_has_the_same_map(seed):
    texts = [
        f"{one} {other} shared"
        for one in ("parcel", "refund", "login", "card")
        for other in ["late", "soon", "gone", "app", "van", "sms"]
    ]
    order = np.random.default_rng(seed).permutation(len(texts))
    one, other = (
        TopicModel(n_topics=3, language="en").fit(some) for some in (texts, [texts[at] for at in order])
    )
    here, there = (m.state.scores.position[m.collection.corpus.rows] for m in (one, other))
    np.testing.assert_allclose(there, here[order], atol=1e-5)


def test_a_kept_kernel_changes_no_position(monkeypatch):
    _, vectors, _, _ = planted(4, 200)
    graph = unfold.neighbour_graph(vectors.astype(np.float32))
    start = vectors[:, :2].copy()
    unfold._kernel.cache_clear()
    kept = unfold.unfold(graph, start)
    assert unfold._kernel.cache_info().hits > 50
    monkeypatch.setattr(unfold, "_kernel", unfold._kernel.__wrapped__)
    np.testing.assert_array_equal(unfold.unfold(graph, start), kept)
