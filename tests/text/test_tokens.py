from unicodedata import category

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.text.tokens import ASCII_PATTERN, UNICODE_PATTERN, extract, kinds, prepare


def tokens(text):
    return extract(prepare(pl.Series([text]))).to_list()[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I use C++, C# and .NET", ["I", "use", "C++", "C#", "and", ".NET"]),
        ("C++11 in notepad++", ["C++11", "in", "notepad++"]),
        ("node.js, ASP.NET, Vue.Js", ["node.js", "ASP.NET", "Vue.Js"]),
        ("404 not found", ["404", "not", "found"]),
        ("don't, l’eau, O'Brien", ["don't", "l’eau", "O'Brien"]),
        ("é café ÉCOLE", ["é", "café", "ÉCOLE"]),
        ("e-mail, T-shirt, two-factor", ["e-mail", "T-shirt", "two", "factor"]),
        ("order MF-20418, COVID-19, E-17", ["order", "MF-20418", "COVID-19", "E-17"]),
        ("0x80070057 ERR_502", ["0x80070057", "ERR_502"]),
        ("1,000.50 at 12:30, v1.2.3", ["1,000.50", "at", "12:30", "v1.2.3"]),
        ("The U.S.A. and e.g. this", ["The", "U.S.A.", "and", "e.g.", "this"]),
        ("#ClimateChange @joe_b", ["#ClimateChange", "@joe_b"]),
        (
            "see https://a.example/x?y=1&z or www.b.example",
            ["see", "https://a.example/x?y=1&z", "or", "www.b.example"],
        ),
        ("mail a.b+c@d-e.example now", ["mail", "a.b+c@d-e.example", "now"]),
        ("👍🏽 👩‍💻 🇫🇷 1️⃣ ❤️", ["👍🏽", "👩‍💻", "🇫🇷", "1️⃣", "❤️"]),
        ("good👍really", ["good", "👍", "really"]),
        ("broken.Please help", ["broken", "Please", "help"]),
        ("wait...what", ["wait", "what"]),
        ("A股首秀 2D巅峰", ["A", "股首秀", "2D", "巅峰"]),
        ("東京タワーへ 서울 ไทย", ["東京タワーへ", "서울", "ไทย"]),
        ("Добрый день, مرحبا שלום नमस्ते", ["Добрый", "день", "مرحبا", "שלום", "नमस्ते"]),
        ("R&amp;D &lt;b&gt; &#233;", ["R", "D", "b", "é"]),
        ("ﬁne ＦＵＬＬ", ["fine", "FULL"]),
        ("pass\u200bword soft\u00adhyphen \u202eabc", ["password", "softhyphen", "abc"]),
        ("<script>alert('x')</script>", ["script", "alert", "x", "script"]),
        ("#1 priority, # nothing", ["1", "priority", "nothing"]),
        ("", []),
        ("?!... --", []),
        ("a\x00b", ["a", "b"]),
    ],
)
def test_people_write_tokens_like_these(text, expected):
    assert tokens(text) == expected


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
@example("a.b@c.d e.f.g c#d c++ .net.NET x-y 1.2,3:4 #a1 @b http://x")
def test_both_patterns_agree_on_ascii(text):
    one = pl.Series([text])
    assert one.str.extract_all(ASCII_PATTERN).to_list() == one.str.extract_all(UNICODE_PATTERN).to_list()


@pytest.mark.slow
@given(st.lists(st.text(max_size=40), max_size=8))
def test_texts_are_cut_one_by_one(texts):
    together = extract(prepare(pl.Series(texts, dtype=pl.String))).to_list()
    assert together == [tokens(text) for text in texts]


@given(st.text(max_size=60))
def test_no_token_contains_a_space(text):
    # pieces between spaces are cut apart from each other, which needs this
    assert all(" " not in token for token in tokens(text))
    assert tokens(text) == [
        token for piece in prepare(pl.Series([text]))[0].split(" ") for token in tokens(piece)
    ]


@given(st.text(max_size=40))
def test_no_letter_or_digit_is_lost(text):
    kept = "".join(tokens(text))
    written = prepare(pl.Series([text]))[0]
    letters = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"}
    assert not [c for c in written if category(c) in letters and c not in kept]


def test_preparing_leaves_the_given_series_alone():
    texts = pl.Series(["a &amp; b", "é"])
    prepare(texts)
    assert texts.to_list() == ["a &amp; b", "é"]


def test_every_kind_is_recognised():
    seen = kinds(
        pl.Series(["word", "3.5", "#a", "@a", "http://a", "a@b.c", "👍", "漢字", "C#", ".NET", "404a"])
    )
    assert seen.to_list() == [
        "word", "number", "hashtag", "mention", "url", "email", "emoji", "unspaced", "word", "word", "word",
    ]  # fmt: skip
