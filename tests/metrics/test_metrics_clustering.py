"""Agreement of clusters with classes, against scikit-learn, against brute force, and by its properties."""

from dataclasses import FrozenInstanceError, asdict
from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie.errors import InputError
from coterie.metrics import (
    ClusteringScores,
    accuracy,
    ari,
    cluster_table,
    clustering_scores,
    completeness,
    homogeneity,
    nmi,
    purity,
)

SCORES = [purity, accuracy, nmi, ari, homogeneity, completeness]
SKLEARN = {
    nmi: sklearn.metrics.normalized_mutual_info_score,
    ari: sklearn.metrics.adjusted_rand_score,
    homogeneity: sklearn.metrics.homogeneity_score,
    completeness: sklearn.metrics.completeness_score,
}

classes_and_clusters = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=40)
weighted = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=20
).filter(lambda rows: any(weight for *_, weight in rows))


@pytest.fixture(params=SCORES, ids=lambda score: score.__name__)
def score(request):
    return request.param


@pytest.mark.slow
@given(classes_and_clusters)
@example([(0, 0)])  # one text
@example([(0, 0), (0, 1)])  # one class
@example([(0, 0), (1, 0)])  # one cluster
@example([(0, 0), (0, 1), (1, 0), (1, 1)])  # independent
@settings(deadline=None)
def test_equal_to_scikit_learn(rows):
    true, predicted = zip(*rows, strict=True)
    for mine, theirs in SKLEARN.items():
        assert mine(true, predicted) == pytest.approx(theirs(true, predicted), abs=1e-12), mine.__name__


def test_equal_to_scikit_learn_on_many_texts():
    random = np.random.default_rng(0)
    true = random.integers(0, 20, 5000)
    predicted = np.where(random.random(5000) < 0.7, true, random.integers(0, 30, 5000))
    for mine, theirs in SKLEARN.items():
        assert mine(true, predicted) == pytest.approx(theirs(true, predicted), abs=1e-12), mine.__name__


@given(classes_and_clusters)
@settings(deadline=None)
def test_accuracy_is_the_best_of_all_matchings(rows):
    true, predicted = map(np.array, zip(*rows, strict=True))
    best = max(np.mean(np.array(names)[predicted] == true) for names in permutations(range(5)))
    assert accuracy(true, predicted) == pytest.approx(best, abs=1e-12)


@given(classes_and_clusters)
@settings(deadline=None)
def test_purity_is_the_share_of_majorities(rows):
    true, predicted = zip(*rows, strict=True)
    majorities = sum(
        max(sum(row == (name, cluster) for row in rows) for name in set(true)) for cluster in set(predicted)
    )
    assert purity(true, predicted) == pytest.approx(majorities / len(rows), abs=1e-12)


@pytest.mark.slow
@given(rows=weighted)
@settings(max_examples=50, deadline=None)
def test_weight_n_is_the_text_n_times(rows):
    true, predicted, weights = map(np.array, zip(*rows, strict=True))
    often = np.repeat(true, weights), np.repeat(predicted, weights)
    assert clustering_scores(true, predicted, weights=weights) == clustering_scores(*often)
    assert cluster_table(true, predicted, weights=weights).equals(cluster_table(*often))
    for score in SCORES:
        assert score(true, predicted, weights=weights) == score(*often)


@given(rows=classes_and_clusters, names=st.permutations("abcde"))
@settings(max_examples=50, deadline=None)
def test_names_of_classes_and_clusters_do_not_matter(rows, names):
    true, predicted = zip(*rows, strict=True)
    renamed = [names[label] for label in true], [names[label] for label in predicted]
    assert asdict(clustering_scores(*renamed)) == pytest.approx(
        asdict(clustering_scores(true, predicted)), abs=1e-12
    )


@given(data=st.data(), rows=classes_and_clusters)
@settings(max_examples=50, deadline=None)
def test_order_of_texts_does_not_matter(data, rows):
    shuffled = data.draw(st.permutations(rows))
    assert clustering_scores(*zip(*rows, strict=True)) == clustering_scores(*zip(*shuffled, strict=True))
    assert cluster_table(*zip(*rows, strict=True)).equals(cluster_table(*zip(*shuffled, strict=True)))


@given(classes_and_clusters)
@settings(deadline=None)
def test_scores_are_within_their_range(rows):
    scores = asdict(clustering_scores(*zip(*rows, strict=True)))
    assert -1 <= scores.pop("ari") <= 1
    assert all(0 <= value <= 1 for value in scores.values())
    assert scores["accuracy"] <= scores["purity"]


