"""What the model says of each distinct text: one record, computed once, which everything else reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.engines.records import portions
from coterie.topics.reshape import Array, Ints
from coterie.topics.scorer import NONE, Scored, Scorer

#: Words that decided about a text, and related ones, that are named.
_WORDS = 3
#: What is recorded of each text: see `Scores` and `Look`.
SCORE = np.dtype(
    [
        ("topic", "i4"), ("second", "i4"), ("membership", "f8"), ("second_membership", "f8"),
        ("confidence", "f8"), ("note", "i1"), ("words", "i4", _WORDS), ("related", "i4", _WORDS),
        ("position", "f4", 2),
    ]
)  # fmt: skip
LOOK = np.dtype(
    [
        ("topic", "i4"), ("second", "i4"), ("membership", "f8"), ("second_membership", "f8"), ("note", "i1"),
        ("n_words", "i4"), ("rival", "i4"), ("other_rival", "i4"),
    ]
)  # fmt: skip

#: Numbers of notes: a text that somebody put there, one without a known word, one that no topic wants.
PINNED, UNKNOWN, UNDECIDED = 1, 2, 3


@dataclass(frozen=True)
class Scores:
    """One entry for each text; columns are arrays.

    `topic` and `second` are columns of memberships (`Scorer.ids` has their ids), `NONE` where there is none.
    `membership` and `second_membership` belong to the first two. `words` and `related` are columns of terms,
    up to three for each text, −1 where there are fewer. `note` is a number of `coterie.results.NOTES`.
    `position` is the point on the map, nan for a text without any membership.
    """

    topic: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    membership: Array
    second_membership: Array
    confidence: Array
    note: npt.NDArray[np.int8]
    words: npt.NDArray[np.int32]
    related: npt.NDArray[np.int32]
    position: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.topic)

    @classmethod
    def of(cls, records: npt.NDArray[Any]) -> Scores:
        """Records of type `SCORE` as columns, which share their memory."""
        return cls(**{name: records[name] for name in cls.__dataclass_fields__})

    def records(self) -> npt.NDArray[Any]:
        """The same as records of type `SCORE`."""
        return _recorded(self, SCORE)

    @classmethod
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """The texts of several parts, one after another."""
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def at(self, rows: Any) -> Scores:
        """Some of the texts: a slice, or numbers."""
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if isinstance(rows, slice):
            return Scores(**{name: column[rows] for name, column in columns.items()})
        found = {n: np.empty((len(rows), *column.shape[1:]), column.dtype) for n, column in columns.items()}
        for at, some in portions(self.topic, rows):
            for name, column in columns.items():
                found[name][at] = column[some]
        return Scores(**found)


@dataclass(frozen=True)
class Look:
    """What is read off the memberships of some texts; they are not needed any more afterwards.

    `topic` is `NONE` for a text that no topic has a share of. `rival` and `other_rival` are the two topics of
    the method that its reason is about, `NONE` where the method gives no reasons.
    """

    topic: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    membership: Array
    second_membership: Array
    note: npt.NDArray[np.int8]
    n_words: npt.NDArray[np.int32]
    rival: npt.NDArray[np.int32]
    other_rival: npt.NDArray[np.int32]

    @classmethod
    def of(cls, records: npt.NDArray[Any], number: Ints) -> Look:
        """Records of type `LOOK`, with topic i as ``number[i]``; its last entry answers for `NONE`."""
        columns = {name: np.ascontiguousarray(records[name]) for name in cls.__dataclass_fields__}
        columns |= {name: number[columns[name]].astype(np.int32) for name in ("topic", "second")}
        return cls(**columns)

    def records(self) -> npt.NDArray[Any]:
        """The same as records of type `LOOK`."""
        return _recorded(self, LOOK)


def _recorded(columns: Scores | Look, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    records = np.empty(len(columns.topic), dtype=kind)
    for name in kind.names or ():
        records[name] = getattr(columns, name)
    return records


def look(scorer: Scorer, scored: Scored, pins: Mapping[int, int]) -> tuple[Look, bool]:
    """The first two topics of each text; `pins` are columns of topics by row.

    Also whether topics of some text are equally good, so that the order of topics decides.
    """
    memberships, rows = scored.memberships, np.arange(len(scored.memberships))
    topic = scored.topics.copy()
    note = np.where(topic != NONE, 0, np.where(scored.n_words == 0, UNKNOWN, UNDECIDED)).astype(np.int8)
    membership = memberships.max(axis=1, initial=0.0)
    rest = memberships.copy()
    rest[rows, np.maximum(topic, 0)] = 0.0
    for row, pinned in pins.items():
        topic[row], note[row] = pinned, PINNED
        rest[row] = memberships[row]
        rest[row, pinned] = 0.0
    second_membership = rest.max(axis=1, initial=0.0)
    second = np.where(second_membership > 0, rest.argmax(axis=1), NONE)
    rest[rows, np.maximum(second, 0)] = 0.0
    tied = (second_membership == membership) | (rest.max(axis=1, initial=0.0) == second_membership)
    none = np.full(len(topic), NONE)
    rival, other = scorer.rivals(scored) if scorer.method.explains else (none, none)
    seen = Look(
        topic.astype(np.int32), second.astype(np.int32), membership, second_membership, note,
        scored.n_words.astype(np.int32), rival.astype(np.int32), other.astype(np.int32),
    )  # fmt: skip
    return seen, bool((tied & (second_membership > 0)).any())
