"""The map of the texts: points in the colours of their topics, with names as on a printed map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from coterie.map.colours import Ground
from coterie.map.groups import FEWEST, groups_of
from coterie.map.landmarks import text_keys
from coterie.map.picture import Topic, draw_map

if TYPE_CHECKING:
    from coterie.topics.collection import Collection
    from coterie.topics.model import TopicModel

#: Points that are drawn, and those that Altair takes.
_MOST, _MOST_ALTAIR = 20_000, 5_000
#: Type is larger than in print, for a notebook shows the map at half its width.
_SCALE = 1.35


def frame(model: TopicModel, collection: Collection) -> pl.DataFrame:
    """Distinct texts that have a topic: the number of the first such text, its topic and its place."""
    scores = model.state.scores
    assert scores is not None
    keys = np.concatenate(list(collection.corpus.engine.map(lambda block: text_keys(block.X))))
    some = np.sort(np.argsort(keys, kind="stable")[:_MOST])
    some = some[(scores.topic[some] >= 0) & np.isfinite(scores.position[some]).all(axis=1)]
    named = [model.topics[at] for at in scores.topic[some].tolist()]
    x, y = scores.position[some].astype(np.float64).T
    return pl.DataFrame(
        {
            "topic": pl.Series([topic.id for topic in named], dtype=pl.Int64),
            "label": pl.Series([topic.label for topic in named], dtype=pl.String),
            "text": collection.first[some],
            "x": x,
            "y": y,
        }
    )


def draw(
    model: TopicModel, data: pl.DataFrame, title: str, note: str, colours: dict[int, str], ground: Ground
) -> str:
    """The points of `data`, with names of topics and, where there are many, of groups of topics."""
    described = model.state.description
    assert described.map is not None
    ordered, places = [model.topics[at] for at in described.by_size], described.map.positions
    number = {topic.id: at for at, topic in enumerate(ordered)}
    named = [
        Topic(topic.label, topic.size, colours[topic.id], (float(x), float(y)))
        for topic, (x, y) in zip(ordered, places, strict=True)
    ]
    groups = groups_of(model.hierarchy(), ordered, places) if len(named) >= FEWEST else []
    topics = np.array([number[topic] for topic in data["topic"]], dtype=np.int64)
    at = data.select("x", "y").to_numpy().reshape(-1, 2)
    return draw_map(at, topics, named, title, note, ground, groups, _SCALE)


def chart(altair: Any, data: pl.DataFrame) -> Any:
    """Points with Altair; of very many, some."""
    return (
        altair.Chart(data.gather_every(max(-(-len(data) // _MOST_ALTAIR), 1)))
        .mark_circle(size=12)
        .encode(
            x=altair.X("x:Q", axis=None),
            y=altair.Y("y:Q", axis=None, scale=altair.Scale(reverse=True)),
            color=altair.Color("label:N", legend=None),
            tooltip=["label:N", "text:Q"],
        )
    )
