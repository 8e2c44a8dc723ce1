"""Stability: topics matched in the best way, and what is recorded of them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import planted_texts

from coterie import Coterie, TopicModel
from coterie.errors import InputError
from coterie.topics import stability as module
from coterie.topics.stability import matched, stability

few = settings(max_examples=40, deadline=None)
TEXTS = [*planted_texts(90, 3, words=3, noise=2)[0], "", "xyzzy"]
topic = st.integers(-1, 3)


def jaccard(now, again, weights, one, other):
    both = sum(w for a, b, w in zip(now, again, weights, strict=True) if a == one and b == other)
    either = sum(w for a, b, w in zip(now, again, weights, strict=True) if a == one or b == other)
    return both / either if either else 0.0


@few
@given(st.lists(st.tuples(topic, topic, st.integers(1, 4)), min_size=1, max_size=12))
def test_topics_are_matched_in_the_best_of_all_ways(rows):
    now, again, weights = (np.array(column) for column in zip(*rows, strict=True))
    found = matched(now, again, weights.astype(float), 4)
    best = max(
        sum(jaccard(now, again, weights, one, other) for one, other in enumerate(order))
        for order in permutations(range(4))
    )
    assert found.sum() == pytest.approx(best)
    for one in range(4):
        each = [jaccard(now, again, weights, one, other) for other in range(4)]
        assert min(abs(found[one] - value) for value in [*each, 0.0]) < 1e-12


@few
@given(st.lists(st.tuples(topic, topic), min_size=1, max_size=12), st.data())
def test_neither_order_nor_numbers_nor_copies_matter(rows, data):
    now, again = (np.array(column) for column in zip(*rows, strict=True))
    weights = np.ones(len(now))
    found = np.sort(matched(now, again, weights, 4))
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    renamed = np.array([*data.draw(st.permutations(range(4))), -1])
    np.testing.assert_allclose(np.sort(matched(now[order], renamed[again][order], weights, 4)), found)
    twice = np.concatenate([now, now]), np.concatenate([again, again])
    np.testing.assert_allclose(np.sort(matched(*twice, np.ones(2 * len(now)), 4)), found)
    np.testing.assert_allclose(np.sort(matched(now, again, 2 * weights, 4)), found)


@pytest.mark.parametrize(
    "given_",
    [{}, {"method": "nmf-ncut"}, {"method": Coterie(random_state=5)}, {"predefined": {"a": ["parcel"]}}],
)
def test_a_fit_with_the_same_random_state_finds_every_topic(monkeypatch, given_):
    model = TopicModel(3, random_state=5, **given_).fit(TEXTS)
    monkeypatch.setattr(module, "other_states", lambda _, runs: [5] * runs)
    found = stability(model, 2)
    assert found.agreement == 1
    assert [(one.topic, one.label, one.found, one.agreement) for one in found.topics] == [
        (topic.id, topic.label, 2, 1.0) for topic in model.topics
    ]


def test_topics_that_are_there_are_found_and_others_are_not():
    steady = stability(TopicModel(3).fit(TEXTS), 4)
    assert [one.found for one in steady.topics] == [4, 4, 4]
    shaky = stability(TopicModel(9, method="kmeans-idf").fit(TEXTS), 4)
    assert min(one.found for one in shaky.topics) < 4
    assert shaky.agreement < steady.agreement


def test_random_states_differ_and_an_estimator_gets_them(monkeypatch):
    seen = []
    fit = module.fit_method

    def watched(documents, method, n_topics, random_state, **more):
        seen.append((method.random_state, random_state))
        return fit(documents, method, n_topics, random_state, **more)

    monkeypatch.setattr(module, "fit_method", watched)
    stability(TopicModel(3, method=Coterie(random_state=1), random_state=1).fit(TEXTS), 3)
    assert seen == [(0, 0), (2, 2), (3, 3)]


def test_topics_as_they_are_now_are_compared():
    model = TopicModel(3).fit(TEXTS)
    model.edits.merge(0, 1)
    found = stability(model, 2)
    assert [one.topic for one in found.topics] == [topic.id for topic in model.topics]


def test_what_is_wrong_is_said(tmp_path):
    model = TopicModel(3).fit(TEXTS)
    with pytest.raises(InputError, match="'runs' of TopicModel"):
        stability(model, 0)
    model.save(tmp_path / "model", texts=False)
    with pytest.raises(InputError, match="stability compares fits of the fitted texts"):
        stability(TopicModel.load(tmp_path / "model"))
