"""Own embeddings: given with the texts or by an encoder, in the fit, for new texts, and after a load."""

import json
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import TOPICS, corpora, planted_texts

from contract import same_topics
from coterie import Coterie, TopicModel
from coterie.embeddings.named import encoder
from coterie.errors import InputError
from coterie.storage.state import write_state
from coterie.topics.state import pack
from coterie.topics.vectors import folded
from golden import make as golden
from tiny_encoder import write_model

TEXTS, TRUTH = planted_texts(90, 3, noise=1)
NEW, _ = planted_texts(12, 3, seed=5)
GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("encoder-*"))


def encode(texts):
    """An encoder that knows the subjects, and a little about each text."""
    pools = list(TOPICS.values())[:3]
    subject = [[sum(word in pool for word in text.split()) for pool in pools] for text in texts]
    return np.array(subject, dtype=float) + [[0.01, 0.02 + 0.001 * len(text), 0.03] for text in texts]


def other(texts):
    return encode(texts)[:, ::-1]


def wide(texts):
    return np.hstack([encode(texts), encode(texts)])


@pytest.fixture(scope="module")
def model():
    return TopicModel(3).fit(TEXTS, embeddings=encode(TEXTS))


def answers(model, texts, embeddings=None):
    found = model.assign(texts, embeddings=embeddings)
    return list(
        zip(
            found.topic.tolist(), np.round(found.confidence, 9).tolist(), map(str, found.reasons), strict=True
        )
    )


# --- given with the texts


def test_embeddings_of_the_texts_give_the_topics_that_the_encoder_gives(model):
    by_encoder = TopicModel(3, embeddings=encode).fit(TEXTS)
    assert same_topics(model.labels_, TRUTH)
    np.testing.assert_array_equal(model.labels_, by_encoder.labels_)
    assert model.topics == by_encoder.topics
    assert answers(model, NEW, encode(NEW)) == answers(by_encoder, NEW)
    assert model.embeddings_ == "given"
    assert "embeddings count for" in model.decision_


def test_topics_are_those_of_coterie_with_the_same_embeddings(model):
    X = model.vectorizer_.transform(TEXTS)
    alone = Coterie(3, embeddings=encode(TEXTS)).fit(X)
    assert same_topics(model.labels_, alone.labels_)
    assert alone.share_ == pytest.approx(model.fitted.scorer.method.last.share_)


def test_every_question_takes_embeddings(model):
    E = encode(NEW)
    np.testing.assert_array_equal(model.predict(NEW, embeddings=E), model.assign(NEW, embeddings=E).topic)
    assert model.predict(NEW, embeddings=E, min_confidence=1.0).max() == -1
    np.testing.assert_allclose(model.transform(NEW, embeddings=E).sum(axis=1), 1)
    vectors = model.embed(NEW, embeddings=pl.Series(E.tolist()))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    near = model.similar(NEW[0], 3, embeddings=E[:1])
    assert [TRUTH[found.row] for found in near] == [0, 0, 0]
    fresh = TopicModel(3)
    np.testing.assert_array_equal(fresh.fit_predict(TEXTS, embeddings=encode(TEXTS)), model.labels_)
    shares = fresh.fit_transform(TEXTS, embeddings=encode(TEXTS))
    np.testing.assert_array_equal(shares, model.transform(TEXTS, embeddings=encode(TEXTS)))


def test_a_batch_gets_the_answers_of_single_texts(model):
    E = encode(NEW)
    assert answers(model, NEW, E) == [
        answers(model, [text], row[None])[0] for text, row in zip(NEW, E, strict=True)
    ]
    assert answers(model, [], np.zeros((0, 3))) == []


