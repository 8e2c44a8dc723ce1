"""Vectors as people have them: columns, tensors, .npy and Parquet files, models by their name."""

import io
import os
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coterie.embeddings import checked, is_source, vectors_of
from coterie.embeddings.files import read_vectors
from coterie.embeddings.named import encoder
from coterie.embeddings.probe import check_same
from coterie.errors import InputError
from fuzzing import cases, chance, one_sentence
from test_api_values import WRONG
from tiny_encoder import write_model

E = np.array([[1.0, 2.0], [3.0, -4.5], [0.0, 0.25]])
LISTS = E.tolist()


class Tensor:
    """What torch gives: no array before it is detached, brought home and of single precision."""

    def __init__(self, array, steps=()):
        self._array, self._steps = array, steps

    def __array__(self, *_, **__):
        raise TypeError("can't convert a tensor that requires grad")

    def detach(self):
        return Tensor(self._array, (*self._steps, "detach"))

    def cpu(self):
        return Tensor(self._array, (*self._steps, "cpu"))

    def float(self):
        return Tensor(self._array, (*self._steps, "float"))

    def numpy(self):
        assert self._steps == ("detach", "cpu", "float")
        return self._array


@pytest.mark.parametrize(
    "given",
    [
        E,
        E.astype(np.float16),
        np.asfortranarray(E),
        LISTS,
        [tuple(row) for row in LISTS],
        [np.array(row) for row in LISTS],
        pl.Series(LISTS),
        pl.Series(LISTS, dtype=pl.Array(pl.Float32, 2)),
        pl.DataFrame({"id": ["a", "b", "c"], "vector": LISTS}),
        pl.DataFrame(E, schema=["x", "y"]),
        pl.DataFrame(E, schema=["x", "y"]).lazy(),
        pd.Series(LISTS),
        pd.Series([np.array(row) for row in LISTS]),
        pd.DataFrame({"id": ["a", "b", "c"], "vector": LISTS}),
        pd.DataFrame(E),
        pa.array(LISTS),
        pa.chunked_array([pa.array(LISTS[:1]), pa.array(LISTS[1:])]),
        pa.FixedSizeListArray.from_arrays(pa.array(E.ravel()), 2),
        pa.table({"vector": LISTS}),
        Tensor(E),
    ],
    ids=lambda given: f"{type(given).__module__.split('.')[0]}-{type(given).__name__}",
)
def test_vectors_of_any_library_are_one_array(given):
    found = checked(given, 3)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, E)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pl.Series([[1.0], None]), "a vector for each text, got none in row 1"),
        (pl.Series([[1.0], [1.0, 2.0]]), "same length, got 1 numbers in row 0 and 2 in row 1"),
        (pl.Series([[1.0], [None]]), "NaN or infinity in row 1"),
        (pl.Series([["a"], ["b"]]), "must be numbers"),
        (pl.Series(["a", "b"]), "must be numbers"),
        (pl.Series([[], []], dtype=pl.List(pl.Float64)), r"shape \(2, 0\)"),
        (pl.DataFrame({"a": [[1.0]], "b": [[2.0]]}), "one column of lists, got 2: 'a', 'b'"),
        (pl.DataFrame({"a": [1.0], "b": ["x"]}), "'b' contains String"),
        (pl.DataFrame({"id": [1], "b": [0.5]}), "'id' has whole numbers"),
        (np.array([["1"], ["2"]]), "must be numbers"),
        (np.array([[1j], [2j]]), "must be numbers"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "must be numbers"),
        ("vectors.npy", "must be an array with one row for each, got 'vectors.npy'"),
        (len, "must be an array with one row for each"),
        (pd.Series(["a", "b"]), "must be numbers"),
    ],
)
def test_what_is_no_vector_for_each_text_is_told_in_a_sentence(given, message):
    with pytest.raises(InputError, match=message) as caught:
        checked(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_values_of_any_kind_are_told(kind):
    with pytest.raises(InputError) as caught:
        checked(WRONG[kind], 2)
    assert one_sentence(str(caught.value))


# --- files


@pytest.mark.parametrize("kind", ["<f4", "<f8", ">f8", "<f2", "i1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files_are_read_as_numpy_wrote_them(tmp_path, kind, order):
    array = np.asarray(E * 4, dtype=kind, order=order)
    np.save(tmp_path / "v.npy", array)
    found = read_vectors(tmp_path / "v.npy")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"text": ["a", "b", "c"], "vector": LISTS}),
        pl.DataFrame({"vector": pl.Series(LISTS, dtype=pl.Array(pl.Float32, 2))}),
        pl.DataFrame(E, schema=["x", "y"]),
    ],
)
def test_parquet_files_have_a_column_of_lists_or_columns_of_numbers(tmp_path, table):
    table.write_parquet(tmp_path / "v.parquet")
    np.testing.assert_array_equal(read_vectors(tmp_path / "v.parquet"), E)


