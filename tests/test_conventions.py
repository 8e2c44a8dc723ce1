"""What scikit-learn expects of estimators beyond the contract of all methods."""

import random
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from coterie import Coterie, TopicModel, Vectorizer, methods, open_run
from coterie.errors import InputError
from coterie.factor.nystrom import NystromSemantics

SUBJECTS = (
    "parcel late courier driver tracking delivery missing street",
    "refund money card charged invoice twice payment bank",
    "password login account email reset locked code phone",
    "kettle broken lid leaks kitchen warranty spare handle",
)


def tickets(n=200, seed=0):
    draw = random.Random(seed)
    return [" ".join(draw.sample(SUBJECTS[i % 4].split(), 4)) for i in range(n)]


TEXTS = tickets()
COUNTS = Vectorizer().fit_transform(TEXTS)


@pytest.fixture(scope="module")
def model():
    return TopicModel(n_topics=4).fit(TEXTS)


# --- names and tables


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_topic_model_gives_tables_with_names(model, kind):
    tables = clone(model).set_output(transform=kind).fit(TEXTS)
    table = tables.transform(TEXTS[:3])
    assert isinstance(table, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind])
    assert list(table.columns) == ["topic_0", "topic_1", "topic_2", "topic_3"]
    assert np.array_equal(table.to_numpy(), model.transform(TEXTS[:3]))
    assert list(clone(tables).fit_transform(TEXTS).columns) == list(table.columns)


def test_names_are_those_of_topics_after_edits(model):
    edited = TopicModel(n_topics=4).fit(TEXTS)
    edited.edits.merge(0, 1)
    assert edited.get_feature_names_out().tolist() == ["topic_0", "topic_2", "topic_3"]
    assert edited.transform(TEXTS).shape[1] == edited.n_topics_ == len(edited) == 3


def test_a_table_of_pandas_keeps_its_index():
    model = TopicModel(n_topics=4).set_output(transform="pandas")
    table = pd.DataFrame({"subject": TEXTS}, index=range(7, 207))
    assert model.fit_transform(table).index.equals(table.index)
    assert model.transform(table["subject"]).index.equals(table.index)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_vectorizer_gives_tables_of_counts(kind):
    vectorizer = Vectorizer().set_output(transform=kind)
    texts = pd.Series(TEXTS, index=range(7, 207))
    for table in (vectorizer.fit_transform(texts), vectorizer.transform(texts)):
        assert list(table.columns) == vectorizer.get_feature_names_out().tolist()
        assert np.array_equal(table.to_numpy(), COUNTS.toarray())
        if kind == "pandas":
            assert table.index.equals(texts.index)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("name", [*methods.names(), "nystrom alone"])
def test_every_method_gives_tables(name, kind):
    estimator = NystromSemantics() if name == "nystrom alone" else methods.make(name, 4)
    if hasattr(estimator, "steps"):
        estimator = estimator[-1]
    estimator.set_output(transform=kind).fit(COUNTS)
    table = estimator.transform(COUNTS)
    assert isinstance(table, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind])
    assert list(table.columns) == estimator.get_feature_names_out().tolist()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_tables_everywhere_change_no_topic(model, kind):
    with sklearn.config_context(transform_output=kind):
        again = TopicModel(n_topics=4, predefined={"cards": ["card"]}).fit(TEXTS)
        again.edits.ban("driver")
        nystrom = TopicModel(n_topics=4, method="nystrom").fit(TEXTS)
        assert len(set(nystrom.predict(TEXTS).tolist())) == 4
    assert again.n_topics_ == 4


def test_a_model_that_is_not_fitted_has_no_number_of_topics_and_is_true():
    assert not hasattr(TopicModel(), "n_topics_")
    assert TopicModel()
    assert "TopicModel" in repr(TopicModel())


# --- the score


def test_the_score_is_higher_for_the_true_number_of_topics():
    new = tickets(seed=1)
    scores = {n: TopicModel(n_topics=n).fit(TEXTS).score(new) for n in (1, 2, 4)}
    assert scores[1] == pytest.approx(0, abs=1e-3)
    assert scores[1] < scores[2] < scores[4]


def test_the_score_chooses_and_is_cross_validated():
    texts = np.array(TEXTS, dtype=object)
    search = GridSearchCV(TopicModel(), {"n_topics": [2, 4]}, cv=2, error_score="raise").fit(texts)
    assert search.best_params_ == {"n_topics": 4}
    assert cross_val_score(TopicModel(n_topics=4), texts, cv=2).min() > 0
    table = pd.DataFrame({"id": range(len(TEXTS)), "subject": TEXTS})
    assert search.best_estimator_.score(table[["subject"]]) == search.score(texts)


