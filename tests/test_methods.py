import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from contract import skip_without_tomotopy
from coterie import methods
from coterie.errors import InputError
from coterie.weights import IdfWeights

# three groups of texts that share no term, with terms of several frequencies inside each
GROUPS = np.kron(np.eye(3, dtype=int), np.array([[2, 1, 0, 1], [1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0]]))
X = csr_matrix(np.tile(GROUPS, (5, 1)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", methods.names())
def test_every_method_gives_a_topic_for_every_text_and_terms_for_every_topic(name):
    skip_without_tomotopy(name)
    model = methods.make(name, 3, random_state=0)
    labels = model.fit_predict(X)
    assert labels.shape == (X.shape[0],)
    assert set(labels) <= {0, 1, 2}
    topics = methods.topic_terms(model, top_n=4)
    assert len(topics) == 3
    for topic in topics:
        assert len(set(topic)) == len(topic) <= 4
        assert all(0 <= column < X.shape[1] for column in topic)


@pytest.mark.parametrize("name", ["spherical-kmeans", "nystrom", "nmf-idf", "term-nmf", "lda"])
def test_terms_are_those_of_the_texts_of_a_topic(name):
    skip_without_tomotopy(name)
    model = methods.make(name, 3, random_state=0)
    labels = model.fit_predict(X)
    for topic, columns in enumerate(methods.topic_terms(model, top_n=2)):
        used = set(np.flatnonzero(X[labels == topic].sum(axis=0)))
        assert set(columns.tolist()) <= used or not used


def test_every_method_is_described_in_one_line():
    for name, method in methods.METHODS.items():
        assert method.name == name
        assert method.about
        assert "\n" not in method.about
        assert len(method.about) < 80


def test_an_unknown_name_is_told_with_the_choices():
    with pytest.raises(InputError, match=r"unknown method 'kmeans'; choose one of coterie, nmf, .*lda"):
        methods.make("kmeans", 3)


def test_a_ranking_of_its_own_comes_before_components():
    class Ranked:
        topic_terms_ = np.array([[3, 1, 0], [2, 0, 1]])
        components_ = np.eye(2, 4)

    assert [topic.tolist() for topic in methods.topic_terms(Ranked(), top_n=2)] == [[3, 1], [2, 0]]


def test_a_term_that_adds_nothing_to_a_topic_is_not_among_its_terms():
    class Plain:
        components_ = np.array([[0.0, 2.0, -1.0, 3.0], [0.0, 0.0, 0.0, 0.0]])

    assert [topic.tolist() for topic in methods.topic_terms(Plain())] == [[3, 1], []]


def test_topics_in_a_smaller_space_are_carried_back_to_terms():
    model = methods.make("nystrom", 3, random_state=0).fit(X)
    semantics, clusters = (step for _, step in model.steps)
    literal = clusters.components_ @ semantics.components_
    for row, columns in zip(literal, methods.topic_terms(model, top_n=1), strict=True):
        assert columns.tolist() == [row.argmax()]


def test_idf_weights_of_new_texts_are_those_of_the_fitted_ones():
    weights = IdfWeights().fit(X)
    together = weights.transform(X).toarray()
    np.testing.assert_array_equal(weights.transform(X[3]).toarray()[0], together[3])
    np.testing.assert_allclose(together, X.toarray() * np.log(X.shape[0] / (X > 0).sum(axis=0).A1))


def test_the_table_is_light():
    code = (
        "import sys, coterie.methods; print([m for m in ('numpy', 'sklearn', 'scipy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
