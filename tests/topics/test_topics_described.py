"""What is shown of topics, against counts made by hand."""

import datetime as dt
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import log

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from topic_texts import TOPICS, corpora, counted, planted_texts, words_of

from coterie import Coterie, TopicModel
from coterie.errors import InputError
from matrices import count_matrices

TEXTS, TRUTH = planted_texts(80, 4, words=3, noise=1)
TEXTS = [*TEXTS, *TEXTS[:6], "", "xyzzy"]
NAMES = list(TOPICS)


@pytest.fixture(scope="module")
def model():
    return TopicModel(n_topics=4).fit(TEXTS)


def known_words(texts):
    """Words that more than one text holds; the generated hostile texts are left out by splitting alone."""
    df = Counter(word for text in texts for word in set(words_of(text)))
    return {word for word, number in df.items() if number > 1}


def literal_coherence(terms, texts):
    """Mean NPMI of pairs, by the number of texts that hold one and both."""
    held = [set(words_of(text)) for text in texts]
    found = []
    for one, other in combinations(terms[:10], 2):
        both = sum(one in words and other in words for words in held) / len(held)
        apart = (sum(one in words for words in held) / len(held)) * (
            sum(other in words for words in held) / len(held)
        )
        if both == 0:
            found.append(-1.0)
        elif both == 1:
            found.append(1.0)
        else:
            found.append(log(both / apart) / -log(both))
    return sum(found) / len(found) if found else 0.0


def assert_described(model, texts, only=None):
    """Sizes, weights, coherence, distinctiveness and examples of every topic by hand."""
    words = [[word for word in words_of(text) if only is None or word in only] for text in texts]
    everywhere = Counter(word for row in words for word in row)
    counting = counted(model, texts)
    assert model.n_texts_ == len(texts)
    assert model.n_known_ == sum(topic.size for topic in model.topics) == len(counting)
    for topic in model.topics:
        rows = [row for row in counting if model.labels_[row] == topic.id]
        own = Counter(word for row in rows for word in words[row])
        assert topic.size == len(rows)
        assert topic.share == pytest.approx(len(rows) / len(texts))
        assert len(set(topic.terms)) == len(topic.terms)
        assert set(topic.terms) <= set(own)
        np.testing.assert_allclose(topic.weights, [own[term] / sum(own.values()) for term in topic.terms])
        assert topic.coherence == pytest.approx(literal_coherence(topic.terms, texts), abs=1e-9)
        first = topic.terms[:10]
        part = sum(own[term] / everywhere[term] for term in first) / len(first) if first else 0.0
        assert topic.distinctiveness == pytest.approx(part)
        assert len(set(topic.examples)) == len(topic.examples) <= 5
        for text in topic.examples:
            assert {int(model.labels_[row]) for row, t in enumerate(texts) if t == text} == {topic.id}
            assert texts.index(text) in rows
        for one, other in combinations([set(words_of(text)) & set(own) for text in topic.examples], 2):
            assert len(one & other) < 0.6 * max(min(len(one), len(other)), 1)


def test_topics_are_what_can_be_counted(model):
    assert_described(model, TEXTS, known_words(TEXTS))
    for topic in model.topics:
        assert topic.examples
        mine = NAMES[TRUTH[TEXTS.index(topic.examples[0])]]
        assert set(topic.terms[:6]) == set(TOPICS[mine])


@pytest.mark.slow
@settings(max_examples=8)
@given(corpora(), st.integers(1, 4))
def test_topics_of_any_texts_are_what_can_be_counted(texts, n_topics):
    plain = [
        text
        for text in texts
        if set(words_of(text)) <= {w for pool in TOPICS.values() for w in pool} | {"monday"}
    ]
    known = known_words(plain)
    if not known:
        return
    model = TopicModel(n_topics=n_topics).fit(plain)
    assert_described(model, plain, known)


