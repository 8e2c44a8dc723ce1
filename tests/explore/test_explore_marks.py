"""Marks stand where the words stand, however the text was written."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.corpus import Vectorizer
from coterie.explore.marks import MOST_MARKS, Locator, joined

TEXTS = [
    "Refunds for the refunded kettle",
    "Ｒｅｆｕｎｄ &amp; re\u00adfund ﬁne cafe\u0301s",
    "#OpenData C++ node.js 港股缩量回调 👍🏽 👍",
    "A股 東京タワーへ 한국어입니다 한국어 ｶﾞｷﾞ",
    "½ cup foo&#769;bar http://x.example/a?b a&lt;b refund\nkettle\trefund",
    "İstanbul e-mail U.S. the company's don't",
    "\u200bhidden\u200e re\u200bfund naı\u0308ve 👩‍👩‍👧 refund，kettle！",
]
PIECES = st.sampled_from(
    [
        *(word for text in TEXTS for word in text.split()),
        " ", "  ", "\n", "\t", ",", "（", "）", "&", "&amp;", "&#x301;", "\u0301", "\u200b", "ﬁ", "Ａ", "ß", "é",
        "e", "港股", "缩", "か\u3099", "\u1112\u1161\u11ab", "👍", "\U0001f3fd", "\u200d", "#", "@", "refund", "<b>",
    ]
)  # fmt: skip


@pytest.fixture(scope="module", params=["words", "whitespace"])
def vectorizer(request):
    return Vectorizer(tokenizer=request.param).fit(TEXTS * 2)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=40))
def test_what_is_marked_is_the_term(vectorizer, text):
    words = Locator(vectorizer).locate([text])[0]
    for word in words:
        assert 0 <= word.start < word.end <= len(text)
        # read by itself, what is marked has the term in it
        alone = [found.term for found in Locator(vectorizer).locate([text[word.start : word.end]])[0]]
        assert word.term in alone
    # and every known word of the text is marked
    counted = sorted(column for column in vectorizer.sequences([text]).ids.tolist() if column >= 0)
    assert sorted(word.column for word in words if word.column >= 0) == counted


def test_inflected_words_are_marked_as_written():
    locator = Locator(Vectorizer().fit(TEXTS * 2))
    located = dict(zip(TEXTS, locator.locate(TEXTS), strict=True))
    found = {text: [text[w.start : w.end] for w in words] for text, words in located.items()}
    assert found[TEXTS[0]] == ["Refunds", "refunded", "kettle"]
    assert found[TEXTS[1]] == ["Ｒｅｆｕｎｄ", "re\u00adfund", "ﬁne", "cafe\u0301s"]
    assert found[TEXTS[2]][-2:] == ["👍🏽", "👍"]
    assert found[TEXTS[2]][5:10] == ["港股", "股缩", "缩量", "量回", "回调"]
    assert found[TEXTS[6]][:2] == ["hidden", "re\u200bfund"]


def test_runs_of_words_are_known_by_their_words():
    vectorizer = Vectorizer(ngrams=3, min_df=2).fit(["big red kettle boils", "big red kettle cools"] * 2)
    terms = vectorizer.vocabulary_.terms
    locator = Locator(vectorizer)
    for column, term in enumerate(terms):
        assert " ".join(terms[word] for word in locator.sequence(column)) == term
    assert any(term.count(" ") == 2 for term in terms)


def test_tokens_are_found_where_they_are_shown():
    texts = [["late parcel", "x", "late parcel"], ["x", "y"]]
    locator = Locator(Vectorizer().fit(texts * 2))
    shown = " ".join(texts[0])
    words = locator.locate_tokens(texts)[0]
    assert [shown[w.start : w.end] for w in words] == texts[0]
    assert all(w.column >= 0 for w in words)


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 8), st.sampled_from(["word", "query", "related"])),
        max_size=9,
    )
)
def test_marks_do_not_overlap_and_queries_come_first(drawn):
    marks = [(start, start + length, kind) for start, length, kind in drawn]
    found = joined(iter(marks))
    assert found == sorted(found)
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    covered = {at for start, end, kind in found if kind == "query" for at in range(start, end)}
    assert covered == {at for start, end, kind in marks if kind == "query" for at in range(start, end)}
    assert {kind for *_, kind in found} <= {kind for *_, kind in marks}


def test_a_word_of_100_kB_is_one_mark():
    word = "q" * 100_000
    locator = Locator(Vectorizer().fit([f"{word} tea", f"{word} milk"]))
    assert [(w.start, w.end) for w in locator.locate([f"a {word} b"])[0] if w.column >= 0] == [(2, 100_002)]


def test_marks_of_a_long_text_take_no_longer_than_it_is():
    def seconds(n):
        words = [(7 * at, 7 * at + 6, "word") for at in range(n)]
        begun = time.process_time()
        assert len(joined([*words, (7 * n, 7 * n + 6, "query")])) == MOST_MARKS
        return time.process_time() - begun

    seconds(1000)
    assert seconds(100_000) < 5  # each against all others would take half an hour


def test_of_too_many_marks_those_that_were_asked_for_are_kept():
    words = [(2 * at, 2 * at + 1, "word") for at in range(50)]
    query = [(200 + 2 * at, 201 + 2 * at, "query") for at in range(4)]
    assert joined([*words, *query], most=6) == [*words[:2], *query]
    assert joined([*words, *query], most=3) == query[:3]


def test_a_misspelt_word_is_marked_as_what_it_stands_for():
    vectorizer = Vectorizer(min_df=2, fix_typos=True).fit(["it did arrive"] * 5 + ["it arived"])
    locator = Locator(vectorizer)
    (words,) = locator.locate(["why did it arive so late"])
    column = vectorizer.vocabulary_.index["arriv"]
    assert [(w.start, w.end) for w in words if w.column == column] == [(11, 16)]
    assert locator.columns(["arrive", "late"]) == [column, -1]
