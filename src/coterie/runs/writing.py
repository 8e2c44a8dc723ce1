"""The files of a run, written from what the model keeps: no text is read, counted or scored again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.embeddings import Vectors
from coterie.engines.records import forget, taken
from coterie.map.file import write_map
from coterie.progress import tell
from coterie.report import write_report
from coterie.report.facts import Facts
from coterie.report.tally import Tally, Tallying
from coterie.runs.record import (
    ADDED,
    EDITS,
    EMBEDDINGS,
    MAP,
    MODEL,
    REPORT,
    SHEET,
    TABLE,
    TOPICS,
    VERSION,
    Progress,
    now,
    versions,
    write_record,
)
from coterie.runs.steps import AssignmentsDigest, described_steps, fit_steps
from coterie.runs.vectors import write_vectors
from coterie.storage.tables import CsvWriter, ParquetWriter
from coterie.text.markup import readable
from coterie.topics import TopicModel, state
from coterie.topics import edits as log
from coterie.topics.answers import assignments
from coterie.topics.scores import Scores

#: Texts whose positions are looked up together.
_ROWS = 1 << 17
_READABLE = pl.element().map_elements(readable, return_dtype=pl.String)


def write_run(
    staging: Path,
    model: TopicModel,
    tables: Iterable[pl.DataFrame],
    info: dict[str, Any],
    progress: Progress,
    doubts: Sequence[str] = (),
) -> None:
    """All files of a run into an empty folder; `tables` are the rows of the input, some at a time.

    `doubts` are warnings that the caller gives to the user.
    """
    collection, described, scores = model.collection, model.state.description, model.state.scores
    assert collection is not None
    assert scores is not None
    assert described.map is not None
    assert described.known is not None
    (staging / MODEL).mkdir()
    state.write(model, staging / MODEL)
    write_topics(staging / TOPICS, model.topics.polars())
    with progress.timed("assign"):
        tally, assigned = _write_assignments(staging, model, tables, info)
    positions = partial(_positions, collection.corpus.rows, scores)
    write_map(staging / MAP, described.map, described.by_size, described.known, model.n_texts_, positions)
    write_vectors(staging / EMBEDDINGS, model)
    (staging / EDITS).write_text(log.dumps(model.edits), encoding="utf-8")
    content = run_content(model, info, progress, doubts)
    if "fit" in info:  # what an older version learned has no digests, and gets none here
        content["steps"] = {
            **(info.get("steps") or fit_steps(model)), **described_steps(model), "assignments": assigned
        }  # fmt: skip
    write_report(staging / REPORT, model, content, tally)
    write_record(staging, content)


def run_content(
    model: TopicModel, info: dict[str, Any], progress: Progress, doubts: Sequence[str] = ()
) -> dict[str, Any]:
    """What run.json says, without the checksums."""
    assert model.collection is not None
    return {
        "format": "coterie run",
        "version": VERSION,
        "made": now(),
        "versions": versions(),
        **info,
        "topics": [topic.id for topic in model.topics],
        "number_of_topics": None if model.number_of_topics_ is None else asdict(model.number_of_topics_),
        "known": model.n_known_,
        "non_answers": model.collection.corpus.n_non_answers,
        "distinct": model.collection.corpus.n_distinct,
        "edits_applied": len(model.edits) - model.state.skipped,
        "seconds": progress.seconds,
        "warnings": list(dict.fromkeys([*progress.sentences(), *doubts])),
    }


def write_topics(path: Path, topics: pl.DataFrame) -> None:
    """topics.csv, with lists as a person reads them."""
    rounded = topics.with_columns(pl.col("share", "coherence", "distinctiveness").round(4))
    joined = {
        "terms": pl.col("terms").list.join(", "),
        "examples": pl.col("examples").list.eval(_READABLE).list.join(" | "),
    }
    with CsvWriter(path) as sheet:
        sheet.write(rounded.with_columns(**joined))


def _write_assignments(
    staging: Path, model: TopicModel, tables: Iterable[pl.DataFrame], info: dict[str, Any]
) -> tuple[Tally, str]:
    """Write both tables; give back the texts counted for the report, and the digest of the assignments."""
    collection, scores, data = model.collection, model.state.scores, info["data"]
    assert collection is not None
    assert scores is not None
    typos, numbers = collection.corpus.typos, Facts(model).numbers
    start, digest = 0, AssignmentsDigest(info["columns"])
    counted = Tallying(data.get("date"), data.get("label"), data.get("day_first"))
    with ParquetWriter(staging / TABLE) as table, CsvWriter(staging / SHEET) as sheet:
        for rows in tables:
            some, copies = np.unique(collection.corpus.rows[start : start + len(rows)], return_inverse=True)
            said = scores.at(some)
            answers = assignments(model, said, typos.at(some)).polars().rename(info["columns"])
            whole = rows.hstack(answers[copies])
            table.write(whole)
            sheet.write(whole)
            digest.add(whole)
            counted.add(numbers[said.topic][copies], rows)
            start += len(rows)
            forget(collection.corpus.rows)
            tell("writing assignments", start, model.n_texts_, "texts")
    return counted.tally(), digest.hexdigest()


def _positions(rows: npt.NDArray[Any], scores: Scores) -> Iterator[npt.NDArray[np.float32]]:
    """Where texts lie on the map, some at a time."""
    for start in range(0, len(rows), _ROWS):
        yield taken(scores.position, rows[start : start + _ROWS])
        forget(rows)


def added_names(columns: Iterable[str]) -> dict[str, str]:
    """Names of the columns that are added; those that the input has already get a prefix."""
    taken, names = set(columns), {}
    for name in ADDED:
        free = name
        while free in taken:
            free = f"coterie_{free}"
        names[name] = free
        taken.add(free)
    return names


def assigned_table(
    model: TopicModel,
    rows: pl.DataFrame,
    texts: pl.Series,
    min_confidence: float = 0.0,
    embeddings: Vectors | None = None,
) -> pl.DataFrame:
    """Rows of any table with the columns that an assignment adds."""
    answers = model.assign(texts, embeddings=embeddings, min_confidence=min_confidence).polars()
    return rows.with_columns(answers.rename(added_names(rows.columns)))
