"""Levels of topics for the page: groups with a name, a colour and a place on the map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.map.colours import colours, shades
from coterie.map.layout import dense_place
from coterie.report import wording
from coterie.topics.levels import Levels


def levels_of(
    levels: Levels, ids: Sequence[int], positions: npt.NDArray[np.float64], scale: Callable[[float], float]
) -> list[dict[str, Any]]:
    """The levels above the topics, the coarsest first. `ids` and `positions` are those of topics on the
    map, and `scale` turns a position into one of the page.

    A group of one topic has no label of its own: it is called as the topic is, which may be renamed later.
    """
    at = dict(zip(ids, positions, strict=True))
    found = []
    for level in levels[:-1]:
        assert level.agreement is not None
        assert level.chance is not None
        members = [np.stack([at[topic] for topic in group.topics]) for group in level.groups]
        places = np.stack([dense_place(points) for points in members])
        groups = [
            {
                "label": wording.topic_label(group.label) if len(group.topics) > 1 else None,
                "size": group.size,
                "share": round(group.share, 6),
                "topics": sorted(group.topics, key=list(ids).index),
                "colour": colour,
                "at": [scale(float(value)) for value in place],
            }
            for group, colour, place in zip(level.groups, colours(shades(places)), places, strict=True)
        ]
        found.append(
            {"groups": groups, "agreement": round(level.agreement, 2), "chance": round(level.chance, 2)}
        )
    return found
