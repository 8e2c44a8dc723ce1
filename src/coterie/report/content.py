"""Everything the page shows, as one dictionary that JSON can hold: numbers are made here and nowhere else.

Its size depends on the number of topics and on limits, not on the number of texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.map.colours import colours
from coterie.map.groups import FEWEST, groups_of
from coterie.progress import tell
from coterie.report import checks, wording
from coterie.report.facts import BINS, Facts
from coterie.report.findings import findings
from coterie.report.groups import by_class, changes_of, over_time
from coterie.report.levels import levels_of
from coterie.report.page import embedded
from coterie.report.tally import Tally
from coterie.report.wording import shortened
from coterie.results import Branch, Topic
from coterie.text.markup import readable

if TYPE_CHECKING:
    from coterie.topics import TopicModel

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The most that texts of points of the map may take: bytes together, and characters each.
POINT_BYTES, POINT_CHARACTERS = 450_000, 140
#: Longest text of a card, and term; terms shown. With very many topics, texts are cut shorter.
_TEXT, _SHORTEST_TEXT, _TERM, _TERMS = 320, 100, 40, 12
#: Near topics of a card.
_NEAR = 3
#: With more topics than this, nobody reads a table of similarities: the tree stands alone.
_ALIKE = 40
#: A map is so many steps wide.
_STEPS = 1_000


def content(
    model: TopicModel,
    info: Mapping[str, Any],
    tally: Tally,
) -> dict[str, Any]:
    """What the page shows. Topics are in the order of their size, and named by their ids."""
    tell("writing the report", 0)
    facts = Facts(model)
    topics = [model.topics[at] for at in facts.order]
    found = changes_of(tally, tally.topics, len(topics))
    return {
        "title": shortened(
            str(info.get("data", {}).get("source", "")).replace("\\", "/").split("/")[-1], 120
        ),
        "facts": _head(model, info, facts.collection.corpus.n_distinct),
        "findings": findings(topics, tally, found),
        "checks": _checks(facts, info, topics),
        "topics": _cards(facts, topics),
        "map": {**_map(facts), "groups": _groups(facts, topics)},
        "similarity": _similarity(facts, topics),
        "levels": levels_of(
            model.levels, facts.ids, facts.map.positions, lambda value: round(_STEPS * value)
        ),
        "tree": _branch(model.hierarchy()) if len(topics) > 1 else None,
        "time": over_time(tally, tally.topics, len(topics), found),
        "classes": by_class(tally, len(topics)),
        "number": _number(model),
        **wording.edit_lines(tuple(model.edits)),
        "leftOut": model.state.skipped,
        "seconds": {shortened(str(k), 40): float(v) for k, v in dict(info.get("seconds", {})).items()},
        "versions": {str(k): shortened(str(v), 40) for k, v in dict(info.get("versions", {})).items()},
    }


# --- the head


def _head(model: TopicModel, info: Mapping[str, Any], distinct: int) -> dict[str, Any]:
    data = dict(info.get("data", {}))
    return {
        "texts": model.n_texts_,
        "topics": len(model.topics),
        "distinct": distinct,
        "column": shortened(str(data.get("column", "")), 80),
        "skipped": int(data.get("skipped", 0)),
        "made": str(info.get("made", ""))[:40],
        "asked": wording.asked(dict(info.get("parameters", {})), len(model.topics)),
    }


def _checks(facts: Facts, info: Mapping[str, Any], topics: Sequence[Topic]) -> list[dict[str, Any]]:
    model = facts.model
    said = [
        *checks.run_warnings(list(info.get("warnings", ()))),
        *checks.boilerplate(model.boilerplate_, model.n_texts_),
        checks.unknown(model.n_known_, model.n_texts_, facts.collection.corpus.n_non_answers),
        checks.copies(
            facts.collection.corpus.n_distinct,
            model.n_texts_,
            round(facts.sums.copies),
            facts.texts[facts.sums.most_frequent],
        ),
        checks.tiny(topics),
        checks.overlaps(facts.similarity, facts.ids),
        checks.unsure(round(facts.sums.unsure), model.n_texts_),
    ]
    return sorted(said, key=lambda remark: not remark["look"])


# --- topics


def _cards(facts: Facts, topics: Sequence[Topic]) -> list[dict[str, Any]]:
    points, sums = facts.map, facts.sums
    histogram = sums.histogram.astype(np.int64).reshape(len(topics), BINS)
    shade, border = colours(points.shades), _borderline(facts)
    return [
        {
            "id": topic.id,
            "label": wording.topic_label(topic.label),
            "description": wording.topic_description(topic.description),
            "size": topic.size,
            "share": round(topic.share, 6),
            "terms": [
                [shortened(term, _TERM), round(weight, 5)]
                for term, weight in zip(topic.terms[:_TERMS], topic.weights, strict=False)
            ],
            "coherence": [round(topic.coherence, 3), wording.coherence(topic.coherence)],
            "distinctiveness": [
                round(topic.distinctiveness, 3),
                wording.distinctiveness(topic.distinctiveness),
            ],
            "confidence": round(float(sums.sure[index] / max(topic.size, 1)), 3),
            "histogram": histogram[index].tolist(),
            "examples": [shortened(readable(text), _longest(topics)) for text in topic.examples],
            "borderline": border[index],
            "near": _nearest(facts, index),
            "colour": shade[index],
            "at": [round(_STEPS * float(value)) for value in points.positions[index]],
            "radius": round(_STEPS * float(points.radii[index])),
        }
        for index, topic in enumerate(topics)
    ]


def _longest(topics: Sequence[Any]) -> int:
    """Characters of a text of a card."""
    return max(_SHORTEST_TEXT, min(_TEXT, 200 * _TEXT // max(len(topics), 1)))


def _nearest(facts: Facts, index: int) -> list[list[float]]:
    """The topics most alike, with cosines."""
    alike = facts.similarity[index].copy()
    alike[index] = -2.0
    best = np.argsort(-alike, kind="stable")[:_NEAR]
    return [[facts.ids[at], round(float(alike[at]), 2)] for at in best if at != index]


def _borderline(facts: Facts) -> list[list[dict[str, Any]]]:
    """For each topic its least sure texts, and where else they might belong."""
    return [
        [
            {
                "text": shortened(readable(facts.texts[row]), _longest(facts.ids)),
                "confidence": round(float(facts.scores.confidence[row]), 2),
                "second": facts.second(row),
            }
            for row in part
        ]
        for part in facts.borderline
    ]


# --- the map


def _map(facts: Facts) -> dict[str, Any]:
    """A sample of texts on the map."""
    texts = [facts.texts[int(row)] for row in facts.points]
    short, kept = within(texts, POINT_BYTES, POINT_CHARACTERS)
    rows = facts.points[:kept]
    said = facts.scores.at(rows)
    x, y = np.round(_STEPS * said.position.astype(np.float64)).astype(np.int64).T
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "topic": facts.numbers[said.topic].tolist(),
        "confidence": np.round(100 * said.confidence).astype(np.int64).tolist(),
        "texts": short,
        "known": facts.sums.known_rows,
        "extent": [round(_STEPS * value) for value in facts.map.landmarks.extent],
    }


def _groups(facts: Facts, topics: Sequence[Topic]) -> list[dict[str, Any]]:
    if len(topics) < FEWEST:
        return []
    found = groups_of(facts.model.hierarchy(), topics, facts.map.positions)
    return [
        {"label": wording.topic_label(one.label), "at": [round(_STEPS * value) for value in one.at]}
        for one in found
    ]


def within(texts: Sequence[str], most_bytes: int, most: int) -> tuple[list[str], int]:
    """Texts shortened until they fit into the page, the last left out if they do not; how many stay.

    >>> within(["one two", "three four"], 14, 10)
    (['one t…'], 1)
    >>> within(["one two", "three four"], 40, 8)
    (['one two', 'three f…'], 2)
    """
    characters = most
    while True:
        short = [shortened(text, characters) for text in texts]
        ends = np.cumsum([len(embedded(text).encode()) for text in short])
        if not len(ends) or ends[-1] <= most_bytes:
            return short, len(short)
        if characters <= max(most // 3, 6):
            kept = int(np.searchsorted(ends, most_bytes, side="right"))
            return short[:kept], kept
        characters = max(characters * 3 // 4, most // 3, 6)


# --- how topics relate, and how many there are


def _similarity(facts: Facts, topics: Sequence[Topic]) -> dict[str, Any] | None:
    """Cosines in percent between topics, in the order of the tree; None for one topic or many."""
    if not 2 <= len(topics) <= _ALIKE:
        return None
    index_of = {topic: at for at, topic in enumerate(facts.ids)}
    leaves = _leaves(facts.model.hierarchy())
    at = [index_of[topic] for topic in leaves]
    table = np.round(100 * np.clip(facts.similarity[np.ix_(at, at)], 0.0, 1.0)).astype(np.int64)
    return {"topics": leaves, "percent": table.tolist()}


def _leaves(branch: Branch) -> list[int]:
    leaves, waiting = [], [branch]
    while waiting:  # a tree may be as deep as there are topics
        now = waiting.pop()
        leaves += [] if now.parts else [now.topics[0]]
        waiting += reversed(now.parts)
    return leaves


def _branch(root: Branch) -> list[list[Any]]:
    """The tree as rows, a part after its whole: height, number of the whole (−1), topic id or name."""
    rows: list[list[Any]] = []
    waiting = [(root, -1)]
    while waiting:
        branch, whole = waiting.pop()
        rows.append(
            [
                round(branch.height, 4),
                whole,
                shortened(branch.label, 60) if branch.parts else branch.topics[0],
            ]
        )
        number = len(rows) - 1
        waiting += [(part, number) for part in reversed(branch.parts)]
    return rows


def _number(model: TopicModel) -> dict[str, Any] | None:
    estimate = model.number_of_topics_
    if estimate is None:
        return None
    return {
        "chosen": estimate.n_topics,
        "low": estimate.low,
        "high": estimate.high,
        "peaks": [peak for peak in estimate.peaks if peak != estimate.n_topics],
        "curve": [[k, round(float(value), 4)] for k, value in estimate.curve],
        "structured": bool(estimate.structured),
        "now": len(model.topics),
    }
