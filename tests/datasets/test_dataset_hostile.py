"""MATLAB and SMART files that are damaged, forged or made to fill the memory: rows, or a ValueError of one line."""

import io
import struct
import zlib

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from scipy.sparse import csc_matrix

from coterie.datasets import matlab, matrix, retrieval
from coterie.datasets.convert import Row
from damage import damaged
from fuzzing import cases, chance, one_sentence

X = csc_matrix(np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 0]]))
GND = np.array([[1.0], [2.0], [1.0]])


def saved(values, **settings):
    file = io.BytesIO()
    savemat(file, values, **settings)
    return file.getvalue()


def said(file):
    with pytest.raises(ValueError, match=r"\w") as error:
        list(matrix.converted(file))
    assert one_sentence(str(error.value))
    return str(error.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"fea": X}, "the MATLAB file has no gnd"),
        ({"gnd": GND}, "the MATLAB file has no fea"),
        ({"fea": X, "gnd": GND[:2]}, "fea has shape (3, 3), for 2 classes"),
        ({"fea": X, "gnd": GND / 2}, "gnd must be whole numbers"),
        ({"fea": X, "gnd": GND * np.nan}, "gnd must be whole numbers"),
        ({"fea": -X, "gnd": GND}, "fea must be finite and not negative"),
        ({"fea": X * np.inf, "gnd": GND}, "fea must be finite and not negative"),
        ({"fea": X * 1j, "gnd": GND}, "fea is not an array of real numbers"),
        ({"fea": np.zeros((3, 2, 2)), "gnd": GND}, "fea has shape (3, 2, 2)"),
        ({"fea": "a text", "gnd": GND}, "fea is not an array of real numbers"),
        (
            {"fea": np.array([["a"], [X], [3]], dtype=object), "gnd": GND},
            "fea is not an array of real numbers",
        ),
        ({"fea": {"a": 1}, "gnd": GND}, "fea is not an array of real numbers"),
    ],
)
@pytest.mark.parametrize("do_compression", [False, True])
def test_other_content_is_one_sentence(values, message, do_compression):
    assert message in said(saved(values, do_compression=do_compression))


def test_a_dense_matrix_is_as_good():
    dense, sparse = (list(matrix.converted(saved({"fea": fea, "gnd": GND}))) for fea in (X.toarray(), X))
    assert dense == sparse == [("terms", "3"), ("1", "0:1 2:2"), ("2", "1:3"), ("1", "0:4")]


@pytest.mark.parametrize("do_compression", [False, True])
@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_numbers_of_every_type_are_read_as_scipy_reads_them(kind, do_compression):
    rng = np.random.default_rng(0)
    dense = rng.integers(0, 3, (7, 5)).astype(kind)
    values = {
        "a": dense,
        "long name of nothing": GND,
        "b": csc_matrix(dense.astype(float)),
        "c": dense[:, :1],
    }
    file = saved(values, do_compression=do_compression)
    theirs, ours = loadmat(io.BytesIO(file)), matlab.arrays(file, ("a", "b", "c"), 10**6)
    assert set(ours) == {"a", "b", "c"}
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype
        assert array.shape == theirs[name].shape
        assert (toarray(array) == toarray(theirs[name])).all()


def toarray(array):
    return array.toarray() if hasattr(array, "toarray") else array


def test_a_file_of_the_other_byte_order():
    """As a machine with the other order writes it: one dense array, built by hand."""

    def element(kind, content):
        return struct.pack(">II", kind, len(content)) + content + bytes(-len(content) % 8)

    numbers = struct.pack(">dd", 1, 2)
    parts = [(6, struct.pack(">II", 6, 0)), (5, struct.pack(">ii", 1, 2)), (1, b"a"), (9, numbers)]
    content = b"".join(element(*part) for part in parts)
    file = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + element(14, content)
    assert (matlab.arrays(file, ("a",), 1000)["a"] == loadmat(io.BytesIO(file))["a"]).all()
    assert matlab.arrays(file, ("a",), 1000)["a"].tolist() == [[1.0, 2.0]]


