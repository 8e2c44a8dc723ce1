"""Seed words: topics that somebody expects, and the columns of their words."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from coterie.corpus.vectorizer import Vectorizer
from coterie.errors import InputError
from coterie.topics.reshape import Ints


def seed_columns(seeds: Mapping[str, Sequence[str]], vectorizer: Vectorizer) -> dict[str, Ints]:
    """Columns of the seed words of each topic; unknown words are reported, and so are topics without any."""
    columns_by_topic: dict[str, Ints] = {}
    for name, words in checked_seeds(seeds).items():
        columns = columns_of(list(words), vectorizer)
        unknown = [word for word, known in zip(words, columns, strict=True) if not len(known)]
        if not any(map(len, columns)):
            warnings.warn(
                f"no topic {name!r}: none of its seed words occurs in enough texts ({', '.join(words)})",
                stacklevel=4,
            )
            continue
        if unknown:
            warnings.warn(
                f"ignoring seed words of {name!r} that do not occur in enough texts: {', '.join(unknown)}",
                stacklevel=4,
            )
        columns_by_topic[name] = np.unique(np.concatenate(columns))
    return columns_by_topic


def checked_seeds(seeds: Any) -> dict[str, list[str]]:
    """Check that seed words are names with lists of words."""
    if not isinstance(seeds, Mapping):
        raise InputError(
            f"seed words must look like {{'billing': ['invoice', 'refund']}}, got {seeds!r:.100}"
        )
    for name, words in seeds.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"the names of seed words must be strings, got {name!r:.100}")
        listed = isinstance(words, Iterable) and not isinstance(words, (str, bytes))
        if not listed or not all(isinstance(word, str) for word in words) or not list(words):
            raise InputError(f"the seed words of {name!r} must be a list of words, got {words!r:.100}")
    return {str(name): [str(word) for word in words] for name, words in seeds.items()}


def columns_of(words: Sequence[str], vectorizer: Vectorizer) -> list[Ints]:
    """The columns of each word; a phrase that is a term itself is only that."""
    counts = vectorizer.counts_and_typos(pl.Series(list(words), dtype=pl.String))[0]
    columns_by_word = [counts[row].indices.astype(np.int64) for row in range(len(words))]
    terms = vectorizer.vocabulary_.terms
    longest = [
        max((terms[column].count(" ") for column in columns), default=0) for columns in columns_by_word
    ]
    return [
        np.array([c for c in columns if terms[c].count(" ") == most], dtype=np.int64)
        for columns, most in zip(columns_by_word, longest, strict=True)
    ]
