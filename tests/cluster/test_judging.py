"""What words and embeddings tell of topics: against literal loops, and as evidence that decides."""

import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, vstack

from coterie import Coterie
from coterie.cluster import texts as texts_module
from coterie.cluster.coterie import _folded
from coterie.cluster.judging import Counts, Embeddings, Judge, Predictions, mutual_information
from coterie.cluster.predefined import FREE
from coterie.cluster.refining import Found, Representation, best_of, find_topics
from coterie.cluster.texts import take_sample
from coterie.engines.memory import as_engine
from coterie.errors import InputError
from coterie.linalg.rows import unit_dense, unit_rows
from coterie.metrics import nmi
from planted import planted, sample_of


def literal_information(one, other, weights):
    total = sum(weights)
    joint, left, right = Counter(), Counter(), Counter()
    for a, b, weight in zip(one, other, weights, strict=True):
        joint[a, b] += weight / total
        left[a] += weight / total
        right[b] += weight / total
    return sum(p * math.log2(p / (left[a] * right[b])) for (a, b), p in joint.items() if p)


partitions = st.integers(1, 5).flatmap(
    lambda k: st.lists(
        st.tuples(st.integers(0, k - 1), st.integers(0, k - 1), st.integers(1, 4)), min_size=1, max_size=40
    ).map(lambda rows: (k, *map(np.array, zip(*rows, strict=True))))
)


@given(partitions)
def test_information_is_the_literal_one(drawn):
    k, one, other, weights = drawn
    literal = literal_information(one, other, weights)
    assert mutual_information(one, other, weights.astype(float), k) == pytest.approx(literal, abs=1e-12)


def sample(X, weights=None):
    return take_sample(as_engine(X, weights), unit_rows, lambda counts, _: unit_dense(counts.toarray() + 1.0))


def literal_predictions(X, weights, vectors, labels, k):
    """Each text by classifiers that have seen every other text, or the rest, whichever it is not among."""
    X, words, embeddings = X.toarray(), [], []
    for row in range(len(X)):
        learned = [other for other in range(len(X)) if other % 2 != row % 2]
        scores = []
        for topic in range(k):
            own = [other for other in learned if labels[other] == topic]
            counts = sum((weights[other] * X[other] for other in own), np.zeros(X.shape[1])) + 0.1
            size = sum(weights[other] for other in own)
            scores.append(X[row] @ np.log(counts / counts.sum()) + math.log(size + 1))
        words.append(int(np.argmax(scores)))
        V, w = vectors[learned], weights[learned]
        target = np.eye(k)[labels[learned]]
        base = w @ target / w.sum()
        solved = np.linalg.solve(
            (V * w[:, None]).T @ V + 3.0 * np.eye(V.shape[1]), (V * w[:, None]).T @ (target - base)
        )
        embeddings.append(int(np.argmax(vectors[row] @ solved + base)))
    return words, embeddings


@pytest.mark.parametrize("rows_in_a_block", [7, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_predictions_are_the_literal_ones(seed, rows_in_a_block, monkeypatch):
    monkeypatch.setattr(texts_module, "_BLOCK_ROWS", rows_in_a_block)
    X, truth = planted(40, 3, words=3, noise=1)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(truth)).astype(float)
    vectors = unit_dense(rng.standard_normal((len(truth), 6)) + np.eye(6)[truth])
    labels = np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 3, len(truth)), truth)
    told = Judge(sample(X, weights), Embeddings(vectors)).predictions(labels, 3)
    words, embeddings = literal_predictions(X, weights, vectors, labels, 3)
    assert told.words.tolist() == words
    assert told.witness.tolist() == embeddings


def made(seed=0, n=600, k=6):
    """Texts whose words tell a topic and whose embeddings tell the same one."""
    X, truth = planted(n, k, words=4, noise=1)
    rng = np.random.default_rng(seed)
    vectors = unit_dense(np.eye(12)[truth] + 0.3 * rng.standard_normal((len(truth), 12)))
    return X, truth, vectors


