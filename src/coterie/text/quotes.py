"""Find what a reply quotes: lines that begin with ">", and messages below a line that introduces them.

A message that is forwarded is no quote: it is what the text is about. So is one above which little is said.
"""

from __future__ import annotations

import re
from typing import Final

_VERBS = (
    "wrote|writes|schrieb|schreibt|a écrit|escribió|escribio|ha scritto|escreveu|schreef|skrev|kirjoitti|"
    "napisał|napisała|napsal|написал|пишет|napísal|írta|yazdı"
)
_NAMES = (
    "Original Message|Original Appointment|Ursprüngliche Nachricht|Original-Nachricht|"
    "Originalnachricht|Message d['’]origine|Message original|"
    "Mensaje original|Messaggio originale|Mensagem original|"
    "Oorspronkelijk bericht|Ursprungligt meddelande|Oprindelig meddelelse|Opprinnelig melding|"
    "Alkuperäinen viesti|Wiadomość oryginalna|Původní zpráva|Исходное сообщение"
)
_FROM = "From|Von|De|Da|Van|Od|Från|Fra|От"
_SENT = (
    "Sent|Date|Gesendet|Datum|Envoyé|Envoye|Enviado(?: el)?|Fecha|Inviato|Data|Verzonden|Skickat|Sendt|"
    "Wysłano|Отправлено"
)
_TO = (
    "To|An|À|A|Para|Aan|Do|Till|Til|Кому|Cc|Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp|Ämne|Emne|"
    "Temat|Тема"
)
_FORWARDED = re.compile(
    r"forwarded message|weitergeleitete\w* nachricht|message transféré|mensaje reenviado|messaggio inoltrato|"
    r"mensagem encaminhada|doorgestuurd bericht|vidarebefordrat meddelande|videresendt|"
    r"\n[ \t*]*(?:subject|betreff|objet|asunto|oggetto|assunto|onderwerp) ?: ?(?:fwd?|wg|tr|rv|enc) ?:",
    re.IGNORECASE,
)
_VERB = re.compile(rf"\b(?:{_VERBS})\b[^\n:]{{0,80}}:", re.IGNORECASE)
# a date, and in the same line or the one before nothing but a name
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b")
_INTRODUCED = re.compile(
    r"(?:^|\n|(?<=[.!?])\s)[ \t]*(?:On|Am|Le|El|Il|Em|Op|Den|Dnia|W dniu|Dne)\b", re.IGNORECASE
)
# not from every dash of a long line anew
_DASHES = re.compile(rf"(?<!-)-{{2,}} ?(?:{_NAMES}) ?-{{2,}}", re.IGNORECASE)
_HEADER = re.compile(
    rf"(?:^|\n)[ \t_*]*(?:{_FROM}) ?:[^\n]{{1,200}}\n[ \t*]*(?:{_SENT}) ?:[^\n]{{1,200}}"
    rf"\n[ \t*]*(?:{_TO}) ?:",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?:^|(?<=\n))[ \t]*(?:>|&gt;)[^\n]*")
_WORD = re.compile(r"[^\W\d_]+")
#: Words that a reply must have of its own; a shorter one says less than what it quotes.
_ENOUGH = 2
_REACH = 250
#: Texts that may contain a quoted message.
SUSPECT: Final = rf"(?i)(?:^|\n)[ \t]*(?:>|&gt;)|\b(?:{_VERBS})\b|---|\n[ \t_*]*(?:{_FROM}) ?:"


def quoted(text: str) -> list[tuple[int, int]]:
    """Spans of a text that are quotes, in order; none if too little else would be left.

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
    own = _WORD.findall(" ".join([*rest, text[at:]])) if spans else []
    return spans if len(own) >= _ENOUGH else []


def _introductions(text: str) -> list[tuple[int, int]]:
    """Spans of the lines that introduce an earlier message."""
    found = [match.span() for pattern in (_DASHES, _HEADER) for match in pattern.finditer(text)]
    for verb in _VERB.finditer(text):
        before = text[max(verb.start() - _REACH, 0) : verb.start()]
        begins = list(_INTRODUCED.finditer(before))
        if begins and _DATE.search(before, begins[-1].start()):
            found.append((verb.start() - len(before) + begins[-1].start(), verb.end()))
    return [
        (start, end)
        for start, end in found
        if not _FORWARDED.search(text, max(start - _REACH, 0), end + 2 * _REACH)
    ]


def _introduction(text: str, lines: list[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """The introduction alone where marked lines follow, and with everything below it otherwise."""
    follows = any(end <= begin <= end + 3 for begin, _ in lines)
    above = _WORD.search(text[:start]) is not None
    return (start, end) if follows or not above else (start, len(text))
