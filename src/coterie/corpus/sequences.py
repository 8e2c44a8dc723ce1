"""Token ids of many texts in text order, from which windows, n-grams and counts are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: The id of a word outside the vocabulary: it occupies a position in a window but is not counted. While texts
#: are being counted, lower ids are stop words: −2 is the first of them.
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Sequences:
    """Texts as integers, concatenated: text i is ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def from_tokens(cls, texts: Sequence[Sequence[str]], index: Mapping[str, int]) -> Sequences:
        """Encode lists of tokens; a token that is not in `index` becomes `UNKNOWN`."""
        ids = np.fromiter((index.get(t, UNKNOWN) for tokens in texts for t in tokens), dtype=np.int32)
        return cls(ids, offsets_of(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each text."""
        return np.diff(self.offsets)

    def text_of_token(self) -> npt.NDArray[np.int64]:
        """For each token, the number of its text."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: npt.NDArray[np.integer]) -> Sequences:
        """The texts `rows`, in that order."""
        lengths = self.lengths[rows]
        offsets = offsets_of(lengths)
        # position of each wanted token = start of its text + how far into the text we are
        position = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1][rows] - offsets[:-1], lengths)
        return Sequences(self.ids[position], offsets)

    def beginnings(self, most: int) -> Sequences:
        """The first tokens of each text."""
        at = np.arange(len(self.ids)) - np.repeat(self.offsets[:-1], self.lengths)
        return Sequences(self.ids[at < most], offsets_of(np.minimum(self.lengths, most)))

    def known(self) -> Sequences:
        """The same texts without the words outside the vocabulary."""
        keep = self.ids > UNKNOWN
        before = np.concatenate(([0], np.cumsum(keep)))
        return Sequences(self.ids[keep], before[self.offsets])

    def stop_words(self) -> Sequences:
        """The stop words of the same texts, by their own numbers."""
        return Sequences(UNKNOWN - 1 - self.ids, self.offsets).known()

    @classmethod
    def concatenate(cls, parts: Sequence[Sequences]) -> Sequences:
        """All texts of all parts, one after another."""
        if not parts:
            return cls(np.empty(0, np.int32), np.zeros(1, np.int64))
        return cls(
            np.concatenate([part.ids for part in parts]),
            offsets_of(np.concatenate([part.lengths for part in parts])),
        )


def offsets_of(lengths: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Where each piece starts, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
