"""Topics of a run under other labels, without the model: only what shows a label is written again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from coterie.errors import InputError
from coterie.report.page import content_of, page
from coterie.results import Topic
from coterie.runs.record import (
    EDITS,
    EMBEDDINGS,
    MAP,
    MARKER,
    MODEL,
    OURS,
    REPORT,
    SHEET,
    TABLE,
    TOPICS,
    check_file,
    now,
    read_record,
    versions,
    write_record,
)
from coterie.runs.steps import digest_of_labels
from coterie.runs.table import read_table
from coterie.storage.files import same_file
from coterie.storage.folder import FolderLock, read_steadily, replaced
from coterie.storage.state import ARRAYS_FILE, STATE_FILE, arrays_of, read_values, rewrite_state
from coterie.storage.tables import CsvWriter, ParquetWriter, read_csv
from coterie.topics import edits as log
from coterie.topics.edits import Edit, Reference
from coterie.topics.labels import topic_labels

#: Rows written at a time.
_ROWS = 1 << 22


@dataclass(frozen=True)
class Given:
    """What was given to topics, by id: names and descriptions."""

    names: Mapping[int, str]
    descriptions: Mapping[int, str]


@dataclass(frozen=True)
class Renamed:
    """What `rename` did: the edits, and the topics whose labels or descriptions are others now."""

    edits: list[Edit]
    changed: list[Topic]


def rename(folder: Path, topic: int | str, label: str) -> Renamed:
    """Give a topic of a run another label, as ``model.edits.rename`` and ``run.save`` would."""
    return rename_topics(folder, {topic: label})


def rename_topics(
    folder: Path, names: Mapping[int | str, str], descriptions: Mapping[int | str, str] | None = None
) -> Renamed:
    """Give topics of a run other labels, and some of them descriptions; all or none."""
    with FolderLock(folder).acquire() as lock:
        info, data, before = read_steadily(folder, _read)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        edits = []
        for topic, label in names.items():
            to = (Reference.to(log.named_topic(topic, before)),)
            edits.append(
                Edit("rename", to, label, made=made, description=(descriptions or {}).get(topic, ""))
            )
            log.check(edits[-1])
        given = _given(data)
        new = {edit.topics[0].id: edit for edit in edits}
        said = {topic: edit.description.strip() for topic, edit in new.items() if edit.description.strip()}
        called = {topic: edit.label.strip() for topic, edit in new.items()}
        given = Given({**given.names, **called}, {**given.descriptions, **said})
        relabel(folder, given, (*log.loads(data["edits"], "the edits of the model"), *edits), lock)
        after = _topics(folder, data, info)
    return Renamed(edits, [new for old, new in zip(before, after, strict=True) if old != new])


def _given(data: dict[str, Any]) -> Given:
    """What was given to the topics of a model before."""
    names, descriptions = (
        {int(number): str(given) for number, given in data.get(part, [])}
        for part in ("names", "descriptions")
    )
    return Given(names, descriptions)


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Any], list[Topic]]:
    """The record, the state of the model, and the topics of a run."""
    info = read_record(folder)
    check_file(folder, f"{MODEL}/{STATE_FILE}", info)
    data = _values(folder)
    return info, data, _topics(folder, data, info)


def _values(folder: Path) -> dict[str, Any]:
    """The plain values of the model, and the terms of its topics."""
    data = read_values(folder / MODEL, "model")
    try:
        data["description"]["terms"] = arrays_of(folder / MODEL, data["description"]["terms"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder / MODEL} is damaged: {error!r:.100}; fit again") from None
    return data


def _topics(folder: Path, data: dict[str, Any], info: dict[str, Any]) -> list[Topic]:
    """The topics as topics.csv has them."""
    terms = dict(zip(info["topics"], _terms(data), strict=True))
    return [
        Topic(
            id=int(row["topic"]),
            label=row["label"] or "",
            terms=tuple(terms[int(row["topic"])]),
            weights=(),
            size=int(row["size"]),
            share=float(row["share"]),
            coherence=float(row["coherence"]),
            distinctiveness=float(row["distinctiveness"]),
            examples=(row["examples"] or "",),
            description=row.get("description") or "",
        )
        for row in read_csv(folder / TOPICS).iter_rows(named=True)
    ]


def only_renames(before: Sequence[Edit], after: Sequence[Edit]) -> bool:
    """Whether one log becomes the other by adding renames at its end, or taking some away."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return all(edit.kind == "rename" for edit in (*before[same:], *after[same:]))


