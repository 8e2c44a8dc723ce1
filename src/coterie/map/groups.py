"""Groups of topics for a look from far: branches of the tree that lie together on the map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coterie.map.layout import dense_place
from coterie.results import Branch

#: Fewer topics than this need no groups.
FEWEST = 40
_MOST = 9


@dataclass(frozen=True)
class Group:
    """Topics by id, a name for them, and where they lie."""

    label: str
    topics: tuple[int, ...]
    at: tuple[float, float]


def groups_of(tree: Branch, where: dict[int, tuple[float, float]]) -> list[Group]:
    """The tree cut into a few groups, those of one topic left out; none for few topics.

    `where` are the places of topics by id.
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
    found = [branch for branch in branches if len(branch.topics) > 1]
    return [Group(one.label, one.topics, _middle([where[t] for t in one.topics])) for one in found]


def _middle(places: list[tuple[float, float]]) -> tuple[float, float]:
    at: npt.NDArray[np.float64] = dense_place(np.array(places))
    return float(at[0]), float(at[1])
