"""Texts of every kind and at the edge of sense, and TopicModel as a scikit-learn estimator."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from topic_texts import HOSTILE, answers, planted_texts, shown

from contract import same_topics, skip_without_tomotopy
from coterie import TopicModel, Vectorizer, methods
from coterie.errors import InputError
from coterie.results import NO_KNOWN_WORD
from coterie.text import read_texts
from coterie.topics import collection

TEXTS, TRUTH = planted_texts(45, 3, words=3, noise=1)
TEXTS = [*TEXTS, "", "xyzzy", TEXTS[0]]


@pytest.fixture(scope="module")
def model():
    return TopicModel(n_topics=3).fit(TEXTS)


KINDS = {
    "tuple": tuple,
    "generator": iter,
    "numpy": np.array,
    "numpy objects": lambda texts: np.array(texts, dtype=object),
    "pandas": pd.Series,
    "pandas table": lambda texts: pd.DataFrame({"subject": texts}),
    "polars": pl.Series,
    "polars table": lambda texts: pl.DataFrame({"subject": texts}),
    "arrow": lambda texts: pl.Series(texts).to_arrow(),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_any_kind_give_the_same_topics(model, kind):
    again = TopicModel(n_topics=3).fit(KINDS[kind](TEXTS))
    assert shown(again) == shown(model)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert answers(again, KINDS[kind](TEXTS)) == answers(model, TEXTS)


def test_missing_texts_are_empty_ones(model):
    again = TopicModel(n_topics=3).fit([None if text == "" else text for text in TEXTS])
    assert shown(again) == shown(model)
    assert again.assign([None, float("nan")])[1].reason.note == NO_KNOWN_WORD


def test_tokenised_texts_are_taken_as_they_are():
    lists = [text.split() for text in TEXTS]
    model = TopicModel(n_topics=3).fit(lists)
    np.testing.assert_array_equal(model.predict(lists), model.labels_)
    assert same_topics(model.labels_[:45], TRUTH)
    assert (
        model.assign([["Parcel"]])[0].reason.note == NO_KNOWN_WORD
    )  # verbatim: with a capital it is another
    assert model.assign([["parcel"]])[0].reason.words == ("parcel",)
    assert model.assign([lists[3]])[0] == model.assign(lists)[3]
    assert set(model.topics[0].examples) <= set(TEXTS)


def write_csv(path):
    pl.DataFrame({"id": range(len(TEXTS)), "subject": TEXTS}).write_csv(path)


def write_jsonl(path):
    path.write_text("\n".join(json.dumps({"subject": text}) for text in TEXTS))


def write_parquet(path):
    pl.DataFrame({"subject": TEXTS, "id": range(len(TEXTS))}).write_parquet(path)


@pytest.mark.slow
@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize(("write", "batch_rows"), [(write_csv, 7), (write_jsonl, 20_000), (write_parquet, 7)])
def test_a_file_gives_the_topics_of_its_texts(model, tmp_path, monkeypatch, write, batch_rows, large):
    if large:  # its counts then lie on disk
        monkeypatch.setattr(collection, "_LARGE", 0)
    path = tmp_path / f"texts.{write.__name__[6:]}"
    write(path)
    again = TopicModel(n_topics=3).fit(read_texts(path, "subject", batch_rows=batch_rows))
    assert shown(again) == shown(model)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    if not large:
        return
    again.edits.pin(TEXTS[0], int(again.topics[-1].id)).merge(0, 1)
    also = TopicModel(n_topics=3).fit(TEXTS)
    also.edits.pin(TEXTS[0], int(also.topics[-1].id)).merge(0, 1)
    assert shown(again) == shown(also)
    assert again.similar("parcel", 3) == also.similar("parcel", 3)


@pytest.mark.slow
@pytest.mark.parametrize("method", methods.names())
def test_every_method_learns_from_a_large_file(tmp_path, monkeypatch, method):
    skip_without_tomotopy(method)
    path = tmp_path / "texts.csv"
    write_csv(path)
    small, large = (TopicModel(n_topics=3, method=method) for _ in range(2))
    small.fit(read_texts(path, "subject"))
    monkeypatch.setattr(collection, "_LARGE", 0)
    large.fit(read_texts(path, "subject"))
    assert not large.collection.corpus.engine.in_memory
    assert shown(large) == shown(small)


@pytest.mark.slow
def test_a_file_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(collection, "_LARGE", 0)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    path = tmp_path / "texts.csv"
    write_csv(path)
    model = TopicModel(n_topics=3).fit(read_texts(path, "subject"))
    assert list(scratch.iterdir())
    del model
    assert not list(scratch.iterdir())
    (tmp_path / "empty.csv").write_text("subject\nthe\nof\n")
    with pytest.raises(InputError, match="no usable words"):
        TopicModel(n_topics=3).fit(read_texts(tmp_path / "empty.csv", "subject"))
    assert not list(scratch.iterdir())


# --- few texts


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "no texts"),
        ([""], "no usable words in 1 texts"),
        (["", " ", None], "no usable words in 3 texts"),
        (["the and of", "of the"], "no usable words in 2 texts"),
        (["https://a.example", "a@b.example"], "no usable words"),
        ("parcel van", "put it in a list"),
        (None, "NoneType"),
        (7, "int"),
        ({"parcel", "van"}, "set"),
        ([["a"], "b"], "text"),
        (["\ud800"], "half a character"),
    ],
)
def test_what_holds_no_topic_is_told_in_one_sentence(texts, said):
    with pytest.raises(InputError, match=said) as told:
        TopicModel(n_topics=2).fit(texts)
    assert "\n" not in str(told.value)


FEW = {
    "one text": ["kettle broken"],
    "one word": ["kettle"],
    "equal texts": ["kettle broken"] * 5,
    "two texts": ["kettle broken", "parcel late"],
    "two texts that share a word": ["kettle broken", "kettle late"],
    "a word in all texts": ["kettle broken", "kettle late", "kettle broken late", "kettle"],
    "one text and many empty ones": ["kettle broken", "", "", "", ""],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("n_topics", [1, 3])
def test_few_texts_have_topics_too(name, n_topics, tmp_path):
    texts = FEW[name]
    model = TopicModel(n_topics=n_topics).fit(texts)
    assert sum(topic.size for topic in model.topics) == len([text for text in texts if text])
    assert all(topic.size > 0 for topic in model.topics)
    found = model.assign(texts)
    np.testing.assert_array_equal(found.topic, model.labels_)
    assert len(str(model.hierarchy()).splitlines()) == 2 * len(model.topics) - 1
    model.similar(texts[0])
    assert model.by_class(["a"] * len(texts))["texts"].sum() == len([text for text in texts if text])
    model.save(tmp_path / "model", texts=False)
    assert answers(TopicModel.load(tmp_path / "model"), texts) == answers(model, texts)


def test_the_number_of_topics_can_be_left_to_few_texts():
    for texts in FEW.values():
        model = TopicModel().fit(texts)
        assert sum(topic.size for topic in model.topics) == len([text for text in texts if text])


def test_a_word_of_one_text_alone_does_not_count_but_is_no_harm():
    texts = [*TEXTS[:45], "parcel unheard", "unique words only"]
    model = TopicModel(n_topics=3, vectorizer=Vectorizer()).fit(texts)
    found = model.assign(texts)
    np.testing.assert_array_equal(found.topic, model.labels_)
    assert found[45].topic == model.predict(["parcel"])[0]
    assert "parcel" in found[45].reason.words


def test_no_texts_have_no_answers(model):
    found = model.assign([])
    assert len(found) == 0
    assert found.frame().shape == (0, 5)
    assert model.predict([]).shape == (0,)
    assert model.transform([]).shape == (0, 3)
    assert model.embed([]).shape[0] == 0


def test_hostile_texts_are_texts(model):
    found = model.assign([*HOSTILE, "parcel " * 200_000, "p" * 1_000_000])
    assert len(found) == len(HOSTILE) + 2
    assert found[-2].topic == model.predict(["parcel"])[0]
    for texts in ("parcel", 7, ["\ud800"]):
        with pytest.raises(InputError):
            model.assign(texts)


# --- scikit-learn


def test_parameters_come_back():
    vectorizer = Vectorizer(stem=False)
    model = TopicModel(4, method="nmf", language=["german", "english"], vectorizer=vectorizer, random_state=3)
    again = clone(model)
    assert again is not model
    assert again.get_params(deep=False).keys() == {
        "n_topics", "method", "language", "vectorizer", "predefined", "embeddings", "keep_boilerplate",
        "random_state",
    }  # fmt: skip
    assert again.n_topics == 4
    assert again.vectorizer.stem is False
    again.set_params(n_topics=5, vectorizer__min_df=2)
    assert (again.n_topics, again.vectorizer.min_df) == (5, 2)
    assert vectorizer.min_df == 1
    assert "n_topics=4" in repr(model)


def test_fitting_changes_no_parameter():
    vectorizer = Vectorizer(min_df=2)
    model = TopicModel(3, vectorizer=vectorizer, predefined={"Post": ["parcel"]}).fit(TEXTS)
    assert model.vectorizer is vectorizer
    assert not hasattr(vectorizer, "vocabulary_")
    assert shown(clone(model).fit(TEXTS)) == shown(model)


def test_the_vectorizer_decides_what_a_word_is():
    model = TopicModel(3, vectorizer=Vectorizer(extra_stop_words=["parcel"])).fit(TEXTS)
    assert "parcel" not in {term for topic in model.topics for term in topic.terms}
    assert model.assign(["parcel"])[0].reason.note == NO_KNOWN_WORD
    german = TopicModel(1, language="german").fit(["der Hund", "die Katze und der Hund", "die Katze"])
    assert set(german.topics[0].terms) == {"hund", "katze"}


def test_in_a_pipeline(model):
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = make_pipeline(lower, TopicModel(n_topics=3))
    np.testing.assert_array_equal(pipeline.fit_predict(TEXTS), model.labels_)
    np.testing.assert_array_equal(pipeline.predict([text.upper() for text in TEXTS[:5]]), model.labels_[:5])
    shares = Pipeline([("topics", TopicModel(n_topics=3))]).fit_transform(TEXTS)
    np.testing.assert_array_equal(shares, model.transform(TEXTS))


@pytest.mark.parametrize(
    "ask", ["assign", "predict", "transform", "embed", "similar", "by_class", "over_time", "save"]
)
def test_before_a_fit_there_is_nothing_to_ask(ask, tmp_path):
    with pytest.raises(NotFittedError):
        getattr(TopicModel(), ask)(tmp_path / "model" if ask == "save" else ["2024-05-01"])
    with pytest.raises(NotFittedError):
        _ = TopicModel().topics


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_topics": 0},
        {"n_topics": -1},
        {"n_topics": 2.5},
        {"n_topics": "many"},
        {"n_topics": True},
        {"method": "k-menas"},
        {"method": 7},
        {"method": "nmf", "n_topics": 0},
        {"language": "klingon"},
        {"embeddings": 7},
        {"embeddings": "other"},
        {"method": "nmf", "embeddings": "static"},
        {"method": "nmf", "predefined": {"Post": ["parcel"]}},
    ],
)
def test_wrong_parameters_are_told(wrong):
    with pytest.raises(InputError):
        TopicModel(**{"n_topics": 3, **wrong}).fit(TEXTS)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = TopicModel(n_topics=3).fit(TEXTS)
    before, said = shown(model), answers(model, TEXTS)
    with pytest.raises(InputError):
        model.fit(["the"])
    assert shown(model) == before
    assert answers(model, TEXTS) == said


# --- vectors from elsewhere


def vectors(texts):
    """A model that knows the truth: one axis for each planted topic."""
    from topic_texts import TOPICS

    pools = list(TOPICS.values())[:3]
    return np.array([[sum(w in pool for w in text.split()) + 0.01 for pool in pools] for text in texts])


def test_vectors_keep_the_promises():
    texts = [*TEXTS, "parcel, van", "parcel van!"]
    model = TopicModel(n_topics=3, embeddings=vectors).fit(texts)
    assert same_topics(model.labels_[:45], TRUTH)
    np.testing.assert_array_equal(model.predict(texts), model.labels_)
    assert answers(model, texts[4:6]) == answers(model, texts)[4:6]
    again = TopicModel(n_topics=3, embeddings=vectors).fit(texts[::-1])
    np.testing.assert_array_equal(again.labels_[::-1], model.labels_)
    assert again.topics == model.topics