def test_after_edits_topics_are_still_what_can_be_counted():
    model = TopicModel(n_topics=4).fit(TEXTS)
    model.edits.merge(0, 1).pin(TEXTS[0], 3 if model.labels_[0] != 3 else 2).split(0, 3)
    assert_described(model, TEXTS, known_words(TEXTS))


def test_labels_tell_topics_apart(model):
    labels = [topic.label for topic in model.topics]
    assert len(set(labels)) == len(labels)
    for topic in model.topics:
        assert set(re.findall(r"\w+", topic.label)) <= set(topic.terms)


def test_a_topic_of_all_texts_is_named_by_its_most_frequent_words():
    texts = ["aa parcel", "bb parcel late", "cc late", "dd parcel late", "aa bb cc dd"]
    for model in (TopicModel(1).fit(texts), TopicModel(2).fit(texts)):
        if len(model.topics) > 1:
            model.edits.merge(*(topic.id for topic in model.topics))
        (topic,) = model.topics
        assert set(topic.terms[:2]) == {"parcel", "late"}
        assert topic.label.startswith(("parcel", "late"))


def test_numbers_and_signs_do_not_name_a_topic():
    texts = [
        "404 server",
        "404 500 server",
        "500 404 crash",
        "404 crash server",
        "card refund",
        "refund tax card",
    ] * 3
    model = TopicModel(n_topics=2).fit(texts)
    label = next(topic.label for topic in model.topics if "404" in topic.terms)
    assert set(re.findall(r"\w+", label)) <= {"server", "crash"}


def test_topics_as_a_table(model):
    frame = model.topics.frame()
    assert frame["topic"].to_list() == [topic.id for topic in model.topics]
    assert frame["size"].sum() == len(TEXTS) - 2
    assert frame["share"].sum() == pytest.approx((len(TEXTS) - 2) / len(TEXTS))
    assert frame["terms"].to_list() == [list(topic.terms) for topic in model.topics]
    assert frame["examples"].to_list() == [list(topic.examples) for topic in model.topics]


def test_assignments_as_a_table(model):
    found = model.assign(TEXTS)
    frame = found.frame()
    assert frame.columns == ["topic", "label", "confidence", "second", "reason"]
    for row, answer in enumerate(found):
        expected = (answer.topic, answer.label, answer.confidence, answer.second, str(answer.reason))
        assert frame.row(row) == expected
    assert found[1:3] == [found[1], found[2]]


def test_notebooks_show_texts_as_text():
    texts = ["<script>alert</script> parcel", "<b>parcel</b> van", "<script> van", "parcel <script> van"] * 3
    model = TopicModel(n_topics=1).fit(texts)
    model.edits.rename(0, "<img src=x onerror=alert(1)>")
    page = model._repr_html_()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;img" in page


# --- reasons


def test_reasons_name_words_of_the_topic(model):
    topics = {topic.id: topic for topic in model.topics}
    for text, kind, answer in zip(TEXTS, TRUTH, model.assign(TEXTS), strict=False):
        own, held = set(TOPICS[NAMES[kind]]), set(words_of(text))
        assert answer.reason.words
        assert set(answer.reason.words) <= held & own  # the noise says nothing
        assert len(answer.reason.words) <= 3
        assert set(answer.reason.related) <= set(topics[answer.topic].terms) - held


def test_the_second_topic_is_the_next_best(model):
    home = {name: int(model.labels_[list(TRUTH).index(number)]) for number, name in enumerate(NAMES)}
    for one, other in combinations(NAMES, 2):
        text = " ".join([*TOPICS[one][:3], TOPICS[other][0]])
        answer = model.assign([text])[0]
        assert (answer.topic, answer.second) == (home[one], home[other])
        assert model.assign([" ".join(TOPICS[one])])[0].confidence > answer.confidence
    shares = model.transform(TEXTS)
    ids = np.array([topic.id for topic in model.topics])
    for row, answer in enumerate(model.assign(TEXTS)):
        ranked = ids[np.argsort(-shares[row], kind="stable")]
        assert answer.second == (ranked[1] if shares[row].any() else None)


