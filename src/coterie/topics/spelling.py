"""How people write a phrase: looked up in the texts of a topic that have it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from coterie.corpus.sequences import Sequences
from coterie.corpus.vectorizer import Vectorizer
from coterie.engines.records import taken
from coterie.text import tokens as text_tokens
from coterie.text.filler import Filler
from coterie.text.unspaced import CHARACTER
from coterie.topics.collection import Collection
from coterie.topics.phrases import Tokens
from coterie.topics.reshape import Ints

#: Texts that show how a phrase is written, and the characters and words that it may have.
_SHOWN, _CHARACTERS, _WORDS = 40, 60, 6
#: Before these words a particle belongs to what follows: *out of*, *up to*.
_MORE = frozenset({"of", "to", "from"})
UNSPACED = re.compile(CHARACTER)
#: What is before the first word of a sentence.
_STARTS = re.compile(r"(?:^|[.!?…:\n])[\W_]*$")


@dataclass(frozen=True)
class Sample:
    """Some distinct texts: their rows in the collection, their words by number, and the topic of each."""

    rows: Ints
    texts: Sequences
    tokens: Tokens
    topics: Ints


def spellings(
    phrases: Sequence[Sequence[Ints]],
    sample: Sample,
    collection: Collection,
    vectorizer: Vectorizer,
    words: Filler,
) -> list[list[str]]:
    """The phrases of each topic as most of its texts write them; empty for one that most do not have in one
    piece.
    """
    tokens, lengths = sample.tokens, sample.texts.lengths
    of_token = sample.topics[tokens.row]
    by_topic = np.argsort(of_token, kind="stable")
    edges = np.searchsorted(of_token[by_topic], np.arange(len(phrases) + 1))
    begins = [
        [tokens.find(phrase, by_topic[edges[topic] : edges[topic + 1]])[:_SHOWN] for phrase in some]
        for topic, some in enumerate(phrases)
    ]
    found = [begin for some in begins for begin in some]
    needed = np.unique(tokens.row[np.concatenate(found)]) if found else np.zeros(0, dtype=np.int64)
    numbers = taken(collection.first, sample.rows[needed])
    originals = collection.texts.at(numbers)
    counted = vectorizer.counted_texts(pl.Series([originals[int(n)] for n in numbers], dtype=pl.String))
    raw = text_tokens.prepare(counted).str.replace_all(" {2,}", " ")
    written = dict(zip(needed.tolist(), zip(raw, vectorizer.forms(raw), strict=True), strict=True))
    display = vectorizer.vocabulary_.display

    def spelling(phrase: Ints, begin: Ints) -> str:
        spans: Counter[tuple[str, bool]] = Counter()
        for at in begin.tolist():
            row, last = int(tokens.row[at]), int(tokens.at[at + len(phrase) - 1])
            text, forms = written[row]
            if len(forms) >= lengths[row]:  # else the words are counted in another way
                spans[_span(text, forms, int(tokens.at[at]), last, words)] += 1
        return _with_capitals(_usual(spans), [display[column] for column in phrase])

    return [
        [spelling(phrase, begin) for phrase, begin in zip(some, where, strict=True)]
        for some, where in zip(phrases, begins, strict=True)
    ]


def _span(text: str, forms: Sequence[str], first: int, last: int, words: Filler) -> tuple[str, bool]:
    """The forms as they stand in the text, and whether a sentence starts with them.

    Empty where more than a space or a hyphen is between them, where they are a piece of a question, or too
    long for a name.
    """
    after = [form.lower() for form in forms[last + 1 : last + 3]]
    with_particle = bool(after) and after[0] in words.particles and not _MORE & {*after[1:]}
    pieces = forms[first : last + 1 + with_particle]
    pattern = re.escape(pieces[0])
    for before, piece in pairwise(pieces):
        overlap = UNSPACED.match(piece) and before[-1:] == piece[:1] and len(piece) == 2
        own = f"(?:{re.escape(piece)}|{re.escape(piece[1:])})" if overlap else re.escape(piece)
        pattern += r"[ /\-]?" + own if UNSPACED.match(piece) else r"[ /\-]" + own
    found = re.search(rf"(?:\b\w+-)?{pattern}(?:-\w+\b)?", text)  # half of top-up is no word
    if found is None or len(found.group()) > _CHARACTERS or len(found.group().split()) > _WORDS:
        return "", False
    if any(re.search(question, found.group()) for question in words.questions):
        return "", False
    return found.group(), bool(_STARTS.search(text[: found.start()]))


def _usual(spans: Counter[tuple[str, bool]]) -> str:
    """The most frequent spelling, whatever its case, then the shortest; in its most frequent case.

    A capital at the beginning of a sentence does not count: it only says that a sentence starts.
    """
    if 2 * spans.pop(("", False), 0) > spans.total() or not spans:
        return ""
    folded: Counter[str] = Counter()
    for (span, _), count in spans.items():
        folded[span.casefold()] += count
    usual = min(folded, key=lambda span: (-folded[span], len(span), span))
    same = {spelled: count for spelled, count in spans.items() if spelled[0].casefold() == usual}
    inside = {spelled: count for spelled, count in same.items() if not spelled[1]}
    span, _ = min(inside or same, key=lambda each: (-same[each], each[0].lower() != each[0], each))
    return span if inside or span[1:] != span[1:].lower() else span[:1].lower() + span[1:]


def _with_capitals(span: str, display: Sequence[str]) -> str:
    """Words that most texts write with capitals inside, such as *PIN*, are written so."""
    shown = {word.casefold(): word for word in display if word[1:] != word[1:].lower()}
    return re.sub(r"\w+", lambda word: shown.get(word.group().casefold(), word.group()), span)
