"""Full-text search: which texts hold all words of a query, whatever their case and accents."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.text.unspaced import CHARACTER

#: Words of a query that are looked for.
_MOST_WORDS = 20
#: Texts that are looked through together: most words are found in the first of them.
_SOME = 65_536
_PIECES = re.compile(r'"([^"]*)"?|(\S+)')
_UNSPACED = re.compile(CHARACTER)
#: Signs that mean something in a pattern; "\\<" would mean something where "<" does not.
_SIGNS = re.compile(r"[\\.+*?()|\[\]{}^$]")


def folded(text: pl.Expr) -> pl.Expr:
    """Texts without case and accents."""
    # null where there is nothing to do: that costs nothing
    wide = pl.when(text.str.len_bytes() != text.str.len_chars()).then(text)
    accented = wide.str.normalize("NFKD").str.replace_all(r"\p{Mn}", "").str.normalize("NFC")
    return pl.coalesce(accented, text).str.to_lowercase()


@dataclass(frozen=True)
class Words:
    """What is looked for: `parts` are words and phrases as they were written."""

    parts: tuple[str, ...]

    @classmethod
    def of(cls, query: str) -> Words:
        """The words of a query; what stands in quotes is a phrase.

        >>> Words.of('refund "late parcel"').parts
        ('refund', 'late parcel')
        """
        found = (phrase or word for phrase, word in _PIECES.findall(query))
        parts = [" ".join(part.split()) for part in found]
        return cls(tuple(dict.fromkeys(part for part in parts if part.strip('" ')))[:_MOST_WORDS])

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """A pattern for the folded form of each part, for Rust and Python alike."""
        spelled = pl.DataFrame({"part": self.parts}, schema={"part": pl.String}).select(
            folded(pl.col("part"))
        )
        return tuple(map(_pattern, spelled.to_series()))

    def within(self, texts: pl.Series) -> npt.NDArray[np.bool_]:
        """Which folded texts hold all of them."""
        found = np.ones(len(texts), dtype=bool)
        for pattern in self.patterns:
            some = np.flatnonzero(found)
            if not len(some):
                break
            inside = texts if len(some) == len(texts) else texts[some]
            found[some] = inside.str.contains(pattern).to_numpy()
        return found

    def absent(self, texts: pl.Series) -> tuple[str, ...]:
        """Those that none of the folded texts holds."""
        slices = list(texts.to_frame().iter_slices(_SOME))
        return tuple(
            part
            for part, pattern in zip(self.parts, self.patterns, strict=True)
            if not any(some.to_series().str.contains(pattern).any() for some in slices)
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in a text, as it is written, they stand: in code points."""
        if not self.parts:
            return []
        plain, origin = _aligned(text)
        found = []
        for pattern in self.patterns:
            for match in re.finditer(pattern, plain):
                start, end = match.span()
                if end > start:
                    found.append((origin[start], _end(text, origin[end - 1] + 1)))
        return sorted(set(found))


def _pattern(part: str) -> str:
    """A word begins where a word begins, unless its script has no spaces or it begins with a sign."""
    words = r"\s+".join(_SIGNS.sub(lambda sign: "\\" + sign.group(), word) for word in part.split())
    first = part[:1]
    begins = (first.isalnum() or first == "_") and not _UNSPACED.match(first)
    return (r"\b" if begins else "") + words


def _aligned(text: str) -> tuple[str, list[int]]:
    """A folded text, and for each of its characters the place of the one it came from."""
    if text.isascii():
        return text.lower(), list(range(len(text)))
    plain: list[str] = []
    origin: list[int] = []
    for place, sign in enumerate(text):
        if sign.isascii():
            piece = sign.lower()
        else:
            bare = "".join(c for c in unicodedata.normalize("NFKD", sign) if unicodedata.category(c) != "Mn")
            piece = unicodedata.normalize("NFC", bare).lower()
        plain.append(piece)
        origin += [place] * len(piece)
    return "".join(plain), origin


def _end(text: str, end: int) -> int:
    """Accents that follow belong to the letter before."""
    while end < len(text) and unicodedata.category(text[end]) == "Mn":
        end += 1
    return end
