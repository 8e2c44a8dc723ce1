"""Assign many texts on many workers: every input file, or a piece of a large one, becomes a Parquet part.

A task reads its rows, asks the model and writes one file under a temporary name, which is renamed when it is
whole: a task that runs twice writes the same file twice. The workers share a folder with whoever starts them.
A copy of the model lies beside the output, and each worker process loads it once. ``_SUCCESS`` is written
when all parts are there; a folder without it is incomplete.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from coterie.engines import ordered, workers_of
from coterie.errors import InputError
from coterie.progress import tell
from coterie.runs.writing import added_names, assigned_table
from coterie.storage import trees
from coterie.storage.files import spelled
from coterie.storage.tables import ParquetWriter
from coterie.text import Batch, TextSource, read_texts
from coterie.text.inputs import NoColumn, text_column
from coterie.text.nulls import without_nulls
from coterie.topics import TopicModel, state
from coterie.topics.vectors import RowByRow

#: Written last.
MARKER = "_SUCCESS"
#: Rows of a piece of a large file: some seconds of work.
PIECE_ROWS = 131_072
#: A file with more bytes is divided.
LARGE_BYTES = 1 << 26
_BATCH_ROWS = 20_000
#: Column of the texts in a piece that is sent; no file of users has such a name.
_TEXTS = "\x00coterie texts"


@dataclass(frozen=True)
class Work:
    """What all tasks have in common. It goes with each of them, so it is small."""

    model: Path
    out: Path
    #: Opens an input file with the options of the user.
    source: Callable[[Path], TextSource]
    #: Whether the column of the texts is only expected: see `expected_column`.
    expected: bool = False
    min_confidence: float = 0.0
    encoder: str | None = None


@dataclass(frozen=True)
class Piece:
    """One task: a whole file, some rows of a Parquet file, or a piece that was sent."""

    number: int
    path: Path
    #: The file that the user knows.
    origin: str
    column: str | None = None
    start: int = 0
    rows: int | None = None
    vectors: Path | None = None

    @property
    def sent(self) -> bool:
        """Whether somebody wrote this piece for the task."""
        return self.column == _TEXTS

    @property
    def name(self) -> str:
        """The file that the task writes."""
        return f"part-{self.number:05d}.parquet"


@dataclass(frozen=True)
class Part:
    """What a task says about the file that it wrote."""

    piece: Piece
    rows: int
    without_topic: int
    schema: tuple[tuple[str, str], ...]
    source: TextSource | None = None


@dataclass
class Written:
    """What all tasks wrote together; `sources` say how files were read, where there is something to say."""

    texts: int = 0
    without_topic: int = 0
    parts: list[dict[str, Any]] = field(default_factory=list)
    sources: list[TextSource] = field(default_factory=list)


def assign_parts(
    model: TopicModel,
    files: Iterable[str | Path],
    out: str | Path,
    workers: Any,
    source: Callable[[Path], TextSource] | None = None,
    *,
    expected: bool = False,
    min_confidence: float = 0.0,
    encoder: str | None = None,
    vectors: RowByRow | None = None,
    send: bool = False,
) -> Written:
    """Assign the texts of files on workers, into a folder that is absent or empty.

    `workers` are those of `open_executor`, or a `distributed.Client` or an executor of your own. `source`
    opens a file; by default `read_texts`, with the column that the model was fitted with.

    With `send`, or with `vectors`, whose rows must be counted, files are read here and their pieces are sent
    through a folder beside the output; otherwise only large files that are not Parquet are. `expected` says
    that the column of the sources is a guess: see `expected_column`.
    """
    if source is None:
        column = model.columns.text
        source, expected = partial(read_texts, column=column), column is not None
    with _folders(Path(out)) as (target, beside):
        work = Work(beside / "model", target, source, expected, min_confidence, encoder)
        work.model.mkdir()
        state.write(model, work.model)
        pieces = _pieces(work, map(Path, files), beside, send or vectors is not None, vectors)
        written = Written()
        for part in ordered(workers_of(workers), lambda piece: run_task(work, piece), pieces):
            _add(part, written)
        if vectors is not None:
            vectors.finish()
        _loaded.cache_clear()
        content = {
            "texts": written.texts,
            "without_topic": written.without_topic,
            "parts": [{key: part[key] for key in ("file", "from", "texts")} for part in written.parts],
        }
        (target / MARKER).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return written


def _add(part: Part, written: Written) -> None:
    """Count a part; its columns must be those of the first."""
    if written.parts and written.parts[0]["schema"] != part.schema:
        first, here = dict(written.parts[0]["schema"]), dict(part.schema)
        other = next(n for n in [*first, *here] if first.get(n) != here.get(n) or list(first) != list(here))
        raise InputError(
            f"{part.piece.origin} has other columns than {written.parts[0]['from']}: {other!r} is "
            f"{here.get(other, 'absent')} instead of {first.get(other, 'absent')}; assign them separately"
        )
    facts = {"file": part.piece.name, "from": part.piece.origin, "texts": part.rows, "schema": part.schema}
    written.parts.append(facts)
    written.texts += part.rows
    written.without_topic += part.without_topic
    if part.source is not None and (part.source.notes or part.source.skipped):
        written.sources.append(part.source)
    if part.piece.sent:
        for path in (part.piece.path, part.piece.vectors):
            if path is not None:
                path.unlink(missing_ok=True)
    tell("assigning topics", written.texts, None, "texts")


@contextmanager
def _folders(out: Path) -> Iterator[tuple[Path, Path]]:
    """The output folder and a hidden one beside it; what was written is removed if the block fails."""
    target = Path(os.path.realpath(out))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{out} is not an empty folder; choose another for the parts, or empty it")
    made = not target.exists()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.work")
    try:
        beside.mkdir(parents=True)
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{out} could not be made: {error.strerror or error}; choose another folder"
        ) from error
    try:
        yield target, beside
        for left in target.glob(".part-*"):  # by workers that died
            trees.remove(left)
    except BaseException:
        trees.remove(target)
        if not made:
            target.mkdir()
        raise
    finally:
        trees.remove(beside)


# --- how files are divided


def expected_column(source: TextSource) -> Iterator[Batch]:
    """The batches of a file whose column of texts is expected to be that of another; else the likely one."""
    batches = iter(source)
    try:
        first = next(batches)
    except NoColumn:
        source.column = None
        batches = iter(source)
        first = next(batches)
    yield first
    yield from batches


def _pieces(
    work: Work, files: Iterable[Path], beside: Path, send: bool, vectors: RowByRow | None
) -> Iterator[Piece]:
    """The tasks, in the order of the rows; those that are sent are written when they are asked for."""
    number = 0
    for path in files:
        for piece in _divided(work, path, number, beside, send, vectors):
            yield piece
            number += 1


def _divided(
    work: Work, path: Path, number: int, beside: Path, send: bool, vectors: RowByRow | None
) -> Iterator[Piece]:
    origin = spelled(path)
    send = send or not path.is_file()  # reading it says what is wrong
    total = None if send else _parquet_rows(path)
    if not send and (path.stat().st_size <= LARGE_BYTES if total is None else total <= PIECE_ROWS):
        yield Piece(number, path.absolute(), origin)
        return
    opened = work.source(path)
    batches = expected_column(opened) if work.expected else iter(opened)
    if total is not None:
        first = next(batches)  # decides which column has the texts
        assert opened.layout is not None
        column = opened.layout.column
        del batches, first
        for at, start in enumerate(range(0, total, PIECE_ROWS)):
            yield Piece(number + at, path.absolute(), origin, column, start, min(PIECE_ROWS, total - start))
        return
    waiting: list[Batch] = []
    for batch in batches:
        full = sum(len(each.texts) for each in waiting) >= PIECE_ROWS
        if waiting and (full or batch.table.schema != waiting[0].table.schema):
            yield _sent(waiting, number, origin, beside, vectors)
            number, waiting = number + 1, []
        waiting.append(batch)
    yield _sent(waiting, number, origin, beside, vectors)


def _parquet_rows(path: Path) -> int | None:
    """The rows of a Parquet file, which it tells at its end; None for any other file."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return None
    try:
        return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return 0  # whoever reads it says what is wrong


