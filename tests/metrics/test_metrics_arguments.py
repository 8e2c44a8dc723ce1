"""Labels and weights of many kinds, and the sentences that say what is wrong with others."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from coterie.errors import InputError
from coterie.metrics.arguments import read_labels, read_weights


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        ("b", "a", "b"),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pd.Series(["b", "a", "b"], index=[7, 7, 9]),
        pd.Series(["b", "a", "b"], dtype="category"),
        (label for label in "bab"),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_of_any_kind_are_read_alike(labels):
    distinct, codes = read_labels(labels, "labels")
    assert distinct == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]


def test_labels_are_sorted_as_numbers_and_mixed_types_are_allowed():
    assert read_labels([10, 9, 10], "labels")[0] == [9, 10]
    assert read_labels(["x", 10, 9.5], "labels")[0] == [9.5, 10, "x"]
    assert read_labels(np.array([True, False]), "labels")[0] == [False, True]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "labels must contain at least one label, got none"),
        (["a", None], "labels must contain one number or string per text, got 'None' at position 1"),
        ([1.0, float("nan")], "labels must contain one number or string per text, got 'nan' at position 1"),
        (
            pl.Series(["a", None]),
            "labels must contain one number or string per text, got 'None' at position 1",
        ),
        (pd.Series([1, None], dtype="Int64"), "labels must contain one .* got '<NA>' at position 1"),
        (pd.Series(["a", None]), "labels must contain one .* at position 1"),
        ([[0, 1], [1, 0]], r"labels must contain one .* got '\[0, 1\]' at position 0"),
        (np.zeros((2, 2)), r"labels must contain one .* got '\[0.0, 0.0\]' at position 0"),
        ([1j, 2j], "labels must contain one .* got '1j' and others that cannot be compared with it"),
    ],
)
def test_unusable_labels_are_named(labels, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        read_labels(labels, "labels")


@pytest.mark.parametrize("weights", [[2, 0, 1], [2.0, 0.0, 1.0], pl.Series([2, 0, 1]), pd.Series([2, 0, 1])])
def test_weights_of_any_kind_are_read_alike(weights):
    read = read_weights(weights, 3)
    assert read.dtype == np.int64
    assert read.tolist() == [2, 0, 1]


def test_without_weights_every_text_counts_once():
    assert read_weights(None, 3).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1], r"one number for each of the 3 texts, got shape \(2,\)"),
        (2, r"one number for each of the 3 texts, got shape \(\)"),
        ([1, -1, 1], r"whole numbers from 0 to 2\*\*53, got -1 at position 1"),
        ([1, 1, 0.5], r"whole numbers from 0 to 2\*\*53, got 0.5 at position 2"),
        ([np.nan, 1, 1], r"whole numbers from 0 to 2\*\*53, got nan at position 0"),
        ([np.inf, 1, 1], r"whole numbers from 0 to 2\*\*53, got inf at position 0"),
        (["1", "1", "1"], "whole numbers, got <U1 such as .*'1'.*"),
        ([0, 0, 0], "a positive number, got only zeros"),
    ],
)
def test_unusable_weights_are_named(weights, message):
    with pytest.raises(InputError, match=f"^weights must (be|contain) {message}$"):
        read_weights(weights, 3)
