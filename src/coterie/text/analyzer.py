"""From texts to terms in two steps: cut a text into forms, as written; map each distinct form to its term.

Both steps are columnar. Cutting is done once per distinct piece between two spaces; normalisation, stop words
and stemming once per distinct form. The running text itself is only looked up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import polars as pl

from coterie.errors import InputError, check_flag
from coterie.text import languages, tokens, unspaced
from coterie.text.inputs import strings
from coterie.text.non_answers import non_answers
from coterie.text.tokens import KIND_PATTERNS, KINDS, Kind
from coterie.text.unspaced import Segmenter

#: The form of a token that is ignored: it still counts as a position in the text.
LEFT_OUT: Final = ""

_COMPOUND: Final = ("hashtag", "unspaced")
_HASHTAG_PARTS = re.compile(rf"(?P<run>{unspaced.CHARACTER}+)|(?:(?!{unspaced.CHARACTER})[^\W\d_])+|\d+")
# #ClimateChange → Climate, Change; #NASALaunch → NASA, Launch
_CAMEL = re.compile(r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ])")
_SKIN_AND_STYLE = r"[\x{FE0F}\p{Emoji_Modifier}]"


@dataclass(frozen=True)
class Analyzer:
    """How texts become terms.

    Parameters
    ----------
    languages
        Languages whose stop words are removed; words are stemmed in the first one.
    stem
        Whether to reduce words to their stem.
    use_stop_words, stop_words
        Whether to remove the stop words of the languages; further words to remove.
    drop
        Kinds of tokens to ignore, from `coterie.text.tokens.KINDS`.
    segmenter
        How to segment scripts without spaces.
    skip_non_answers
        Whether texts such as "n/a" count as empty.
    """

    languages: tuple[str, ...] = ("english",)
    stem: bool = True
    use_stop_words: bool = True
    stop_words: frozenset[str] = frozenset()
    drop: tuple[Kind, ...] = ("url", "email")
    segmenter: Segmenter = "auto"
    skip_non_answers: bool = False

    def __post_init__(self) -> None:
        check_flag("skip_non_answers", self.skip_non_answers)
        for language in strings("languages", self.languages):
            languages.language_name(language)
        for kind in strings("drop", self.drop):
            if kind not in KINDS:
                raise InputError(f"drop must contain only {', '.join(KINDS)}; got {kind!r}")

    @cached_property
    def segmenter_used(self) -> Segmenter:
        """The segmenter that "auto" stands for."""
        return unspaced.resolve(self.segmenter, "chinese" in map(languages.language_name, self.languages))

    def non_answers(self, texts: pl.Series) -> pl.Series:
        """Which texts count as empty although they are not."""
        if not self.skip_non_answers:
            return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
        return non_answers(texts, self.languages)

    def cut(self, texts: pl.Series) -> pl.Series:
        """Forms of each text in reading order, as written: a series of lists.

        >>> Analyzer().cut(pl.Series(["Wow #OpenData", "see http://a.example"])).to_list()
        [['Wow', '#OpenData', 'Open', 'Data'], ['see', '']]
        """
        simple = texts.str.contains(self.simple_pattern)
        frame = texts.alias("text").to_frame().with_row_index("row")
        cut = self._cut_others(frame.filter(~simple))
        joined = frame.join(cut, on="row", how="left", maintain_order="left")
        return joined.select(pl.coalesce("forms", pl.concat_list("text"))).to_series()

    @cached_property
    def simple_pattern(self) -> str:
        """Matches texts that are one plain word, as most pieces between two spaces are."""
        plain_numbers = "" if "number" in self.drop else "0-9"
        return "^$^" if "word" in self.drop else f"^[A-Za-z_{plain_numbers}]+$"

    def _cut_others(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Columns row and forms, for texts that are not one plain word."""
        plain = frame.select("row", plain=tokens.extract(tokens.prepare(frame["text"])))
        flat = plain.explode("plain", empty_as_null=False)
        special = flat.filter(pl.col("plain").str.contains(self._special_pattern())).select("row").unique()
        chosen = plain.join(special, on="row", how="semi", maintain_order="left")
        kinds = iter(tokens.kinds(chosen["plain"].explode(empty_as_null=False)))
        forms = [[form for t in row for form in self._forms(t, next(kinds))] for row in chosen["plain"]]
        other = chosen.select("row", pl.Series("special", forms, dtype=pl.List(pl.String)))
        joined = plain.join(other, on="row", how="left", maintain_order="left")
        return joined.select("row", forms=pl.coalesce("special", "plain"))

    def _special_pattern(self) -> str:
        """Matches at least the tokens that `_forms` changes."""
        return "|".join(KIND_PATTERNS[kind] for kind in KIND_PATTERNS if kind in (*self.drop, *_COMPOUND))

    def _forms(self, token: str, kind: Kind) -> list[str]:
        """The forms of one token: none of its own if dropped, several for a hashtag or an unspaced run."""
        if kind in self.drop:
            return [LEFT_OUT]
        if kind == "hashtag":
            return [token, *self._words_in(token)]
        if kind == "unspaced":
            return unspaced.split(token, self.segmenter_used)
        return [token]

    def _words_in(self, hashtag: str) -> list[str]:
        words: list[str] = []
        for part in _HASHTAG_PARTS.finditer(hashtag):
            if part.lastgroup == "run":
                words += unspaced.split(part.group(), self.segmenter_used)
            else:
                words += _CAMEL.split(part.group())
        return words

    def terms(self, forms: pl.Series) -> pl.DataFrame:
        """For each form its surface (lower case) and its term, null if it is ignored.

        >>> Analyzer().terms(pl.Series(["Universities", "the", "C++", "E-mail", "U.S."])).rows()
        [('universities', 'universiti'), ('the', None), ('c++', 'c++'), ('e-mail', 'email'), ('u.s.', 'us')]
        """
        form = pl.col("form")
        frame = pl.DataFrame({"form": forms, "kind": tokens.kinds(forms)})
        lowered = form.str.to_lowercase().str.replace_all("’", "'", literal=True)
        # "İ" becomes "i" and a combining dot, which would make İstanbul another city than istanbul
        lowered = lowered.str.replace_all("i\u0307", "i", literal=True)
        plain_emoji = form.str.replace_all(_SKIN_AND_STYLE, "")
        frame = frame.select(
            "kind", surface=pl.when(pl.col("kind") == "emoji").then(plain_emoji).otherwise(lowered)
        )
        distinct = frame.unique(maintain_order=True)
        spelled = distinct.with_columns(term=self._spelling())
        table = spelled.with_columns(term=self._stemmed(spelled["term"]))
        return frame.join(table, on=["kind", "surface"], how="left", maintain_order="left").select(
            "surface", "term"
        )

    def _spelling(self) -> pl.Expr:
        """One spelling for all variants of a word; null for stop words and ignored tokens."""
        word = pl.col("surface")
        if languages.elides(self.languages):
            word = word.map_elements(languages.without_elision, return_dtype=pl.String)
        stop = pl.Series([LEFT_OUT, *sorted(self.all_stop_words())], dtype=pl.String).implode()
        bare = word.str.replace(r"'s?$", "")  # the company's
        return (
            pl.when(pl.col("surface").is_in(stop))
            .then(None)
            .when(word.str.contains(r"^(?:\p{L}\.){2,}\p{L}?$|^\p{L}-\p{L}+$"))
            .then(word.str.replace_all(r"[.-]", ""))  # u.s.a. is usa, e-mail is email, and u.s. is not "us"
            .when(bare.is_in(stop))
            .then(None)
            .otherwise(bare)
        )

    def _stemmed(self, spelled: pl.Series) -> pl.Series:
        stem = languages.stemmer(self.languages[0]) if self.stem and self.languages else None
        if stem is None:
            return spelled
        # numbers, codes, hashtags, c++ and node.js have no stem
        words = spelled.filter(spelled.str.contains(r"^[\p{L}\p{M}'-]+$").fill_null(False)).unique()
        return spelled.replace(words, pl.Series(stem(words.to_list()), dtype=pl.String))

    def all_stop_words(self) -> frozenset[str]:
        """All stop words."""
        own = frozenset(word.lower() for word in self.stop_words)
        lists = [languages.stop_words(name) for name in self.languages] if self.use_stop_words else []
        return own.union(*lists)