def test_reasons_speak_for_the_topic_that_several_were_merged_into():
    model = TopicModel(n_topics=4).fit(TEXTS)
    of = {name: int(model.labels_[list(TRUTH).index(number)]) for number, name in enumerate(NAMES)}
    model.edits.merge(of["shipping"], of["billing"])
    mixed = "parcel van refund tax"  # no topic of the method alone says all of it
    answer = model.assign([mixed])[0]
    assert answer.topic == of["shipping"]
    assert {"parcel", "van"} & set(answer.reason.words)
    texts = [text for text, kind in zip(TEXTS, TRUTH, strict=False) if kind in (0, 1)]
    for text, found in zip(texts, model.assign(texts), strict=True):
        assert found.reason.words
        assert set(found.reason.words) <= set(words_of(text)) & {*TOPICS["shipping"], *TOPICS["billing"]}


def test_a_word_that_merged_topics_share_speaks_for_what_they_became():
    rng = np.random.default_rng(0)
    pools = [["parcel", "van", "street"], ["bicycle", "helmet", "street"], ["refund", "card", "tax"]]
    texts = [" ".join(rng.permutation(pool)[:2]) for pool in pools for _ in range(30)]
    model = TopicModel(n_topics=3).fit(texts)
    one, other, _ = (int(model.predict([" ".join(pool[:2])])[0]) for pool in pools)
    assert "street" not in model.assign(["parcel van street"])[0].reason.words  # it tells the two not apart
    model.edits.merge(one, other)
    assert "street" in model.assign(["parcel van street"])[0].reason.words


def test_reasons_speak_for_the_topic_that_was_chosen_and_no_other():
    model = TopicModel(n_topics=4).fit(TEXTS)
    of = {name: int(model.labels_[list(TRUTH).index(number)]) for number, name in enumerate(NAMES)}
    model.edits.merge(of["shipping"], of["billing"])
    own = {name: set(words) for name, words in TOPICS.items()}
    own["shipping"] |= own["billing"]
    words = [word for pool in TOPICS.values() for word in pool]
    rng = np.random.default_rng(0)
    mixed = [" ".join(rng.choice(words, 4, replace=False)) for _ in range(200)]
    for answer in model.assign(mixed):
        name = next(name for name in NAMES if of[name] == answer.topic and name != "billing")
        assert set(answer.reason.words) <= own[name]


def literal_scores(estimator, counts):
    """Scores of texts × topics, word by word, and what each word adds."""
    parts = np.zeros((*counts.shape, len(estimator.coefficients_)))
    for row, held in enumerate(counts):
        weighted = held * estimator.term_weights_
        image = held @ estimator.term_vectors_.T
        length, reach = np.linalg.norm(weighted), np.linalg.norm(image)
        for term, number in enumerate(held):
            if length:
                parts[row, term] += weighted[term] / length * estimator.coefficients_[:, term]
            if reach:
                along = number * estimator.term_vectors_[:, term] / reach
                parts[row, term] += estimator.axis_coefficients_ @ along
    return parts


@settings(max_examples=25)
@given(count_matrices(max_rows=10, max_terms=7), st.integers(1, 3), st.integers(0, 99))
def test_evidence_of_words_adds_up_to_the_difference_of_scores(X, n_topics, seed):
    estimator = Coterie(n_topics, restarts=1).fit(X)
    rng = np.random.default_rng(seed)
    found = len(estimator.coefficients_)
    one, other = (rng.integers(found, size=len(X)) for _ in range(2))
    said = estimator.evidence(csr_matrix(X), one, other)
    parts = literal_scores(estimator, X)
    rows = np.arange(len(X))
    expected = parts[rows, :, one] - parts[rows, :, other]
    np.testing.assert_allclose(said.toarray(), expected, atol=1e-9)
    scores = parts.sum(axis=1)
    difference = scores[rows, one] - scores[rows, other]
    np.testing.assert_allclose(np.asarray(said.sum(axis=1)).ravel(), difference, atol=1e-9)
    # shares are the softmax of these scores
    known = scores.any(axis=1) & (X @ (estimator.term_weights_ > 0) > 0)
    shares = np.exp(estimator.sharpness_ * (scores - scores.max(axis=1, keepdims=True)))
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(estimator.transform(X)[known], shares[known], atol=1e-9)


