"""From a file to a run folder: the file is read once."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from coterie.embeddings import GIVEN, checked
from coterie.engines import Cluster
from coterie.errors import InputError, check_flag, shown
from coterie.runs.origin import about_fit, plain_parameters, reading_of
from coterie.runs.record import MARKER, OURS, Progress, edits_of, read_record, recorded, versions
from coterie.runs.remarks import remark_on_bytes, remark_on_language, remark_on_texts, remarks_on_dates
from coterie.runs.run import Run
from coterie.runs.work import state_of_files, work_folder
from coterie.runs.writing import added_names, write_run
from coterie.storage.folder import FolderLock, as_path, replaced
from coterie.storage.tables import has_bytes
from coterie.text.dates import survey_dates
from coterie.text.inputs import NoColumn, choose_column
from coterie.text.readers import Note, TextSource
from coterie.topics import Edit, TopicModel
from coterie.topics import edits as log
from coterie.topics.collection import TextStore
from coterie.topics.editing import adopt
from coterie.topics.edits import checked_edits

#: The option of the C library for the size of arrays that get memory of their own, and that size.
_M_MMAP_THRESHOLD, _LARGE = -3, 1 << 20


def fit_run(
    source: TextSource,
    folder: str | Path,
    model: TopicModel,
    *,
    embeddings: Any = None,
    edits: Iterable[Edit] | None = None,
    date: str | None = None,
    class_column: str | None = None,
    day_first: bool | None = None,
    command: str = "",
    vectors_file: str | Path | None = None,
    workers: Any = None,
    memory: int | None = None,
    resume: bool = False,
) -> Run:
    """Fit a model to a file and write the run folder.

    Parameters
    ----------
    source
        The file (`coterie.read_texts`); it is read once.
    folder
        Where to write: a new or empty folder, or one that a run wrote before, which is replaced.
    model
        An unfitted `TopicModel`.
    embeddings
        Embeddings of the texts, one row for each row of the file, for a model that makes none itself.
    edits
        Edits to apply; None applies those of an earlier run in the folder.
    date, class_column
        Columns with the date and the known class of each text, for the report.
    day_first
        Whether the day comes before the month in dates such as 3/4/2025; None lets the column tell.
    command
        The command line, for run.json.
    vectors_file
        The file that `embeddings` come from, for run.json.
    workers
        Who counts the texts and learns from them: a `distributed.Client` or any
        `concurrent.futures.Executor`; without one, threads of this process.
    memory
        Bytes of memory that the fit may take in this process, and in each worker. What has the size of the
        collection is kept in a folder beside the run until the run is written, as it is with `workers`. A fit
        whose terms and topics need more is refused once its terms are counted.
    resume
        Go on with a fit that was stopped, from what it left there.
    """
    folder = as_path(folder)
    vectors_file = None if vectors_file is None else as_path(vectors_file)
    check_flag("resume", resume)
    if memory is not None and (isinstance(memory, bool) or not isinstance(memory, int) or memory < 1):
        raise InputError(f"memory must be a whole number of bytes, or None; got {shown(memory)}")
    edits = None if edits is None else checked_edits(edits)
    with ExitStack() as stack:
        cluster = None
        if workers is not None or memory is not None or resume:
            about = _about(source, model, embeddings, edits_of(folder) if edits is None else edits)
            work = stack.enter_context(work_folder(folder, about, resume=resume))
            cluster = Cluster(workers, folder=work, journal=True, memory=memory)
            _give_back_memory()
        return _fitted(
            source, folder, model, embeddings, edits, _Chosen(date, class_column), day_first, command,
            vectors_file, cluster,
        )  # fmt: skip


def _give_back_memory() -> None:
    """Let the system have the memory of large arrays as soon as they are not needed, where it can be told so.

    Otherwise the system's library keeps some of it for later, and the peak grows with the number of passes.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def _about(source: TextSource, model: TopicModel, embeddings: Any, edits: Iterable[Edit]) -> dict[str, Any]:
    """All that a fit depends on, in plain values."""
    return {
        "version": versions(),
        "files": state_of_files(source),
        # not how many rows may be bad: whoever reads to the end reads the same texts
        "reading": [source.column, source.format, asdict(source.options), source.batch_rows],
        "parameters": plain_parameters(model, GIVEN if embeddings is not None else model.embeddings),
        "embeddings": None
        if embeddings is None
        else sha256(np.ascontiguousarray(checked(embeddings)).data).hexdigest(),
        "edits": log.dumps(tuple(edits)),
    }


