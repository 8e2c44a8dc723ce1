"""Damaged and forged states: the answer that was saved, another valid state, or one sentence, and soon."""

import json
import shutil
import struct
import time

import numpy as np
import pytest
from scipy import sparse
from test_storage_state import same, sign

from coterie.errors import InputError
from coterie.storage.state import checksum, read_state, write_state
from fuzzing import cases, chance, forged

pytestmark = pytest.mark.fuzz
FILES = cases(2_500)
LONGEST = 5.0  # seconds of the processor for one small file; the usual one takes a thousandth

STATE = {
    "terms": ["kettle", "=cmd()", "é漢字 👍🏽", "", "\0", "$array"],
    "numbers": [1, -2.5, float("nan"), float("inf"), 2**200, True, None],
    "inner": {"$array": "weights", "pair": (1, "a"), "weights": np.arange(12.0).reshape(3, 4)},
    "X": sparse.csr_matrix(np.tri(4, 5, dtype="f4")),
    "flags": np.array([[True], [False]]),
    "none": np.zeros((0, 3), dtype="u2"),
}
SPLINTERS = [
    *[b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\ud800", b"\\u0000", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80"],
    *[b"NaN", b"-Infinity", b"1e999", b"-0", b"9" * 5000, b"[" * 3000, b'{"a":' * 2000, b"true", b"null", b'"$array"'],
    *[b'{"$csr":', b'"dtype":"O"', b'"F64"', b'"U8"', b"\x00" * 8, b"\xff" * 8, b" ", b"\n", b"\xef\xbb\xbf"],
]  # fmt: skip
NAMES = ("state.json", "arrays.safetensors")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original")
    write_state(folder, "fuzz", STATE)
    return {"state": (folder / NAMES[0]).read_bytes(), "arrays": (folder / NAMES[1]).read_bytes()}


def put(folder, **contents):
    """The files with these contents; an old file is not cut short, for which some systems wait for the disk."""
    for name, content in contents.items():
        path = folder / {"state": NAMES[0], "arrays": NAMES[1]}[name]
        path.unlink(missing_ok=True)
        path.write_bytes(content)


def read(folder):
    """The state, or None for a sentence."""
    start = time.process_time()
    try:
        return read_state(folder, "fuzz")
    except InputError as error:
        told = str(error)
    finally:
        assert time.process_time() - start < LONGEST
    assert str(folder) in told
    assert len(told.splitlines()) == 1
    return None


def battered(data, draw):
    for _ in range(draw.randint(1, 3)):
        data = hit(data, draw)
    return data


def hit(data, draw):
    at, to = sorted(draw.choices(range(len(data) + 1), k=2))
    before, inside, after = data[:at], data[at:to], data[to:]
    few, rest = data[at : at + 20], data[at + 20 :]
    changes = [
        lambda: before + bytes([draw.randrange(256)]) + data[at + 1 :],
        lambda: before + bytes(byte ^ (1 << draw.randrange(8)) for byte in few) + rest,
        lambda: before,
        lambda: before + after,
        lambda: before + inside * 2 + after,
        lambda: before + few[::-1] + rest,
        lambda: before + draw.choice(SPLINTERS) + inside + after,
        lambda: before + draw.choice(SPLINTERS) + after,
        lambda: data + bytes(draw.randrange(20)),
    ]
    return draw.choice(changes)()


def test_damaged_files(original, tmp_path, tried):
    draw = chance("damaged")
    refused = 0
    for _ in range(FILES):
        tried()
        name = draw.choice(list(original))
        put(tmp_path, **original | {name: battered(original[name], draw)})
        found = read(tmp_path)
        refused += found is None
        assert found is None or same(found, STATE), "a damaged file passed for another state"
    assert refused > 0.9 * FILES


def test_every_single_bit(original, tmp_path, tried):
    for name in original:
        put(tmp_path, **original)
        draw = chance("bits", name)
        for at in range(len(original[name])):
            data = bytearray(original[name])
            data[at] ^= 1 << draw.randrange(8)
            put(tmp_path, **{name: data})
            tried()
            found = read(tmp_path)
            assert found is None or same(found, STATE)


def check_valid(value):
    """Whatever was accepted can be worked with."""
    if sparse.issparse(value):
        value.check_format(full_check=True)
        assert value.has_canonical_format
        assert (
            (value @ np.ones(value.shape[1])).shape == (value.shape[0],) if value.shape[1] < 10**6 else True
        )
    elif isinstance(value, np.ndarray):
        assert value.dtype.kind in "biuf"
        value.copy()
    elif isinstance(value, dict):
        for key, inner in value.items():
            key.encode()
            check_valid(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            check_valid(inner)
    else:
        assert value is None or isinstance(value, (str, int, float))


def test_forged_states_with_right_checksums(original, tmp_path, tried):
    draw = chance("states")
    accepted = 0
    put(tmp_path, **original)
    for _ in range(FILES):
        tried()
        whole = json.loads(original["state"])
        del whole["sha256"]
        sign(tmp_path / "state.json", forged(whole, draw))
        found = read(tmp_path)
        accepted += found is not None
        check_valid(found)
    assert 0.05 * FILES < accepted < 0.9 * FILES


def test_forged_arrays_with_right_checksums(original, tmp_path, tried):
    draw = chance("arrays")
    accepted = 0
    whole = json.loads(original["state"])
    del whole["sha256"]
    path = tmp_path / "arrays.safetensors"
    for _ in range(FILES):
        tried()
        data = original["arrays"]
        length = struct.unpack("<Q", data[:8])[0]
        if draw.random() < 0.7:
            header = json.dumps(forged(json.loads(data[8 : 8 + length]), draw)).encode()
            data = struct.pack("<Q", len(header)) + header + data[8 + length :]
        if draw.random() < 0.5:
            at = draw.randrange(len(data) - 200, len(data))  # mostly the numbers
            data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
        put(tmp_path, arrays=data)
        whole["arrays"] |= {"bytes": len(data), "sha256": checksum(path)}
        sign(tmp_path / "state.json", whole)
        found = read(tmp_path)
        accepted += found is not None
        check_valid(found)
    assert accepted > 0.01 * FILES


def test_swapped_files(original, tmp_path):
    for number, state in enumerate([STATE, STATE | {"flags": np.array([[False], [False]])}, {"a": 1}]):
        write_state(tmp_path / str(number), "fuzz", state)
    for one, other in [(0, 1), (1, 0), (0, 2), (2, 0)]:
        shutil.rmtree(tmp_path / "mixed", ignore_errors=True)
        shutil.copytree(tmp_path / str(one), tmp_path / "mixed")
        shutil.copy(tmp_path / str(other) / NAMES[1], tmp_path / "mixed")
        assert read(tmp_path / "mixed") is None
        for name, source in [(NAMES[0], NAMES[1]), (NAMES[1], NAMES[0])]:
            shutil.copy(tmp_path / str(one) / source, tmp_path / "mixed" / name)
            assert read(tmp_path / "mixed") is None
