"""`coterie search` says what `TopicModel.search` and `expand` say, and shows texts without obeying them."""

import json
from dataclasses import asdict

import pytest
from click.testing import CliRunner

from coterie import TopicModel, open_run
from coterie.cli import main
from coterie.cli.search import search
from coterie.topics.search import DEFAULT, WAYS

TEXTS = [
    "late parcel courier",
    "parcel lost depot",
    "late courier van",
    "refund card",
    "card refund money",
] * 4
HOSTILE = "parcel \x1b[2J[red]\u202e late"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    TopicModel(2).fit([*TEXTS, HOSTILE, HOSTILE]).save(folder)
    return folder


def coterie(*typed, code=0):
    done = CliRunner(env={"COLUMNS": "160"}).invoke(main, [*map(str, typed)])
    assert done.exit_code == code, done.output
    return done.output


def plain(answers):
    return json.loads(json.dumps([asdict(answer) for answer in answers]))


@pytest.mark.parametrize("by", list(WAYS))
def test_json_has_what_python_gives(run, by):
    model = open_run(run).with_texts()
    said = json.loads(coterie("search", run, "late parcel", "--by", by, "--top", 3, "--json"))
    assert said == plain(model.search("late parcel", 3, by=by))
    assert len(said) == 3


def test_the_table_has_texts_and_the_words_through_which_they_were_found(run):
    said = coterie("search", run, "courier", "--top", 20)
    assert "late parcel courier" in said
    assert "related: " in said
    assert "refund" not in said


def test_related_terms_are_shown_with_what_brought_them(run):
    said = coterie("search", run, "refund", "--expand")
    assert "money" in said
    assert "related to" in said
    assert json.loads(coterie("search", run, "refund", "--expand", "--json")) == plain(
        open_run(run).model.expand("refund")
    )


def test_texts_and_queries_are_not_obeyed(run):
    for said in (coterie("search", run, HOSTILE, "--top", 50), coterie("search", run, "zz\x1b[2J\u202e[b]")):
        assert not {"\x1b", "\u202e"} & set(said)
    assert "[red]" in coterie("search", run, HOSTILE, "--top", 50)


@pytest.mark.parametrize("more", [(), ("--expand",)])
def test_nothing_found_is_said(run, more):
    assert coterie("search", run, "xyzzy", *more).startswith("no ")
    assert json.loads(coterie("search", run, "xyzzy", "--json", *more)) == []


def test_the_ways_are_those_of_the_library():
    (by,) = (option for option in search.params if option.name == "by")
    assert tuple(by.type.choices) == tuple(WAYS)
    assert by.default == DEFAULT


def test_a_folder_without_a_run_is_refused(tmp_path):
    assert "does not exist" in coterie("search", tmp_path / "none", "parcel", code=2)
