"""States written and read: every value comes back as it was, or is refused with its place."""

import hashlib
import json
import math
import os
import struct
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from coterie.errors import InputError
from coterie.storage import arrays, files
from coterie.storage import state as states
from coterie.storage.state import VERSION, checksum, read_state, write_state

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def same(one, other):
    """Equal in value and in type, nan included."""
    if sparse.issparse(one):
        parts = ("data", "indices", "indptr")
        return (
            type(one) is type(other)
            and one.shape == other.shape
            and all(same(getattr(one, name), getattr(other, name)) for name in parts)
        )
    if isinstance(one, np.ndarray):
        return (
            type(other) is np.ndarray and one.dtype == other.dtype and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )  # fmt: skip
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other) or (math.isnan(one) and math.isnan(other))
    return one == other


def round_trip(state, kind="thing"):
    with tempfile.TemporaryDirectory() as folder:
        write_state(Path(folder) / "new", kind, state)
        return read_state(Path(folder) / "new", kind)


@st.composite
def csr(draw):
    dense = draw(
        hnp.arrays(draw(st.sampled_from(["f4", "f8", "i4", "?"])), hnp.array_shapes(min_dims=2, max_dims=2))
    )
    return draw(st.sampled_from([sparse.csr_matrix, sparse.csr_array]))(dense)


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["$array", "$csr", "$$array", "$", "__metadata__", "$float", "a/b", "data"]
)
LEAVES = (
    st.none() | st.booleans() | st.integers(-(2**200), 2**200) | st.floats() | KEYS
    | hnp.arrays(st.sampled_from(DTYPES).map(np.dtype), hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
    | csr() | st.lists(KEYS)
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4)
    | st.lists(inner, max_size=3).map(tuple), max_leaves=12
)  # fmt: skip


@pytest.mark.slow
@given(st.dictionaries(KEYS, VALUES, max_size=5))
@settings(max_examples=200)
def test_every_state_comes_back_as_it_was(state):
    assert same(round_trip(state), state)


@pytest.mark.parametrize(
    "state", [{}, {"a": []}, {"": {"": ()}}, {"$array": "a", "a": np.zeros(2)}, {"$csr": {"$array": 1}}]
)
def test_small_and_confusable_states(state):
    assert same(round_trip(state), state)


def test_arrays_of_any_layout_come_back_in_the_order_of_this_machine():
    square = np.arange(6.0).reshape(2, 3)
    state = {
        "turned": square.T,
        "big": square.astype(">f8"),
        "strided": square[:, ::2],
        "zero": np.zeros((0, 5), "i4"),
    }
    found = round_trip(state)
    for name, array in state.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("=")
        assert found[name].flags.writeable


def test_numbers_of_numpy_come_back_as_those_of_python():
    found = round_trip(
        {"n": [np.int8(-3), np.uint64(2**64 - 1), np.float32(0.5), np.bool_(True), np.str_("x"), -0.0]}
    )
    assert same(found, {"n": [-3, 2**64 - 1, 0.5, True, "x", -0.0]})


def test_a_matrix_with_unsorted_or_repeated_entries_is_put_in_order():
    unsorted = sparse.csr_matrix((np.ones(3), [2, 0, 0], [0, 3]), shape=(1, 3))
    unsorted.has_sorted_indices = unsorted.has_canonical_format = True  # not so
    found = round_trip({"X": unsorted})["X"]
    assert found.toarray().tolist() == [[2, 0, 1]]
    assert found.has_canonical_format
    assert unsorted.indices.tolist() == [2, 0, 0]
    unsorted.indices[0] = 7
    with pytest.raises(InputError, match=r"state\['X'\] is a CSR matrix whose indices are wrong"):
        round_trip({"X": unsorted})


