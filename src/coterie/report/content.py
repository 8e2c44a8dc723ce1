"""Everything the page shows, as one dictionary that JSON can hold: numbers are made here and nowhere else.

Its size depends on the number of topics and on limits, not on the number of texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coterie.progress import tell
from coterie.report import checks, wording
from coterie.report.colours import colours
from coterie.report.groups import Columns, by_class, over_time
from coterie.report.layout import TopicMap
from coterie.report.wording import shortened
from coterie.results import Branch, Topic
from coterie.topics.placing import NOWHERE, Seen

if TYPE_CHECKING:
    from coterie.topics import TopicModel

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Points of the map, and the most that their texts may take: bytes, and characters each.
MOST_POINTS, POINT_BYTES, POINT_CHARACTERS = 5_000, 450_000, 140
#: Longest text of a card, term and label; terms shown.
_TEXT, _TERM, _LABEL, _TERMS = 320, 40, 90, 12
#: Unsure texts and near topics of a card; bars of a histogram.
_BORDER, _NEAR, _BINS = 3, 3, 10
#: Topics of the table of likenesses, and edits that are listed.
_ALIKE, _EDITS = 80, 200
#: Texts by which the map learns how texts of a topic differ.
_LEARNED = 20_000
#: A map is so many steps wide.
_STEPS = 1_000


def content(
    model: TopicModel, info: Mapping[str, Any], confidence: Array, columns: Columns | None = None
) -> dict[str, Any]:
    """What the page shows. Topics are in the order of their size, and known by their ids."""
    tell("writing the report", 0)
    columns = columns or Columns()
    facts = _Facts(model, confidence)
    topics, places = [model.topics[at] for at in facts.order], facts.places
    time, classes = (make(columns, places, len(topics)) for make in (over_time, by_class))
    points, drawn = _map(facts)
    return {
        "title": shortened(
            str(info.get("data", {}).get("source", "")).replace("\\", "/").split("/")[-1], 120
        ),
        "facts": _head(model, info),
        "checks": _checks(facts, info, topics),
        "topics": _cards(facts, topics, points),
        "map": drawn,
        "likeness": _likeness(facts, topics),
        "tree": _branch(model.hierarchy()) if len(topics) > 1 else None,
        "time": time,
        "classes": classes,
        "number": _number(model),
        "edits": [shortened(str(edit), 200) for edit in model.edits[:_EDITS]],
        "moreEdits": max(len(model.edits) - _EDITS, 0),
        "seconds": {shortened(str(k), 40): float(v) for k, v in dict(info.get("seconds", {})).items()},
        "versions": {str(k): shortened(str(v), 40) for k, v in dict(info.get("versions", {})).items()},
    }


@dataclass(frozen=True)
class _Facts:
    """A model and what is read off it more than once. Topics are numbered by size: *places*."""

    model: TopicModel
    confidence: Array

    @cached_property
    def order(self) -> list[int]:
        """Positions in `model.topics`, from the largest topic on."""
        topics = self.model.topics
        return sorted(range(len(topics)), key=lambda at: (-topics[at].size, topics[at].id))

    @cached_property
    def ids(self) -> list[int]:
        return [self.model.topics[at].id for at in self.order]

    @cached_property
    def place_of_column(self) -> Ints:
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        return place

    @cached_property
    def row_places(self) -> Ints:
        """The place of each distinct text's topic."""
        return self.place_of_column[self.model._description.places]

    @cached_property
    def places(self) -> Ints:
        """The place of each text's topic."""
        found: Ints = self.row_places[self.model._counted.corpus.rows]
        return found

    @cached_property
    def row_confidence(self) -> Array:
        """Of each distinct text."""
        return self.confidence[self.model._counted.first]

    @cached_property
    def weights(self) -> Array:
        return self.model._counted.corpus.weights()

    @cached_property
    def centers(self) -> Array:
        return self.model._description.centers[self.order]

    @cached_property
    def likeness(self) -> Array:
        """Cosines of the centres of topics."""
        found: Array = np.round(self.centers @ self.centers.T, 6)
        return found

    def texts(self, rows: Ints) -> list[str]:
        """Distinct texts, as the first of each was written."""
        counted = self.model._counted
        numbers = counted.first[rows]
        found = counted.texts.at(np.unique(numbers))
        return [found[int(number)] for number in numbers]

    def seen(self, rows: Ints) -> Seen:
        """Distinct rows, in ascending order, as the model sees them; columns are in its own order."""
        counted, placing = self.model._counted, self.model._made.placing
        parts = []
        for block in counted.corpus.engine.map(lambda block: block):
            here = rows[(rows >= block.start) & (rows < block.start + block.X.shape[0])]
            vectors = None if counted.vectors is None else np.asarray(counted.vectors)[here]
            if len(here):
                parts.append(placing.see(block.X[here - block.start], vectors))
        return Seen.joined(parts)


