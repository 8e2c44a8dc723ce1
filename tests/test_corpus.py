import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.corpus import Vectorizer, folding
from coterie.engines import DiskEngine, MemoryEngine, memory
from coterie.text import read_texts

texts_with_copies = st.lists(
    st.sampled_from(["late parcel", "parcel late", "", "refund", "refund refund", "?"]), max_size=20
)


@pytest.mark.slow
@given(texts_with_copies)
def test_identical_texts_become_one_row_with_a_weight(texts):
    corpus = Vectorizer().fit_corpus(texts)
    assert corpus.n_texts == len(texts)
    assert corpus.n_distinct == len(set(texts))
    assert corpus.weights().sum() == len(texts)
    counts = np.bincount(corpus.rows, minlength=corpus.n_distinct)
    np.testing.assert_array_equal(corpus.weights(), counts)
    # every text finds its way to a row that stands for the very same text
    for row in range(corpus.n_distinct):
        assert len({texts[i] for i in np.flatnonzero(corpus.rows == row)}) == 1


@pytest.mark.slow
@given(texts_with_copies, st.randoms(use_true_random=False))
def test_canonical_order_depends_on_content_alone(texts, random):
    shuffled = list(texts)
    random.shuffle(shuffled)
    one, other = Vectorizer().fit_corpus(texts), Vectorizer().fit_corpus(shuffled)
    assert (one.matrix() != other.matrix()).nnz == 0
    np.testing.assert_array_equal(one.weights(), other.weights())


def test_order_of_rows_is_that_of_the_digests():
    texts = [f"text {i}" for i in range(200)]
    corpus = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_corpus(texts)
    import hashlib

    expected = sorted(range(200), key=lambda i: hashlib.blake2b(texts[i].encode(), digest_size=16).digest())
    assert np.argsort(corpus.rows).tolist() == expected


def test_unfolded_rows_are_in_the_order_of_the_input():
    texts = ["refund", "late parcel", "refund", ""]
    corpus = Vectorizer().fit_corpus(texts)
    names = corpus.vocabulary.display
    assert [[names[j] for j in row.indices] for row in corpus.unfolded()] == [
        ["refund"],
        ["late", "parcel"],
        ["refund"],
        [],
    ]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small tests see many of them."""
    monkeypatch.setattr(memory, "BLOCK_ROWS", 50)
    monkeypatch.setattr(folding, "BLOCK_ROWS", 50)


@pytest.mark.slow
@pytest.mark.parametrize("ngrams", [1, 2])
def test_disk_equals_memory(dataset, tmp_path, small_blocks, ngrams):
    texts = dataset("tweet").texts
    vectorizer = Vectorizer(min_df=2, ngrams=ngrams, min_words=2)
    inside = vectorizer.fit_corpus(texts)
    outside = vectorizer.fit_corpus(texts, folder=tmp_path)
    assert isinstance(inside.engine, MemoryEngine)
    assert isinstance(outside.engine, DiskEngine)
    assert inside.vocabulary.frame().equals(outside.vocabulary.frame())
    np.testing.assert_array_equal(inside.rows, outside.rows)
    np.testing.assert_array_equal(inside.weights(), outside.weights())
    assert (inside.matrix() != outside.matrix()).nnz == 0
    blocks = [list(corpus.engine.map(lambda block: block.X.shape[0])) for corpus in (inside, outside)]
    assert blocks[0] == blocks[1]
    assert len(blocks[0]) > 16
    for one, other in zip(inside.sequences(), outside.sequences(), strict=True):
        np.testing.assert_array_equal(one.ids, other.ids)
        np.testing.assert_array_equal(one.offsets, other.offsets)


@pytest.mark.slow
def test_a_file_read_in_batches_equals_a_list(dataset, tmp_path, small_blocks):
    texts = dataset("stackoverflow").texts[:2000]
    file = tmp_path / "titles.txt"
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    from_list = Vectorizer(min_df=2).fit_corpus(texts)
    from_file = Vectorizer(min_df=2).fit_corpus(read_texts(file, batch_rows=99), folder=tmp_path / "blocks")
    assert from_list.vocabulary.frame().equals(from_file.vocabulary.frame())
    np.testing.assert_array_equal(from_list.rows, from_file.rows)
    assert (from_list.unfolded() != from_file.unfolded()).nnz == 0


def test_duplicates_that_lie_far_apart_fold(tmp_path):
    texts = [f"parcel {i % 300}" for i in range(2000)]
    corpus = Vectorizer().fit_corpus((text for text in texts), folder=tmp_path)
    assert corpus.n_texts == 2000
    assert corpus.n_distinct == 300
    assert not list(tmp_path.glob("bucket-*"))  # what was only needed on the way is gone


def test_the_sample_has_what_real_queues_have(dataset):
    sample = dataset("sample")
    assert len(sample.texts) >= 1200
    assert len(set(sample.labels)) >= 12
    corpus = Vectorizer(["english", "french", "german", "chinese"]).fit_corpus(sample.texts)
    assert corpus.n_texts == len(sample.texts)
    assert corpus.n_distinct < corpus.n_texts
    empty = corpus.unfolded().getnnz(axis=1) == 0
    assert 4 <= empty.sum() < 40
