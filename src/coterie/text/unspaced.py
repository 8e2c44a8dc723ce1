"""Words in scripts without spaces: from a segmenter if there is one, else overlapping character pairs."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Literal

from coterie.errors import InputError
from coterie.storage.cache import private_cache_folder

Segmenter = Literal["auto", "jieba", "bigrams", "words"]

#: A character of a script without spaces, for Python's regular expressions, which know no scripts.
CHARACTER = "[々〆぀-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ᄀ-ᇿ가-힣ก-๿ຂ-\u0eff\u1780-\u17ff\u1000-\u109f\U00020000-\U0003ffff]"

# Han · Katakana · everything else. Katakana spells whole loan words, so a run of it is one word.
_RUNS = re.compile(
    r"(?P<han>[々〆㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff]+)|(?P<katakana>[゠-ヿㇰ-ㇿ]+)|(?P<other>[^々〆㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff゠-ヿㇰ-ㇿ]+)"
)


def resolve(segmenter: Segmenter, chinese: bool) -> Segmenter:
    """ "auto" means jieba for Chinese texts where it is installed, character pairs for all others.

    A few Chinese words in an English collection are not worth a dictionary of 100 MB.
    """
    if segmenter == "auto":
        return "jieba" if chinese and find_spec("jieba") else "bigrams"
    if segmenter == "jieba" and not find_spec("jieba"):
        raise InputError("segmenter='jieba' needs the package jieba: pip install 'coterie[zh]'")
    if segmenter not in ("jieba", "bigrams", "words"):
        raise InputError(f"segmenter must be 'auto', 'jieba', 'bigrams' or 'words', got {segmenter!r}")
    return segmenter


def split(run: str, segmenter: Segmenter) -> list[str]:
    """Words of one unbroken run of characters.

    >>> split("港股缩量回调", "bigrams")
    ['港股', '股缩', '缩量', '量回', '回调']
    >>> split("東京タワーへ", "bigrams")
    ['東京', 'タワー', 'へ']
    """
    if segmenter == "words":
        return [run]
    han = _jieba() if segmenter == "jieba" else bigrams
    words: list[str] = []
    for match in _RUNS.finditer(run):
        piece = match.group()
        if match.lastgroup == "han":
            words += han(piece)
        else:
            words += [piece] if match.lastgroup == "katakana" else bigrams(piece)
    return words


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of characters; a single character stays as it is."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@cache
def _jieba() -> Callable[[str], list[str]]:
    import warnings

    with warnings.catch_warnings():  # jieba imports pkg_resources where it exists, which complains
        warnings.simplefilter("ignore")
        import jieba

    jieba.setLogLevel(logging.CRITICAL)  # a dictionary that cannot be kept is made again the next time
    tokenizer = (
        jieba.Tokenizer()
    )  # our own: words that a program adds to the global one do not change results
    # jieba trusts the file it keeps its dictionary in, so that must not be in a folder shared by all users
    tokenizer.tmp_dir = str(private_cache_folder())
    tokenizer.initialize()
    cut: Callable[[str], list[str]] = tokenizer.lcut
    return cut
