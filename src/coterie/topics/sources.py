"""Texts that can be gone through more than once: in memory, or in a file that is read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.progress import tell
from coterie.text.inputs import text_batches
from coterie.text.readers import TextSource
from coterie.text.readers.rows import Batch

#: Texts worked on at a time: memberships of so many in hundreds of topics are small.
BATCH = 16_384
#: Bytes of a file, plain or packed, whose counts are kept on disk.
_LARGE = 1 << 24


class Texts:
    """The texts a model is fitted to, in the order they came."""

    def __init__(self, source: Any):
        #: The file, where the texts are read from one.
        self.file = source if isinstance(source, TextSource) else None
        #: Columns of the file, as far as it was read.
        self.columns: dict[str, pl.DataType] = {}
        #: Whether texts come as lists of tokens.
        self.tokenised = False
        #: How many there are in the file, once it was read.
        self.n_texts: int | None = None
        #: All of them, where they are in memory.
        self.memory = None if self.file else pl.concat(list(text_batches(source)))

    def is_large(self) -> bool:
        """Whether counts of the texts had better not be in memory; nobody knows of a stream."""
        if self.file is None:
            return False
        path = Path(self.file.path)
        return not path.is_file() or path.stat().st_size > _LARGE

    def batches(self) -> Iterator[pl.Series]:
        """All texts, some at a time: strings, or lists of tokens where they came as such."""
        if self.file is not None:
            return (batch.texts for batch in self.rows())
        assert self.memory is not None
        return batches(self.memory)

    def rows(self) -> Iterator[Batch]:
        """The rows of the file, some at a time, with all their columns."""
        assert self.file is not None
        read, stage = 0, "reading texts" if self.n_texts is None else "reading texts again"
        for batch in self.file:
            self.columns |= batch.table.schema
            self.tokenised |= batch.texts.dtype != pl.String
            read += len(batch.texts)
            yield batch
            tell(stage, read, self.n_texts, "texts")
        self.n_texts = read

    def all(self) -> pl.Series:
        """All texts as strings, in memory."""
        parts = [as_strings(batch) for batch in self.batches()]
        return pl.concat(parts) if parts else pl.Series([], dtype=pl.String)

    def at(self, numbers: npt.NDArray[np.int64]) -> dict[int, str]:
        """Texts by their numbers; one pass over a file, however many."""
        if self.memory is not None:
            found = as_strings(self.memory[numbers])
            return dict(zip(numbers.tolist(), found.to_list(), strict=True))
        wanted, start = np.unique(numbers), 0
        texts: dict[int, str] = {}
        for batch in self.batches():
            here = wanted[(wanted >= start) & (wanted < start + len(batch))]
            found = as_strings(batch[here - start])
            texts.update(zip(here.tolist(), found.to_list(), strict=True))
            start += len(batch)
        return texts

    def where(self, wanted: Sequence[str]) -> dict[str, list[int]]:
        """The numbers of the texts that are word for word the ones wanted."""
        places: dict[str, list[int]] = {text: [] for text in wanted}
        start = 0
        for batch in self.batches() if wanted else ():
            texts = as_strings(batch)
            for row in texts.is_in(list(places)).arg_true():
                places[texts[row]].append(start + row)
            start += len(batch)
        return places


def batches(texts: pl.Series) -> Iterator[pl.Series]:
    """Some texts at a time; one empty batch of none."""
    return (texts.slice(start, BATCH) for start in range(0, max(len(texts), 1), BATCH))


def as_strings(texts: pl.Series) -> pl.Series:
    """Texts as strings: tokens with spaces between them."""
    return texts if texts.dtype == pl.String else texts.list.join(" ")