# --- the head


def _head(model: TopicModel, info: Mapping[str, Any]) -> dict[str, Any]:
    data = dict(info.get("data", {}))
    return {
        "texts": model.n_texts_,
        "topics": len(model.topics),
        "distinct": model._counted.corpus.n_distinct,
        "column": shortened(str(data.get("column", "")), 80),
        "skipped": int(data.get("skipped", 0)),
        "made": str(info.get("made", ""))[:40],
        "asked": wording.asked(dict(info.get("parameters", {})), len(model.topics)),
    }


def _checks(facts: _Facts, info: Mapping[str, Any], topics: Sequence[Topic]) -> list[dict[str, Any]]:
    model = facts.model
    most = int(np.argmax(facts.weights))
    said = [
        *checks.run_warnings(list(info.get("warnings", ()))),
        checks.unknown(model.n_known_, model.n_texts_),
        checks.copies(
            model._counted.corpus.n_distinct,
            model.n_texts_,
            round(float(facts.weights[most])),
            facts.texts(np.array([most]))[0],
        ),
        checks.tiny(topics),
        checks.overlaps(facts.likeness, facts.ids),
        checks.unsure(facts.confidence),
    ]
    return sorted(said, key=lambda remark: not remark["look"])


# --- topics


def _cards(facts: _Facts, topics: Sequence[Topic], points: TopicMap) -> list[dict[str, Any]]:
    bins = np.minimum((facts.confidence * _BINS).astype(np.int64), _BINS - 1)
    histogram = np.bincount(facts.places * _BINS + bins, minlength=len(topics) * _BINS)
    mean = np.bincount(facts.places, facts.confidence, len(topics))
    shade, border = colours(points.positions), _borderline(facts)
    return [
        {
            "id": topic.id,
            "label": shortened(topic.label, _LABEL),
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
            "confidence": round(float(mean[place] / max(topic.size, 1)), 3),
            "histogram": histogram[place * _BINS : (place + 1) * _BINS].tolist(),
            "examples": [shortened(text, _TEXT) for text in topic.examples],
            "borderline": border[place],
            "near": _nearest(facts, place),
            "colour": shade[place],
            "at": [round(_STEPS * float(value)) for value in points.positions[place]],
            "radius": round(_STEPS * float(points.radii[place])),
        }
        for place, topic in enumerate(topics)
    ]


def _nearest(facts: _Facts, place: int) -> list[list[float]]:
    """The topics most alike, with cosines."""
    alike = facts.likeness[place].copy()
    alike[place] = -2.0
    best = np.argsort(-alike, kind="stable")[:_NEAR]
    return [[facts.ids[at], round(float(alike[at]), 2)] for at in best if at != place]


def _borderline(facts: _Facts) -> list[list[dict[str, Any]]]:
    """For each topic its least sure texts with a known word, and where else they might belong."""
    examples = {int(row) for rows in facts.model._description.examples for row in rows}
    sure, chosen = facts.row_confidence, []
    by_doubt = np.argsort(np.round(sure, 6), kind="stable")
    by_doubt = by_doubt[sure[by_doubt] > 0]
    for place in range(len(facts.order)):
        least = by_doubt[facts.row_places[by_doubt] == place][: _BORDER + checks.TINY_SIZE]
        chosen.append([int(row) for row in least if int(row) not in examples][:_BORDER])
    rows = np.array(sorted({row for part in chosen for row in part}), dtype=np.int64)
    if not len(rows):
        return [[] for _ in chosen]
    rest = facts.seen(rows).memberships[:, facts.order]
    rest[np.arange(len(rows)), facts.row_places[rows]] = 0.0
    second = np.where(rest.any(axis=1), rest.argmax(axis=1), NOWHERE)
    texts = dict(zip(rows.tolist(), zip(facts.texts(rows), second.tolist(), strict=True), strict=True))
    return [
        [
            {
                "text": shortened(texts[row][0], _TEXT),
                "confidence": round(float(sure[row]), 2),
                "second": None if texts[row][1] == NOWHERE else facts.ids[texts[row][1]],
            }
            for row in part
        ]
        for part in chosen
    ]


