"""What topics are made of: their words, sizes, how well they hang together, and typical texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.cluster.wording import telling, term_counts, topic_words
from coterie.engines import Block, Engine
from coterie.engines.base import pattern
from coterie.linalg.rows import unit_dense
from coterie.progress import tell
from coterie.semantics import cooccurrence, npmi
from coterie.topics.confidence import Confidence, learn_confidence
from coterie.topics.placing import NOWHERE, Placing, Seen
from coterie.topics.reshape import Array, Ints

#: Texts from which confidence is learned and typical ones are picked.
_SAMPLE = 32_768
#: Typical texts named for a topic, and those looked at to find some that differ.
EXAMPLES, _CANDIDATES = 5, 40
#: Texts that share this part of their words tell a reader nothing new.
_ALIKE = 0.6
#: Terms whose company and distinctiveness are measured.
_TOP = 10
#: The place of a text that has known words, none of which speaks for a topic.
_UNDECIDED = -2


@dataclass(frozen=True)
class Description:
    """Topics in numbers; everything is in the order of `Placing.ids`.

    `places` holds the column of the topic of each distinct text, `NOWHERE` for one without a known word;
    texts whose words speak for no topic are in the largest, `fallback`. `lost` is the number of texts without
    a known word. `terms` are columns, the most telling first; `counts` topics × terms; `examples` rows.
    """

    places: npt.NDArray[np.int32]
    fallback: int
    lost: float
    sizes: Array
    counts: Array
    centers: Array
    terms: tuple[Ints, ...]
    coherence: Array
    distinctiveness: Array
    examples: tuple[Ints, ...]
    confidence: Confidence

    def answered(self) -> npt.NDArray[np.int32]:
        """The column of the topic that each distinct text is given: the largest without a known word."""
        return np.where(self.places == NOWHERE, np.int32(self.fallback), self.places)


def describe(
    documents: Engine, placing: Placing, pinned: dict[int, int] | None = None, vectors: Any = None
) -> Description:
    """Read topics off the texts they were learned from, in one pass and a few over their words.

    `pinned` names the column of the topic for distinct rows that somebody put there.
    """
    pinned = pinned or {}
    n_topics, step = len(placing.ids), max(-(-documents.n_rows // _SAMPLE), 1)
    total = _Totals(n_topics)
    sample: list[tuple[Ints, Array, Seen]] = []

    def read(block: Block) -> tuple[Block, Seen, Ints]:
        seen = placing.see_block(block, vectors)
        places = seen.places
        for row, place in pinned.items():
            if block.start <= row < block.start + len(places):
                places[row - block.start] = place
        return block, seen, places

    tell("describing topics", 0, documents.n_rows, "texts")
    for block, seen, places in documents.map(read):
        tell("describing topics", block.start + len(places), documents.n_rows, "texts")
        total.add(block, seen, places)
        chosen = np.arange(-block.start % step, len(places), step)
        sample.append((chosen + block.start, block.weights[chosen], seen.rows(chosen)))
    places = np.concatenate(total.places)
    fallback = int(np.argmax(total.sizes))
    sizes = total.sizes + np.where(np.arange(n_topics) == fallback, total.undecided, 0.0)
    centers = np.asarray(unit_dense(total.directions), dtype=np.float64)
    counts = total.terms if total.terms is not None else np.zeros((n_topics, documents.n_terms))
    terms = _terms(documents, placing, counts)
    coherence = _coherence(documents, terms)
    numbers, weights = (np.concatenate([part[i] for part in sample]) for i in (0, 1))
    seen = Seen.joined([part[2] for part in sample])
    sure = learn_confidence(seen.memberships, seen.directions, seen.n_words, weights)
    return Description(
        np.where(places == _UNDECIDED, fallback, places).astype(np.int32),
        fallback,
        total.lost,
        sizes,
        counts,
        centers,
        terms,
        coherence,
        _distinctiveness(counts, terms),
        _examples(seen, places[numbers], numbers, centers, sure, total.first),
        sure,
    )


class _Totals:
    """Sums over blocks, in block order."""

    def __init__(self, n_topics: int):
        self.sizes = np.zeros(n_topics)
        self.undecided = self.lost = 0.0
        self.terms: Array | None = None
        self.directions: Array = np.zeros((n_topics, 0))
        self.places: list[Ints] = []
        self.first = np.full(n_topics, NOWHERE)

    def add(self, block: Block, seen: Seen, places: Ints) -> None:
        n_topics = len(self.sizes)
        there = places != NOWHERE
        self.sizes += np.bincount(places[there], block.weights[there], n_topics)
        without = ~there & (seen.n_words == 0)
        self.lost += float(block.weights[without].sum())
        self.undecided += float(block.weights[~there & ~without].sum())
        counted = term_counts(Block(seen.X, block.weights), places, n_topics)
        self.terms = counted if self.terms is None else self.terms + counted
        member = np.zeros((n_topics, len(places)))
        member[places[there], np.flatnonzero(there)] = block.weights[there]
        summed = member @ seen.directions
        self.directions = summed if not self.directions.size else self.directions + summed
        self.places.append(np.where(~there & ~without, _UNDECIDED, places))
        found, row = np.unique(places[there], return_index=True)
        new = self.first[found] == NOWHERE
        self.first[found[new]] = block.start + np.flatnonzero(there)[row[new]]


def _terms(documents: Engine, placing: Placing, counts: Array) -> tuple[Ints, ...]:
    """Columns of the terms of each topic, the most telling first; those that it never uses are left out."""
    totals = counts.sum(axis=0)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    everywhere = totals / max(float(totals.sum()), 1e-300)
    if not counts.shape[1]:
        return tuple(np.zeros(0, dtype=np.int64) for _ in counts)
    ranked = topic_words(documents, shares, everywhere)
    scores = telling(shares, everywhere)
    return tuple(
        columns[(row[columns] > 0) & ((score[columns] > 0) | (len(counts) == 1))]
        for columns, row, score in zip(ranked, shares, scores, strict=True)
    )


def _coherence(documents: Engine, terms: tuple[Ints, ...]) -> Array:
    """Mean NPMI of the first terms of each topic, by the texts they stand in together."""
    used = np.unique(np.concatenate([columns[:_TOP] for columns in terms] or [np.zeros(0, dtype=np.int64)]))
    if not len(used):
        return np.zeros(len(terms))
    inside = documents.mapped(lambda block: Block(block.X[:, used], block.weights, block.start))
    together = np.asarray(cooccurrence(inside).todense())
    alone, n_texts = inside.sum(
        lambda block: (pattern(block.X).T @ block.weights, float(block.weights.sum()))
    )
    return np.array([_mean_npmi(np.searchsorted(used, c[:_TOP]), together, alone, n_texts) for c in terms])


def _mean_npmi(at: Ints, together: Array, alone: Array, n_texts: float) -> float:
    if len(at) < 2:
        return 0.0
    pairs = np.triu_indices(len(at), 1)
    return float(npmi(together[np.ix_(at, at)], alone[at], n_texts)[pairs].mean())


def _distinctiveness(counts: Array, terms: tuple[Ints, ...]) -> Array:
    """The part of the uses of a topic's first terms that falls into it, on average."""
    totals = np.maximum(counts.sum(axis=0), 1e-300)
    means = [
        float((row[c[:_TOP]] / totals[c[:_TOP]]).mean()) if len(c) else 0.0
        for row, c in zip(counts, terms, strict=True)
    ]
    return np.array(means)


