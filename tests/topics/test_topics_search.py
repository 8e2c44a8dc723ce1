"""Search against formulas written out term by term, and what every answer promises."""

import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import HOSTILE, TOPICS, corpora, planted_texts

from coterie import TopicModel
from coterie.errors import InputError
from coterie.explore.search import MeaningIndex
from coterie.text import read_texts
from coterie.topics import collection
from coterie.topics.related import Terms
from coterie.topics.search import WAYS, Search, query_counts

few = settings(max_examples=8, deadline=None)
TEXTS = planted_texts(90, 3, words=3, noise=2)[0]
TEXTS = [*TEXTS, *TEXTS[:20], TEXTS[4] + " parcel parcel refund", "", "xyzzy"]
QUERIES = ["parcel courier", "refund", "blue garden refund refund", "password xyzzy", TEXTS[7]]
words = st.lists(st.sampled_from([word for pool in TOPICS.values() for word in pool]), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def model():
    return TopicModel(3).fit(TEXTS)


def searched(model, by):
    return Search(model, model.collection, by)


@cache
def counts(model, text):
    """How often a text has each term, by column."""
    row = model.vectorizer_.transform([text])
    return dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))


def texts_with(model, texts):
    return Counter(term for text in texts for term in counts(model, text))


# --- each way, one text and one term at a time


def slow_bm25(model, texts):
    holding = texts_with(model, texts)
    mean = sum(sum(counts(model, text).values()) for text in texts) / len(texts)

    def score(query, text):
        own, total = counts(model, text), 0.0
        for term, times in counts(model, query).items():
            idf = math.log(1 + (len(texts) - holding[term] + 0.5) / (holding[term] + 0.5))
            tf = own.get(term, 0)
            total += times * idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * sum(own.values()) / mean))
        return total

    return score


def weighted(model, texts, holding):
    """Texts as unit rows of counts times idf."""
    rows = np.zeros((len(texts), len(model.vectorizer_.vocabulary_)))
    for number, text in enumerate(texts):
        for term, times in counts(model, text).items():
            rows[number, term] = times * math.log(len(TEXTS) / holding[term])
        if rows[number].any():
            rows[number] /= math.sqrt(sum(value**2 for value in rows[number]))
    return rows


def slow_tf_idf(model, texts):
    holding = texts_with(model, texts)
    return lambda query, text: float(
        np.prod([weighted(model, [t], holding)[0] for t in (query, text)], 0).sum()
    )


def slow_kernel(model, texts):
    holding = texts_with(model, texts)
    covariance = np.cov(weighted(model, texts, holding).T)

    def score(query, text):
        x, y = weighted(model, [query, text], holding)
        return x @ covariance @ y

    return score


def slow_vectors(model, texts):
    def score(query, text):
        x, y = model.embed([query, text])
        return x @ y

    return score


def slow_meaning(model, texts):
    """As the live page scores its rows."""
    index, terms = MeaningIndex(model), Terms(model)

    def score(query, text):
        return float(index.scores(terms.meaning(query_counts(model, query).indices))[TEXTS.index(text)])

    return score


SLOW = {
    "bm25": slow_bm25,
    "tf-idf": slow_tf_idf,
    "kernel": slow_kernel,
    "vectors": slow_vectors,
    "meaning": slow_meaning,
}


@pytest.mark.parametrize("by", list(WAYS))
def test_scores_are_those_of_the_formula(model, by):
    slow, first = SLOW[by](model, TEXTS), model.collection.first
    for query in QUERIES:
        scores = searched(model, by).scores(query_counts(model, query))[:, 0]
        for row in range(0, len(first), 9):
            expected = slow(query, TEXTS[first[row]])
            assert scores[row] == pytest.approx(expected, abs=1e-6), (query, TEXTS[first[row]])


# --- what every way promises


@pytest.mark.parametrize("by", list(WAYS))
@few
@given(query=words)
def test_what_words_add_is_the_score(model, by, query):
    search, row = searched(model, by), query_counts(model, " ".join(query))
    X = model.collection.corpus.matrix()
    np.testing.assert_allclose(
        np.asarray(search.added(row, X).sum(axis=1)).ravel(), search.scores(row)[:, 0], atol=1e-7
    )
    terms = np.arange(X.shape[1])
    np.testing.assert_allclose(search._way.links(row, terms).sum(axis=0), search._way.pull(row), atol=1e-9)


@pytest.mark.parametrize("by", list(WAYS))
@few
@given(queries=st.lists(words, min_size=2, max_size=4))
def test_queries_together_score_like_each_alone(model, by, queries):
    rows = [query_counts(model, " ".join(query)) for query in queries]
    together = searched(model, by).scores(model.vectorizer_.transform([" ".join(q) for q in queries]))
    for column, row in enumerate(rows):
        np.testing.assert_allclose(together[:, column], searched(model, by).scores(row)[:, 0], atol=1e-8)


@few
@given(texts=corpora(least=8), query=words, data=st.data())
def test_neither_the_order_of_texts_nor_of_words_matters(texts, query, data):
    texts = [text for text in texts if text not in HOSTILE] * 2
    mixed, shuffled = (data.draw(st.permutations(some)) for some in (texts, query))
    model, other = (TopicModel(2).fit(some) for some in (texts, mixed))

    def found(model, query, by):
        best = model.search(" ".join(query), 100, by=by)
        return {(one.text, round(one.score, 6), one.copies, frozenset(one.words)) for one in best}

    for by in WAYS:
        assert found(model, query, by) == found(other, shuffled, by)


