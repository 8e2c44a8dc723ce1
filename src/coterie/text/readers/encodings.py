"""Detect the encoding of a text.

Bytes that are valid UTF-8 are UTF-8, since text in other encodings is hardly ever valid UTF-8 by accident.
Japanese, Chinese and Korean encodings are recognised by their most frequent characters, which would be rare
if the bytes were read in the wrong encoding. Russian and Western encodings both allow any byte, but Western
words mix accented letters with ASCII ones.
"""

from __future__ import annotations

import codecs
import io
import re

from coterie.errors import InputError

#: Bytes that are read to tell the encoding, and those that are read at a time.
MOST_BYTES, _PIECE = 1 << 26, 1 << 20
#: Bytes outside ASCII that are kept with what surrounds them to tell encodings apart.
_ENOUGH = 1 << 16

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16: its mark begins with the same two bytes
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Letters that are frequent in texts of an encoding.
_FREQUENT = {
    "cp932": re.compile("[ぁ-んァ-ヶー、。]"),
    "euc_jp": re.compile("[ぁ-んァ-ヶー、。]"),
    "euc_kr": re.compile("[가-힣]"),
    "gb18030": re.compile("[的一是不了在有我他这为来以个中上们到说和地也子时要于就下得可你年生会请没，。]"),
    "big5": re.compile("[的一是不了在有我他這為來以個中上們到說和地也子時要於就下得可你年生會請沒，。]"),
    "cp1251": re.compile("[а-яё]"),
}
#: The share of frequent letters among those outside ASCII that an encoding needs.
_LEAST_SHARE = {"gb18030": 0.1, "big5": 0.1}
_USUAL_SHARE = 0.3
#: The share of bytes outside ASCII in words without any letter of ASCII that Russian has at least.
_IN_WORDS = 0.7
#: Bytes that begin no letter of UTF-8 outside ASCII.
_NO_FIRST_BYTE = bytes(range(0xC0))
_HIGH = re.compile(rb"[\x80-\xff]")
_WORD = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff]{2,}(?![A-Za-z])")

_NAMES = {
    "cp1252": "Windows-1252", "iso8859-1": "Latin-1", "cp932": "Shift-JIS", "euc_jp": "EUC-JP",
    "euc_kr": "EUC-KR", "gb18030": "GB 18030", "big5": "Big5", "cp1251": "Windows-1251", "utf-16": "UTF-16",
    "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32": "UTF-32",
}  # fmt: skip


def encoding_of(head: bytes, given: str | None = None) -> str:
    """The given encoding, or the one detected by a byte order mark or the zeros of UTF-16; else UTF-8.

    >>> encoding_of("text".encode("utf-16")), encoding_of(b"text", "latin1"), encoding_of(b"text")
    ('utf-16', 'iso8859-1', 'utf-8-sig')
    """
    marked = [name for mark, name in _BYTE_ORDER_MARKS.items() if head.startswith(mark)]
    guess = _by_zeros(head[:2000])
    if given is None:
        return marked[0] if marked else guess or "utf-8-sig"
    name = codecs.lookup(given).name
    family = name.removesuffix("-le").removesuffix("-be")
    if family in marked or name == "utf-8":  # the mark is not part of the text
        return "utf-8-sig" if name == "utf-8" else family
    if name in ("utf-16", "utf-32"):  # Python wants a mark with these
        return guess if guess and name == "utf-16" else f"{name}-le"
    return name


def _by_zeros(head: bytes) -> str | None:
    even, odd, half = head[0::2].count(0), head[1::2].count(0), len(head) / 2
    if max(even, odd) > 0.3 * half and min(even, odd) < 0.05 * half:
        return "utf-16-be" if even > odd else "utf-16-le"
    return None


def detected(stream: io.BufferedIOBase, head: bytes) -> str:
    """Detect the encoding of a text that begins with `head`, reading as much of the stream as needed.

    >>> french, japanese = "Où est le café ?".encode("cp1252"), "届きません".encode("cp932")
    >>> [detected(io.BytesIO(data), data) for data in (french, japanese)]
    ['cp1252', 'cp932']
    """
    guessed = encoding_of(head)
    if guessed != "utf-8-sig":
        return guessed
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    good = bad = seen = 0
    foreign = bytearray()
    while seen < MOST_BYTES and (piece := stream.read(_PIECE)):
        seen += len(piece)
        if piece.isascii():
            continue
        wrong = decoder.decode(piece).count("\ufffd")
        bad += wrong
        good += max(len(piece.translate(None, _NO_FIRST_BYTE)) - wrong, 0)
        if wrong and len(foreign) < _ENOUGH:
            foreign += piece
    # a few broken letters in a file of UTF-8 do not make it another encoding
    return _older(bytes(foreign)) if bad > good else guessed


def _older(sample: bytes) -> str:
    """The encoding of a sample that is not UTF-8."""
    fits = {name: _share(sample, name) / _LEAST_SHARE.get(name, _USUAL_SHARE) for name in _FREQUENT}
    if sum(map(len, _WORD.findall(sample))) < _IN_WORDS * len(_HIGH.findall(sample)):
        fits["cp1251"] = 0.0
    best = max(fits, key=lambda name: fits[name])
    if fits[best] >= 1:
        return best
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return "iso8859-1"  # has a letter, or a control character, for every byte
    return "cp1252"


def _share(sample: bytes, encoding: str) -> float:
    """How many of the letters outside ASCII are frequent ones; 0 if more than a few bytes are invalid."""
    text = sample.decode(encoding, "replace")
    foreign = sum(sign > "\x7f" for sign in text)
    if text.count("\ufffd") > 0.01 * foreign + 1:
        return 0.0
    return len(_FREQUENT[encoding].findall(text)) / max(foreign, 1)


def spoken(encoding: str) -> str | None:
    """The name of an encoding as people know it; None for UTF-8, of which nobody needs to hear."""
    name = codecs.lookup(encoding).name
    return None if name in ("utf-8", "utf-8-sig", "ascii") else _NAMES.get(name, name)


def check_encoding(encoding: str) -> None:
    """Raise an error if Python does not have this text encoding."""
    try:
        io.TextIOWrapper(io.BytesIO(b"a"), encoding=encoding, errors="replace").read()
    except (LookupError, ValueError):
        raise InputError(f"unknown encoding {encoding!r}; try 'utf-8', 'utf-16' or 'cp1252'") from None
