from dataclasses import FrozenInstanceError
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from coterie import Coterie, TopicModel, datasets, methods, metrics
from coterie.comparison import WITH_CLASSES, WITHOUT_CLASSES, compare
from coterie.corpus import Vectorizer
from coterie.errors import InputError
from coterie.progress import listening, tell

TEXTS = ["late parcel", "my parcel is late", "refund my money", "money refund now"] * 6
LABELS = ["delivery", "delivery", "payment", "payment"] * 6


@pytest.fixture(scope="module")
def sample():
    return datasets.load("sample")


def test_scores_against_labels_are_means_of_the_measures(sample):
    found = compare(sample.texts, sample.labels, methods=["nmf-idf"], n_restarts=2)
    row = found.rows[0]
    X = Vectorizer(min_df=2).fit_transform(sample.texts)
    k = len(set(sample.labels))
    runs = [methods.make("nmf-idf", k, seed).fit_predict(X) for seed in range(2)]
    for name in ("nmi", "ari", "accuracy", "purity"):
        literal = np.mean([getattr(metrics, name)(sample.labels, run) for run in runs])
        assert getattr(row, name) == pytest.approx(literal)
    assert row.coherence is row.diversity is row.stability is None
    assert (row.n_topics, row.n_restarts) == (k, 2)
    assert row.seconds > 0
    assert found.measures == WITH_CLASSES
    assert found.n_texts == found.n_labelled == len(sample.texts)
    assert found.n_empty == (X.getnnz(axis=1) == 0).sum() > 0


def test_measures_without_labels_are_those_of_the_terms_and_of_the_seeds(sample):
    found = compare(sample.texts, n_topics=6, methods=["nmf-idf"], n_restarts=3)
    row = found.rows[0]
    vectorizer = Vectorizer(min_df=2)
    X = vectorizer.fit_transform(sample.texts)
    models = [methods.make("nmf-idf", 6, seed).fit(X) for seed in range(3)]
    names = np.array(vectorizer.vocabulary_.terms, dtype=object)
    topics = [[names[topic] for topic in methods.topic_terms(model)] for model in models]
    reference = [names[row[row >= 0]] for row in rows_of(vectorizer.sequences(sample.texts))]
    assert row.stability == pytest.approx(
        np.mean([metrics.ari(a.labels_, b.labels_) for a, b in combinations(models, 2)])
    )
    assert row.diversity == pytest.approx(np.mean([metrics.diversity(t, 10) for t in topics]))
    assert row.coherence == pytest.approx(np.mean([metrics.coherence(t, reference, "npmi") for t in topics]))
    assert row.nmi is row.ari is row.accuracy is row.purity is None
    assert found.measures == WITHOUT_CLASSES


def rows_of(sequences):
    return np.split(sequences.ids, sequences.offsets[1:-1])


def test_every_method_with_every_number_of_topics_once_and_in_order():
    told = []
    found = compare(
        TEXTS,
        n_topics=[3, 2, 3],
        methods=["nmf", "btm", "nmf"],
        n_restarts=2,
        progress=lambda *at: told.append(at),
    )
    assert [(row.method, row.n_topics) for row in found.rows] == [
        ("nmf", 3),
        ("nmf", 2),
        ("btm", 3),
        ("btm", 2),
    ]
    assert told == [(done, 8) for done in range(1, 9)]


@pytest.mark.slow
def test_auto_is_the_number_that_coterie_reads_and_is_read_once(monkeypatch):
    from coterie import cluster

    drawn = np.random.RandomState(0)
    texts = [" ".join(f"{'abc'[i % 3]}word{j}" for j in drawn.permutation(20)[:5]) for i in range(150)]
    fits = []

    class Counted(cluster.Coterie):
        def fit(self, *args, **settings):
            fits.append(self.n_topics)
            return super().fit(*args, **settings)

    monkeypatch.setattr(cluster, "Coterie", Counted)
    found = compare(texts, n_topics=["auto", 5], methods=["nmf", "nmf-idf"], n_restarts=1)
    assert fits == ["auto"]
    X = Vectorizer(min_df=2).fit_transform(texts)
    assert found.number_of_topics == Coterie(random_state=0).fit(X).number_of_topics_
    assert [row.n_topics for row in found.rows] == [3, 5] * 2
    alone = compare(texts, n_topics="auto", methods=["nmf"], n_restarts=1)
    assert [row.n_topics for row in alone.rows] == [3]


def test_the_number_is_not_read_where_it_is_known():
    assert compare(TEXTS, n_topics=2, methods=["nmf"], n_restarts=1).number_of_topics is None


