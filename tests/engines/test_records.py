"""Records of rows: a file gives back what memory does, also to another process."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.engines import records as of_rows
from coterie.engines.records import FileRecords, MemoryRecords, portions, taken

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


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(KINDS), st.integers(1, 40), st.booleans(), st.data())
def test_rows_that_are_looked_up_are_those_of_the_array(tmp_path_factory, kind, n_rows, file, data):
    folder = tmp_path_factory.mktemp("records")
    records = FileRecords(folder / "rows", n_rows, kind) if file else MemoryRecords(n_rows, kind)
    records.put(0, some(kind, n_rows, 0))
    rows = np.array(data.draw(st.lists(st.integers(0, n_rows - 1), max_size=60)), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_rows, "_TOGETHER", 7)
        assert taken(records.array, rows).tobytes() == records.array[rows].tobytes()
        places = [at for at, _ in portions(records.array, rows)]
    assert sorted(np.concatenate([*places, []]).tolist()) == list(range(len(rows)))


def resident():
    """Megabytes of files that are mapped into this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssFile")) / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux says about this process")
def test_looking_rows_up_leaves_nothing_of_a_large_file_in_memory(tmp_path):
    """Rows here and there are on every page that the system reads ahead."""
    records = FileRecords(tmp_path / "rows", 50_000_000, np.int64)
    for start in range(0, 50_000_000, 10_000_000):
        records.put(start, np.arange(start, start + 10_000_000))
    rows, before = np.random.default_rng(0).integers(0, 50_000_000, 20_000), resident()
    np.testing.assert_array_equal(taken(records.array, rows), rows)
    assert resident() - before < 20
    np.testing.assert_array_equal(records.array[rows], rows)
    assert resident() - before > 100  # as it would be otherwise
