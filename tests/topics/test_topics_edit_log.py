"""The log of edits as JSON: everything comes back, and nothing but an edit gets in."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.results import Topic
from coterie.topics import Edit, Reference
from coterie.topics.edits import dumps, find_topic, loads, named_topic

many = settings(max_examples=100)
strings = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
named = strings.filter(lambda text: bool(text.strip()))
terms = st.lists(strings, max_size=4).map(tuple)


def references(least, most):
    return st.lists(
        st.builds(Reference, st.integers(0, 2**31 - 1), strings, terms),
        min_size=least,
        max_size=most,
        unique_by=lambda reference: reference.id,
    ).map(tuple)


edits = st.one_of(
    st.builds(Edit, st.just("rename"), references(1, 1), label=named, made=strings),
    st.builds(Edit, st.just("merge"), references(2, 4), made=strings),
    st.builds(Edit, st.just("split"), references(1, 1), parts=st.integers(2, 1000)),
    st.builds(Edit, st.just("ban"), terms=st.lists(strings, min_size=1, max_size=4).map(tuple)),
    st.builds(Edit, st.just("pin"), references(1, 1), text=strings),
)


@many
@given(st.lists(edits, max_size=5))
def test_a_log_comes_back_as_it_was(log):
    text = dumps(log)
    assert loads(text) == tuple(log)
    assert dumps(loads(text)) == text
    assert json.loads(text)["format"] == "coterie edits"
    for edit in log:
        assert str(edit)  # every edit can be told


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats() | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=6,
)
fields = ("kind", "topics", "label", "parts", "terms", "text", "made", "other")
kinds = st.sampled_from(["rename", "merge", "split", "ban", "pin", "delete", "", None, ["ban"]])
rows = st.fixed_dictionaries({"kind": kinds | values}, optional=dict.fromkeys(fields[1:], values))


@many
@given(st.one_of(values, rows), values)
def test_whatever_is_not_a_log_is_an_input_error(row, version):
    logs = [
        row,
        {"format": "coterie edits", "version": 1, "edits": [row]},
        {"format": "coterie edits", "version": version, "edits": row},
    ]
    for log in logs:
        try:
            found = loads(json.dumps(log))
        except InputError:
            pass
        else:
            assert all(isinstance(edit, Edit) for edit in found)
            assert loads(dumps(found)) == found


@many
@given(st.text(max_size=40))
def test_any_text_is_a_log_or_an_input_error(text):
    with pytest.raises(InputError):
        loads(text)


TOPIC = {"id": 0, "label": "a", "terms": ["a"]}
HOSTILE = {
    "nothing": "",
    "cut": dumps([Edit("ban", terms=("a",))])[:-20],
    "deep": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "long number": '{"format": "coterie edits", "version": ' + "9" * 5_000 + ', "edits": []}',
    "nan": '{"format": "coterie edits", "version": NaN, "edits": []}',
    "future": '{"format": "coterie edits", "version": 3, "edits": []}',
    "past": '{"format": "coterie edits", "version": 0, "edits": []}',
    "yes": '{"format": "coterie edits", "version": true, "edits": 7}',
    "other format": '{"format": "coterie model", "version": 1, "edits": []}',
}
BAD_ROWS = {
    "unknown kind": {"kind": "delete"},
    "kind of another type": {"kind": ["ban"], "terms": ["a"]},
    "kind is an object": {"kind": {"a": 1}},
    "unknown field": {"kind": "ban", "terms": ["a"], "code": "import os"},
    "no topics": {"kind": "rename", "label": "a"},
    "too many topics": {"kind": "rename", "label": "a", "topics": [TOPIC, {**TOPIC, "id": 1}]},
    "one topic to merge": {"kind": "merge", "topics": [TOPIC]},
    "a topic twice": {"kind": "merge", "topics": [TOPIC, TOPIC]},
    "id is true": {"kind": "pin", "text": "a", "topics": [{**TOPIC, "id": True}]},
    "id below zero": {"kind": "pin", "text": "a", "topics": [{**TOPIC, "id": -1}]},
    "huge id": {"kind": "pin", "text": "a", "topics": [{**TOPIC, "id": 10**30}]},
    "id is a float": {"kind": "pin", "text": "a", "topics": [{**TOPIC, "id": 0.0}]},
    "no id": {"kind": "pin", "text": "a", "topics": [{"label": "a"}]},
    "topic is a number": {"kind": "pin", "text": "a", "topics": [3]},
    "label is a number": {"kind": "rename", "topics": [TOPIC], "label": 3},
    "empty label": {"kind": "rename", "topics": [TOPIC], "label": " \n"},
    "parts are text": {"kind": "split", "topics": [TOPIC], "parts": "2"},
    "parts are many": {"kind": "split", "topics": [TOPIC], "parts": 10**9},
    "one part": {"kind": "split", "topics": [TOPIC], "parts": 1},
    "terms are text": {"kind": "ban", "terms": "abc"},
    "no terms": {"kind": "ban", "terms": []},
    "too many terms": {"kind": "ban", "terms": ["a"] * 1001},
    "half a character": {"kind": "ban", "terms": ["\ud800"]},
    "half a character in a label": {"kind": "rename", "topics": [TOPIC], "label": "\udfff"},
    "a huge text": {"kind": "pin", "topics": [TOPIC], "text": "a" * 1_000_001},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_log_is_refused(name):
    with pytest.raises(InputError, match=r"^here "):
        loads(HOSTILE[name], "here")


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_bad_edit_is_told_by_its_number(name):
    good = {"kind": "ban", "terms": ["a"]}
    log = {"format": "coterie edits", "version": 1, "edits": [good, BAD_ROWS[name]]}
    with pytest.raises(InputError, match=r"^here, edit 2"):
        loads(json.dumps(log), "here")
    assert loads(json.dumps({**log, "edits": [good]})) == (Edit("ban", terms=("a",)),)


# --- which topic is meant


def topic(number, label, terms):
    return Topic(number, label, tuple(terms), (0.1,) * len(terms), 5, 0.5, 0.0, 0.5, ())


FOUND = [topic(0, "parcel, van", "abcdefghij"), topic(1, "Card", "klmnopqrst"), topic(5, "Cards", "uvwxyz")]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (Reference(0, "", tuple("abcdefghij")), 0),
        (Reference(0, "", tuple("klmnopqrst")), 1),  # another id, the same terms
        (Reference(1, "", tuple("klmnopABCD")), 1),
        (Reference(1, "", tuple("abcdklmnop")), 1),  # more of the one with the id
        (Reference(1, "", tuple("abcdefklmn")), 0),  # more of another
        (Reference(7, "", tuple("uvwXYZ")), 5),
        (Reference(0, "", tuple("aABCDEFGHI")), None),  # a tenth is another topic
        (Reference(0, "", tuple("abcABCDEFG")), 0),  # three tenths are not
        (Reference(5, "", ()), 5),  # nothing but its id is known
        (Reference(9, "", ()), None),
    ],
)
def test_topics_are_known_again_by_their_terms(reference, expected):
    found = find_topic(reference, FOUND)
    assert (None if found is None else found.id) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [(0, 0), ("5", 5), ("Card", 1), ("Cards", 5), (" parcel", 0), ("PARCEL, V", 0)],
)
def test_topics_are_named_by_people(name, expected):
    assert named_topic(name, FOUND).id == expected


@pytest.mark.parametrize(
    ("name", "said"), [("ca", "several topics"), ("x", "no topic"), ("", "no topic"), (3, "no topic")]
)
def test_an_unclear_name_is_told_with_what_there_is(name, said):
    with pytest.raises(InputError, match=said) as told:
        named_topic(name, FOUND)
    assert "1 (Card)" in str(told.value)


def test_an_id_goes_before_a_label_that_looks_like_one():
    topics = [replace(FOUND[0], id=0, label="1"), replace(FOUND[0], id=1, label="0")]
    assert [named_topic(name, topics).id for name in (0, "1")] == [0, 1]
