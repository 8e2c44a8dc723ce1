import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack
from sklearn.base import clone

from coterie.cluster import Coterie, fusion, refining
from coterie.cluster import texts as texts_module
from coterie.cluster.fusion import View, learn_view
from coterie.corpus import Vectorizer
from coterie.engines import Block, DiskEngine, MemoryEngine, as_engine, write_blocks
from coterie.errors import InputError
from coterie.metrics import nmi
from matrices import count_matrices
from planted import planted


def unit(X):
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, length, where=length > 0, out=np.zeros_like(X))


def vectors_for(truth, noise=0.3, seed=1):
    """Vectors around one for each topic, all of them far from zero, as those of models are."""
    rng = np.random.default_rng(seed)
    n_topics = truth.max() + 1
    return 1 + rng.normal(size=(n_topics, 24))[truth] + noise * rng.normal(size=(len(truth), 24))


def poor(seed=0):
    """Few texts of two words each: co-occurrence has little to go by."""
    return planted(200, 5, own=40, common=1, words=2, noise=0, seed=seed)


def written(X):
    """Texts that have these counts."""
    X = csr_matrix(X)
    return [
        " ".join(f"w{term}" for term, n in zip(row.indices, row.data, strict=True) for _ in range(int(n)))
        for row in X
    ]


class Encoder:
    """The sum of a vector for each word, near the others of its topic."""

    def __init__(self, n_terms, own):
        rng = np.random.default_rng(0)
        self.table = (
            1
            + rng.normal(size=(n_terms, 24))[np.arange(n_terms) // own]
            + 0.3 * rng.normal(size=(n_terms, 24))
        )
        self.calls = 0

    def encode(self, texts):
        self.calls += 1
        return np.array(
            [sum((self.table[int(word[1:])] for word in text.split()), np.zeros(24)) for text in texts]
        )


@pytest.fixture(scope="module")
def collection():
    X, truth = poor()
    return X, truth, written(X), Encoder(X.shape[1], 40)


def fitted(embeddings, X, **given):
    return Coterie(5, restarts=2, embeddings=embeddings).fit(X, **given)


def learned(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_") and name != "view_"}


def assert_same(one, two):
    assert vars(one).keys() == vars(two).keys()
    for name, value in learned(one).items():
        np.testing.assert_array_equal(value, learned(two)[name], err_msg=name)
    for name in ("mean", "axes", "share"):
        np.testing.assert_array_equal(getattr(one.view_, name), getattr(two.view_, name))


def test_vectors_are_turned_as_told():
    rng = np.random.default_rng(0)
    X, _ = planted(100, 3)
    vectors, weights = 2 + rng.normal(size=(100, 6)), rng.integers(1, 4, 100).astype(float)
    view = learn_view(X, vectors, weights, 5)
    centred = unit(vectors) - np.average(unit(vectors), axis=0, weights=weights)
    np.testing.assert_allclose(view.mean, np.average(unit(vectors), axis=0, weights=weights), rtol=1e-6)
    np.testing.assert_allclose(view.axes.T @ view.axes, np.eye(6), atol=1e-6)
    turned = view.turned(vectors)
    np.testing.assert_allclose(turned @ turned.T, unit(centred) @ unit(centred).T, atol=1e-5)
    spread = (weights[:, None] * (centred @ view.axes) ** 2).sum(axis=0)
    assert (np.diff(spread) <= 1e-6).all()  # the widest first


def test_the_widest_axes_are_kept(monkeypatch):
    monkeypatch.setattr(fusion, "_AXES", 2)
    X, truth = planted(100, 3)
    vectors = (
        np.hstack([np.eye(3)[truth], 0.05 * np.random.default_rng(0).normal(size=(100, 20))])
        @ np.linalg.qr(np.random.default_rng(1).normal(size=(23, 23)))[0]
    )
    view = learn_view(X, vectors, np.ones(100), 5)
    assert view.turned(vectors).shape == (100, 2)
    within = truth[:, None] == truth
    cosines = view.turned(vectors) @ view.turned(vectors).T
    assert cosines[within].min() > 0.8 > 0 > cosines[~within].max()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.85])
def test_inner_products_mix_both_cosines_by_their_shares(share):
    rng = np.random.default_rng(0)
    text_vectors, vectors = unit(rng.normal(size=(20, 4))), rng.normal(size=(20, 3))
    view = View(np.zeros(3), np.eye(3), share)
    fused = view.fused(text_vectors, vectors)
    turned = unit(vectors)
    np.testing.assert_allclose(
        fused @ fused.T, (1 - share) * text_vectors @ text_vectors.T + share * turned @ turned.T
    )
    np.testing.assert_allclose(np.linalg.norm(fused, axis=1), 1)


