"""Describe topics: words, sizes, coherence and typical texts.

`read_topics` makes one pass over the distinct texts and keeps what everything else needs of them. `describe`
turns that into a description of the topics, and `finish` into a record of each text; neither scores a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from coterie.cluster.wording import distinctive, term_counts, topic_words
from coterie.embeddings import Vectors
from coterie.engines import Block, Engine
from coterie.engines.base import pattern
from coterie.engines.memory import rows as rows_of
from coterie.engines.records import Records
from coterie.engines.threads import ordered_map, usable_threads
from coterie.linalg.rows import unit_dense
from coterie.map.landmarks import text_keys
from coterie.map.layout import Known, TopicMap
from coterie.progress import counted, tell
from coterie.semantics import cooccurrence, npmi
from coterie.topics.collection import without_columns
from coterie.topics.confidence import Confidence, learn_confidence
from coterie.topics.evidence import counted_evidence, deciding_words, related_words
from coterie.topics.reshape import Array, Ints
from coterie.topics.scorer import NONE, Scorer
from coterie.topics.scores import LOOK, PINNED, SCORE, Look, Scores, look

T = TypeVar("T")
Points = npt.NDArray[np.float32]

#: Texts from which confidence is learned and typical ones are picked.
_SAMPLE = 32_768
#: Typical texts named for a topic, and those looked at to find some that differ.
EXAMPLES, _CANDIDATES = 5, 40
#: Texts that share this part of their words tell a reader nothing new.
_ALIKE = 0.6
#: Terms whose co-occurrence and distinctiveness are measured.
_TOP = 10
#: Rows worked on together: what is dense, with a number for each topic, stays small.
_ROWS = 4_096
#: Rows that are explained together: work that is done once for each topic is shared by more of them.
_EXPLAINED_ROWS = 16_384
#: Bytes of the vectors of texts that are kept between the passes.
_KEPT_VECTORS = 1 << 27
_READ = ("topic", "n_words")


@dataclass(frozen=True)
class Description:
    """Topics in numbers; everything is in the order of `Scorer.ids`.

    Texts whose words speak for no topic are in the largest, `fallback`. `lost` is the number of texts without
    a known word. `terms` are columns, the most distinctive first; `counts` topics × terms; `examples` rows
    of distinct texts. `map` has the topics in the order `by_size`, and `known` what it has shown so far.
    `names` are phrases of the texts, empty in a model of an older version.
    """

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
    by_size: list[int] = field(default_factory=list)
    map: TopicMap | None = None
    known: Known | None = None
    names: tuple[str, ...] = ()

    @cached_property
    def tokens(self) -> Array:
        """How many words each topic has."""
        return np.maximum(self.counts.sum(axis=1), 1e-300)

    def shares(self, topics: Any, columns: Any = slice(None)) -> Array:
        """How likely a word of some topics is one of some terms, at indices as of an array topics × terms."""
        return np.asarray(self.counts[topics, columns] / self.tokens[topics])

    def log_shares(self, topics: Any, columns: Any) -> Array:
        """The logarithm of that, a little for terms that a topic never used."""
        return np.log(self.shares(topics, columns) + 1e-6)


@dataclass(frozen=True)
class Sample:
    """Some of the texts, evenly spread: their rows, weights, counts, memberships and vectors."""

    rows: Ints
    weights: Array
    topics: Ints
    X: csr_matrix
    memberships: Array
    vectors: Array

    @property
    def n_words(self) -> Ints:
        """How many different known terms each text has."""
        return np.asarray(np.diff(self.X.indptr), dtype=np.int64)


@dataclass(frozen=True)
class Reading:
    """What one pass over the distinct texts found, by column of memberships.

    `looks` has a record of each text; in it topics are numbered as they were then, and topic i is
    ``number[i]`` now. `vectors` are those of the texts, where they are few enough to keep. `first` is the
    first text of each topic, `NONE` for a topic without any. `tied` says whether the order of topics decides
    about some text.
    """

    sizes: Array
    counts: Array
    vector_sums: Array
    lost: float
    undecided: float
    looks: Records
    vectors: Records | None
    first: Ints
    tied: bool
    sample: Sample
    number: Ints

    def reordered(self, order: Ints) -> Reading:
        """The same with topics in another order: topic i becomes what topic ``order[i]`` was."""
        new = np.append(np.argsort(order), NONE)
        sample = replace(
            self.sample, topics=new[self.sample.topics], memberships=self.sample.memberships[:, order]
        )
        return replace(
            self,
            sizes=self.sizes[order],
            counts=self.counts[order],
            vector_sums=self.vector_sums[order],
            first=self.first[order],
            sample=sample,
            number=new[self.number],
        )


def read_topics(
    documents: Engine,
    scorer: Scorer,
    pinned: Mapping[int, int] | None = None,
    embeddings: Vectors | None = None,
) -> Reading:
    """Score every distinct text, once.

    `pinned` names the column of the topic for rows that somebody put there; `embeddings` has a vector for
    each row, for a model that uses them.
    """
    step, n_topics = max(-(-documents.n_rows // _SAMPLE), 1), len(scorer.ids)
    width, pinned = scorer.method.dimensions, pinned or {}
    looks = documents.records(LOOK)
    few = 0 < 8 * width * documents.n_rows <= _KEPT_VECTORS
    vectors = documents.records((np.float64, (width,))) if few else None

    def read(piece: Block) -> tuple[Look, bool, Array, tuple[Any, ...]]:
        some = slice(piece.start, piece.start + piece.X.shape[0])
        scored = scorer.score(piece.X, None if embeddings is None else embeddings[some])
        here = {row - piece.start: topic for row, topic in pinned.items() if some.start <= row < some.stop}
        seen, tied = look(scorer, scored, here)
        chosen = np.flatnonzero(text_keys(piece.X) % np.uint64(step) == 0)  # whatever the order of texts
        sums = _vector_sums(seen.topic, piece.weights, scored.vectors, n_topics)
        looks.put(piece.start, seen.records())
        if vectors is not None:
            vectors.put(piece.start, scored.vectors)
        kept = (
            chosen + piece.start, piece.weights[chosen], seen.topic[chosen].astype(np.int64),
            scored.X[chosen], scored.memberships[chosen], scored.vectors[chosen],
        )  # fmt: skip
        return seen, tied, sums, kept

    def read_block(block: Block) -> tuple[Any, ...]:
        parts = _by_pieces(read, block)
        topic, n_words = (np.concatenate([getattr(seen, name) for seen, *_ in parts]) for name in _READ)
        some = topic != NONE
        without = ~some & (n_words == 0)
        sizes = np.bincount(topic[some], block.weights[some], n_topics).astype(np.float64)
        left = np.array([block.weights[without].sum(), block.weights[~some & ~without].sum()])
        first = np.full(n_topics, NONE)
        here, at = np.unique(topic[some], return_index=True)
        first[here] = block.start + np.flatnonzero(some)[at]
        counted = Block(without_columns(block.X, scorer.banned), block.weights)
        counts = term_counts(counted, topic, n_topics)
        sums = np.sum([sums for _, _, sums, _ in parts], axis=0)
        return (
            sizes,
            counts,
            sums,
            left,
            [first],
            int(any(tied for _, tied, _, _ in parts)),
            [kept for *_, kept in parts],
        )

    sizes, counts, sums, left, firsts, tied, kept = documents.sum(read_block, "describing topics")
    rows, weights, topics, X, memberships, sampled = zip(*kept, strict=True)
    first = np.stack(firsts)
    at = (first != NONE).argmax(axis=0)
    sample = Sample(
        np.concatenate(rows),
        np.concatenate(weights),
        np.concatenate(topics),
        vstack(X, format="csr"),
        np.concatenate(memberships),
        np.concatenate(sampled),
    )
    return Reading(
        sizes, counts.toarray(), sums, float(left[0]), float(left[1]), looks, vectors,
        first[at, np.arange(n_topics)], bool(tied), sample, np.append(np.arange(n_topics), NONE),
    )  # fmt: skip


def _by_pieces(function: Callable[[Block], T], block: Block, size: int = _ROWS) -> list[T]:
    """Apply a function to a block in pieces that are small even where each row has a number for each topic.

    Threads share the pieces of a block if it is the only one, else they share the blocks.
    """
    n_rows = block.X.shape[0]
    starts = range(0, max(n_rows, 1), size)
    pieces = (
        Block(rows_of(block.X, a, min(a + size, n_rows)), block.weights[a : a + size], block.start + a)
        for a in starts
    )
    return list(ordered_map(function, pieces, min(usable_threads(None), len(starts))))


def _vector_sums(topics: Ints, weights: Array, vectors: Array, n_topics: int) -> Array:
    some = np.flatnonzero(topics != NONE)
    member = csr_matrix((weights[some], (topics[some], some)), shape=(n_topics, len(topics)))
    return np.asarray(member @ vectors)


def describe(
    documents: Engine,
    scorer: Scorer,
    reading: Reading,
    confidence: Confidence | None = None,
    known: Known | None = None,
    ranked: Ints | None = None,
) -> Description:
    """Describe topics by what was read.

    `confidence` is that of the topics before an edit, and `known` where they were on the map. `ranked` are
    the terms of each topic, if the method has ranked them by the same counts already.
    """
    sample = reading.sample
    fallback = int(np.argmax(reading.sizes))
    sizes = reading.sizes.copy()
    sizes[fallback] += reading.undecided
    centers = np.asarray(unit_dense(reading.vector_sums), dtype=np.float64)
    terms = _terms(documents, reading.counts, ranked)
    learned_from = sample.memberships, sample.vectors, sample.n_words, sample.weights
    sure = learn_confidence(*learned_from) if confidence is None else confidence.for_topics(*learned_from)
    by_size = sorted(range(len(sizes)), key=lambda at: (-int(sizes[at]), scorer.ids[at]))
    ids = [scorer.ids[at] for at in by_size]
    number = np.append(np.argsort(by_size), NONE)
    tell("drawing the map", 0)
    keys = text_keys(sample.X)
    drawn = TopicMap.learn(centers[by_size], sample.vectors, keys, number[sample.topics], ids, known)
    return Description(
        fallback,
        reading.lost,
        sizes,
        reading.counts,
        centers,
        terms,
        _coherence(documents, terms),
        _distinctiveness(reading.counts, terms),
        (),
        sure,
        by_size,
        drawn,
        drawn.remembered(ids, known),
    )


def finish(
    documents: Engine,
    scorer: Scorer,
    reading: Reading,
    description: Description,
    placed: Points | None = None,
    embeddings: Vectors | None = None,
) -> Scores:
    """The record of every distinct text; `placed` are their positions, if their vectors are as before."""
    looks, vectors, number = reading.looks, reading.vectors, reading.number
    scores = documents.records(SCORE)

    def record(piece: Block) -> None:
        some = slice(piece.start, piece.start + piece.X.shape[0])
        seen = Look.of(looks.get(some.start, some.stop), number)
        if vectors is not None:
            own = vectors.get(some.start, some.stop)
        else:  # to compute them again takes less than to write and read them
            own = scorer.vectors(piece.X, None if embeddings is None else embeddings[some])
        at = None if placed is None else np.asarray(placed[some])
        scores.put(some.start, explained(scorer, description, piece.X, seen, own, at).records())

    for _ in counted(
        documents.map(lambda block: len(_by_pieces(record, block, _EXPLAINED_ROWS))), "explaining assignments"
    ):
        pass
    return Scores.of(scores.array)


def confidence_of(description: Description, seen: Look, vectors: Array) -> Array:
    """How sure the topic of each text is; that of a pinned text is certain."""
    best = np.where(seen.membership > 0, seen.topic, 0)
    # with a single topic there is nothing to lead over
    lead = np.clip(seen.membership - seen.second_membership, 0.0, 1.0)
    sure = description.confidence.of_best(best, lead, vectors, seen.n_words)
    sure[seen.membership == 0] = 0.0
    sure[seen.note == PINNED] = 1.0
    return sure


def explained(
    scorer: Scorer,
    description: Description,
    X: csr_matrix,
    seen: Look,
    vectors: Array,
    at: Points | None = None,
) -> Scores:
    """The record of texts: how sure their topics are, why they are in them, and where they lie (`at`)."""
    undecided = (seen.topic == NONE) & (seen.n_words > 0)
    topic = np.where(undecided, description.fallback, seen.topic)
    X = without_columns(X, scorer.banned)
    if not X.shape[0]:
        evidence = X
    elif scorer.method.explains:
        evidence = scorer.method.evidence(X, seen.rival, seen.other_rival)
    else:
        first = np.maximum(seen.topic, 0)
        next_best = np.where(first == 0, min(1, len(scorer.ids) - 1), 0)
        against = np.where(seen.second == NONE, next_best, seen.second)
        evidence = counted_evidence(X, description.log_shares, first, against)
    if at is None:
        at = _positions(description, seen, vectors)
    return Scores(
        topic.astype(np.int32),
        seen.second.astype(np.int32),
        seen.membership,
        seen.second_membership,
        confidence_of(description, seen, vectors),
        seen.note,
        deciding_words(evidence),
        related_words(X, vectors, topic, description.terms, scorer.method.space),
        at,
    )


def _positions(description: Description, seen: Look, vectors: Array) -> Points:
    """Points on the map; nan for a text without any membership."""
    if description.map is None:
        return np.full((len(vectors), 2), np.nan, dtype=np.float32)
    at = description.map.landmarks.place(vectors)
    at[seen.membership == 0] = np.nan
    return at.astype(np.float32)


def _terms(documents: Engine, counts: Array, ranked: Ints | None) -> tuple[Ints, ...]:
    """Columns of the terms of each topic, the most distinctive first; those it never uses are left out."""
    totals, tokens = counts.sum(axis=0), np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    everywhere = totals / max(float(totals.sum()), 1e-300)
    if not counts.shape[1]:
        return tuple(np.zeros(0, dtype=np.int64) for _ in counts)
    if ranked is None:
        ranked = topic_words(documents, counts / tokens, everywhere)
    terms: list[Ints] = []
    for columns, row in zip(ranked, counts, strict=True):
        shares = row[None] / tokens[len(terms)]
        score = distinctive(shares, everywhere)[0]
        terms.append(columns[(row[columns] > 0) & ((score[columns] > 0) | (len(counts) == 1))])
    return tuple(terms)


def _coherence(documents: Engine, terms: tuple[Ints, ...]) -> Array:
    """Mean NPMI of the first terms of each topic, by co-occurrence in texts."""
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
    """The mean share of the uses of a topic's first terms that falls into the topic."""
    totals = np.maximum(counts.sum(axis=0), 1e-300)
    means = [
        float((row[c[:_TOP]] / totals[c[:_TOP]]).mean()) if len(c) else 0.0
        for row, c in zip(counts, terms, strict=True)
    ]
    return np.array(means)


