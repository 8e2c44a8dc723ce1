"""The first lines of a page, about those who wrote the texts: what is biggest, what grew, is new and fell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.report.tally import Tally
from coterie.report.wording import many, points, share, shortened
from coterie.results import Topic
from coterie.text.markup import readable
from coterie.topics.changes import Changes, share_limits

#: Topics of one kind that are named, and characters of a typical text.
_NAMED, _TEXT = 3, 200
_KINDS = {"grew": "Grew", "new": "New", "fell": "Fell"}


def findings(topics: Sequence[Topic], tally: Tally, found: Changes | None) -> dict[str, Any]:
    """Sentences about topics, the largest first."""
    items = [_biggest(topics, tally)] if (tally.topics >= 0).any() else []
    return {"items": items + _changed(found, topics), "note": _note(found)}


def _biggest(topics: Sequence[Topic], tally: Tally) -> dict[str, Any]:
    """The largest topic and its share of all texts, as in the list of topics."""
    known = float(np.average(tally.topics >= 0, weights=tally.texts))
    found = share_limits(tally.topics, len(topics), tally.days, tally.texts)
    low, high = (limit[0] * known for limit in found)
    first, interval = topics[0], f"{share(low, 1)} to {share(high, 1)}"
    return _item("Biggest", first, f"{many(first.size, 'text')}, {share(first.share, 1)} ({interval})")


def _changed(found: Changes | None, topics: Sequence[Topic]) -> list[dict[str, Any]]:
    """The clearest changes of each kind, the largest first."""
    if found is None:
        return []
    told, trends = [found.comparisons[at] for at in found.clearest], found.trends
    items = []
    for kind, title in _KINDS.items():
        some = [at for at, said in enumerate(trends) if said == kind]
        some.sort(key=lambda at: -abs(told[at].change[at]))
        items += [_item(title, topics[at], sentence(found, at)) for at in some[:_NAMED]]
    return items


def sentence(found: Changes, at: int) -> str:
    """The change of a topic in words, clear or not."""
    one = found.comparisons[found.clearest[at]]
    now = f"{many(int(found.texts[at]), 'text')}, {share(found.share[at], 1)} ({found.span})"
    change = points(float(one.change[at]), float(one.low[at]), float(one.high[at]))
    return f"{now}, after {share(one.share[at], 1)} ({one.span}): {change} percentage points"


def _note(found: Changes | None) -> str:
    """What was compared, and how sure that is."""
    if found is None:
        return ""
    compared = " and ".join(f"{one.span} ({one.name})" for one in found.comparisons)
    clear = sum(said != "" for said in found.trends)
    said = f"{many(clear, 'topic')} clearly changed" if clear else "No topic clearly grew or fell"
    return (
        f"{said} in {found.span} against {compared}. Shares are compared, so a {found.unit} that is not over "
        "does not look like a fall. If nothing had changed, a topic would be named in at most 5 of 100 files."
    )


def _item(kind: str, topic: Topic, sentence: str) -> dict[str, Any]:
    quote = shortened(readable(topic.examples[0]), _TEXT) if topic.examples else ""
    return {"kind": kind, "topic": topic.id, "text": sentence, "quote": quote}