# --- near texts


@pytest.mark.parametrize("text", ["parcel van monday", "refund", TEXTS[5]])
def test_similar_texts_are_those_with_the_largest_cosine(model, text):
    distinct = list(dict.fromkeys(TEXTS))
    vectors, wanted = model.embed(distinct), model.embed([text])[0]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1)[:-2], 1)
    cosine = {t: float(v @ wanted) for t, v in zip(distinct, vectors, strict=True)}
    best = sorted(cosine.values(), reverse=True)
    found = model.similar(text, 7)
    assert len(found) == 7
    np.testing.assert_allclose([near.similarity for near in found], best[:7], atol=1e-8)
    assert len({near.text for near in found}) == 7
    for near in found:
        assert near.row == TEXTS.index(near.text)
        assert near.topic == model.labels_[near.row]
        assert near.similarity == pytest.approx(cosine[near.text], abs=1e-8)


def test_nothing_is_similar_to_a_text_of_which_nothing_is_known(model):
    assert model.similar("xyzzy plugh") == []
    everything = model.similar("parcel", 1000)
    assert all(near.similarity > 0 for near in everything)
    assert not {"", "xyzzy"} & {near.text for near in everything}


# --- over time and by class


def literal_counts(model, groups):
    assert len(groups) == len(TEXTS)
    return Counter(
        (int(model.labels_[row]), groups[row]) for row in counted(model, TEXTS) if groups[row] is not None
    )


def assert_counted(frame, model, groups, name):
    expected = literal_counts(model, groups)
    named = {group for group in groups if group is not None}
    totals = Counter(groups[row] for row in counted(model, TEXTS) if groups[row] is not None)
    assert frame.columns == ["topic", "label", name, "texts", "share", "terms"]
    assert len(frame) == len(model.topics) * len(named)
    labels = {topic.id: topic.label for topic in model.topics}
    for row in frame.iter_rows(named=True):
        assert row["texts"] == expected[row["topic"], row[name]]
        # a group of which no text counts is there all the same
        part = expected[row["topic"], row[name]] / totals[row[name]] if totals[row[name]] else 0.0
        assert row["share"] == pytest.approx(part)
        assert row["label"] == labels[row["topic"]]
    assert frame[name].unique().sort().to_list() == sorted(named)
    assert frame["texts"].sum() == sum(totals.values())


