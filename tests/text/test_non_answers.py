"""Texts that are no answer count as empty, whatever their language, and stay what they are otherwise."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import TopicModel, Vectorizer
from coterie.text.non_answers import non_answers


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "N/A"), ("english", "n.a."), ("english", " none. "), ("english", "Don't know"),
        ("english", "I don’t know!"), ("english", "TEST"), ("english", "."), ("english", "-- ?"),
        ("german", "k.A."), ("german", "weiß nicht"), ("de", "Keine Angabe"), ("french", "R.A.S."),
        ("french", "je ne sais pas"), ("spanish", "NS/NC"), ("spanish", "no sé"), ("dutch", "n.v.t."),
        ("italian", "non so"), ("portuguese", "não sei"), ("chinese", "没有"), ("polish", "n/a"),
    ],
)  # fmt: skip
def test_usual_non_answers(language, text):
    assert non_answers(pl.Series([text]), [language]).to_list() == [True]


@pytest.mark.parametrize(
    "text", ["", "  ", "no network", "test results are late", "👍", "no", "yes", "keine"]
)
def test_what_says_something_is_an_answer(text):
    assert non_answers(pl.Series([text]), ["english"]).to_list() == [False]


@given(st.lists(st.text(max_size=20)))
def test_signs_and_case_make_no_difference(texts):
    found = non_answers(pl.Series(texts, dtype=pl.String), ["english"])
    louder = pl.Series([f"  {text.upper()}!" for text in texts], dtype=pl.String)
    for one, other, text in zip(found, non_answers(louder, ["english"]), texts, strict=True):
        assert other or not one
        if not one and text.strip() and text.upper().lower() == text and any(map(str.isalnum, text)):
            assert not other


TEXTS = [
    "parcel late",
    "late parcel lost",
    "refund card",
    "card refund money",
    "n/a",
    "N/A",
    "none",
    "test",
] * 3


def test_they_are_counted_as_empty_but_kept_apart():
    corpus = Vectorizer(skip_non_answers=True).fit_corpus(TEXTS)
    assert corpus.n_non_answers == 12
    assert not set(corpus.vocabulary.display) & {"n/a", "none", "test", "n"}
    counts = corpus.unfolded()
    assert all(counts[row].nnz == 0 for row, text in enumerate(TEXTS) if " " not in text)
    assert corpus.n_distinct == len(set(TEXTS))
    assert "test" in Vectorizer().fit(TEXTS).vocabulary_.display


def test_they_have_no_topic_and_none_moves_with_another():
    model = TopicModel(n_topics=2).fit(TEXTS)
    labels = dict(zip(TEXTS, model.labels_.tolist(), strict=True))
    assert {labels[text] for text in ("n/a", "N/A", "none", "test")} == {-1}
    assert model.predict(["Don't know.", "late parcel"]).tolist() == [-1, labels["parcel late"]]
    model.edits.pin("n/a", 0)
    assert dict(zip(TEXTS, model.labels_.tolist(), strict=True))["none"] == -1
    assert model.predict(["n/a"]).tolist() == [0]