def test_other_programs_read_the_arrays_and_we_read_theirs(tmp_path):
    some = {
        "a": np.arange(6, dtype="i2").reshape(2, 3),
        "flag": np.array([True]),
        "none": np.zeros((0, 2), "f4"),
        "é": np.array(1.5),
    }
    arrays.write_arrays(tmp_path / "ours", some)
    theirs = safetensors.numpy.load_file(tmp_path / "ours")
    safetensors.numpy.save_file(some, tmp_path / "theirs", metadata={"made": "elsewhere"})
    back, written = arrays.read_arrays(tmp_path / "theirs")
    for found in (theirs, back):
        assert same({name: found[name] for name in some}, some)
    assert written == ((tmp_path / "theirs").stat().st_size, checksum(tmp_path / "theirs"))


ARRAYS = st.dictionaries(
    st.text(max_size=5).filter(lambda name: name != arrays.RESERVED),
    st.sampled_from([*DTYPES, ">f8", ">i2"]).flatmap(
        lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    ),
    max_size=5,
)


@given(ARRAYS, st.integers(1, 3))
def test_files_are_those_of_safetensors_also_where_an_array_comes_in_pieces(some, step):
    plain = {name: array.astype(array.dtype.newbyteorder("="), order="C") for name, array in some.items()}
    pieces = {
        name: arrays.Pieces(
            array.shape, array.dtype, lambda a=array: (a[i : i + step] for i in range(0, len(a), step))
        )
        if array.ndim
        else array
        for name, array in some.items()
    }
    expected = safetensors.numpy.save(plain)
    with tempfile.TemporaryDirectory() as folder:
        for number, given_ in enumerate((some, pieces)):
            path = Path(folder, str(number))
            written = arrays.write_arrays(path, given_)
            assert path.read_bytes() == expected
            assert written == (len(expected), checksum(path))


class Thing:
    pass


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (Thing(), "Thing"),
        (print, "builtin_function_or_method"),
        (Thing, "type"),
        (lambda: 1, "function"),
        ({1, 2}, "set"),
        (b"bytes", "bytes"),
        (1j, "complex"),
        (Path("x"), "Path"),
        (np.array(["a"]), "numpy.ndarray of <U1"),
        (np.array([None]), "numpy.ndarray of object"),
        (np.array([1j]), "numpy.ndarray of complex128"),
        (np.zeros(2, "f2"), "numpy.ndarray of float16"),
        (np.zeros(2, "i4,f8"), "numpy.ndarray"),
        (np.ma.zeros(2), "MaskedArray"),
        (np.datetime64("2020-01-01"), "datetime64"),
        (sparse.csc_matrix((2, 2)), "csc_matrix of float64"),
        (2**300, "an integer of more than 256 bits"),
        ("x\ud800y", "text that is not Unicode"),
    ],
)
def test_what_cannot_be_saved_is_named_with_its_place(tmp_path, value, what):
    with pytest.raises(InputError, match=r"state\['outer'\]\['1'\]\['inner'\]") as error:
        write_state(tmp_path / "new", "thing", {"fine": 1, "outer": ["x", {"inner": value}]})
    assert what in str(error.value)
    assert "cannot be saved" in str(error.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("state", [{"a\udfff": 1}, {"a\udfff": np.zeros(2)}, {"x": {"a": ["\udfff"]}}])
def test_lone_surrogates_in_keys_and_lists_are_refused(state):
    with pytest.raises(InputError, match="not Unicode"):
        round_trip(state)


def test_keys_must_be_strings():
    with pytest.raises(
        InputError, match=r"state\['a'\] has the key 1, which is not a string and cannot be saved"
    ):
        round_trip({"a": {1: 2}})


def test_nesting_has_an_end():
    deep = {}
    deep["self"] = deep
    with pytest.raises(InputError, match="nested more than 60 deep"):
        round_trip(deep)
    for wrap in (lambda inner: [inner], lambda inner: (inner,), lambda inner: {"x": inner}):
        value = 1
        for _ in range(states.MAX_DEPTH - 1):
            value = wrap(value)
        assert same(round_trip({"x": value}), {"x": value})


def test_a_large_vocabulary_is_quick(tmp_path):
    terms = [f"term{number:06d}é" for number in range(500_000)]
    start = time.process_time()
    write_state(tmp_path, "vocabulary", {"terms": terms})
    assert read_state(tmp_path, "vocabulary") == {"terms": terms}
    assert time.process_time() - start < 8  # about one


def test_files_that_are_there_are_not_overwritten(tmp_path):
    write_state(tmp_path, "thing", {"a": 1})
    with pytest.raises(
        InputError, match=r"arrays\.safetensors could not be written: it already exists; choose another name"
    ):
        write_state(tmp_path, "thing", {"a": 2})
    (tmp_path / "arrays.safetensors").unlink()
    with pytest.raises(
        InputError, match=r"state\.json could not be written: it already exists; choose another name"
    ):
        write_state(tmp_path, "thing", {"a": 2})
    with pytest.raises(InputError, match="could not be written"):
        write_state(tmp_path / "state.json" / "x", "thing", {})


def test_limits_hold_for_writing_too(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_JSON_VALUES", 10)
    with pytest.raises(
        InputError, match="more than 10 values in JSON; put long lists of numbers into arrays"
    ):
        write_state(tmp_path / "a", "thing", {"a": [1] * 20})
    monkeypatch.setattr(arrays, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="more than the 100 that can be read"):
        write_state(tmp_path / "b", "thing", {"a": np.zeros(20)})
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 50)
    with pytest.raises(InputError, match="more than 50 bytes of JSON"):
        write_state(tmp_path / "c", "thing", {"a": "x" * 60})


# reading


@pytest.fixture
def saved(tmp_path):
    X = sparse.csr_matrix(np.eye(3))
    write_state(
        tmp_path / "run",
        "model",
        {"terms": ["a", "b"], "weights": np.arange(4.0), "X": X, "flags": np.array([True])},
    )
    return tmp_path / "run"


def refused(folder, message, kind="model"):
    with pytest.raises(InputError, match=message) as error:
        read_state(folder, kind)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)