def _sent(batches: list[Batch], number: int, origin: str, beside: Path, vectors: RowByRow | None) -> Piece:
    """Write rows that were read here where workers find them."""
    table = pl.concat([batch.table.with_columns(batch.texts.alias(_TEXTS)) for batch in batches])
    path = beside / f"{number}.parquet"
    table.write_parquet(path)
    if vectors is None:
        return Piece(number, path, origin, _TEXTS)
    rows = beside / f"{number}.npy"
    np.save(rows, vectors.take(len(table)), allow_pickle=False)
    return Piece(number, path, origin, _TEXTS, vectors=rows)


# --- on a worker


def run_task(work: Work, piece: Piece) -> Part:
    """Read a piece, ask the model, write a part."""
    for needed in (work.out, work.model, piece.path):
        if not needed.exists():
            raise InputError(
                f"the worker on {socket.gethostname()} does not see {needed}; put the input and the output "
                "on storage that all workers share"
            )
    model = _model(work)
    rows = without = 0
    source: TextSource | None = None
    if piece.rows is None and not piece.sent:
        source = work.source(piece.path)
        whole_file = expected_column(source) if work.expected else source
        batches: Iterable[tuple[pl.DataFrame, pl.Series, Any]] = (
            (batch.table, batch.texts, None) for batch in whole_file
        )
    else:
        batches = _read(piece)
    with ParquetWriter(work.out / piece.name) as writer:
        for table, texts, vectors in batches:
            whole = assigned_table(model, table, texts, work.min_confidence, vectors)
            without += whole[added_names(table.columns)["topic"]].null_count()
            rows += len(whole)
            writer.write(whole)
            schema = tuple((name, str(dtype)) for name, dtype in whole.schema.items())
    return Part(piece, rows, without, schema, source)


def _read(piece: Piece) -> Iterator[tuple[pl.DataFrame, pl.Series, Any]]:
    """Some rows of a Parquet file: tables with their texts and embeddings, a batch at a time."""
    assert piece.column is not None
    try:
        scan = pl.scan_parquet(piece.path, glob=False, hive_partitioning=False)
        frame = scan.slice(piece.start, piece.rows).collect()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        what = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{piece.origin} could not be read as Parquet: {what[:200]}") from error
    if piece.rows is not None and len(frame) != piece.rows:
        raise InputError(f"{piece.origin} was changed while it was read; assign it again")
    vectors = None if piece.vectors is None else np.load(piece.vectors, mmap_mode="r")
    for start in range(0, len(frame), _BATCH_ROWS):
        table = frame.slice(start, _BATCH_ROWS)
        texts = text_column(without_nulls(table[piece.column]))
        some = None if vectors is None else np.asarray(vectors[start : start + len(table)])
        yield (table.drop(_TEXTS) if piece.sent else table), texts, some


_LOADING = threading.Lock()


def _model(work: Work) -> TopicModel:
    with _LOADING:  # threads that begin together load it once
        return _loaded(work.model, work.encoder)


@lru_cache(maxsize=2)
def _loaded(folder: Path, encoder: str | None) -> TopicModel:
    return TopicModel.load(folder, embeddings=encoder)
