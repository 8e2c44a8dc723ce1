"""Names on the map of a run, and the map as a picture."""

from __future__ import annotations

import numpy as np

from coterie.explore.opened import OpenedRun
from coterie.explore.schemas_map import MapGroup, MapLevel, MapNames, MapWord
from coterie.explore.selection import priority
from coterie.map.colours import GROUNDS, colours
from coterie.map.groups import FEWEST, Group, groups_of
from coterie.map.picture import Topic, draw_map
from coterie.map.words import neighbourhood_words
from coterie.report.levels import levels_of

#: Distinct texts whose words are looked at, and points of a picture.
_TEXTS, _POINTS = 20_000, 20_000


def map_names(opened: OpenedRun) -> MapNames:
    """Groups of topics, and words of neighbourhoods once texts are counted."""
    words = _words(opened) if opened.counted.ready else None
    groups = [MapGroup(**vars(one)) for one in _groups(opened)]
    return MapNames(groups=groups, levels=_levels(opened), words=words)


def _levels(opened: OpenedRun) -> list[MapLevel]:
    names = {topic.id: topic.label for topic in opened.topics}
    found = levels_of(opened.model.levels, list(names), opened.text_map().topics.positions, float)
    for level in found:
        for group in level["groups"]:
            group["label"] = group["label"] or names[group["topics"][0]]
    return [MapLevel(**level) for level in found]


def _groups(opened: OpenedRun) -> list[Group]:
    if len(opened.topics) < FEWEST:
        return []
    return groups_of(opened.model.hierarchy(), opened.topics, opened.text_map().topics.positions)


def _words(opened: OpenedRun) -> list[MapWord]:
    index, places = opened.counted.get().index, opened.text_map().at
    _, first = np.unique(index.rows, return_index=True)
    rows = np.sort(np.argsort(priority(first), kind="stable")[:_TEXTS])
    found = neighbourhood_words(index.counts(rows), places[first[rows]].astype(np.float64))
    names = opened.model.vectorizer_.vocabulary_.display
    banned = set(opened.model.state.edited.scorer.banned)
    return [
        MapWord(term=names[word.column], at=word.at, texts=word.texts, level=word.level)
        for word in found
        if word.column not in banned and any(map(str.isalpha, names[word.column]))
    ]


def map_picture(opened: OpenedRun, ground: str) -> str:
    """The map as an SVG."""
    drawn, rows = opened.text_map(), opened.rows()
    some = np.sort(np.argsort(priority(np.arange(rows.n)), kind="stable")[:_POINTS])
    shades = colours(drawn.topics.shades)
    named = [
        Topic(topic.label, topic.size, shade, (float(x), float(y)))
        for topic, shade, (x, y) in zip(opened.topics, shades, drawn.topics.positions, strict=True)
    ]
    note = f"{opened.model.n_texts_:,} texts in {len(named):,} topics"
    at = drawn.at[some].astype(np.float64)
    topics = rows.topic[some].astype(np.int64)
    return draw_map(at, topics, named, opened.name, note, GROUNDS[ground], _groups(opened))
