"""Levels: nested exactly, named, with evidence, the same after a save, and following edits."""

from itertools import pairwise

import numpy as np
import pytest

from coterie import TopicModel
from coterie.errors import InputError
from coterie.topics.levels import Level, Levels

GROUPS, PER_GROUP = 4, 4


def word(number):
    """A word of its own for each number, which no stemmer shortens."""
    return "".join("bdfgklmnprtv"[int(digit, 12)] + "o" for digit in np.base_repr(number + 144, 12)) + "k"


def planted(n_texts=1600, *, shared=2, seed=0):
    """Texts of words of their topic, `shared` words of its group, and a word that all use."""
    rng = np.random.default_rng(seed)
    n_topics = GROUPS * PER_GROUP
    texts, truth = [], np.arange(n_texts) % n_topics
    for topic in truth:
        numbers = [*(topic * 10 + rng.choice(10, 4, replace=False))]
        numbers += [*(1000 + topic // PER_GROUP * 12 + rng.choice(12, shared, replace=False))]
        numbers.append(1200 + rng.integers(30))
        texts.append(" ".join(word(int(number)) for number in numbers))
    return texts, truth


@pytest.fixture(scope="module")
def model():
    texts, _ = planted()
    return TopicModel(GROUPS * PER_GROUP).fit(texts)


def assert_nested(levels, topics):
    """Every topic is in one group of each level, and groups are those of their children, exactly."""
    assert [group.id for group in levels[-1].groups] == [
        topic.id for topic in sorted(topics, key=lambda topic: (-topic.size, topic.id))
    ]
    for level, finer in pairwise(levels):
        inside = {group.id: group for group in finer.groups}
        assert len(level) < len(finer)
        assert [group.id for group in level.groups] == list(range(len(level)))
        for group in level.groups:
            assert group.topics == tuple(sorted(t for at in group.children for t in inside[at].topics))
            assert group.size == sum(inside[at].size for at in group.children)
            assert all(inside[at].parent == group.id for at in group.children)
    for level in levels:
        assert sorted(t for group in level.groups for t in group.topics) == sorted(t.id for t in topics)
        labels = [group.label.casefold() for group in level.groups]
        assert len(set(labels)) == len(labels)
        assert all(labels)
        assert [group.size for group in level.groups] == sorted((g.size for g in level.groups), reverse=True)
    assert all(group.parent is None for group in levels[0].groups)
    assert all(not group.children for group in levels[-1].groups)


def test_planted_groups_are_a_level(model):
    _, truth = planted()
    levels = model.levels
    assert [len(level) for level in levels] == [GROUPS, GROUPS * PER_GROUP]
    assert_nested(levels, model.topics)
    groups = levels[0].of(model.labels_)
    table = np.zeros((GROUPS, GROUPS))
    np.add.at(table, (groups, truth // PER_GROUP), 1)
    assert table.max(axis=1).sum() > 0.97 * len(truth)
    assert levels[0].agreement > levels[0].chance + 0.05
    assert levels[-1].agreement is None


def test_a_group_is_called_by_words_that_its_topics_share(model):
    of_groups = {word(1000 + number) for number in range(12 * GROUPS)}
    for group in model.levels[0].groups:
        assert set(group.terms[:3]) <= of_groups
        assert group.label == ", ".join(group.terms[:3])


def test_without_groups_the_topics_are_the_only_level():
    texts, _ = planted(shared=0)
    flat = TopicModel(GROUPS * PER_GROUP).fit(texts)
    assert [len(level) for level in flat.levels] == [GROUPS * PER_GROUP]
    assert_nested(flat.levels, flat.topics)
    assert flat.levels.frame().columns == ["topic", "label", "size"]
    assert len(TopicModel(1).fit(texts).levels) == 1


def test_order_and_copies_of_texts_make_no_difference(model):
    texts, _ = planted()
    order = np.random.default_rng(1).permutation(len(texts))
    shuffled = TopicModel(GROUPS * PER_GROUP).fit([texts[at] for at in order])
    assert shuffled.levels == model.levels
    twice = TopicModel(GROUPS * PER_GROUP).fit(texts * 2)
    assert [[group.topics for group in level.groups] for level in twice.levels] == [
        [group.topics for group in level.groups] for level in model.levels
    ]


def test_a_loaded_model_has_the_same_levels(model, tmp_path):
    model.save(tmp_path / "model")
    assert TopicModel.load(tmp_path / "model").levels == model.levels


def test_levels_follow_edits():
    texts, _ = planted()
    model = TopicModel(GROUPS * PER_GROUP).fit(texts)
    before = model.levels
    model.edits.rename(0, "Late parcels")
    renamed = model.levels
    assert [level.agreement for level in renamed] == [level.agreement for level in before]
    assert "Late parcels" in {group.label for group in renamed[-1].groups}
    for edit in (lambda: model.edits.merge(0, 5), lambda: model.edits.split(1, 3)):
        edit()
        assert_nested(model.levels, model.topics)
    model.edits.undo(3)
    assert model.levels == before


def test_tables_and_the_tree_show_the_same(model):
    levels = model.levels
    frame = levels.frame()
    assert frame.columns == ["level_1", "level_1_label", "topic", "label", "size"]
    assert sorted(frame["topic"]) == sorted(topic.id for topic in model.topics)
    assert frame["level_1"].to_list() == levels[0].of(frame["topic"]).tolist()
    assert frame["level_1"].is_sorted()
    assert levels[0].frame()["size"].sum() == sum(topic.size for topic in model.topics)
    lines = str(levels).splitlines()
    assert len(lines) == GROUPS + GROUPS * PER_GROUP
    assert lines[0] == f"{levels[0].groups[0].label} ({levels[0].groups[0].size:,})"
    assert repr(levels) == "<levels: 4 groups, 16 topics; print it for a tree, .frame() is a table>"
    assert isinstance(levels, Levels)
    assert isinstance(levels[0], Level)


def test_groups_of_ids_that_are_no_topics_are_refused(model):
    assert model.levels[0].of([-1]).tolist() == [-1]
    assert model.levels[0].of([]).tolist() == []
    with pytest.raises(InputError, match="ids of topics of this model, got 99"):
        model.levels[0].of([0, 99])
