"""Name topics by phrases that people wrote.

1. Find the phrases that the texts of each topic have in common (`coterie.topics.phrases`).
2. The best phrase of a topic is in many of its texts, in few others, and made of its most distinctive terms. Its
   words must point to the topic: by how often each topic uses them, no other is more likely.
3. The name is the phrase as most texts of the topic write it. If no phrase points to the topic alone, terms are
   added to the best one; if there is no good phrase, the name is the first terms, as before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl

from coterie.cluster.wording import distinctive
from coterie.corpus.sequences import Sequences
from coterie.corpus.vectorizer import Vectorizer
from coterie.text import tokens as text_tokens
from coterie.text.filler import Filler, filler
from coterie.text.unspaced import CHARACTER
from coterie.topics.collection import Collection
from coterie.topics.describe import Description
from coterie.topics.phrases import Flags, Phrases, Tokens, common_phrases
from coterie.topics.reshape import Array, Ints

#: Distinct texts in which phrases are looked for, evenly spread.
_SAMPLE = 65_536
#: Words of a text that are looked at: a long one says early what it is about.
_WORDS = 100
#: A phrase with a smaller score is in no name, and one with less than the second is not a name by itself.
_USABLE, _GOOD = 0.06, 0.14
#: A phrase of a name is in so many texts and so large a part of the texts of its topic.
_TEXTS, _PART = 3, 0.02
#: A number at the end is in a larger part of them, as in *Python 3*.
_NUMBERED = 0.3
#: What one word counts beside a phrase of several, which says more, and the least part of the texts of its topic
#: that have it, and of its texts that are in the topic.
_ONE_WORD, _ALONE = 0.4, 0.6
#: So many texts of no topic are imagined for each phrase: two texts prove little.
_DOUBT = 3.0
#: A phrase that so large a part of its texts have in a longer phrase is not whole.
_WHOLE = 0.6
#: A phrase in a smaller part of the texts is not a name by itself, either.
_RARE = 0.08
#: A term that is added has so large a part of the strength of the strongest.
_TELLING = 0.1
#: Phrases of a topic that are tried, terms in a name, and terms added to a phrase.
_TRIED, _TERMS, _ADDED = 4, 3, 2
#: Texts that show how a phrase is written.
_SHOWN = 40

_UNSPACED = re.compile(CHARACTER)
#: After these words a particle belongs to what follows: *out of*, *up to*.
_MORE = frozenset({"of", "to", "from"})
_NUMBER = re.compile(r"[\d.,:]+")


@dataclass(frozen=True)
class Wording:
    """What terms may do in a name: stand in it, begin it, end it. All arrays have an entry for each term."""

    display: Sequence[str]
    terms: Sequence[str]
    usable: Flags
    first: Flags
    last: Flags
    whole: Flags
    number: Flags


def topic_names(
    collection: Collection,
    vectorizer: Vectorizer,
    topics: Ints,
    description: Description,
    banned: Sequence[int] = (),
) -> tuple[str, ...]:
    """A name for each topic; `topics` has the topic of each distinct text, below 0 for none."""
    analyzer, n_terms = vectorizer.analyzer(), vectorizer.phrases_.n_terms
    words = filler(analyzer.languages)
    wording = _wording(vectorizer, words, banned)
    rows, texts, weights = _sample(collection)
    stop_words = sorted(analyzer.all_stop_words())
    passable = np.array([word not in words.breaking for word in stop_words], dtype=bool)
    tokens = Tokens.of(texts, wording.usable[:n_terms], passable)
    phrases = common_phrases(tokens, topics[rows], weights, len(description.sizes), n_terms)
    sizes = np.bincount(topics[rows][topics[rows] >= 0], weights[topics[rows] >= 0], len(description.sizes))
    strength = _strength(description)
    tried = _best(phrases, strength, description, sizes, wording)
    written = _written(tried, tokens, topics[rows], rows, texts, collection, vectorizer, words)
    return tuple(
        _completed(
            topic, next((c for c in some if c.written), _NOTHING), strength[topic], description, wording
        )
        for topic, some in enumerate(written)
    )


def _sample(collection: Collection) -> tuple[Ints, Sequences, Array]:
    """Numbers of some distinct texts, the texts with their stop words, and how many copies each has."""
    step = max(-(-collection.corpus.n_distinct // _SAMPLE), 1)
    rows, texts, weights, start = [], [], [], 0
    for part in collection.corpus.storage:
        chosen = np.arange(-start % step, len(part.weights), step)
        rows.append(chosen + start)
        texts.append(part.sequences.take(chosen).beginnings(_WORDS))
        weights.append(part.weights[chosen])
        start += len(part.weights)
    return np.concatenate(rows), Sequences.concatenate(texts), np.concatenate(weights)


def _wording(vectorizer: Vectorizer, words: Filler, banned: Sequence[int]) -> Wording:
    vocabulary = vectorizer.vocabulary_
    lower = [shown.lower() for shown in vocabulary.display]
    number = np.array([bool(_NUMBER.fullmatch(shown)) for shown in lower], dtype=bool)
    readable = np.array([_readable(shown) for shown in vocabulary.display], dtype=bool)
    empty, opening = (
        np.array([shown in some for shown in lower], dtype=bool) for some in (words.empty, words.opening)
    )
    usable = (readable | number) & ~empty
    usable[list(banned)] = False
    return Wording(
        vocabulary.display,
        vocabulary.terms,
        usable,
        usable & ~number,
        usable & ~opening,
        usable & readable & ~opening,
        number,
    )


def _readable(word: str) -> bool:
    """Whether a reader takes it for a word: not *n't*, *'s*, *m* or a sign; *C* and *R* are names."""
    if word.startswith(("'", "#", "@")) or word.lower().endswith("n't"):
        return False
    return any(map(str.isalpha, word)) and (len(word) > 1 or word.isupper())


# --- the best phrases of each topic


@dataclass(frozen=True)
class Candidate:
    """Columns of the terms of a phrase, whether it is a name by itself, and how it is written."""

    terms: Ints
    enough: bool
    written: str = ""


_NOTHING = Candidate(np.zeros(0, dtype=np.int64), False)


def _best(
    phrases: Phrases, strength: Array, description: Description, sizes: Array, wording: Wording
) -> list[list[Candidate]]:
    """Phrases that may name each topic, the best first; those that point to it go before others."""
    scores = _scores(phrases, strength, sizes, wording)
    good = np.flatnonzero(scores >= _USABLE)
    # the same in any order of texts: ties are broken by the terms
    order = good[np.lexsort((*phrases.terms[good].T[::-1], -np.round(scores[good], 9), phrases.topic[good]))]
    edges = np.searchsorted(phrases.topic[order], np.arange(len(sizes) + 1))
    best = []
    for topic, size in enumerate(sizes.tolist()):
        own = order[edges[topic] : edges[topic + 1]]
        found = {tuple(phrases.terms[at][phrases.terms[at] >= 0].tolist()): at for at in own.tolist()}
        parts = {
            part
            for terms, at in found.items()
            for part in (terms[1:], terms[:-1])
            if part in found and phrases.here[at] >= _WHOLE * phrases.here[found[part]]
        }
        whole = [
            Candidate(np.array(terms), scores[at] >= _GOOD and phrases.here[at] >= _RARE * size)
            for terms, at in found.items()
            if terms not in parts
        ]
        pointing = [phrase for phrase in whole if _points(phrase.terms, topic, description)]
        best.append((pointing or whole)[:_TRIED])
    return best


def _strength(description: Description) -> Array:
    """How telling each term is for each topic, 0 … 1."""
    totals = description.counts.sum(axis=0)
    strength = np.maximum(distinctive(description.shares, totals / max(float(totals.sum()), 1e-300)), 0.0)
    scaled: Array = strength / np.maximum(strength.max(axis=1, keepdims=True, initial=0.0), 1e-300)
    return scaled


def _scores(phrases: Phrases, strength: Array, sizes: Array, wording: Wording) -> Array:
    """How well each phrase names its topic, about 0 … 1; 0 for what no name may be."""
    there = phrases.terms >= 0
    length = there.sum(axis=1)
    of_terms = np.where(there, strength[phrases.topic[:, None], phrases.terms], 0.0).sum(axis=1)
    coverage = phrases.here / np.maximum(sizes[phrases.topic], 1e-300)
    precision = phrases.here / (phrases.everywhere + _DOUBT)
    last = phrases.terms[np.arange(len(length)), length - 1]
    ends = np.where(length > 1, wording.last[last], wording.whole[last])
    ordered = np.sort(phrases.terms, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    allowed = wording.first[phrases.terms[:, 0]] & ends & ~twice
    allowed &= (phrases.here >= np.minimum(_TEXTS, sizes[phrases.topic])) & (coverage >= _PART)
    allowed &= ~wording.number[last] | (coverage >= _NUMBERED)
    single = length == 1
    allowed &= ~single | ((coverage >= _ALONE) & (phrases.here >= _ALONE * phrases.everywhere))
    weight = allowed * np.where(single, _ONE_WORD, 1.0)
    scores: Array = weight * np.sqrt(coverage) * precision * of_terms / np.sqrt(length)
    return scores


def _points(terms: Ints, topic: int, description: Description) -> bool:
    """Whether no other topic is more likely, by these terms."""
    return int(np.argmax(description.log_shares[:, terms].sum(axis=1))) == topic


# --- as people write it


def _written(
    tried: list[list[Candidate]],
    tokens: Tokens,
    topics: Ints,
    rows: Ints,
    texts: Sequences,
    collection: Collection,
    vectorizer: Vectorizer,
    words: Filler,
) -> list[list[Candidate]]:
    """The phrases as most texts of their topics write them; empty if most of those texts do not have it in one
    piece.
    """
    of_token = topics[tokens.row]
    by_topic = np.argsort(of_token, kind="stable")
    edges = np.searchsorted(of_token[by_topic], np.arange(len(tried) + 1))
    begins = [
        [tokens.find(phrase.terms, by_topic[edges[topic] : edges[topic + 1]])[:_SHOWN] for phrase in some]
        for topic, some in enumerate(tried)
    ]
    found = [begin for some in begins for begin in some]
    needed = np.unique(tokens.row[np.concatenate(found)]) if found else np.zeros(0, dtype=np.int64)
    numbers = collection.first[rows[needed]]
    originals = collection.texts.at(numbers)
    raw = text_tokens.prepare(pl.Series([originals[int(n)] for n in numbers], dtype=pl.String))
    forms = dict(zip(needed.tolist(), zip(raw, vectorizer.forms(raw), strict=True), strict=True))
    display = vectorizer.vocabulary_.display

    def usual(phrase: Candidate, begin: Ints) -> Candidate:
        spans: Counter[tuple[str, bool]] = Counter()
        shown = {
            word.casefold(): word for word in map(display.__getitem__, phrase.terms) if word != word.lower()
        }
        for at in begin.tolist():
            row = int(tokens.row[at])
            text, own = forms[row]
            if len(own[:_WORDS]) == texts.lengths[row]:
                last = int(tokens.at[at + len(phrase.terms) - 1])
                spans[_span(text, own, int(tokens.at[at]), last, words)] += 1
        written = re.sub(r"\w+", lambda word: shown.get(word.group().casefold(), word.group()), _usual(spans))
        return replace(phrase, written=written)

    return [
        [usual(phrase, begin) for phrase, begin in zip(some, where, strict=True)]
        for some, where in zip(tried, begins, strict=True)
    ]


def _span(text: str, forms: Sequence[str], first: int, last: int, words: Filler) -> tuple[str, bool]:
    """The forms as they stand in the text, and whether the text starts with them; empty where more than a space
    or a hyphen is between them.
    """
    after = [form.lower() for form in forms[last + 1 : last + 3]]
    with_particle = (
        after[:1] and after[0] in words.particles and not words.breaking.union(_MORE) & {*after[1:]}
    )
    pieces = forms[first : last + 1 + bool(with_particle)]
    pattern = re.escape(pieces[0])
    for before, piece in pairwise(pieces):
        overlap = _UNSPACED.match(piece) and before[-1:] == piece[:1] and len(piece) == 2
        own = f"(?:{re.escape(piece)}|{re.escape(piece[1:])})" if overlap else re.escape(piece)
        pattern += r"[ /\-]?" + own if _UNSPACED.match(piece) else r"[ /\-]" + own
    found = re.search(rf"(?:\b\w+-)?{pattern}(?:-\w+\b)?", text)  # half of top-up is no word
    if found is None:
        return "", False
    return found.group(), not any(map(str.isalnum, text[: found.start()]))


def _usual(spans: Counter[tuple[str, bool]]) -> str:
    """The most frequent spelling, whatever its case, then the shortest; in its most frequent case.

    A capital at the beginning of a text does not count: it only says that a text starts.
    """
    if 2 * spans.pop(("", False), 0) > spans.total() or not spans:
        return ""
    folded: Counter[str] = Counter()
    for (span, _), count in spans.items():
        folded[span.casefold()] += count
    usual = min(folded, key=lambda span: (-folded[span], len(span), span))
    same = {spelled: count for spelled, count in spans.items() if spelled[0].casefold() == usual}
    inside = {spelled: count for spelled, count in same.items() if not spelled[1]}
    span, _ = min(
        inside or same, key=lambda spelled: (-same[spelled], spelled[0].lower() != spelled[0], spelled)
    )
    return span if inside or span[1:] != span[1:].lower() else span[:1].lower() + span[1:]


# --- phrase and terms


def _completed(
    topic: int, phrase: Candidate, strength: Array, description: Description, wording: Wording
) -> str:
    """The phrase, with as many terms as it needs to point to the topic; without a phrase, the first terms."""
    parts, terms = ([phrase.written] if phrase.written else []), phrase.terms
    words = {word for column in terms for word in wording.terms[column].split()}
    most, fewest = (1 + _ADDED, 1 + (not phrase.enough)) if parts else (_TERMS, _TERMS)
    whole = [column for column in description.terms[topic].tolist() if wording.whole[column]]
    telling = [column for column in whole if strength[column] >= _TELLING]
    for column in telling or whole[: 1 - len(parts)]:
        if len(parts) == most or (len(parts) >= fewest and _points(terms, topic, description)):
            break
        own = set(wording.terms[column].split())
        if not own & words:
            parts.append(wording.display[column])
            terms, words = np.append(terms, column), words | own
    return ", ".join(parts)
