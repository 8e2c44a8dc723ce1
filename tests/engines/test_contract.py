"""What every engine has to keep. A new engine joins by adding a way to make it to `ENGINES`."""

import threading
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, issparse, random

from coterie.engines import Block, DiskEngine, GpuEngine, MemoryEngine, as_engine, write_blocks
from coterie.errors import InputError


def blocks_of(sizes, n_terms=7, seed=0):
    rng = np.random.default_rng(seed)
    blocks, start = [], 0
    for size in sizes:
        X = random(size, n_terms, 0.4, format="csr", rng=rng) if size else csr_matrix((0, n_terms))
        blocks.append(Block(X, rng.integers(1, 4, size).astype(float), start))
        start += size
    return blocks


def in_memory(blocks, tmp_path, threads):
    return MemoryEngine(blocks, threads)


def on_disk(blocks, tmp_path, threads):
    write_blocks(tmp_path, blocks)
    return DiskEngine(tmp_path, threads)


def beside_a_card(blocks, tmp_path, threads):
    return GpuEngine(MemoryEngine(blocks, threads))


ENGINES = [in_memory, on_disk]
with suppress(InputError):  # where there is a card
    GpuEngine(as_engine(np.eye(2)))
    ENGINES.append(beside_a_card)
SIZES = [3, 0, 5, 1, 8, 2]


@pytest.fixture(
    params=[(make, threads) for make in ENGINES for threads in (1, 2, 3)],
    ids=lambda engine: f"{engine[0].__name__}-{engine[1]}",
)
def engine(request, tmp_path):
    make, threads = request.param
    return make(blocks_of(SIZES), tmp_path, threads)


@pytest.fixture
def whole():
    """The same rows as one block on one thread: what each engine has to equal."""
    blocks = blocks_of(SIZES)
    X = np.vstack([block.X.toarray() for block in blocks])
    return X, np.concatenate([block.weights for block in blocks])


def test_shape(engine):
    assert engine.shape == (sum(SIZES), 7)


def test_map_sees_every_block_once_in_order(engine):
    assert list(engine.map(lambda block: (block.start, block.X.shape[0]))) == [
        (block.start, block.X.shape[0]) for block in blocks_of(SIZES)
    ]


def test_map_hands_out_the_rows_that_were_put_in(engine, whole):
    np.testing.assert_array_equal(np.vstack(list(engine.map(lambda b: b.X.toarray()))), whole[0])
    np.testing.assert_array_equal(np.concatenate(list(engine.map(lambda b: b.weights))), whole[1])


def test_sum_adds_arrays_numbers_sparse_and_tuples(engine, whole):
    X, weights = whole
    products, total, counts = engine.sum(
        lambda block: (block.X.T @ block.weights, block.weights.sum(), block.X.T @ block.X)
    )
    np.testing.assert_allclose(products, X.T @ weights, rtol=1e-12)
    assert total == weights.sum()
    assert issparse(counts)
    np.testing.assert_allclose(counts.toarray(), X.T @ X, rtol=1e-12)


def test_sum_does_not_write_into_what_functions_return(tmp_path):
    blocks = blocks_of([2, 2])
    kept = [np.ones(3), np.full(3, 5.0)]
    engine = MemoryEngine(blocks, 1)
    total = engine.sum(lambda block: kept[block.start // 2])
    assert total.tolist() == [6, 6, 6]
    assert kept[0].tolist() == [1, 1, 1]


def test_integers_and_floats_add_up(engine):
    assert engine.sum(lambda block: np.array([1]) if block.start == 0 else np.array([0.5])).tolist() == [3.5]


def test_results_do_not_depend_on_threads(tmp_path):
    rng = np.random.default_rng(1)
    Q = rng.random((7, 3))
    sums = []
    for make in ENGINES:
        for threads in (1, 2, 4):
            folder = tmp_path / f"{make.__name__}{threads}"
            engine = make(blocks_of([40] * 9, seed=3), folder, threads)
            sums.append(engine.sum(lambda block: block.X.T @ (block.X @ Q)))
    for other in sums[1:]:
        np.testing.assert_array_equal(sums[0], other)  # to the last bit


def test_a_failing_function_raises_and_stops(engine):
    seen = []

    def fail(block):
        seen.append(block.start)
        raise RuntimeError(f"block at {block.start}")

    with pytest.raises(RuntimeError, match="block at 0"):
        list(engine.map(fail))
    assert len(seen) <= engine.threads + 1


def test_map_looks_only_a_few_blocks_ahead(tmp_path):
    engine = on_disk(blocks_of([1] * 50), tmp_path, 2)
    started = []
    lock = threading.Lock()

    def note(block):
        with lock:
            started.append(block.start)
        return block.start

    results = engine.map(note)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert len(started) <= 5 + engine.threads + 1
    results.close()


@given(st.integers(0, 30), st.integers(1, 5), st.booleans())
def test_any_matrix_becomes_an_engine(n_rows, n_terms, dense):
    X = random(n_rows, n_terms, 0.5, format="csr", rng=np.random.default_rng(n_rows))
    engine = as_engine(X.toarray() if dense else X.tocoo())
    assert engine.shape == (n_rows, n_terms)
    np.testing.assert_array_equal(engine.sum(lambda block: block.X.T @ block.weights), X.T @ np.ones(n_rows))


def test_blocks_of_a_matrix_share_its_memory():
    X = random(100, 5, 0.5, format="csr", rng=np.random.default_rng(0))
    assert np.shares_memory(as_engine(X).blocks[0].X.data, X.data)


def test_wrong_use_is_told(tmp_path):
    with pytest.raises(InputError, match="at least one block"):
        MemoryEngine([])
    with pytest.raises(InputError, match="at least one block"):
        write_blocks(tmp_path, [])
    with pytest.raises(InputError, match="does not contain readable row blocks"):
        DiskEngine(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"one number for each of the 2 rows, got shape \(3,\)"):
        as_engine(np.eye(2), weights=[1, 2, 3])
    with pytest.raises(InputError, match="have their own weights"):
        as_engine(as_engine(np.eye(2)), weights=[1, 1])
    with pytest.raises(InputError, match="threads must be"):
        MemoryEngine(blocks_of([1]), threads=0)


def test_mapped_blocks_are_changed_blocks(engine, whole):
    doubled = engine.mapped(lambda block: Block(block.X * 2.0, block.weights, block.start))
    assert doubled.shape == engine.shape
    assert doubled.in_memory == engine.in_memory
    for _ in range(2):  # every pass sees blocks that were changed once
        np.testing.assert_allclose(
            doubled.sum(lambda block: block.X.T @ block.weights), 2 * whole[0].T @ whole[1]
        )


def test_blocks_depend_on_the_matrix_alone():
    X = csr_matrix((20_000, 50))
    sizes = [[b.X.shape[0] for b in as_engine(X, threads=threads).blocks] for threads in (1, 2, 7)]
    assert sizes[0] == sizes[1] == sizes[2]
    assert len(sizes[0]) > 1
