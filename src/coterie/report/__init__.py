"""report.html: the results of a run as one self-contained page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from coterie.topics import TopicModel

__all__ = ["write_report"]


def write_report(
    path: Path,
    model: TopicModel,
    info: Mapping[str, Any],
    *,
    dates: pl.Series | None = None,
    date_name: str = "",
    classes: pl.Series | None = None,
    class_name: str = "",
) -> None:
    """Write the report of a fitted model that has its texts; the same model and info give the same bytes.

    Parameters
    ----------
    path
        The file to write.
    model
        A fitted model with its texts.
    info
        What run.json says: data, parameters, seconds, warnings, versions, made.
    dates, classes
        A date and a class of every text, where there are any; what cannot be used is left out, and the page
        says so. `date_name` and `class_name` are the names of the columns.
    """
    from coterie.report.content import content
    from coterie.report.groups import Columns
    from coterie.report.page import page

    columns = Columns(dates, date_name, classes, class_name, info["data"].get("day_first"))
    path.write_bytes(page(content(model, info, columns)).encode("utf-8"))