@pytest.mark.parametrize("by", list(WAYS))
@few
@given(query=words)
def test_answers_say_what_is_true(model, by, query):
    query = " ".join(query)
    found = model.search(query, 1000, by=by)
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    names = model.vectorizer_.vocabulary_.display
    asked = [names[term] for term in counts(model, query)]
    for one in found:
        held = {names[term] for term in counts(model, one.text)}
        assert one.row == TEXTS.index(one.text)
        assert one.topic == model.labels_[one.row]
        assert one.copies == TEXTS.count(one.text)
        assert set(one.words) == held & set(asked)
        assert {related.term for related in one.related} <= held - set(asked)
        assert all(set(related.words) <= set(asked) and related.weight > 0 for related in one.related)
        weights = [related.weight for related in one.related]
        assert weights == sorted(weights, reverse=True)
        if by in ("bm25", "tf-idf"):
            assert one.words
            assert not one.related
    assert model.search(query, 3, by=by) == found[:3]


def test_texts_are_found_through_related_words(model):
    found = model.search("courier", 1000)
    others = [one for one in found if "courier" not in one.text]
    assert others
    assert all(one.related and one.related[0].words == ("courier",) for one in others)


@pytest.mark.parametrize("by", list(WAYS))
def test_banned_words_find_nothing(by):
    model = TopicModel(3).fit(TEXTS)
    model.edits.ban("parcel")
    assert model.search("parcel", by=by) == []
    found = model.search("courier parcel", 1000, by=by)
    assert found == model.search("courier", 1000, by=by)
    assert not any("parcel" in (*one.words, *(r.term for r in one.related)) for one in found)


@pytest.mark.parametrize("by", list(WAYS))
def test_counts_on_disk_give_the_same_answers(model, by, tmp_path, monkeypatch):
    monkeypatch.setattr(collection, "_LARGE", 0)
    (tmp_path / "texts.csv").write_text("\n".join(["text", *(text or '""' for text in TEXTS)]))
    large = TopicModel(3).fit(read_texts(tmp_path / "texts.csv", "text"))
    assert large.collection.folder is not None
    assert large.search("parcel courier", by=by) == model.search("parcel courier", by=by)


@pytest.mark.parametrize("query", HOSTILE)
def test_any_query_has_an_answer(model, query):
    for by in WAYS:
        model.search(query, by=by)
    model.expand(query)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: m.search(7), "text must be a string, got int"),
        (lambda m: m.search("parcel", 0), "'top' of TopicModel"),
        (lambda m: m.search("parcel", by="luck"), "'by' of TopicModel must be one of 'vectors'.*'luck'"),
        (lambda m: m.expand(None), "text must be a string, got NoneType"),
        (lambda m: m.expand("parcel", 1.5), "'top' of TopicModel"),
    ],
)
def test_what_is_wrong_is_said(model, call, said):
    with pytest.raises(InputError, match=said):
        call(model)


def test_a_loaded_model_has_no_texts_to_search_but_expands(model, tmp_path):
    model.save(tmp_path / "model", texts=False)
    loaded = TopicModel.load(tmp_path / "model")
    with pytest.raises(InputError, match="a search looks among the fitted texts"):
        loaded.search("parcel")
    assert loaded.expand("parcel") == model.expand("parcel")


# --- expansion


def slow_expansion(model, text):
    """Weights of all terms near to a text, one term and one word at a time."""
    vocabulary, own = model.vectorizer_.vocabulary_, counts(model, text)
    idf = model.state.edited.scorer.method.space.weights
    vectors, wanted = model.state.edited.scorer.method.space.vectors, model.embed([text])[0]
    added = {}
    for term, name in enumerate(vocabulary.display):
        n_texts = vocabulary.document_frequency[term]
        length = math.sqrt(sum(value**2 for value in vectors[term]))
        if term in own or n_texts < 3 or not length:
            continue
        near = float(vectors[term] @ wanted) / length * n_texts / (n_texts + 5)
        telling = max(max(idf[word], 0.1) for word in own)
        said = {word: times * float(vectors[word] @ vectors[term]) for word, times in own.items()}
        brought = {vocabulary.display[word] for word in own if said[word] >= 0.5 * max(said.values())}
        if near >= 0.2:
            added[name] = (0.7 * near * min(1.0, telling / max(idf[term], 0.1)), near, brought)
    return added


@few
@given(query=words)
def test_an_expansion_has_the_terms_nearest_to_the_text(model, query):
    text = " ".join(query)
    added = model.expand(text, 1000)
    expected = slow_expansion(model, text) if counts(model, text) else {}
    assert {one.term: pytest.approx(one.weight, abs=1e-4) for one in added} == {
        term: weight for term, (weight, _, _) in expected.items()
    }
    assert {one.term: set(one.words) for one in added} == {
        term: brought for term, (_, _, brought) in expected.items()
    }
    near = [expected[one.term][1] for one in added]
    np.testing.assert_allclose(near, sorted(near, reverse=True), atol=1e-5)
    assert model.expand(" ".join(reversed(query * 2)), 1000) == added
    assert model.expand(text, 2) == added[:2]


def test_an_expansion_is_of_the_same_subject(model):
    for pool in list(TOPICS.values())[:3]:
        added = [one.term for one in model.expand(f"{pool[0]} {pool[1]}", 3)]
        assert set(added) <= set(pool) - {pool[0], pool[1]}
        assert added


def test_nothing_known_brings_nothing(model):
    assert model.expand("xyzzy plugh") == []