@pytest.mark.parametrize("make", [poor, planted], ids=["poor", "rich"])
def test_useless_vectors_say_nothing(make):
    X, truth = make()
    for seed in range(3):
        random = np.random.default_rng(seed).normal(size=(X.shape[0], 24))
        model = fitted(random, X)
        assert model.share_ < 0.05
    alone = Coterie(5, restarts=2).fit_predict(X)
    assert nmi(truth, model.labels_) == pytest.approx(nmi(truth, alone), abs=0.05)


def test_vectors_that_know_the_topics_help_where_texts_are_poor():
    gains = []
    for seed in range(3):
        X, truth = poor(seed)
        model = fitted(vectors_for(truth), X)
        assert 0.3 < model.share_ <= fusion._MOST_SHARE
        gains.append(nmi(truth, model.labels_) - nmi(truth, Coterie(5, restarts=2).fit_predict(X)))
    assert np.mean(gains) > 0.03
    assert min(gains) > -0.02


def test_vectors_say_less_where_texts_are_rich():
    shares = [fitted(vectors_for(truth), X).share_ for X, truth in (poor(), planted())]
    assert shares[1] < shares[0]


@pytest.mark.slow
@settings(max_examples=30)
@given(count_matrices(max_rows=12, max_terms=9), st.integers(1, 4), st.integers(0, 99))
def test_any_counts_and_vectors_are_answered(X, width, seed):
    vectors = np.random.default_rng(seed).integers(-1, 2, (len(X), width)).astype(float)
    model = Coterie(3, restarts=1, embeddings=vectors).fit(X)
    assert 0 <= model.share_ <= 0.85
    shares = model.transform(X, embeddings=vectors)
    assert np.isfinite(shares).all()
    np.testing.assert_array_equal(model.predict(X, embeddings=vectors), model.labels_)
    for row in range(len(X)):
        alone = model.transform(X[row : row + 1], embeddings=vectors[row : row + 1])[0]
        np.testing.assert_allclose(alone, shares[row], atol=1e-5)


def test_array_function_and_encoder_with_the_same_vectors_give_the_same(collection):
    X, truth, texts, encoder = collection
    vectors = encoder.encode(texts)
    array, function, model = (
        fitted(vectors, X),
        fitted(encoder.encode, X, texts=texts),
        fitted(encoder, X, texts=texts),
    )
    assert_same(array, function)
    assert_same(array, model)
    assert array.share_ > 0.3
    assert nmi(truth, array.labels_) > nmi(truth, Coterie(5, restarts=2).fit_predict(X))
    assert_same(fitted(vectors.tolist(), X), array)


