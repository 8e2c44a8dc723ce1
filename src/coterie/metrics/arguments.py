"""Check labels and weights and convert them to arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError, shown

#: One label per text: a list, an array, a polars or pandas Series; of numbers or strings.
Labels: TypeAlias = Iterable[Hashable]

#: How often each text counts: a whole number per text.
Weights: TypeAlias = npt.ArrayLike

Counts: TypeAlias = npt.NDArray[np.int64]

#: Integers up to this are exact as floats.
LARGEST_WEIGHT = 2**53


def read_labels(labels: Labels, name: str) -> tuple[list[Any], Counts]:
    """The distinct labels in ascending order, and for each text the position of its label among them."""
    values = labels.tolist() if hasattr(labels, "tolist") else labels
    if not isinstance(values, Iterable):
        raise InputError(f"{name} must contain one number or string per text, got {shown(labels)}")
    values = list(values)
    if not values:
        raise InputError(f"{name} must contain at least one label, got none")
    try:
        distinct = sorted(set(values), key=lambda label: (type(label).__name__, label))
        unusable = any(is_missing(label) for label in distinct)
    except TypeError:  # not hashable, or not comparable
        unusable = True
    if unusable:
        raise InputError(f"{name} must contain one number or string per text, {first_fault(values)}")
    position = {label: number for number, label in enumerate(distinct)}
    return distinct, np.fromiter(map(position.__getitem__, values), dtype=np.int64, count=len(values))


def is_missing(label: object) -> bool:
    """None, or nan in any of its forms: what is not equal to itself; pandas' NA raises a TypeError here."""
    return label is None or bool(label != label)  # noqa: PLR0124


def first_fault(values: Sequence[Any]) -> str:
    """Which of the labels cannot be used, for the error message."""
    for position, label in enumerate(values):
        try:
            if hash(label) is not None and not is_missing(label):
                continue
        except TypeError:
            pass
        return f"got {str(label)[:40]!r} at position {position}"
    return f"got {str(values[0])[:40]!r} and others that cannot be compared with it"


def read_weights(weights: Weights | None, n_texts: int) -> Counts:
    """The weights as integers; without weights every text counts once."""
    if weights is None:
        return np.ones(n_texts, dtype=np.int64)
    try:
        values = np.asarray(weights)
    except ValueError:
        raise InputError(f"weights must be whole numbers, got {shown(weights)}") from None
    if values.shape != (n_texts,):
        raise InputError(
            f"weights must contain one number for each of the {n_texts} texts, got shape {values.shape}"
        )
    if values.dtype.kind not in "biuf":
        raise InputError(f"weights must be whole numbers, got {values.dtype} such as {values[0]!r}")
    fits = (values >= 0) & (values <= LARGEST_WEIGHT) & (values == np.floor(values))
    if not fits.all():
        position = int(np.argmin(fits))
        raise InputError(
            f"weights must be whole numbers from 0 to 2**53, got {values[position]} at position {position}"
        )
    if not values.any():
        raise InputError("weights must contain a positive number, got only zeros")
    return values.astype(np.int64)
