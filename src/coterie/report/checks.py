"""Checks that the report shows, whether they pass or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.report.wording import many, share, shortened
from coterie.results import Topic
from coterie.text.boilerplate import Boilerplate

Array = npt.NDArray[np.float64]

#: From these shares of the texts on, something deserves a look.
_UNKNOWN, _COPIES, _UNSURE = 0.05, 0.10, 0.35
#: A text is unsure below this confidence.
UNSURE = 0.5
#: A topic is tiny below this share or this number of texts.
TINY_SHARE, TINY_SIZE = 0.005, 5
#: Centres of topics with a larger cosine overlap; so many pairs are named.
OVERLAP, _PAIRS = 0.8, 8
_WARNINGS, _PATTERNS = 20, 20


def check(look: bool, text: str, **more: Any) -> dict[str, Any]:
    """A remark; `look` where something deserves a look. `more`: a quote, topics or pairs to link to."""
    return {"look": look, "well": False, "text": text, **more}


def well(text: str) -> dict[str, Any]:
    """A remark that everything is as it should be: only these get a tick."""
    return {"look": False, "well": True, "text": text}


def run_warnings(warnings: Sequence[Any]) -> list[dict[str, Any]]:
    """What the run itself warned of."""
    said = [check(True, shortened(str(warning), 400)) for warning in warnings[:_WARNINGS]]
    if len(warnings) > _WARNINGS:
        said.append(check(True, f"There were {len(warnings) - _WARNINGS:,} more warnings; see run.json."))
    return said


def unknown(n_known: int, n_texts: int, n_non_answers: int) -> dict[str, Any]:
    """Texts without a known word; some of them are no answer."""
    lost = n_texts - n_known
    if not lost:
        return well("Every text has a known word.")
    hold = "has no known word and is in no topic" if lost == 1 else "have no known word and are in no topic"
    return check(
        lost >= _UNKNOWN * n_texts,
        f"{many(lost, 'text')} ({share(lost, n_texts)}) {hold}."
        + (f" Non-answers such as “n/a” among them: {n_non_answers:,}." if n_non_answers else ""),
    )


def boilerplate(found: Boilerplate, n_texts: int) -> list[dict[str, Any]]:
    """What was left out of the counts: each pattern, how many texts have it, and one of them."""
    if not found:
        return []
    said = f"{many(found.texts, 'text')} ({share(found.texts, n_texts)})"
    first = check(
        True,
        f"Parts of {said} were left out of the counts, because they recur in texts about different "
        f"things: {found}. To count them, fit again with --keep-boilerplate, or choose it on the live page.",
    )
    ordered = sorted(found.patterns, key=lambda pattern: (-pattern.texts, pattern.words))[:_PATTERNS]
    return [
        first,
        *(
            check(
                False,
                f"Left out of {many(p.texts, 'text')}: {p}. For example:",
                quote=shortened(p.example, 200),
            )
            for p in ordered
        ),
    ]


def copies(n_distinct: int, n_texts: int, most: int, text: str) -> dict[str, Any]:
    """Texts that repeat others; `most` is how often the most frequent one, `text`, occurs."""
    extra = n_texts - n_distinct
    if not extra:
        return well("No text is a copy of another.")
    repeat = "repeats another" if extra == 1 else "repeat others"
    return check(
        extra >= _COPIES * n_texts,
        f"{many(extra, 'text')} ({share(extra, n_texts)}) {repeat}. The most frequent one occurs "
        f"{many(most, 'time')}:",
        quote=shortened(text, 140) or "(empty)",
    )


def tiny(topics: Sequence[Topic]) -> dict[str, Any]:
    """Topics of very few texts."""
    small = [topic.id for topic in topics if topic.share < TINY_SHARE or topic.size < TINY_SIZE]
    if not small:
        return well("No topic is tiny.")
    said = "1 topic is tiny" if len(small) == 1 else f"{len(small)} topics are tiny"
    return check(True, f"{said}: less than 0.5 % of the texts, or fewer than 5.", topics=small[:40])


def overlaps(similarity: Array, ids: Sequence[int]) -> dict[str, Any]:
    """Pairs of topics that may be one, the most alike first."""
    one, other = np.triu_indices(len(ids), 1)
    value = similarity[one, other]
    found = np.flatnonzero(value > OVERLAP)
    if not len(found):
        if len(ids) == 1:
            return check(False, "There is only one topic.")
        return well("No two topics are very similar.")
    best = found[np.argsort(-value[found], kind="stable")]
    pairs = [[ids[one[at]], ids[other[at]], round(float(value[at]), 2)] for at in best[:_PAIRS]]
    number = "One pair" if len(found) == 1 else f"{len(found)} pairs"
    rest = f" The {_PAIRS} most similar:" if len(found) > _PAIRS else ""
    return check(
        True, f"{number} of topics may be the same topic: their texts use similar words.{rest}", pairs=pairs
    )


def unsure(doubtful: int, n_texts: int) -> dict[str, Any]:
    """Texts whose topic is a guess: those with a confidence below `UNSURE`."""
    if not doubtful:
        return well("No text has a confidence below 0.5.")
    have = "has a confidence below 0.5: it" if doubtful == 1 else "have a confidence below 0.5: they"
    return check(
        doubtful >= _UNSURE * n_texts,
        f"{many(doubtful, 'text')} ({share(doubtful, n_texts)}) {have} may belong to another topic.",
    )
