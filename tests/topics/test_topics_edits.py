"""Topics that somebody changed: what moves, what stays, and what comes back."""

import copy
import time

import numpy as np
import polars as pl
import pytest
from topic_texts import TOPICS, answers, counted_sizes, planted_texts, shown

from contract import same_topics
from coterie import TopicModel
from coterie.errors import InputError
from coterie.results import PINNED
from coterie.topics import Edit, Reference, editing
from coterie.topics.answers import score_texts

TEXTS, TRUTH = planted_texts(80, 4, words=3, noise=1)
#: one topic larger than the others, and texts of which nothing is known
MORE, _ = planted_texts(4, 1, words=3, seed=5)
ALL = [*TEXTS, *MORE, "", "xyzzy"]


@pytest.fixture(scope="module")
def once():
    model = TopicModel(n_topics=4).fit(ALL)
    assert model.topics[0].size == 24
    return model


@pytest.fixture
def model(once):
    return copy.deepcopy(once)


def texts_of(model, topic):
    return {row for row, label in enumerate(model.labels_) if label == topic}


def partition(model):
    return {topic.id: texts_of(model, topic.id) for topic in model.topics}


def assert_sound(model):
    """Whatever was done: sizes, labels and answers are of one mind."""
    ids = [topic.id for topic in model.topics]
    assert len(set(ids)) == len(ids)
    pinned = {edit.text for edit in model.edits if edit.kind == "pin"}
    assert {topic.id: topic.size for topic in model.topics} == counted_sizes(model, ALL)
    assert sum(topic.size for topic in model.topics) == len(ALL) - len({"", "xyzzy"} - pinned)
    assert model.n_known_ == sum(topic.size for topic in model.topics)
    assert [topic.share for topic in model.topics] == pytest.approx([t.size / len(ALL) for t in model.topics])
    found = model.assign(ALL)
    np.testing.assert_array_equal(found.topic, model.labels_)
    np.testing.assert_array_equal(model.predict(ALL), model.labels_)
    assert model.transform(ALL).shape == (len(ALL), len(ids))
    assert {answer.label for answer in found} <= {topic.label for topic in model.topics} | {None}


def test_a_topic_is_called_something_else(model):
    before, parts = model.topics, partition(model)
    model.edits.rename(2, "  Everything else ")
    assert model.topics[2].label == "Everything else"
    assert [t.label for t in model.topics if t.id != 2] == [t.label for t in before if t.id != 2]
    assert partition(model) == parts
    assert model.topics[2].terms == before[2].terms
    text = TEXTS[min(parts[2])]
    assert model.assign([text])[0].label == "Everything else"
    model.edits.rename("Everything", "Other")  # by the beginning of its label
    assert model.topics[2].label == "Other"
    assert_sound(model)


def test_merging_only_adds(model):
    before = partition(model)
    model.edits.merge(1, 3)
    after = partition(model)
    assert set(after) == {0, 1, 2}
    assert after[1] == before[1] | before[3]
    assert after[2] == before[2]
    assert after[0] == before[0]
    assert model.labels_[-2:].tolist() == [-1, -1]  # texts without a known word
    assert_sound(model)


def test_memberships_of_the_method_add_up_in_merged_topics(model):
    texts = pl.Series(ALL)
    before = score_texts(model, texts)[0].memberships
    model.edits.merge(2, 0, 3)
    after = score_texts(model, texts)[0].memberships
    assert [topic.id for topic in model.topics] == [1, 2]
    np.testing.assert_allclose(after[:, 0], before[:, 1])
    np.testing.assert_allclose(after[:, 1], before[:, [0, 2, 3]].sum(axis=1))


def test_splitting_moves_no_text_of_other_topics(model):
    model.edits.merge(1, 3)
    before = partition(model)
    model.edits.split(1)
    after = partition(model)
    unknown = {len(ALL) - 2, len(ALL) - 1}
    assert set(after) == {0, 1, 2, 4}  # the id 3 is not given again
    assert (after[1] | after[4]) - unknown == before[1] - unknown
    assert after[0] - unknown == before[0] - unknown
    assert after[2] == before[2]
    assert after[1]
    assert after[4]
    # what was two topics falls apart as it was put together
    wanted = [set(np.flatnonzero(kind == TRUTH)) for kind in set(TRUTH[list((before[1]) - unknown)])]
    assert sorted(map(sorted, (after[1] - unknown, after[4] - unknown))) == sorted(map(sorted, wanted))
    assert_sound(model)


