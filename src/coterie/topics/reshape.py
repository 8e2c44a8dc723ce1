"""Topics merged, split and dropped after the fit: a change turns memberships into others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Merge:
    """Topics `others` become a part of topic `into`."""

    into: int
    others: tuple[int, ...]
    made: ClassVar[tuple[int, ...]] = ()

    @property
    def named(self) -> tuple[int, ...]:
        """The topics that must be there before."""
        return (self.into, *self.others)

    def ids(self, before: Sequence[int]) -> tuple[int, ...]:
        """The topics there are afterwards."""
        return tuple(topic for topic in before if topic not in self.others)

    def memberships(self, before: Array, ids: Sequence[int], vectors: Array) -> Array:
        """Memberships afterwards: those in the topics that merge add up."""
        column_of = {topic: column for column, topic in enumerate(ids)}
        merged = before.copy()
        merged[:, column_of[self.into]] += before[:, [column_of[topic] for topic in self.others]].sum(axis=1)
        return merged[:, [column_of[topic] for topic in self.ids(ids)]]


@dataclass(frozen=True)
class Split:
    """Topic `topic` falls into parts: a text goes to the part with the nearest of `centers`.

    The first part keeps the id, the others get those of `parts`.
    """

    topic: int
    parts: tuple[int, ...]
    centers: Array

    @property
    def named(self) -> tuple[int, ...]:
        """The topics that must be there before."""
        return (self.topic,)

    @property
    def made(self) -> tuple[int, ...]:
        """The topics that are new."""
        return self.parts

    def ids(self, before: Sequence[int]) -> tuple[int, ...]:
        """The topics there are afterwards; new ones stand at the end."""
        return (*before, *self.parts)

    def memberships(self, before: Array, ids: Sequence[int], vectors: Array) -> Array:
        """Memberships afterwards. A text's share goes to one part: texts of other topics stay there."""
        column = list(ids).index(self.topic)
        nearest = (vectors @ self.centers.T).argmax(axis=1)
        parts = np.where(nearest[:, None] == np.arange(len(self.centers)), before[:, [column]], 0.0)
        after = np.hstack([before, parts[:, 1:]])
        after[:, column] = parts[:, 0]
        return after


@dataclass(frozen=True)
class Drop:
    """Topics that no text is in any more."""

    topics: tuple[int, ...]
    made: ClassVar[tuple[int, ...]] = ()

    @property
    def named(self) -> tuple[int, ...]:
        """The topics that must be there before."""
        return self.topics

    def ids(self, before: Sequence[int]) -> tuple[int, ...]:
        """The topics there are afterwards."""
        return tuple(topic for topic in before if topic not in self.topics)

    def memberships(self, before: Array, ids: Sequence[int], vectors: Array) -> Array:
        """Memberships afterwards: what a dropped topic had goes to the others in proportion."""
        after = before[:, [column for column, topic in enumerate(ids) if topic not in self.topics]]
        total = after.sum(axis=1, keepdims=True)
        return np.divide(after, total, out=np.zeros_like(after), where=total > 0)


Change = Merge | Split | Drop


def check(changes: Sequence[Change], n_topics: int, dimensions: int) -> tuple[int, ...]:
    """The ids of topics after changes to topics 0 … n − 1; an error if a change does not fit."""
    ids: tuple[int, ...] = tuple(range(n_topics))
    for change in changes:
        named, new = change.named, change.made
        if not set(named) <= set(ids) or len(set(named)) < len(named):
            raise InputError(f"a change names topics {named}, but there are {ids}")
        if set(new) & set(ids) or len(set(new)) < len(new):
            raise InputError(f"a split makes topics {new}, but there are {ids}")
        if isinstance(change, Split) and change.centers.shape != (len(new) + 1, dimensions):
            raise InputError(f"a split into {len(new) + 1} has centres of shape {change.centers.shape}")
        ids = change.ids(ids)
    return ids
