"""What recurs over texts that are about different things, and is left out of the counts.

Greetings, closings with a name, notices, form labels and quoted replies are blanked: a text keeps its length,
so positions of words stay right. What to leave out is learned from a collection (`coterie.text.recurring`)
and kept with the model, so that a new text is treated as those that were fitted. A text of which nothing
would be left stays as it is: it is about that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, get_args

import polars as pl

from coterie.text import quotes
from coterie.text.markup import FILL, replaced, without_markup

Kind = Literal["passage", "opening", "ending", "closing", "label", "quote"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: Words that may follow the words of a closing, and if a line ends between them.
TAIL, LONG_TAIL = 4, 16
#: Passages of so many words are recognised wherever they stand, shorter ones as a line or sentence.
_LONG = 4
_WORD = r"[^\W_]+(?:['’][^\W_]+)*"
_LETTER = re.compile(r"[^\W\d_]")
_PLAIN = re.compile(r"[^\W\d_]+")
#: Patterns that a sentence names, and how each kind is called.
_NAMED = 3
_SAID: Final[dict[Kind, str]] = {
    "passage": "“{}”",
    "opening": "“{}” at the beginning",
    "ending": "“{}”",
    "closing": "“{}” with the name after it",
    "label": "“{}:”",
    "quote": "quoted messages",
}
#: How often a beginning or an end is looked for: each may uncover another.
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Pattern:
    """Something that is left out: its words (lower case, numbers as 0), how many texts have it, one of them.

    A *passage* is a line or a sentence, an *ending* the last words of one; an *opening* stands at the
    beginning before a comma or a line break; a *closing* is followed by a short name; a *label* stands before
    a colon. A *quote* has no words: it is told by its form.
    """

    kind: Kind
    words: tuple[str, ...]
    texts: int = 0
    example: str = ""

    def __str__(self) -> str:
        spelled = " ".join(self.words[:12]) + (" …" if len(self.words) > 12 else "")
        return _SAID[self.kind].format(spelled)

    @property
    def regex(self) -> str:
        """What it matches in a text of which other patterns were blanked."""
        words = r"[\W_]+".join(
            re.escape(word).replace("0", "[0-9]+").replace("'", "['’]") for word in self.words
        )
        whole = rf"(?<![^\W_]){words}(?![^\W_])"
        if self.kind == "opening":
            return rf"\A[\W_]*{words}\s*(?:[,!:;.\n\-–—]|\Z)"
        if self.kind == "label":
            return rf"(?:\A|(?<=\n))[^\S\n]*{words}\s*[:：]"
        if self.kind == "closing":
            tail = rf"(?:[\W_]+{_WORD})"
            return rf"{whole}(?:{tail}{{0,{TAIL}}}|[^\w\n]*(?=\n){tail}{{0,{LONG_TAIL}}})[\W_]*\Z"
        if len(self.words) >= _LONG:
            return rf"{whole}(?:[^\S\n]*[.!?…。！？]+)?"
        if self.kind == "ending":
            return rf"{whole}\s*(?:[.!?…。！？\n]|[\W_]*\Z)"
        before = r"(?:\A|(?<=[.!?…。！？\n])|(?<=[.!?…]\s))[^\S\n]*"
        return rf"{before}{whole}\s*(?:[.!?…。！？\n]|[,;:]\s*(?:\n|\Z)|\Z)"


@dataclass(frozen=True)
class Boilerplate:
    """The patterns that are left out of the counts; `texts` is how many texts have at least one of them."""

    patterns: tuple[Pattern, ...] = ()
    texts: int = 0

    def __str__(self) -> str:
        """The most frequent patterns, for a sentence."""
        first = sorted(self.patterns, key=lambda pattern: (-pattern.texts, pattern.words))[:_NAMED]
        more = f" and {len(self.patterns) - len(first):,} more" if len(self.patterns) > len(first) else ""
        return ", ".join(map(str, first)) + more

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def blank(self, texts: pl.Series) -> pl.Series:
        """Texts without the patterns, each as long as it was; none is left without a word.

        >>> left_out = Boilerplate((Pattern("closing", ("kind", "regards")),))
        >>> left_out.blank(pl.Series(["Card lost. Kind regards, Ana", "Kind regards, Ana"])).to_list()
        ['Card lost.                  ', 'Kind regards, Ana']
        """
        suspect = self._suspect(texts)
        if not suspect.any():
            return texts
        return replaced(texts, suspect, [self._blanked(text)[0] for text in texts.filter(suspect)])

    def matches(self, text: str) -> set[int]:
        """The numbers of the patterns that are left out of a text."""
        return self._blanked(text)[1]

    def counted(self, batches: Iterable[pl.Series]) -> Boilerplate:
        """The same patterns with the number of texts that have each and an example; others are dropped."""
        texts, examples = [0] * len(self.patterns), [""] * len(self.patterns)
        touched = 0
        for batch in batches:
            if batch.dtype != pl.String or not self:
                continue
            cleaned = without_markup(batch)
            copies = cleaned.filter(self._suspect(cleaned)).value_counts().rows()
            for text, copy in copies:
                found = self.matches(text)
                touched += copy if found else 0
                for number in found:
                    texts[number] += copy
                    examples[number] = min(filter(None, (examples[number], text)), key=lambda t: (len(t), t))
        return Boilerplate(
            tuple(
                replace(pattern, texts=n, example=_SPACES.sub(" ", example.replace(FILL, "")).strip()[:300])
                for pattern, n, example in zip(self.patterns, texts, examples, strict=True)
                if n
            ),
            touched,
        )

    def _suspect(self, texts: pl.Series) -> pl.Series:
        """Texts that may have a pattern: they have its longest word."""
        found = pl.Series([False], dtype=pl.Boolean).new_from_index(0, len(texts))
        if self._quote is not None:
            found = found | texts.str.contains(quotes.SUSPECT).fill_null(False)
        if words := self._words:
            found = found | texts.str.to_lowercase().str.contains_any(words).fill_null(False)
        return found

    @cached_property
    def _words(self) -> list[str]:
        """The longest word of each pattern, as far as it is written in one way only."""
        parts = (
            max(_PLAIN.findall(" ".join(p.words)), key=len, default="") for p in self.patterns if p.words
        )
        return sorted(set(parts))

    @cached_property
    def _compiled(self) -> list[tuple[int, Pattern, re.Pattern[str]]]:
        """Patterns with their numbers, the longest first; names come after what they may hide behind."""
        order = sorted(
            range(len(self.patterns)),
            key=lambda n: (_ORDER.index(self.patterns[n].kind), -len(self.patterns[n].words), n),
        )
        return [
            (n, self.patterns[n], re.compile(self.patterns[n].regex, re.IGNORECASE))
            for n in order
            if self.patterns[n].kind != "quote"
        ]

    @cached_property
    def _quote(self) -> int | None:
        return next((n for n, pattern in enumerate(self.patterns) if pattern.kind == "quote"), None)

    def _blanked(self, text: str) -> tuple[str, set[int]]:
        found: set[int] = set()
        made = text
        if self._quote is not None and (spans := quotes.quoted(text)):
            found.add(self._quote)
            for span in spans:
                made = _without(made, *span)
        for _ in range(_ROUNDS):
            before = made
            for number, _pattern, regex in self._compiled:
                for match in regex.finditer(made):
                    made = _without(made, *match.span())
                    found.add(number)
            if made == before:
                break
        return (made, found) if _LETTER.search(made) else (text, set())


_ORDER: Final[tuple[Kind, ...]] = ("quote", "passage", "opening", "ending", "closing", "label")
_SPACES = re.compile(r"\s+")


def _without(text: str, start: int, end: int) -> str:
    """A text with a span of spaces; line breaks stay."""
    if not text[start:end].strip():
        return text
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def packed(found: Boilerplate) -> dict[str, Any]:
    """As data, for a file."""
    return {
        "patterns": [[p.kind, list(p.words), p.texts, p.example] for p in found.patterns],
        "texts": found.texts,
    }


def unpacked(data: Any) -> Boilerplate:
    """From data of a file, which may be wrong: raises ValueError."""
    patterns = []
    for kind, words, texts, example in data["patterns"]:
        if kind not in KINDS or not all(isinstance(word, str) and word for word in [*words, kind]):
            raise ValueError("a pattern of an unknown kind")
        if (kind != "quote" and not words) or len(words) > 1000 or not isinstance(example, str):
            raise ValueError("a pattern without words")
        patterns.append(Pattern(kind, tuple(words), int(texts), example))
    return Boilerplate(tuple(patterns), int(data["texts"]))