def test_the_largest_part_keeps_the_id_and_the_name(model):
    model.edits.rename(0, "Named")
    model.edits.merge(0, 1)
    model.edits.split(0)
    sizes = {topic.id: topic.size for topic in model.topics}
    assert sizes[0] >= sizes[4]
    labels = {topic.id: topic.label for topic in model.topics}
    assert labels[0] == "Named"
    assert labels[4] != "Named"
    assert_sound(model)


def test_a_topic_falls_into_as_many_parts_as_asked_for(model):
    model.edits.merge(0, 1, 2, 3)
    assert [topic.id for topic in model.topics] == [0]
    model.edits.split(0, 4)
    assert [topic.id for topic in model.topics] == [0, 4, 5, 6]
    assert sorted(topic.size for topic in model.topics) == [20, 20, 20, 24]
    assert_sound(model)


def test_a_part_of_a_split_topic_can_be_merged_with_another(model):
    model.edits.merge(1, 3)
    model.edits.split(1)
    before = partition(model)
    model.edits.merge(4, 2)
    assert partition(model)[4] >= before[4] | before[2]
    model.edits.split(4)
    assert [topic.id for topic in model.topics] == [0, 1, 4, 5]
    assert_sound(model)


def test_banned_terms_vanish_and_do_not_count(model):
    word = model.topics[1].terms[0]
    assert any(word in answer.reason.words for answer in model.assign(ALL))
    model.edits.ban(word)
    for topic in model.topics:
        assert word not in topic.terms
        assert word not in topic.label.split(", ")
    for answer in model.assign(ALL):
        assert word not in answer.reason.words
        assert word not in answer.reason.related
    alone = model.assign([word])[0]
    assert alone.reason.note == "no known word"
    assert alone.confidence == 0
    others = [w for w in TOPICS["login"] if w != word][:2]
    without = " ".join(others)
    np.testing.assert_allclose(model.transform([f"{without} {word}"]), model.transform([without]))
    one, two = model.assign([f"{without} {word}", without])
    assert one == two
    assert_sound(model)
    trend = model.by_class([f"class {number % 7}" for number in range(len(ALL))])
    assert not any(word in words for words in trend["terms"].to_list())


def test_a_text_of_banned_words_alone_counts_no_more():
    texts = [*TEXTS, "kettle", "kettle kettle", "Kettles"]
    model = TopicModel(n_topics=4).fit(texts)
    classes = ["other"] * len(TEXTS) + ["kettle"] * 3
    for change, counting in (
        (lambda: None, 83),
        (lambda: model.edits.ban("kettle"), 80),
        (lambda: model.edits.pin("kettle kettle", 2), 81),
        (model.edits.undo, 80),
        (model.edits.undo, 83),
    ):
        change()
        assert model.n_known_ == sum(topic.size for topic in model.topics) == counting
        assert model.hierarchy().size == counting
        assert sum(topic.share for topic in model.topics) == pytest.approx(counting / 83)
        by_class = model.by_class(classes)
        assert by_class["texts"].sum() == counting
        assert by_class.filter(by_class["class"] == "kettle")["texts"].sum() == counting - 80
        lost = [answer.reason.note == "no known word" for answer in model.assign(texts)]
        assert sum(lost) == 83 - counting
        np.testing.assert_array_equal(model.predict(texts), model.labels_)


def test_a_banned_word_is_known_in_all_its_forms(model):
    model.edits.ban("Kettles", "RECEIPTS")
    shown_terms = {term for topic in model.topics for term in topic.terms}
    assert not shown_terms & {"kettle", "receipt"}
    assert "oven" in shown_terms


def test_a_pinned_text_is_where_it_was_put(model):
    text = TEXTS[0]
    home = int(model.labels_[0])
    other = next(topic.id for topic in model.topics if topic.id != home)
    before = partition(model)
    model.edits.pin(text, other)
    rows = {row for row, t in enumerate(ALL) if t == text}
    after = partition(model)
    assert after[home] == before[home] - rows
    assert after[other] == before[other] | rows
    answer = model.assign([text])[0]
    assert (answer.topic, answer.confidence, answer.reason.note) == (other, 1.0, PINNED)
    near = model.assign([text + " ", text.upper()])  # not word for word
    assert near.topic.tolist() == [home, home]
    assert all(answer.reason.note == "" for answer in near)
    assert_sound(model)