def rewrite(folder, change, **arrays_changed):
    """Change the JSON of a state as someone would who computes the checksums anew."""
    path = folder / "state.json"
    whole = json.loads(path.read_text())
    whole.pop("sha256")
    if arrays_changed:
        old, _ = arrays.read_arrays(folder / "arrays.safetensors")
        (folder / "arrays.safetensors").unlink()
        arrays.write_arrays(folder / "arrays.safetensors", old | arrays_changed)
    whole["arrays"] |= {
        "sha256": checksum(folder / "arrays.safetensors"),
        "bytes": (folder / "arrays.safetensors").stat().st_size,
    }
    change(whole)
    sign(path, whole)


def sign(path, whole):
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    try:
        digest = hashlib.sha256(text.encode()).hexdigest()
    except UnicodeEncodeError:
        digest, text = "", json.dumps(whole)
    path.unlink(missing_ok=True)
    path.write_text(json.dumps({"sha256": digest})[:-1] + ", " + text[1:])


def test_missing_and_strange_files(saved, tmp_path):
    refused(
        tmp_path / "nowhere", r"state\.json is missing; copy it again from its source, or fit and save again"
    )
    (saved / "arrays.safetensors").rename(saved / "away")
    refused(saved, r"arrays\.safetensors is missing")
    (saved / "arrays.safetensors").mkdir()
    refused(saved, r"arrays\.safetensors is not a plain file|could not be read: it is a folder")
    (saved / "state.json").unlink()
    os.mkfifo(saved / "state.json")
    refused(saved, r"state\.json is not a plain file")
    (saved / "state.json").unlink()
    (saved / "state.json").symlink_to("/dev/zero")
    refused(saved, "is not a plain file")
    (saved / "state.json").unlink()
    (saved / "state.json").symlink_to("state.json")
    refused(saved, "its links form a loop")
    with pytest.raises(InputError, match="is missing"):
        checksum(tmp_path / "nowhere")


def test_a_file_of_another_run_is_told(saved, tmp_path):
    write_state(tmp_path / "other", "model", {"weights": np.arange(4.0) + 1})
    (tmp_path / "other" / "arrays.safetensors").rename(saved / "arrays.safetensors")
    refused(saved, r"arrays\.safetensors does not belong to state\.json beside it: .* from another run")