def test_texts_come_in_batches_with_their_rows(model, monkeypatch):
    from coterie.topics import model as module

    whole = answers(model, NEW, encode(NEW))
    monkeypatch.setattr(module, "BATCH", 5)
    assert answers(model, NEW, encode(NEW)) == whole
    for number in (4, 11, 13):
        with pytest.raises(InputError, match=f"one row for each text, got {number} rows for"):
            model.assign(NEW, embeddings=encode([*NEW, NEW[0]])[:number])


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(data):
    texts = data.draw(corpora(least=8))
    numbers = st.integers(-8, 8).map(lambda n: n / 7)
    rows = data.draw(
        st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=len(texts), max_size=len(texts))
    )
    E = np.array(rows)
    order = np.array(data.draw(st.permutations(range(len(texts)))))
    one = TopicModel(2).fit(texts, embeddings=E)
    again = TopicModel(2).fit([texts[at] for at in order], embeddings=E[order])
    np.testing.assert_array_equal(again.labels_, one.labels_[order])
    assert [(t.terms, t.size) for t in again.topics] == [(t.terms, t.size) for t in one.topics]


@given(st.data())
def test_copies_share_the_mean_of_their_vectors_in_any_order(data):
    rows = np.array(data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=12)))
    rows = np.unique(rows, return_inverse=True)[1]
    floats = st.floats(-1e6, 1e6, width=32)
    vectors = np.array(
        data.draw(st.lists(st.lists(floats, min_size=2, max_size=2), min_size=len(rows), max_size=len(rows))),
        dtype=np.float32,
    )
    means = folded(vectors, rows, rows.max() + 1)
    for row in range(rows.max() + 1):
        expected = vectors[rows == row].mean(axis=0, dtype=np.float64)
        np.testing.assert_allclose(means[row], expected, rtol=1e-5, atol=1e-3)
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    np.testing.assert_array_equal(folded(vectors[order], rows[order], rows.max() + 1), means)


def test_the_mean_is_the_same_where_the_order_of_a_sum_matters():
    vectors = np.array([[1e20], [1.0], [-1e20], [1e-3]], dtype=np.float32)
    rows = np.zeros(4, dtype=np.int64)
    assert len({folded(vectors[list(order)], rows, 1).item() for order in permutations(range(4))}) == 1


def test_a_copy_keeps_the_very_vector_of_the_others():
    vectors = np.array([[0.1, 0.2], [0.3, 0.4]], dtype=np.float32)[[0, 1, 0, 0]]
    np.testing.assert_array_equal(folded(vectors, np.array([1, 0, 1, 1]), 2), vectors[[1, 0]])


@pytest.mark.parametrize("empty", ["", "n/a", "submarine", "!!!"])
def test_a_text_without_a_known_word_has_no_topic_whatever_its_vector(empty):
    texts, E = [empty, *TEXTS], encode([TEXTS[0], *TEXTS])
    model = TopicModel(3).fit(texts, embeddings=E)
    assert model.labels_[0] == -1
    assert model.labels_[1] >= 0
    answer = model.assign([empty], embeddings=E[:1])[0]
    assert answer.topic is None
    assert answer.reason.note == "no known word"
    assert TopicModel(3, embeddings=encode).fit(texts).labels_[0] == -1


def test_edits_work_as_with_any_model():
    model = TopicModel(3).fit(TEXTS, embeddings=encode(TEXTS))
    before = model.labels_
    model.edits.split(0, 2).merge(1, 2).ban("parcel").rename(0, "first")
    assert len(set(model.labels_.tolist())) == 3
    model.edits.undo(4)
    np.testing.assert_array_equal(model.labels_, before)


def test_embeddings_that_say_nothing_are_not_needed_afterwards():
    E = np.random.default_rng(0).standard_normal((len(TEXTS), 3))
    model = TopicModel(3).fit(TEXTS, embeddings=np.ones_like(E))
    assert model.embeddings_ is None
    np.testing.assert_array_equal(model.predict(NEW), model.predict(NEW, embeddings=E[: len(NEW)]))


# --- what is wrong


