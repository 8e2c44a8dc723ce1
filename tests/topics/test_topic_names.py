"""Names of topics: phrases that people wrote, that point to the topic, and that read well."""

import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import TopicModel, Vectorizer
from coterie.corpus.sequences import UNKNOWN, Sequences
from coterie.errors import InputError
from coterie.results import Topic
from coterie.text.filler import filler
from coterie.text.languages import stop_words
from coterie.topics.labels import topic_labels
from coterie.topics.naming import Wording, _best
from coterie.topics.phrases import Phrases, Tokens, common_phrases
from coterie.topics.prompts import read_answer, topic_prompt

CARDS = [
    "My card has not arrived yet",
    "card not arrived",
    "Why has the card not arrived?",
    "the new card not arrived, please help",
]
RATES = [
    "The exchange rate is wrong",
    "exchange rate wrong again",
    "wrong exchange rate on my statement",
    "I think the exchange rate is wrong",
]
PINS = [
    "How do I reset my PIN?",
    "reset my PIN",
    "I need to reset my PIN today",
    "please reset the PIN",
]
TEXTS = (CARDS + RATES + PINS) * 3


@pytest.fixture(scope="module")
def model():
    return TopicModel(3).fit(TEXTS)


def labels(model):
    return {topic.label for topic in model.topics}


def test_topics_are_called_what_people_write(model):
    assert labels(model) == {"card not arrived", "exchange rate is wrong", "reset my PIN"}


def test_a_long_sentence_is_no_name():
    notice = "attachments are confidential and intended for the addressee"
    notices = [f"{word} {notice}" for word in ("the", "all", "my")]
    model = TopicModel(4, keep_boilerplate=True).fit([*TEXTS, *notices * 5])
    assert any("confidential" in topic.terms for topic in model.topics)
    assert all(len(part.split()) <= 6 for topic in model.topics for part in topic.label.split(", "))


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(len(TEXTS))))
def test_names_do_not_depend_on_the_order_of_texts(model, order):
    again = TopicModel(3).fit([TEXTS[at] for at in order])
    assert labels(again) == labels(model)


def test_names_are_kept_in_files(model, tmp_path):
    model.save(tmp_path / "model")
    assert TopicModel.load(tmp_path / "model").topics == model.topics


def test_a_name_that_was_given_wins_and_no_other_topic_gets_it():
    model = TopicModel(3).fit(TEXTS)
    first, second, third = (topic.label for topic in model.topics)
    model.edits.rename(0, second)
    assert model.topics[0].label == second
    assert model.topics[1].label.startswith(f"{second}, ")
    model.edits.undo()
    assert [topic.label for topic in model.topics] == [first, second, third]


def test_a_banned_word_is_in_no_name():
    model = TopicModel(3).fit(TEXTS)
    model.edits.ban("wrong")
    assert not any("wrong" in topic.label for topic in model.topics)


def test_names_of_texts_without_spaces():
    texts = ["我的包裹在哪里", "包裹在哪里?", "请问包裹在哪里", "我要退款", "退款什么时候到", "申请退款"] * 4
    names = labels(TopicModel(2, vectorizer=Vectorizer("zh", segmenter="bigrams", min_df=2)).fit(texts))
    assert len(names) == 2
    assert any("包裹" in name for name in names)
    for name in names:
        assert all(any(part in text for text in texts) for part in name.split(", "))


def test_names_in_other_languages():
    texts = [
        "Wo ist mein Paket?",
        "mein Paket ist verloren",
        "Paket verloren",
        "Rechnung mit Steuer",
        "Steuer auf der Rechnung",
    ] * 4
    for name in labels(TopicModel(2, language="de").fit(texts)):
        words = name.lower().split(", ")[0].split()
        assert words[0] not in stop_words("de")
        assert words[-1] not in stop_words("de")


WORDS = ["card", "lost", "tried", "does", "n't", "m", "the", "my", "new", "refund", "bank", "2", "of", "up"]


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=4, max_size=30)
)
def test_no_name_is_made_of_filler(texts):
    texts = [*texts, "card lost", "refund bank"] * 2
    words, empty = filler(["english"]), stop_words("english")
    model = TopicModel(2).fit(texts)
    assert len(labels(model)) == len(model.topics)
    for topic in model.topics:
        if topic.terms[0] in words.empty | words.opening | {"n't", "m", "2"}:
            continue  # it may have nothing else
        for part in topic.label.split(", "):
            said = part.split()
            assert said[0] not in empty | words.empty | {"n't", "m", "2"}
            assert said[-1] not in (empty - words.particles) | words.empty | words.opening
        terms = re.findall(r"\w+", topic.label)
        assert len(set(terms)) == len(terms)


