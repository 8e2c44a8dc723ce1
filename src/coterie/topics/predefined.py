"""Predefined topics: what somebody says about them before the fit, checked, and as counts of terms."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, vstack

from coterie.cluster.predefined import Predefined
from coterie.corpus.vectorizer import Vectorizer
from coterie.embeddings import Vectors, is_source, vectors_of
from coterie.errors import InputError, shown
from coterie.text.inputs import is_unicode
from coterie.topics.reshape import Ints

_KEYS = ("words", "description", "examples")


@dataclass(frozen=True)
class Known:
    """What is said about a topic: words, a description, example texts. Without any, its name counts."""

    name: str
    words: tuple[str, ...] = ()
    description: str = ""
    examples: tuple[str, ...] = ()

    @property
    def counted_words(self) -> tuple[str, ...]:
        """Words that stand for the topic: those given, or the name where nothing else is said."""
        return self.words or (() if self.description or self.examples else (self.name,))

    @property
    def texts(self) -> tuple[str, ...]:
        """Texts about the topic."""
        return (*filter(None, [self.description]), *self.examples)

    def plain(self) -> Any:
        """The shortest form in which it can be given: None, words, a description, or several of these."""
        given = {"words": list(self.words), "description": self.description, "examples": list(self.examples)}
        said = {key: value for key, value in given.items() if value}
        if not said or set(said) == {"examples"} or len(said) > 1:
            return said or None
        return next(iter(said.values()))


def checked_topics(predefined: Any) -> list[Known]:
    """Check what was given as predefined topics: names, and what is said about each; None is none."""
    if predefined is None:
        return []
    if isinstance(predefined, (list, tuple)):  # names alone
        predefined = [(name, None) for name in predefined]
    elif isinstance(predefined, Mapping):
        predefined = list(predefined.items())
    else:
        raise InputError(
            "predefined topics must look like {'billing': ['invoice', 'refund'], 'app': 'the app is slow'} "
            f"or ['billing', 'app'], got {shown(predefined)}"
        )
    topics, names = [], set[str]()
    for name, said in predefined:
        if not isinstance(name, str) or not name.strip() or not is_unicode(name):
            raise InputError(f"the name of a predefined topic must be text, got {shown(name)}")
        if (folded := name.strip().casefold()) in names:
            raise InputError(f"two predefined topics are called {name.strip()!r:.100}; rename one")
        names.add(folded)
        topics.append(_known(name.strip(), said))
    return topics


def plain(predefined: Any) -> dict[str, Any] | None:
    """Predefined topics as plain data, in their order; None if there are none."""
    return {topic.name: topic.plain() for topic in checked_topics(predefined)} or None


def said(topics: Sequence[Known]) -> tuple[dict[int, str], dict[str, int], dict[int, str]]:
    """Names, pins and descriptions of topics before any edit; there are no pins."""
    descriptions = {number: topic.description for number, topic in enumerate(topics) if topic.description}
    return {number: topic.name for number, topic in enumerate(topics)}, {}, descriptions


def _known(name: str, said: Any) -> Known:
    if said is None:
        return Known(name)
    if isinstance(said, str):
        return Known(name, description=_text(name, "description", said))
    if not isinstance(said, Mapping):
        return Known(name, words=_listed(name, "words", said))
    if unknown := [key for key in said if key not in _KEYS]:
        raise InputError(
            f"the predefined topic {name!r:.100} has {shown(unknown[0])}; it may have words, a description "
            "and examples"
        )
    given = {key: value for key, value in said.items() if value is not None}
    return Known(
        name,
        _listed(name, "words", given["words"]) if "words" in given else (),
        _text(name, "description", given.get("description", "")),
        _listed(name, "examples", given["examples"]) if "examples" in given else (),
    )


def _text(name: str, what: str, value: Any) -> str:
    if not isinstance(value, str) or not is_unicode(value):
        raise InputError(f"the {what} of {name!r:.100} must be text, got {shown(value)}")
    return value.strip()


def _listed(name: str, what: str, values: Any) -> tuple[str, ...]:
    listed = isinstance(values, Iterable) and not isinstance(values, (str, bytes))
    found = tuple(values) if listed else ()
    if not found or not all(isinstance(value, str) and is_unicode(value) for value in found):
        one = "word" if what == "words" else "text"
        raise InputError(f"the {what} of {name!r:.100} must be a list of {one}s, got {shown(values)}")
    return tuple(str(value) for value in found)


def evidence(topics: Sequence[Known], vectorizer: Vectorizer, source: Any = None) -> Predefined | None:
    """What stands for the topics, counted as texts are; None if there are none.

    Words that do not occur in enough texts are reported. `source` embeds what stands for the topics.
    """
    if not topics:
        return None
    rows, spoken = [], []
    for number, topic in enumerate(topics):
        words = topic.counted_words
        columns = columns_of(list(words), vectorizer) if words else []
        unknown = [word for word, known in zip(words, columns, strict=True) if not len(known)]
        if topic.words and unknown and len(unknown) < len(words):
            warnings.warn(
                f"ignoring words of {topic.name!r} that do not occur in enough texts: {', '.join(unknown)}",
                stacklevel=5,
            )
        if words:
            rows.append((number, True, _row(columns, len(vectorizer.vocabulary_))))
            spoken.append(" ".join(words))
        if topic.texts:
            counts = vectorizer.counts_and_typos(pl.Series(list(topic.texts), dtype=pl.String))[0]
            rows += [(number, False, counts[row]) for row in range(counts.shape[0])]
            spoken += topic.texts
    numbers, is_words, counts = zip(*rows, strict=True)
    vectors: Vectors | None = vectors_of(source, spoken) if source is not None and is_source(source) else None
    return Predefined(
        len(topics), vstack(counts, format="csr"), np.array(numbers), np.array(is_words), vectors
    )


def _row(columns: Sequence[Ints], n_terms: int) -> csr_matrix:
    """Words as a row of counts: each once."""
    used = np.unique(np.concatenate(columns))
    return csr_matrix((np.ones(len(used)), (np.zeros(len(used), dtype=int), used)), shape=(1, n_terms))


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
