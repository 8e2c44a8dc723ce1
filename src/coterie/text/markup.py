"""Blank HTML: tags, comments, scripts and styles become spaces, entities the characters they stand for.

Nothing moves: a cleaned text has as many characters as the one it came from, so positions stay right. A tag
that a text is about ("remove <br> in a list", ``List<String>``, ``<GM>``) is left as it is: only texts that
use tags as markup are cleaned, with something between a tag and its end, an attribute, or a letter right
behind a tag.
"""

from __future__ import annotations

import html
import re
from html.entities import html5
from typing import Final

import polars as pl

#: Fills the place of what was removed inside a word; the tokenizer ignores it.
FILL: Final = "\u2060"

_BLOCKS = (
    "address article aside blockquote body br caption center dd details div dl dt fieldset figure footer "
    "form h1 h2 h3 h4 h5 h6 head header hr html iframe legend li main nav ol option p pre script section "
    "select style summary table tbody td tfoot th thead title tr ul"
)
_INLINE = (
    "a abbr b big button cite code col colgroup del em embed font frame i img input ins label link map mark "
    "meta noscript object param "
    "picture q s samp small source span strike strong sub sup svg textarea time tt u var video wbr"
)
_LT, _GT = r"(?:<|&(?:amp;){0,3}lt;)", r"(?:>|&(?:amp;){0,3}gt;)"
_NAMES = "|".join(sorted({*_BLOCKS.split(), *_INLINE.split()}, key=lambda name: (-len(name), name)))
_PARTS = re.compile(
    rf"(?P<begin>{_LT}!--)|(?P<finish>--{_GT})|(?P<kind>{_LT}!doctype\b(?:(?!{_LT}|{_GT}).){{0,500}}{_GT})"
    rf"|{_LT}(?P<end>/?)\s?(?P<name>(?:{_NAMES}|[a-z]{{1,8}}:[a-z]{{1,20}})(?![\w-]))"
    rf"(?P<rest>(?:(?!{_LT}|{_GT}).){{0,4000}}){_GT}",
    re.IGNORECASE | re.DOTALL,
)
_ENTITY = re.compile(r"&(?:amp;){0,3}(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ATTRIBUTE = re.compile(r"\s[\w:-]+\s*=\s*\S")
#: Texts that may contain something to clean.
_SUSPECT: Final = r"(?:<|&(?:amp;)*lt;)[/!A-Za-z]|&#?\w+;"
_BLOCK_NAMES = frozenset(_BLOCKS.split())
#: Tags that nobody writes into a message, other than to ask about them.
_CONTROLS = frozenset(["button", "frame", "iframe", "input", "option", "select", "textarea", "video"])
_SPACES, _WORD = re.compile(r"\s+"), re.compile(r"\w")


def without_markup(texts: pl.Series) -> pl.Series:
    """Texts without markup, each as long as it was.

    >>> without_markup(pl.Series(["a<br/>b", "x < y", "List<String>"])).to_list()
    ['a\\n    b', 'x < y', 'List<String>']
    """
    suspect = texts.str.contains(_SUSPECT).fill_null(False)
    if not suspect.any():
        return texts
    cleaned = [blanked(text) for text in texts.filter(suspect)]
    return replaced(texts, suspect, cleaned)


def replaced(texts: pl.Series, where: pl.Series, by: list[str]) -> pl.Series:
    """A copy of a series in which some texts are others."""
    return texts.clone().scatter(where.arg_true(), pl.Series(by, dtype=pl.String))


def without_gaps(texts: pl.Series) -> pl.Series:
    """Texts that were cleaned, as if nothing had been there.

    >>> without_gaps(pl.Series(["  late   parcel  ", "late"])).to_list()
    ['late parcel', 'late']
    """
    gaps = texts.str.contains(rf"{FILL}|\s\s|^\s|\s$").fill_null(False)
    squeezed = texts.str.replace_all(FILL, "", literal=True).str.replace_all(r"\s+", " ").str.strip_chars()
    return squeezed.zip_with(gaps, texts) if gaps.any() else texts


def readable(text: str) -> str:
    """The text as a browser would show it, on one line, if it has markup or entities; never nothing.

    >>> readable("<p>Caf&eacute;&nbsp;closed</p>")
    'Café closed'
    """
    cleaned = html.unescape(blanked(text)).replace(FILL, "")
    return text if cleaned == text else _SPACES.sub(" ", cleaned).strip() or text


def blanked(text: str) -> str:
    """One text without markup, as long as it was."""
    pieces, at = [], 0
    for start, end, name in _markup(text):
        space = "\n" if name in _BLOCK_NAMES else " "
        pieces += [text[at:start], space, " " * (end - start - 1)]
        at = end
    text = "".join([*pieces, text[at:]])
    return _ENTITY.sub(_unescaped, text) if "&" in text else text


def _unescaped(match: re.Match[str]) -> str:
    """The character that an entity stands for, as long as the entity."""
    name, whole = match.group(1), match.group()
    if not name.startswith("#") and f"{name};" not in html5:
        return whole
    sign = html.unescape(f"&{name};")
    return sign + (" " if sign.isspace() else FILL) * (len(whole) - len(sign))


def _markup(text: str) -> list[tuple[int, int, str]]:
    """Spans of markup with the names of their tags; none if the text does not use tags as markup."""
    spans: list[tuple[int, int, str]] = []
    certain, inside = False, ""
    opened: dict[str, int] = {}
    began = 0
    for part in _PARTS.finditer(text):
        name = (part["name"] or "").lower()
        if inside:  # a comment, script or style, until its end
            if (inside == "!" and part["finish"]) or (inside == name and part["end"]):
                spans.append((began, part.end(), inside))
                # a comment may be what a text is about: "where does <!--more--> go"
                certain, inside = certain or inside != "!" or not text[:began].strip(), ""
        elif part["begin"]:
            inside, began = "!", part.start()
        elif name in ("script", "style") and not part["end"]:
            inside, began = name, part.start()
        elif part["kind"]:
            spans.append((*part.span(), ""))
            certain = True
        elif name:
            spans.append((*part.span(), name))
            certain = certain or _is_used(text, part, name, opened)
            opened.setdefault(name, part.end())
    return spans if certain else []


def _is_used(text: str, part: re.Match[str], name: str, opened: dict[str, int]) -> bool:
    """Whether a tag marks something up, and is not just mentioned."""
    if part["end"]:
        return (
            name in opened
            and _WORD.search(text[opened[name] : min(part.start(), opened[name] + 200)]) is not None
        )
    if _ATTRIBUTE.match(part["rest"]) or ":" in name:
        return name not in _CONTROLS
    after, before = text[part.end() : part.end() + 1], text[max(part.start() - 1, 0) : part.start()]
    if name in ("br", "hr"):
        return part["rest"].strip() == "/" or not (after or " ").isspace() or not (before or " ").isspace()
    return after.isalpha() and part["name"] == name
