import sys
import warnings

import numpy as np
import pytest

from coterie.embeddings import checked, is_source, static_may_help, vectors_of
from coterie.embeddings.named import encoder
from coterie.errors import InputError

TEXTS = ["the cat sleeps", "", "a dog barks", "the cat sleeps"]


def lengths(texts):
    """Two numbers for each text, as a list of lists."""
    return [[len(text), text.count("a")] for text in texts]


class Encoder:
    def encode(self, texts):
        return np.array(lengths(texts), dtype=np.float64)


class CallableEncoder(Encoder):
    """A model that can be called too, but with something else than texts."""

    def __call__(self, tokens):
        raise AssertionError("encode is what takes texts")


@pytest.mark.parametrize(
    "source", [lengths, Encoder(), CallableEncoder(), lambda texts: np.array(lengths(texts))]
)
def test_functions_and_encoders_give_a_vector_for_each_text(source):
    found = vectors_of(source, TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, lengths(["the cat sleeps", " ", "a dog barks", "the cat sleeps"]))
    assert is_source(source)


def test_an_empty_text_is_given_as_a_blank():
    seen = []
    vectors_of(lambda texts: seen.extend(texts) or lengths(texts), ["", "  \n", " a "])
    assert seen == [" ", " ", " a "]


def test_the_static_model_comes_with_its_extra():
    found = vectors_of("static", TEXTS)
    assert found.shape[0] == 4
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[0], found[3])
    for row, text in enumerate(TEXTS):
        np.testing.assert_allclose(vectors_of("static", [text])[0], found[row], rtol=1e-5, atol=1e-6)
    unit = [
        v / np.linalg.norm(v)
        for v in vectors_of("static", ["the cat sleeps", "a kitten naps", "stock markets fell"])
    ]
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.1


def test_nothing_is_loaded_twice():
    vectors_of("static", TEXTS)
    assert encoder("static") is encoder("static")


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    encoder.cache_clear()
    try:
        with pytest.raises(InputError, match=r"coterie\[words\]") as caught:
            vectors_of("static", TEXTS)
    finally:
        encoder.cache_clear()
    assert "\n" not in str(caught.value)


def test_an_array_has_no_vectors_for_new_texts():
    for source in (np.eye(3), [[1.0]], None, 3, "glove", "Static"):
        assert not is_source(source)
        with pytest.raises(
            InputError,
            match=r"must be an array, a function of texts, an object with encode\(texts\), 'static'",
        ):
            vectors_of(source, TEXTS)
    assert is_source("static")


def test_the_value_that_is_no_source_is_told():
    with pytest.raises(InputError, match="got 'glove'"):
        vectors_of("glove", TEXTS)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((3, 2)), r"one row for each of the 4 texts, got an array of shape \(3, 2\)"),
        (np.ones((5, 2)), r"one row for each of the 4 texts, got an array of shape \(5, 2\)"),
        (np.ones(4), r"one row for each of the 4 texts, got an array of shape \(4,\)"),
        (np.ones((4, 0)), r"one row for each of the 4 texts, got an array of shape \(4, 0\)"),
        (np.ones((4, 1, 1)), r"one row for each of the 4 texts"),
        (1.0, r"one row for each of the 4 texts, got an array of shape \(\)"),
        (None, r"embeddings must"),
        (["a", "b", "c", "d"], r"embeddings must be numbers, one row for each text"),
        ([["a"], ["b"], ["c"], ["d"]], r"embeddings must be numbers, one row for each text"),
        ([[1.0], [1.0, 2.0], [1.0], [1.0]], r"embeddings must be numbers, one row for each text"),
        ([[1.0], [2.0], [np.nan], [4.0]], r"must be finite, got NaN or infinity in row 2"),
        ([[1.0], [np.inf], [np.nan], [4.0]], r"must be finite, got NaN or infinity in row 1"),
        ([[None], [None], [None], [None]], r"embeddings must"),
    ],
)
def test_what_is_no_array_of_vectors_is_refused(vectors, message):
    for make in (lambda: checked(vectors, 4), lambda: vectors_of(lambda texts: vectors, TEXTS)):
        with pytest.raises(InputError, match=message):
            make()


def test_arrays_of_any_kind_of_number_are_taken():
    for vectors in (
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.array([[1.0, 2], [3, 4]]),
    ):
        found = checked(vectors, 2)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, [[1, 2], [3, 4]])
    assert checked(np.zeros((0, 3)), 0).shape == (0, 3)


def test_numbers_too_large_for_single_precision_are_told_in_one_sentence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="row 1"):
            checked(np.array([[1.0], [1e300]]), 2)


def test_the_static_model_may_help_where_texts_are_few_and_english():
    assert static_may_help("coterie", "en", 2_000)
    assert static_may_help("coterie", ["english"], 1)
    assert not static_may_help("coterie", "english", 2_001)
    assert not static_may_help("coterie", "german", 10)
    assert not static_may_help("coterie", ["english", "german"], 10)
    assert not static_may_help("nmf", "english", 10)


@pytest.mark.parametrize("source", ["static", lengths])
def test_a_text_without_a_known_word_has_no_vector(source):
    known = np.array([True, False, True])
    found = vectors_of(source, ["the cat sleeps", "qqq", "a kitten naps"], known)
    assert found.any(axis=1).tolist() == known.tolist()


def test_what_is_no_text_is_told():
    for source in (lengths, "static"):
        with pytest.raises(InputError, match="texts must be strings, got None in row 1"):
            vectors_of(source, ["a", None, 3.0])


def test_errors_of_a_function_are_its_own():
    def fails(texts):
        raise RuntimeError("no model")

    with pytest.raises(RuntimeError, match="no model"):
        vectors_of(fails, TEXTS)
