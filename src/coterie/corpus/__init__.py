"""Texts as row blocks of term counts, with identical texts merged.

vectorizer   Vectorizer: texts → counts; the entry point
counting     Corpus: row blocks of distinct texts, and the row of each text
encoder      texts → numbers of word forms
folding      identical texts → one row with a weight
phrases      n-grams
vocabulary   terms and how they are displayed
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.corpus.counting import Corpus as Corpus
    from coterie.corpus.vectorizer import Vectorizer as Vectorizer
    from coterie.corpus.vocabulary import Vocabulary as Vocabulary

_HOMES = {
    "Corpus": "coterie.corpus.counting",
    "Vectorizer": "coterie.corpus.vectorizer",
    "Vocabulary": "coterie.corpus.vocabulary",
}
__all__ = ["Corpus", "Vectorizer", "Vocabulary"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'coterie.corpus' has no attribute {name!r}")