def relabel(folder: Path, given: Given, edits: Sequence[Edit], lock: FolderLock) -> None:
    """Write a run anew with the names and descriptions given, and the log of edits that led to them."""
    info = read_record(folder)
    data = _values(folder)
    ids: list[int] = info["topics"]
    automatic = data["description"].get("names", [])
    labels = dict(zip(ids, topic_labels(_terms(data), ids, given.names, automatic), strict=True))
    with replaced(folder, marker=MARKER, ours=OURS, lock=lock) as staging:
        (staging / MODEL).mkdir()
        changed = {
            "names": [[topic, name] for topic, name in given.names.items()],
            "descriptions": [[topic, said] for topic, said in given.descriptions.items()],
            "edits": log.dumps(edits),
        }
        rewrite_state(folder / MODEL, staging / MODEL, changed)
        with _reported(folder / TOPICS):
            _relabel_topics(folder, staging, labels, given.descriptions)
        _relabel_rows(folder, staging, info, labels)
        for name in (MAP, EMBEDDINGS):
            if name in info["files"]:
                _keep(folder / name, staging / name)
        (staging / EDITS).write_text(log.dumps(edits), encoding="utf-8")
        before, applied = _count(data["edits"]), info.get("edits_applied")
        skipped = 0 if applied is None else before - applied
        if info.get("steps"):
            info["steps"] |= {"labels": digest_of_labels(ids, labels, given.descriptions)}
        record = {**info, "made": now(), "versions": versions(), "edits_applied": len(edits) - skipped}
        if (folder / REPORT).exists():  # somebody may have moved it
            with _reported(folder / REPORT):
                old = check_file(folder, REPORT, info)
                _relabel_report(old, staging / REPORT, record, labels, given.descriptions, edits)
        same = (f"{MODEL}/{ARRAYS_FILE}", MAP, EMBEDDINGS)
        write_record(staging, record, {name: info["files"][name] for name in same if name in info["files"]})


def _keep(old: Path, new: Path) -> None:
    """A file that no label changes."""
    if not old.exists():
        raise InputError(f"{old} is missing; fit again")
    same_file(old, new)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """A file that does not fit the others is damaged."""
    try:
        yield
    except InputError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path} is damaged: {error!r:.200}; fit again") from error


def _count(edits: str) -> int:
    return len(log.loads(edits, "the edits of the model"))


def _terms(data: dict[str, Any]) -> list[list[str]]:
    """The terms of each topic as people write them."""
    display = data["vectorizer"]["display"]
    return [[display[int(column)] for column in columns] for columns in data["description"]["terms"]]


def _relabel_topics(
    folder: Path, staging: Path, labels: Mapping[int, str], descriptions: Mapping[int, str]
) -> None:
    topics = read_csv(folder / TOPICS)
    whole, fractions = ("topic", "size"), ("share", "coherence", "distinctiveness")
    typed = topics.with_columns(pl.col(*whole).cast(pl.Int64), pl.col(*fractions).cast(pl.Float64))
    with CsvWriter(staging / TOPICS) as sheet:
        label = pl.Series([labels[topic] for topic in typed["topic"]])
        description = pl.Series([descriptions.get(topic, "") for topic in typed["topic"]], dtype=pl.String)
        sheet.write(typed.with_columns(label=label, description=description))


def _relabel_rows(folder: Path, staging: Path, info: dict[str, Any], labels: Mapping[int, str]) -> None:
    names = info["columns"]
    rows = read_table(check_file(folder, TABLE, info), info)
    new = rows[names["topic"]].replace_strict(list(labels), list(labels.values()), return_dtype=pl.String)
    rows = rows.with_columns(new.alias(names["label"]))
    with ParquetWriter(staging / TABLE) as table, CsvWriter(staging / SHEET) as sheet:
        for start in range(0, max(len(rows), 1), _ROWS):
            table.write(rows.slice(start, _ROWS))
            sheet.write(rows.slice(start, _ROWS))


def _relabel_report(
    old: Path,
    new: Path,
    record: dict[str, Any],
    labels: Mapping[int, str],
    descriptions: Mapping[int, str],
    edits: Sequence[Edit],
) -> None:
    from coterie.report.wording import edit_lines, topic_description, topic_label

    content = content_of(old.read_text(encoding="utf-8"))
    for topic in content["topics"]:
        topic["label"] = topic_label(labels[topic["id"]])
        topic["description"] = topic_description(descriptions.get(topic["id"], ""))
    content["facts"]["made"] = record["made"]
    content |= edit_lines(edits)
    new.write_bytes(page(content).encode("utf-8"))
