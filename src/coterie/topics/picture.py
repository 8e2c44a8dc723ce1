"""The map of a model as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.errors import InputError
from coterie.map.colours import colours
from coterie.map.groups import FEWEST, groups_of
from coterie.map.landmarks import text_keys
from coterie.map.picture import GROUNDS, Topic, draw_map

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

#: Points that are drawn.
_MOST = 20_000


def map_picture(model: TopicModel, title: str = "", *, ground: str = "light") -> str:
    """The map of the fitted texts as an SVG for print and slides; `ground` is 'light' or 'dark'."""
    if ground not in GROUNDS:
        raise InputError(f"ground must be {' or '.join(map(repr, GROUNDS))}; got {ground!r}")
    if model.collection is None:
        raise InputError(
            "the map is drawn with the fitted texts, which a loaded model does not have; "
            "use coterie.open_run(folder).with_texts()"
        )
    described, scores, collection = model.state.description, model.state.scores, model.collection
    assert described.map is not None
    assert scores is not None
    keys = np.concatenate(list(collection.corpus.engine.map(lambda block: text_keys(block.X))))
    some = np.sort(np.argsort(keys, kind="stable")[:_MOST])
    number = np.append(np.argsort(described.by_size), -1)
    named = [
        Topic(model.topics[at].label, model.topics[at].size, shade, (float(x), float(y)))
        for at, shade, (x, y) in zip(
            described.by_size, colours(described.map.shades), described.map.positions, strict=True
        )
    ]
    note = f"{model.n_texts_:,} texts in {len(named):,} topics"
    at, topics = scores.position[some].astype(np.float64), number[scores.topic[some]]
    ordered = [model.topics[place] for place in described.by_size]
    groups = groups_of(model.hierarchy(), ordered, described.map.positions) if len(named) >= FEWEST else []
    return draw_map(at, topics, named, title, note, GROUNDS[ground], groups)