def test_another_kind_and_a_newer_version(saved):
    refused(
        saved,
        r"state\.json is a 'coterie model', not a 'coterie vocabulary'; check the path",
        kind="vocabulary",
    )
    rewrite(saved, lambda whole: whole.update(version=VERSION + 1, anything=[1]))
    refused(saved, rf"state\.json was written by a newer coterie \(format {VERSION + 1}\); update coterie$")
    for version in (True, 0, -1, 1.0, "1", None):
        rewrite(saved, lambda whole, version=version: whole.update(version=version))
        refused(saved, "is damaged: it has no format version")
    for other in ("numpy model", 3, None):
        rewrite(saved, lambda whole, other=other: whole.update(format=other))
        refused(saved, "not a file of coterie")


def test_oversized_files_are_not_read(saved, monkeypatch):
    with (saved / "state.json").open("r+b") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    refused(saved, r"state\.json has 1,099,511,627,776 bytes, more than the 268,435,456 that can be read")
    with (saved / "state.json").open("r+b") as file:
        file.truncate(100)
    write_state(saved / "b", "model", {"x": np.zeros(3)})
    with (saved / "b" / "arrays.safetensors").open("r+b") as file:
        file.truncate(1 << 40)
    refused(saved / "b", "more than the 8,589,934,592 that can be read")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[1]", "it contains a list, not an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" * 9_000_000, "more than 8,000,000 values"),
        ('{"a":1,"a":2}', "the key 'a' is there twice"),
        ('{"a":NaN}', "NaN is not JSON"),
        ('{"a":-Infinity}', "-Infinity is not JSON"),
        ('{"a":1e999}', "1e999 is too large"),
        ('{"a":' + "9" * 5000 + "}", "5,000 digits"),
        ('{"a":' + "9" * 10_000_000 + "}", "10,000,000 digits"),
        ("\ufeff{}", "BOM"),
        ("{}", "not a file of coterie"),
        ('{"a":"\x01"}', "control character"),
    ],
)
def test_json_that_is_not_plain(saved, text, message):
    (saved / "state.json").write_text(text)
    refused(saved, message)


def test_text_that_is_not_utf8(saved):
    (saved / "state.json").write_bytes(b'{"format":"\xff"}')
    refused(saved, "byte 11 is not UTF-8")


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


FALSE_STATES = {
    "missing array": {"$array": "nothing"},
    "array twice": [{"$array": "weights"}, {"$array": "weights"}],
    "no name": {"$array": ["weights"]},
    "extra key": {"$array": "weights", "x": 1},
    "unknown mark": {"$object": "os.system"},
    "mark": {"$": 1},
    "no float": {"$float": "1"},
    "unhashable float": {"$float": []},
    "no tuple": {"$tuple": "ab"},
    "csr of nothing": {"$csr": None},
    "csr with little": {"$csr": {"shape": [1, 1]}},
    "deep": deep(300),
    "surrogate": "\ud800",
    "a list": [],
}


@pytest.mark.parametrize("name", FALSE_STATES)
def test_states_that_are_false_behind_a_right_checksum(saved, name):
    value = FALSE_STATES[name]
    rewrite(saved, lambda whole: whole.update(state=value if name == "a list" else {"x": value}))
    unused = "" if name == "a list" else "(?!it does not fit its arrays)"  # the fault itself is found
    refused(saved, rf"state\.json is damaged: {unused}")


def test_envelopes_that_are_false_behind_a_right_checksum(saved):
    for change in (
        {"arrays": None},
        {"arrays": {"file": "../other"}},
        {"arrays": {"file": "/etc/passwd", "bytes": 1, "sha256": ""}},
        {"extra": 1},
    ):
        rewrite(saved, lambda whole, change=change: whole.update(change))
        refused(saved, "is damaged")
        path = saved / "state.json"
        sign(path, json.loads(path.read_text()) | {"arrays": {"file": "arrays.safetensors"}})
    rewrite(saved, lambda whole: whole.pop("extra", 0) or whole.pop("sha256", 0), extra=np.zeros(3))
    refused(saved, "does not fit its arrays")


