"""Texts as integers: every distinct word form gets a number, and a text becomes a sequence of numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.corpus.sequences import Sequences, offsets_of
from coterie.text.analyzer import Analyzer
from coterie.text.markup import FILL

Tokenizer = Literal["words", "whitespace"] | Callable[[str], Iterable[str]]
#: Turns texts into those that are counted.
Clean = Callable[[pl.Series], pl.Series]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A batch of texts: the form numbers of each, and a digest of its content (two 64-bit columns).

    `n_non_answers` of them have no form because they are no answer.
    """

    sequences: Sequences
    digests: npt.NDArray[np.uint64]
    n_non_answers: int = 0


class Encoder:
    """Numbers the forms of texts, batch by batch; may be used from several threads at once.

    The numbers depend on the order in which batches arrive. For a fixed order, sort `forms()`.
    """

    def __init__(self, analyzer: Analyzer, tokenizer: Tokenizer = "words", clean: Clean | None = None):
        self._analyzer = analyzer
        self._clean = clean
        self._tokenizer = tokenizer
        #: Whether texts were already tokenised, so that their tokens are terms.
        self.verbatim = False
        self._numbers = pl.Categories.random(namespace="coterie")
        # polars forgets the numbers when no column uses them any more
        self._anchor = pl.Series([], dtype=pl.Categorical(self._numbers))

    def encode(self, texts: pl.Series) -> Encoded:
        """Encode a batch: a series of strings, or of lists of tokens."""
        if texts.dtype == pl.String:
            counted = texts if self._clean is None else self._clean(texts)
            skipped = self._analyzer.non_answers(counted)
            answers = counted.set(skipped, "") if skipped.any() else counted
            digest = _digests_as_counted(texts, counted)
            return Encoded(self._from_texts(answers), digest, int(skipped.sum()))
        self.verbatim = True
        joined = texts.list.join("\x1f")
        return Encoded(self._from_lists(texts), digests(joined))

    def forms(self) -> pl.Series:
        """All forms seen so far; form number i is at position i."""
        return self._numbers.to_series()

    def _from_texts(self, texts: pl.Series) -> Sequences:
        if callable(self._tokenizer):
            cut = [[str(token) for token in self._tokenizer(text)] for text in texts]
            return self._from_lists(pl.Series(cut, dtype=pl.List(pl.String)))
        # No token contains a space, so pieces between spaces can be cut once per distinct piece.
        pieces = texts.str.split(" ")
        local = pl.Categories.random(namespace="coterie")
        coded = pieces.explode(empty_as_null=False).cast(pl.Categorical(local))
        numbers = coded.to_physical().to_numpy()
        # every number below the largest is in use; `local.to_series()` would walk through Python strings
        used = np.arange(int(numbers.max()) + 1 if len(numbers) else 0, dtype=np.uint32)
        distinct = pl.Series(used).cat.to(coded.dtype).cast(pl.String)
        if self._tokenizer == "whitespace":
            lists = distinct.str.extract_all(r"\S+")
        else:
            lists = self._analyzer.cut(distinct)
        forms_of_piece = self._from_lists(lists)
        running = forms_of_piece.take(numbers)
        starts = offsets_of(pieces.list.len().to_numpy())
        return Sequences(running.ids, running.offsets[starts])

    def _from_lists(self, lists: pl.Series) -> Sequences:
        forms = lists.explode(empty_as_null=False).cast(self._anchor.dtype)
        ids = forms.to_physical().to_numpy().astype(np.int32, copy=False)
        return Sequences(ids, offsets_of(lists.list.len().to_numpy()))


def _digests_as_counted(texts: pl.Series, counted: pl.Series) -> npt.NDArray[np.uint64]:
    """Digests of texts that come in the order of what is counted of them, and differ where the texts do."""
    found = digests(texts)
    if texts is not counted:
        changed = (texts != counted).arg_true()
        plain = counted[changed].str.replace_all(FILL, "", literal=True).str.strip_chars()
        found[changed.to_numpy(), 0] = digests(plain)[:, 0]
    return found


def digests(texts: pl.Series) -> npt.NDArray[np.uint64]:
    """A 128-bit digest of each text, the same on all machines and versions, as two unsigned columns."""
    blake = hashlib.blake2b
    joined = b"".join([blake(text.encode(), digest_size=16).digest() for text in texts.to_list()])
    return np.frombuffer(joined, dtype=">u8").astype(np.uint64).reshape(-1, 2)
