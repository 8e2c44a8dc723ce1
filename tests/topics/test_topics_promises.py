"""Promises of TopicModel over many generated collections."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import HOSTILE, TOPICS, answers, corpora, counted_sizes, planted_texts, shown

from contract import same_topics
from coterie import Coterie, TopicModel
from coterie.metrics import nmi
from coterie.results import NO_KNOWN_WORD, NO_TOPIC

few = settings(max_examples=6)
some_topics = st.integers(1, 4)


def fitted(texts, n_topics, **given):
    return TopicModel(n_topics=n_topics, **given).fit(texts)


@pytest.mark.parametrize("n_topics", [2, 3, 4])
def test_planted_topics_are_found(n_topics):
    texts, truth = planted_texts(30 * n_topics, n_topics, noise=1)
    model = fitted(texts, n_topics)
    assert same_topics(model.labels_, truth)
    for topic in model.topics:
        mine = truth[model.labels_ == topic.id][0]
        assert set(topic.terms[:6]) == set(list(TOPICS.values())[mine])
        assert topic.size == 30
        assert topic.share == pytest.approx(1 / n_topics)


def test_the_number_of_topics_is_read_from_the_texts():
    texts, truth = planted_texts(160, 4)
    model = TopicModel().fit(texts)
    assert same_topics(model.labels_, truth)
    assert model.number_of_topics_.n_topics == 4
    assert fitted(texts, 4).number_of_topics_ is None


_REPORT = """
import hashlib, numpy as np
from coterie import Coterie, TopicModel
from coterie.metrics import nmi
from coterie.cluster import texts as sampled
from coterie.corpus import Vectorizer, folding
folding.BLOCK_ROWS = sampled._BLOCK_ROWS = 12  # several blocks, for threads to share
from topic_texts import planted_texts
texts = planted_texts(90, 3, words=3, noise=2)[0]
assert len(Vectorizer().fit_corpus(texts).engine.blocks) > 3
model = TopicModel(n_topics=4).fit(texts)
said = repr((model.topics, list(model.assign(texts)), model.labels_.tolist()))
print(hashlib.sha256(said.encode()).hexdigest())
"""


@pytest.mark.slow
def test_the_number_of_cores_and_of_blas_threads_changes_nothing():
    def said(threads, cores):
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        program = f"import os; os.sched_setaffinity(0, {cores})\n{_REPORT}"
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if len(allowed) < 2:
        pytest.skip("one core only")
    assert said("1", {min(allowed)}) == said("2", allowed)


@pytest.mark.slow
@few
@given(corpora(), some_topics, st.randoms(use_true_random=False))
def test_shuffling_texts_changes_nothing_but_their_order(texts, n_topics, random):
    order = list(range(len(texts)))
    random.shuffle(order)
    one, two = fitted(texts, n_topics), fitted([texts[i] for i in order], n_topics)
    assert shown(one) == shown(two)
    np.testing.assert_array_equal(one.labels_[order], two.labels_)
    assert answers(one, texts) == answers(two, texts)


@pytest.mark.slow
@few
@given(corpora(), some_topics)
def test_a_text_alone_in_a_batch_and_in_the_fit_gets_the_same_answer(texts, n_topics):
    model = fitted(texts, n_topics)
    among = model.assign(texts)
    np.testing.assert_array_equal(among.topic, model.labels_)
    np.testing.assert_array_equal(model.predict(texts), model.labels_)
    shares = model.transform(texts)
    for row, text in list(enumerate(texts))[:6]:
        alone = model.assign([text])
        assert alone[0] == among[row]
        np.testing.assert_array_equal(model.predict([text]), among.topic[[row]])
        np.testing.assert_allclose(model.transform([text]), shares[[row]], atol=1e-9)
    assert answers(model, texts[::-1]) == answers(model, texts)[::-1]


@pytest.mark.slow
@few
@given(corpora(), some_topics)
def test_everyone_is_answered(texts, n_topics):
    model = fitted(texts, n_topics)
    asked = [*texts, *HOSTILE, "nothing of this was ever seen"]
    found = model.assign(asked)
    ids = {topic.id for topic in model.topics}
    assert len(found) == len(asked) == len(found.reasons) == len(found.confidence)
    assert set(found.topic.tolist()) <= ids | {-1}
    assert set(found.second.tolist()) <= ids | {-1}
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
    assert ((found.second != found.topic) | (found.topic == -1)).all()
    sizes = counted_sizes(model, texts)
    assert [topic.size for topic in model.topics] == [sizes[topic.id] for topic in model.topics]
    shares_of_all = [topic.share for topic in model.topics]
    assert shares_of_all == pytest.approx([sizes[topic.id] / len(texts) for topic in model.topics])
    assert model.n_texts_ == len(texts)
    assert sum(shares_of_all) == pytest.approx(model.n_known_ / len(texts))
    shares = model.transform(asked)
    known = shares.any(axis=1)
    np.testing.assert_allclose(shares[known].sum(axis=1), 1)
    assert (shares >= 0).all()
    in_order = np.array([topic.id for topic in model.topics])
    np.testing.assert_array_equal(in_order[shares[known].argmax(axis=1)], found.topic[known])
    # a known word may still speak for no topic: one that all texts hold
    worded = np.diff(model.vectorizer_.transform(asked).indptr) > 0
    assert model.n_known_ == worded[: len(texts)].sum()
    for row, answer in enumerate(found):
        note = "" if known[row] else NO_TOPIC if worded[row] else NO_KNOWN_WORD
        assert answer.reason.note == note
        assert (answer.confidence == 0) == (not known[row])
        labels = {topic.id: topic.label for topic in model.topics}
        assert answer.label == (labels[answer.topic] if worded[row] else None)
        assert (answer.topic is None) == (not worded[row]) == (found.topic[row] == -1)
    undecided = set(found.topic[~known & worded].tolist())
    held = Counter(model.labels_[known[: len(texts)]].tolist())
    assert not undecided or not held or undecided == {max(held, key=lambda topic: (held[topic], -topic))}


@pytest.mark.slow
@settings(max_examples=4)
@given(corpora(), some_topics)
def test_ways_to_fit_agree(texts, n_topics):
    one, two = TopicModel(n_topics=n_topics), TopicModel(n_topics=n_topics)
    labels = one.fit(texts).labels_
    np.testing.assert_array_equal(two.fit_predict(texts), labels)
    before = shown(two)
    assert before == shown(one)
    np.testing.assert_array_equal(two.fit_transform(texts), one.transform(texts))
    assert shown(two) == before  # once more, with the same object


@pytest.mark.slow
@settings(max_examples=4)
@given(st.integers(2, 5), st.integers(0, 99))
def test_copies_of_texts_weigh_and_cost_one(times, seed):
    texts, truth = planted_texts(36, 3, words=3, seed=seed)
    once, often = fitted(texts, 3), fitted(texts * times, 3)
    assert same_topics(once.labels_, truth)
    np.testing.assert_array_equal(often.labels_, np.tile(often.labels_[:36], times))
    assert same_topics(often.labels_[:36], once.labels_)
    matched = {int(a): int(b) for a, b in zip(once.labels_, often.labels_, strict=False)}
    sizes = {topic.id: topic.size for topic in often.topics}
    for topic in once.topics:
        assert sizes[matched[topic.id]] == times * topic.size
        assert set(topic.terms[:6]) == set({t.id: t for t in often.topics}[matched[topic.id]].terms[:6])
    assert often.collection.corpus.n_distinct == len(set(texts))


@settings(max_examples=4)
@given(corpora(), st.integers(2, 3))
def test_copies_in_any_order_are_the_same_copies(texts, times):
    one, two = fitted(texts * times, 3), fitted([text for text in texts for _ in range(times)], 3)
    assert shown(one) == shown(two)
    np.testing.assert_array_equal(one.labels_[: len(texts)], two.labels_[::times])


@pytest.mark.slow
@few
@given(corpora(), some_topics)
def test_what_was_saved_is_loaded(texts, n_topics):
    model = fitted(texts, n_topics)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model", texts=False)
        again = TopicModel.load(Path(folder) / "model")
    asked = [*texts, *HOSTILE]
    assert answers(again, asked) == answers(model, asked)
    assert shown(again) == shown(model)
    np.testing.assert_array_equal(again.transform(asked), model.transform(asked))
    np.testing.assert_array_equal(again.embed(asked), model.embed(asked))
    np.testing.assert_array_equal(again.predict(texts), model.labels_)
    assert again.get_params() == model.get_params()


def test_the_seed_decides():
    texts, _ = planted_texts(60, 4, words=1, noise=3)
    labels = [tuple(fitted(texts, 6, random_state=seed).labels_) for seed in range(4)]
    assert len(set(labels)) > 1
    assert labels[0] == tuple(fitted(texts, 6).labels_)


@pytest.mark.slow
def test_stop_words_keep_intents_apart(dataset):
    data = dataset("banking77")
    texts, labels = data.texts[::2], data.labels[::2]
    model = TopicModel(77).fit(texts)
    refined = TopicModel(77, method=Coterie(77, refine=True)).fit(texts)
    assert "stop words" in model.decision_
    assert nmi(labels, model.labels_) > nmi(labels, refined.labels_) + 0.01
