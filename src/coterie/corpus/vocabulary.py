"""The terms of a collection: how they are displayed and how often they occur."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.errors import InputError, shown


@dataclass(frozen=True)
class Vocabulary:
    """Terms in alphabetical order, followed by n-grams.

    `display` is the most frequent form of a term: *universities* for the stem *univers*.
    `document_frequency` and `count` are the numbers of texts and of occurrences.
    """

    terms: tuple[str, ...]
    display: tuple[str, ...]
    document_frequency: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def index(self) -> dict[str, int]:
        """The column of each term."""
        return {term: column for column, term in enumerate(self.terms)}

    def frame(self) -> pl.DataFrame:
        """The vocabulary as a table."""
        return pl.DataFrame(
            {
                "term": self.terms,
                "display": self.display,
                "document_frequency": self.document_frequency,
                "count": self.count,
            },
            schema={
                "term": pl.String,
                "display": pl.String,
                "document_frequency": pl.Int64,
                "count": pl.Int64,
            },
        )


@dataclass(frozen=True)
class Limits:
    """Which terms and texts are used.

    Parameters
    ----------
    min_df, max_df
        Smallest and largest number of texts in which a term must occur, or their share of all texts.
    max_terms
        Keep at most this many terms: those that occur in the most texts.
    min_words
        A text with fewer known words is treated as empty; it keeps its row.
    ngrams
        Longest sequence of terms that counts as a term itself.
    """

    min_df: float = 1
    max_df: float = 1.0
    max_terms: int | None = None
    min_words: int = 0
    ngrams: int = 1

    def __post_init__(self) -> None:
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            share = isinstance(value, (float, np.floating)) and 0.0 <= value <= 1.0
            if not share and not (_is_whole(value) and value >= 0):
                raise InputError(
                    f"{name} must be a number of texts or a share between 0.0 and 1.0, got {shown(value)}"
                )
        if self.max_terms is not None and not (_is_whole(self.max_terms) and self.max_terms >= 1):
            raise InputError(f"max_terms must be at least 1 or None, got {shown(self.max_terms)}")
        if not _is_whole(self.min_words):
            raise InputError(f"min_words must be a whole number, got {shown(self.min_words)}")
        if not (_is_whole(self.ngrams) and 1 <= self.ngrams <= 5):
            raise InputError(f"ngrams must be between 1 and 5, got {shown(self.ngrams)}")

    def kept(self, document_frequency: npt.NDArray[np.int64], n_texts: int) -> npt.NDArray[np.bool_]:
        """Which terms to keep, given their document frequencies."""
        low, high = (
            limit * n_texts if isinstance(limit, float) else limit for limit in (self.min_df, self.max_df)
        )
        keep: npt.NDArray[np.bool_] = (document_frequency >= max(low, 1)) & (document_frequency <= high)
        if self.max_terms is not None and keep.sum() > self.max_terms:
            # ties go to the term that comes first in the alphabet
            ranked = np.argsort(np.where(keep, -document_frequency, 1), kind="stable")
            keep = np.zeros_like(keep)
            keep[ranked[: self.max_terms]] = True
        return keep


def display_forms(forms: pl.DataFrame) -> pl.DataFrame:
    """The display form of each term, from a table with columns form, surface, term and count.

    That is the most frequent surface. Its case is kept if most uses have capitals inside the word (NASA,
    iPhone, C++); a capital at the beginning only says that a sentence starts.

    >>> display_forms(pl.DataFrame({
    ...     "form": ["University", "universities", "NASA"], "surface": ["university", "universities", "nasa"],
    ...     "term": ["univers", "univers", "nasa"], "count": [2, 3, 5]})).rows()
    [('nasa', 'NASA'), ('univers', 'universities')]
    """
    surfaces = (
        forms.filter(pl.col("term").is_not_null())
        .group_by("term", "surface")
        .agg(
            pl.col("count").sum().alias("total"),
            pl.col("form").sort_by("count", "form", descending=[True, False]).first(),
            pl.col("count").max().alias("written"),
        )
    )
    inner_capital = pl.col("form").str.contains(r"^.+\p{Lu}|^\p{Lu}[^\p{L}]*$")
    mostly = pl.col("written") * 2 > pl.col("total")
    return (
        surfaces.sort(["term", "total", "surface"], descending=[False, True, False])
        .group_by("term", maintain_order=True)
        .first()
        .select("term", display=pl.when(inner_capital & mostly).then("form").otherwise("surface"))
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