def test_older_and_newer_formats_are_refused():
    assert "not a MATLAB 5 file" in said(saved({"fea": X.toarray(), "gnd": GND}, format="4"))
    newer = (
        b"MATLAB 7.3 MAT-file".ljust(124)
        + b"\x00\x02IM"
        + b"\x00" * 384
        + b"\x89HDF\r\n\x1a\n"
        + b"\x00" * 100
    )
    assert "not a MATLAB 5 file" in said(newer)
    assert "not a MATLAB 5 file" in said(b"")


def packed(content):
    squeezed = zlib.compress(content, 9)
    return struct.pack("<II", 15, len(squeezed)) + squeezed


def test_what_unpacks_to_more_than_the_limit_is_refused_before_it_is_there(monkeypatch):
    monkeypatch.setattr(matrix, "_MOST", 1 << 20)
    header = saved({"fea": X, "gnd": GND})[:128]
    bomb = header + packed(bytes(1 << 24))
    assert len(bomb) < 1 << 16
    assert "unpacks to more than it may" in said(bomb)
    assert "unpacks to more than it may" in said(header + packed(bytes(1 << 19)) * 3)


def forged(shape=None, column=None):
    """An uncompressed file whose sparse matrix says that it has another shape or a row that it has not."""
    file = bytearray(saved({"fea": X, "gnd": GND}))
    if shape is not None:
        at = file.index(struct.pack("<II", 5, 8) + struct.pack("<ii", 3, 3)) + 8
        file[at : at + 8] = struct.pack("<ii", *shape)
    if column is not None:
        rows = struct.pack("<iiii", 0, 2, 1, 0)
        at = file.index(rows)
        file[at : at + 4] = struct.pack("<i", column)
    return bytes(file)


@pytest.mark.parametrize(
    "shape", [(2**31 - 1, 3), (-1, 3), (3, 2**31 - 1), (3, -1), (2**31 - 1, 2**31 - 1), (2, 3)]
)
def test_a_forged_shape_is_one_sentence(shape):
    said(forged(shape=shape))


@pytest.mark.parametrize("column", [3, -1, 2**31 - 1, -(2**31)])
def test_a_forged_row_is_one_sentence(column):
    said(forged(column=column))


SMART = [
    b".I 1\n.T\nOne of\n.A\nDoe\n.W\nOne of them.\n.X\n1\t2\n.I 2\n.T\nTwo\n.W\nTwo texts.\n",
    b".I 1\n.W\nwhich one\n.I 4\n.W\nwhich two\n",
    b"1 1 1\n2 2 -1\n2 1\n",
]


def rows(convert, *files):
    """What a converter gives: rows, or a ValueError of one line."""
    try:
        found: list[Row] = list(convert(*files))
    except (ValueError, LookupError) as error:  # what the download makes one sentence of
        told = str(error)
    else:
        told = None
    if told is not None:
        assert one_sentence(told)
        return None
    assert all(isinstance(label, str) and isinstance(text, str) for label, text in found)
    assert not any("\n" in text or "\t" in text for _, text in found)
    return found


@pytest.mark.fuzz
def test_damaged_matlab_files(tried):
    rng = chance("datasets", "matlab")
    seeds = [
        saved({"fea": fea, "gnd": GND}, do_compression=zipped)
        for fea in (X, X.toarray())
        for zipped in (False, True)
    ]
    sound = 0
    for _ in range(cases(600)):
        sound += rows(matrix.converted, damaged(rng.choice(seeds), seeds, rng)) is not None
        tried()
    assert sound < cases(600)


@pytest.mark.fuzz
def test_damaged_smart_files(tried):
    rng = chance("datasets", "smart")

    def convert(*files):
        return retrieval.smart(*files, fields=("T", "W"))

    for _ in range(cases(600)):
        files = [damaged(file, SMART, rng) if rng.random() < 0.5 else file for file in SMART]
        found = rows(convert, *files)
        if found is not None:
            retrieval.lines([label for label, _ in found], [text for _, text in found], "file")
        tried()