def test_new_texts_get_the_same_answer_from_texts_and_from_vectors(collection):
    X, _, texts, encoder = collection
    model, vectors = fitted(encoder, X, texts=texts), encoder.encode(texts)
    np.testing.assert_array_equal(model.predict(X, texts=texts), model.labels_)
    np.testing.assert_array_equal(model.predict(X, embeddings=vectors), model.labels_)
    for method in (model.transform, model.embed):
        together = method(X, texts=texts)
        np.testing.assert_array_equal(method(X, embeddings=vectors), together)
        for row in range(0, 200, 17):
            alone = method(X[row], texts=[texts[row]])[0]
            np.testing.assert_allclose(alone, together[row], atol=1e-5)
            assert model.predict(X[row], texts=[texts[row]])[0] == model.labels_[row]
    known = (X @ model.term_weights_) > 0
    assert not known.all()  # a text without a known word is placed by its vector
    np.testing.assert_allclose(model.transform(X, texts=texts).sum(axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(model.embed(X, texts=texts), axis=1)[known], 1, rtol=1e-5)


def test_fit_and_answer_in_one(collection):
    X, _, texts, encoder = collection
    model = fitted(encoder, X, texts=texts)
    again = clone(model)
    np.testing.assert_array_equal(again.fit_predict(X, texts=texts), model.labels_)
    np.testing.assert_array_equal(clone(model).fit_transform(X, texts=texts), model.transform(X, texts=texts))
    vectors = encoder.encode(texts)
    array = Coterie(5, restarts=2, embeddings=vectors)
    np.testing.assert_array_equal(array.fit_transform(X), model.transform(X, texts=texts))
    np.testing.assert_array_equal(array.fit_predict(X), model.labels_)


def test_vectors_belong_to_their_rows_whatever_the_order(collection):
    X, _, texts, encoder = collection
    vectors, order = encoder.encode(texts), np.random.default_rng(0).permutation(200)
    one, two = fitted(vectors, X), fitted(vectors[order], X[order])
    np.testing.assert_array_equal(one.labels_[order], two.labels_)
    assert one.share_ == pytest.approx(two.share_, rel=1e-6)


def test_rows_that_fold_share_the_mean_of_their_vectors(collection):
    X, _, texts, encoder = collection
    vectors = encoder.encode(texts)
    there = np.unique(X.toarray(), axis=0, return_index=True)[1]
    X, vectors = X[there], vectors[there]
    shift = np.random.default_rng(0).normal(size=vectors.shape)
    twice = fitted(np.vstack([vectors + shift, vectors - shift]), vstack([X, X]).tocsr())
    folded = fitted(vectors, X, sample_weight=np.full(len(there), 2.0))
    assert twice.share_ == pytest.approx(folded.share_, abs=1e-4)
    np.testing.assert_allclose(twice.view_.mean, folded.view_.mean, atol=1e-5)
    # means are rounded otherwise, and starts of k-means may then go other ways
    assert nmi(twice.predict(X, embeddings=vectors), folded.labels_) > 0.8
    # a copy is answered by its own vector
    np.testing.assert_array_equal(twice.labels_[: len(there)], twice.predict(X, embeddings=vectors + shift))


def test_a_row_of_weight_zero_is_not_there(collection):
    X, _, texts, encoder = collection
    vectors = encoder.encode(texts)
    weights = np.ones(200)
    weights[::9] = 0
    odd = np.where(weights[:, None] > 0, vectors, 1e3)
    one, two = fitted(odd, X, sample_weight=weights), fitted(vectors[weights > 0], X[weights > 0])
    assert one.share_ == two.share_
    np.testing.assert_array_equal(one.labels_[weights > 0], two.labels_)
    assert one.labels_.shape == (200,)


def test_row_blocks_in_memory_and_on_disk(collection, tmp_path):
    X, truth, texts, encoder = collection
    vectors = encoder.encode(texts)
    blocks = [Block(X[a : a + 60], np.ones(X[a : a + 60].shape[0]), a) for a in range(0, 200, 60)]
    write_blocks(tmp_path, blocks)
    disk, memory = fitted(vectors, DiskEngine(tmp_path)), fitted(encoder, MemoryEngine(blocks), texts=texts)
    assert disk.share_ == pytest.approx(memory.share_, rel=1e-3)
    found = disk.predict(DiskEngine(tmp_path), embeddings=vectors)
    np.testing.assert_array_equal(found, memory.predict(X, texts=texts))
    assert nmi(truth, found) > 0.85


def test_a_sample_has_the_vectors_of_its_rows(monkeypatch):
    X, truth = planted(900, 4, words=3)
    vectors = vectors_for(truth)
    monkeypatch.setattr(texts_module, "MOST_TEXTS", 150)
    monkeypatch.setattr(texts_module, "_BLOCK_ROWS", 64)
    seen, take = [], texts_module.take_sample
    monkeypatch.setattr(refining, "take_sample", lambda *given: seen.append(take(*given)) or seen[-1])
    model = Coterie(4, restarts=2, embeddings=vectors).fit(as_engine(X))
    assert model.share_ > 0.2  # vectors of other rows would agree with nothing
    assert nmi(truth, model.predict(X, embeddings=vectors)) > 0.95
    rows = np.arange(0, 900, 6)
    embedded = model.embed(X[rows], embeddings=vectors[rows])
    learned_from = [sample.gather(lambda block: block.text_vectors) for sample in seen]
    same = [part.shape == embedded.shape and np.allclose(part, embedded, atol=1e-5) for part in learned_from]
    assert sum(same) == 1  # of the two shares that were tried


@pytest.mark.slow
def test_the_number_of_topics_is_read_from_fused_directions():
    X, truth = planted(500, 6, words=3)
    model = Coterie(restarts=2, embeddings=vectors_for(truth, 0.1)).fit(X)
    assert 4 <= model.number_of_topics_.n_topics <= 9


def test_a_model_with_vectors_asks_for_them(collection):
    X, _, texts, encoder = collection
    by_array, by_texts = fitted(encoder.encode(texts), X), fitted(encoder, X, texts=texts)
    for method in ("predict", "transform", "embed"):
        for named in ({}, {"texts": texts}):
            with pytest.raises(
                InputError,
                match="fitted with an array of embeddings: pass embeddings=… with one row per text",
            ):
                getattr(by_array, method)(X, **named)
        with pytest.raises(InputError, match="pass texts=… or embeddings=…, one for each row of X"):
            getattr(by_texts, method)(X)
    with pytest.raises(InputError, match="Coterie uses embeddings: pass texts=…, one for each row of X"):
        fitted(encoder, X)
    with pytest.raises(InputError, match="texts must have one text for each row of X \\(200\\), got 199"):
        fitted(encoder, X, texts=texts[1:])
    with pytest.raises(InputError, match="texts must have one text for each row of X \\(1\\), got 200"):
        by_texts.predict(X[:1], texts=texts)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda v: v[1:], "one row for each of the 200 texts, got an array of shape"),
        (lambda v: v[:, 0], "one row for each of the 200 texts, got an array of shape"),
        (lambda v: np.where(np.arange(200)[:, None] == 17, np.nan, v), "NaN or infinity in row 17"),
        (lambda v: "glove", "got 'glove'"),
        (lambda v: [["a"]] * 200, "embeddings must be numbers"),
        (lambda v: 5, "embeddings must have one row"),
    ],
)
def test_wrong_vectors_are_refused_by_fit_and_by_predict(make, message, collection):
    X, _, texts, encoder = collection
    vectors = encoder.encode(texts)
    wrong = make(vectors)
    refused = Coterie(5, restarts=1, embeddings=wrong)
    with pytest.raises(InputError, match=message):
        refused.fit(X)
    assert not [name for name in vars(refused) if name not in refused.get_params()]
    model = fitted(vectors, X)
    with pytest.raises(InputError, match=message):
        model.predict(X, embeddings=wrong)


