"""Groups of topics for a look from far: branches of the tree that lie together on the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie.map.layout import dense_place
from coterie.results import Branch, Topic

Array = npt.NDArray[np.float64]

#: Fewer topics than this need no groups.
FEWEST = 40
_MOST = 9
#: A group has so many topics, and so much of its branch, within so many radii of the room that it would have
#: if all topics had as much.
_SMALLEST, _MOST_OF, _REACH = 3, 0.7, 1.4


@dataclass(frozen=True)
class Group:
    """Topics by id, a name for them of words that they have, and where they lie."""

    label: str
    topics: tuple[int, ...]
    at: tuple[float, float]


def groups_of(tree: Branch, topics: Sequence[Topic], positions: Array) -> list[Group]:
    """The tree cut into a few groups that lie together on the map; none for few topics.

    `positions` are topics × 2. A branch that is scattered gives way to its parts, and a topic far from the
    others of its group is left out of it.
    """
    if len(tree.topics) < FEWEST:
        return []
    wanted = min(max(round(float(np.sqrt(len(tree.topics)))), 3), _MOST)
    branches = [tree]
    while len(branches) < wanted:
        highest = max(range(len(branches)), key=lambda n: (branches[n].height, branches[n].size))
        if not branches[highest].parts:
            break
        branches[highest : highest + 1] = branches[highest].parts
    members = {topic.id: _Member(at, topic.terms) for topic, at in zip(topics, positions, strict=True)}
    share = float(_away(positions, np.median(positions, axis=0)).max()) / float(np.sqrt(len(positions)))
    found = [group for branch in branches for group in _together(branch, members, share)]
    largest = sorted(found, key=lambda group: -len(group.topics))[:wanted]
    return [group for group in found if group in largest]


@dataclass(frozen=True)
class _Member:
    at: Array
    words: Sequence[str]


def _together(branch: Branch, members: Mapping[int, _Member], share: float) -> list[Group]:
    """The branch as a group, or those of its parts where it is scattered.

    `share` is the radius of the part of the map that one topic would have if all had as much.
    """
    if len(branch.topics) < _SMALLEST:
        return []
    places = np.array([members[topic].at for topic in branch.topics])
    near = _away(places, dense_place(places)) <= _REACH * share * np.sqrt(len(places))
    if near.sum() < max(_SMALLEST, _MOST_OF * len(places)):
        return [group for part in branch.parts for group in _together(part, members, share)]
    x, y = dense_place(places[near])
    topics = tuple(topic for topic, there in zip(branch.topics, near, strict=True) if there)
    said = {word for topic in topics for word in members[topic].words}
    label = ", ".join(word for word in branch.label.split(", ") if word in said)
    return [Group(label, topics, (float(x), float(y)))] if label else []


def _away(places: Array, middle: Array) -> Array:
    return np.asarray(np.sqrt(((places - middle) ** 2).sum(axis=1)))
