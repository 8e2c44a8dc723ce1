from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_matrix, diags, identity
from scipy.sparse.linalg import svds

from coterie import weights
from coterie.cluster import n_topics as rule
from coterie.cluster import structure
from coterie.cluster.n_topics import choose_n_topics
from coterie.corpus import Vectorizer
from coterie.linalg.rows import unit_rows
from coterie.metrics import ari
from coterie.semantics import cooccurrence, ppmi


def seed(number=0):
    return np.random.RandomState(number)


def texts_on(n_topics, per_topic=60, own_words=25, length=8, common=0.25, number=0):
    """Texts that draw most words from those of their topic and the rest from words all topics share."""
    random = seed(number)
    topic = np.repeat(np.arange(n_topics), per_topic)
    shared = random.uniform(size=(len(topic), length)) < common
    own = topic[:, None] * own_words + random.randint(own_words, size=shared.shape)
    words = np.where(shared, n_topics * own_words + random.randint(own_words, size=shared.shape), own)
    ends = np.arange(0, words.size + 1, length)
    counts = csr_matrix(
        (np.ones(words.size), words.ravel(), ends), shape=(len(topic), (n_topics + 1) * own_words)
    )
    counts.sum_duplicates()
    return counts


def shuffled(counts, number=0):
    """All tokens dealt out at random over texts of the same lengths: written anew, apart from the module's."""
    tokens = [term for term, n in zip(counts.indices, counts.data, strict=True) for _ in range(int(n))]
    lengths = np.asarray(counts.sum(axis=1)).ravel().astype(int)
    text = np.repeat(np.arange(counts.shape[0]), lengths)
    dealt = seed(number).permutation(tokens)
    return coo_matrix((np.ones(len(tokens)), (text, dealt)), shape=counts.shape).tocsr()


def embedded(counts, dimensions=60):
    """Texts enriched by the co-occurrence of their words, by an exact SVD of the product itself."""
    company = unit_rows(ppmi(cooccurrence(counts)))
    company = unit_rows((company + identity(company.shape[0])).tocsr())
    enriched = unit_rows((unit_rows((counts @ diags(weights.idf(counts))).tocsr()) @ company).tocsr())
    dimensions = min(dimensions, min(enriched.shape) - 1)
    U, S, _ = svds(enriched, k=dimensions, random_state=0)
    return U * S


def chosen(counts, number=0, **options):
    return choose_n_topics(embedded(counts), counts, seed(number), **options)


def is_consistent(found):
    assert 1 <= found.low <= found.n_topics <= found.high
    assert found.n_topics not in found.peaks
    assert len(set(found.peaks)) == len(found.peaks)
    numbers, scores = zip(*found.curve, strict=True)
    assert list(numbers) == sorted(set(numbers))
    assert max(scores) == 1
    assert min(scores) >= 0
    return True


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [3, 6, 12, 30])
def test_planted_topics_are_counted(n_topics):
    found = chosen(texts_on(n_topics))
    assert found.structured
    assert n_topics / 1.5 <= found.n_topics <= n_topics * 1.5
    assert found.low <= n_topics <= found.high
    assert is_consistent(found)