def test_nothing_is_told_of_topics_dealt_out_at_random():
    X, truth, vectors = made()
    dealt = np.random.default_rng(1).permutation(truth)
    judge = Judge(sample(X), Embeddings(vectors))
    assert (abs(judge.predictions(dealt, 6).bits) < 0.1).all()
    assert (judge.predictions(truth, 6).bits > 2).all()  # of log2 6


def test_a_contradiction_must_be_sure():
    X, truth, vectors = made()
    judge = Judge(sample(X), Embeddings(vectors))
    rng = np.random.default_rng(2)
    little = np.where(rng.random(len(truth)) < 0.002, 0, truth)
    much = np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 6, len(truth)), truth)
    told = judge.predictions(truth, 6)
    assert told.contradicts(judge.predictions(much, 6))
    assert not judge.predictions(much, 6).contradicts(told)
    assert not told.contradicts(told)
    assert not told.contradicts(judge.predictions(little, 6))


def some_predictions(seed, n=200, k=3):
    """Two partitions that a witness predicts about equally well."""
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, k, n), rng.integers(0, k, n)
    weights = rng.integers(1, 4, n).astype(float)

    def guessed(topics):
        return np.where(rng.random(n) < 0.7, topics, rng.integers(0, k, n))

    return [Predictions(guessed(t), guessed(t), t, weights, k) for t in (one, other)]


def literal_bits(predicted, said):
    parts = np.arange(len(said)) * 20 // len(said)
    everyone = np.ones(len(said), dtype=bool)

    def information(answers, some):
        return literal_information(answers[some], predicted.topics[some], predicted.weights[some])

    random = np.random.RandomState(0)
    chance = np.mean([information(random.permutation(said), everyone) for _ in range(3)])
    return [information(said, some) - chance for some in (everyone, *(parts != part for part in range(20)))]


def test_bits_and_contradictions_are_the_literal_ones():
    more_but_not_clearly = clearly = 0
    for seed in range(30):
        one, other = some_predictions(seed)
        for predicted in (one, other):
            literal = [literal_bits(predicted, said) for said in (predicted.words, predicted.witness)]
            np.testing.assert_allclose(predicted.bits, np.transpose(literal), atol=1e-9)
        gap = np.subtract(literal_bits(one, one.witness), literal_bits(other, other.witness))[1:]
        sure = gap.mean() > 2 * math.sqrt(19 / 20 * sum((gap - gap.mean()) ** 2))
        assert one.contradicts(other) == sure
        clearly += sure
        more_but_not_clearly += gap.mean() > 0 and not sure
    assert clearly
    assert more_but_not_clearly


def test_a_witness_that_knows_little_contradicts_nothing():
    X, truth, _ = made(n=6_000)
    rng = np.random.default_rng(3)
    much = np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 6, len(truth)), truth)
    for right, contradicts in ((0.15, False), (0.6, True)):
        told = np.where(rng.random(len(truth)) < right, truth, rng.integers(0, 6, len(truth)))
        judge = Judge(sample(X), Counts(csr_matrix(np.eye(6)[told])))
        one, other = judge.predictions(truth, 6), judge.predictions(much, 6)
        assert one.bits[0, 1] > other.bits[0, 1] + 0.005
        assert one.contradicts(other) == contradicts


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100))
def test_judging_does_not_depend_on_blocks_or_threads(seed):
    X, truth, vectors = made(seed, n=120)
    answers = []
    for rows in (16, 50, 4096):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(texts_module, "_BLOCK_ROWS", rows)
            told = Judge(sample(X), Embeddings(vectors)).predictions(truth, 6)
            answers.append((told.words.tolist(), told.witness.tolist(), told.bits.tolist()))
    assert answers[0] == answers[1] == answers[2]


