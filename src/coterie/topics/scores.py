"""What the model says of each distinct text: one record, computed once, which everything else reads."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.topics.reshape import Array, Ints
from coterie.topics.scorer import NONE, Scored, Scorer

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
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """The texts of several parts, one after another."""
        names = cls.__dataclass_fields__
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def at(self, rows: Any) -> Scores:
        """Some of the texts."""
        return Scores(**{name: getattr(self, name)[rows] for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class Look:
    """What is read off the memberships of some texts; they are not needed any more afterwards.

    `topic` is `NONE` for a text that no topic has a share of. `rivals` are the two topics of the method that
    its reason is about, where the method gives reasons. `tied` tells whether topics of some text are equally
    good, so that the order of topics decides.
    """

    topic: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    membership: Array
    second_membership: Array
    note: npt.NDArray[np.int8]
    n_words: npt.NDArray[np.int32]
    rivals: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None
    tied: bool

    def reordered(self, order: Ints) -> Look:
        """The same with topics in another order: topic i becomes what topic ``order[i]`` was."""
        new = np.append(np.argsort(order), NONE).astype(np.int32)  # the last entry answers for NONE = −1
        return Look(
            new[self.topic], new[self.second], self.membership, self.second_membership, self.note,
            self.n_words, self.rivals, self.tied,
        )  # fmt: skip


def look(scorer: Scorer, scored: Scored, pins: Mapping[int, int]) -> Look:
    """The first two topics of each text; `pins` are columns of topics by row."""
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
    rivals = scorer.rivals(scored) if scorer.method.explains else None
    return Look(
        topic.astype(np.int32), second.astype(np.int32), membership, second_membership, note,
        scored.n_words.astype(np.int32),
        None if rivals is None else (rivals[0].astype(np.int32), rivals[1].astype(np.int32)),
        bool((tied & (second_membership > 0)).any()),
    )  # fmt: skip


class VectorStore:
    """Vectors of texts, block by block: in memory, or in an unnamed file where they are many."""

    #: Bytes that are kept in memory.
    MOST = 1 << 27

    def __init__(self, n_rows: int, dimensions: int):
        self._bytes = 8 * dimensions
        self._width = dimensions
        large = n_rows * self._bytes > self.MOST
        self._file = tempfile.TemporaryFile() if large else None  # noqa: SIM115
        self._lock = threading.Lock()
        self._memory: dict[int, Array] = {}

    def put(self, start: int, vectors: Array) -> None:
        """Keep the vectors of the rows from `start` on."""
        if self._file is None:
            self._memory[start] = vectors
            return
        with self._lock:
            self._file.seek(start * self._bytes)
            self._file.write(np.ascontiguousarray(vectors).data)

    def get(self, start: int, n_rows: int) -> Array:
        """The vectors of rows that were put together."""
        if self._file is None:
            return self._memory[start]
        with self._lock:
            self._file.seek(start * self._bytes)
            raw = self._file.read(n_rows * self._bytes)
        return np.frombuffer(raw, dtype=np.float64).reshape(n_rows, self._width)