def test_a_phrase_over_the_end_of_a_sentence_is_no_name():
    """Where sentences end alike, the two words still do not belong together."""
    texts = [
        f"lost my {thing}. refund {soon}" for thing in ("card", "phone") for soon in ("today", "now")
    ] * 4
    (topic,) = TopicModel(1).fit(texts).topics
    assert "refund" in topic.terms
    for part in topic.label.split(", "):
        assert any(part.lower() in text for text in texts)
        assert not re.search(r"(card|phone)\W* refund", part)


def test_a_phrase_of_two_topics_names_neither():
    wrong = ["exchange rate wrong", "the exchange rate is wrong", "wrong exchange rate", "rate wrong today"]
    pounds = [
        "exchange rate for pounds",
        "pounds exchange rate",
        "which exchange rate for pounds",
        "pounds to euros",
    ]
    model = TopicModel(2).fit((wrong + pounds + ["exchange rate"]) * 4)
    names = labels(model)
    assert "exchange rate" not in names
    assert {word for name in names for word in ("wrong", "pounds") if word in name} == {"wrong", "pounds"}


def phrases_of(*found, n_topics=2):
    """Phrases, each given as topic, terms, texts of the topic that have it, and texts that have it."""
    terms = np.array([[*words, *[-1] * (4 - len(words))] for _, words, _, _ in found])
    return Phrases(
        np.array([topic for topic, *_ in found]),
        terms,
        np.array([here for *_, here, _ in found], dtype=float),
        np.array([everywhere for *_, everywhere in found], dtype=float),
    )


def best_phrases(phrases, likely, sizes):
    """The phrases that may name topics, the best first; `likely` is topics × terms."""
    every = np.ones(np.shape(likely)[1], dtype=bool)
    wording = Wording([], [], every, every, every, every, ~every, every)
    strength = np.ones_like(likely)
    described = SimpleNamespace(sizes=sizes, log_shares=lambda topics, terms: np.log(likely[topics, terms]))
    found = _best(phrases, strength, described, np.array(sizes), wording)
    return [[tuple(candidate.terms.tolist()) for candidate in some] for some in found]


def test_half_of_a_phrase_is_no_name():
    likely = np.array([[0.3, 0.3, 0.3], [0.1, 0.1, 0.1]])
    halves = [(0, (0, 1), 50, 50), (0, (1, 2), 45, 45)]
    assert best_phrases(phrases_of(*halves, (0, (0, 1, 2), 40, 40)), likely, [100.0, 1.0])[0] == [(0, 1, 2)]
    # a longer one that few texts have leaves the shorter one whole
    assert (0, 1) in best_phrases(phrases_of(*halves, (0, (0, 1, 2), 12, 12)), likely, [100.0, 1.0])[0]


def test_a_phrase_must_point_to_its_topic():
    likely = np.array([[0.2, 0.2, 0.1], [0.3, 0.3, 0.01]])  # the first two words speak for the second topic
    found = phrases_of((0, (0, 1), 60, 60), (0, (0, 2), 30, 30), (1, (0, 1), 60, 60))
    assert best_phrases(found, likely, [100.0, 100.0]) == [[(0, 2)], [(0, 1)]]
    # where none does, the best is still better than none
    assert best_phrases(phrases_of((0, (0, 1), 60, 60)), likely, [100.0, 100.0])[0] == [(0, 1)]


def test_names_are_looked_up_in_what_is_counted():
    marked_up = [f"<div class='mail'><p>{text}</p></div>" for text in TEXTS]
    assert labels(TopicModel(3).fit(marked_up)) == {
        "card not arrived",
        "exchange rate is wrong",
        "reset my PIN",
    }


def test_a_capital_at_the_beginning_of_a_sentence_is_none():
    texts = ["Hi! Tracking number please", "It is late. Tracking number gone", "reset PIN", "PIN reset"] * 4
    assert "tracking number" in {label.split(", ")[0] for label in labels(TopicModel(2).fit(texts))}


def test_a_piece_of_a_question_is_no_name():
    texts = [
        "how long is the wait",
        "long is the wait today",
        "so long is the wait?",
        "reset pin",
        "pin reset",
    ] * 4
    assert not any("is the" in name for name in labels(TopicModel(2).fit(texts)))


def test_a_particle_stays_with_its_verb():
    texts = [
        "how do I top up",
        "top up my card",
        "cannot top up",
        "top up failed",
        "lost wallet",
        "wallet lost",
    ] * 4
    assert any(name.startswith("top up") for name in labels(TopicModel(2).fit(texts)))


def inside(branch):
    return [branch, *(below for part in branch.parts for below in inside(part))]


