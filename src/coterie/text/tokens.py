"""Split texts into tokens: words, numbers, hashtags, mentions, URLs, emoji, scripts without spaces.

Two patterns are made from one template. Plain ASCII texts, the majority of any English collection, are split
by a small automaton; all others by the Unicode one. On ASCII texts both give the same tokens.
"""

from __future__ import annotations

import html
from typing import Final, Literal, get_args

import polars as pl

Kind = Literal["word", "number", "hashtag", "mention", "url", "email", "emoji", "unspaced"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

# Scripts written without spaces between words, and Hangul, whose particles hang on the words.
_UNSPACED_SCRIPTS = ("Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar")
UNSPACED: Final = "".join(rf"\p{{{script}}}" for script in _UNSPACED_SCRIPTS) + "々〆ー"
_EMOJI = r"[\p{Extended_Pictographic}--[©®™]](?:\x{FE0F}|\p{Emoji_Modifier})*"
_EMOJI_TOKEN = rf"[0-9*]\x{{FE0F}}?\x{{20E3}}|\p{{RI}}{{2}}|{_EMOJI}(?:\x{{200D}}{_EMOJI})*"


def _pattern(
    *,
    word: str,
    any_word: str,
    letter: str,
    any_letter: str,
    lower: str,
    upper: str,
    edge: str,
    first: tuple[str, ...],
    last: tuple[str, ...],
) -> str:
    """The alternatives in order of preference; `word`, `letter`, … are the character classes to use."""
    after_dot = rf"{lower}{{1,4}}{edge}|{upper}{{2,4}}{edge}|{upper}{lower}{{1,3}}{edge}|[0-9]+"
    return "|".join(
        [
            *first,
            r'(?i:https?://|ftp://|www\.)[^\s<>"]+',
            rf"{any_word}(?:{any_word}|[.+%-])*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+",
            rf"@{any_word}+",
            rf"#{any_word}*{any_letter}{any_word}*",
            rf"\.(?i:net){edge}",  # .NET, the one name that begins with its dot
            r"[CFcf]#",
            rf"{word}+\+\+[0-9]*",  # C++, C++11, notepad++
            rf"(?:{letter}\.){{2,}}{letter}?",  # U.S.A.
            rf"{letter}{{1,5}}-[0-9]+{word}*",  # E-17, COVID-19, order numbers
            rf"{letter}-{word}+",  # e-mail, t-shirt
            r"[0-9]+(?:[.,:][0-9]+)+",  # 1,000.50 and 12:30
            rf"{word}+(?:['’]{letter}+|\.(?:{after_dot}))*",  # don't, node.js, 404
            *last,
        ]
    )


ASCII_PATTERN: Final = _pattern(
    word="[A-Za-z0-9_]",
    any_word="[A-Za-z0-9_]",
    letter="[A-Za-z]",
    any_letter="[A-Za-z]",
    lower="[a-z]",
    upper="[A-Z]",
    edge=r"(?-u:\b)",
    first=(),
    last=(),
)
UNICODE_PATTERN: Final = _pattern(
    word=rf"[\w--[{UNSPACED}]]",
    any_word=r"\w",
    letter=rf"[\p{{L}}--[{UNSPACED}]]",
    any_letter=r"\p{L}",
    lower=r"\p{Ll}",
    upper=r"\p{Lu}",
    edge=r"\b",
    first=(_EMOJI_TOKEN,),
    last=(rf"[{UNSPACED}]+",),
)

# Soft hyphens, zero-width spaces, byte order marks and direction marks are invisible and would split words.
_INVISIBLE = r"[\x{AD}\x{200B}\x{200E}\x{200F}\x{202A}-\x{202E}\x{2060}-\x{2069}\x{FEFF}]"


def prepare(texts: pl.Series) -> pl.Series:
    """Replace HTML entities, normalise Unicode (NFKC) and remove invisible characters.

    >>> prepare(pl.Series(["R&amp;D", "ﬁne"])).to_list()
    ['R&D', 'fine']
    """
    text = pl.col("text")
    # unescaped once: "&amp;lt;" means the text "&lt;", not a tag
    unescaped = text.map_elements(html.unescape, return_dtype=pl.String)
    frame = texts.rename("text").to_frame()
    if texts.str.contains("&", literal=True).any():
        frame = frame.with_columns(
            pl.when(text.str.contains("&", literal=True)).then(unescaped).otherwise(text)
        )
    if _wide(frame["text"]).any():
        # null if there is nothing to do, which is free
        wide = pl.when(text.str.len_bytes() != text.str.len_chars()).then(text)
        plain = wide.str.normalize("NFKC").str.replace_all(_INVISIBLE, "")
        frame = frame.with_columns(pl.coalesce(plain, text))
    return frame["text"]


def _wide(texts: pl.Series) -> pl.Series:
    """Which texts have a character outside ASCII."""
    return texts.str.len_bytes() != texts.str.len_chars()


def extract(texts: pl.Series) -> pl.Series:
    """Tokens of each prepared text, as written, in order: a series of lists.

    >>> extract(pl.Series(["C++ & C# at http://a.example #OpenData", "A股 👍"])).to_list()
    [['C++', 'C#', 'at', 'http://a.example', '#OpenData'], ['A', '股', '👍']]
    """
    wide = _wide(texts)
    if not wide.any():
        return texts.str.extract_all(ASCII_PATTERN)
    frame = pl.DataFrame({"text": texts, "wide": wide})
    both = pl.when("wide").then(pl.col("text")).otherwise(None).str.extract_all(UNICODE_PATTERN)
    ascii_only = pl.when("wide").then(None).otherwise(pl.col("text")).str.extract_all(ASCII_PATTERN)
    return frame.select(tokens=pl.when("wide").then(both).otherwise(ascii_only)).to_series()


#: Pattern for each kind of token; the first that matches counts, and all other tokens are words.
KIND_PATTERNS: Final[dict[Kind, str]] = {
    "url": r"^(?i:https?://|ftp://|www\.)",
    "mention": r"^@",
    "hashtag": r"^#.",
    "email": r"@",
    "number": r"^[0-9]+(?:[.,:][0-9]+)*$",
    "unspaced": rf"^[{UNSPACED}]",
    "emoji": rf"^(?:{_EMOJI_TOKEN})$",
}


def kinds(tokens: pl.Series) -> pl.Series:
    """The kind of each token.

    >>> kinds(pl.Series(["cat", "404", "#Cat", "@cat", "www.cat.org", "c@t.org", "🐈", "猫"])).to_list()
    ['word', 'number', 'hashtag', 'mention', 'url', 'email', 'emoji', 'unspaced']
    """
    kind: pl.Expr = pl.lit("word")
    for name, pattern in reversed(KIND_PATTERNS.items()):
        kind = pl.when(pl.col("token").str.contains(pattern)).then(pl.lit(name)).otherwise(kind)
    return tokens.rename("token").to_frame().select(kind.alias("kind")).to_series()