FIRST = dt.date(2024, 1, 29)
DAYS = [FIRST + dt.timedelta(days=int(day)) for day in np.random.default_rng(3).integers(0, 400, len(TEXTS))]
FLOORS = {
    "day": lambda day: day,
    "week": lambda day: day - dt.timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


@pytest.mark.parametrize("every", FLOORS)
def test_topics_over_time_are_counted(model, every):
    assert_counted(model.over_time(DAYS, every), model, [FLOORS[every](day) for day in DAYS], "period")


@pytest.mark.parametrize(
    ("days", "every"), [(20, "day"), (100, "week"), (600, "month"), (2000, "quarter"), (4000, "year")]
)
def test_the_period_follows_from_the_span(model, days, every):
    dates = [FIRST + dt.timedelta(days=i * days // len(TEXTS)) for i in range(len(TEXTS))]
    assert_counted(model.over_time(dates), model, [FLOORS[every](day) for day in dates], "period")


SPELLINGS = {
    "dates": list,
    "ISO": lambda days: [day.isoformat() for day in days],
    "ISO with blanks": lambda days: [f" {day.isoformat()} " for day in days],
    "with a time": lambda days: [f"{day.isoformat()}T23:59:59" for day in days],
    "with a zone": lambda days: [f"{day.isoformat()} 23:30:00+02:00" for day in days],
    "slashes": lambda days: [day.strftime("%Y/%m/%d") for day in days],
    "dots": lambda days: [f"{day.day}.{day.month}.{day.year}" for day in days],
    "datetimes": lambda days: [dt.datetime(day.year, day.month, day.day, 23, 59) for day in days],
    "polars": pl.Series,
    "polars datetimes": lambda days: pl.Series(days).cast(pl.Datetime("ms")),
    "just after midnight in Tokyo": lambda days: pl.Series(
        [dt.datetime(day.year, day.month, day.day, 0, 30) for day in days]
    ).dt.replace_time_zone("Asia/Tokyo"),
    "numpy": lambda days: np.array(days, dtype="datetime64[D]"),
    "pandas": lambda days: pd.Series(pd.to_datetime(days)),
    "mixed": lambda days: [day if i % 2 else day.isoformat() for i, day in enumerate(days)],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_dates_are_read_in_many_spellings(model, spelling):
    frame = model.over_time(SPELLINGS[spelling](DAYS), "month")
    assert_counted(frame, model, [FLOORS["month"](day) for day in DAYS], "period")


@pytest.mark.parametrize("missing", [None, "", "  ", float("nan"), pd.NaT])
def test_a_missing_date_counts_nowhere(model, missing):
    dates = [missing if i % 5 == 0 else day.isoformat() for i, day in enumerate(DAYS)]
    groups = [None if i % 5 == 0 else FLOORS["month"](day) for i, day in enumerate(DAYS)]
    assert_counted(model.over_time(dates, "month"), model, groups, "period")


def test_without_any_date_there_is_no_period(model):
    assert len(model.over_time([None] * len(TEXTS))) == 0


@pytest.mark.parametrize(
    "wrong", ["soon", "2024-02-30", "31/13/2024", "2024-13", "12", "2024-05-01x", "2024-05-011", "0000-01-01"]
)
def test_a_wrong_date_is_told_with_its_row(model, wrong):
    dates = [day.isoformat() for day in DAYS]
    dates[7] = wrong
    with pytest.raises(InputError, match="row 8 of the data") as told:
        model.over_time(dates)
    assert repr(wrong) in str(told.value)


@pytest.mark.parametrize("given", [["2024-05-01"], [], "2024-05-01"])
def test_there_must_be_a_date_for_each_text(model, given):
    with pytest.raises(InputError):
        model.over_time(given)
    with pytest.raises(InputError):
        model.by_class(given)


def test_a_period_that_there_is_not_is_told(model):
    with pytest.raises(InputError, match="every must be"):
        model.over_time(DAYS, "decade")


@pytest.mark.parametrize("kind", [str, int])
def test_topics_by_class_are_counted(model, kind):
    classes = [kind(i * 7 % 3) if i % 4 else None for i in range(len(TEXTS))]
    groups = [None if value is None else str(value) for value in classes]
    for given_as in (classes, pl.Series(classes), np.array(classes, dtype=object), iter(classes)):
        assert_counted(model.by_class(given_as), model, groups, "class")


def test_the_words_of_a_class_are_those_the_topic_uses_there():
    texts = ["parcel van", "parcel depot"] * 10 + ["refund card", "refund tax"] * 10
    classes = ["one", "two"] * 20
    model = TopicModel(n_topics=2).fit(texts)
    found = {
        (model.topics[row["topic"]].terms[0], row["class"]): row["terms"]
        for row in model.by_class(classes).iter_rows(named=True)
    }
    assert found["parcel", "one"][0] == "van"
    assert found["parcel", "two"][0] == "depot"
    assert found["refund", "one"][0] == "card"
    assert found["refund", "two"][0] == "tax"
    assert "depot" not in found["parcel", "one"]


# --- the tree


def walk(branch):
    yield branch
    for part in branch.parts:
        yield from walk(part)


def assert_a_tree(model):
    root = model.hierarchy()
    leaves = [branch for branch in walk(root) if not branch.parts]
    assert sorted(branch.topics[0] for branch in leaves) == sorted(topic.id for topic in model.topics)
    by_id = {topic.id: topic for topic in model.topics}
    assert root.size == sum(topic.size for topic in model.topics) == model.n_known_
    for branch in walk(root):
        assert branch.size == sum(by_id[topic].size for topic in branch.topics)
        if branch.parts:
            assert len(branch.parts) >= 2
            assert sorted(t for part in branch.parts for t in part.topics) == sorted(branch.topics)
            assert all(branch.height >= part.height - 1e-9 for part in branch.parts)
        else:
            assert (branch.label, branch.height) == (by_id[branch.topics[0]].label, 0.0)
    assert len(str(root).splitlines()) == len(list(walk(root)))


def test_every_topic_is_in_the_tree_once(model):
    assert_a_tree(model)
    again = TopicModel(n_topics=4).fit(TEXTS)
    again.edits.merge(0, 2)
    assert_a_tree(again)
    again.edits.split(0, 3)
    assert_a_tree(again)
    assert_a_tree(TopicModel(n_topics=1).fit(TEXTS))


def test_topics_that_share_words_meet_first():
    rng = np.random.default_rng(0)
    pools = {
        "parcel": ["parcel", "van", "depot", "street"],
        "bicycle": ["bicycle", "helmet", "wheel", "street"],
        "refund": ["refund", "card", "tax", "bank"],
    }
    pools["parcel"] += ["road", "lane"]
    pools["bicycle"] += ["road", "lane"]
    texts = [" ".join(rng.choice(pool, 3, replace=False)) for pool in pools.values() for _ in range(30)]
    model = TopicModel(n_topics=3).fit(texts)
    alone = next(t.id for t in model.topics if "refund" in t.terms)
    root = model.hierarchy()
    assert (alone,) in [part.topics for part in root.parts]
    assert root.label == "all texts"


@given(st.lists(st.sampled_from([*TEXTS[:9], "parcel refund", "xyzzy", ""]), min_size=1), st.integers(0, 12))
def test_texts_of_less_confidence_have_no_topic_if_asked_for(model, texts, number):
    drawn = sorted({0.0, 1.0, *model.assign([*TEXTS[:9], "parcel refund"]).confidence})
    least = drawn[number % len(drawn)]
    every, some = model.assign(texts), model.assign(texts, min_confidence=least)
    for one, other in zip(every, some, strict=True):
        assert other == (one if one.confidence >= least else replace(one, topic=None, label=None))
    assert model.predict(texts, min_confidence=least).tolist() == some.topic.tolist()


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), "much", None])
def test_a_confidence_is_a_number_from_0_to_1(model, wrong):
    with pytest.raises(InputError, match="min_confidence must be a number from 0 to 1, got"):
        model.assign(["parcel"], min_confidence=wrong)


def test_fewer_topics_than_asked_for_are_told():
    with pytest.warns(
        UserWarning, match=r"^\d+ topics? instead of 50: no text was left for the others$"
    ) as told:
        model = TopicModel(n_topics=50).fit(TEXTS[:30])
    assert str(told[0].message).startswith(str(len(model.topics)))


def test_a_class_that_stands_for_nothing_is_none(model):
    classes = ["team", "NULL", " nan ", "\\N", "n/a", ""] + ["team"] * (len(TEXTS) - 6)
    assert model.by_class(classes)["class"].unique().sort().to_list() == ["n/a", "team"]