@pytest.mark.parametrize(
    ("shape", "changed"),
    [
        ([3, 2], {}),
        ([2, 3], {}),
        ([3, -3], {}),
        ([3, True], {}),
        ([3, 3.0], {}),
        ([3, 2**70], {}),
        ("33", {}),
        ([3, 3], {"X/indptr": np.array([0, 2, 1, 3])}),
        ([3, 3], {"X/indptr": np.array([0, 1, 2, 2])}),
        ([3, 3], {"X/indptr": np.array([1, 1, 2, 3])}),
        ([3, 3], {"X/indptr": np.array([0, 2**40, 2, 3])}),
        ([3, 3], {"X/indptr": np.array([0.0, 1, 2, 3])}),
        ([3, 3], {"X/indptr": np.zeros((2, 2), "i4")}),
        ([0, 3], {"X/indptr": np.array([], "i4")}),
        ([3, 3], {"X/indices": np.array([0, 1, -1])}),
        ([3, 3], {"X/indices": np.array([0, 1, 3])}),
        ([3, 3], {"X/indices": np.array([0, 1])}),
        ([3, 3], {"X/indices": np.array([0, 1, 2], "u8")}),
        ([3, 3], {"X/data": np.array([1.0])}),
        ([1, 3], {"X/indptr": np.array([0, 3]), "X/indices": np.array([0, 2, 1])}),
        ([1, 3], {"X/indptr": np.array([0, 3]), "X/indices": np.array([0, 1, 1])}),
    ],
)
def test_matrices_whose_indices_are_wrong(saved, shape, changed):
    rewrite(saved, lambda whole: whole["state"]["X"]["$csr"].update(shape=shape), **changed)
    refused(saved, "CSR matrix")


def headed(folder, header, content=b""):
    """An arrays file with any header, and a state that belongs to it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    (folder / "arrays.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + content)
    rewrite(folder, lambda whole: whole.update(state={"x": {"$array": "x"}}))


def entry(dtype="U8", shape=(4,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    "header",
    [
        {"x": entry("O")},
        {"x": entry("BF16", (2,))},
        {"x": entry([])},
        {"x": entry(shape=(5,))},
        {"x": entry(shape=(-2, -2))},
        {"x": entry(shape=(2.0, 2))},
        {"x": entry(shape=None)},
        {"x": entry(shape=(2**62, 0), offsets=(0, 0))},
        {"x": entry(shape=(0, 2**40, 2**40), offsets=(0, 0))},
        {"x": entry(shape=(1,) * 65, offsets=(0, 1))},
        {"x": entry(shape=(2**60,), offsets=(0, 2**60))},
        {"x": entry(offsets=(4, 0))},
        {"x": entry(offsets=(0,))},
        {"x": entry(offsets=(1, 5))},
        {"x": entry(), "y": entry()},
        {"x": entry(shape=(2,), offsets=(0, 2))},
        {"x": entry("BOOL")},
        {"x": 3},
        b"{",
        b"[]",
        b"[" * 100_000,
    ],
)
def test_arrays_whose_header_lies(saved, header):
    headed(saved, header, b"\1\2\3\4")
    refused(saved, "damaged")


def test_a_header_that_claims_more_than_there_is(saved):
    path = saved / "arrays.safetensors"
    for length in (2**64 - 1, 2**40, 10**6, 9):
        path.write_bytes(struct.pack("<Q", length) + b"{}")
        refused(saved, "damaged")
    for content in (b"", b"1234567"):
        path.write_bytes(content)
        refused(saved, "damaged")


def test_no_memory_is_one_sentence(saved, monkeypatch):
    def none(*arguments):
        raise MemoryError

    monkeypatch.setattr(arrays, "load", none)
    refused(saved, "does not fit into memory")