def typical_texts(reading: Reading, description: Description, scores: Scores) -> tuple[Ints, ...]:
    """Rows of typical texts of each topic: confident, near its centre, and different from each other."""
    sample, centers = reading.sample, description.centers
    said = scores.at(sample.rows)
    sure = said.confidence
    pinned = said.note == PINNED  # their confidence does not come from their words
    sure[pinned] = description.confidence.of(
        sample.memberships[pinned], sample.vectors[pinned], sample.n_words[pinned]
    )
    near = np.einsum("ij,ij->i", sample.vectors, centers[np.maximum(sample.topics, 0)])
    typical = np.round(sure * near, 6)
    examples = []
    for topic in range(len(centers)):
        rows = np.flatnonzero(sample.topics == topic)
        rows = rows[np.argsort(-typical[rows], kind="stable")][:_CANDIDATES]
        chosen = sample.rows[_unlike(sample.X, rows)]
        examples.append(chosen if len(chosen) or reading.first[topic] == NONE else reading.first[[topic]])
    return tuple(examples)


def _unlike(X: csr_matrix, rows: Ints) -> Ints:
    """Some of the rows, from the first on, that share few words with those before."""
    chosen: list[int] = []
    words = {int(row): set(X[row].indices.tolist()) for row in rows}
    for row, own in words.items():
        if all(len(own & words[o]) < _ALIKE * max(min(len(own), len(words[o])), 1) for o in chosen):
            chosen.append(row)
        if len(chosen) == EXAMPLES:
            break
    return np.array(chosen, dtype=np.int64)
