"""Non-answers: what people write into a field that they have to fill, such as n/a, none or a full stop."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np
import polars as pl

from coterie.text.languages import language_name

#: Bytes of the longest of them, with some punctuation around it.
_LONGEST: Final = 100
#: Written in every language, without spaces and signs.
_ANYWHERE: Final = "na nan nil null none test testing tbd xx xxx xxxx asdf asdfasdf qwerty"
_OF_LANGUAGE: Final = {
    "english": (
        "nothing, nope, no idea, no comment, no comments, no answer, no response, not applicable, not sure, "
        "im not sure, i am not sure, dont know, do not know, i dont know, i do not know, idk, dunno, "
        "nothing to add, nothing to say, nothing else, nothing really, nothing at all, none at all, "
        "this is a test, just a test, just testing, test test, test message, test ticket, please ignore"
    ),
    "german": (
        "ka, keine, keiner, keines, nichts, nix, keine angabe, keine angaben, keine ahnung, "
        "keine antwort, kein kommentar, weiß nicht, weiss nicht, ich weiß nicht, ich weiss nicht, "
        "weiß ich nicht, weiss ich nicht, nicht zutreffend, trifft nicht zu, entfällt, nichts weiter, "
        "das ist ein test, nur ein test"
    ),
    "french": (
        "aucun, aucune, rien, néant, ras, nsp, sans objet, sans avis, sans réponse, pas de réponse, "
        "pas de commentaire, aucun commentaire, aucune idée, je ne sais pas, je sais pas, "
        "ne sait pas, rien à signaler, rien à dire, rien à ajouter, non applicable, ceci est un test"
    ),
    "spanish": (
        "ninguno, ninguna, ningún, nada, ns, nc, nsnc, no sé, no se, no lo sé, no lo se, no sabe, "
        "no aplica, sin respuesta, sin comentarios, sin comentario, ni idea, nada que añadir, "
        "ningún comentario, esto es una prueba, prueba"
    ),
    "italian": (
        "nessuno, nessuna, niente, nulla, non so, non lo so, nessuna idea, nessun commento, "
        "nessuna risposta, non applicabile, niente da aggiungere, prova, questa è una prova"
    ),
    "portuguese": (
        "nenhum, nenhuma, nada, não sei, nao sei, sem resposta, sem comentários, sem comentario, "
        "não se aplica, nao se aplica, nenhum comentário, nada a declarar, teste, isto é um teste"
    ),
    "dutch": (
        "geen, niets, niks, nvt, niet van toepassing, weet niet, weet ik niet, ik weet het niet, "
        "geen idee, geen antwoord, geen commentaar, geen mening, dit is een test"
    ),
    "swedish": "inget, ingen, inga, ingenting, vet ej, vet inte, jag vet inte, ingen aning, inga kommentarer",
    "danish": "ingen, intet, ingenting, ved ikke, det ved jeg ikke, ingen kommentarer, ingen idé",
    "norwegian": "ingen, intet, ingenting, vet ikke, jeg vet ikke, ingen kommentar, ingen kommentarer",
    "finnish": "ei mitään, en tiedä, ei kommentteja, ei tietoa, testi",
    "russian": "ничего, не знаю, нет ответа, без комментариев, затрудняюсь ответить, тест",
    "chinese": "无, 没有, 没, 不知道, 不清楚, 暂无, 测试, 無, 沒有",
}
_SIGNS = r"[^\p{L}\p{M}\p{N}]"


def non_answers(texts: pl.Series, languages: Iterable[str]) -> pl.Series:
    """Which texts are no answer in these languages: nothing but signs, or one of the usual phrases.

    >>> non_answers(pl.Series(["N/A", " ... ", "Don't know!", "no known fault", ""]), ["english"]).to_list()
    [True, True, True, False, False]
    """
    text = pl.col("text")
    plain = text.str.to_lowercase().str.replace_all(_SIGNS, "")
    usual = plain.is_in(pl.Series(_phrases(tuple(map(language_name, languages)))).implode())
    signs = text.str.contains(r"^[\p{P}\s]*\p{P}[\p{P}\s]*$")
    short = texts.alias("text").to_frame().with_row_index().filter(text.str.len_bytes() <= _LONGEST)
    found = np.zeros(len(texts), dtype=bool)
    found[short.filter(usual | signs)["index"]] = True
    return pl.Series(found)


@cache
def _phrases(languages: tuple[str, ...]) -> list[str]:
    """The phrases of some languages, without spaces and signs."""
    phrases = [phrase for name in languages for phrase in _OF_LANGUAGE.get(name, "").split(", ")]
    return sorted({re.sub(r"\W", "", phrase) for phrase in phrases if phrase}.union(_ANYWHERE.split()))