def test_vectors_of_another_width_are_told(collection):
    X, _, texts, encoder = collection
    model = fitted(encoder.encode(texts), X)
    with pytest.raises(InputError, match="embeddings must have 24 columns as in fit, got 23"):
        model.predict(X, embeddings=np.ones((200, 23)))


def test_vectors_are_not_kept(collection):
    X, _, texts, encoder = collection
    model = fitted(encoder, X, texts=texts)
    assert not {"_vectors", "_everyone"} & vars(model).keys()
    broken = Coterie(5, refine="maybe", embeddings=encoder)
    with pytest.raises(InputError, match="refine"):
        broken.fit(X, texts=texts)
    assert not {"_vectors", "_everyone"} & vars(broken).keys()


def test_the_encoder_is_asked_once_a_fit(collection):
    X, _, texts, encoder = collection
    before = encoder.calls
    fitted(encoder, X, texts=texts)
    assert encoder.calls == before + 1


def test_without_embeddings_texts_are_not_needed_and_change_nothing():
    X, _ = planted(100, 3)
    model = Coterie(3, restarts=2).fit(X, texts=written(X))
    assert model.share_ == 0
    np.testing.assert_array_equal(model.labels_, Coterie(3, restarts=2).fit_predict(X))
    np.testing.assert_array_equal(model.predict(X, texts=written(X)), model.labels_)


ANIMALS = ["cat", "dog", "horse", "cow", "sheep", "goat", "rabbit", "mouse"]
FOODS = ["bread", "cheese", "soup", "rice", "apple", "pasta", "salad", "butter"]
MONEY = ["bank", "loan", "credit", "market", "stock", "profit", "tax", "trade"]


def test_static_vectors_of_real_words():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=150)
    texts = [" ".join(rng.choice((ANIMALS, FOODS, MONEY)[topic], 2, replace=False)) for topic in truth]
    X = Vectorizer(tokenizer="whitespace", stop_words=None, stem=False).fit_transform(texts)
    model = Coterie(3, restarts=2, embeddings="static").fit(X, texts=texts)
    assert 0 <= model.share_ <= 0.85
    np.testing.assert_array_equal(model.predict(X, texts=texts), model.labels_)
    np.testing.assert_allclose(
        model.transform(X[3], texts=texts[3:4])[0], model.transform(X, texts=texts)[3], atol=1e-4
    )
    assert nmi(truth, model.labels_) > 0.9


def test_vectors_of_zeros_say_nothing():
    X, truth = planted(120, 3)
    vectors = np.eye(6)[truth] + 0.2 * np.random.default_rng(0).standard_normal((len(truth), 6))
    vectors[::7] = 0
    model = Coterie(3, restarts=2, embeddings=vectors).fit(X)
    assert model.share_ > 0
    own = model.view_.axes.shape[1]
    assert not model.embed(X, embeddings=vectors)[::7, -own:].any()
    some = vectors.any(axis=1)
    unit = vectors[some] / np.linalg.norm(vectors[some], axis=1, keepdims=True)
    np.testing.assert_allclose(model.view_.mean, unit.mean(axis=0), atol=1e-5)
    nothing = csr_matrix((1, X.shape[1]))
    assert not model.transform(nothing, embeddings=np.zeros((1, 6))).any()


def test_the_share_falls_with_reliability_and_asks_for_agreement_where_it_can_be_judged():
    shares = [fusion._share_of(reliability, 1.0) for reliability in (0.0, 0.5, 0.7, 0.9, 1.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[2] > shares[-1] > 0
    reliable, unreliable = 0.9, 0.1
    assert fusion._share_of(reliable, 0.2) == 0  # vectors that a good judge does not know again
    assert fusion._share_of(unreliable, 0.2) == fusion._share_of(unreliable, 1.0)  # nobody there to judge
    assert fusion._share_of(unreliable, 0.0) == 0
