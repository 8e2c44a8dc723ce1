"""The map of a run as a file: where topics lie, the formula that places texts, and where each text lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError
from coterie.map.layout import Kept, TopicMap
from coterie.report.facts import Facts
from coterie.storage.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from coterie.topics import TopicModel
    from coterie.topics.placing import Seen

#: Texts are shown on screens: seven digits are plenty.
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Known:
    """Where the topics of a run lie, and those it had before edits, by id: people know their way by it, and a
    topic that comes back finds its place again.
    """

    ids: list[int]
    positions: npt.NDArray[np.float64]
    shades: npt.NDArray[np.float64]


@dataclass(frozen=True)
class TextMap:
    """A map of topics, the largest first, and the texts on it.

    `order` are positions in `TopicModel.topics`; `at` is texts × 2, nan for a text without a known word.
    """

    topics: TopicMap
    order: list[int]
    at: Floats
    known: Known


def learn_map(model: TopicModel, known: Known | None = None) -> tuple[TopicMap, list[int]]:
    """The map of a model that has its texts, and the order in which it has the topics."""
    facts = Facts(model, np.zeros(model.n_texts_))
    return map_of(facts, known), facts.order


def with_texts(
    model: TopicModel, points: TopicMap, order: list[int], at: Floats, known: Known | None = None
) -> TextMap:
    """The map with its texts; what was known of topics that are gone is remembered."""
    ids = [model.topics[place].id for place in order]
    gone = [] if known is None else [n for n, topic in enumerate(known.ids) if topic not in set(ids)]
    if known is None or not gone:
        return TextMap(points, order, at, Known(ids, points.positions, points.shades))
    ids += [known.ids[n] for n in gone]
    positions = np.concatenate([points.positions, known.positions[gone]])
    return TextMap(
        points, order, at, Known(ids, positions, np.concatenate([points.shades, known.shades[gone]]))
    )


def map_of(facts: Facts, known: Known | None = None) -> TopicMap:
    """The map of the topics of a model, from the largest on; those that are known stay."""
    shares = np.array([facts.model.topics[at].share for at in facts.order])
    kept = None if known is None else _kept(facts.ids, known)
    places = facts.row_places[facts.sample_rows]
    return TopicMap.learn(facts.centers, shares, facts.sample.directions, places, kept)


def _kept(ids: Sequence[int], known: Known) -> Kept:
    pairs = [(place, known.ids.index(topic)) for place, topic in enumerate(ids) if topic in known.ids]
    now, then = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in (0, 1))
    return Kept(now, known.positions[then], known.shades[then])


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
            "known": np.array(found.known.ids, dtype=np.int32),
            "known_positions": found.known.positions,
            "known_shades": found.known.shades,
            "x": found.at[:, 0],
            "y": found.at[:, 1],
        },
    )


def read_map(path: Path, ids: Sequence[int], n_texts: int) -> TextMap:
    """Read the file; one that is not the map of so many texts and of the topics with these ids is told."""
    arrays, _ = read_arrays(path)
    n_topics, n_known = len(ids), len(arrays.get("known", ()))
    shapes = {
        "positions": (n_topics, 2),
        "radii": (n_topics,),
        "shades": (n_topics, 2),
        "order": (n_topics,),
        "known": (n_known,),
        "known_positions": (n_known, 2),
        "known_shades": (n_known, 2),
        "x": (n_texts,),
        "y": (n_texts,),
    }
    sound = all(name in arrays and arrays[name].shape == shape for name, shape in shapes.items())
    sound = (
        sound and "axes" in arrays and arrays["axes"].ndim == 3 and arrays["axes"].shape[::2] == (n_topics, 2)
    )
    if not sound or sorted(arrays["order"].tolist()) != list(range(n_topics)):
        raise InputError(f"{path} is not the map of the run beside it; fit again")
    numbers = {name: value.astype(np.float64) for name, value in arrays.items() if value.dtype.kind == "f"}
    points = TopicMap(*(numbers[name] for name in ("positions", "radii", "axes", "shades")))
    known = Known(arrays["known"].tolist(), numbers["known_positions"], numbers["known_shades"])
    at = np.column_stack([arrays["x"], arrays["y"]]).astype(np.float32, copy=False)
    return TextMap(points, arrays["order"].tolist(), at, known)
