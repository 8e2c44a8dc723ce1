import tempfile
from collections import Counter
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from coterie.corpus import Vectorizer
from coterie.errors import InputError
from coterie.text.analyzer import Analyzer

WORDS = [
    "kettle",
    "Kettles",
    "the",
    "refund",
    "#BigSale",
    "C++",
    "404",
    "don't",
    "é",
    "👍",
    "港股缩量",
    "a@b.example",
    "",
]
texts_of_words = st.lists(st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), max_size=12)


def literally(texts, options):
    """Terms of each text, one text and one token at a time: the meaning the columnar way has to have."""
    analyzer = Analyzer(**options)
    rows = []
    for text in texts:
        forms = analyzer.cut(pl.Series([text])).to_list()[0]
        found = [analyzer.terms(pl.Series([form]))["term"][0] for form in forms]
        rows.append([term for term in found if term is not None])
    return rows


@pytest.mark.slow
@given(texts_of_words, st.booleans())
def test_counts_equal_the_literal_ones(texts, stem):
    vectorizer = Vectorizer(stem=stem, segmenter="bigrams")
    X = vectorizer.fit_transform(texts)
    rows = literally(texts, {"stem": stem, "segmenter": "bigrams"})
    vocabulary = sorted({term for row in rows for term in row})
    assert list(vectorizer.vocabulary_.terms) == vocabulary
    expected = [[Counter(row)[term] for term in vocabulary] for row in rows]
    np.testing.assert_array_equal(X.toarray(), np.array(expected).reshape(X.shape))
    np.testing.assert_array_equal(vectorizer.vocabulary_.count, X.sum(axis=0).A1)
    np.testing.assert_array_equal(vectorizer.vocabulary_.document_frequency, (X > 0).sum(axis=0).A1)


@pytest.mark.slow
@given(texts_of_words, st.integers(1, 3), st.sampled_from([0, 2]), st.integers(1, 2))
def test_transform_equals_fit_transform(texts, ngrams, min_words, min_df):
    vectorizer = Vectorizer(ngrams=ngrams, min_words=min_words, min_df=min_df, segmenter="bigrams")
    X = vectorizer.fit_transform(texts)
    assert (vectorizer.transform(texts) != X).nnz == 0
    for row, text in enumerate(texts):
        assert (vectorizer.transform([text]) != X[row]).nnz == 0


@pytest.mark.slow
@given(texts_of_words, st.randoms(use_true_random=False))
def test_order_of_texts_only_orders_rows(texts, random):
    order = list(range(len(texts)))
    random.shuffle(order)
    one, other = Vectorizer(ngrams=2), Vectorizer(ngrams=2)
    X, Y = one.fit_transform(texts), other.fit_transform([texts[i] for i in order])
    assert one.vocabulary_.frame().equals(other.vocabulary_.frame())
    assert (X[order] != Y).nnz == 0


def test_threads_and_batches_change_nothing(dataset, monkeypatch):
    texts = dataset("searchsnippets").texts[:3000]
    one = Vectorizer(threads=1, ngrams=2, min_df=2)
    X = one.fit_transform(texts)
    from coterie.text import inputs

    monkeypatch.setattr(inputs.text_batches, "__defaults__", (None, 177))
    two = Vectorizer(threads=3, ngrams=2, min_df=2)
    assert (two.fit_transform(texts) != X).nnz == 0
    assert one.vocabulary_.frame().equals(two.vocabulary_.frame())


def test_agrees_with_scikit_learn_where_both_mean_the_same(dataset):
    texts = dataset("agnews").texts  # lower-case words and spaces
    ours = Vectorizer(stem=False, stop_words=None, tokenizer="whitespace")
    theirs = CountVectorizer(tokenizer=str.split, token_pattern=None)
    X, Y = ours.fit_transform(texts), theirs.fit_transform(texts)
    assert list(ours.vocabulary_.terms) == sorted(theirs.vocabulary_)
    assert (Y[:, [theirs.vocabulary_[term] for term in ours.vocabulary_.terms]] != X).nnz == 0


def test_people_see_words_and_not_stems():
    texts = [
        "Universities",
        "universities",
        "the university",
        "NASA",
        "Nasa NASA",
        "iPhones",
        "Kettle",
        "C++",
    ]
    names = Vectorizer().fit(texts).get_feature_names_out()
    assert set(names) == {"universities", "NASA", "iPhones", "kettle", "C++"}


def test_display_forms_differ():
    texts = ["connect connected connection", "connecting connects", "Apple apple apples", "US us u.s."]
    names = Vectorizer(stop_words=None).fit(texts).get_feature_names_out()
    assert len(set(names)) == len(names)


