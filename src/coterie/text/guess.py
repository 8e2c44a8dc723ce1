"""Detect the language of texts by their stop words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from coterie.text.languages import known_languages, language_name, stop_words

#: Number of texts to look at, and the fewest words needed for a guess.
_TEXTS, _LEAST_WORDS = 2_000, 100
#: The share of stop words that a language needs to be considered.
_LEAST_SHARE = 0.15
#: How many times better another language must fit than the expected ones.
_BETTER = 1.6
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def likely_language(texts: Iterable[str | None], named: Iterable[str] = ()) -> str | None:
    """The most likely language of the texts, or None if that is unclear.

    If expected languages are `named`, the result is None unless another language fits much better.

    >>> likely_language(["Das Paket ist nicht da, und ich habe es schon zwei Mal bezahlt"] * 20)
    'german'
    >>> likely_language(["Where is my parcel? It was not there when I came home"] * 20, ["english"])
    """
    words = Counter(
        word.lower().replace("’", "'")
        for text in islice(texts, _TEXTS)
        for word in _WORD.findall((text or "")[:1_000])
    )
    if words.total() < _LEAST_WORDS:
        return None
    shares = {name: _share(words, name) for name in known_languages()}
    best = max(shares, key=lambda name: (shares[name], name))
    bar = max((_BETTER * shares[language_name(name)] for name in named), default=0.0)
    return best if shares[best] >= max(_LEAST_SHARE, bar) else None


def _share(words: Counter[str], language: str) -> float:
    return sum(words[word] for word in stop_words(language)) / words.total()
