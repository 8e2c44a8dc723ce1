"""Name topics by phrases that people wrote.

1. Find the phrases that the texts of each topic have in common (`coterie.topics.phrases`).
2. The best phrase of a topic is in many of its texts, in few others, and made of its most distinctive terms.
   Its words must point to the topic: by how often each topic uses them, no other is more likely.
3. The name is the phrase as most texts of the topic write it (`coterie.topics.spelling`). If no phrase points
   to the topic alone, terms are added to the best one; if there is no good phrase, the name is up to three of
   the first terms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from coterie.cluster.wording import distinctive
from coterie.corpus.sequences import Sequences
from coterie.corpus.vectorizer import Vectorizer
from coterie.engines.records import taken
from coterie.text.filler import Filler, filler
from coterie.topics.collection import Collection
from coterie.topics.describe import Description
from coterie.topics.phrases import Flags, Phrases, Tokens, common_phrases
from coterie.topics.reshape import Array, Ints
from coterie.topics.spelling import Sample, spellings

#: Distinct texts in which phrases are looked for, evenly spread.
_SAMPLE = 65_536
#: Words of a text that are looked at: a long one says early what it is about.
_WORDS = 100
#: A phrase with a smaller score is in no name, and one with less than the second is not a name by itself.
_USABLE, _GOOD = 0.06, 0.14
#: A phrase of a name is in so many texts and so large a part of the texts of its topic.
_TEXTS, _PART = 3, 0.02
#: A phrase in a smaller part of them is not a name by itself, and one of more than two terms in no name.
_RARE = 0.08
#: A number at the end is in a larger part of them, as in *Python 3*.
_NUMBERED = 0.3
#: What one word counts beside a phrase of several, which says more, and the least part of the texts of its
#: topic that have it, and of its texts that are in the topic.
_ONE_WORD, _ALONE = 0.4, 0.6
#: So many texts of no topic are imagined for each phrase: two texts prove little.
_DOUBT = 3.0
#: A phrase that so large a part of its texts have in a longer phrase is not whole.
_WHOLE = 0.6
#: A term that is added has so large a part of the strength of the strongest.
_TELLING = 0.1
#: Phrases of a topic that are looked at, and of those that point to it that are tried.
_LOOKED_AT, _TRIED = 30, 4
#: Terms in a name without a phrase, and terms added to one.
_TERMS, _ADDED = 3, 2

_NUMBER = re.compile(r"[\d.,:]+")


def topic_names(
    collection: Collection,
    vectorizer: Vectorizer,
    topics: Ints,
    description: Description,
    banned: Sequence[int] = (),
) -> tuple[str, ...]:
    """A name for each topic; `topics` has the topic of each distinct text, below 0 for none.

    A topic without a readable term has the name "".
    """
    words = filler(vectorizer.analyzer().languages)
    wording = _wording(vectorizer, words, banned)
    sample, weights = _sample(collection, vectorizer, topics, wording, words)
    n_topics, known = len(description.sizes), sample.topics >= 0
    phrases = common_phrases(sample.tokens, sample.topics, weights, n_topics, vectorizer.phrases_.n_terms)
    sizes = np.bincount(sample.topics[known], weights[known], n_topics).astype(np.float64)
    strength = _strength(description)
    tried = _best(phrases, strength, description, sizes, wording)

    def written(tried: Sequence[Sequence[Candidate]]) -> list[Candidate]:
        spelled = spellings(
            [[phrase.terms for phrase in some] for some in tried], sample, collection, vectorizer, words
        )
        return [_chosen(some, of_topic) for some, of_topic in zip(tried, spelled, strict=True)]

    # most topics are named by the first, so the others are looked up only where they are needed
    chosen = written([some[:1] for some in tried])
    others = written([[] if first.written else some[1:] for some, first in zip(tried, chosen, strict=True)])
    return tuple(
        _completed(topic, first if first.written else other, strength[topic], description, wording)
        for topic, (first, other) in enumerate(zip(chosen, others, strict=True))
    )


def readable_terms(vectorizer: Vectorizer, banned: Sequence[int] = ()) -> Flags:
    """Which terms say something by themselves."""
    return _wording(vectorizer, filler(vectorizer.analyzer().languages), banned).whole


@dataclass(frozen=True)
class Wording:
    """What terms may do in a name; the flags have an entry for each term.

    A `usable` term may stand in it, a `first` or `last` one at its ends, a `whole` one alone; a `readable`
    one may be filler.
    """

    display: Sequence[str]
    terms: Sequence[str]
    usable: Flags
    first: Flags
    last: Flags
    whole: Flags
    number: Flags
    readable: Flags


def _wording(vectorizer: Vectorizer, words: Filler, banned: Sequence[int]) -> Wording:
    vocabulary = vectorizer.vocabulary_
    lower = [shown.lower() for shown in vocabulary.display]
    number = np.array([bool(_NUMBER.fullmatch(shown)) for shown in lower], dtype=bool)
    readable = np.array([_readable(shown) for shown in vocabulary.display], dtype=bool)
    empty = np.array([shown in words.empty for shown in lower], dtype=bool)
    opening = np.array([shown in words.opening for shown in lower], dtype=bool)
    readable[list(banned)] = number[list(banned)] = False
    usable = (readable | number) & ~empty
    first, last = usable & ~number, usable & ~opening
    return Wording(vocabulary.display, vocabulary.terms, usable, first, last, first & last, number, readable)


def _readable(word: str) -> bool:
    """Whether a reader takes it for a word: not *n't*, *'s*, *m* or a sign; *C* and *R* are names."""
    if word.startswith(("'", "#", "@")) or word.lower().endswith("n't"):
        return False
    return any(map(str.isalpha, word)) and (len(word) > 1 or word.isupper())


def _sample(
    collection: Collection, vectorizer: Vectorizer, topics: Ints, wording: Wording, words: Filler
) -> tuple[Sample, Array]:
    """Some distinct texts, and how many copies each has."""
    step = max(-(-collection.corpus.n_distinct // _SAMPLE), 1)
    numbers, parts, weights, start = [], [], [], 0
    for part in collection.corpus.storage:
        chosen = np.arange(-start % step, len(part.weights), step)
        numbers.append(chosen + start)
        parts.append(part.sequences.take(chosen).beginnings(_WORDS))
        weights.append(part.weights[chosen])
        start += len(part.weights)
    rows, texts = np.concatenate(numbers), Sequences.concatenate(parts)
    stop_words = sorted(vectorizer.analyzer().all_stop_words())
    passable = np.array([word not in words.breaking for word in stop_words], dtype=bool)
    tokens = Tokens.of(texts, wording.usable[: vectorizer.phrases_.n_terms], passable)
    return Sample(rows, texts, tokens, taken(topics, rows).astype(np.int64)), np.concatenate(weights)


# --- the best phrases of each topic


@dataclass(frozen=True)
class Candidate:
    """Columns of the terms of a phrase, whether it is a name by itself, and how it is written."""

    terms: Ints
    enough: bool
    written: str = ""


def _chosen(tried: Sequence[Candidate], written: Sequence[str]) -> Candidate:
    """The first that people write in one piece."""
    for phrase, spelled in zip(tried, written, strict=True):
        if spelled:
            return Candidate(phrase.terms, phrase.enough, spelled)
    return Candidate(np.zeros(0, dtype=np.int64), False)


def _best(
    phrases: Phrases, strength: Array, description: Description, sizes: Array, wording: Wording
) -> list[list[Candidate]]:
    """Phrases that may name each topic, the best first; if some point to it, only those."""
    scores = _scores(phrases, strength, sizes, wording)
    good = np.flatnonzero(scores >= _USABLE)
    # the same in any order of texts: ties are broken by the terms
    ties = tuple(phrases.terms[good].T[::-1])
    order = good[np.lexsort((*ties, -np.round(scores[good], 9), phrases.topic[good]))]
    edges = np.searchsorted(phrases.topic[order], np.arange(len(sizes) + 1))
    best = []
    for topic, size in enumerate(sizes.tolist()):
        own = order[edges[topic] : edges[topic + 1]].tolist()
        found = {tuple(phrases.terms[at][phrases.terms[at] >= 0].tolist()): at for at in own}
        parts = {
            part
            for terms, at in found.items()
            for part in (terms[1:], terms[:-1])
            if part in found and phrases.here[at] >= _WHOLE * phrases.here[found[part]]
        }
        whole = [
            Candidate(np.array(terms), bool(scores[at] >= _GOOD and phrases.here[at] >= _RARE * size))
            for terms, at in found.items()
            if terms not in parts
        ]
        pointing = (phrase for phrase in whole[:_LOOKED_AT] if _points(phrase.terms, topic, description))
        best.append(list(islice(pointing, _TRIED)) or whole[:_TRIED])
    return best


def _strength(description: Description) -> Array:
    """How telling each term is for each topic, 0 … 1."""
    totals = description.counts.sum(axis=0)
    everywhere = totals / max(float(totals.sum()), 1e-300)
    scaled = np.empty_like(description.counts)
    for topic, row in enumerate(scaled):
        np.maximum(distinctive(description.shares(topic)[None], everywhere)[0], 0.0, out=row)
        np.divide(row, max(float(row.max(initial=0.0)), 1e-300), out=row)
    return scaled


def _scores(phrases: Phrases, strength: Array, sizes: Array, wording: Wording) -> Array:
    """How well each phrase names its topic, about 0 … 1; 0 for what no name may be."""
    there = phrases.terms >= 0
    length = there.sum(axis=1)
    of_terms = np.where(there, strength[phrases.topic[:, None], phrases.terms], 0.0).sum(axis=1)
    coverage = phrases.here / np.maximum(sizes[phrases.topic], 1e-300)
    precision = phrases.here / (phrases.everywhere + _DOUBT)
    last = phrases.terms[np.arange(len(length)), length - 1]
    ordered = np.sort(phrases.terms, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    part = np.where(length > 2, _RARE, _PART)  # a long phrase of a few texts says too much
    common = (phrases.here >= np.minimum(_TEXTS, sizes[phrases.topic])) & (coverage >= part)
    allowed = common & ~twice & wording.first[phrases.terms[:, 0]] & wording.last[last]
    allowed &= ~wording.number[last] | (coverage >= _NUMBERED)
    mostly_here = (coverage >= _ALONE) & (phrases.here >= _ALONE * phrases.everywhere)
    weight = np.where(length > 1, 1.0, _ONE_WORD * mostly_here)
    scores: Array = allowed * weight * np.sqrt(coverage / length) * precision * of_terms
    return scores


def _points(terms: Ints, topic: int, description: Description) -> bool:
    """Whether no other topic is more likely, by these terms."""
    every = np.arange(len(description.sizes))[:, None]
    return int(np.argmax(description.log_shares(every, terms).sum(axis=1))) == topic


# --- phrase and terms


def _completed(
    topic: int, phrase: Candidate, strength: Array, description: Description, wording: Wording
) -> str:
    """The phrase, with as many terms as it needs to point to the topic; without a phrase, the first terms."""
    parts, terms = ([phrase.written] if phrase.written else []), phrase.terms
    words = {word for column in terms for word in wording.terms[column].split()}
    most, fewest = (1 + _ADDED, 1 + (not phrase.enough)) if parts else (_TERMS, _TERMS)
    all_terms = description.terms[topic].tolist()
    telling = [column for column in all_terms if strength[column] >= _TELLING]
    whole = [column for column in telling if wording.whole[column]]
    # a topic of filler alone is called by it: any other word would mislead
    readable = [column for column in all_terms if wording.readable[column]]
    filling = [column for column in readable if strength[column] >= _TELLING] or readable[:1]
    for column in whole or ([] if parts else filling):
        if len(parts) == most or (len(parts) >= fewest and _points(terms, topic, description)):
            break
        own = set(wording.terms[column].split())
        if not own & words:
            parts.append(wording.display[column])
            terms, words = np.append(terms, column), words | own
    return ", ".join(parts)
