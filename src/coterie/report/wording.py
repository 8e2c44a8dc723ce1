"""Words for numbers and texts, as the page shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from coterie.embeddings import GIVEN

_SPACES = re.compile(r"\s+")
#: Controls that show as nothing, surrogates that no encoding knows.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")

#: Edits that are listed.
_EDITS = 200


def shortened(text: str, most: int) -> str:
    """A text on one line, without control characters, of at most so many characters.

    >>> shortened("a\\n long  text", 8)
    'a long …'
    """
    line = _SPACES.sub(" ", _UNSEEN.sub("\ufffd", text[: 4 * most + 64])).strip()
    return line if len(line) <= most and len(text) <= 4 * most + 64 else line[: most - 1] + "…"


def share(part: float, whole: float) -> str:
    """A share in percent: one decimal below 10 and above 99, halves go up; `percent` in numbers.js agrees.

    >>> share(1, 3), share(0, 5), share(1, 1000), share(999, 1000), share(1, 10_000)
    ('33 %', '0 %', '0.1 %', '99.9 %', '<0.1 %')
    """
    percent = 100 * part / whole if whole else 0.0
    tenths = math.floor(10 * percent + 0.5)
    if tenths == 0 and percent > 0:
        return "<0.1 %"
    if tenths == 1000 and percent < 100:
        return ">99.9 %"
    if 0 < tenths < 100 or 990 < tenths < 1000:
        return f"{tenths / 10:.1f} %"
    return f"{math.floor(percent + 0.5)} %"


def points(change: float, low: float, high: float) -> str:
    """A change of a share in percentage points, with its interval; small ones with two decimals.

    >>> points(0.0191, 0.004, 0.0344), points(-0.2, -0.25, 0.0001), points(0.0004, 0.0001, 0.0007)
    ('+1.9 (+0.4 to +3.4)', '−20.0 (−25.0 to +0.0)', '+0.04 (+0.01 to +0.07)')
    """
    digits = 2 if max(abs(low), abs(high)) < 0.01 else 1
    said = [f"{100 * value:+.{digits}f}".replace("-", "−") for value in (change, low, high)]
    return f"{said[0]} ({said[1]} to {said[2]})"


def many(number: int, one: str, more: str = "") -> str:
    """A number with its noun.

    >>> many(1, "text"), many(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def coherence(value: float) -> str:
    """What a coherence means."""
    if value >= 0.15:
        return "its words often occur together"
    if value >= -0.1:
        return "its words sometimes occur together"
    return "its words rarely occur together: read its texts before you trust the label"


def found_again(found: int, runs: int, agreement: float) -> list[Any]:
    """The stability of a topic: its mean overlap with its match, and in how many fits it was found.

    >>> found_again(9, 10, 0.876)
    [0.88, 'found in 9 of 10 fits with other random states']
    """
    fits = "1 fit with another random state" if runs == 1 else f"{runs} fits with other random states"
    return [round(agreement, 2), f"found in {found} of {fits}"]


def distinctiveness(value: float) -> str:
    """What a distinctiveness means."""
    if value >= 0.7:
        return "its words are mostly used in this topic"
    if value >= 0.4:
        return "its words are also used in other topics"
    return "its words are used more often in other topics"


def _in_brackets(about: Any) -> str:
    """What was said about a predefined topic: its words, its description, or the number of examples."""
    if not isinstance(about, Mapping):
        about = {"description": about} if isinstance(about, str) else {"words": about}
    examples = len(about.get("examples") or ())
    parts = [
        ", ".join(map(str, about.get("words") or ())),
        str(about.get("description") or ""),
        many(examples, "example") if examples else "",
    ]
    said = "; ".join(filter(None, parts))
    return f" ({said})" if said else ""


def _settings(value: Any) -> str:
    """A name, or the settings of an object as run.json has them: the class, and what is set."""
    if not isinstance(value, Mapping):
        return str(value)
    steps = value.get("steps")
    if isinstance(steps, list):
        return ", ".join(map(_settings, steps))
    kind = value.get("class") or value.get("sklearn") or "Vectorizer"
    inside = value.get("settings")
    settings = inside if isinstance(inside, Mapping) else value
    listed = [
        f"{name}={setting!r}"
        for name, setting in settings.items()
        if name not in ("class", "sklearn") and setting is not None and setting != []
    ]
    return f"{kind}({', '.join(listed)})"


def asked(parameters: Mapping[str, Any], n_topics: int) -> list[str]:
    """What was asked for, in sentences."""
    wanted = parameters.get("n_topics", "auto")
    said = [
        "The number of topics was estimated."
        if wanted == "auto"
        else f"{many(int(wanted), 'topic')} {'was' if int(wanted) == 1 else 'were'} requested."
        if isinstance(wanted, int)
        else f"There are {many(n_topics, 'topic')}."
    ]
    said.append(f"Method: {shortened(_settings(parameters.get('method', 'coterie')), 80)}.")
    language = parameters.get("language", "english")
    names = [language] if isinstance(language, str) else list(language or [])
    said.append(f"Language: {shortened(', '.join(map(str, names)), 80)}.")
    earlier = parameters.get("seed_words", parameters.get("seeds"))
    if known := parameters.get("predefined", earlier):
        listed = "; ".join(f"{name}{_in_brackets(about)}" for name, about in dict(known).items())
        said.append(f"Predefined topics: {shortened(listed, 400)}.")
    if (source := parameters.get("embeddings")) is not None:
        named = shortened(str(source), 80)
        said.append(
            "Embeddings were given with the texts." if source == GIVEN else f"Embeddings were used: {named}."
        )
    if parameters.get("vectorizer") is not None:
        said.append(f"Vectorizer: {shortened(_settings(parameters['vectorizer']), 200)}.")
    if parameters.get("keep_boilerplate"):
        said.append("What recurs in texts about different things was counted too.")
    if parameters.get("random_state") not in (0, None):
        said.append(f"Random state: {shortened(str(parameters['random_state']), 40)}.")
    return said


def topic_label(label: str) -> str:
    """The label of a topic, cut if it is very long."""
    return shortened(label, 90)


def topic_description(description: str) -> str:
    """The description of a topic, cut if it is very long."""
    return shortened(description, 300)


def edit_lines(edits: Sequence[Any]) -> dict[str, Any]:
    """The first edits as sentences, and how many more there are."""
    return {
        "edits": [shortened(str(edit), 200) for edit in edits[:_EDITS]],
        "moreEdits": max(len(edits) - _EDITS, 0),
    }
