"""The files of a Delta table: those that its log says are part of the newest version.

The log is a folder of numbered files, each with the files that a version added and removed, as JSON lines.
From time to time a checkpoint, which is Parquet, has all files of a version. What the log asks of readers
beyond that is refused: reading such a table without it would give other rows than the table has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from coterie.errors import InputError
from coterie.text.readers.bytes import MAX_BYTES, Lines, on_disk, open_bytes, reported_faults
from coterie.text.readers.columnar import parquet_tables
from coterie.text.readers.remote import called

#: The folder with the log.
LOG = "_delta_log"
_COMMIT = re.compile(rf"{LOG}/(\d{{20}})\.json")
_CHECKPOINT = re.compile(rf"{LOG}/(\d{{20}})\.checkpoint(?:\.(\d{{10}})\.(\d{{10}}))?\.parquet")
#: What a table may ask of readers: these change nothing here, or are looked for where they are used.
_HARMLESS = {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
_ROWS = 10_000

Action = Mapping[str, Any]


def active_files(source_name: str, listing: Mapping[str, str]) -> list[tuple[str, dict[str, str | None]]]:
    """The files of the newest version, with the values of the columns that the table is partitioned by.

    `listing` has the paths of all files below the table, by their names there.
    """
    try:
        active, columns = _newest(source_name, listing)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the log of the Delta table {source_name} is damaged: {error!r:.100}") from error
    files = []
    for path, added in active.items():
        if any(value is not None for value in (added.get("deletionVector") or {}).values()):
            raise _unsupported(source_name, "rows that are marked as deleted (deletion vectors)")
        at = listing.get(unquote(path)) or listing.get(path)
        if at is None:
            raise InputError(
                f"the Delta table {source_name} lacks the file {path[:100]!r}, which is part of its newest "
                "version; copy the table again"
            )
        values = dict(added.get("partitionValues") or {})
        files.append((at, {name: values.get(name) or None for name in columns}))
    return files


def _newest(source_name: str, listing: Mapping[str, str]) -> tuple[dict[str, Action], list[str]]:
    """What was said last of each file of the newest version, and the columns of its partitions."""
    active: dict[str, Action] = {}
    columns: list[str] = []
    for action in _actions(source_name, listing):
        if protocol := action.get("protocol"):
            _check_protocol(source_name, protocol)
        if meta := action.get("metaData"):
            _check_mapping(source_name, meta)
            columns = list(meta.get("partitionColumns") or ())
        if added := action.get("add"):
            active[added["path"]] = added
        if removed := action.get("remove"):
            active.pop(removed["path"], None)
    return active, columns


def _actions(source_name: str, listing: Mapping[str, str]) -> Iterator[Action]:
    """What the versions did, from the last checkpoint on."""
    commits = {int(match[1]): at for name, at in listing.items() if (match := _COMMIT.fullmatch(name))}
    start, parts = _checkpoint(listing)
    newest = max([*commits, start])
    if newest < 0:
        raise InputError(f"{source_name} is a Delta table without a log; copy it again")
    for at in parts:
        yield from _checkpointed(source_name, at)
    for version in range(start + 1, newest + 1):
        if version not in commits:
            raise InputError(f"the log of the Delta table {source_name} lacks version {version}")
        yield from _committed(commits[version])


def _checkpoint(listing: Mapping[str, str]) -> tuple[int, list[str]]:
    """The newest checkpoint that is whole: its version and its files; version -1 if there is none."""
    found: dict[tuple[int, int], list[str]] = {}
    for name, at in sorted(listing.items()):
        if match := _CHECKPOINT.fullmatch(name):
            found.setdefault((int(match[1]), int(match[3] or 1)), []).append(at)
    whole = {version: parts for (version, count), parts in sorted(found.items()) if len(parts) == count}
    newest = max(whole, default=-1)
    return newest, whole.get(newest, [])


def _committed(at: str) -> Iterator[Action]:
    name = called(at)
    with reported_faults(name), open_bytes(at) as stream, Lines(stream, "utf-8", name) as lines:
        while taken := lines.take():
            yield from (json.loads(line) for line in taken if line.strip())


def _checkpointed(source_name: str, at: str) -> Iterator[Action]:
    name = called(at)
    with reported_faults(name), open_bytes(at) as stream, on_disk(at, stream) as file:
        for table in parquet_tables(Path(file), _ROWS, MAX_BYTES, name):
            if "sidecar" in table.columns and table["sidecar"].null_count() < len(table):
                raise _unsupported(source_name, "checkpoints in several parts (sidecars)")
            known = [name for name in ("protocol", "metaData", "add") if name in table.columns]
            for row in table.select(known).iter_rows(named=True):
                yield {name: _plain(value) for name, value in row.items() if value is not None}


def _plain(action: dict[str, Any]) -> Action:
    """An action as in JSON: Parquet has maps as lists of pairs, and nothing where JSON has no key."""
    return {name: _mapping(value) for name, value in action.items() if value is not None}


def _mapping(value: Any) -> Any:
    pairs = isinstance(value, list) and all(isinstance(v, dict) and {*v} == {"key", "value"} for v in value)
    return {pair["key"]: pair["value"] for pair in value} if pairs and value else value


def _check_protocol(source_name: str, protocol: Action) -> None:
    version = int(protocol.get("minReaderVersion") or 1)
    asked = set(protocol.get("readerFeatures") or ()) - _HARMLESS
    if version > 3 or asked:
        raise _unsupported(source_name, ", ".join(sorted(asked)) or f"readers of version {version}")


def _check_mapping(source_name: str, meta: Action) -> None:
    settings = dict(meta.get("configuration") or {})
    if settings.get("delta.columnMapping.mode", "none") != "none":
        raise _unsupported(source_name, "columns with other names in its files (column mapping)")


def _unsupported(source_name: str, what: str) -> InputError:
    return InputError(
        f"the Delta table {source_name} uses {what}, which coterie cannot read; write a copy without it, or "
        "pass the table that your Delta library gives"
    )
