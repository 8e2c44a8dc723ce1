import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.text import languages, unspaced
from coterie.text.analyzer import LEFT_OUT, Analyzer


def terms(text, **options):
    analyzer = Analyzer(**options)
    forms = analyzer.cut(pl.Series([text])).explode(empty_as_null=False)
    return [term for term in analyzer.terms(forms)["term"] if term is not None]


def test_hashtags_are_kept_and_split():
    assert terms("#ClimateChange", stem=False) == ["#climatechange", "climate", "change"]
    assert terms("#NASALaunch2024", stem=False) == ["#nasalaunch2024", "nasa", "launch", "2024"]
    assert terms("#ÉcoleOuverte", stem=False) == ["#écoleouverte", "école", "ouverte"]
    assert terms("#气候Change", segmenter="bigrams", stem=False) == ["#气候change", "气候", "change"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("url", "http://a.example"), ("email", "a@b.example"), ("mention", "@anna"), ("number", "12.5"),
        ("hashtag", "#tag"), ("emoji", "👍"), ("unspaced", "漢字"),
    ],
)  # fmt: skip
def test_each_kind_can_be_dropped(kind, text):
    assert terms(f"kettle {text}", drop=()) != ["kettl"]
    assert terms(f"kettle {text}", drop=(kind,)) == ["kettl"]


def test_what_is_dropped_keeps_its_place():
    forms = Analyzer(drop=("url",)).cut(pl.Series(["see http://a.example now"]))
    assert forms.to_list() == [["see", LEFT_OUT, "now"]]


def test_lower_case_respects_unicode():
    assert terms("ÉCOLE", stem=False) == ["école"]
    assert terms("İstanbul ISTANBUL", stem=False) == ["istanbul", "istanbul"]
    assert terms("ΟΔΟΣ", stem=False) == ["οδος"]


def test_variants_of_a_word_are_one_term():
    assert len(set(terms("universities university University's"))) == 1
    assert len(set(terms("e-mail email E-Mail"))) == 1
    assert len(set(terms("U.S.A. USA u.s.a"))) == 1
    assert len(set(terms("👍🏽 👍 👍🏿"))) == 1
    assert len(set(terms("don’t don't", use_stop_words=False))) == 1


def test_names_and_codes_are_not_stemmed():
    assert terms("node.js C++ 404s ERR_502 #things") == [
        "node.js",
        "c++",
        "404s",
        "err_502",
        "#things",
        "thing",
    ]


def test_stop_words_leave_in_every_language_given():
    assert terms("the refund und das Geld", languages=("english", "german"), stem=False) == ["refund", "geld"]
    assert terms("the refund", use_stop_words=False, stem=False) == ["the", "refund"]
    assert terms("the refund Kettle", stop_words=frozenset({"kettle"}), stem=False) == ["refund"]
    assert "system" in terms("the system bill", stem=False)


def test_elided_articles_are_cut_off_in_french_only():
    assert terms("l'école d’accord", languages=("french",), stem=False) == ["école", "accord"]
    assert terms("l'école", languages=("english",), stem=False) == ["l'école"]


def test_every_language_of_either_package_works():
    for language in ("english", "en", "fr", "zh", "arabic", "basque", "japanese", "ko"):
        assert isinstance(terms("kettle broken 404", languages=(language,)), list)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"unknown language 'klingon'; choose one of .*english"):
        Analyzer(languages=("klingon",))
    with pytest.raises(InputError, match=r"drop must contain only word, .*'links'"):
        Analyzer(drop=("links",))


@pytest.mark.slow
@pytest.mark.parametrize("segmenter", ["jieba", "bigrams", "words"])
@given(run=st.text(alphabet="港股缩量回调東京タワーへひらがな々서울ไทย", min_size=1, max_size=20))
def test_no_unspaced_text_is_silently_empty(segmenter, run):
    words = unspaced.split(run, segmenter)
    assert words
    assert set("".join(words)) == set(run)


def test_jieba_finds_words():
    assert unspaced.split("我的包裹在哪里", "jieba") == ["我", "的", "包裹", "在", "哪里"]


def test_segmenter_is_checked():
    with pytest.raises(InputError, match="segmenter must be"):
        unspaced.resolve("mecab", chinese=True)


def test_jieba_is_silent_without_a_cache_folder(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("COTERIE_CACHE", str(tmp_path / "file" / "cache"))
    unspaced._jieba.cache_clear()
    assert unspaced.split("我的包裹在哪里", "jieba") == ["我", "的", "包裹", "在", "哪里"]
    assert caplog.records == []
    unspaced._jieba.cache_clear()


def test_jieba_is_only_loaded_for_chinese():
    assert unspaced.resolve("auto", chinese=False) == "bigrams"
    assert unspaced.resolve("auto", chinese=True) == "jieba"
    assert "包裹" in terms("我的包裹在哪里", languages=("zh",))
    assert terms("包裹在哪", languages=("en",)) == ["包裹", "裹在", "在哪"]


@pytest.mark.slow
@given(
    st.lists(st.text(max_size=30), max_size=6), st.sampled_from([(), ("url", "email"), ("number", "hashtag")])
)
def test_cutting_many_equals_cutting_one(texts, drop):
    analyzer = Analyzer(drop=drop, segmenter="bigrams")
    together = analyzer.cut(pl.Series(texts, dtype=pl.String)).to_list()
    assert together == [analyzer.cut(pl.Series([text])).to_list()[0] for text in texts]


def test_english_list_is_careful():
    english = languages.stop_words("english")
    assert {"the", "don't", "dont", "and"} <= english
    assert not {"bill", "system", "back up", "buy", "computer", "refund"} & english
    assert languages.stop_words("basque") == frozenset()