def _examples(
    seen: Seen, places: Ints, numbers: Ints, centers: Array, sure: Confidence, first: Ints
) -> tuple[Ints, ...]:
    """Distinct rows that stand for each topic: sure, near its centre, and unlike each other."""
    if not len(numbers):
        return tuple(np.zeros(0, dtype=np.int64) for _ in centers)
    near = np.einsum("ij,ij->i", seen.directions, centers[np.maximum(places, 0)])
    typical = np.round(sure.of(seen.memberships, seen.directions, seen.n_words) * near, 6)
    found = []
    for topic in range(len(centers)):
        rows = np.flatnonzero(places == topic)
        rows = rows[np.argsort(-typical[rows], kind="stable")][:_CANDIDATES]
        chosen = _unlike(seen, rows)
        lone = first[topic : topic + 1] if first[topic] != NOWHERE else np.zeros(0, dtype=np.int64)
        found.append(numbers[chosen] if len(chosen) else lone)
    return tuple(found)


def _unlike(seen: Seen, rows: Ints) -> Ints:
    """Some of the rows, from the first on, that share few words with those before."""
    chosen: list[int] = []
    words = {int(row): set(seen.X[row].indices.tolist()) for row in rows}
    for row, own in words.items():
        if all(len(own & words[o]) < _ALIKE * max(min(len(own), len(words[o])), 1) for o in chosen):
            chosen.append(row)
        if len(chosen) == EXAMPLES:
            break
    return np.array(chosen, dtype=np.int64)
