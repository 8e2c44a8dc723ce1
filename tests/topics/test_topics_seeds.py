"""Topics that somebody named beforehand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import TOPICS, planted_texts, shown, words_of

from coterie import TopicModel
from coterie.errors import InputError

TEXTS, TRUTH = planted_texts(80, 4, words=4)
NAMES = list(TOPICS)


@pytest.mark.slow
@settings(max_examples=8)
@given(st.permutations(NAMES), st.integers(1, 4), st.integers(1, 3), st.integers(0, 9))
def test_the_topic_of_a_seed_holds_its_texts(names, n_seeds, n_words, seed):
    texts, truth = planted_texts(60, 4, words=4, seed=seed)
    seeds = {f"My {name}": TOPICS[name][:n_words] for name in names[:n_seeds]}
    model = TopicModel(n_topics=4, seed_words=seeds).fit(texts)
    labels = {topic.label: topic for topic in model.topics}
    for name in names[:n_seeds]:
        topic = labels[f"My {name}"]
        assert {text for text, label in zip(texts, model.labels_, strict=True) if label == topic.id} == {
            text for text, kind in zip(texts, truth, strict=True) if NAMES[kind] == name
        }
    assert sum(label.startswith("My ") for label in labels) == n_seeds
    assert [topic.size for topic in model.topics] == sorted((t.size for t in model.topics), reverse=True)


def test_seeds_cut_topics_that_the_texts_alone_do_not_show():
    """Two words that go with anything: only who names them gets topics of them."""
    rng = np.random.default_rng(0)
    pool = [word for words in list(TOPICS.values())[:2] for word in words]
    texts = [" ".join([("urgent", "later")[i % 2], *rng.choice(pool, 2, replace=False)]) for i in range(120)]
    model = TopicModel(n_topics=2, seed_words={"Now": ["urgent"], "Some day": ["later"]}).fit(texts)
    of = {topic.label: topic.id for topic in model.topics}
    agree = [
        of["Now" if "urgent" in words_of(t) else "Some day"] == label
        for t, label in zip(texts, model.labels_, strict=True)
    ]
    assert np.mean(agree) > 0.9


def test_seeds_in_another_order_or_form_are_the_same_seeds():
    one = TopicModel(n_topics=4, seed_words={"Post": ["parcel", "van"], "Money": ["tax"]}).fit(TEXTS)
    two = TopicModel(n_topics=4, seed_words={"Money": ["Taxes"], "Post": ["VAN", "parcels", "van"]}).fit(
        TEXTS[::-1]
    )
    assert {(t.label, t.size, t.terms[:6]) for t in one.topics} == {
        (t.label, t.size, t.terms[:6]) for t in two.topics
    }
    names = {model: {t.id: t.label for t in model.topics} for model in (one, two)}
    assert [names[one][label] for label in one.labels_] == [names[two][label] for label in two.labels_[::-1]]


def test_the_names_of_seeds_are_kept_in_the_file_and_after_edits(tmp_path):
    model = TopicModel(n_topics=4, seed_words={"Post": ["parcel"]}).fit(TEXTS)
    model.save(tmp_path / "model")
    again = TopicModel.load(tmp_path / "model")
    assert shown(again) == shown(model)
    assert again.seed_words == {"Post": ["parcel"]}
    model.edits.rename("Post", "Mail").undo()
    assert "Post" in [topic.label for topic in model.topics]


def test_the_number_of_topics_is_at_least_that_of_seeds():
    seeds = {name: words[:2] for name, words in TOPICS.items()}
    model = TopicModel(seed_words=seeds).fit(TEXTS)
    assert {topic.label for topic in model.topics} >= set(seeds)


def test_unknown_words_of_a_seed_are_told():
    with pytest.warns(UserWarning, match="'Post'.*submarine") as told:
        model = TopicModel(n_topics=4, seed_words={"Post": ["parcel", "submarine"]}).fit(TEXTS)
    assert "parcel" not in str(told[0].message).split(":")[1]
    assert "Post" in [topic.label for topic in model.topics]


@pytest.mark.parametrize("absent", ["submarine", "the"])
def test_a_seeded_topic_that_no_text_is_about_is_told_and_left_out(absent):
    seeds = {"Sea": [absent], "Post": ["parcel"]}
    with pytest.warns(UserWarning, match=rf"no topic 'Sea': none of its seed words .* \({absent}\)"):
        model = TopicModel(n_topics=4, seed_words=seeds).fit(TEXTS)
    labels = [topic.label for topic in model.topics]
    assert "Post" in labels
    assert "Sea" not in labels
    assert [
        topic.label for topic in TopicModel(4, seed_words={"Post": ["parcel"]}).fit(TEXTS).topics
    ] == labels


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ({"Post": []}, "Post"),
        ({"Post": "parcel"}, "list of words"),
        ({"Post": [1]}, "list of words"),
        ({"Post": 7}, "list of words"),
        ({"": ["parcel"]}, "names"),
        ({3: ["parcel"]}, "names"),
        (["parcel"], "seed words"),
        ({name: words[:1] for name, words in TOPICS.items()}, "at least"),
    ],
)
def test_wrong_seeds_are_told(seeds, said):
    with pytest.raises(InputError, match=said):
        TopicModel(n_topics=3, seed_words=seeds).fit(TEXTS)


def test_too_many_seeded_topics_are_an_error():
    seeds = {name: words[:1] for name, words in TOPICS.items()}
    with pytest.raises(InputError, match="seeded topics"):
        TopicModel(n_topics=3, seed_words=seeds).fit(TEXTS)
