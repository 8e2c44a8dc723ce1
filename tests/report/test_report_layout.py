"""The map is a formula: what it says of a text depends on that text alone."""

from itertools import pairwise

import numpy as np
import pytest

from coterie.map.colours import colours, shades
from coterie.map.layout import Known, TopicMap, sharp_memberships


def topics(n_topics=6, n_texts=300, dimensions=10, seed=0):
    """Directions around some centres, the topic of each, and memberships."""
    rng = np.random.default_rng(seed)
    places = np.arange(n_texts) % n_topics
    around = rng.standard_normal((n_topics, dimensions))
    text_vectors = around[places] + 0.4 * rng.standard_normal((n_texts, dimensions))
    text_vectors /= np.linalg.norm(text_vectors, axis=1, keepdims=True)
    centers = np.stack([text_vectors[places == topic].sum(axis=0) for topic in range(n_topics)])
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    memberships = np.exp(8 * text_vectors @ centers.T)
    memberships /= memberships.sum(axis=1, keepdims=True)
    shares = np.bincount(places, minlength=n_topics) / n_texts
    return centers, shares, text_vectors, places, memberships


def test_a_text_lies_where_it_lies_alone():
    centers, shares, text_vectors, places, memberships = topics()
    made = TopicMap.learn(centers, shares, text_vectors, places)
    together = made.place(sharp_memberships(memberships), text_vectors)
    for row in (0, 17, 299):
        alone = made.place(sharp_memberships(memberships[row : row + 1]), text_vectors[row : row + 1])[0]
        np.testing.assert_allclose(alone, together[row], atol=1e-12)


def test_the_formula_spelled_out():
    centers, shares, text_vectors, places, memberships = topics(3)
    made = TopicMap.learn(centers, shares, text_vectors, places)
    text, own = text_vectors[5], memberships[5] ** 2 / (memberships[5] ** 2).sum()
    own = np.where(own > 1e-3, own, 0.0)  # less moves nothing that anybody sees
    own /= own.sum()
    expected = np.zeros(2)
    for topic in range(3):
        off = np.array([text @ made.axes[topic][:, 0], text @ made.axes[topic][:, 1]])
        length = np.hypot(*off)
        expected += own[topic] * made.positions[topic]
        expected += own[topic] * made.radii[topic] * np.sqrt(1 - np.exp(-(length**2) / 2)) * off / length
    np.testing.assert_allclose(
        made.place(sharp_memberships(memberships[5:6]), text[None])[0], expected, atol=1e-12
    )


def test_a_text_of_one_topic_is_in_its_disc_and_the_centre_in_the_middle():
    centers, shares, text_vectors, places, _ = topics()
    made = TopicMap.learn(centers, shares, text_vectors, places)
    certain = np.eye(len(centers))[places]
    away = np.linalg.norm(
        made.place(sharp_memberships(certain), text_vectors) - made.positions[places], axis=1
    )
    assert (away <= made.radii[places]).all()
    assert np.median(away / made.radii[places]) == pytest.approx(np.sqrt(0.5), abs=0.15)  # spread evenly
    middle = made.place(sharp_memberships(np.eye(len(centers))), centers)
    np.testing.assert_allclose(middle, made.positions, atol=1e-9)


def test_discs_do_not_overlap_and_are_as_large_as_topics():
    centers, _, text_vectors, places, _ = topics(12)
    shares = np.arange(1, 13) / 78
    made = TopicMap.learn(centers, shares, text_vectors, places)
    gaps = np.linalg.norm(made.positions[:, None] - made.positions[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert (gaps > 0.97 * (made.radii[:, None] + made.radii[None])).all()
    np.testing.assert_allclose(made.radii**2 / (made.radii**2).sum(), shares)


def test_near_topics_lie_near():
    angles = np.array([0.0, 0.1, 1.4, 1.5])
    centers = np.column_stack([np.cos(angles), np.sin(angles)])
    made = TopicMap.learn(centers, np.full(4, 0.01), centers, np.arange(4))
    gap = np.linalg.norm(made.positions[:, None] - made.positions[None], axis=2)
    assert max(gap[0, 1], gap[2, 3]) < min(gap[0, 2], gap[1, 3], gap[0, 3], gap[1, 2])


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_few_topics_topics_in_one_place_and_texts_of_none(n_topics):
    centers = np.tile([[1.0, 0.0, 0.0]], (n_topics, 1))
    centers[-1] = 0.0  # a topic without a text
    made = TopicMap.learn(centers, np.full(n_topics, 1 / n_topics), centers, np.arange(n_topics))
    assert np.isfinite(made.positions).all()
    assert len(np.unique(np.round(made.positions, 6), axis=0)) == n_topics
    assert np.isnan(made.place(sharp_memberships(np.zeros((1, n_topics))), centers[:1])).all()


def test_the_same_map_every_time():
    centers, shares, text_vectors, places, memberships = topics(20)
    one, other = (
        TopicMap.learn(centers, shares, text_vectors, places).place(
            sharp_memberships(memberships), text_vectors
        )
        for _ in "ab"
    )
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("seed", range(4))
def test_kept_topics_stay_and_new_ones_find_room(seed):
    centers, shares, text_vectors, places, _ = topics(8, seed=seed)
    before = TopicMap.learn(centers[:6], shares[:6], text_vectors, places)
    known = Known([25, 20, 22, 24], before.positions[:4], before.shades[:4])
    made = TopicMap.learn(centers, shares, text_vectors, places, range(20, 28), known)
    np.testing.assert_array_equal(made.positions[[5, 0, 2, 4]], known.positions)
    np.testing.assert_array_equal(made.shades[[5, 0, 2, 4]], known.shades)
    gaps = np.linalg.norm(made.positions[:, None] - made.positions[None], axis=2)
    for new in (1, 3, 6, 7):
        others = np.delete(np.arange(8), new)
        assert (gaps[new, others] > 0.9 * (made.radii[new] + made.radii[others])).all()


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
