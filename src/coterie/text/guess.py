"""Which language texts are in, told by the small words that every sentence needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from coterie.text.languages import known_languages, language_name, stop_words

#: Texts that are looked at, and words below which nothing is said.
_TEXTS, _LEAST_WORDS = 2_000, 100
#: The part of all words that are small words of a language, from which on it may be that one.
_LEAST_SHARE = 0.15
#: How much better another language must fit than those that were named.
_BETTER = 1.6
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def likely_language(texts: Iterable[str | None], named: Iterable[str] = ()) -> str | None:
    """The language that texts are most likely in; None where that cannot be told.

    With languages `named`, None as well unless another one fits far better than all of them.

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