@pytest.mark.slow
def test_two_scales_are_both_shown():
    """Four fields of six topics each: both numbers are right."""
    random = seed(1)
    field, topic = np.eye(4), np.eye(24)
    of = np.repeat(np.arange(24), 60)
    vectors = 1.6 * field[of // 6], 1.0 * topic[of], 0.8 / np.sqrt(28) * random.standard_normal((len(of), 28))
    vectors = np.hstack([vectors[0], vectors[1]]) + vectors[2]
    found = choose_n_topics(vectors, texts_on(24), seed())
    scales = np.log2([found.n_topics, *found.peaks])
    assert np.abs(scales - np.log2(4)).min() < np.log2(1.5)
    assert np.abs(scales - np.log2(24)).min() < np.log2(1.5)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_shuffled_tokens_have_no_structure(number):
    found = chosen(shuffled(texts_on(6), number), number)
    assert not found.structured
    assert (found.n_topics, found.low) == (1, 1)
    assert found.structure < structure.UNSTRUCTURED < structure.structure_ratio(texts_on(6), seed())
    assert is_consistent(found)


@pytest.mark.slow
def test_an_elongated_cloud_does_not_pass_for_two_clusters():
    """It is cut across at the same place every time: agreement alone would call that structure."""
    random = seed(2)
    spread = np.array([0.8, *[0.25] * 19])
    vectors = rule.unit_float_rows(np.eye(20)[0] * 0.5 + random.standard_normal((1500, 20)) * spread)
    measured = rule.agreement(vectors, csr_matrix(random.poisson(0.3, (1500, 20)).astype(float)), seed())
    assert measured.texts[0] > 0.8
    assert rule._excess(measured)[0] < 0.5 * measured.texts[0]


@pytest.mark.slow
def test_the_same_state_gives_the_same_answer():
    counts = texts_on(5)
    vectors = embedded(counts)
    assert choose_n_topics(vectors, counts, seed(7)) == choose_n_topics(vectors, counts, seed(7))


@pytest.mark.slow
def test_a_sample_of_many_texts_gives_the_same_answer_again(monkeypatch):
    monkeypatch.setattr(rule, "_ROWS", 150)
    monkeypatch.setattr(structure, "_WORDS", 900)
    counts = texts_on(5)
    vectors = embedded(counts)
    found = choose_n_topics(vectors, counts, seed(7))
    assert found == choose_n_topics(vectors, counts, seed(7))
    assert found.low <= 5 <= found.high


@pytest.mark.slow
def test_rows_of_zeros_count_for_nothing():
    counts = texts_on(5)
    vectors = embedded(counts)
    holes = csr_matrix((9, counts.shape[1]))
    with_holes = csr_matrix(np.vstack([counts.toarray(), holes.toarray()]))
    found = choose_n_topics(np.vstack([vectors, np.zeros((9, vectors.shape[1]))]), with_holes, seed())
    assert found == choose_n_topics(vectors, counts, seed())


@pytest.mark.slow
def test_lengths_of_vectors_do_not_matter():
    counts = texts_on(5)
    vectors = embedded(counts)
    scale = 2.0 ** seed().randint(-3, 4, size=(len(vectors), 1))
    assert choose_n_topics(vectors * scale, counts, seed()) == choose_n_topics(vectors, counts, seed())


@pytest.mark.slow
def test_largest_is_kept():
    found = chosen(texts_on(12), largest=7)
    assert found.n_topics <= found.high <= 7
    assert max(k for k, _ in found.curve) <= 7
    assert chosen(texts_on(12), largest=1).n_topics == 1


@settings(max_examples=40)
@given(
    st.integers(0, 45),
    st.integers(1, 4),
    st.sampled_from(["random", "equal", "zeros", "few kinds"]),
    st.integers(0, 9),
)
def test_tiny_and_degenerate_inputs_are_answered(n_texts, dimensions, kind, number):
    random = seed(number)
    words = random.randint(0, 3, size=(n_texts, 5)).astype(float)
    vectors = random.standard_normal((n_texts, dimensions))
    if kind == "equal":
        vectors[:], words[:] = 1.0, 1.0
    elif kind == "zeros":
        vectors[:], words[:] = 0.0, 0.0
    elif kind == "few kinds":
        vectors = vectors[np.arange(n_texts) % 3] if n_texts >= 3 else vectors
    found = choose_n_topics(vectors, csr_matrix(words), random)
    assert is_consistent(found)
    assert found.n_topics <= max(n_texts, 1)
    if kind in ("equal", "zeros"):
        assert not found.structured
        assert found.n_topics == 1


def test_texts_without_words_have_no_structure():
    found = choose_n_topics(seed().standard_normal((50, 4)), csr_matrix((50, 3)), seed())
    assert not found.structured


@given(st.integers(1, 6), st.integers(2, 80), st.integers(0, 99))
def test_agreement_of_labels_is_the_adjusted_rand_index(n_clusters, n_texts, number):
    one, other = seed(number).randint(n_clusters, size=(2, n_texts))
    assert rule._adjusted_rand(one, other, n_clusters) == pytest.approx(ari(one, other), abs=1e-9)


def test_interval_is_the_narrowest_that_holds_the_mass():
    random = seed()
    for _ in range(50):
        mass = random.dirichlet(np.full(12, 0.3))
        inside = int(mass.argmax())
        low, high = rule._narrowest(mass, inside)
        assert low <= inside <= high
        assert mass[low : high + 1].sum() >= rule.MASS - 1e-9
        narrower = [(a, a + high - low - 1) for a in range(12) if a <= inside <= a + high - low - 1]
        assert all(mass[a : b + 1].sum() < rule.MASS for a, b in narrower)


@given(st.integers(2, 30), st.floats(-2, 2))
def test_a_straight_curve_has_no_bend(n_points, slope):
    octave = np.linspace(1, 8, n_points)
    np.testing.assert_allclose(rule._bend(octave, slope * octave), 0, atol=1e-9)


def test_the_bend_is_largest_where_a_curve_stops_growing():
    octave = np.log2(rule.GRID)
    grows_to_16 = np.minimum(octave, 4)
    assert rule.GRID[rule._bend(octave, grows_to_16).argmax()] in (14, 17)


@pytest.mark.slow
def test_more_texts_with_the_same_curves_have_more_topics():
    measured = rule.agreement(rule.unit_float_rows(embedded(texts_on(8))), texts_on(8), seed())
    few, many = (
        rule.read_off(replace(measured, n_texts=n), rule.COEFFICIENTS, 2.0).n_topics for n in (300, 30_000)
    )
    beyond = rule.read_off(replace(measured, n_texts=10**6), rule.COEFFICIENTS, 2.0).n_topics
    assert few <= many == beyond


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_a_few_hundred_short_texts_are_not_called_unstructured(dataset, number):
    data = dataset("stackoverflow")
    labels, random = np.array(data.labels), seed(number)
    some = np.isin(labels, random.choice(np.unique(labels), 12, replace=False))
    rows = random.choice(np.flatnonzero(some), 300, replace=False)
    counts = Vectorizer(min_df=2).fit_transform([data.texts[i] for i in rows]).tocsr()
    counts = counts[np.diff(counts.indptr) > 0]
    found = [chosen(counts, state) for state in range(2)]
    assert all(one.structured for one in found)
    assert all(one.low <= 12 <= one.high for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["titles"])
def test_labelled_sets_lie_inside_the_interval(dataset, name):
    data = dataset(name)
    counts = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False, min_df=2).fit_transform(
        data.texts
    )
    counts = csr_matrix(np.unique(counts.toarray(), axis=0))
    found = chosen(counts[np.diff(counts.indptr) > 0])
    assert found.structured
    assert found.low <= len(set(data.labels)) <= found.high
    assert is_consistent(found)
