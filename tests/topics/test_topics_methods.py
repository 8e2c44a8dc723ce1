"""Every method of the package behind the same questions."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from topic_texts import TOPICS, answers, planted_texts, shown

from contract import same_topics, skip_without_tomotopy
from coterie import NMF, Coterie, SphericalKMeans, TopicModel, methods
from coterie.weights import IdfWeights

TEXTS, TRUTH = planted_texts(60, 3, words=4)
ALL = [*TEXTS, "", "xyzzy", TEXTS[0]]
#: Methods whose single start may end elsewhere.
LOCAL = {"nmf", "nmf-idf", "nmf-ncut", "nmf-ncut-cosine", "term-nmf"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in methods.names() if name not in LOCAL])
def test_planted_topics_are_found(name):
    skip_without_tomotopy(name)
    model = TopicModel(n_topics=3, method=name).fit(ALL)
    assert same_topics(model.labels_[:60], TRUTH)
    np.testing.assert_allclose(model.transform(ALL).sum(axis=1)[:60], 1)


@pytest.mark.parametrize("name", ["semantic-nmf", "spherical-kmeans"])
def test_edits_know_no_method(name):
    model = TopicModel(n_topics=3, method=name).fit(ALL)
    before, said = shown(model), answers(model, ALL)
    model.edits.merge(0, 1)
    assert len(model.topics) == 2
    model.edits.split(0)
    assert same_topics(model.labels_[:60], TRUTH)
    model.edits.ban("parcel").pin(TEXTS[0], int(model.labels_[1]))
    np.testing.assert_array_equal(model.predict(ALL), model.labels_)
    assert model.assign(["parcel"])[0].reason.note == "no known word"
    for _ in range(4):
        model.edits.undo()
    assert shown(model) == before
    assert answers(model, ALL) == said


ESTIMATORS = {
    "Coterie": lambda: Coterie(restarts=1),
    "NMF": lambda: NMF(weights="idf", random_state=0),
    "pipeline": lambda: make_pipeline(IdfWeights(), SphericalKMeans(random_state=0)),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_can_be_the_method(name, tmp_path):
    estimator = ESTIMATORS[name]()
    model = TopicModel(n_topics=3, method=estimator).fit(ALL)
    assert same_topics(model.labels_[:60], TRUTH)
    np.testing.assert_array_equal(model.predict(ALL), model.labels_)
    last = estimator[-1] if name == "pipeline" else estimator
    assert not hasattr(last, "components_")  # the estimator itself is not fitted
    model.save(tmp_path / "model")
    assert answers(TopicModel.load(tmp_path / "model"), ALL) == answers(model, ALL)


def test_the_number_of_topics_of_an_estimator_is_kept():
    model = TopicModel(method=SphericalKMeans(n_topics=3, random_state=0)).fit(ALL)
    assert len(model.topics) == 3


def test_the_number_of_topics_is_read_from_the_texts_for_any_method():
    texts, truth = planted_texts(120, 4)
    model = TopicModel(method="spherical-kmeans").fit(texts)
    assert model.number_of_topics_.n_topics == 4
    assert same_topics(model.labels_, truth)


def test_words_of_a_topic_are_those_of_its_texts():
    for name in ("semantic-nmf", "spherical-kmeans"):
        for topic in TopicModel(n_topics=3, method=name).fit(ALL).topics:
            assert set(topic.terms) in [set(pool) for pool in TOPICS.values()]
