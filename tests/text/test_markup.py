"""Markup is blanked, and nothing else: positions stay, and what is no markup keeps its words."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.corpus import Vectorizer
from coterie.text.markup import blanked, readable, without_markup


def words(text):
    return blanked(text).replace("\u2060", "").split()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<p>Hello team,</p><br/>my card", ["Hello", "team,", "my", "card"]),
        ("late<br>parcel", ["late", "parcel"]),
        ('<a href="http://x.example/a b">the link</a> fails', ["the", "link", "fails"]),
        ("<style>p { color: red }</style>late", ["late"]),
        ("<script>alert('x')</script> late", ["late"]),
        ("<!-- hidden words -->late", ["late"]),
        ("<DIV CLASS=x>late</DIV>", ["late"]),
        ("<o:p></o:p>late", ["late"]),
        ("&lt;p&gt;late&lt;/p&gt; parcel", ["late", "parcel"]),
        ("&amp;lt;b&amp;gt;late&amp;lt;/b&amp;gt;", ["late"]),
        ("caf&amp;eacute;s&amp;nbsp;closed", ["cafés", "closed"]),
        ("caf&eacute;s&nbsp;closed", ["cafés", "closed"]),
    ],
)
def test_markup_is_blanked(text, left):
    assert words(text) == left
    assert len(blanked(text)) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "I <3 you",
        "x<y",
        "Convert List<String> to Table<T>",
        "IEnumerable<Object> as Option<input>",
        "How do I add a class to the last <li> in a list?",
        "When was <input type=search> introduced",
        "where does <!--more--> go",
        "GENERAL MOTORS <GM> AND <S> SPLIT",
        "remove <br> from a list",
        "R&D, AT&T; Q&A; fish &chips;",
        "mail <ana@example.org> about <http://a.example>",
        "DU PONT <DD>GET TRACTS",
    ],
)
def test_what_is_no_markup_stays(text):
    assert blanked(text) == text
    assert readable(text) == text


@given(st.text(alphabet="<>/!-=\"' abp&ltg;rhmn#3\n", max_size=60))
def test_positions_stay(text):
    assert len(blanked(text)) == len(text)


def test_a_column_is_not_changed_in_place():
    texts = pl.Series(["<b>late</b>", "late"])
    assert without_markup(texts).to_list() == ["   late    ", "late"]
    assert texts.to_list() == ["<b>late</b>", "late"]


def test_readable_is_one_line_and_never_empty():
    assert readable("<p>Caf&eacute;&nbsp;closed</p>\n<p>Why?</p>") == "Café closed Why?"
    assert readable("<br/>") == "<br/>"


def test_hostile_markup_takes_no_time():
    for text in ("<!--" * 200_000, "<p " * 200_000, "</p>" * 100_000, "<b>x</b>" * 30_000, "&amp;" * 200_000):
        assert len(blanked(text)) == len(text)


def test_the_vectorizer_counts_no_markup():
    plain = Vectorizer().fit(["late parcel cafés", "broken kettle"])
    html = Vectorizer().fit(
        ["<p>late&nbsp;parcel</p> caf&amp;eacute;s", "<div class='x'>broken<br>kettle</div>"]
    )
    assert html.vocabulary_.terms == plain.vocabulary_.terms
