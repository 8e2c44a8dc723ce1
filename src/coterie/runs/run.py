"""A run folder that was read: its model, its tables, and how it is saved after edits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from sklearn.base import clone

from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError
from coterie.frames import table_of
from coterie.map.file import TextMap, read_map
from coterie.runs.record import (
    EMBEDDINGS,
    MAP,
    MARKER,
    MODEL,
    OURS,
    TABLE,
    Progress,
    check_file,
    edits_of,
    read_record,
)
from coterie.runs.relabel import Given, only_renames, relabel
from coterie.runs.table import read_table
from coterie.runs.vectors import KeptVectors, read_vectors
from coterie.runs.writing import write_run
from coterie.storage.folder import FolderLock, Outdated, read_steadily, replaced
from coterie.text.inputs import token_column
from coterie.text.nulls import without_nulls
from coterie.topics import TopicModel, state
from coterie.topics.collection import BATCH, TextStore, collect
from coterie.topics.columns import Columns
from coterie.topics.editing import described
from coterie.topics.vectors import embedded_again

T = TypeVar("T")

#: How often a run that changes while it is read is read again.
_ATTEMPTS = 50


@dataclass(eq=False)
class Run:
    """A run folder, read and checked; `info` is what run.json said when it was opened or saved."""

    folder: Path
    model: TopicModel
    info: dict[str, Any]

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {self.model.n_texts_:,} texts, {len(self.model.topics)} topics)"

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns that the run added to its tables."""
        return dict(self.info["columns"])

    @cached_property
    def table(self) -> pl.DataFrame:
        """All rows of the input with their assignments."""
        return self.read(TABLE, lambda path: read_table(path, self.info))

    def map(self) -> TextMap | None:
        """Positions of topics and texts on the map; None for runs of older versions."""
        if MAP not in self.info["files"]:
            return None
        return self.read(MAP, lambda path: read_map(path, self.info["topics"], self.info["data"]["texts"]))

    def input(self) -> pl.DataFrame:
        """All rows of the input, unchanged."""
        return self.table.drop(list(self.columns.values()))

    def texts(self) -> pl.Series:
        """The texts: strings, or lists of tokens where they came as such."""
        column = self.table[self.info["data"]["column"]]
        if self.info["data"].get("tokenised") or column.dtype.is_nested():
            return token_column(column)
        return without_nulls(column.cast(pl.String)).fill_null("")

    def vectors(self) -> KeptVectors | None:
        """The embeddings of the texts; None where the run keeps none."""
        if EMBEDDINGS not in self.info["files"]:
            return None
        return self.read(EMBEDDINGS, lambda path: read_vectors(path, self.info["data"]["texts"]))

    def with_texts(self, texts: pl.Series | None = None) -> TopicModel:
        """The model, with its texts to edit and to ask: they are counted and scored again.

        `texts` are those of `texts()`, from somebody who has them already.
        """
        model = self.model
        if model.collection is not None:
            return model
        again = clone(model.vectorizer_)
        store = TextStore(self.texts() if texts is None else texts)
        left_out = model.boilerplate_
        kept = self.vectors()
        vectors = None if kept is None else kept.all()
        collection = embedded_again(model, collect(store, again, left_out), vectors)
        if again.vocabulary_.terms != model.vectorizer_.vocabulary_.terms:
            raise InputError(
                f"{self.folder} was made by a version of coterie that processed texts differently "
                f"({self.info['versions']['coterie']}); fit again to edit it"
            )
        drawn = self.map()
        before = model.state
        if drawn is not None:
            before = replace(before, description=replace(before.description, known=drawn.known))
        model.collection = collection
        if texts is None:
            model.columns = self._columns()
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore")  # given when it was fitted
            model.state = described(model, before.edited, before=before)
        return model

    def _columns(self) -> Columns:
        """The columns of the input, with those of dates and classes that the run was made with."""
        table, data = table_of(self.input()), self.info["data"]
        assert table is not None
        columns = Columns(text=data["column"], table=table)
        date, classes = (
            columns.named(data[name], name) if data.get(name) in table.names else None
            for name in ("date", "label")
        )
        return replace(columns, date=date, classes=classes)

    def save(self, lock: FolderLock | None = None) -> Run:
        """Write the folder again after edits; refused if another process has changed it since it was opened.

        `lock` is that of the folder, from somebody who acquired it before opening the run: then others wait.
        """
        if lock is None:
            with FolderLock(self.folder).acquire() as own:
                return self.save(own)
        self._check_current(self.folder)
        model = self.model
        if only_renames(edits_of(self.folder), tuple(model.edits)):
            edited = model.state.edited
            relabel(self.folder, Given(edited.names, edited.descriptions), tuple(model.edits), lock)
            return self._written()
        frame = self.input()
        self.with_texts()
        tables = (frame.slice(start, BATCH) for start in range(0, max(len(frame), 1), BATCH))
        known = ("command", "parameters", "data", "columns", "fit", "steps")
        kept = {key: self.info[key] for key in known if key in self.info}
        progress = Progress(dict(self.info["seconds"]), list(self.info["warnings"]))
        with replaced(self.folder, marker=MARKER, ours=OURS, lock=lock) as staging:
            write_run(staging, model, tables, kept, progress)
        return self._written()

    def _written(self) -> Run:
        """This run, as it is in the folder now."""
        self.info = read_record(self.folder)
        self.__dict__.pop("table", None)  # it has new labels and topics
        return self

    def read(self, name: str, read: Callable[[Path], T]) -> T:
        """`read(path)` for a file of the run, whose checksum is right, never one of a later run."""

        def current(folder: Path) -> T:
            self._check_current(folder)
            return read(check_file(folder, name, self.info))

        return read_steadily(self.folder, current)

    def _check_current(self, folder: Path) -> None:
        if read_record(folder)["files"] != self.info["files"]:
            raise Outdated(f"{folder} was changed by another process since it was opened; open it again")


def open_run(folder: str | Path) -> Run:
    """Read and check a run folder; tables are read on first use."""
    return read_steadily(folder, _read)


def with_run(folder: str | Path, use: Callable[[Run], T]) -> T:
    """`use(open_run(folder))`; again from the start if the run is replaced before its tables are read."""
    for _ in range(_ATTEMPTS):
        with suppress(Outdated):
            return use(open_run(folder))
    raise InputError(f"{folder} is being changed by another process; try again when that has finished")


def edit_run(folder: str | Path, change: Callable[[TopicModel], object]) -> Run:
    """Open a run, change its model, with its texts, and save it; others who edit it wait meanwhile.

    ``edit_run("run", lambda model: model.edits.merge(0, 1))``
    """
    with FolderLock(folder).acquire() as lock:
        run = open_run(folder)
        change(run.with_texts())
        return run.save(lock)


def _read(folder: Path) -> Run:
    info = read_record(folder)
    for name in state.FILES:
        check_file(folder, f"{MODEL}/{name}", info)
    model = TopicModel.load(folder / MODEL)
    if set(info["topics"]) != {topic.id for topic in model.topics} or model.n_texts_ != info["data"]["texts"]:
        raise InputError(f"{folder / MODEL} does not belong to {folder / MARKER}; fit again")
    return Run(folder, model, info)
