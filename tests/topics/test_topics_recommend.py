"""Recommendations against the rule written out pair by pair, and what they promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import HOSTILE, TOPICS, planted_texts

from coterie import TopicModel
from coterie.errors import InputError

few = settings(max_examples=15, deadline=None)
TEXTS = planted_texts(90, 3, words=3, noise=1)[0]
short = st.lists(st.sampled_from([word for pool in TOPICS.values() for word in pool]), min_size=1, max_size=3)
some = st.lists(st.one_of(short.map(" ".join), st.sampled_from(HOSTILE)), min_size=1, max_size=7)


@pytest.fixture(scope="module")
def model():
    return TopicModel(3).fit(TEXTS)


def slow(model, history, candidates, top, diversity):
    """Maximal marginal relevance, one candidate and one pair at a time."""
    read = [model.embed([text])[0] for text in history]
    total = np.sum(read, axis=0)
    length = float(np.sqrt(total @ total))
    if not length:
        return []
    vectors = {text: model.embed([text])[0] for text in candidates}
    left = [text for text in dict.fromkeys(candidates) if text not in history]
    left = [text for text in left if round(float(vectors[text] @ total) / length, 9) > 0]
    taken = []
    while left and len(taken) < top:

        def worth(text):
            near = [float(vectors[text] @ vectors[other]) for other in taken]
            relevance = float(vectors[text] @ total) / length
            return round((1 - diversity) * relevance - diversity * max(near, default=0.0), 7)

        best = max(left, key=worth)
        left.remove(best)
        taken.append(best)
    return taken


@few
@given(history=some, candidates=some, top=st.integers(1, 6), diversity=st.sampled_from([0.0, 0.3, 1.0]))
def test_the_rule_is_followed(model, history, candidates, top, diversity):
    found = model.recommend(history, candidates, top, diversity=diversity)
    assert [one.text for one in found] == slow(model, history, candidates, top, diversity)
    for one in found:
        assert candidates.index(one.text) == one.row
        near = [float(model.embed([one.text])[0] @ model.embed([text])[0]) for text in history]
        assert near[history.index(one.like)] == pytest.approx(max(near), abs=1e-8)


@few
@given(history=some, candidates=some, data=st.data())
def test_neither_order_nor_copies_of_candidates_matter(model, history, candidates, data):
    found = model.recommend(history, candidates, 3, diversity=0)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    mixed = data.draw(st.permutations(candidates * 2))
    again = model.recommend(data.draw(st.permutations(history)), mixed, 3, diversity=0)
    np.testing.assert_allclose([one.score for one in again], scores, atol=1e-8)
    assert not {one.text for one in found} & set(history)


def test_candidates_of_the_subject_come_first_and_diversity_spreads_them(model):
    history = ["parcel courier", "depot tracking"]
    candidates = ["courier depot", "parcel depot", "van doorstep", "refund card", "password token"]
    found = model.recommend(history, candidates, 3, diversity=0)
    assert {one.text for one in found} == set(candidates[:3])

    def alike(diversity):
        best = [one.text for one in model.recommend(history, candidates, 3, diversity=diversity)]
        vectors = model.embed(best)
        return (vectors @ vectors.T).sum()

    assert alike(0.9) < alike(0)


def test_a_loaded_model_recommends_the_same(model, tmp_path):
    model.save(tmp_path / "model", texts=False)
    asked = (["parcel"], ["courier van", "refund"])
    assert TopicModel.load(tmp_path / "model").recommend(*asked) == model.recommend(*asked)


def test_banned_words_do_not_count():
    model = TopicModel(3).fit(TEXTS)
    model.edits.ban("parcel")
    assert model.recommend(["parcel"], ["courier van"]) == []


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"history": []}, "history must have at least one text, got none"),
        ({"diversity": 1.5}, "diversity must be a number from 0 to 1, got 1.5"),
        ({"diversity": True}, "diversity must be a number from 0 to 1, got True"),
        ({"diversity": float("nan")}, "diversity must be a number from 0 to 1, got nan"),
        ({"top": 0}, "'top' of TopicModel"),
    ],
)
def test_what_is_wrong_is_said(model, given_, said):
    with pytest.raises(InputError, match=said):
        model.recommend(**({"history": ["parcel"], "candidates": ["courier"]} | given_))


def test_nothing_known_and_nothing_offered_bring_nothing(model):
    assert model.recommend(["xyzzy"], ["parcel"]) == []
    assert model.recommend(["parcel"], []) == []
