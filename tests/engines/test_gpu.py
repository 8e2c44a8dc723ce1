"""The card gives what the processor gives, to about six digits, and the same bytes every time.

`benchmarks/gpu.sh` runs these on a machine with a card; elsewhere those that need one are skipped.
"""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random

from coterie.cluster.space import learn_space
from coterie.engines import Block, MemoryEngine, as_engine, device, gpu
from coterie.engines.base import pattern, scaled_columns, scaled_rows, squared
from coterie.engines.device import DeviceRows, Uploads, to_host
from coterie.engines.gpu import GpuEngine
from coterie.errors import InputError
from coterie.factor.nmf import NMF
from coterie.linalg.svd import term_vectors


def has_card():
    try:
        GpuEngine(as_engine(np.eye(2)))
    except InputError:
        return False
    return True


CARD = has_card()
needs_card = pytest.mark.skipif(not CARD, reason="no graphics card")
#: Numbers that differ by less, in parts of the largest, are equal in single precision.
CLOSE = 2e-6


def matrix(n_rows=5_000, n_terms=300, seed=0, density=0.02):
    """Counts with empty rows, empty columns, and columns that are in nearly every row."""
    X = random(n_rows, n_terms, density, format="lil", rng=np.random.default_rng(seed))
    X[:, 7] = 1.0
    X[3] = 0.0
    X[:, 11] = 0.0
    X = csr_matrix(X)
    X.data = np.ceil(3 * X.data)
    X.sort_indices()
    return X


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def assert_close(found, expected, tolerance=CLOSE):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) <= tolerance * max(
        np.abs(expected).max(initial=0.0), 1e-30
    )


@pytest.mark.skipif(CARD, reason="there is a card")
def test_without_a_card_the_engine_says_what_is_missing():
    with pytest.raises(InputError, match=r"CuPy|graphics card") as told:
        GpuEngine(as_engine(np.eye(2)))
    assert "coterie[gpu" in str(told.value)
    assert "\n" not in str(told.value)


@needs_card
@pytest.mark.parametrize("columns", [1, 3, 4, 100])
def test_products_are_those_of_scipy(columns):
    X, rng = matrix(), np.random.default_rng(1)
    rows = DeviceRows.of(X, Uploads())
    right, left = rng.random((X.shape[1], columns)), rng.random((X.shape[0], columns))
    assert_close(to_host(rows @ right), X @ right)
    assert_close(to_host(rows.T @ left), X.T @ left)
    assert_close(to_host(rows @ right[:, 0]), X @ right[:, 0])
    assert_close(to_host(rows.T @ left[:, 0]), X.T @ left[:, 0])


@needs_card
@pytest.mark.parametrize("many", [255, 256, 257, 65_536, 65_537, 200_000])
def test_long_columns_are_added_up_whole(many):
    """Around the sizes at which one more piece, or one more level of pieces, is needed."""
    X = csr_matrix((np.ones(many), np.zeros(many, dtype=np.int32), np.arange(many + 1)), shape=(many, 3))
    rows = DeviceRows.of(X, Uploads())
    assert to_host(rows.T @ np.ones(many)).tolist() == [many, 0, 0]


@needs_card
def test_empty_matrices_have_products():
    for shape in ((0, 4), (5, 4)):
        rows = DeviceRows.of(csr_matrix(shape), Uploads())
        assert_close(to_host(rows @ np.ones((4, 2))), np.zeros((shape[0], 2)))
        assert_close(to_host(rows.T @ np.ones((shape[0], 2))), np.zeros((4, 2)))


@needs_card
def test_changed_entries_are_those_of_scipy():
    X, rng = matrix(), np.random.default_rng(2)
    rows, per_term, per_row = DeviceRows.of(X, Uploads()), rng.random(X.shape[1]), rng.random(X.shape[0])
    changed = [
        (pattern(rows), pattern(X)),
        (squared(rows), squared(X)),
        (scaled_columns(rows, per_term), scaled_columns(X, per_term)),
        (scaled_rows(rows, per_row), scaled_rows(X, per_row)),
    ]
    for found, expected in changed:
        assert_close(found.host().toarray(), expected.toarray())
        assert_close(to_host(found.T @ per_row), expected.T @ per_row)  # both copies were changed


def blocks(n=9):
    rng = np.random.default_rng(3)
    return [Block(matrix(800, seed=k), rng.integers(1, 4, 800).astype(float), 800 * k) for k in range(n)]


@needs_card
def test_passes_are_those_of_the_processor(monkeypatch):
    monkeypatch.setattr(gpu, "DEVICE_ROWS", 1_600)
    host = MemoryEngine(blocks())
    card = GpuEngine(host).accelerated()
    assert card.shape == host.shape
    assert 1 < card.n_blocks < host.n_blocks
    Q = np.random.default_rng(4).random((300, 5))

    def gram(block):
        return block.X.T @ (block.weights[:, None] * (block.X @ Q)), block.weights.sum()

    for found, expected in zip(to_host(card.sum(gram)), host.sum(gram), strict=True):
        assert_close(np.asarray(found), np.asarray(expected))
    rows = np.vstack(list(card.map(lambda block: block.X @ Q)))
    assert isinstance(rows, np.ndarray)
    assert_close(rows, np.vstack(list(host.map(lambda block: block.X @ Q))))


