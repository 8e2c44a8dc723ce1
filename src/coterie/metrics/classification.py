"""How well document vectors serve a classifier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError, shown
from coterie.metrics.arguments import Counts, Labels, read_labels

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

    Vectors: TypeAlias = npt.ArrayLike | sparray | spmatrix


@dataclass(frozen=True, slots=True)
class SvmScores:
    """How a classifier did on held-out texts: `n_train` and `n_test` texts, accuracy and macro-F1.

    Macro-F1 is the mean over classes of the harmonic mean of precision and recall, so small classes count
    as much as large ones.
    """

    n_train: int
    n_test: int
    accuracy: float
    macro_f1: float


def svm_accuracy(
    vectors: Vectors, labels: Labels, *, test_share: float = 0.2, random_state: int = 0
) -> float:
    """Accuracy of a linear support vector machine on held-out texts: see `svm_scores`.

    Examples
    --------
    >>> svm_accuracy([[0], [1], [2], [8], [9], [10]], ["low", "low", "low", "high", "high", "high"])
    1.0
    """
    return svm_scores(vectors, labels, test_share=test_share, random_state=random_state).accuracy


def svm_scores(
    vectors: Vectors, labels: Labels, *, test_share: float = 0.2, random_state: int = 0
) -> SvmScores:
    """Accuracy and macro-F1 of a linear support vector machine on held-out texts.

    By default it is trained on four fifths of the texts and tested on the rest; each class is split in that
    proportion if there are enough texts. A class with a single text is used for training only.

    Parameters
    ----------
    vectors
        One row per text, dense or sparse.
    labels
        The class of each text: numbers or strings.
    test_share
        Share of the texts to test on; at least one text is used for testing and one for training.
    random_state
        Seed of the split and of the solver.

    Examples
    --------
    >>> svm_scores([[0], [1], [2], [8], [9], [10]], ["low", "low", "low", "high", "high", "high"])
    SvmScores(n_train=4, n_test=2, accuracy=1.0, macro_f1=1.0)
    """
    from scipy.sparse import issparse
    from sklearn.metrics import f1_score
    from sklearn.svm import LinearSVC

    given: Any = vectors
    try:
        rows = given.tocsr() if issparse(given) else np.asarray(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise InputError(f"vectors must be a matrix of numbers, got {shown(given)}") from None
    _, codes = read_labels(labels, "labels")
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise InputError(
            f"vectors must have one row for each of the {len(codes)} labels, got shape {rows.shape}"
        )
    if len(set(codes)) == len(codes):
        raise InputError(
            f"labels must contain a class with at least 2 texts, got {len(codes)} classes with one text each"
        )
    if not np.isfinite(rows.data if issparse(given) else rows).all():
        raise InputError("vectors must be finite, got NaN or infinity")
    if not isinstance(test_share, float) or not 0 < test_share < 1:
        raise InputError(f"test_share must be between 0 and 1, got {shown(test_share)}")
    if not isinstance(random_state, int | np.integer) or not 0 <= random_state < 1 << 32:
        raise InputError(
            f"random_state must be a whole number from 0 to 2**32 - 1, got {shown(random_state)}"
        )
    train, test = split(codes, test_share, random_state)
    if len(set(codes[train])) == 1:  # nothing to separate: the answer is always that class
        predicted = np.full(len(test), codes[train[0]])
    else:
        machine = LinearSVC(random_state=random_state, max_iter=10_000)
        predicted = machine.fit(rows[train], codes[train]).predict(rows[test])
    macro_f1 = f1_score(codes[test], predicted, average="macro", zero_division=0.0)
    return SvmScores(len(train), len(test), float(np.mean(predicted == codes[test])), float(macro_f1))


def split(codes: Counts, test_share: float, random_state: int) -> tuple[Counts, Counts]:
    """Row numbers for training and for testing, stratified by class if there are enough rows."""
    from sklearn.model_selection import train_test_split

    sizes = np.bincount(codes)
    testable = np.flatnonzero(sizes[codes] > 1)
    n_test = min(max(math.ceil(test_share * len(testable)), 1), len(testable) - 1)
    enough = min(n_test, len(testable) - n_test) >= np.count_nonzero(sizes > 1)
    train, test = train_test_split(
        testable, test_size=n_test, stratify=codes[testable] if enough else None, random_state=random_state
    )
    return np.concatenate([train, np.flatnonzero(sizes[codes] == 1)]), test
