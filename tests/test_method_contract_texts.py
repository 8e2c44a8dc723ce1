"""What every method promises behind `TopicModel`, on texts that are counted in several blocks."""

from functools import cache

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from contract import skip_without_tomotopy
from coterie import TopicModel, Vectorizer, methods
from coterie.errors import InputError
from coterie.results import NO_KNOWN_WORD
from planted import planted

each_method = pytest.mark.parametrize("name", methods.names())
#: Rows of a block: so few that threads have something to share.
ROWS = 24


@pytest.fixture(autouse=True)
def _installed(request):
    if hasattr(request.node, "callspec"):
        skip_without_tomotopy(request.node.callspec.params.get("name"))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    for constant in (
        "coterie.corpus.folding.BLOCK_ROWS",
        "coterie.cluster.texts._BLOCK_ROWS",
        "coterie.engines.memory.BLOCK_ROWS",
        "coterie.engines.memory.LEAST_BLOCK_ROWS",
    ):
        monkeypatch.setattr(constant, ROWS)
    with threadpool_limits(limits=1, user_api="blas"):
        yield


def written(X):
    """Counts as texts of made-up words."""
    return [" ".join(f"w{column}" for column in np.repeat(row.indices, row.data.astype(int))) for row in X]


TEXTS = [*written(planted(130, 3, own=9, common=8, words=5, noise=1)[0]), ""]
TEXTS += TEXTS[:9]


def vectorizer(threads=None):
    return Vectorizer(tokenizer="whitespace", stop_words=None, stem=False, threads=threads)


def fit(name, texts, n_topics=3, threads=None):
    return TopicModel(n_topics, method=name, vectorizer=vectorizer(threads)).fit(texts)


@cache
def fitted(name):
    """A model of all texts, on one thread."""
    return fit(name, TEXTS, threads=1)


def said(model, texts=TEXTS):
    """Everything that is told of topics and texts, to compare to the last bit."""
    return (
        model.topics,
        str(model.hierarchy()),
        list(model.assign(texts)),
        model.transform(texts).tolist(),
        model.embed(texts).tolist(),
    )


def test_texts_are_counted_in_several_blocks():
    assert len(vectorizer().fit_corpus(TEXTS).engine.blocks) > 3


@each_method
@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_nothing(name, threads):
    model = fit(name, TEXTS, threads=threads)
    assert said(model) == said(fitted(name))
    np.testing.assert_array_equal(model.labels_, fitted(name).labels_)


#: So many terms that products of their vectors are shared out among BLAS threads.
WIDE = written(planted(600, 12, own=60, common=60, words=6, noise=2)[0])


@pytest.mark.parametrize("name", methods.names())
def test_blas_threads_change_nothing(name, monkeypatch):
    monkeypatch.undo()  # large blocks: products that BLAS shares out
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="blas"):
            found.append(said(fit(name, WIDE, 6), WIDE[:50]))
    assert found[1] == found[0]
    assert found[2] == found[0]


@each_method
def test_the_order_of_texts_does_not_matter(name):
    order = np.random.default_rng(0).permutation(len(TEXTS))
    model = fit(name, [TEXTS[row] for row in order])
    assert said(model) == said(fitted(name))
    np.testing.assert_array_equal(model.labels_, fitted(name).labels_[order])


@each_method
def test_copies_in_any_order_are_the_same_copies(name):
    one, two = fit(name, TEXTS * 2), fit(name, [text for text in TEXTS for _ in range(2)])
    assert said(one) == said(two)
    np.testing.assert_array_equal(one.labels_[: len(TEXTS)], two.labels_[::2])
    assert one.n_texts_ == 2 * len(TEXTS)


@each_method
def test_alone_in_a_batch_and_in_the_fit_is_the_same(name):
    model = fitted(name)
    batch, shares = model.assign(TEXTS), model.transform(TEXTS)
    np.testing.assert_array_equal(batch.topic, model.labels_)
    np.testing.assert_array_equal(model.predict(TEXTS), model.labels_)
    for row in [*range(0, len(TEXTS), 9), TEXTS.index("")]:
        assert model.assign([TEXTS[row]])[0] == batch[row]
        np.testing.assert_allclose(model.transform([TEXTS[row]])[0], shares[row], rtol=1e-12, atol=1e-15)


@each_method
def test_everyone_is_answered(name):
    model = fitted(name)
    found, ids = model.assign([*TEXTS, "parcel w0"]), {topic.id for topic in model.topics}
    assert len(found) == len(TEXTS) + 1
    assert set(found.topic.tolist()) <= ids | {-1}
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
    sizes = [topic.size for topic in model.topics]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == model.n_known_ == len(TEXTS) - 1
    for text, answer in zip(TEXTS, found, strict=False):
        assert set(answer.reason.words) <= set(text.split())
        assert (answer.reason.note == NO_KNOWN_WORD) == (answer.topic is None) == (text == "")


@pytest.mark.parametrize("name", methods.names())
def test_what_was_saved_is_loaded(name, tmp_path):
    model = fitted(name)
    model.save(tmp_path / "model")
    again = TopicModel.load(tmp_path / "model")
    assert said(again) == said(model)
    assert again.get_params()["method"] == name
    again.save(tmp_path / "again")
    assert said(TopicModel.load(tmp_path / "again")) == said(model)


DEGENERATE = {
    "one text": (["parcel refund"], 1),
    "one word": (["parcel", "parcel parcel", "parcel"], 2),
    "all equal": (["late parcel"] * 5, 3),
    "more topics than texts": (["late parcel", "refund card", "late refund"], 12),
    "empty ones among them": (["", "late parcel", " ", "late refund"], 2),
}


@each_method
@pytest.mark.filterwarnings("ignore:only .* topics are used:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Number of distinct clusters:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_texts_have_an_answer(name, kind):
    texts, n_topics = DEGENERATE[kind]
    model = fit(name, texts, n_topics)
    found = model.assign(texts)
    np.testing.assert_array_equal(found.topic, model.labels_)
    assert set(found.topic.tolist()) <= {topic.id for topic in model.topics} | {-1}
    assert np.isfinite(found.confidence).all()
    assert len(model.topics) <= n_topics
    assert sum(topic.size for topic in model.topics) == sum(bool(text.strip()) for text in texts)


@each_method
@pytest.mark.parametrize("texts", [[], ["", " "]], ids=["no texts", "no words"])
def test_texts_that_say_nothing_are_refused_in_one_sentence(name, texts):
    with pytest.raises(InputError, match=r"^(no texts were given|no usable words)[^\n]*$"):
        fit(name, texts)


@each_method
@pytest.mark.parametrize("bad", [0, -1, 1.5, "many", None, True])
def test_a_bad_number_of_topics_is_refused_in_one_sentence(name, bad):
    with pytest.raises(InputError) as caught:
        fit(name, TEXTS, bad)
    assert "n_topics" in str(caught.value)
    assert repr(bad) in str(caught.value)
    assert "\n" not in str(caught.value)