# --- the map


def _map(facts: _Facts) -> tuple[TopicMap, dict[str, Any]]:
    """The map and a sample of texts on it. Rows are in the order of a hash: every n-th is a fair sample."""
    rows = sampled(len(facts.row_places), _LEARNED)
    seen = facts.seen(rows)
    memberships = seen.memberships[:, facts.order]
    shares = np.bincount(facts.row_places, facts.weights, len(facts.order)) / max(facts.weights.sum(), 1.0)
    points = TopicMap.learn(facts.centers, shares, seen.directions, facts.row_places[rows])
    known = np.flatnonzero(memberships.any(axis=1))
    some = known[sampled(len(known), MOST_POINTS)]
    texts = facts.texts(rows[some])
    texts, kept = within(texts, POINT_BYTES, POINT_CHARACTERS)
    some = some[:kept]
    at = np.round(_STEPS * points.place(memberships[some], seen.directions[some])).astype(np.int64)
    return points, {
        "x": at[:, 0].tolist(),
        "y": at[:, 1].tolist(),
        "topic": facts.row_places[rows[some]].tolist(),
        "confidence": np.round(100 * facts.row_confidence[rows[some]]).astype(np.int64).tolist(),
        "texts": texts,
        "known": int((facts.row_confidence > 0).sum()),
    }


def sampled(n: int, most: int) -> Ints:
    """At most so many numbers below n, evenly apart."""
    return np.arange(0, n, max(-(-n // most), 1)) if n else np.zeros(0, dtype=np.int64)


def within(texts: Sequence[str], most_bytes: int, most: int) -> tuple[list[str], int]:
    """Texts shortened until together they fit, the last left out if even short ones do not; how many stay.

    >>> within(["one two", "three four"], 14, 10)
    (['one t…'], 1)
    """
    characters = most
    while True:
        short = [shortened(text, characters) for text in texts]
        ends = np.cumsum([len(text.encode()) for text in short])
        if not len(ends) or ends[-1] <= most_bytes:
            return short, len(short)
        if characters <= max(most // 3, 6):
            kept = int(np.searchsorted(ends, most_bytes, side="right"))
            return short[:kept], kept
        characters = max(characters * 3 // 4, max(most // 3, 6))


# --- how topics relate, and how many there are


def _likeness(facts: _Facts, topics: Sequence[Topic]) -> dict[str, Any] | None:
    """Cosines in percent between the largest topics, in the order of the leaves of the tree."""
    if len(topics) < 2:
        return None
    shown = set(facts.ids[:_ALIKE])
    place = {topic: at for at, topic in enumerate(facts.ids)}
    leaves = [topic for topic in _leaves(facts.model.hierarchy()) if topic in shown]
    at = [place[topic] for topic in leaves]
    table = np.round(100 * np.clip(facts.likeness[np.ix_(at, at)], 0.0, 1.0)).astype(np.int64)
    return {"topics": leaves, "percent": table.tolist(), "left": len(topics) - len(leaves)}


def _leaves(branch: Branch) -> list[int]:
    found, waiting = [], [branch]
    while waiting:  # a tree may be as deep as there are topics
        now = waiting.pop()
        found += [] if now.parts else [now.topics[0]]
        waiting += reversed(now.parts)
    return found


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
    found = model.number_of_topics_
    if found is None:
        return None
    return {
        "chosen": found.n_topics,
        "low": found.low,
        "high": found.high,
        "peaks": [peak for peak in found.peaks if peak != found.n_topics],
        "curve": [[k, round(float(value), 4)] for k, value in found.curve],
        "structured": bool(found.structured),
        "now": len(model.topics),
    }