@pytest.mark.parametrize(
    ("embeddings", "message"),
    [
        (np.ones((89, 3)), "one row for each of the 90 texts, got 89 rows"),
        (np.ones(90), r"got an array of shape \(90,\)"),
        (np.full((90, 2), np.nan), "NaN or infinity in row 0"),
        (encode, "must be an array with one row for each"),
        ("static", "must be an array with one row for each"),
    ],
)
def test_wrong_embeddings_of_the_fit_are_told(embeddings, message):
    with pytest.raises(InputError, match=message):
        TopicModel(3).fit(TEXTS, embeddings=embeddings)


def test_wrong_embeddings_of_new_texts_are_told(model):
    for embeddings, message in [
        (encode(NEW)[:5], "got 5 rows for 12 or more texts"),
        (encode([*NEW, *NEW]), "got 24 rows for 12 texts"),
        (wide(NEW), "3 columns as in the fit, got 6"),
        (encode, "must be an array"),
        (None, r"needs those of new texts, too; pass embeddings=E with one row for each text"),
    ]:
        with pytest.raises(InputError, match=message):
            model.assign(NEW, embeddings=embeddings)
    with pytest.raises(InputError, match="fitted without embeddings"):
        TopicModel(3).fit(TEXTS).predict(NEW, embeddings=encode(NEW))


def test_where_embeddings_belong_is_told():
    with pytest.raises(InputError, match=r"go with them: TopicModel\(\).fit\(texts, embeddings=E\)"):
        TopicModel(3, embeddings=encode(TEXTS)).fit(TEXTS)
    with pytest.raises(InputError, match="embeddings='given' needs the embeddings of the texts"):
        TopicModel(3, embeddings="given").fit(TEXTS)
    with pytest.raises(InputError, match="embeddings need the method 'coterie'"):
        TopicModel(3, method="nmf").fit(TEXTS, embeddings=encode(TEXTS))
    assert TopicModel(3, embeddings="given").fit(TEXTS, embeddings=encode(TEXTS)).embeddings_ == "given"


def test_vectors_made_before_stand_in_for_those_of_the_encoder():
    asked = []

    def counting(texts):
        asked.extend(texts)
        return encode(texts)

    model = TopicModel(3, embeddings=counting).fit(TEXTS, embeddings=encode(TEXTS))
    assert not set(asked) & set(TEXTS)
    assert answers(model, NEW) == answers(model, NEW, encode(NEW))
    assert set(NEW) <= set(asked)
    with pytest.raises(InputError, match="6 columns, but the encoder of the model gives vectors of 3"):
        TopicModel(3, embeddings=encode).fit(TEXTS, embeddings=wide(TEXTS))


# --- saved and loaded


@pytest.mark.parametrize("source", [None, encode])
def test_a_model_is_saved_without_its_encoder_and_takes_it_back(tmp_path, source):
    model = TopicModel(3, embeddings=source).fit(TEXTS, embeddings=encode(TEXTS))
    expected = answers(model, NEW, encode(NEW))
    model.save(tmp_path / "model")
    bare = TopicModel.load(tmp_path / "model")
    assert bare.topics == model.topics
    assert bare.embeddings_ == "given"
    assert answers(bare, NEW, encode(NEW)) == expected
    with pytest.raises(InputError, match=r"TopicModel\.load\(folder, embeddings=encoder\)"):
        bare.predict(NEW)
    bare.save(tmp_path / "again")  # without the encoder, which is still recognised later
    for folder in ("model", "again"):
        loaded = TopicModel.load(tmp_path / folder, embeddings=encode)
        assert answers(loaded, NEW) == expected
        with pytest.raises(
            InputError, match="vectors of 6 numbers, but the model was fitted with vectors of 3"
        ):
            TopicModel.load(tmp_path / folder, embeddings=wide)
        with pytest.raises(InputError, match="an array goes with its texts"):
            TopicModel.load(tmp_path / folder, embeddings=encode(NEW))
        if source is not None:
            with pytest.raises(InputError, match="the encoder gives other vectors"):
                TopicModel.load(tmp_path / folder, embeddings=other)


