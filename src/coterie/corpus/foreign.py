"""Vectorizers of scikit-learn where one of this package is expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
from sklearn.base import clone
from sklearn.feature_extraction import text as sklearn_text

from coterie.corpus.vectorizer import Vectorizer
from coterie.errors import InputError, shown

#: Those that can be saved, by name; a subclass of somebody else is code.
_SAVED = ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer")


class ForeignVectorizer(Vectorizer):
    """Counts the tokens that a vectorizer of scikit-learn finds in texts.

    Its analyzer, `min_df`, `max_df`, `vocabulary` and `max_features`, those in the most texts, apply. Weights
    such as tf-idf do not: methods weigh terms themselves. Boilerplate, markup and typos stay as they are.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> counts = ForeignVectorizer(CountVectorizer(ngram_range=(1, 2))).fit_transform(["credit card", "card"])
    >>> counts.toarray()
    array([[1., 1., 1.],
           [1., 0., 0.]])
    """

    def __init__(self, vectorizer: Any, language: str | Iterable[str] = "english"):
        self.vectorizer = vectorizer
        super().__init__(
            language,
            stem=False,
            stop_words=None,
            drop=(),
            tokenizer="whitespace",
            min_df=getattr(vectorizer, "min_df", 1),
            max_df=getattr(vectorizer, "max_df", 1.0),
            max_terms=getattr(vectorizer, "max_features", None),
        )

    def _batches(self, texts: Any) -> tuple[Iterable[pl.Series], int | None]:
        batches, n_texts = super()._batches(texts)
        return (self._tokens(batch) for batch in batches), n_texts

    def _tokens(self, texts: pl.Series) -> pl.Series:
        if texts.dtype != pl.String:
            return texts
        found = map(self.vectorizer.build_analyzer(), texts.to_list())
        known = getattr(self.vectorizer, "vocabulary", None)
        wanted = None if known is None else set(known)
        return pl.Series(
            [[token for token in tokens if wanted is None or token in wanted] for tokens in found],
            dtype=pl.List(pl.String),
        )


def is_foreign(vectorizer: Any) -> bool:
    """Whether it works as the vectorizers of scikit-learn do."""
    return hasattr(vectorizer, "build_analyzer") and not isinstance(vectorizer, type)


def own_vectorizer(vectorizer: Any, language: str | Iterable[str]) -> Vectorizer:
    """An unfitted vectorizer of this package that counts as the given one does."""
    if is_foreign(vectorizer):
        return ForeignVectorizer(clone(vectorizer), language)
    if not isinstance(vectorizer, Vectorizer):
        raise InputError(
            "vectorizer must be a coterie.Vectorizer, a vectorizer of scikit-learn or None, "
            f"got {shown(vectorizer)}"
        )
    return clone(vectorizer)


def packed(vectorizer: Any) -> dict[str, Any]:
    """The settings of a vectorizer of scikit-learn as plain values; those of code are refused."""
    name = type(vectorizer).__name__
    if name not in _SAVED or type(vectorizer) is not getattr(sklearn_text, name):
        raise InputError(
            f"a model with the vectorizer {name[:60]} cannot be saved: a file must not contain code"
        )
    settings = {key: value for key, value in vectorizer.get_params().items() if key != "dtype"}
    for key, value in settings.items():
        if callable(value):
            raise InputError(
                f"a model with a function as {key} of its vectorizer cannot be saved: "
                "a file must not contain code"
            )
    return {"sklearn": name, **{key: _plain(value) for key, value in settings.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):  # a vocabulary: terms and their columns
        return sorted(value, key=lambda term: value[term])
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def unpacked(settings: Mapping[str, Any]) -> Any:
    """The vectorizer of settings that were packed."""
    name, given = settings["sklearn"], {key: value for key, value in settings.items() if key != "sklearn"}
    if name not in _SAVED:
        raise InputError(f"unknown vectorizer {shown(name)}")
    if "ngram_range" in given:
        given["ngram_range"] = tuple(given["ngram_range"])
    return getattr(sklearn_text, name)(**given)
