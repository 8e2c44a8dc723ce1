"""Texts in, counts out: readers, tokens, vocabulary and the `Vectorizer` that joins them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.text.analyzer import Analyzer as Analyzer
    from coterie.text.readers import Batch as Batch
    from coterie.text.readers import TextSource as TextSource
    from coterie.text.readers import read_texts as read_texts
    from coterie.text.vectorizer import Vectorizer as Vectorizer
    from coterie.text.vocabulary import Vocabulary as Vocabulary

_HOMES = {
    "Analyzer": "coterie.text.analyzer",
    "Batch": "coterie.text.readers",
    "TextSource": "coterie.text.readers",
    "Vectorizer": "coterie.text.vectorizer",
    "Vocabulary": "coterie.text.vocabulary",
    "read_texts": "coterie.text.readers",
}
__all__ = ["Analyzer", "Batch", "TextSource", "Vectorizer", "Vocabulary", "read_texts"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'coterie.text' has no attribute {name!r}")