@pytest.mark.parametrize(
    "change",
    [
        {"probe": np.ones((3, 3))},
        {"probe": np.ones((4, 5))},
        {"probe": np.full((4, 3), np.nan)},
        {"probe": "x"},
        {"parameters": "glove"},
        {"parameters": 3},
        {"estimator": "glove"},
        {"estimator": None},
        {"estimator": ["static"]},
    ],
)
def test_a_forged_model_is_refused_in_a_sentence(tmp_path, change):
    state = pack(TopicModel(3, embeddings=encode).fit(TEXTS))
    ((part, value),) = change.items()
    if part == "probe":
        state["probe"] = value
    else:
        (state["parameters"] if part == "parameters" else state["estimator"]["settings"])["embeddings"] = (
            value
        )
    write_state(tmp_path / "model", "model", state)
    with pytest.raises(InputError, match="is inconsistent"):
        TopicModel.load(tmp_path / "model")


def test_a_model_without_embeddings_takes_no_encoder(tmp_path):
    TopicModel(3).fit(TEXTS).save(tmp_path / "model")
    with pytest.raises(InputError, match="fitted without embeddings"):
        TopicModel.load(tmp_path / "model", embeddings=encode)


def test_a_model_with_an_encoder_is_fitted_again_only_with_embeddings(tmp_path):
    TopicModel(3, embeddings=encode).fit(TEXTS).save(tmp_path / "model")
    bare = TopicModel.load(tmp_path / "model")
    with pytest.raises(InputError, match="embeddings='given' needs the embeddings"):
        bare.fit(TEXTS)
    assert TopicModel.load(tmp_path / "model", embeddings=encode).fit(TEXTS).embeddings_ is encode


def test_a_model_with_a_name_brings_its_encoder_along(tmp_path, monkeypatch):
    name = write_model(tmp_path / "tiny", TOPICS.values())
    model = TopicModel(3, embeddings=name).fit(TEXTS)
    assert same_topics(model.labels_, TRUTH)
    assert model.embeddings_ == name
    model.save(tmp_path / "model")
    assert answers(TopicModel.load(tmp_path / "model"), NEW) == answers(model, NEW)
    encoder.cache_clear()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "model2vec", None)
        bare = TopicModel.load(tmp_path / "model")  # topics need no encoder
        assert bare.topics == model.topics
        with pytest.raises(InputError, match='pip install "model2vec"'):
            bare.predict(NEW)
    encoder.cache_clear()
    write_model(tmp_path / "tiny", TOPICS.values(), seed=1)  # another model in the same place
    with pytest.raises(InputError, match="gives other vectors than the encoder"):
        TopicModel.load(tmp_path / "model").predict(NEW)
    encoder.cache_clear()


def test_a_file_cannot_make_sentence_transformers_run_the_code_of_a_folder(tmp_path, monkeypatch):
    library = type(sys)("sentence_transformers")
    loaded = []

    class SentenceTransformer:
        def __init__(self, name, **_):
            loaded.append(name)

        def encode(self, texts, **_):
            return encode(texts)

    library.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    (tmp_path / "encoder").mkdir()
    name = f"sentence-transformers:{tmp_path / 'encoder'}"
    encoder.cache_clear()
    try:
        model = TopicModel(3, embeddings=name).fit(TEXTS)
        model.save(tmp_path / "model")
        encoder.cache_clear()
        loaded.clear()
        bare = TopicModel.load(tmp_path / "model")
        with pytest.raises(InputError, match="may contain code; if you trust it"):
            bare.predict(NEW)
        assert not loaded
        assert answers(TopicModel.load(tmp_path / "model", embeddings=name), NEW) == answers(model, NEW)
    finally:
        encoder.cache_clear()


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_a_model_of_an_older_version_answers_as_it_did(folder):
    expected = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    loaded = TopicModel.load(folder, embeddings=golden.encode)
    assert golden.answers(loaded) == expected
