"""Find what recurs over texts that are about different things: greetings, closings, notices, labels.

Something is left out if it was *added* to texts:

- many texts have it, and what else they say is different;
- what else they say is as long as other texts are, so it is no part of what they are about;
- its presence says nothing about the other words of a text. This is measured by how far the words of texts
  that have it are from those of the others, in two halves of these texts: what both share is no chance.

Texts are looked at once however often they occur, and in the order of their content.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.text import quotes
from coterie.text.boilerplate import LONG_TAIL, TAIL, Boilerplate, Kind, Pattern
from coterie.text.markup import without_markup

Words = tuple[str, ...]
Rows = list[int]

#: Texts that are looked at, characters of one text, and of all together.
MOST_TEXTS, _MOST_CHARACTERS, _ALL_CHARACTERS = 20_000, 20_000, 4_000_000
#: The fewest texts that must have something, and their share.
_FEWEST, _SHARE = 10, 0.004
#: The share of texts with something whose rest is different from that of all others.
_DIFFERENT = 0.8
#: How long the rest of a text must be, compared with texts that do not have it.
_AS_LONG = 0.75
#: How far the words of texts that have it may be from those of others.
_FAR = 0.1
#: The part of the texts with a word that must have it in the same place.
_ONLY_HERE = 0.7
#: The longest opening and label.
_SHORT = 4
#: The words of texts that have been counted often enough to compare.
_COUNTED = 5
#: How often something that was found makes something else visible.
_ROUNDS = 30

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\n|(?<![.!?…])[.!?…]+(?=\s|$)|[。！？]|[,，;!]|[:：](?=\s|$)")
_DIGITS = re.compile(r"[0-9]+")
_ENDS = frozenset("\n.!?…。！？")


def learn(batches: Iterable[pl.Series], stop_words: Collection[str] = ()) -> Boilerplate:
    """What is left out of a collection; `batches` are its texts."""
    texts = _distinct(batches)
    if len(texts) < 2 * _FEWEST:
        return Boilerplate()
    found = Boilerplate()
    suspects = texts.filter(texts.str.contains(quotes.SUSPECT))
    if sum(bool(quotes.quoted(text)) for text in suspects) >= 2:
        found = Boilerplate((Pattern("quote", ()),))
    read: dict[str, _Text] = {}
    for _ in range(_ROUNDS):
        blanked = found.blank(texts).to_list()
        read = {text: read.get(text) or _read(text) for text in blanked}
        seen = _Seen(read.values(), frozenset(stop_words))
        known = {(pattern.kind, pattern.words) for pattern in found.patterns}
        new = [pattern for pattern in _added(seen) if (pattern.kind, pattern.words) not in known]
        if not new:
            break
        # a notice below "Kind regards" and a name hides that they are a closing: short passages come later
        notice = any(pattern.kind == "passage" and len(pattern.words) > _SHORT for pattern in new)
        first = [pattern for pattern in new if pattern.kind != "passage" or len(pattern.words) > 2]
        found = Boilerplate((*found.patterns, *(first if notice else new)))
    return found


def _distinct(batches: Iterable[pl.Series]) -> pl.Series:
    """Distinct texts without markup, in the order of their content; of very many, some."""
    kept = pl.Series([], dtype=pl.String)
    for batch in batches:
        if batch.dtype == pl.String:
            kept = pl.concat([kept, batch.filter(batch != "").rename("")]).unique()
            if len(kept) > 4 * MOST_TEXTS:
                kept = _some(kept)
    shortened = without_markup(_some(kept).sort()).str.slice(0, _MOST_CHARACTERS)
    return shortened.unique(maintain_order=True)


def _some(texts: pl.Series) -> pl.Series:
    """Not more than are looked at, chosen by their content."""
    lengths = texts.str.len_chars().clip(upper_bound=_MOST_CHARACTERS)
    if len(texts) <= MOST_TEXTS and lengths.sum() <= _ALL_CHARACTERS:
        return texts
    from hashlib import blake2b

    order = pl.Series([blake2b(text.encode(), digest_size=8).digest() for text in texts]).arg_sort()
    many = int((lengths.gather(order).cum_sum() <= _ALL_CHARACTERS).sum())
    return texts[order[: min(many, MOST_TEXTS)]]


@dataclass(frozen=True)
class _Text:
    """The words of a text, in lower case with numbers as 0, and the mark behind each, "" for none."""

    words: list[str]
    behind: list[str]

    def is_edge(self, start: int, end: int) -> bool:
        """Whether words stand at the beginning or the end, with others after or before them."""
        return (start == 0) != (end == len(self.words))

    def segments(self) -> Iterator[tuple[int, int]]:
        """Lines and sentences, by their first word and the one after their last.

        Form fields are none: what stands behind their label may be what the text is about.
        """
        ends = [at + 1 for at, sign in enumerate(self.behind[:-1]) if sign in _ENDS]
        form = "\n" in self.behind
        for start, end in pairwise([0, *ends, len(self.words)]):
            if not (form and _is_field(self.behind[start : end - 1])):
                yield start, end


def _is_field(behind: list[str]) -> bool:
    """Whether a colon stands behind the first words of a line, and something behind it."""
    return not {":", "："}.isdisjoint(behind[:_SHORT])


def _read(text: str) -> _Text:
    words: list[str] = []
    behind: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        if token[0].isalnum():
            words.append(_DIGITS.sub("0", token).replace("’", "'"))
            behind.append("")
        elif words and (not behind[-1] or token == "\n"):
            behind[-1] = token[0]
    return _Text(words, behind)


class _Seen:
    """Texts as words, with what is needed to judge a candidate."""

    def __init__(self, texts: Iterable[_Text], stop_words: frozenset[str]):
        distinct = {(*text.words, *text.behind): text for text in texts if text.words}
        self.texts = list(distinct.values())
        self.stop_words = stop_words
        self.least = max(_FEWEST, int(np.ceil(_SHARE * len(self.texts))))

    @cached_property
    def frequency(self) -> Counter[str]:
        """In how many texts each word occurs."""
        return Counter(chain.from_iterable(set(text.words) for text in self.texts))

    def has_content(self, words: Iterable[str]) -> bool:
        """Whether some of the words may become terms."""
        return any(self.is_content(word) for word in words)

    def is_content(self, word: str) -> bool:
        """Whether a word may become a term that says something."""
        return word not in self.stop_words and word != "0" and len(word) > 1

    @cached_property
    def recurring_ends(self) -> dict[Words, tuple[Places, bool]]:
        """The last words of many lines and sentences, as long as they recur, and whether most are the whole.

        A text of one sentence is not the place of a whole one: it is about that.
        """
        found: dict[Words, tuple[Places, bool]] = {}
        spans = [(row, *span) for row, text in enumerate(self.texts) for span in text.segments()]
        groups: list[tuple[Words, Places]] = [((), spans)]
        while groups:
            words, places = groups.pop()
            longer: dict[str, Places] = defaultdict(list)
            n = len(words)
            for row, start, end in places:
                if end - start > n:
                    longer[self.texts[row].words[end - n - 1]].append((row, start, end))
            large = {word: some for word, some in longer.items() if len(some) >= self.least}
            groups += [((word, *words), some) for word, some in large.items()]
            if words and max(map(len, large.values()), default=0) < 0.9 * len(places):
                here = [(r, e - n, e) for r, s, e in places if n < len(self.texts[r].words)]
                whole = sum(e - s == n for r, s, e in places if n < len(self.texts[r].words))
                found[words] = here, whole > 0.5 * len(here)
        return found

    def cover(self, candidates: Iterable[Places]) -> None:
        """Set aside what may be boilerplate, and the words that are mostly there: the rest is compared."""
        covered: dict[int, set[int]] = defaultdict(set)
        for places in candidates:
            for row, start, end in places:
                covered[row].update(range(start, end))
        inside = Counter(self.texts[row].words[at] for row, some in covered.items() for at in some)
        every = Counter(chain.from_iterable(text.words for text in self.texts))
        numbers = {
            word: number
            for number, word in enumerate(sorted(w for w, n in self.frequency.items() if n >= _COUNTED))
            if self.is_content(word) and inside[word] < 0.5 * every[word]
        }
        self._n_words = len(self.frequency)
        self._rests, self._rest_words = [], []
        for row, text in enumerate(self.texts):
            aside = covered.get(row)
            words = text.words if aside is None else [w for at, w in enumerate(text.words) if at not in aside]
            self._rest_words.append(hash(tuple(words)))
            self._rests.append(np.array(sorted({numbers[w] for w in words if w in numbers}), dtype=np.int64))
        self._lengths = np.array([len(rest) for rest in self._rests])

    def is_added(self, rows: Rows) -> bool:
        """Whether what these texts have in common was added to texts like the others."""
        inside = np.zeros(len(self.texts), dtype=bool)
        inside[rows] = True
        if inside.sum() < self.least:
            return False
        if len({self._rest_words[row] for row in rows}) < _DIFFERENT * len(rows):
            return False
        # where nearly all have it there is little to compare with
        others = ~inside if (~inside).sum() >= self.least else np.ones_like(inside)
        typical = float(np.median(self._lengths[others]))
        if np.median(self._lengths[inside]) < max(_AS_LONG * typical, 1):
            return False
        return self.distance(inside, others) <= _FAR

    def distance(self, inside: npt.NDArray[np.bool_], others: npt.NDArray[np.bool_]) -> float:
        """How far the words of some texts may be from those of others: a chi-square distance and its error.

        It is 0 on average where the words are the same: what two halves of the texts do not share cancels.
        """
        rows, n_words = np.flatnonzero(inside), max(int(self._lengths[inside].sum()), 1)
        p = self._shares(np.flatnonzero(others))
        one, two = (self._shares(rows[half::2]) for half in (0, 1))
        # a word that only these texts have is far, but not endlessly
        expected = p + _COUNTED / n_words
        error = np.sqrt(((p / expected) ** 2).sum()) / (n_words / 2)
        return float(((one - p) * (two - p) / expected).sum() + error)

    def _shares(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        words = np.concatenate([self._rests[row] for row in rows] or [np.empty(0, np.int64)])
        counts = np.bincount(words, minlength=self._n_words).astype(np.float64)
        return counts / max(counts.sum(), 1.0)


#: What may be boilerplate: its kind and words, and (text, first word, end) of each place.
Places = list[tuple[int, int, int]]
Candidates = dict[tuple[Kind, Words], Places]


def _added(seen: _Seen) -> list[Pattern]:
    """What was added to texts, as far as it is visible."""
    candidates: Candidates = {}
    for kind, search in _SEARCHES.items():
        found = search(seen)
        candidates |= {
            (kind, words): places
            for words, places in found.items()
            if len(places) >= seen.least and seen.has_content(words)
        }
    seen.cover(candidates.values())
    order = sorted(candidates, key=lambda key: (_FIRST.index(key[0]), -len(candidates[key]), key[1]))
    accepted: list[Pattern] = []
    for kind, words in order:
        # a closing with its name, or two that follow each other; what is left is seen when these are gone
        if any(_contains(words, other.words) for other in accepted):
            continue
        if seen.is_added(sorted({row for row, _, _ in candidates[kind, words]})):
            accepted.append(Pattern(kind, words))
    return accepted


def _contains(words: Words, some: Words) -> bool:
    return any(words[at : at + len(some)] == some for at in range(len(words) - len(some) + 1))


def _closings(seen: _Seen) -> dict[Words, Places]:
    """Words near the end that are followed by a few words that stand nowhere else: names."""
    places: dict[Words, Places] = defaultdict(list)
    for row, text in enumerate(seen.texts):
        n = len(text.words)
        longest = LONG_TAIL if "\n" in text.behind[-LONG_TAIL - 2 :] else TAIL
        for start in range(max(n - longest - 2, 0), n):
            for length in (1, 2):
                end = start + length
                if end > n or (length == 1 and text.behind[start] not in (",", "\n")):
                    continue
                if n - end <= (LONG_TAIL if text.behind[end - 1] == "\n" else TAIL):
                    places[tuple(text.words[start:end])].append((row, start, n))
    tails = {words: _tails(seen, words, at) for words, at in places.items() if _may_close(seen, words, at)}
    # one name stands behind several closings: they are looked at together, if a comma or a line ends them
    ended = [words for words in tails if _is_ended(seen, words, places[words])]
    names = _names(seen, [tail for words in ended for tail in tails[words]])
    formulas = [
        words
        for words, of_row in tails.items()
        if _is_formula(of_row, names if words in ended else _names(seen, of_row))
    ]
    return dict(_whole_formula(seen, words, places[words]) for words in sorted(formulas))


def _may_close(seen: _Seen, words: Words, places: Places) -> bool:
    """Whether words stand near the end of many texts, and seldom elsewhere."""
    own = [w for w in words if seen.is_content(w)]
    rows = {row for row, _, _ in places}
    return (
        len(places) >= seen.least
        and max((len(rows) / seen.frequency[w] for w in own), default=0) >= _ONLY_HERE
    )


def _is_ended(seen: _Seen, words: Words, places: Places) -> bool:
    behind = [seen.texts[row].behind[start + len(words) - 1] for row, start, _ in places]
    return sum(map(bool, behind)) >= 0.6 * len(behind)


def _names(seen: _Seen, tails: list[tuple[int, Words]]) -> set[str]:
    """Words that stand nowhere else."""
    below: dict[int, set[str]] = defaultdict(set)
    for row, tail in tails:
        below[row].update(tail)
    often = Counter(chain.from_iterable(below.values()))
    return {word for word, n in often.items() if n >= _ONLY_HERE * seen.frequency[word]}


def _tails(seen: _Seen, words: Words, places: Places) -> list[tuple[int, Words]]:
    return [(row, tuple(seen.texts[row].words[start + len(words) : end])) for row, start, end in places]


def _is_formula(tails: list[tuple[int, Words]], names: Collection[str]) -> bool:
    """Whether different words follow, most of which are names."""
    if sum(bool(tail) for _, tail in tails) < 0.6 * len(tails) or len({tail for _, tail in tails}) < 5:
        return False
    inside = Counter(chain.from_iterable(set(tail) for _, tail in tails))
    return sum(n for word, n in inside.items() if word in names) >= 0.6 * inside.total()


def _whole_formula(
    seen: _Seen, words: Words, places: list[tuple[int, int, int]]
) -> tuple[Words, list[tuple[int, int, int]]]:
    """The same with the words before it that nearly always stand there."""
    while True:
        before = Counter(seen.texts[row].words[start - 1] for row, start, _ in places if start)
        word, often = max(before.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        if often < 0.9 * len(places) or len(words) >= 6:
            return words, places
        words = (word, *words)
        places = [(r, s - 1, e) for r, s, e in places if s and seen.texts[r].words[s - 1] == word]


def _openings(seen: _Seen) -> dict[Words, Places]:
    """The first words up to a comma or a line break."""
    places: dict[Words, Places] = defaultdict(list)
    for row, text in enumerate(seen.texts):
        end = next((at + 1 for at, sign in enumerate(text.behind[:_SHORT]) if sign), 0)
        if 0 < end < len(text.words) and text.behind[end - 1] in (",", "!", "\n", "，"):
            places[tuple(text.words[:end])].append((row, 0, end))
    return places


def _labels(seen: _Seen) -> dict[Words, Places]:
    """Words at the beginning of a line, up to a colon; what follows is no part of what is compared either."""
    places: dict[Words, Places] = defaultdict(list)
    for row, text in enumerate(seen.texts):
        if "\n" not in text.behind:
            continue
        ends = [at + 1 for at, sign in enumerate(text.behind[:-1]) if sign == "\n"]
        for start, end in pairwise([0, *ends, len(text.words)]):
            label = next((at + 1 for at in range(start, min(start + _SHORT, end)) if text.behind[at]), start)
            if label > start and text.behind[label - 1] in (":", "："):
                # a long value is a message
                aside = end if end - label <= _SHORT else label
                places[tuple(text.words[start:label])].append((row, start, aside))
    return places


def _passages(seen: _Seen) -> dict[Words, Places]:
    """Lines and sentences of texts that have more than one."""
    return {
        words: places
        for words, (places, whole) in seen.recurring_ends.items()
        if whole and (len(words) > 1 or all(seen.texts[r].is_edge(a, b) for r, a, b in places))
    }


def _endings(seen: _Seen) -> dict[Words, Places]:
    """The last words of lines and sentences, where no mark separates them from what is before."""
    return {
        words: places
        for words, (places, whole) in seen.recurring_ends.items()
        if not whole and len(words) > 1 and _stands_alone(seen, words, len(places))
    }


def _stands_alone(seen: _Seen, words: Words, n: int) -> bool:
    """Whether the words of an ending are seldom anywhere else."""
    own = sorted((n / seen.frequency[w] for w in words if seen.is_content(w)), reverse=True)
    # two words may be what a text is about: none of them is elsewhere
    looked_at = len(own) - 1 if len(words) == 2 else (len(own) - 1) // 2
    return bool(own) and own[looked_at] >= _ONLY_HERE / 2


#: Kinds in the order in which they are accepted, and how they are found.
_SEARCHES: Final[dict[Kind, Callable[[_Seen], dict[Words, Places]]]] = {
    "closing": _closings,
    "passage": _passages,
    "ending": _endings,
    "opening": _openings,
    "label": _labels,
}
_FIRST: Final = tuple(_SEARCHES)


def find(batches: Callable[[], Iterable[pl.Series]], stop_words: Collection[str] = ()) -> Boilerplate:
    """What is left out, with how many texts have it; `batches()` are the texts from the first on."""
    found = learn(batches(), stop_words)
    return found.counted(batches()) if found else found
