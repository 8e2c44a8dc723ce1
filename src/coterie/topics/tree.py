"""The tree of topics, by hierarchical clustering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import linkage

from coterie.cluster.wording import distinctive
from coterie.results import Branch, Topic
from coterie.topics.phrases import Flags
from coterie.topics.reshape import Array

#: Words of a label.
_WORDS = 3
#: Branches of the root, where there are so many topics or more.
_FEWEST, _GROUPS, _TOPICS = 5, 8, 10


def tree(
    topics: Sequence[Topic], centers: Array, counts: Array, names: Sequence[str], usable: Flags
) -> Branch:
    """Ward's linkage of topic centres, with five to eight branches at the root if there are many topics.

    A branch is labelled with the terms that set it apart from the branches beside it; `usable` says which
    terms may be in a label.
    """
    if len(topics) == 1:
        return _leaf(topics[0])
    links = linkage(centers, "ward")
    inside = _branches(links, len(topics))
    labels = _labels(inside, counts, names, usable)
    branches: dict[int, Branch] = {number: _leaf(topic) for number, topic in enumerate(topics)}
    for number, parts in sorted(inside.items()):
        joined = sorted((branches[part] for part in parts), key=lambda part: (-part.size, part.topics))
        of = tuple(sorted(topic for part in joined for topic in part.topics))
        size, height = sum(part.size for part in joined), float(links[number - len(topics), 2])
        branches[number] = Branch(of, labels[number], size, height, tuple(joined))
    return branches[max(inside)]


def _leaf(topic: Topic) -> Branch:
    return Branch((topic.id,), topic.label, topic.size, 0.0)


def _branches(links: Array, n_topics: int) -> dict[int, list[int]]:
    """The parts of each branch: two, but more for the last, the root."""
    inside = {n_topics + step: [int(one), int(other)] for step, (one, other, *_) in enumerate(links)}
    if n_topics < _TOPICS:
        return inside
    # between which heights there is most space; with n branches, n − 1 links are above them
    heights = links[::-1, 2]
    space = [heights[n - 2] - heights[n - 1] for n in range(_FEWEST, _GROUPS + 1)]
    above = sorted(inside)[-(_FEWEST + int(np.argmax(space)) - 1) :]
    groups = [part for number in above for part in inside[number] if part not in above]
    return {number: parts for number, parts in inside.items() if number not in above} | {above[-1]: groups}


def _labels(
    inside: dict[int, list[int]], counts: Array, names: Sequence[str], usable: Flags
) -> dict[int, str]:
    """A label for each branch, from the root on: none has a word of the branch it is in."""
    # a large topic does not speak for all of a branch
    even = counts / np.sqrt(np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
    words = dict(enumerate(even))
    for number, parts in sorted(inside.items()):
        words[number] = np.sum([words[part] for part in parts], axis=0)
    labels, said = {max(inside): "all texts"}, {max(inside): frozenset[int]()}
    for number, parts in sorted(inside.items(), reverse=True):
        around = words[number] / max(float(words[number].sum()), 1e-300)
        for part in filter(inside.__contains__, parts):
            own = words[part] / max(float(words[part].sum()), 1e-300)
            score = np.where(usable, distinctive(own[None], around)[0], -1.0)
            best = np.argsort(-score, kind="stable").tolist()[: 2 * _WORDS]
            new = [column for column in best if column not in said[number]][:_WORDS]
            labels[part], said[part] = ", ".join(names[column] for column in new), frozenset(new)
    return labels