class Evil:
    def __reduce__(self):
        return os.mkdir, ("run-by-pickle",)


def npy(header):
    """A .npy file with any header."""
    content = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(content).to_bytes(2, "little") + content


def damaged_files():
    plain = io.BytesIO()
    np.save(plain, E)
    pickled = io.BytesIO()
    np.save(pickled, np.array([[Evil()]], dtype=object), allow_pickle=True)
    huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 384), }"
    return {
        "cut": (plain.getvalue()[:-3], "is damaged"),
        "longer": (plain.getvalue() + b"x", "is damaged"),
        "pickled": (pickled.getvalue(), "Python objects, which are never loaded"),
        "a pickle": (pickle.dumps(Evil()), "no sound .npy file"),
        "empty": (b"", "no sound .npy file"),
        "magic": (b"\x93NUMPY", "no sound .npy file"),
        "many rows": (npy(huge % 10**12), "needs 1,536,000,000,000,000 bytes"),
        "negative": (
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -4), }") + bytes(16),
            "damaged",
        ),
        "long header": (b"\x93NUMPY\x02\x00" + (1 << 31).to_bytes(4, "little") + b"{", "no sound .npy"),
        "deep header": (npy("(" * 9000), "no sound .npy"),
        "version": (b"\x93NUMPY\x09\x00\x10\x00", "v.npy"),
        "structure": (npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (0, 1), }"), "numbers"),
        "vector": (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }"), "one row for each"),
        "strings": (npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1, 1), }") + b"abcd", "numbers"),
    }


@pytest.mark.parametrize("name", damaged_files())
def test_a_damaged_or_hostile_npy_file_is_refused_in_a_sentence(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    content, message = damaged_files()[name]
    (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_vectors("v.npy")
    assert "v.npy" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "run-by-pickle").exists()


@pytest.mark.fuzz
def test_a_npy_file_with_a_few_other_bytes_is_read_or_refused(tmp_path, tried):
    whole = io.BytesIO()
    np.save(whole, E)
    for number in range(cases(400)):
        draw = chance("npy", number)
        data = bytearray(whole.getvalue())
        for _ in range(draw.choice([1, 2, 5])):
            data[draw.randrange(128)] = draw.choice(b"()[]{}',:0123456789-<>|fOUSV\n\0 \xff")
        (tmp_path / "v.npy").write_bytes(bytes(data))
        tried()
        sentences = []
        try:
            assert read_vectors(tmp_path / "v.npy").ndim == 2
        except InputError as error:
            sentences.append(str(error))
        assert all(map(one_sentence, sentences))


def test_files_that_are_none_are_told(tmp_path):
    (tmp_path / "v.csv").write_text("1,2\n")
    (tmp_path / "v.parquet").write_bytes(b"PAR1 no PAR1")
    for name, message in [("v.csv", "must end in"), ("no.npy", "does not exist"), ("v.parquet", "v.parquet")]:
        with pytest.raises(InputError, match=message):
            read_vectors(tmp_path / name)
    os.mkdir(tmp_path / "folder.npy")
    with pytest.raises(InputError, match=r"folder\.npy"):
        read_vectors(tmp_path / "folder.npy")


def test_a_file_is_named_with_what_is_wrong_inside(tmp_path):
    np.save(tmp_path / "v.npy", np.array([[1.0], [np.nan]]))
    with pytest.raises(InputError, match=r"v\.npy: embeddings must be finite, got NaN or infinity in row 1"):
        read_vectors(tmp_path / "v.npy")


# --- models by their name


@pytest.fixture(scope="module")
def local_model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("models") / "tiny", [["parcel", "late"], ["card", "refund"]])