def test_a_listener_hears_of_each_fit_and_of_nothing_inside(monkeypatch):
    class Tells:
        components_ = np.ones((2, 4))

        def fit_predict(self, X):
            tell("fitting", 1)
            return np.zeros(X.shape[0], dtype=int)

    monkeypatch.setitem(
        methods.METHODS, "tells", SimpleNamespace(name="tells", about="-", make=lambda k, seed: Tells())
    )
    heard = []
    with listening(heard.append):
        compare(TEXTS, n_topics=2, methods=["tells", "nmf"], n_restarts=2)
    fits = [step for step in heard if step.stage == "comparing"]
    assert [(step.done, step.total) for step in fits] == [(done, 4) for done in range(5)]
    assert heard[heard.index(fits[0]) :] == fits


def test_it_says_the_same_twice():
    first, second = (
        compare(TEXTS, LABELS, methods=["spherical-kmeans", "nystrom"], n_restarts=2).rows for _ in range(2)
    )
    for a, b in zip(first, second, strict=True):
        assert (a.nmi, a.ari, a.accuracy, a.purity) == (b.nmi, b.ari, b.accuracy, b.purity)


def test_texts_without_a_label_are_fitted_and_not_scored():
    labels = [None, *LABELS[1:-1], ""]
    found = compare(TEXTS, labels, methods=["spherical-kmeans"])
    assert (found.n_texts, found.n_labelled, found.n_classes) == (24, 22, 2)
    assert found.rows[0].n_topics == 2
    assert found.rows[0].accuracy == pytest.approx(1)


def test_empty_texts_are_kept_and_counted():
    found = compare([*TEXTS, "", None, "zzz"], [*LABELS, *["delivery"] * 3], methods=["spherical-kmeans"])
    assert (found.n_texts, found.n_empty, found.n_labelled) == (27, 3, 27)


def test_one_seed_has_no_stability():
    assert compare(TEXTS, n_topics=2, methods=["nmf"], n_restarts=1).rows[0].stability is None


def test_warnings_of_a_method_are_kept_not_shown(monkeypatch):
    import warnings

    class Warns:
        components_ = np.ones((2, 4))

        def fit_predict(self, X):
            warnings.warn("a topic stayed empty", UserWarning, stacklevel=1)
            return np.zeros(X.shape[0], dtype=int)

    monkeypatch.setitem(
        methods.METHODS, "warns", SimpleNamespace(name="warns", about="-", make=lambda k, seed: Warns())
    )
    assert compare(TEXTS, LABELS, methods=["warns"]).rows[0].warnings == ("a topic stayed empty",)


def test_results_cannot_be_changed():
    found = compare(TEXTS, LABELS, methods=["nmf"], n_restarts=1)
    with pytest.raises(FrozenInstanceError):
        found.rows[0].nmi = 1.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"texts": []}, "at least one text"),
        ({"classes": LABELS[1:]}, "classes must have one entry per text: got 23 for 24 texts"),
        ({"classes": [None] * 24}, "no text has a class"),
        ({}, "number of topics is needed"),
        ({"n_topics": 25}, "between 1 and the number of texts, 24; got 25"),
        ({"n_topics": [2, 0]}, "between 1 and the number of texts, 24; got 0"),
        ({"n_topics": 2, "methods": []}, "methods must name at least one of"),
        ({"n_topics": 2, "methods": ["nmf", "nfm"]}, "unknown method 'nfm'; choose one of"),
        ({"n_topics": 2, "n_restarts": 0}, "n_restarts must be at least 1"),
        ({"texts": ["a b c", "the of"], "n_topics": 1}, "no term occurs in enough texts"),
    ],
)
def test_what_cannot_be_compared_is_told_in_a_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        compare(**{"texts": TEXTS, "methods": ["nmf"]} | arguments)


def test_stop_words_have_their_say_as_in_a_fit():
    asking = "how where when why what who which can do is are was if because while about against between into through"
    stop, rng = asking.split(), np.random.default_rng(0)
    classes = rng.integers(0, 20, 1_500)
    texts = [
        " ".join(
            [
                stop[one if rng.random() < 0.7 else rng.integers(20)],
                *(f"subject{one % 5}x{n}" for n in rng.choice(12, 3, replace=False)),
                f"action{one if rng.random() < 0.6 else rng.integers(20)}",
            ]
        )
        for one in classes
    ]
    found = compare(texts, [str(one) for one in classes], methods=["coterie"], n_restarts=1)
    X = Vectorizer(min_df=2).fit_transform(texts)
    refined = Coterie(20, refine=True).fit_predict(X)
    assert found.rows[0].nmi > metrics.nmi(classes, refined) + 0.1
    assert "stop words" in TopicModel(20).fit(texts).decision_