def test_a_text_without_a_known_word_can_be_pinned_alone(model):
    before = {topic.id: topic.size for topic in model.topics}
    model.edits.pin("xyzzy", 3)
    assert {topic.id: topic.size for topic in model.topics} == {**before, 3: before[3] + 1}
    assert model.n_known_ == len(ALL) - 1
    by_class = model.by_class([*["worded"] * (len(ALL) - 2), "empty", "pinned"])
    found = {(row["topic"], row["class"]): row["texts"] for row in by_class.iter_rows(named=True)}
    assert {key: n for key, n in found.items() if key[1] != "worded" and n} == {(3, "pinned"): 1}
    assert model.labels_[-1] == 3
    assert model.labels_[-2] == -1
    answer = model.assign(["xyzzy"])[0]
    assert (answer.topic, answer.confidence, answer.reason.note) == (3, 1.0, PINNED)
    assert_sound(model)


@pytest.mark.parametrize("blank", ["", "  \n"])
def test_an_empty_text_cannot_be_pinned(model, blank):
    before = partition(model)
    with pytest.raises(InputError, match="an empty text cannot be moved"):
        model.edits.pin(blank, 0)
    assert partition(model) == before
    assert model.labels_[-2] == -1


def test_a_text_that_was_never_seen_can_be_pinned(model):
    before = partition(model)
    model.edits.pin("something new", 2)
    assert partition(model) == before
    assert model.assign(["something new"])[0].topic == 2


def test_a_pin_follows_its_topic_into_a_merge_and_stays_in_a_split(model):
    text = TEXTS[0]
    other = next(t.id for t in model.topics if t.id not in (int(model.labels_[0]), 0))
    model.edits.pin(text, other)
    model.edits.merge(0, other)
    assert model.assign([text])[0].topic == 0
    model.edits.split(0)
    assert model.assign([text])[0].topic == 0
    assert_sound(model)


def test_tokens_are_pinned_by_what_they_look_like():
    texts = [["new york", "hotel"], ["new", "york", "hotel"], ["hotel", "new"], ["york", "hotel"]] * 3
    texts += [["refund", "card"], ["card", "money"], ["money", "refund"]] * 3
    model = TopicModel(n_topics=2).fit(texts)
    model.edits.pin("new york hotel", 1 - int(model.labels_[0]))
    np.testing.assert_array_equal(model.predict(texts), model.labels_)


STEPS = {
    "rename": lambda model: model.edits.rename(1, "Another"),
    "merge": lambda model: model.edits.merge(2, 0),
    "split": lambda model: model.edits.split(0, 3),
    "ban": lambda model: model.edits.ban(model.topics[0].terms[0], "monday"),
    "pin": lambda model: model.edits.pin(TEXTS[0], 3 if model.labels_[0] != 3 else 1),
}


@pytest.mark.parametrize("kind", STEPS)
def test_undo_restores_everything(model, kind):
    before, said, labels = shown(model), answers(model, ALL), model.labels_.copy()
    STEPS[kind](model)
    assert len(model.edits) == 1
    assert model.edits[0].kind == kind
    assert shown(model) != before
    model.edits.undo()
    assert shown(model) == before
    assert answers(model, ALL) == said
    np.testing.assert_array_equal(model.labels_, labels)


def test_undo_goes_back_step_by_step(model):
    states = [(shown(model), answers(model, ALL))]
    for kind in ("rename", "pin", "merge", "split", "ban"):
        edit = (lambda m: m.edits.split(2)) if kind == "split" else STEPS[kind]
        edit(model)
        assert_sound(model)
        states.append((shown(model), answers(model, ALL)))
    for expected in reversed(states[:-1]):
        model.edits.undo()
        assert (shown(model), answers(model, ALL)) == expected
    with pytest.raises(InputError, match="no edit to undo"):
        model.edits.undo()


def random_edits(model, rng, n_edits):
    """Mostly bans and pins, of terms, texts and topics that are there, or were, or never were."""
    terms = [*model.vectorizer_.vocabulary_.display, "nonsense"]
    ids = [topic.id for topic in model.topics]

    def reference():
        return Reference.to(model.topics[int(rng.integers(len(ids)))])

    made = []
    for kind in rng.choice(
        ["ban", "pin", "rename", "merge", "split"], n_edits, p=[0.5, 0.25, 0.1, 0.1, 0.05]
    ):
        if kind == "ban":
            made.append(Edit("ban", terms=tuple(rng.choice(terms, rng.integers(1, 3)))))
        elif kind == "pin":
            made.append(Edit("pin", (reference(),), text=str(rng.choice(ALL))))
        elif kind == "rename":
            made.append(Edit("rename", (reference(),), label=f"Label {len(made)}"))
        elif kind == "merge":
            made.append(Edit("merge", (reference(), reference())))
        else:
            made.append(Edit("split", (reference(),), parts=2))
    return made


