"""Labels of topics: names that were given, else those found in the texts, else first terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Terms in a label, and in one that others would have, too.
_TERMS, _MOST = 3, 20


def topic_labels(
    terms: Sequence[Sequence[str]], ids: Sequence[int], given: Mapping[int, str], names: Sequence[str] = ()
) -> list[str]:
    """Labels, all different but for those given: names by id that somebody gave, or found ones, with as many
    terms as are needed to distinguish the topic.

    >>> terms = [["parcel", "late", "van", "depot"], ["parcel", "late", "van", "card"]]
    >>> topic_labels(terms, [0, 1], {})
    ['parcel, late, van', 'parcel, late, van, card']
    >>> topic_labels(terms, [0, 1], {}, ["late parcel", "late parcel"])
    ['late parcel', 'late parcel, van']
    """
    taken = {label.casefold() for label in given.values()}
    labels: list[str] = []
    for topic, own, name in zip(ids, terms, names or [""] * len(ids), strict=True):
        options = [*_longer(name, own), *_first_terms(own), f"topic {topic}"]
        free = (option for option in options if option.casefold() not in taken)
        label = given.get(topic) or next(free, f"topic {topic}")
        taken.add(label.casefold())
        labels.append(label)
    return labels


def _longer(name: str, terms: Sequence[str]) -> list[str]:
    """A name, and the same with one more term that it does not have."""
    others = [term for term in _spoken(terms) if term.casefold() not in name.casefold()]
    return [name, *(f"{name}, {term}" for term in others)] if name else []


def _first_terms(terms: Sequence[str]) -> list[str]:
    spoken = _spoken(terms)
    return [", ".join(spoken[:n]) for n in range(min(_TERMS, len(spoken)), len(spoken) + 1) if n]


def _spoken(terms: Sequence[str]) -> list[str]:
    """The terms that are not a number or a sign, which says little by itself."""
    return ([term for term in terms if any(map(str.isalpha, term))] or list(terms))[:_MOST]