def test_embeddings_are_trusted_as_far_as_words_confirm_them():
    X, truth, vectors = made()
    rng = np.random.default_rng(0)
    noise = unit_dense(rng.standard_normal(vectors.shape))
    some = np.where(rng.random(len(truth))[:, None] < 0.5, vectors, noise)
    trust = []
    for witness in map(Embeddings, (vectors, some, noise)):
        trust.append(witness.trust(Judge(sample(X), witness), 6, np.random.RandomState(0)))
    assert trust[0] > 0.8 > trust[1] > 0.1 > trust[2] >= 0


# --- as evidence


def contrary(seed, n=900, k=6):
    """Texts whose vectors tell one partition and whose words tell another."""
    rng = np.random.default_rng(seed)
    seen, said = rng.integers(0, k, n), rng.integers(0, k, n)
    X = np.zeros((n, k * 10))
    for row, topic in enumerate(said):
        X[row, topic * 10 + rng.choice(10, 3, replace=False)] = 1
    return X, unit_dense(np.eye(k)[seen] + 0.4 * rng.standard_normal((n, k))), seen


@pytest.mark.parametrize("seed", range(3))
def test_a_refinement_that_embeddings_contradict_is_undone(seed):
    X, vectors, truth = contrary(seed)
    texts = sample_of(X, vectors)

    def found(judge):
        seen, free = Representation(texts, np.ones(X.shape[1]), None, judge), np.full(len(X), FREE)
        topics = find_topics(seen, np.eye(6, dtype=np.float32), free, "auto")
        scores = texts.gather(lambda block: topics.coefficients.scores(block.words, block.text_vectors))
        return topics.refined, nmi(truth, scores.argmax(axis=1))

    refined, by_words = found(None)
    undone, by_both = found(Judge(texts, Embeddings(vectors.astype(np.float32))))
    assert (refined, undone) == (True, False)
    assert by_both > by_words + 0.01