@pytest.mark.filterwarnings("ignore:skipped an edit")
@pytest.mark.parametrize("seed", range(6))
def test_edits_made_together_are_those_made_one_by_one(once, seed):
    together, alone = copy.deepcopy(once), copy.deepcopy(once)
    edits = random_edits(once, np.random.default_rng(seed), 20)
    editing.replay(together, edits)
    for edit in edits:
        editing.replay(alone, [edit])
    for back in (0, 1, 3, 7):
        if back:
            together.edits.undo(back)
            alone.edits.undo(back)
        assert together.topics == alone.topics
        assert together.edits == alone.edits
        assert together.state.skipped == alone.state.skipped
        assert answers(together, ALL) == answers(alone, ALL)
        assert together.state.description.known.ids == alone.state.description.known.ids
        np.testing.assert_array_equal(
            together.state.description.map.positions, alone.state.description.map.positions
        )
        np.testing.assert_array_equal(together.state.scores.position, alone.state.scores.position)


def test_thousands_of_bans_are_described_once(model, monkeypatch):
    described, described_before = [], editing.described
    monkeypatch.setattr(
        editing, "described", lambda *a, **k: described.append(1) or described_before(*a, **k)
    )
    terms = model.vectorizer_.vocabulary_.display[:5]
    begun = time.process_time()
    model.edits.apply(*(Edit("ban", terms=(terms[number % 5],)) for number in range(5_000)))
    assert len(described) == 1
    assert time.process_time() - begun < 10
    assert len(model.edits) == 5_000
    model.edits.undo(4_999)
    assert len(model.edits) == 1
    assert_sound(model)


def test_edits_are_saved_with_the_model(model, tmp_path):
    for kind in ("rename", "pin", "merge", "ban"):
        STEPS[kind](model)
    model.edits.split(2)
    model.save(tmp_path / "model")
    again = TopicModel.load(tmp_path / "model")
    assert again.edits == model.edits
    assert shown(again) == shown(model)
    assert answers(again, ALL) == answers(model, ALL)
    np.testing.assert_array_equal(again.transform(ALL), model.transform(ALL))
    for ask in (lambda: again.edits.merge(0, 1), again.edits.undo, lambda: again.similar("parcel")):
        with pytest.raises(InputError):
            ask()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda m: m.edits.rename(9, "x"), "no topic '9'"),
        (lambda m: m.edits.rename(0, "  "), "must not be empty"),
        (lambda m: m.edits.rename("", "x"), "no topic ''"),
        (lambda m: m.edits.merge(0, 0), "same topic twice"),
        (lambda m: m.edits.merge(0), "must name 2 topics"),
        (lambda m: m.edits.split(0, 1), "at least 2 parts"),
        (lambda m: m.edits.split(0, 500), "cannot be split into 500"),
        (lambda m: m.edits.ban("neverseen"), "cannot ban 'neverseen'"),
        (lambda m: m.edits.ban(), "no term to ban"),
        (lambda m: m.edits.pin("x", 9), "no topic '9'"),
        (lambda m: m.edits.ban(5), "."),
        (lambda m: m.edits.pin(5, 0), "."),
        (lambda m: m.edits.rename(0, 5), "."),
        (lambda m: m.edits.rename(0, "\ud800"), "half a character"),
        (lambda m: m.edits.pin("\ud800", 0), "half a character"),
        (lambda m: m.edits.split(0, "2"), "."),
        (lambda m: m.edits.apply(Edit("delete")), "."),
        (
            lambda m: m.edits.apply(Edit("rename", (Reference(77, "?", ("unheard",)),), label="x")),
            "no such topic",
        ),
    ],
)
def test_an_edit_that_means_nothing_changes_nothing(model, edit, said):
    before, labels = shown(model), model.labels_.copy()
    with pytest.raises(InputError, match=said):
        edit(model)
    assert shown(model) == before
    np.testing.assert_array_equal(model.labels_, labels)


# --- the next fit


