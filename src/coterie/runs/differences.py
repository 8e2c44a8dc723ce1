"""By how much a run that was computed again differs from what it was: a phrase for each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import issparse

from coterie.runs.steps import learned
from coterie.runs.vectors import KeptVectors
from coterie.topics import TopicModel
from coterie.topics.collection import Collection, TextStore, as_strings

#: Values named in a phrase.
_MOST = 3


def of_texts(before: pl.Series | None, store: TextStore, data: Mapping[str, Any]) -> str:
    """How many rows have another text, whether only their order is another, and what was read otherwise."""
    layout = None if store.file is None else store.file.layout
    found = (data.get("reading") or {}).get("found") or {}
    read = [
        f"{part.replace('_', ' ')} {now!r:.60} instead of {found[part]!r:.60}"
        for part, now in ({} if layout is None else asdict(layout)).items()
        if part in found and found[part] != now
    ]
    return ", ".join([_rows(before, store, data), *read])


def _rows(before: pl.Series | None, store: TextStore, data: Mapping[str, Any]) -> str:
    now = store.all()
    if len(now) != data["texts"]:
        return f"{_many(len(now), 'text')} instead of {data['texts']:,}"
    if before is None:
        return "the table of the run cannot be read, so nobody knows which"
    old = as_strings(before)
    other = (old != now).arg_true()
    if not len(other):
        return "they read the same, but not as the same tokens"
    where = f"{len(other):,} of {_many(len(now), 'row')} (the first is row {other[0] + 1:,})"
    if old.sort().equals(now.sort()):
        return f"the same texts in another order in {where}"
    return f"another text in {where}"


def of_terms(before: TopicModel, now: TopicModel) -> str:
    """How many terms are new or gone, and how many are counted otherwise; empty if none."""
    old, new = before.vectorizer_.vocabulary_, now.vectorizer_.vocabulary_
    gone, added = set(old.terms) - set(new.terms), set(new.terms) - set(old.terms)
    said = [
        f"{_many(len(terms), 'term')} {what} ({_some(sorted(terms))})"
        for terms, what in ((added, "more"), (gone, "fewer"))
        if terms
    ]
    if not said and old.terms == new.terms:
        other = (old.count != new.count) | (old.document_frequency != new.document_frequency)
        if other.any():
            said.append(f"{_many(int(other.sum()), 'term')} of {len(old.terms):,} with another count")
    return " and ".join(said)


def of_embeddings(before: KeptVectors | None, collection: Collection, used: Any, now: Any) -> str:
    """Which were used then and now, else the largest difference of embeddings that the run keeps."""
    if used != now:
        return f"{used or 'none'} then, {now or 'none'} now"
    if before is None or collection.embeddings is None:
        return ""
    return _largest(before.vectors, collection.embeddings)


def of_vectors(before: TopicModel, now: TopicModel) -> str:
    """The largest difference of the vectors of terms."""
    old, new = (model.fitted.scorer.method.space for model in (before, now))
    return _largest(old.vectors, new.vectors) or _largest(old.weights, new.weights)


def of_learned(before: TopicModel, now: TopicModel) -> str:
    """How many topics were found, else the largest difference of what was learned."""
    old, new = (model.fitted.scorer.method.n_topics for model in (before, now))
    if old != new:
        return f"{_many(new, 'topic')} instead of {old:,}"
    said = [
        f"{name}: {about}"
        for one, other in zip(learned(before), learned(now), strict=False)
        for name in one
        if isinstance(one[name], np.ndarray) and (about := _largest(one[name], other.get(name)))
    ]
    more = f"; {_many(len(said) - 1, 'other array')} differ" if len(said) > 1 else ""
    return (said[0] if said else "values that are no arrays") + more


def of_topics(before: TopicModel, now: TopicModel) -> str:
    """How many topics have another size, or other terms."""
    old, new = ({topic.id: topic for topic in model.topics} for model in (before, now))
    if old.keys() != new.keys():
        return f"{_many(len(new), 'topic')} instead of {len(old):,}" if len(old) != len(new) else "other ids"
    parts = {"size": "size", "terms": "terms", "typical texts": "examples"}
    said = [
        f"{_many(number, 'topic')} with another {what}" if what == "size" else
        f"{_many(number, 'topic')} with other {what}"
        for what, part in parts.items()
        if (number := sum(getattr(old[id], part) != getattr(new[id], part) for id in old))
    ]  # fmt: skip
    one, other = before.state.description, now.state.description
    if not said and one.names != other.names:
        said.append("other names")
    return " and ".join(said) or _largest(one.centers, other.centers) or "numbers in the description"


def of_labels(before: TopicModel, now: TopicModel) -> str:
    """Which topics are called otherwise."""
    old, new = ({topic.id: topic for topic in model.topics} for model in (before, now))
    other = [
        f"{id} is {new[id].label!r:.60} instead of {old[id].label!r:.60}"
        for id in old
        if id in new and old[id].label != new[id].label
    ]
    return _some(other) or "descriptions, or the topics themselves"


def of_assignments(
    before: pl.DataFrame | None, now: pl.DataFrame, old_texts: pl.Series | None, texts: pl.Series
) -> str:
    """The share of texts whose topic changed, and what else did."""
    if before is None or old_texts is None:
        return "the table of the run cannot be read, so nobody knows which"
    if len(before) != len(now):
        return f"{_many(len(now), 'text')} instead of {len(before):,}"
    before = before.with_columns(pl.col("reason").fill_null(""))
    now = now.select(before.columns).with_columns(pl.col("reason").fill_null("")).cast(before.schema)
    old, new = (
        rows.with_columns(as_strings(column).alias("text")).sort("text", *rows.columns)
        for rows, column in ((before, old_texts), (now, texts))
    )
    if not as_strings(old_texts).equals(texts) and old.equals(new):
        return "the same for every text, which are in another order"
    counted = {
        "topic": (before["topic"].ne_missing(now["topic"])).sum(),
        "confidence": (before["confidence"].ne_missing(now["confidence"])).sum(),
        "second-best topic": (before["second"].ne_missing(now["second"])).sum(),
        "reason": (before["reason"].ne_missing(now["reason"])).sum(),
    }
    said = [
        f"another {what} for {number:,} of {_many(len(now), 'text')} ({number / len(now):.2%})"
        for what, number in counted.items()
        if number
    ]
    if counted["confidence"]:
        largest = np.abs((before["confidence"] - now["confidence"]).to_numpy()).max()
        said.append(f"confidence by at most {float(largest):.2g}")
    return ", ".join(said)


def _largest(before: Any, now: Any) -> str:
    """The largest difference of two arrays; empty if they are the same."""
    if not isinstance(now, np.ndarray) or issparse(before) or before.shape != now.shape:
        shape = getattr(now, "shape", None)
        return f"{_shape(shape)} numbers instead of {_shape(before.shape)}"
    if np.array_equal(before, now) or before.dtype.kind not in "fiu":
        return "" if np.array_equal(before, now) else "other values"
    difference = np.abs(before.astype(np.float64) - now.astype(np.float64))
    where = f"in {np.count_nonzero(difference):,} of {difference.size:,} numbers"
    return f"the largest difference is {difference.max():.2g}, {where}"


def _shape(shape: Any) -> str:
    return "no" if shape is None else " × ".join(f"{length:,}" for length in shape)


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _some(values: list[str]) -> str:
    more = f" and {len(values) - _MOST:,} more" if len(values) > _MOST else ""
    return ", ".join(values[:_MOST]) + more