@needs_card
def test_blocks_that_do_not_fit_give_the_same_bytes(monkeypatch):
    monkeypatch.setattr(gpu, "DEVICE_ROWS", 1_600)
    host = MemoryEngine(blocks())
    found = []
    for memory in (0, 100_000, 1 << 30):
        card = GpuEngine(host, memory).accelerated()
        half = card.mapped(
            lambda block: Block(scaled_columns(block.X, np.full(300, 0.3)), block.weights, block.start)
        )
        found.append(
            digest(
                to_host(card.sum(lambda block: block.X.T @ block.weights)),
                to_host(half.sum(lambda b: b.X.T @ b.weights)),
            )
        )
    assert len(set(found)) == 1


@needs_card
def test_an_array_that_changed_between_passes_is_copied_again():
    card = GpuEngine(MemoryEngine(blocks(1))).accelerated()
    Q = np.ones((300, 4))
    first = to_host(card.sum(lambda block: block.X @ Q))
    Q *= 2.0
    assert_close(to_host(card.sum(lambda block: block.X @ Q)), 2.0 * first)


@needs_card
@pytest.mark.parametrize(
    "given",
    [{"init": "svd"}, {"init": "rows"}, {"init": "random"}, {"unit_columns": True}, {"weights": "idf"}],
)
def test_ten_fits_give_the_same_bytes_and_those_of_the_processor_nearly(given):
    X = matrix(20_000, 2_000, density=0.004)
    settings = {"n_topics": 10, "l2": 0.5, "max_iter": 15, "random_state": 0, **given}
    fits = [NMF(**settings).fit(GpuEngine(as_engine(X))) for _ in range(10)]
    assert len({digest(model.components_, model.objective_) for model in fits}) == 1
    host = NMF(**settings).fit(as_engine(X))
    assert fits[0].objective_[0] == pytest.approx(host.objective_[0], rel=1e-4)
    assert fits[0].objective_[-1] == pytest.approx(host.objective_[-1], rel=1e-3)
    assert fits[0].fallback_ == host.fallback_
    same = fits[0].predict(GpuEngine(as_engine(X))) == fits[0].predict(X)
    assert same.mean() > 0.999


@needs_card
@pytest.mark.parametrize("settings", [{"solver": "hals"}, {"loss": "divergence"}])
def test_what_is_not_made_for_a_card_runs_on_the_processor(settings):
    X = matrix(2_000, 200)
    on_card = NMF(5, max_iter=3, l2=0.1, **settings).fit(GpuEngine(as_engine(X)))
    assert digest(on_card.components_) == digest(
        NMF(5, max_iter=3, l2=0.1, **settings).fit(as_engine(X)).components_
    )


@needs_card
def test_singular_vectors_are_those_of_the_processor():
    host = as_engine(matrix(20_000, 2_000, density=0.004))
    vectors, values = to_host(term_vectors(GpuEngine(host).accelerated(), 5))
    expected, others = term_vectors(host, 5)
    np.testing.assert_allclose(values, others, rtol=1e-4)
    assert np.abs(np.einsum("ij,ij->j", vectors[:, :2], expected[:, :2])).min() > 0.99


@needs_card
def test_text_vectors_are_those_of_the_processor():
    rng = np.random.default_rng(5)
    topic = rng.integers(0, 6, 4_000)
    words = np.where(rng.random((4_000, 8)) < 0.8, topic[:, None] * 40, 240) + rng.integers(0, 40, (4_000, 8))
    X = csr_matrix((np.ones(32_000), (np.repeat(np.arange(4_000), 8), words.ravel())), shape=(4_000, 280))
    card, host = (
        learn_space(engine, 6).text_vectors(X) for engine in (GpuEngine(as_engine(X)), as_engine(X))
    )
    assert np.abs(card @ card[:300].T - host @ host[:300].T).max() < 0.01


def test_rows_are_cut_into_pieces_that_cover_them(monkeypatch):
    """Of the processor: this is arithmetic with whole numbers."""
    monkeypatch.setattr(device, "_cupy", lambda: np)
    monkeypatch.setattr(device, "_PIECE", 3)
    rng = np.random.default_rng(0)
    for _ in range(50):
        lengths = rng.choice([0, 1, 2, 3, 4, 9, 10, 27, 28, 100], rng.integers(1, 8))
        values = rng.integers(0, 100, lengths.sum())
        starts = np.concatenate([[0], np.cumsum(lengths)])
        sums = values
        levels = device._levels(starts)
        for level in levels:
            assert np.diff(level).max() <= 3
            sums = np.array([sums[a:b].sum() for a, b in pairwise(level)])
        assert sums.tolist() == [values[a:b].sum() for a, b in pairwise(starts)]