def _fitted(
    source: TextSource,
    folder: Path,
    model: TopicModel,
    embeddings: Any,
    edits: tuple[Edit, ...] | None,
    chosen: _Chosen,
    day_first: bool | None,
    command: str,
    vectors_file: Path | None,
    cluster: Cluster | None,
) -> Run:
    with (
        FolderLock(folder) as lock,
        replaced(folder, marker=MARKER, ours=OURS, lock=lock) as staging,
        recorded() as progress,
    ):
        texts = TextStore(source, chosen.check, None if cluster is None else cluster.inside("texts"))
        with progress.timed("fit"):
            known = edits_of(folder) if edits is None else edits
            model.fit(texts, embeddings=embeddings, edits=known, cluster=cluster)
        remark_on_texts(model, texts.skipped)
        remark_on_language(model, texts)
        remark_on_bytes(texts)
        doubts, day_first = _read_dates(texts, chosen.date, day_first, progress)
        info = {
            "command": command,
            "parameters": plain_parameters(model, GIVEN if embeddings is not None else model.embeddings),
            "columns": added_names(texts.columns),
            "data": {
                "source": source.source_name,
                "column": _text_column(source),
                "tokenised": bool(texts.tokenised),
                "date": chosen.date,
                "day_first": day_first,
                "label": chosen.class_column,
                "texts": model.n_texts_,
                "skipped": texts.skipped,
                "sha256": texts.fingerprint,
                "notes": [note.fact for note in source.notes],
                "reading": reading_of(source, folder),
            },
            **about_fit(model, folder, embeddings is not None, vectors_file),
        }
        lock.acquire(make=True)
        if edits is None:  # some may have been made since
            adopt(model, edits_of(folder))
        write_run(staging, model, texts.tables(), info, progress, doubts)
    return Run(folder, model, read_record(folder))


@dataclass
class _Chosen:
    """Columns that were named, and then as they are called in the file."""

    date: str | None
    class_column: str | None

    def check(self, texts: TextStore) -> None:
        """Refuse columns that cannot be what they were chosen for, before anything is learned."""
        self.date = _checked(texts, self.date)
        self.class_column = _checked(texts, self.class_column)


def _checked(texts: TextStore, name: str | None) -> str | None:
    assert texts.file is not None
    if name is None:
        return None
    if not isinstance(name, str):
        raise InputError(f"the name of a column must be a string, got {shown(name)}")
    try:
        name = choose_column(list(texts.columns), name, texts.file.source_name)
    except NoColumn:
        if texts.complete:  # JSON may have a column later
            raise
    kind = texts.columns.get(name)
    if kind is not None and (kind.is_nested() or has_bytes(kind) or kind == pl.Duration):
        raise InputError(
            f"column {name!r} contains {str(kind)[:60]}, not dates or classes; choose a column of plain "
            "values"
        )
    return name


def _text_column(source: TextSource) -> str:
    assert source.layout is not None
    assert source.layout.column is not None
    return source.layout.column


def _read_dates(
    texts: TextStore, date: str | None, day_first: bool | None, progress: Progress
) -> tuple[list[str], bool | None]:
    """Whether the day comes first, which the file notes, and doubts about it."""
    if date is None:
        return [], None
    assert texts.file is not None
    order, unread = survey_dates(lambda: (table[date] for table in texts.tables()), day_first)
    progress.remarks += remarks_on_dates(unread, date)
    sentence = order.sentence(date)
    if sentence is None:
        return [], order.day_first
    other = "--month-first" if order.day_first else "--day-first"
    texts.file.notes.append(Note(sentence, f"{other} reads them otherwise"))
    return [sentence] if order.assumed else [], order.day_first