def test_the_tree_has_a_few_groups_that_differ():
    rng = np.random.default_rng(0)
    texts = []
    for topic in range(12):
        words = [f"group{topic // 3}", *(f"word{topic}{letter}" for letter in "abcd")]
        texts += [
            " ".join(rng.permutation([words[0], *rng.choice(words[1:], 2, replace=False)])) for _ in range(25)
        ]
    root = TopicModel(12).fit(texts).hierarchy()
    assert root.label == "all texts"
    assert 5 <= len(root.parts) <= 8
    for branch in inside(root):
        for part in branch.parts:
            if part.parts:
                assert not set(part.label.split(", ")) & set(branch.label.split(", "))
                assert part.label


def slow_phrases(texts, topics, weights, usable, passable):
    """What `common_phrases` finds, word by word."""
    here, everywhere = Counter(), Counter()
    for row, text in enumerate(texts):
        found = set()
        for start in range(len(text)):
            phrase, gap = [], 0
            for word in text[start:]:
                if word >= 0 and usable[word]:
                    phrase.append(word)
                    gap = 0
                    found.add(tuple(phrase))
                    if len(phrase) == 4:
                        break
                elif word < UNKNOWN and passable[UNKNOWN - 1 - word] and phrase and gap < 3:
                    gap += 1
                else:
                    break
        for phrase in found:
            everywhere[phrase] += weights[row]
            if topics[row] >= 0:
                here[phrase, topics[row]] += weights[row]
    return {key: (count, everywhere[key[0]]) for key, count in here.items() if count >= 2}


@settings(max_examples=200)
@given(st.data())
def test_phrases_are_those_found_word_by_word(data):
    texts = data.draw(st.lists(st.lists(st.integers(-4, 4), max_size=9), min_size=1, max_size=12))
    topics = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=len(texts), max_size=len(texts))))
    weights = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts))), dtype=float
    )
    usable, passable = (np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))) for n in (5, 3))
    offsets = np.cumsum([0, *map(len, texts)])
    sequences = Sequences(np.array([w for text in texts for w in text], dtype=np.int32), offsets)
    tokens = Tokens.of(sequences, usable, passable)
    found = common_phrases(tokens, topics, weights, 3, 5)
    quick = {
        (tuple(terms[terms >= 0].tolist()), topic): (here, everywhere)
        for terms, topic, here, everywhere in zip(
            found.terms, found.topic.tolist(), found.here, found.everywhere, strict=True
        )
    }
    assert quick == slow_phrases(texts, topics, weights, usable, passable)


def test_labels_are_unique_even_if_names_are_not():
    names = topic_labels([["a", "b"], ["a", "b"], ["a"]], [0, 1, 2], {2: "a b"}, ["a b", "a b", "a b"])
    assert len(set(names)) == 3
    assert names[2] == "a b"


# --- names from a function


def test_a_function_names_topics():
    model = TopicModel(3).fit(TEXTS)
    model.edits.name_topics(lambda topic: topic.terms[0].upper() if topic.id else None)
    assert model.topics[1].label == model.topics[1].terms[0].upper()
    assert [edit.kind for edit in model.edits] == ["rename", "rename"]


@pytest.mark.parametrize("name", ["", "a\nb", "<b>cards</b>", "x" * 61, 7, "same"])
def test_a_function_that_says_nonsense_changes_nothing(name):
    model = TopicModel(3).fit(TEXTS)
    before = model.topics
    with pytest.raises(InputError):
        model.edits.name_topics(lambda topic: name)
    assert model.topics == before
    assert not len(model.edits)


def test_names_may_be_swapped():
    model = TopicModel(3).fit(TEXTS)
    first, second = (topic.label for topic in model.topics[:2])
    model.edits.name_topics(lambda topic: {0: second, 1: first}.get(topic.id))
    assert [topic.label for topic in model.topics[:2]] == [second, first]


def test_a_prompt_has_texts_only_if_asked_for_and_no_address():
    text = "write to ann@mail.example about order 12345"
    topic = Topic(0, "order 12345", ("order", "12345"), (0.5, 0.5), 3, 1.0, 0.0, 1.0, (text,))
    assert "write to" not in topic_prompt(topic)
    prompt = topic_prompt(topic, texts=True)
    assert "write to [email] about order [number]" in prompt
    assert "ann" not in prompt
    assert "12345" not in prompt


@pytest.mark.parametrize(
    "answer",
    ["", "Late parcels", "[1]", '{"title": "x"}', '{"name": ""}', '{"name": 3}', '{"name": "a\\nb"}', '{"name": "\\u202eabc"}',
     '{"name": "<script>x</script>"}', '{"name": "a", "description": "' + "x" * 301 + '"}', "[" * 10_000, '{"name": "\\ud800"}'],
)  # fmt: skip
def test_nonsense_is_no_answer(answer):
    with pytest.raises(InputError):
        read_answer(answer)


def test_an_answer_may_be_fenced():
    assert read_answer('```json\n{"name": "Late parcels"}\n```').name == "Late parcels"
