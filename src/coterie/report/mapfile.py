"""The map of a run as a file: where topics lie, the formula that places texts, and where each text lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError
from coterie.report.colours import shades
from coterie.report.facts import Facts
from coterie.report.layout import Kept, TopicMap
from coterie.storage.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from coterie.topics import TopicModel
    from coterie.topics.placing import Seen

#: Texts are shown on screens: seven digits are plenty.
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class TextMap:
    """A map of topics, the largest first, and the texts on it.

    `order` are positions in `TopicModel.topics`; `at` is texts × 2, nan for a text without a known word.
    """

    topics: TopicMap
    order: list[int]
    at: Floats


@dataclass(frozen=True)
class Before:
    """The map of the topics as they were before edits, and their ids: what people know their way by."""

    topics: TopicMap
    ids: list[int]


def learn_map(model: TopicModel, before: Before | None = None) -> tuple[TopicMap, list[int]]:
    """The map of a model that has its texts, and the order in which it has the topics."""
    facts = Facts(model, np.zeros(model.n_texts_))
    return map_of(facts, before), facts.order


def map_of(facts: Facts, before: Before | None = None) -> TopicMap:
    """The map of the topics of a model, from the largest on; those that were there before stay."""
    shares = np.array([facts.model.topics[at].share for at in facts.order])
    kept = None if before is None else _kept(facts.ids, before)
    places = facts.row_places[facts.sample_rows]
    return TopicMap.learn(facts.centers, shares, facts.sample.directions, places, kept)


def _kept(ids: Sequence[int], before: Before) -> Kept:
    pairs = [(place, before.ids.index(topic)) for place, topic in enumerate(ids) if topic in before.ids]
    now, then = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    return Kept(now, before.topics.positions[then], before.topics.shades[then])


def placed(points: TopicMap, order: Sequence[int], seen: Seen) -> Floats:
    """Where texts that the model has seen lie."""
    at: Floats = points.place(seen.memberships[:, list(order)], seen.directions).astype(np.float32)
    return at


def write_map(path: Path, found: TextMap) -> None:
    """Write the file."""
    write_arrays(
        path,
        {
            "positions": found.topics.positions,
            "radii": found.topics.radii,
            "axes": found.topics.axes,
            "shades": found.topics.shades,
            "order": np.array(found.order, dtype=np.int32),
            "x": found.at[:, 0],
            "y": found.at[:, 1],
        },
    )


def read_map(path: Path, n_topics: int, n_texts: int) -> TextMap:
    """Read the file; one that is not the map of so many topics and texts is told."""
    arrays, _ = read_arrays(path)
    if "shades" not in arrays and arrays.get("positions", np.zeros(0)).ndim == 2:  # files of before have none
        arrays["shades"] = shades(arrays["positions"])
    shapes = {
        "positions": (n_topics, 2),
        "radii": (n_topics,),
        "shades": (n_topics, 2),
        "order": (n_topics,),
        "x": (n_texts,),
        "y": (n_texts,),
    }
    sound = all(name in arrays and arrays[name].shape == shape for name, shape in shapes.items())
    sound = (
        sound and "axes" in arrays and arrays["axes"].ndim == 3 and arrays["axes"].shape[::2] == (n_topics, 2)
    )
    if not sound or sorted(arrays["order"].tolist()) != list(range(n_topics)):
        raise InputError(f"{path} is not the map of the run beside it; fit again")
    points = TopicMap(*(arrays[name].astype(np.float64) for name in ("positions", "radii", "axes", "shades")))
    at = np.column_stack([arrays["x"], arrays["y"]]).astype(np.float32, copy=False)
    return TextMap(points, arrays["order"].tolist(), at)
