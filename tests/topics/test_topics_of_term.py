"""The topics of a term, against counts made by hand."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import planted_texts

from coterie import TopicModel
from coterie.errors import InputError
from coterie.topics import topics_of_term

TEXTS, _ = planted_texts(60, 3, words=4)
TEXTS = [f"{text} {'shared shared' if number % 2 else 'shared'}" for number, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def model():
    return TopicModel(n_topics=3).fit([*TEXTS, TEXTS[0], ""])


def by_hand(model, texts, word):
    """Uses of a word in the texts of each topic, and of all words, from the texts as they are written."""
    uses, words = {}, {}
    for text, topic in zip(texts, model.labels_, strict=True):
        if topic >= 0:
            uses[topic] = uses.get(topic, 0) + text.split().count(word)
            words[topic] = words.get(topic, 0) + len(text.split())
    return uses, words


@pytest.mark.parametrize("method", ["coterie", "nmf-idf", "term-nmf", "nystrom"])
def test_uses_are_those_of_the_texts(method):
    texts = [*TEXTS, TEXTS[0], ""]
    model = TopicModel(n_topics=3, method=method).fit(texts)
    for word in ("shared", *TEXTS[0].split()[:2]):
        uses, words = by_hand(model, texts, word)
        found = topics_of_term(model, word)
        assert {one.topic: one.uses for one in found} == {topic: n for topic, n in uses.items() if n}
        assert [one.uses for one in found] == sorted((one.uses for one in found), reverse=True)
        assert sum(one.share for one in found) == pytest.approx(1)
        for one in found:
            overall = sum(uses.values()) / sum(words.values())
            assert one.share == pytest.approx(uses[one.topic] / sum(uses.values()))
            assert one.lift == pytest.approx(uses[one.topic] / words[one.topic] / overall)
            assert one.label == next(topic.label for topic in model.topics if topic.id == one.topic)


def test_a_word_of_one_topic_has_one(model):
    own = topics_of_term(model, model.topics[0].terms[0])
    assert own[0].topic == model.topics[0].id
    assert own[0].share == 1.0
    assert own[0].lift > 2
    assert len(topics_of_term(model, "SHARED")) == 3  # as it is written anywhere


def test_edits_count():
    model = TopicModel(n_topics=3).fit(TEXTS)
    before = topics_of_term(model, "shared")
    model.edits.merge(0, 1)
    merged = topics_of_term(model, "shared")
    assert len(before) == 3
    assert len(merged) == 2
    assert sum(one.uses for one in merged) == sum(one.uses for one in before)
    model.edits.ban("shared")
    with pytest.raises(InputError, match="'shared' is used in no topic; was it banned"):
        topics_of_term(model, "shared")


def test_a_loaded_model_answers_the_same(model, tmp_path):
    model.save(tmp_path / "model", texts=False)
    assert topics_of_term(TopicModel.load(tmp_path / "model"), "shared") == topics_of_term(model, "shared")


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("xyzzy", "'xyzzy' is no term of this model: no text has it, too few have it, or it is a stop word"),
        ("the", "'the' is no term of this model"),
        ("", "'' is no term of this model"),
        (3, "term must be a word or a phrase, got 3"),
        ("\udc80", "term must be a word or a phrase"),
    ],
)
def test_what_is_no_term_is_told(model, term, message):
    with pytest.raises(InputError, match=message):
        topics_of_term(model, term)


def test_several_terms_are_told(model):
    first, second = model.topics[0].terms[:2]
    with pytest.raises(InputError, match=r"is no term of this model, but several: .*; ask for one"):
        topics_of_term(model, f"{first} {second}")


@settings(max_examples=50)
@given(term=st.text())
def test_any_text_has_an_answer_or_an_error(model, term):
    with suppress(InputError):
        assert np.isfinite([one.lift for one in topics_of_term(model, term)]).all()