def test_a_model2vec_model_is_loaded_from_its_folder_once(local_model):
    name = local_model
    assert is_source(name)
    found = vectors_of(name, ["late parcel", "", "card refund", "late parcel"])
    assert found.shape == (4, 8)
    np.testing.assert_array_equal(found[0], found[3])
    assert not np.allclose(found[0], found[2])
    np.testing.assert_allclose(vectors_of(name, ["card refund"])[0], found[2], rtol=1e-6)
    assert encoder(name) is encoder(name)


@pytest.mark.parametrize("library", ["model2vec", "sentence-transformers"])
def test_a_library_that_is_not_installed_is_named(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library.replace("-", "_"), None)
    with pytest.raises(InputError, match=f'pip install "{library}"') as caught:
        vectors_of(f"{library}:some/model-nobody-has", ["a"])
    assert "\n" not in str(caught.value)


def test_a_model_that_is_not_there_is_named(monkeypatch, tmp_path):
    import huggingface_hub.constants as hub

    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    (tmp_path / "nothing").mkdir()
    for name in ("model2vec:nobody/has-this-model", f"model2vec:{tmp_path / 'nothing'}"):
        with pytest.raises(InputError, match="cannot be loaded") as caught:
            vectors_of(name, ["a"])
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)


def test_sentence_transformers_are_asked_for_their_copy_on_disk_first(monkeypatch):
    asked = []

    class SentenceTransformer:
        def __init__(self, name, *, local_files_only=False, trust_remote_code=None):
            assert trust_remote_code is False
            asked.append((name, local_files_only))
            if local_files_only and "absent" in name:
                raise OSError("not in the cache")

        def encode(self, texts, *, convert_to_numpy, show_progress_bar):
            assert (convert_to_numpy, show_progress_bar) == (True, False)
            return np.ones((len(texts), 3))

    library = type(sys)("sentence_transformers")
    library.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    encoder.cache_clear()
    try:
        assert vectors_of("sentence-transformers:a/here", ["x", "y"]).shape == (2, 3)
        assert vectors_of("sentence-transformers:a/absent", ["x"]).shape == (1, 3)
    finally:
        encoder.cache_clear()
    assert asked == [("a/here", True), ("a/absent", True), ("a/absent", False)]


# --- the fingerprint


def test_an_encoder_is_recognised_on_another_machine_and_another_is_not():
    rng = np.random.default_rng(0)
    before = rng.standard_normal((4, 384)).astype(np.float32)
    for same in (before, before.astype(np.float16).astype(np.float32), before * 3, before + 1e-3):
        check_same(384, before, same, "the encoder")
    check_same(384, None, rng.standard_normal((4, 384)), "the encoder")
    for other in (
        rng.standard_normal((4, 384)),
        -before,
        before[::-1],
        before + 0.2 * rng.standard_normal((4, 384)),
        0 * before,
    ):
        with pytest.raises(InputError, match="gives other vectors than the encoder"):
            check_same(384, before, other, "the encoder")
    with pytest.raises(
        InputError, match="vectors of 3 numbers, but the model was fitted with vectors of 384"
    ):
        check_same(384, before, np.ones((4, 3)), "the encoder")