def test_limits_on_document_frequency():
    texts = ["a b c", "a b", "a", "d"]

    def terms(**limits):
        return list(Vectorizer(stop_words=None, **limits).fit(texts).vocabulary_.terms)

    assert terms(min_df=2) == ["a", "b"]
    assert terms(min_df=0.5) == ["a", "b"]
    assert terms(max_df=2) == ["b", "c", "d"]
    assert terms(max_df=0.5) == ["b", "c", "d"]
    assert terms(max_terms=2) == ["a", "b"]
    assert terms(max_terms=3) == ["a", "b", "c"]  # a tie goes to the first in the alphabet
    assert terms(min_df=5) == []


def test_short_texts_keep_an_empty_row():
    X = Vectorizer(stop_words=None, min_words=2).fit_transform(["a", "a b", ""])
    assert X.toarray().tolist() == [[0, 0], [1, 1], [0, 0]]


def test_ngrams_are_runs_of_terms():
    vectorizer = Vectorizer(stem=False, ngrams=3)
    X = vectorizer.fit_transform(["late parcel again", "the late parcel", "parcel late"])
    names = vectorizer.get_feature_names_out().tolist()
    assert names == ["late", "parcel", "late parcel", "parcel late"]  # "again" is a stop word
    assert X[:, names.index("late parcel")].toarray().ravel().tolist() == [1, 1, 0]
    assert X[:, names.index("parcel late")].toarray().ravel().tolist() == [0, 0, 1]


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=6), max_size=8), st.integers(1, 4))
def test_ngrams_equal_the_literal_ones(texts, ngrams):
    vectorizer = Vectorizer(ngrams=ngrams)
    X = vectorizer.fit_transform(texts)
    counts = [
        Counter(" ".join(t[i : i + n]) for n in range(1, ngrams + 1) for i in range(len(t) - n + 1))
        for t in texts
    ]
    assert set(vectorizer.vocabulary_.terms) == {gram for row in counts for gram in row}
    expected = [[row[gram] for gram in vectorizer.vocabulary_.terms] for row in counts]
    np.testing.assert_array_equal(X.toarray(), np.array(expected).reshape(X.shape))


def test_tokenised_texts_are_taken_verbatim():
    vectorizer = Vectorizer()
    X = vectorizer.fit_transform([["The", "the", "New York"], [], ("the",)])
    assert list(vectorizer.vocabulary_.terms) == ["New York", "The", "the"]
    assert X.toarray().tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 1]]


def test_a_tokenizer_of_ones_own():
    vectorizer = Vectorizer(tokenizer=lambda text: text.split("|"), stop_words=None, stem=False)
    assert list(vectorizer.fit(["a|b c", "a"]).vocabulary_.terms) == ["a", "b c"]


@pytest.mark.parametrize(
    "texts", [[], [""], ["", None, float("nan")], ["the and"], ["?!"], pl.Series([], dtype=pl.String)]
)
def test_nothing_to_count_is_no_error(texts):
    vectorizer = Vectorizer()
    X = vectorizer.fit_transform(texts)
    assert X.shape == (len(texts), 0)
    assert vectorizer.transform(["kettle", ""]).shape == (2, 0)
    assert vectorizer.get_feature_names_out().tolist() == []


def test_one_word_one_text_and_all_equal_texts():
    assert Vectorizer().fit_transform(["kettle"]).toarray().tolist() == [[1]]
    assert Vectorizer().fit_transform(["kettle"] * 3).toarray().tolist() == [[1]] * 3


def test_hostile_texts_are_texts():
    texts = ["<script>alert(1)", "=HYPERLINK(1)", "a\x00b", "x" * 1_000_000, "\u202eevil", "😀ok"]
    X = Vectorizer(stop_words=None).fit_transform(texts)
    assert (X.getnnz(axis=1) > 0).all()


