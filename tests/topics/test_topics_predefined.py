"""Topics that somebody named beforehand."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from topic_texts import HOSTILE, TOPICS, planted_texts, shown, words_of

from coterie import TopicModel
from coterie.errors import InputError
from coterie.topics.edits import Reference, find_topic
from coterie.topics.predefined import Known, checked_topics, plain

TEXTS, TRUTH = planted_texts(80, 4, words=4)
NAMES = list(TOPICS)
SAID = {
    "Mail": ["parcel", "van"],
    "Money": "questions about an invoice or a refund",
    "Tea": {"examples": ["kettle and toaster on a plate", "a spoon in the fridge"]},
}


def labels(model):
    return [topic.label for topic in model.topics]


def texts_of(model, name, texts):
    topic = next(topic.id for topic in model.topics if topic.label == name)
    return {text for text, label in zip(texts, model.labels_, strict=True) if label == topic}


def planted_as(name, texts=TEXTS, truth=TRUTH):
    return {text for text, kind in zip(texts, truth, strict=True) if NAMES[kind] == name}


@pytest.mark.slow
@settings(max_examples=8)
@given(st.permutations(NAMES), st.integers(1, 4), st.integers(1, 3), st.integers(0, 9))
def test_a_topic_given_by_words_holds_their_texts(names, n_known, n_words, seed):
    texts, truth = planted_texts(60, 4, words=4, seed=seed)
    known = {f"My {name}": TOPICS[name][:n_words] for name in names[:n_known]}
    model = TopicModel(n_topics=4, predefined=known).fit(texts)
    assert labels(model)[:n_known] == list(known)
    for name in names[:n_known]:
        assert texts_of(model, f"My {name}", texts) == planted_as(name, texts, truth)
    new = [topic.size for topic in model.topics[n_known:]]
    assert new == sorted(new, reverse=True)


def test_words_descriptions_and_examples_each_find_their_texts():
    model = TopicModel(4, predefined=SAID).fit(TEXTS)
    assert labels(model)[:3] == list(SAID)
    for name, kind in zip(SAID, ("shipping", "billing", "kitchen"), strict=True):
        assert texts_of(model, name, TEXTS) == planted_as(kind)
    assert texts_of(model, labels(model)[3], TEXTS) == planted_as("login")
    assert [topic.description for topic in model.topics] == ["", SAID["Money"], "", ""]


def test_a_name_alone_says_what_the_topic_is_about():
    model = TopicModel(2, predefined={"parcel courier": None, "the invoice": ""}).fit(TEXTS)
    assert planted_as("shipping") <= texts_of(model, "parcel courier", TEXTS)
    assert planted_as("billing") <= texts_of(model, "the invoice", TEXTS)


def test_a_list_of_names_is_enough():
    names = [words[0] for words in TOPICS.values()]
    listed, given = (TopicModel(4, predefined=known).fit(TEXTS) for known in (names, dict.fromkeys(names)))
    assert [topic.label for topic in listed.topics][: len(names)] == names
    assert listed.labels_.tolist() == given.labels_.tolist()


def test_a_warning_points_to_the_fit():
    with pytest.warns(UserWarning, match="ignoring words of 'Mail'") as told:
        TopicModel(3, predefined={"Mail": ["parcel", "submarine"]}).fit(TEXTS)
    assert {Path(one.filename).name for one in told} == {Path(__file__).name}


def test_only_these_means_as_many_topics_as_predefined_and_every_text_in_one():
    model = TopicModel(3, predefined=SAID).fit(TEXTS)
    assert labels(model) == list(SAID)
    assert set(model.labels_) == {0, 1, 2}
    answer = model.assign(["password token browser", "xyzzy"], min_confidence=0.99)
    assert answer.topic.tolist() == [-1, -1]


def test_new_topics_hold_what_fits_no_predefined_one():
    model = TopicModel(4, predefined={"Mail": ["parcel", "van"]}).fit(TEXTS)
    assert labels(model)[0] == "Mail"
    for kind in ("billing", "login", "kitchen"):
        of_kind = {
            int(label) for text, label in zip(TEXTS, model.labels_, strict=True) if text in planted_as(kind)
        }
        assert len(of_kind) == 1
        assert 0 not in of_kind


def test_words_cut_topics_that_the_texts_alone_do_not_show():
    """Two words that go with anything: only who names them gets topics of them."""
    rng = np.random.default_rng(0)
    pool = [word for words in list(TOPICS.values())[:2] for word in words]
    texts = [" ".join([("urgent", "later")[i % 2], *rng.choice(pool, 2, replace=False)]) for i in range(120)]
    model = TopicModel(n_topics=2, predefined={"Now": ["urgent"], "Some day": ["later"]}).fit(texts)
    agree = [int("urgent" not in words_of(t)) == label for t, label in zip(texts, model.labels_, strict=True)]
    assert np.mean(agree) > 0.9


@settings(max_examples=10, deadline=None)
@given(st.permutations(list(SAID)), st.permutations(range(len(TEXTS))), st.sampled_from([3, 4, 5]))
def test_the_order_of_topics_and_rows_changes_nothing_but_ids(names, rows, n_topics):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = TopicModel(n_topics, predefined=SAID).fit(TEXTS)
        two = TopicModel(n_topics, predefined={name: SAID[name] for name in names}).fit(
            [TEXTS[row] for row in rows]
        )
    assert labels(two)[:3] == names
    ids = [*(labels(two).index(name) for name in SAID), *range(3, len(two.topics))]
    assert [(t.label, t.size, t.terms) for t in one.topics] == [
        (t.label, t.size, t.terms) for t in (two.topics[i] for i in ids)
    ]
    np.testing.assert_array_equal(np.array(ids)[one.labels_[list(rows)]], two.labels_)
    np.testing.assert_allclose(one.transform(TEXTS[:9]), two.transform(TEXTS[:9])[:, ids], atol=1e-9)


def test_copies_of_texts_and_words_change_nothing():
    one = TopicModel(4, predefined={"Mail": ["parcel", "van"], "Money": ["tax"]}).fit(TEXTS)
    two = TopicModel(4, predefined={"Mail": ["VAN", "parcels", "van"], "Money": ["Taxes", "tax"]}).fit(
        TEXTS * 2
    )
    assert [(t.label, t.terms[:6]) for t in one.topics] == [(t.label, t.terms[:6]) for t in two.topics]
    np.testing.assert_array_equal(np.tile(one.labels_, 2), two.labels_)


def test_ids_and_names_stay_over_refits_edits_and_files(tmp_path):
    model = TopicModel(4, predefined=SAID).fit(TEXTS)
    more, _ = planted_texts(200, 4, words=3, seed=5)
    assert labels(clone(model).fit(more))[:3] == list(SAID)
    model.save(tmp_path / "model")
    again = TopicModel.load(tmp_path / "model")
    assert shown(again) == shown(model)
    assert again.predefined == SAID
    model.edits.rename("Money", "Bills").split(0, 2)
    refitted = clone(model).fit(TEXTS, edits=model.edits)
    assert labels(refitted)[:3] == ["Mail", "Bills", "Tea"]
    assert not refitted.state.skipped
    model.edits.undo(2)
    assert labels(model)[:3] == list(SAID)


def test_an_edit_means_the_topic_with_the_same_id_and_label_whatever_its_terms():
    topics = TopicModel(4, predefined=SAID).fit(TEXTS).topics
    assert find_topic(Reference(1, "Money", ("coin", "purse")), topics) is topics[1]
    assert find_topic(Reference(1, "Purse", ("coin", "purse")), topics) is None


def test_a_description_is_still_there_when_edits_of_a_saved_model_are_undone(tmp_path):
    model = TopicModel(4, predefined=SAID).fit(TEXTS)
    model.edits.rename("Money", "Bills", "all about bills")
    model.save(tmp_path / "model")
    assert TopicModel.load(tmp_path / "model").fitted.descriptions == {1: SAID["Money"]}


def test_the_number_of_topics_is_at_least_that_of_predefined_ones():
    known = {name: words[:2] for name, words in TOPICS.items()}
    assert labels(TopicModel(predefined=known).fit(TEXTS))[:4] == list(known)


def test_unknown_words_are_told():
    with pytest.warns(UserWarning, match="'Mail'.*submarine") as told:
        model = TopicModel(n_topics=4, predefined={"Mail": ["parcel", "submarine"]}).fit(TEXTS)
    assert "parcel" not in str(told[0].message).split(":")[1]
    assert labels(model)[0] == "Mail"


@pytest.mark.parametrize("said", [["submarine"], ["the"], "the deep sea", {"examples": ["fish", ""]}])
def test_a_topic_that_no_text_is_about_is_told_and_stays_without_texts(said, tmp_path):
    known = {"Mail": ["parcel"], "Sea": said, "Money": ["tax"]}
    with pytest.warns(UserWarning, match="no text belongs to the predefined topic 'Sea'"):
        model = TopicModel(n_topics=5, predefined=known).fit(TEXTS)
    assert labels(model)[:3] == list(known)
    assert [topic.size for topic in model.topics[:3]] == [20, 0, 20]
    assert model.topics[1].terms == model.topics[1].examples == ()
    assert len(model.transform(["a parcel"])[0]) == 5
    model.edits.merge("Mail", "Money").undo().ban("oven")
    assert labels(model)[:3] == list(known)
    model.save(tmp_path / "model")
    assert labels(TopicModel.load(tmp_path / "model"))[:3] == list(known)


@pytest.mark.filterwarnings("ignore:no text belongs")
def test_the_map_names_no_topic_without_texts():
    picture = TopicModel(4, predefined={"Mail": ["parcel"], "Sea": ["submarine"]}).fit(TEXTS).plot.map().svg
    assert "Mail" in picture
    assert "Sea" not in picture


def test_topics_without_a_known_word_cannot_be_the_only_ones():
    with pytest.raises(InputError, match="none of the predefined topics has a word"):
        TopicModel(2, predefined={"Sea": ["submarine"], "Sky": None}).fit(TEXTS)


def test_embeddings_find_a_topic_whose_words_no_text_has():
    def by_first_letter(texts):
        return np.eye(27)[
            [ord(t.strip()[:1].lower() or "{") - 97 if t.strip()[:1].isalpha() else 26 for t in texts]
        ]

    texts = [
        f"{mark} {text}"
        for text, kind in zip(TEXTS, TRUTH, strict=True)
        for mark in ["axle" if kind else "bolt"]
    ]
    known = {"A": {"examples": ["a1"]}, "B": {"examples": ["b1"]}}
    model = TopicModel(2, predefined=known, embeddings=by_first_letter).fit(texts)
    assert planted_as("shipping") == {t[5:] for t in texts_of(model, "B", texts)}


@pytest.mark.parametrize("hostile", [text for text in HOSTILE if text.strip()])
def test_names_and_texts_may_be_anything(hostile):
    known = {hostile: {"words": [hostile, "parcel"], "description": hostile, "examples": [hostile, "van"]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TopicModel(4, predefined=known).fit([*TEXTS, *HOSTILE])
    assert labels(model)[0] == hostile.strip()
    assert {"parcel", "refund"} & set(model.topics[0].terms)
    assert hostile.strip()[:3] in model.topics.frame()["label"][0]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"Mail": []}, "words of 'Mail' must be a list of words"),
        ({"Mail": [1]}, "list of words"),
        ({"Mail": 7}, "list of words"),
        ({"Mail": {"words": "parcel"}}, "list of words"),
        ({"Mail": {"examples": "parcel"}}, "examples of 'Mail' must be a list of texts"),
        ({"Mail": {"description": 5}}, "description of 'Mail' must be text"),
        ({"Mail": {"word": ["parcel"]}}, "'word'; it may have words, a description and examples"),
        ({"Mail": "half \ud800"}, "must be text"),
        ({"": ["parcel"]}, "name of a predefined topic"),
        ({3: ["parcel"]}, "name of a predefined topic"),
        ({"Mail": ["van"], " mail ": ["parcel"]}, "two predefined topics are called 'mail'"),
        ("parcel", "predefined topics must look like"),
        ([3], "name of a predefined topic"),
        ({name: words[:1] for name, words in TOPICS.items()}, "n_topics must be at least 4"),
    ],
)
def test_wrong_topics_are_told(known, said):
    with pytest.raises(InputError, match=said):
        TopicModel(n_topics=3, predefined=known).fit(TEXTS)


def test_other_methods_do_not_take_predefined_topics():
    with pytest.raises(InputError, match="need the method 'coterie'"):
        TopicModel(3, method="nmf", predefined={"Mail": ["parcel"]}).fit(TEXTS)


WORDS = st.lists(st.text(max_size=5), min_size=1, max_size=3)


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(str.strip),
        st.builds(
            lambda **said: {key: value for key, value in said.items() if value},
            words=st.none() | WORDS,
            description=st.text(st.characters(codec="utf-8"), max_size=8),
            examples=st.none() | WORDS,
        ),
        max_size=3,
    )
)
def test_plain_data_say_the_same(known):
    try:
        topics = checked_topics(known)
    except InputError:
        return  # names that are one, or half a character
    assert checked_topics(plain(known)) == topics
    assert all(isinstance(topic, Known) for topic in topics)
