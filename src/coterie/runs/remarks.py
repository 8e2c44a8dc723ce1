"""Warnings about the texts of a run."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from coterie.storage.tables import has_bytes
from coterie.text.guess import likely_language
from coterie.text.inputs import listed

#: Texts that are looked at to guess their language.
_LOOKED_AT = 20_000

if TYPE_CHECKING:
    from coterie.text.dates import Unread
    from coterie.topics import TopicModel
    from coterie.topics.collection import TextStore


def remark_on_texts(model: TopicModel, skipped: int) -> None:
    """Warnings that matter: many rows left out, many texts without a word."""
    if skipped > 0.1 * (skipped + model.n_texts_):
        warnings.warn(
            f"skipped {skipped:,} of {skipped + model.n_texts_:,} rows that could not be read; "
            "are the encoding and the delimiter right?",
            stacklevel=2,
        )
    lost = model.n_texts_ - model.n_known_
    if lost > 0.2 * model.n_texts_:
        warnings.warn(
            f"{lost:,} of {model.n_texts_:,} texts share no word with others and are in no topic. "
            "Are the column and the language right?",
            stacklevel=2,
        )


def remark_on_language(model: TopicModel, texts: TextStore) -> None:
    """Say so if the texts seem to be in another language: its small words would become topics."""
    if model.vectorizer is not None or texts.tokenised:
        return
    named = [model.language] if isinstance(model.language, str) else list(model.language)
    likely = likely_language(next(iter(texts.batches())).head(_LOOKED_AT), named)
    if likely is not None:
        warnings.warn(
            f"the texts seem to be {likely.capitalize()} but were processed as {', '.join(named)}; "
            f"the language {likely} may give better topics",
            stacklevel=2,
        )


def remark_on_bytes(texts: TextStore) -> None:
    """Name the columns that a CSV file cannot have."""
    names = [name for name, kind in texts.columns.items() if has_bytes(kind)]
    if names:
        which = f"column {listed(names)} contains" if len(names) == 1 else f"columns {listed(names)} contain"
        warnings.warn(
            f"{which} bytes, which are not text: left out of assignments.csv, kept in assignments.parquet",
            stacklevel=2,
        )


def remarks_on_dates(bad: Unread | None, name: str) -> list[str]:
    """What to say about dates that cannot be read: they count as none."""
    if bad is None:
        return []
    many = f"{bad.count:,} dates" if bad.count > 1 else "1 date"
    return [f"{many} in column {name!r} could not be read: {bad.sentence}"]
