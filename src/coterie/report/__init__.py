"""report.html: what a run found, as one page that opens anywhere and asks nothing of the network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

    from coterie.map.layout import TopicMap
    from coterie.topics import TopicModel

__all__ = ["write_report"]


def write_report(
    path: Path,
    model: TopicModel,
    info: Mapping[str, Any],
    *,
    confidence: npt.NDArray[np.float64],
    dates: pl.Series | None = None,
    date_name: str = "",
    classes: pl.Series | None = None,
    class_name: str = "",
    points: TopicMap | None = None,
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
    confidence
        Of every text, in the order of `model.labels_`.
    dates, classes
        A date and a class of every text, where there are any; what cannot be used is left out, and the page
        says so. `date_name` and `class_name` are the names of the columns.
    points
        The map of the model, where it was learned already.
    """
    from coterie.report.content import content
    from coterie.report.groups import Columns
    from coterie.report.page import page

    columns = Columns(dates, date_name, classes, class_name)
    shown = content(model, info, np.asarray(confidence, dtype=np.float64), columns, points)
    path.write_bytes(page(shown).encode("utf-8"))