def asked(seed, n=2_000, k=20):
    """Texts that say what they are about in words of five subjects, and how they ask in stop words."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, k, n)
    X, asides = np.zeros((n, 5 * 12 + k)), np.zeros((n, k))
    for row, one in enumerate(classes):
        X[row, one % 5 * 12 + rng.choice(12, 3, replace=False)] = 1
        X[row, 60 + (one if rng.random() < 0.6 else rng.integers(k))] = 1
        asides[row, one if rng.random() < 0.7 else rng.integers(k)] = 1
    return csr_matrix(X), csr_matrix(asides), classes


def test_a_refinement_that_embeddings_confirm_is_kept():
    X, truth, vectors = made()
    model = Coterie(6, restarts=2, embeddings=vectors).fit(X)
    assert model.refined_
    assert nmi(truth, model.labels_) > 0.95


def test_the_share_is_kept_whose_topics_words_and_embeddings_tell_most_of():
    X, truth, vectors = made()
    judge = Judge(sample(X), Embeddings(vectors))
    rng = np.random.default_rng(2)
    worse = np.where(rng.random(len(truth)) < 0.3, rng.integers(0, 6, len(truth)), truth)
    right, wrong = (
        Found(None, 1.0, None, predicted=judge.predictions(labels, 6)) for labels in (truth, worse)
    )
    for trust in (0.0, 0.5, 1.0):
        assert best_of([wrong, right], trust) is right
        assert best_of([right, wrong], trust) is right
    # words and embeddings that disagree: trust decides
    by_words = replace(right, predicted=replace(right.predicted, witness=rng.permutation(truth)))
    by_embeddings = replace(right, predicted=replace(right.predicted, words=worse))
    assert best_of([by_words, by_embeddings], 1.0) is by_embeddings
    assert best_of([by_words, by_embeddings], 0.1) is by_words


def test_the_decision_is_reported():
    X, truth, vectors = made()
    model = Coterie(6, restarts=2, embeddings=vectors).fit(X)
    assert model.decision_.startswith(f"The embeddings count for {model.share_:.0%}: with ")
    assert re.search(r": with \d+%, held-out texts are predicted worse\.$", model.decision_)
    assert Coterie(6, restarts=2, refine=True, embeddings=vectors).fit(X).decision_.endswith("%.")
    assert Coterie(6, restarts=2).fit(X).decision_ == ""
    noise = np.random.default_rng(0).standard_normal(vectors.shape)
    useless = Coterie(6, restarts=2, embeddings=noise).fit(X)
    assert useless.share_ == 0
    assert useless.decision_ == "The embeddings do not fit the texts and are not used."
    assert nmi(truth, useless.labels_) > 0.9


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000))
def test_what_is_chosen_does_not_depend_on_the_order_of_the_texts(seed):
    X, _, vectors = made(seed % 5, n=150)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    one = Coterie(6, restarts=2, embeddings=vectors).fit(X)
    other = Coterie(6, restarts=2, embeddings=vectors[order]).fit(X[order])
    assert one.decision_ == other.decision_
    assert one.labels_[order].tolist() == other.labels_.tolist()


def test_a_text_is_placed_alone_as_in_the_fit():
    X, _, vectors = made()
    model = Coterie(6, restarts=2, embeddings=vectors).fit(X)
    for row in range(0, X.shape[0], 50):
        assert model.predict(X[row], embeddings=vectors[row : row + 1])[0] == model.labels_[row]


@pytest.mark.parametrize("seed", range(3))
def test_stop_words_undo_a_refinement_that_went_wrong(seed):
    X, asides, classes = asked(seed)
    by_words = Coterie(20, restarts=2).fit(X)
    by_both = Coterie(20, restarts=2).fit(X, stop_word_counts=asides)
    assert (by_words.refined_, by_both.refined_) == (True, False)
    assert nmi(classes, by_both.labels_) > nmi(classes, by_words.labels_) + 0.1
    assert by_both.decision_ == "The last step of the refinement was undone: the stop words speak against it."
    assert Coterie(20, restarts=2, refine=True).fit(X, stop_word_counts=asides).refined_


def test_stop_words_that_say_nothing_change_nothing():
    X, _, _ = asked(0)
    alone = Coterie(20, restarts=2).fit(X)
    noise = np.random.default_rng(0).integers(0, 2, (X.shape[0], 30))
    for counts in (np.zeros((X.shape[0], 0)), np.zeros((X.shape[0], 3)), noise):
        model = Coterie(20, restarts=2).fit(X, stop_word_counts=counts)
        assert model.labels_.tolist() == alone.labels_.tolist()
        assert model.decision_ == ""


def test_stop_words_go_with_their_texts():
    X, asides, _ = asked(0, n=600)
    one = Coterie(20, restarts=2).fit(X, stop_word_counts=asides)
    order = np.random.default_rng(0).permutation(X.shape[0])
    other = Coterie(20, restarts=2).fit(X[order], stop_word_counts=asides[order])
    assert one.decision_ == other.decision_ != ""
    assert one.labels_[order].tolist() == other.labels_.tolist()
    twice = Coterie(20, restarts=2).fit(vstack([X, X]), stop_word_counts=vstack([asides, asides]))
    assert twice.labels_[: X.shape[0]].tolist() == twice.labels_[X.shape[0] :].tolist()
    for wrong in (asides[1:], 5, "words"):
        with pytest.raises(
            InputError, match="stop_word_counts must be a matrix with one row for each of the"
        ):
            Coterie(20, restarts=2).fit(X, stop_word_counts=wrong)


def test_texts_with_the_same_words_share_the_mean_of_their_stop_words():
    X = csr_matrix([[1, 0], [0, 1], [1, 0], [1, 0]])
    documents = Coterie(2)._documents(X, None)
    counts = csr_matrix([[3.0, 0.0], [1.0, 1.0], [0.0, 6.0], [0.0, 0.0]])
    folded = _folded(counts, documents)[documents.rows].toarray()
    assert folded.tolist() == [[1.0, 2.0], [1.0, 1.0], [1.0, 2.0], [1.0, 2.0]]
