"""Stop words, stemmers and elisions by language: a name ("english") or a code ("en")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from coterie.errors import InputError

# Words that scikit-learn's English stop list removes although they can carry the topic of a ticket or title.
# They are not stop words here.
_CONTENT_WORDS = frozenset(
    [
        "bill",
        "bottom",
        "call",
        "cry",
        "describe",
        "detail",
        "empty",
        "fill",
        "find",
        "fire",
        "found",
        "front",
        "full",
        "interest",
        "mill",
        "move",
        "serious",
        "show",
        "side",
        "sincere",
        "system",
        "thick",
        "thin",
        "top",
    ]
)
# French, Italian and Catalan join a short word to the next one with an apostrophe: l'école, dell'arte.
_ELIDED = frozenset(
    [
        "l",
        "d",
        "j",
        "m",
        "t",
        "s",
        "n",
        "c",
        "qu",
        "lorsqu",
        "puisqu",
        "jusqu",
        "quoiqu",
        "dell",
        "all",
        "dall",
        "nell",
        "sull",
        "un",
        "quest",
    ]
)
_ELIDING = frozenset({"french", "italian", "catalan"})


@cache
def language_name(language: str) -> str:
    """The full name of a language given by name or code."""
    from stop_words import LANGUAGE_MAPPING

    wanted = language.strip().lower()
    name = LANGUAGE_MAPPING.get(wanted, wanted)
    known = known_languages()
    if name not in known:
        raise InputError(f"unknown language {language!r}; choose one of {', '.join(known)}")
    return str(name)


def known_languages() -> list[str]:
    """Names of the languages that have stop words or a stemmer."""
    from stop_words import AVAILABLE_LANGUAGES

    return sorted({*AVAILABLE_LANGUAGES, *_stemmer_names()})


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language; empty if there is no list.

    >>> "the" in stop_words("en"), "system" in stop_words("en")
    (True, False)
    """
    from stop_words import AVAILABLE_LANGUAGES, get_stop_words

    name = language_name(language)
    if name not in AVAILABLE_LANGUAGES:
        return frozenset()
    words = frozenset(word.lower().replace("’", "'") for word in get_stop_words(name))
    return _careful_english(words) if name == "english" else words


def _careful_english(words: frozenset[str]) -> frozenset[str]:
    """The list of scikit-learn without content words, plus contractions with and without apostrophe.

    The English list of the package stop_words has 1,300 entries, among them "buy", "system" and the names of
    all internet domains; only its contractions are used. The list of scikit-learn has 318, and the content
    words among them are kept as terms.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    short = frozenset(ENGLISH_STOP_WORDS) - _CONTENT_WORDS
    contractions = {word for word in words if "'" in word}
    return short | contractions | ({word.replace("'", "") for word in contractions} & words)


@cache
def _stemmer_names() -> frozenset[str]:
    import Stemmer

    return frozenset(Stemmer.algorithms())


def stemmer(language: str) -> Callable[[Sequence[str]], list[str]] | None:
    """A function that stems a list of lower-case words, or None if there is no stemmer for the language.

    >>> stemmer("english")(["universities", "university"])
    ['universiti', 'universiti']
    """
    import Stemmer

    name = language_name(language)
    if name not in _stemmer_names():
        return None
    stem: Callable[[Sequence[str]], list[str]] = Stemmer.Stemmer(name, 0).stemWords
    return stem


def elides(languages: Iterable[str]) -> bool:
    """Whether one of the languages joins articles to words with an apostrophe."""
    return any(language_name(language) in _ELIDING for language in languages)


def without_elision(word: str) -> str:
    """The word after an elided article.

    >>> without_elision("l'école"), without_elision("aujourd'hui")
    ('école', "aujourd'hui")
    """
    head, apostrophe, rest = word.partition("'")
    return rest if apostrophe and rest and head in _ELIDED else word
