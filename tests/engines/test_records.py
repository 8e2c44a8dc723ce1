"""Records of rows: a file gives back what memory does, also to another process."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.engines.records import FileRecords, MemoryRecords

KINDS = [np.dtype(np.int64), np.dtype((np.float64, (3,))), np.dtype([("topic", "i4"), ("words", "i4", 3)])]


def some(kind, n, seed):
    raw = np.random.default_rng(seed).integers(1, 200, n * kind.itemsize).astype(np.uint8)
    return np.frombuffer(raw.tobytes(), kind).reshape(n, *kind.shape) if kind.shape else raw.view(kind)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 40), st.data())
def test_a_file_holds_what_memory_holds(tmp_path_factory, kind, n_rows, data):
    memory = MemoryRecords(n_rows, kind)
    file = FileRecords(tmp_path_factory.mktemp("records") / "rows", n_rows, kind)
    for seed in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, n_rows))
        values = some(kind, data.draw(st.integers(0, n_rows - start)), seed)
        for records in (memory, pickle.loads(pickle.dumps(file))):
            records.put(start, values)
            records.put(start, values)  # a task may run twice
    a, b = sorted(data.draw(st.tuples(st.integers(0, n_rows), st.integers(0, n_rows))))
    assert file.get(a, b).tobytes() == memory.get(a, b).tobytes()
    assert file.get(a, b).shape == memory.get(a, b).shape
    assert file.array.tobytes() == memory.array.tobytes()
    file.forget()
    assert file.array.tobytes() == memory.array.tobytes()


def test_a_file_goes_with_its_owner_and_not_with_a_copy(tmp_path):
    owner = FileRecords(tmp_path / "rows", 2, np.int64)
    copy = pickle.loads(pickle.dumps(owner))
    del copy
    assert (tmp_path / "rows").exists()
    del owner
    assert not (tmp_path / "rows").exists()


def test_kept_records_outlive_their_owner(tmp_path):
    FileRecords(tmp_path / "rows", 2, np.int64, kept=True).put(0, np.array([4, 5]))
    assert FileRecords(tmp_path / "rows", 2, np.int64, kept=True).array.tolist() == [4, 5]


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows_are_no_records(tmp_path, kind):
    assert len(FileRecords(tmp_path / "rows", 0, kind).array) == 0