def test_edits_find_their_topics_after_a_new_fit(model):
    of = {
        name: next(t.id for t in model.topics if set(t.terms) & set(words)) for name, words in TOPICS.items()
    }
    model.edits.rename(of["kitchen"], "In the kitchen")
    model.edits.ban("doorstep")
    model.edits.pin(TEXTS[0], of["login"])
    model.edits.merge(of["shipping"], of["billing"])
    # other texts, other sizes: ids are not what they were
    texts, truth = planted_texts(60, 4, words=4, seed=9)
    texts += [text for text, kind in zip(texts, truth, strict=True) if kind == 3]
    truth = np.append(truth, truth[truth == 3])
    again = TopicModel(n_topics=4).fit([*texts, TEXTS[0]], edits=model.edits)
    assert again.edits == model.edits
    labels = {topic.id: topic.label for topic in again.topics}
    assert len(labels) == 3
    kinds = [labels[int(label)] for label in again.labels_[:-1]]
    assert {kind for kind, t in zip(kinds, truth, strict=True) if t == 3} == {"In the kitchen"}
    assert len({kind for kind, t in zip(kinds, truth, strict=True) if t in (0, 1)}) == 1
    assert again.labels_[-1] == again.labels_[list(truth).index(2)]
    assert "doorstep" not in {term for topic in again.topics for term in topic.terms}
    again.edits.undo()
    assert len(again.topics) == 4


def test_banned_terms_do_not_count_in_the_next_fit():
    """Two words that every text has one of: they make the topics unless they are banned."""
    texts, truth = planted_texts(80, 2, words=2, seed=1)
    side = np.arange(80) // 2 % 2
    marked = [f"{('urgent now', 'later maybe')[side[i]]} " * 3 + text for i, text in enumerate(texts)]
    plain = TopicModel(n_topics=2).fit(marked)
    assert same_topics(plain.labels_, side)
    plain.edits.ban("urgent", "now", "later", "maybe")
    again = TopicModel(n_topics=2).fit(marked, edits=plain.edits)
    assert same_topics(again.labels_, truth)
    assert same_topics(again.labels_, TopicModel(n_topics=2).fit(texts).labels_)
    np.testing.assert_array_equal(again.predict(marked), again.labels_)


def test_edits_that_find_nothing_are_told_and_kept(model):
    model.edits.rename(1, "Gone tomorrow")
    model.edits.ban("kettle")
    texts = ["violin concerto", "violin sonata", "sonata piano", "football goal", "goal match"] * 4
    with pytest.warns(UserWarning, match="skipped an edit") as told:
        again = TopicModel(n_topics=2).fit(texts, edits=model.edits)
    assert len(told) == 2
    assert again.edits == model.edits
    assert "Gone tomorrow" not in [topic.label for topic in again.topics]
    back = TopicModel(n_topics=4).fit(ALL, edits=again.edits)
    assert "Gone tomorrow" in [topic.label for topic in back.topics]


def test_replaying_on_the_same_texts_gives_the_same_topics(model):
    for kind in ("rename", "pin", "merge"):
        STEPS[kind](model)
    model.edits.split(2)
    again = TopicModel(n_topics=4).fit(ALL, edits=model.edits)
    assert shown(again) == shown(model)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert answers(again, ALL) == answers(model, ALL)


def test_a_topic_without_texts_is_gone_and_comes_back_with_undo(model, tmp_path):
    before = partition(model)
    gone = model.assign(["toaster oven spoon"])[0].topic
    model.edits.ban(*TOPICS["kitchen"])
    assert [topic.id for topic in model.topics] == [topic for topic in before if topic != gone]
    assert all(topic.size for topic in model.topics)
    np.testing.assert_array_equal(model.predict(ALL), model.labels_)
    known = model.transform(ALL).sum(axis=1)
    assert set(np.round(known, 9)) <= {0.0, 1.0}
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(TopicModel.load(tmp_path / "model").predict(ALL), model.labels_)
    new = model.edits.split(model.topics[0].id, 2) and max(topic.id for topic in model.topics)
    assert new > max(before)  # the number of the one that is gone is not given again
    model.edits.undo(2)
    assert partition(model) == before


def test_a_topic_that_somebody_named_stays_though_it_is_empty(model):
    topic = model.assign(["toaster oven spoon"])[0].topic
    model.edits.rename(topic, "Kitchen").ban(*TOPICS["kitchen"])
    assert {t.label: t.size for t in model.topics}["Kitchen"] == 0