def test_the_score_does_not_depend_on_order_copies_or_texts_without_a_word(model):
    score = model.score(TEXTS)
    assert model.score(TEXTS[::-1]) == pytest.approx(score)
    assert model.score(TEXTS * 3) == pytest.approx(score)
    assert model.score([*TEXTS, "", None, "zzz"]) == pytest.approx(score)
    assert model.score(["", "zzz"]) == 0.0
    shuffled = [" ".join(random.Random(i).sample(text.split(), 4)) for i, text in enumerate(TEXTS)]
    assert model.score(shuffled) == pytest.approx(score)


def test_words_at_random_tell_nothing_about_each_other():
    words = " ".join(SUBJECTS).split()
    texts = [" ".join(random.Random(i).sample(words, 4)) for i in range(300)]
    assert TopicModel(n_topics=8).fit(texts[:200]).score(texts[200:]) < 0.05


def test_the_score_of_words_from_different_topics_is_low(model):
    mixed = [" ".join(a.split()[:2] + b.split()[:2]) for a, b in pairwise(TEXTS)]
    assert model.score(mixed) < model.score(TEXTS)


# --- pipelines


def test_metadata_goes_through_a_pipeline():
    with sklearn.config_context(enable_metadata_routing=True):
        model = TopicModel(n_topics=4).set_fit_request(classes=True, date=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        teams = ["a", "b"] * 100
        pipeline.fit(TEXTS, classes=teams, date=["2025-01-01"] * 200)
        assert pipeline[-1].by_class()["class"].unique().sort().to_list() == ["a", "b"]
        assert len(pipeline[-1].over_time()) == 4


# --- vectorizers of scikit-learn

FOREIGN = {
    "counts": CountVectorizer(),
    "stop words": CountVectorizer(stop_words=["late", "twice"]),
    "phrases": TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_df=0.9),
    "characters": CountVectorizer(analyzer="char_wb", ngram_range=(3, 4)),
    "hashes": HashingVectorizer(),
    "vocabulary": CountVectorizer(vocabulary={word: n for n, word in enumerate(" ".join(SUBJECTS).split()[::2])}),
}  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_vectorizer_of_scikit_learn_counts(kind, tmp_path):
    model = TopicModel(n_topics=4, vectorizer=FOREIGN[kind]).fit(TEXTS)
    assert model.predict(TEXTS).tolist() == model.labels_.tolist()
    terms = set(model.vectorizer_.get_feature_names_out())
    if kind != "hashes":
        own = clone(FOREIGN[kind]).fit(TEXTS)
        used = np.asarray(own.transform(TEXTS).sum(axis=0)).ravel() > 0
        assert terms == set(own.get_feature_names_out()[used])
    model.save(tmp_path / "model", texts=False)
    again = TopicModel.load(tmp_path / "model")
    assert again.assign(TEXTS).frame().equals(model.assign(TEXTS).frame())
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / "state.json").read_bytes() == (
        tmp_path / "model" / "state.json"
    ).read_bytes()
    model.save(tmp_path / "run")
    assert open_run(tmp_path / "run").with_texts().labels_.tolist() == model.labels_.tolist()


def test_the_most_features_are_kept():
    model = TopicModel(n_topics=4, vectorizer=CountVectorizer(max_features=20)).fit(TEXTS)
    assert len(model.vectorizer_.vocabulary_) == 20


def test_counts_are_those_of_scikit_learn():
    foreign = CountVectorizer(ngram_range=(1, 2), min_df=3)
    model = TopicModel(n_topics=4, vectorizer=foreign).fit(TEXTS)
    own = clone(foreign).fit(TEXTS)
    ours = model.vectorizer_.transform(TEXTS).toarray()
    order = [
        list(own.get_feature_names_out()).index(name) for name in model.vectorizer_.get_feature_names_out()
    ]
    assert np.array_equal(ours, own.transform(TEXTS).toarray()[:, order])
    assert not hasattr(foreign, "vocabulary_")  # the one given is not touched


def test_vectorizers_of_scikit_learn_follow_a_search():
    grid = {"vectorizer__min_df": [1, 2]}
    search = GridSearchCV(TopicModel(n_topics=4, vectorizer=CountVectorizer()), grid, cv=2).fit(TEXTS)
    assert search.best_params_["vectorizer__min_df"] in (1, 2)


class Own(CountVectorizer):
    """Somebody's vectorizer."""


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "a function as tokenizer of its vectorizer"),
        (CountVectorizer(analyzer=str.split), "a function as analyzer of its vectorizer"),
        (Own(), "a model with the vectorizer Own cannot be saved"),
    ],
)  # fmt: skip
def test_code_in_a_vectorizer_is_not_saved(vectorizer, message, tmp_path):
    model = TopicModel(n_topics=4, vectorizer=vectorizer).fit(TEXTS)
    assert model.n_topics_ == 4
    with pytest.raises(InputError, match=message):
        model.save(tmp_path / "model")


def test_other_objects_are_no_vectorizers():
    for other in (3, CountVectorizer, Coterie()):
        with pytest.raises(
            InputError, match=r"vectorizer must be a coterie\.Vectorizer, a vectorizer of scikit"
        ):
            TopicModel(vectorizer=other).fit(TEXTS)
