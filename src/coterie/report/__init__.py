"""report.html: the results of a run as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from coterie.report.tally import Tally
    from coterie.topics import TopicModel

__all__ = ["tallied", "write_report"]


def write_report(path: Path, model: TopicModel, info: Mapping[str, Any], tally: Tally) -> None:
    """Write the report of a fitted model that has its texts; the same model and info give the same bytes.

    Parameters
    ----------
    path
        The file to write.
    model
        A fitted model with its texts.
    info
        What run.json says: data, parameters, seconds, warnings, versions, made.
    tally
        All texts, counted by topic, and by their dates and classes where there are any.
    """
    from coterie.report.content import content
    from coterie.report.page import page

    path.write_bytes(page(content(model, info, tally)).encode("utf-8"))


def tallied(
    model: TopicModel,
    tables: Iterable[pl.DataFrame],
    dates: str | None = None,
    classes: str | None = None,
    day_first: bool | None = None,
) -> Tally:
    """Count all texts of a fitted model by topic, date and class; `tables` are their rows, some at a time.

    `dates` and `classes` are the names of columns. `day_first` says how dates such as 3/4/2025 are read.
    """
    from coterie.report.facts import Facts
    from coterie.report.tally import Tallying

    facts, counted, start = Facts(model), Tallying(dates, classes, day_first), 0
    for rows in tables:
        counted.add(facts.of_texts(start, start + len(rows)), rows)
        start += len(rows)
    return counted.tally()
