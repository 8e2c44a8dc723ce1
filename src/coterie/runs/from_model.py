"""A model that was fitted in Python as a run folder, or as a report alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from coterie.embeddings import GIVEN, is_given
from coterie.errors import InputError, shown
from coterie.frames import as_polars, is_a, unique
from coterie.report import tallied, write_report
from coterie.runs.origin import about_fit, plain_parameters, reading_of
from coterie.runs.record import MARKER, OURS, Progress, recorded
from coterie.runs.remarks import remark_on_language, remark_on_texts, remarks_on_dates
from coterie.runs.steps import texts_digest
from coterie.runs.writing import added_names, run_content, write_run
from coterie.storage.files import cannot
from coterie.storage.folder import FolderLock, as_path, replaced
from coterie.text.dates import column_of, spelled, survey_dates
from coterie.text.inputs import is_unicode
from coterie.topics import TopicModel
from coterie.topics.collection import BATCH, TextStore
from coterie.topics.columns import Column, Columns, name_in_file

#: What a report of texts that are in no file is called.
TITLE = "Texts"


def save_run(model: TopicModel, folder: str | Path) -> None:
    """Write the run folder of a fitted model that has its texts; a run that was there is replaced."""
    folder = as_path(folder)
    rows = _rows_of(model)
    with (
        FolderLock(folder) as lock,
        replaced(folder, marker=MARKER, ours=OURS, lock=lock) as staging,
        recorded() as progress,
    ):
        doubts, info = _about(model, rows, TITLE, progress)
        info["data"]["reading"] = reading_of(rows.store.file, folder)
        info |= about_fit(model, folder)
        lock.acquire(make=True)
        write_run(staging, model, rows.tables(), info, progress, doubts)


def save_report(model: TopicModel, path: str | Path, title: str | None = None) -> Path:
    """Write the report of a fitted model that has its texts, and return its path."""
    path = as_path(path)
    if not path.name or "\0" in path.name or not is_unicode(str(path)):
        raise InputError(f"path must be the name of a file, such as report.html; got {shown(str(path))}")
    if not isinstance(title, str | None):
        raise InputError(f"title must be a string, got {shown(title)}")
    rows = _rows_of(model)
    with recorded() as progress:
        doubts, info = _about(model, rows, title or TITLE, progress)
    beside = path.with_name(f".{path.name}.part")
    try:
        write_report(
            beside,
            model,
            run_content(model, info, progress, doubts),
            tallied(model, rows.tables(), rows.date, rows.classes, info["data"]["day_first"]),
        )
        beside.replace(path)
    except OSError as error:
        raise cannot(path, "written", error) from error
    finally:
        beside.unlink(missing_ok=True)
    return path


@dataclass(frozen=True)
class _Rows:
    """The rows of the input: those of a file are read from there, others are in memory.

    `text`, `date` and `classes` are the names of columns; `added` are values that came beside the texts.
    """

    store: TextStore
    memory: pl.DataFrame | None
    added: dict[str, pl.Series]
    text: str
    date: str | None
    classes: str | None

    def names(self) -> list[str]:
        """The names of all columns."""
        return [*(self.store.columns if self.memory is None else self.memory.columns), *self.added]

    def tables(self) -> Iterator[pl.DataFrame]:
        """All rows, some at a time."""
        if self.memory is None:
            parts: Iterator[pl.DataFrame] = self.store.tables()
        else:
            memory = self.memory
            parts = (memory.slice(start, BATCH) for start in range(0, max(len(memory), 1), BATCH))
        start = 0
        for part in parts:
            here = [column.slice(start, len(part)).alias(name) for name, column in self.added.items()]
            yield part.hstack(here)
            start += len(part)


def _rows_of(model: TopicModel) -> _Rows:
    """The rows that a model was fitted to."""
    if model.collection is None:
        raise InputError(
            "a report and a run folder need the fitted texts, which a loaded model does not have; use "
            "coterie.open_run(folder).with_texts()"
        )
    store, columns = model.collection.texts, model.columns
    if store.file is not None:
        memory, names = None, list(store.columns)
        assert store.file.layout is not None
        text = store.file.layout.column or names[0]
    else:
        memory, text = _in_memory(columns, store)
        names = memory.columns
    added: dict[str, pl.Series] = {}
    date, classes = (_placed(column, store, names, added) for column in (columns.date, columns.classes))
    return _Rows(store, memory, added, text, date, classes)


def _in_memory(columns: Columns, store: TextStore) -> tuple[pl.DataFrame, str]:
    """The table that the texts came in, or one of the texts alone; and the name of the texts."""
    texts = store.memory
    assert texts is not None
    if columns.table is None:
        return pl.DataFrame({"text": texts}), "text"
    table = columns.table.polars()
    at = columns.table.names.index(columns.text or "")
    name = table.columns[at]
    others = [pl.col(n).map_elements(str, pl.String) for n, t in table.schema.items() if t == pl.Object]
    kept = table[name].dtype == pl.String or table[name].dtype.is_nested()
    # numbers are texts as they were counted
    return table.with_columns(others if kept else [*others, texts.alias(name)]), name


def _placed(
    column: Column | None, store: TextStore, names: list[str], added: dict[str, pl.Series]
) -> str | None:
    """The name of a column of the table; values that came beside it are added."""
    if column is None:
        return None
    if column.at is not None:
        return names[column.at]
    if column.values is None:
        return name_in_file(store, column.name)
    name = unique([*names, *added, column.name])[-1]
    added[name] = _as_series(column.values)
    return name


def _as_series(values: Any) -> pl.Series:
    if is_a(values, "pandas", "Series"):
        return as_polars(values)
    column = column_of(values, "values")
    if isinstance(column, pl.Series):
        return column
    return pl.Series([spelled(value) for value in column], dtype=pl.String)


def _about(
    model: TopicModel, rows: _Rows, title: str, progress: Progress
) -> tuple[list[str], dict[str, Any]]:
    """Doubts about the dates, and what run.json says about the data."""
    store = rows.store
    remark_on_texts(model, store.skipped)
    remark_on_language(model, store)
    doubts, day_first = [], None
    if (date := rows.date) is not None:
        order, unread = survey_dates(lambda: (table[date] for table in rows.tables()))
        progress.remarks += remarks_on_dates(unread, date)
        day_first = order.day_first
        doubts = [sentence] if order.assumed and (sentence := order.sentence(date)) else []
    return doubts, {
        "command": "",
        "parameters": plain_parameters(model, GIVEN if is_given(model.embeddings_) else model.embeddings),
        "columns": added_names(rows.names()),
        "data": {
            "source": title if store.file is None else store.file.source_name,
            "column": rows.text,
            "tokenised": bool(store.tokenised),
            "date": rows.date,
            "day_first": day_first,
            "label": rows.classes,
            "texts": model.n_texts_,
            "skipped": store.skipped,
            "sha256": texts_digest(store),
            "notes": [] if store.file is None else [note.fact for note in store.file.notes],
        },
    }
