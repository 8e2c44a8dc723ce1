"""Labels of topics: names that were given, or their first terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Terms in a label, and in one that others would have, too.
_TERMS, _MOST = 3, 20


def topic_labels(terms: Sequence[Sequence[str]], ids: Sequence[int], names: Mapping[int, str]) -> list[str]:
    """Labels: given names, else as many first terms as are needed to distinguish the topic.

    >>> topic_labels([["parcel", "late", "van", "depot"], ["parcel", "late", "van", "card"]], [0, 1], {})
    ['parcel, late, van', 'parcel, late, van, card']
    """
    labels: list[str] = []
    for topic, own in zip(ids, terms, strict=True):
        # a number or a sign says little by itself
        spoken = [term for term in own if any(map(str.isalpha, term))] or list(own)
        spoken = spoken[:_MOST]
        options = [", ".join(spoken[:n]) for n in range(min(_TERMS, len(spoken)), len(spoken) + 1) if n]
        first_free = next((option for option in options if option not in labels), f"topic {topic}")
        labels.append(names.get(topic) or first_free)
    return labels
