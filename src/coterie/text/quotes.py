"""Find what a reply quotes: lines that begin with ">", and messages below a line that introduces them."""

from __future__ import annotations

import re
from typing import Final

_VERBS = (
    "wrote|writes|schrieb|schreibt|a écrit|escribió|escribio|ha scritto|escreveu|schreef|skrev|kirjoitti|"
    "napisał|napisała|napsal|написал|пишет|napísal|írta|yazdı"
)
_NAMES = (
    "Original Message|Original Appointment|Forwarded Message|Ursprüngliche Nachricht|Original-Nachricht|"
    "Originalnachricht|Weitergeleitete Nachricht|Message d['’]origine|Message original|Message transféré|"
    "Mensaje original|Mensaje reenviado|Messaggio originale|Messaggio inoltrato|Mensagem original|"
    "Oorspronkelijk bericht|Ursprungligt meddelande|Oprindelig meddelelse|Opprinnelig melding|"
    "Alkuperäinen viesti|Wiadomość oryginalna|Původní zpráva|Исходное сообщение"
)
_FROM = "From|Von|De|Da|Van|Od|Från|Fra|От"
_SENT = (
    "Sent|Date|Gesendet|Datum|Envoyé|Envoye|Enviado(?: el)?|Fecha|Inviato|Data|Verzonden|Skickat|Sendt|"
    "Wysłano|Отправлено"
)
_VERB = re.compile(rf"\b(?:{_VERBS})\b[^\n:]{{0,80}}:", re.IGNORECASE)
# a date, and in the same line or the one before nothing but a name
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b")
_INTRODUCED = re.compile(
    r"(?:^|\n|(?<=[.!?])\s)[ \t]*(?:On|Am|Le|El|Il|Em|Op|Den|Dnia|W dniu|Dne)\b", re.IGNORECASE
)
_DASHES = re.compile(
    rf"-{{2,}} ?(?:{_NAMES}) ?-{{2,}}|(?:^|\n)[ \t]*-{{4,}} ?[^\W\d_][^\n-]{{3,40}}?-{{4,}}[ \t]*(?=\n)",
    re.IGNORECASE,
)
_HEADER = re.compile(rf"(?:^|\n)[ \t_*]*(?:{_FROM}) ?:[^\n]{{1,200}}\n[ \t*]*(?:{_SENT}) ?:", re.IGNORECASE)
_QUOTED = re.compile(r"(?:^|(?<=\n))[ \t]*(?:>|&gt;)[^\n]*")
_WORD = re.compile(r"[^\W\d_]")
_REACH = 250
#: Texts that may contain a quoted message.
SUSPECT: Final = rf"(?i)(?:^|\n)[ \t]*(?:>|&gt;)|\b(?:{_VERBS})\b|---|\n[ \t_*]*(?:{_FROM}) ?:"


def quoted(text: str) -> list[tuple[int, int]]:
    """Spans of a text that are quotes, in order; none if nothing else would be left.

    >>> text = "Still broken.\\n\\nOn 3 May 2024, Ana wrote:\\n> have you tried"
    >>> [text[a:b] for a, b in quoted(text)]
    ['\\nOn 3 May 2024, Ana wrote:', '> have you tried']
    """
    lines = [match.span() for match in _QUOTED.finditer(text)]
    spans = sorted([*lines, *(_introduction(text, lines, *span) for span in _introductions(text))])
    rest, at = [], 0
    for start, end in spans:
        rest.append(text[at:start])
        at = max(at, end)
    return spans if spans and _WORD.search("".join([*rest, text[at:]])) else []


def _introductions(text: str) -> list[tuple[int, int]]:
    """Spans of the lines that introduce an earlier message."""
    found = [match.span() for pattern in (_DASHES, _HEADER) for match in pattern.finditer(text)]
    for verb in _VERB.finditer(text):
        before = text[max(verb.start() - _REACH, 0) : verb.start()]
        begins = list(_INTRODUCED.finditer(before))
        if begins and _DATE.search(before, begins[-1].start()):
            found.append((verb.start() - len(before) + begins[-1].start(), verb.end()))
    return found


def _introduction(text: str, lines: list[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """The introduction alone where marked lines follow, and with everything below it otherwise."""
    follows = any(end <= begin <= end + 3 for begin, _ in lines)
    above = _WORD.search(text[:start]) is not None
    return (start, end) if follows or not above else (start, len(text))