def test_a_perfect_clustering_scores_one(score):
    assert score(["x", "x", "y", "z"], [2, 2, 0, 1]) == pytest.approx(1.0, abs=1e-12)


def test_one_text_scores_one(score):
    assert score(["x"], [0]) == 1.0


def test_order_of_arguments_is_true_then_predicted():
    true, predicted = [0, 0, 0, 0], [0, 1, 2, 3]
    assert purity(true, predicted) == 1.0
    assert purity(predicted, true) == 0.25
    assert (homogeneity(true, predicted), completeness(true, predicted)) == (1.0, 0.0)


def test_more_clusters_than_classes_and_more_classes_than_clusters():
    assert accuracy([0, 0, 0, 1], [5, 5, 6, 7]) == 0.75
    assert accuracy([5, 5, 6, 7], [0, 0, 0, 1]) == 0.75


def test_large_weights_do_not_overflow(score):
    true, predicted = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0]
    huge = score(true, predicted, weights=[10**13] * 5)
    assert huge == pytest.approx(score(true, predicted, weights=[10**6] * 5), abs=1e-5)


def test_all_kinds_of_labels_score_alike(score):
    true, predicted = ["x", "x", "y", "z", "z"], [0, 1, 1, 2, 2]
    expected = score(true, predicted)
    for kind in (tuple, np.array, pl.Series, pd.Series):
        assert score(kind(true), kind(predicted)) == expected


def test_all_scores_at_once_are_the_single_ones():
    true, predicted = ["x", "x", "y", "z", "z"], [0, 1, 1, 2, 2]
    scores = clustering_scores(true, predicted, weights=[3, 1, 4, 1, 5])
    assert asdict(scores) == {s.__name__: s(true, predicted, weights=[3, 1, 4, 1, 5]) for s in SCORES}
    with pytest.raises(FrozenInstanceError):
        scores.purity = 1.0
    assert isinstance(scores, ClusteringScores)


@pytest.mark.parametrize("measure", [*SCORES, clustering_scores, cluster_table], ids=lambda m: m.__name__)
def test_errors_name_the_argument(measure):
    with pytest.raises(InputError, match=r"^labels_true must contain at least one label, got none$"):
        measure([], [])
    with pytest.raises(InputError, match=r"^labels_pred must contain at least one label, got none$"):
        measure([1], [])
    with pytest.raises(
        InputError, match=r"^labels_pred and labels_true must have the same length, got 2 and 3$"
    ):
        measure([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match=r"^weights must contain one number for each of the 2 texts"):
        measure([1, 2], [1, 2], weights=[1])


def test_table_has_one_row_per_cluster_biggest_first():
    true = ["x", "x", "y", "y", "y", "z", "x"]
    predicted = [1, 1, 1, 1, 0, 0, 2]
    table = cluster_table(true, predicted)
    assert table.columns == ["cluster", "size", "share", "majority_class", "purity", "n_classes", "entropy"]
    assert table.select("cluster", "size", "majority_class", "n_classes").rows() == [
        (1, 4, "x", 2),  # two of x, two of y: the first by name
        (0, 2, "y", 2),
        (2, 1, "x", 1),
    ]
    assert table["share"].to_list() == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert table["purity"].to_list() == [0.5, 0.5, 1.0]
    assert table["entropy"].to_list() == [1.0, 1.0, 0.0]


def test_table_entropy_in_bits_and_order_of_equal_sizes():
    table = cluster_table(["x", "x", "x", "y"] * 2, ["b"] * 4 + ["a"] * 4)
    assert table["cluster"].to_list() == ["a", "b"]
    assert table["entropy"].to_list() == pytest.approx([-0.75 * log2(0.75) - 0.25 * log2(0.25)] * 2)


@given(classes_and_clusters)
@settings(max_examples=50, deadline=None)
def test_table_agrees_with_the_scores(rows):
    true, predicted = zip(*rows, strict=True)
    table = cluster_table(true, predicted)
    assert table["size"].sum() == len(rows)
    assert table["share"].sum() == pytest.approx(1)
    assert (table["share"] * table["purity"]).sum() == pytest.approx(purity(true, predicted))
    sizes = np.bincount(true)[np.bincount(true) > 0] / len(rows)
    left = (table["share"] * table["entropy"]).sum()  # what the clusters leave unknown about the classes
    assert -(sizes * np.log2(sizes)).sum() * (1 - homogeneity(true, predicted)) == pytest.approx(
        left, abs=1e-9
    )


def test_table_of_mixed_names_shows_them_as_text():
    assert cluster_table(["x", "y", 3], [1, "noise", 1])["cluster"].to_list() == ["1", "noise"]