def test_sequences_keep_order_and_gaps():
    vectorizer = Vectorizer(stem=False).fit(["late parcel refund"])
    index = vectorizer.vocabulary_.index
    sequences = vectorizer.sequences(["refund the parcel", "", "unknown late"])
    assert sequences.ids.tolist() == [index["refund"], -1, index["parcel"], -1, index["late"]]
    assert sequences.offsets.tolist() == [0, 3, 3, 5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "klingon"}, "unknown language 'klingon'"),
        ({"stop_words": "english"}, "stop_words must be 'auto', None or a list"),
        ({"tokenizer": "nltk"}, "tokenizer must be 'words', 'whitespace' or a function"),
        ({"segmenter": "mecab"}, "segmenter must be"),
        ({"min_df": -1}, "min_df must be"),
        ({"min_df": 1.5}, "min_df must be"),
        ({"max_df": True}, "max_df must be"),
        ({"max_terms": 0}, "max_terms must be"),
        ({"ngrams": 0}, "ngrams must be"),
        ({"threads": 0}, "threads must be"),
    ],
)
def test_wrong_parameters_are_told_at_fit(options, message):
    vectorizer = Vectorizer(**options)  # the constructor only stores
    with pytest.raises(InputError, match=message):
        vectorizer.fit(["漢字 kettle"])


def test_a_string_is_not_a_list_of_texts():
    with pytest.raises(InputError, match="got a single string"):
        Vectorizer().fit("kettle")


def test_works_as_an_estimator():
    vectorizer = clone(Vectorizer(ngrams=2, language=["en", "fr"]))
    assert vectorizer.get_params()["ngrams"] == 2
    model = make_pipeline(vectorizer)
    assert model.fit_transform(["a kettle", "two kettles"]).shape[0] == 2


@pytest.mark.parametrize(
    "check",
    [
        "check_estimator_cloneable", "check_estimator_repr", "check_no_attributes_set_in_init",
        "check_parameters_default_constructible", "check_get_params_invariance", "check_set_params",
        "check_estimator_tags_renamed", "check_valid_tag_types",
    ],
)  # fmt: skip
def test_scikit_learn_contract(check):
    # the other checks feed numbers, and this estimator takes texts
    getattr(estimator_checks, check)("Vectorizer", Vectorizer())


def test_not_fitted_is_told():
    with pytest.raises(NotFittedError):
        Vectorizer().transform(["kettle"])
    with pytest.raises(NotFittedError):
        Vectorizer().get_feature_names_out()


ASKED = st.lists(
    st.lists(st.sampled_from(["How", "do", "I", "the", "pay", "card", "is", "isn't", "?"]), max_size=7).map(
        " ".join
    ),
    max_size=8,
)


@given(ASKED)
def test_stop_words_and_their_pairs_are_counted_literally(texts):
    stop = Analyzer().all_stop_words()
    words = [[w.lower() for w in text.split() if w.lower() in stop] for text in texts]
    pairs = [Counter(pairwise(of)) for of in words]
    df = Counter(pair for of in pairs for pair in of)
    expected = [
        len(of) + sum(n for pair, n in p.items() if df[pair] > 1) for of, p in zip(words, pairs, strict=True)
    ]
    found = Vectorizer().stop_word_counts(texts)
    assert found.sum(axis=1).A1.tolist() == expected
    columns = {word: number for number, word in enumerate(sorted(stop))}
    for row, of in enumerate(words):
        counted = Counter(of)
        for word, column in columns.items():
            if counted[word] or word in ("how", "the"):
                assert found[row, column] == counted[word]
    assert found.shape == (len(texts), len(stop) + sum(n > 1 for n in df.values()))


def test_tokens_and_vectorizers_without_stop_words_have_none_to_count():
    assert Vectorizer().stop_word_counts([["how", "do"], ["how", "do"]]).nnz == 0
    assert Vectorizer(stop_words=None).stop_word_counts(["how do", "how do"]).shape == (2, 0)
    own = Vectorizer(stop_words=["card"]).stop_word_counts(["Card how", "card card"])
    assert own.toarray()[:, 0].tolist() == [1, 2]
    german = Vectorizer(["german", "english"]).stop_word_counts(["wie ist the Karte"])
    assert german.sum() == 3


@given(texts=ASKED, step=st.integers(1, 3), on_disk=st.sampled_from([False, False, False, True]))
def test_a_corpus_counts_the_stop_words_of_its_rows_without_another_look_at_the_texts(texts, step, on_disk):
    vectorizer = Vectorizer()
    with tempfile.TemporaryDirectory() as folder:
        corpus = vectorizer.fit_corpus(texts, folder if on_disk else None)
        first = np.full(corpus.n_distinct, len(texts))
        np.minimum.at(first, corpus.rows, np.arange(len(texts)))
        rows = np.arange(0, corpus.n_distinct, step)
        literal = vectorizer.stop_word_counts([texts[i] for i in first[rows]])
        found = corpus.stop_word_counts(rows)
        assert found.shape == literal.shape
        assert (found != literal).nnz == 0
        for sequences in corpus.sequences():
            assert sequences.ids.min(initial=-1) == -1
