"""A linear support vector machine on document vectors."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from coterie.errors import InputError
from coterie.metrics import svm_accuracy, svm_scores
from coterie.metrics.classification import split


def blobs(sizes, distance=10.0):
    """Points around as many corners of a cube as there are sizes."""
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.eye(len(sizes))[labels] * distance + random.normal(size=(len(labels), len(sizes))), labels


def test_separable_classes_are_told_apart():
    vectors, labels = blobs([30, 20, 10])
    assert svm_accuracy(vectors, labels) == 1.0


def test_vectors_that_know_nothing_are_at_chance():
    vectors, labels = blobs([200, 200], distance=0.0)
    assert 0.3 < svm_accuracy(vectors, labels) < 0.7


def test_sparse_is_dense_and_lists_are_arrays_and_names_do_not_matter():
    vectors, labels = blobs([30, 30, 30], distance=1.0)
    expected = svm_accuracy(vectors, labels)
    assert expected < 1.0
    assert svm_accuracy(vectors.tolist(), labels.tolist()) == expected
    assert svm_accuracy(vectors, np.array(["a", "b", "c"])[labels]) == expected
    for sparse in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        assert svm_accuracy(sparse(vectors), labels) == expected


def test_same_seed_same_answer_and_the_seed_matters():
    vectors, labels = blobs([40, 40, 40], distance=0.7)
    answers = [svm_accuracy(vectors, labels, random_state=seed) for seed in range(6)]
    assert answers == [svm_accuracy(vectors, labels, random_state=seed) for seed in range(6)]
    assert len(set(answers)) > 1


def test_split_is_four_to_one_in_each_class():
    codes = np.repeat([0, 1, 2], [50, 25, 5])
    train, test = split(codes, 0.2, 0)
    assert np.bincount(codes[test]).tolist() == [10, 5, 1]
    assert sorted([*train, *test]) == list(range(80))


def test_class_of_a_single_text_is_trained_on_and_never_tested():
    codes = np.repeat([0, 1, 2, 3], [20, 20, 1, 1])
    for seed in range(10):
        train, test = split(codes, 0.5, seed)
        assert {40, 41} <= set(train)
        assert sorted([*train, *test]) == list(range(42))
    vectors, labels = blobs([20, 20, 1, 1])
    assert svm_accuracy(vectors, labels) == 1.0


def test_too_few_texts_to_split_each_class():
    vectors, labels = blobs([2, 2, 2, 2, 2, 2])
    train, test = split(labels, 0.2, 0)
    assert (len(train), len(test)) == (9, 3)
    assert 0 <= svm_accuracy(vectors, labels) <= 1


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.99])
def test_both_sides_of_the_split_hold_a_text(share):
    train, test = split(np.array([0, 0]), share, 0)
    assert (len(train), len(test)) == (1, 1)


def test_one_class_is_always_right():
    assert svm_accuracy([[1.0], [2.0], [3.0]], ["a", "a", "a"]) == 1.0


@pytest.mark.parametrize(
    ("vectors", "labels", "share", "message"),
    [
        (
            [[1.0], [2.0]],
            ["a"],
            0.2,
            r"vectors must have one row for each of the 1 labels, got shape \(2, 1\)",
        ),
        (
            [1.0, 2.0],
            ["a", "a"],
            0.2,
            r"vectors must have one row for each of the 2 labels, got shape \(2,\)",
        ),
        ([], [], 0.2, "labels must contain at least one label, got none"),
        (
            [[1.0], [2.0]],
            ["a", "b"],
            0.2,
            "labels must contain a class .* 2 texts, got 2 classes with one text each",
        ),
        ([[1.0], [2.0]], ["a", "a"], 1.0, "test_share must be between 0 and 1, got 1.0"),
        ([[1.0], [2.0]], ["a", "a"], float("nan"), "test_share must be between 0 and 1, got nan"),
    ],
)
def test_errors_name_the_argument(vectors, labels, share, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        svm_accuracy(vectors, labels, test_share=share)


def test_real_texts_as_scikit_learn_by_hand(snippets):
    vectors = TfidfVectorizer().fit_transform(" ".join(text) for text in snippets.texts)
    labels = np.array(snippets.labels)
    train, test = train_test_split(np.arange(len(labels)), test_size=0.2, stratify=labels, random_state=0)
    machine = LinearSVC(random_state=0, max_iter=10_000).fit(vectors[train], labels[train])
    by_hand = machine.score(vectors[test], labels[test])
    assert svm_accuracy(vectors, labels) == by_hand
    assert by_hand > 0.6


@pytest.mark.process
def test_import_of_the_metrics_loads_nothing_heavy():
    code = (
        "import sys, coterie.metrics; print([m for m in ('sklearn', 'polars', 'pandas') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@given(st.lists(st.integers(0, 3), min_size=8, max_size=30), st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_macro_f1_is_the_mean_over_classes(labels, seed):
    assume(len(set(labels)) < len(labels))
    vectors = np.random.default_rng(seed).normal(size=(len(labels), 2)) + np.array(labels)[:, None]
    scores = svm_scores(vectors, labels)
    codes = np.unique(labels, return_inverse=True)[1]
    train, test = split(codes, 0.2, 0)
    assert (scores.n_train, scores.n_test) == (len(train), len(test))
    assert scores.accuracy == svm_accuracy(vectors, labels)
    predicted = np.full(len(test), codes[train[0]])
    if len(set(codes[train])) > 1:
        machine = LinearSVC(random_state=0, max_iter=10_000).fit(vectors[train], codes[train])
        predicted = machine.predict(vectors[test])
    each = []
    for name in set(predicted) | set(codes[test]):
        right = int(((predicted == name) & (codes[test] == name)).sum())
        each.append(2 * right / int((predicted == name).sum() + (codes[test] == name).sum()))
    assert scores.macro_f1 == pytest.approx(sum(each) / len(each))
