import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, eye_array

from coterie import weights as term_weights
from coterie.cluster import texts as texts_module
from coterie.cluster.space import Space, learn_space, unit_dense
from coterie.cluster.texts import take_sample, terms_of_sample
from coterie.engines import Block, DiskEngine, MemoryEngine, as_engine, write_blocks
from coterie.semantics import cooccurrence, ppmi
from matrices import count_matrices, with_weights
from planted import planted


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, length, where=length > 0, out=np.zeros_like(X))


def literal_company(X, weights=None):
    """Rows of PPMI at unit length, plus the identity, at unit length again; dense."""
    return unit(unit(ppmi(cooccurrence(X, weights)).toarray()) + np.eye(X.shape[1]))


def literal_directions(X, dimensions, weights=None):
    """Rows of WPV with V from an exact decomposition of WP with rows of exactly unit length."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    enriched = (np.asarray(X) * term_weights.idf(csr_matrix(X), weights)) @ literal_company(
        csr_matrix(X), weights
    )
    _, values, V = np.linalg.svd(np.sqrt(weights)[:, None] * unit(enriched), full_matrices=False)
    V = V[:dimensions]
    V[values[:dimensions] <= 1e-6 * values[0]] = 0
    return unit(enriched @ V.T)


def cosines(text_vectors):
    """What is left of vectors when signs and rotations are free."""
    return text_vectors @ text_vectors.T


def found_directions(X, dimensions, weights=None):
    X = csr_matrix(X)
    return learn_space(as_engine(X, weights), dimensions).text_vectors(X)


def blocks_of(X, row_weights, size):
    return [Block(X[a : a + size], row_weights[a : a + size], a) for a in range(0, X.shape[0], size)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dimensions", [5, 20, 200])  # between 2 and 5 nothing but chance orders five topics
def test_directions_are_those_of_an_exact_decomposition(dimensions, weighted):
    X, _ = planted(200, 5, own=8, common=10)
    weights = np.arange(200) % 4 + 1.0 if weighted else np.ones(200)
    found, expected = (
        make(X.toarray(), dimensions, weights) for make in (found_directions, literal_directions)
    )
    # lengths are estimated, so the decomposition is that of rows a few per cent too long or too short
    difference = np.abs(cosines(found) - cosines(expected))
    assert difference.mean() < 0.02
    assert np.quantile(difference, 0.99) < 0.1
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)


@settings(max_examples=40)
@given(with_weights(count_matrices(max_rows=12, max_terms=7)))
def test_with_as_many_directions_as_terms_nothing_is_lost(data):
    X, weights = data[0], data[1].astype(float)
    enriched = unit((X * term_weights.idf(csr_matrix(X), weights)) @ literal_company(csr_matrix(X), weights))
    found = found_directions(X, X.shape[1], weights)
    np.testing.assert_allclose(cosines(found), cosines(enriched), atol=2e-3)


@settings(max_examples=40)
@given(with_weights(count_matrices(max_rows=12, max_terms=7)), st.integers(1, 9))
def test_weights_are_repeated_rows(data, dimensions):
    X, times = data
    one = learn_space(as_engine(X, times), dimensions)
    two = learn_space(as_engine(np.repeat(X, times, axis=0)), dimensions)
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-9, atol=1e-12)
    assert one.vectors.shape == two.vectors.shape == (X.shape[1], min(dimensions, X.shape[1]))


def test_weights_are_repeated_rows_in_every_direction():
    X, _ = planted(150, 4)
    times = np.arange(150) % 3 + 1
    spaces = (
        learn_space(as_engine(X, times), 4),
        learn_space(as_engine(np.repeat(X.toarray(), times, axis=0)), 4),
    )
    one, two = (cosines(space.text_vectors(X)) for space in spaces)
    np.testing.assert_allclose(one, two, atol=2e-3)
    unweighted = cosines(learn_space(as_engine(X), 4).text_vectors(X))
    assert np.abs(unweighted - one).max() > 2e-3


def test_the_length_of_texts_does_not_matter():
    X, _ = planted(150, 5, noise=3)
    times = np.random.default_rng(0).integers(1, 20, 150)[:, None]
    one, two = (learn_space(as_engine(counts), 5) for counts in (X, X.toarray() * times))
    np.testing.assert_allclose(cosines(one.text_vectors(X)), cosines(two.text_vectors(X)), atol=2e-3)


def test_a_space_from_disk_is_that_from_memory(tmp_path):
    X, _ = planted(200, 4)
    row_weights = np.arange(200) % 3 + 1.0
    write_blocks(tmp_path, blocks_of(X, row_weights, 33))
    disk = learn_space(DiskEngine(tmp_path), 6)
    memory = learn_space(MemoryEngine(blocks_of(X, row_weights, 33), 2), 6)
    whole = learn_space(as_engine(X, row_weights), 6)
    np.testing.assert_allclose(disk.weights, whole.weights, rtol=1e-12)
    for other in (memory, whole):
        np.testing.assert_allclose(cosines(disk.text_vectors(X)), cosines(other.text_vectors(X)), atol=2e-3)


def test_threads_change_nothing():
    X, _ = planted(200, 4)
    one, two = (learn_space(MemoryEngine(blocks_of(X, np.ones(200), 33), n), 6) for n in (1, 2))
    np.testing.assert_array_equal(one.vectors, two.vectors)


def test_texts_without_words_are_zeros_and_teach_nothing():
    X, _ = planted(100, 3)
    X = np.vstack([X.toarray(), np.zeros((5, X.shape[1]))])
    space = learn_space(as_engine(X), 4)
    for made in (space.text_vectors(csr_matrix(X)), space.words(csr_matrix(X)).toarray()):
        assert not made[-5:].any()
        np.testing.assert_allclose(np.linalg.norm(made[:-5], axis=1), 1, rtol=1e-6)


def test_words_are_weighted_counts_at_unit_length():
    X, _ = planted(60, 3)
    space = learn_space(as_engine(X), 4)
    np.testing.assert_allclose(space.weights, term_weights.idf(X))
    np.testing.assert_allclose(space.words(X).toarray(), unit(X.toarray() * space.weights), atol=1e-12)
    np.testing.assert_array_equal(X.toarray(), planted(60, 3)[0].toarray())  # counts stay as they are


def test_a_word_alone_lies_near_the_company_it_keeps():
    # a and b are never together, but both with c; d and e are another matter
    X = np.array([[1, 0, 1, 0, 0], [0, 1, 1, 0, 0]] * 4 + [[0, 0, 0, 1, 1]] * 8, dtype=float)
    alone = learn_space(as_engine(X), 2).text_vectors(csr_matrix(np.eye(5)))
    assert cosines(alone)[0, 1] > 0.95
    assert abs(cosines(alone)[0, 3]) < 0.05


@pytest.mark.parametrize("dimensions", [1, 3, 50])
@pytest.mark.parametrize(
    "X",
    [[[1.0], [2.0], [0.0]], [[1.0, 0], [0, 1]], [[1.0, 2, 3]], [[0.0, 0], [0, 0]], [[1.0, 1]] * 3],
    ids=str,
)
def test_edges(X, dimensions):
    X = csr_matrix(np.array(X))
    space = learn_space(as_engine(X), dimensions)
    assert space.vectors.shape == (X.shape[1], min(dimensions, X.shape[1]))
    assert np.isfinite(space.vectors).all()
    text_vectors = space.text_vectors(X)
    length = np.linalg.norm(text_vectors, axis=1)
    assert np.logical_or(np.isclose(length, 1), length == 0).all()


def test_no_terms_at_all():
    space = learn_space(as_engine(csr_matrix((3, 0))), 5)
    assert space.vectors.shape == (0, 0)
    assert space.text_vectors(csr_matrix((3, 0))).shape == (3, 0)


def test_zeros_stay_zeros():
    np.testing.assert_allclose(unit_dense(np.array([[3.0, 4], [0, 0]])), [[0.6, 0.8], [0, 0]])


def taken(X, row_weights=None, threads=None):
    space = Space(np.ones(X.shape[1]), np.eye(X.shape[1]))
    told = []

    def text_vectors(counts, numbers):
        told.append(numbers)
        return space.text_vectors(counts)

    return take_sample(as_engine(X, row_weights, threads), space.words, text_vectors), told


def test_a_sample_of_few_texts_is_all_of_them(monkeypatch):
    monkeypatch.setattr(texts_module, "_BLOCK_ROWS", 16)
    X, _ = planted(50, 3)
    X = csr_matrix(np.vstack([X.toarray(), np.zeros((3, X.shape[1]))]))
    sample, told = taken(X, np.arange(53) % 3 + 1.0)
    assert sample.n_rows == 53
    assert sample.n_terms == X.shape[1]
    assert [block.start for block in sample.blocks] == [0, 16, 32, 48]
    np.testing.assert_array_equal(sample.counts().toarray(), X.toarray())
    np.testing.assert_array_equal(sample.gather(lambda block: block.numbers), np.arange(53))
    np.testing.assert_array_equal(np.concatenate(told), np.arange(53))
    np.testing.assert_array_equal(
        sample.gather(lambda block: block.weights), [*(np.arange(50) % 3 + 1), 0, 0, 0]
    )
    np.testing.assert_allclose(sample.gather(lambda block: block.text_vectors), unit(X.toarray()), atol=1e-6)
    np.testing.assert_allclose(
        sample.gather(lambda block: block.words.toarray()), unit(X.toarray()), atol=1e-6
    )
    assert sample.sum(lambda block: float(block.weights.sum())) == (np.arange(50) % 3 + 1).sum()
    assert sample.as_engine().shape == (53, X.shape[1])


@pytest.mark.parametrize("size", [1, 7, 20])
def test_a_sample_of_many_texts_is_every_nth_across_blocks(size, monkeypatch):
    monkeypatch.setattr(texts_module, "MOST_TEXTS", 20)
    monkeypatch.setattr(texts_module, "_BLOCK_ROWS", 8)
    X, _ = planted(50, 3)
    space = Space(np.ones(X.shape[1]), np.eye(X.shape[1]))
    row_weights = np.arange(50) + 1.0
    engine = MemoryEngine(blocks_of(X, row_weights, size))
    sample = take_sample(engine, space.words, lambda counts, _: space.text_vectors(counts))
    chosen = np.arange(0, 50, 3)
    assert sample.n_rows == len(chosen) <= 20
    np.testing.assert_array_equal(sample.gather(lambda block: block.numbers), chosen)
    np.testing.assert_array_equal(sample.gather(lambda block: block.weights), row_weights[chosen])
    np.testing.assert_array_equal(sample.counts().toarray(), X[chosen].toarray())


def test_a_large_sample_has_few_blocks_whatever_the_threads(monkeypatch):
    monkeypatch.setattr(texts_module, "_BLOCK_ROWS", 4)
    X, _ = planted(50, 3)
    samples = [taken(X, threads=threads)[0] for threads in (1, 3)]
    starts = [[block.start for block in sample.blocks] for sample in samples]
    assert starts[0] == starts[1] == list(range(0, 50, 7))


def test_the_terms_of_a_sample_are_those_of_its_texts(monkeypatch):
    monkeypatch.setattr(texts_module, "MOST_TEXTS", 20)
    engine = MemoryEngine(blocks_of(csr_matrix(eye_array(50)), np.ones(50), 7))
    np.testing.assert_array_equal(np.flatnonzero(terms_of_sample(engine)), np.arange(0, 50, 3))


def test_a_sample_of_nothing():
    sample, _ = taken(csr_matrix((0, 3)))
    assert sample.n_rows == 0
