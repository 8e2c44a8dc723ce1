"""The map of a run as a file: where topics lie, the formula that places texts, and where each text lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from coterie.errors import InputError
from coterie.map.landmarks import Landmarks
from coterie.map.layout import Known, TopicMap
from coterie.storage.arrays import Pieces, read_arrays, write_arrays

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
    known: Known


def write_map(
    path: Path,
    topics: TopicMap,
    order: Sequence[int],
    known: Known,
    n_texts: int,
    positions: Callable[[], Iterable[Floats]],
) -> None:
    """Write the file; `positions` gives those of all texts, some at a time."""

    def one(axis: int) -> Pieces:
        return Pieces((n_texts,), np.dtype(np.float32), lambda: (some[:, axis] for some in positions()))

    write_arrays(
        path,
        {
            "positions": topics.positions,
            "radii": topics.radii,
            "landmarks": topics.landmarks.vectors,
            "landmark_positions": topics.landmarks.at,
            "shades": topics.shades,
            "order": np.array(order, dtype=np.int32),
            "known": np.array(known.ids, dtype=np.int32),
            "known_positions": known.positions,
            "known_shades": known.shades,
            "x": one(0),
            "y": one(1),
        },
    )


def read_map(path: Path, ids: Sequence[int], n_texts: int) -> TextMap | None:
    """Read the file; it must be the map of so many texts and of the topics with these ids.

    The first maps had no landmarks; they are drawn again.
    """
    arrays, _ = read_arrays(path)
    if "axes" in arrays:
        return None
    n_topics, n_known, n_marks = len(ids), len(arrays.get("known", ())), len(arrays.get("landmarks", ()))
    shapes = {
        "positions": (n_topics, 2),
        "radii": (n_topics,),
        "shades": (n_topics, 2),
        "order": (n_topics,),
        "known": (n_known,),
        "known_positions": (n_known, 2),
        "known_shades": (n_known, 2),
        "landmark_positions": (n_marks, 2),
        "x": (n_texts,),
        "y": (n_texts,),
    }
    sound = all(name in arrays and arrays[name].shape == shape for name, shape in shapes.items())
    marks = arrays.get("landmarks")
    if (
        not sound
        or marks is None
        or marks.ndim != 2
        or marks.dtype != np.int16
        or sorted(arrays["order"].tolist()) != list(range(n_topics))
    ):
        raise InputError(f"{path} does not belong to this run; fit again")
    numbers = {name: value.astype(np.float64) for name, value in arrays.items() if value.dtype.kind == "f"}
    landmarks = Landmarks(marks, numbers["landmark_positions"])
    points = TopicMap(landmarks, *(numbers[name] for name in ("positions", "radii", "shades")))
    known = Known(arrays["known"].tolist(), numbers["known_positions"], numbers["known_shades"], landmarks)
    at = np.column_stack([arrays["x"], arrays["y"]]).astype(np.float32, copy=False)
    return TextMap(points, arrays["order"].tolist(), at, known)
