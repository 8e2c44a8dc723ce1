"""Words that a name of a topic should not be made of, by language.

They are not stop words: a text may be about trying or meaning. But a name that says *tried* says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coterie.text.languages import language_name


@dataclass(frozen=True)
class Filler:
    """Lists of lower-case words.

    `empty` words say nothing in a name. A name does not end with an `opening` word, which needs another one
    after it. A `breaking` stop word does not stand inside a name: *countries do you support* is no name.
    `particles` belong to the verb before them: *top up*. What a pattern of `questions` is found in is a piece
    of a question: *long is the wait*.
    """

    empty: frozenset[str] = frozenset()
    opening: frozenset[str] = frozenset()
    breaking: frozenset[str] = frozenset()
    particles: frozenset[str] = frozenset()
    questions: tuple[str, ...] = ()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = Filler(
    empty=_words(
        """able accidentally actually ago already am anymore anyone anything apparently appear appears ask
        asked asking asks basically believe best better came cant come comes coming correctly couple
        currently dear decide decided did didn didnt different do does doesn doesnt doing don done dont
        easily easy etc exactly expect explain figure fine fix following friday gave get gets getting give
        given gives giving go goes going gone gonna good got gotten great guess guys happen happened
        happening happens hello help helped helping helps hey hi hope idea im instead isn isnt issue ive
        just keep keeps kept kind know knowing knows lately let lets like likes little look looked looking
        looks lot lots made make makes making maybe mean meaning means meant mention monday need needed
        needing needs nice ok okay particular people please pls pm possible possibly pretty probably problem
        proper properly quick quickly quite really reason recently regards right said saturday saw say
        saying says see seem seems seen simple simply something sort stuff suggest sunday suppose supposed
        sure tell telling tells thank thanks thing things think thinking thinks thought thursday today told
        tomorrow took totally tried tries try trying tuesday understand use used uses using usually various
        want wanted wanting wants wasn way ways wednesday went wish won wonder wondering wont wouldn yeah
        yes yesterday"""
    ),
    opening=_words(
        """additional another certain couple current different extra few first following further last
        latest many more most much multiple new next old other own possible same several similar single
        some specific such sure various whole"""
    ),
    breaking=_words(
        """i you we he she they it do can could would should will shall may might must what why how when where
        which who whom whose that this these those if because but so there then than am i'm i've i'd i'll
        it's that's you're we're they're while since until although though as also please anyone someone
        everyone cannot can't won't couldn't wouldn't here however"""
    ),
    particles=_words("up off out down back away"),
    questions=(r"(?i)\b(?:is|are|was|were) (?:the|a|an|my|your|our|his|her|their)\b",),
)
_BY_LANGUAGE = {"english": _ENGLISH}


def filler(languages: Iterable[str]) -> Filler:
    """The words of some languages, by name or code; those of a language without a list are none.

    >>> "tried" in filler(["en"]).empty, filler(["fr"]).empty
    (True, frozenset())
    """
    lists = [_BY_LANGUAGE.get(language_name(language), Filler()) for language in languages]
    return Filler(
        frozenset().union(*(each.empty for each in lists)),
        frozenset().union(*(each.opening for each in lists)),
        frozenset().union(*(each.breaking for each in lists)),
        frozenset().union(*(each.particles for each in lists)),
        tuple(pattern for each in lists for pattern in each.questions),
    )
