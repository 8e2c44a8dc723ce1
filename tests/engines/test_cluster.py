"""Clusters: sums along the same tree wherever they are computed, arrays that travel once, passes that stay."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random

from coterie.engines import Block, Cluster, MemoryEngine, open_executor, write_blocks
from coterie.engines.base import FAN, add, tree_sum
from coterie.engines.sharing import Shared
from coterie.engines.values import NotPlain, read_value, write_value
from coterie.errors import InputError


def literal(values):
    """The tree, level by level."""
    while len(values) > 1:
        groups = [values[at : at + FAN] for at in range(0, len(values), FAN)]
        values = [sum(group[1:], group[0]) for group in groups]
    return values[0]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=3 * FAN**2))
def test_a_sum_is_that_of_the_tree(values):
    assert tree_sum(iter(values)) == literal(values)


def test_nothing_adds_up_to_nothing():
    with pytest.raises(ValueError, match="nothing to add up"):
        tree_sum(iter([]))


def test_results_are_let_go_as_soon_as_they_are_added():
    import gc
    import weakref

    class Value:
        def __add__(self, other):
            return self

    gc.disable()
    try:
        seen = []

        def made():
            for _ in range(20):
                value = Value()
                seen.append(weakref.ref(value))
                yield value
                del value

        total = tree_sum(made())
        assert sum(ref() is not None for ref in seen) == 1
        del total
        assert not any(ref() for ref in seen)  # no cycle holds on to the last one
    finally:
        gc.enable()


def blocks_of(n_blocks, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Block(
            random(30, 900, 0.02, format="csr", rng=rng, dtype=np.float64),
            rng.integers(1, 4, 30).astype(float),
            30 * number,
        )
        for number in range(n_blocks)
    ]


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    """The same blocks in memory, in a folder, in processes and with a journal."""
    folder = tmp_path_factory.mktemp("cluster")
    blocks = blocks_of(2 * FAN + 3)
    write_blocks(folder / "blocks", blocks)
    with open_executor("processes", 2) as workers:
        yield {
            "memory": MemoryEngine(blocks, 2),
            "threads": Cluster(folder=folder, threads=2).engine(folder / "blocks"),
            "processes": Cluster(workers, folder=folder).engine(folder / "blocks"),
            "journal": Cluster(folder=folder, journal=True).engine(folder / "blocks"),
        }


@pytest.mark.process
@pytest.mark.parametrize("name", ["threads", "processes", "journal"])
def test_sums_and_maps_agree_with_those_in_memory(engines, name):
    Q = np.random.default_rng(1).random((900, 20))  # large enough to travel as a file

    def function(block):
        product = block.X.T @ (block.weights[:, None] * (block.X @ Q))
        return product, float(block.weights.sum()) * 0.1, block.X.T @ block.X, [block.start]

    expected, found = engines["memory"].sum(function), engines[name].sum(function)
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1]
    assert (found[2] != expected[2]).nnz == 0
    assert found[3] == expected[3]
    counted = [block.X.nnz for block in blocks_of(2 * FAN + 3)]
    assert list(engines[name].map(lambda block: int(block.X.nnz))) == counted


@pytest.mark.process
@pytest.mark.parametrize("name", ["memory", "threads", "processes"])
def test_records_are_put_by_tasks_and_read_by_others(engines, name):
    engine = engines[name]
    squares = engine.records(np.float64)

    def put(block):
        squares.put(block.start, block.weights**2)

    for _ in engine.map(put):
        pass
    again = engine.sum(lambda block: squares.get(block.start, block.start + block.X.shape[0]) @ block.weights)
    cubes = [block.weights**3 for block in blocks_of(2 * FAN + 3)]
    assert again == pytest.approx(np.concatenate(cubes).sum())
    np.testing.assert_array_equal(
        squares.array, np.concatenate([block.weights**2 for block in blocks_of(2 * FAN + 3)])
    )


# --- arrays that travel


def test_large_arrays_become_files_and_equal_ones_the_same(tmp_path):
    large, small = np.arange(100_000.0), np.arange(3)
    one = Shared(lambda x: (large * x).sum() + small.sum(), tmp_path)
    other = Shared(lambda x: large.copy()[x], tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert one.files == other.files
    assert len(pickle.dumps(one)) < 20_000
    assert pickle.loads(pickle.dumps(one))(2) == 2 * large.sum() + 3
    assert not pickle.loads(pickle.dumps(Shared(lambda: large, tmp_path)))().flags.writeable


def test_arrays_of_earlier_passes_are_removed(tmp_path):
    with open_executor("processes", 1) as workers:
        cluster = Cluster(workers, folder=tmp_path)
        for number in range(6):
            large = np.full(50_000, float(number))
            assert list(cluster.run(lambda at, large=large: large[at], [0, 1])) == [number, number]
        assert len(list((tmp_path / "shared").iterdir())) <= 3


# --- values in files

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=3),
    lambda inside: st.lists(inside, max_size=3) | st.tuples(inside, inside),
    max_leaves=6,
)


def same(one, other):
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


@settings(deadline=None)
@given(plain)
def test_values_come_back_as_they_were(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("values") / "value"
    write_value(path, value)
    assert same(read_value(path), value)


def test_arrays_and_matrices_come_back_as_they_were(tmp_path):
    array, matrix = np.random.default_rng(0).random((3, 2), dtype=np.float32), csr_matrix(np.eye(3))
    write_value(tmp_path / "value", (array, [matrix], np.float64(0.1)))
    found = read_value(tmp_path / "value")
    np.testing.assert_array_equal(found[0], array)
    assert found[0].dtype == array.dtype
    assert (found[1][0] != matrix).nnz == 0
    assert found[2] == 0.1
    np.testing.assert_array_equal(add(found[0], array), 2 * array)  # and can be added to


@pytest.mark.parametrize("value", [object(), {"a": 1}, np.array([object()]), lambda: 1])
def test_nothing_is_pickled(tmp_path, value):
    with pytest.raises(NotPlain):
        write_value(tmp_path / "value", (1, value))
    assert not list(tmp_path.iterdir())


# --- passes that stay


def test_a_finished_pass_is_not_made_again(tmp_path):
    write_blocks(tmp_path / "blocks", blocks_of(5))
    first = Cluster(folder=tmp_path, journal=True).engine(tmp_path / "blocks")
    total, listed = first.sum(lambda block: block.weights.sum()), list(first.map(lambda block: block.start))
    interrupted = first.map(lambda block: block.start)
    next(interrupted)
    interrupted.close()
    again = Cluster(folder=tmp_path, journal=True).engine(tmp_path / "blocks")
    made = []
    assert again.sum(lambda block: made.append(1) or 0.0) == total
    assert list(again.map(lambda block: made.append(1) or -1)) == listed
    assert not made
    assert list(again.map(lambda block: made.append(1) or block.start)) == listed
    assert len(made) == 5  # the pass that was not finished


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="must exist, and all workers must see it"):
        Cluster(folder=tmp_path / "nowhere")


def test_a_task_cannot_take_the_cluster_along(tmp_path):
    with pytest.raises(TypeError, match="a cluster stays where it is"):
        pickle.dumps(Cluster(folder=tmp_path))
