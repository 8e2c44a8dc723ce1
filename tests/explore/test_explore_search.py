"""Search by meaning finds texts that share no word with the query, and says through which."""

import csv

import numpy as np
import pytest

from coterie.datasets import SAMPLE_FILE
from coterie.explore.guard import Later
from coterie.explore.opened import OpenedRun
from coterie.explore.selection import Filters
from coterie.runs import fit_run
from coterie.text import read_texts
from coterie.topics import TopicModel


def opened_run(source, column, folder, n_topics):
    run = fit_run(read_texts(source, column), folder, TopicModel(n_topics), edits=())
    return OpenedRun(run, folder.name, "0" * 16)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    found = opened_run(SAMPLE_FILE, "text", tmp_path_factory.mktemp("runs") / "sample", 12)
    assert found.counted.wait(60), found.counted.problem
    return found


@pytest.fixture(scope="module")
def titles(dataset, tmp_path_factory):
    """Six thousand titles of questions, of twenty subjects."""
    texts = dataset("stackoverflow").texts
    folder = tmp_path_factory.mktemp("titles")
    with open(folder / "titles.csv", "w", newline="", encoding="utf-8") as file:
        sheet = csv.writer(file)
        sheet.writerow(["title"])
        sheet.writerows([text] for text in list(texts)[::3])
    found = opened_run(folder / "titles.csv", "title", folder / "run", 20)
    assert found.counted.wait(120), found.counted.problem
    return found


def asked(opened, q, **more):
    filters = Filters(q=q, mode="meaning", **more)
    rows = opened.selection().ordered(filters, "match", True)
    return opened.texts.at(rows[:200], filters), len(rows), opened.query(filters)


def check(opened, q, least=1):
    """What is said of each text holds; gives back the texts that share no word with the query."""
    found, total, query = asked(opened, q)
    assert total >= len(found) > 0
    vectorizer, names = opened.model.vectorizer_, opened.model.vectorizer_.vocabulary_.display
    known = {names[column] for column in vectorizer.transform([q]).indices}
    assert set(query.known) == known
    scores = [text.match.score for text in found]
    assert scores == sorted(scores, reverse=True)
    near = {one.term: one for one in query.related}
    held = vectorizer.transform([text.text for text in found])
    for number, text in enumerate(found):
        own = {names[column] for column in held[number].indices}
        assert set(text.match.shared) == known & own
        assert {one.term for one in text.match.through} == set(near) & own
        assert text.match.shared or text.match.through
        assert all(near[one.term] == one and one.from_ in known for one in text.match.through)
        assert text.match.score > 0
    others = [text for text in found if not text.match.shared]
    assert len(others) >= least
    return others


@pytest.mark.slow
@pytest.mark.parametrize("q", ["password", "refund", "parcel", "broken lid", "invoice"])
def test_texts_of_the_sample_are_found_through_related_words(sample, q):
    for text in check(sample, q):
        marked = {text.text[a:b].lower() for a, b, kind in text.marks if kind == "related"}
        assert marked


@pytest.mark.slow
@pytest.mark.parametrize("q", ["password", "matrix", "repository", "worksheet", "plot vector", "branches"])
def test_titles_are_found_through_related_words(titles, q):
    check(titles, q, least=5)


@pytest.mark.slow
def test_related_words_are_of_the_same_subject(titles, dataset):
    """Texts found through other words alone are of the subject far more often than chance has it."""
    labels = np.asarray(dataset("stackoverflow").labels)[::3]
    for q in ("worksheet", "repository", "matrix"):
        others = check(titles, q, least=30)[:30]
        own = [labels[text.row] for text in asked(titles, q)[0] if text.match.shared]
        subject = max(set(own), key=own.count)
        agree = np.mean([labels[text.row] == subject for text in others])
        assert agree > 0.5  # a twentieth is chance


def test_texts_that_hold_the_query_come_before_those_that_hold_one_related_word(titles):
    found = asked(titles, "repository")[0]
    weakest = min(text.match.score for text in found if text.match.shared)
    assert weakest == pytest.approx(1, abs=1e-3) or weakest > 1
    assert all(
        text.match.score < 1 for text in found if not text.match.shared and len(text.match.through) == 1
    )


def test_unknown_words_are_told(sample):
    found, total, query = asked(sample, "xyzzy plugh")
    assert (found, total, query.known) == ([], 0, [])
    assert query.unknown == ["xyzzy", "plugh"]
    assert asked(sample, "xyzzy password")[1] == asked(sample, "password")[1]


def test_stop_words_mean_nothing(sample):
    assert asked(sample, "the and of")[1] == 0
    assert asked(sample, "the passwords of the")[2].known == ["password"]


def test_copies_are_found_together(sample):
    found = {}
    for text in asked(sample, "password")[0]:
        found.setdefault(text.text, set()).add(text.match.score)
    assert all(len(scores) == 1 for scores in found.values())


def test_counting_is_waited_for(sample):
    again = OpenedRun(sample.run, "again", "0" * 16)
    with pytest.raises(Later):
        again.selection().chosen(Filters(q="password", mode="meaning"))
    assert not again.counted.ready
    assert again.counted.wait(60)
    rows = again.selection().chosen(Filters(q="password", mode="meaning"))
    assert np.array_equal(rows, sample.selection().chosen(Filters(q="password", mode="meaning")))
