"""The run folder: what ``coterie fit`` leaves behind, and everything that is done with it later.

    model/                      the model (JSON and arrays)
    topics.csv                  what the topics are
    assignments.parquet, .csv   all columns of the input and the topic of each row
    edits.json                  the log of edits, in order
    map.safetensors             where topics and texts lie on the map
    report.html                 all of it as one page
    run.json                    parameters, versions, fingerprint of the data, timings, warnings, checksums

A folder is replaced as a whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

from coterie import __version__
from coterie.errors import InputError
from coterie.map.file import Known, TextMap, learn_map, placed, read_map, with_texts, write_map
from coterie.progress import tell
from coterie.report import write_report
from coterie.runs.remarks import remark_on_language, remark_on_texts, remarks_on_dates
from coterie.storage.files import checksum, read_json
from coterie.storage.folder import replaced, steadily
from coterie.storage.tables import CsvWriter, ParquetWriter, read_parquet
from coterie.text.readers import TextSource
from coterie.topics import Edit, TopicModel, sources, state
from coterie.topics import edits as log
from coterie.topics.learning import checked_seeds, count
from coterie.topics.placing import Seen
from coterie.topics.sources import BATCH, Texts

MARKER = "run.json"
MODEL, TOPICS, TABLE, SHEET, EDITS = (
    "model",
    "topics.csv",
    "assignments.parquet",
    "assignments.csv",
    "edits.json",
)
REPORT, MAP = "report.html", "map.safetensors"
OURS = (MODEL, TOPICS, TABLE, SHEET, EDITS, MARKER, REPORT, MAP)
VERSION = 1
#: Columns that a run adds to those of the input.
ADDED = ("topic", "label", "confidence", "second", "reason")
_PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "safetensors")


@dataclass(frozen=True)
class Run:
    """A run folder that was read and checked; `info` is what run.json says."""

    folder: Path
    model: TopicModel
    info: dict[str, Any]

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {self.model.n_texts_:,} texts, {len(self.model.topics)} topics)"

    @property
    def columns(self) -> dict[str, str]:
        """What the columns that the run added are called in its tables."""
        return dict(self.info["columns"])

    @cached_property
    def table(self) -> pl.DataFrame:
        """All rows of the input with their assignments."""
        found = read_parquet(self.checked(TABLE), self.info["data"]["texts"])
        missing = {*self.columns.values(), self.info["data"]["column"]} - set(found.columns)
        if missing:
            raise InputError(f"{self.folder / TABLE} has no column {sorted(missing)[0]!r}; fit again")
        return found

    def checked(self, name: str) -> Path:
        """The path of a file of the run, whose checksum is right."""
        _check_file(self.folder, name, self.info)
        return self.folder / name

    def map(self) -> TextMap | None:
        """Where topics and texts lie on the map; None in a run of a coterie that did not write it."""
        if MAP not in self.info["files"]:
            return None
        return read_map(self.checked(MAP), self.info["topics"], self.info["data"]["texts"])

    def input(self) -> pl.DataFrame:
        """All rows of the input, as they came."""
        return self.table.drop(list(self.columns.values()))

    def texts(self) -> pl.Series:
        """The texts: strings, or lists of tokens where they came as such."""
        return _as_texts(self.table[self.info["data"]["column"]], self.info)

    def with_texts(self, texts: pl.Series | None = None) -> TopicModel:
        """The model, with its texts to edit and to ask: they are counted again.

        `texts` are those of `texts()`, from somebody who has them already.
        """
        model = self.model
        if "_counted" not in model.__dict__:
            again = clone(model.vectorizer_)
            counted = count(self.texts() if texts is None else texts, again, model.embeddings)
            if again.vocabulary_.terms != model.vectorizer_.vocabulary_.terms:
                raise InputError(
                    f"{self.folder} was made by a coterie that read texts differently "
                    f"({self.info['versions']['coterie']}); fit again to edit it"
                )
            model._counted = counted
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # told when it was fitted
                model._describe()
        return model

    def save(self) -> Run:
        """Write the folder anew after edits: the model and all tables as they are now."""
        frame, chosen, model = self.input(), self.info["data"]["column"], self.with_texts()

        def batches() -> Iterator[tuple[pl.Series, pl.DataFrame]]:
            for start in range(0, max(len(frame), 1), BATCH):
                rows = frame.slice(start, BATCH)
                yield _as_texts(rows[chosen], self.info), rows

        kept = {key: self.info[key] for key in ("command", "parameters", "data", "columns")}
        record = _Record(dict(self.info["seconds"]), list(self.info["warnings"]))
        found = self.map()
        with replaced(self.folder, marker=MARKER, ours=OURS) as staging:
            _write(staging, model, batches, kept, record, None if found is None else found.known)
        return open_run(self.folder)


def fit_run(
    source: TextSource,
    folder: str | Path,
    model: TopicModel,
    *,
    edits: Iterable[Edit] | None = None,
    date: str | None = None,
    label: str | None = None,
    command: str = "",
) -> Run:
    """Fit a model to a file and write the run folder.

    Parameters
    ----------
    source
        The file (`coterie.text.read_texts`); it is read several times.
    folder
        Where to write: a new or empty folder, or one that a run wrote before, which is replaced.
    model
        An unfitted `TopicModel`.
    edits
        Edits to replay; None takes those of the run that is in the folder, if there is one.
    date, label
        Columns with the date and the class of each text, for the report.
    command
        What was typed, for the record.
    """
    folder = Path(folder)
    replay = tuple(edits) if edits is not None else edits_of(folder)
    with replaced(folder, marker=MARKER, ours=OURS) as staging, _recorded() as record:
        texts = Texts(source)
        with record.timed("fit"):
            model.fit(texts, edits=replay)
        remark_on_texts(model, source.skipped)
        remark_on_language(model, texts)
        column = _column(texts, source)
        for name in (date, label):
            if name is not None and name not in texts.columns:
                raise InputError(f"{source.place} has no column {name!r}; it has {', '.join(texts.columns)}")
        names = _added_names(texts.columns)
        info = {
            "command": command,
            "parameters": _parameters(model),
            "columns": names,
            "data": {
                "source": source.place,
                "column": column,
                "tokenised": bool(texts.tokenised),
                "date": date,
                "label": label,
                "texts": model.n_texts_,
                "skipped": source.skipped,
                "sha256": _fingerprint(texts),
            },
        }

        def batches() -> Iterator[tuple[pl.Series, pl.DataFrame]]:
            for batch in texts.rows():
                missing = [
                    pl.lit(None, dtype).alias(n) for n, dtype in texts.columns.items() if n not in batch.table
                ]
                # by [], as polars takes a column called * or ^a$ for a pattern otherwise
                yield batch.texts, batch.table.with_columns(missing)[list(texts.columns)]

        _write(staging, model, batches, info, record)
    return open_run(folder)


def open_run(folder: str | Path) -> Run:
    """Read a run folder: the model at once, its tables when they are asked for. Everything is checked."""
    return steadily(folder, _read)


def edits_of(folder: Path) -> tuple[Edit, ...]:
    """The log of edits of a run folder; none if there is no run yet."""
    path = folder / EDITS
    if not path.exists():
        return ()
    if path.stat().st_size > 1 << 26:
        raise InputError(f"{path} is too large for a log of edits; move it away to begin a new one")
    try:
        return log.loads(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; move it away to begin a new log of edits") from None


# --- reading


def _read(folder: Path) -> Run:
    if not folder.exists():
        raise InputError(f"there is no folder {folder}; coterie fit FILE --out {folder} makes one")
    if not (folder / MARKER).exists():
        raise InputError(f"{folder} is no run folder: {MARKER} is missing; coterie fit … --out makes one")
    info = read_json(folder / MARKER)
    _check_info(info, folder / MARKER)
    for name in state.FILES:
        _check_file(folder, f"{MODEL}/{name}", info)
    model = state.load(folder / MODEL)
    ids = {topic.id for topic in model.topics}
    if set(info["topics"]) != ids or model.n_texts_ != info["data"]["texts"]:
        raise InputError(f"{folder / MODEL} is not the model of {folder / MARKER}; fit again")
    return Run(folder, model, info)


def _check_info(info: dict[str, Any], path: Path) -> None:
    """Whether run.json has what is read from it, of the right kinds."""
    if info.get("format") != "coterie run":
        raise InputError(f"{path} is not the record of a run; check the folder")
    number = info.get("version")
    if isinstance(number, int) and number > VERSION:
        raise InputError(f"{path} was written by a newer coterie (format {number}); update coterie")
    data, columns, files = (info.get(name) for name in ("data", "columns", "files"))
    sound = (
        type(number) is int
        and number == VERSION
        and isinstance(data, dict)
        and isinstance(data.get("column"), str)
        and isinstance(data.get("texts"), int)
        and isinstance(columns, dict)
        and set(columns) == set(ADDED)
        and all(isinstance(name, str) for name in columns.values())
        and isinstance(files, dict)
        and isinstance(info.get("topics"), list)
        and all(isinstance(topic, int) for topic in info["topics"])
        and isinstance(info.get("versions"), dict)
        and all(key in info for key in ("command", "parameters"))
        and isinstance(info.get("seconds"), dict)
        and isinstance(info.get("warnings"), list)
        and all(isinstance(warning, str) for warning in info["warnings"])
    )
    if not sound:
        raise InputError(f"{path} is damaged: something is missing in it; fit again")


def _check_file(folder: Path, name: str, info: dict[str, Any]) -> None:
    """Whether a file is the one that was written with this record."""
    path, expected = folder / name, info["files"].get(name)
    if not isinstance(expected, dict) or not path.exists():
        raise InputError(f"{path} is missing; fit again")
    if path.stat().st_size != expected.get("bytes") or checksum(path) != expected.get("sha256"):
        raise InputError(f"{path} is damaged or was changed: its checksum is not that of {MARKER}; fit again")


def _as_texts(column: pl.Series, info: dict[str, Any]) -> pl.Series:
    if column.dtype == pl.List:  # of a file that has such a type
        return column.cast(pl.List(pl.String)).fill_null(pl.Series([[]], dtype=pl.List(pl.String)))
    column = column.cast(pl.String).fill_null("")
    if not info["data"].get("tokenised"):
        return column
    lists = [json.loads(text) if text else [] for text in column]
    return pl.Series(column.name, lists, dtype=pl.List(pl.String))


# --- writing


@dataclass
class _Record:
    """What happened meanwhile: seconds of each step, and warnings."""

    seconds: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    caught: list[warnings.WarningMessage] = field(default_factory=list)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = round(time.perf_counter() - begun, 3)

    def sentences(self) -> list[str]:
        """All warnings, each once."""
        return list(dict.fromkeys([*self.remarks, *(str(warning.message) for warning in self.caught)]))


@contextmanager
def _recorded() -> Iterator[_Record]:
    """Catch warnings for the record; they are given again at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        record = _Record(caught=caught)
        yield record
    for remark in record.sentences():
        warnings.warn(remark, stacklevel=3)


def _write(
    staging: Path,
    model: TopicModel,
    batches: Callable[[], Iterator[tuple[pl.Series, pl.DataFrame]]],
    info: dict[str, Any],
    record: _Record,
    known: Known | None = None,
) -> None:
    """All files of a run; topics that are `known` stay where they were on the map."""
    (staging / MODEL).mkdir()
    state.write(model, staging / MODEL)
    with CsvWriter(staging / TOPICS) as sheet:
        frame = model.topics_frame().with_columns(pl.col("share", "coherence", "distinctiveness").round(4))
        joined = {"terms": pl.col("terms").list.join(", "), "examples": pl.col("examples").list.join(" | ")}
        sheet.write(frame.with_columns(**joined))
    points, order = learn_map(model, known)
    with record.timed("assign"):
        seen = _write_assignments(staging, model, batches(), info, lambda texts: placed(points, order, texts))
    if seen["date"]:
        record.remarks += remarks_on_dates(pl.concat(seen["date"]), info["data"]["date"])
    write_map(staging / MAP, with_texts(model, points, order, np.concatenate(seen["at"]), known))
    (staging / EDITS).write_text(log.dumps(model.edits), encoding="utf-8")
    content = {
        "format": "coterie run",
        "version": VERSION,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        **info,
        "topics": [topic.id for topic in model.topics],
        "number_of_topics": None if model.number_of_topics_ is None else asdict(model.number_of_topics_),
        "known": model.n_known_,
        "distinct": model._counted.corpus.n_distinct,
        "edits_applied": len(model.edits) - model.left_out_,
        "seconds": record.seconds,
        "warnings": record.sentences(),
    }
    data = info["data"]
    write_report(
        staging / REPORT,
        model,
        content,
        confidence=np.concatenate(seen["confidence"]),
        dates=pl.concat(seen["date"]) if seen["date"] else None,
        date_name=data.get("date") or "",
        classes=pl.concat(seen["label"]) if seen["label"] else None,
        class_name=data.get("label") or "",
        points=points,
    )
    content["files"] = {
        path.relative_to(staging).as_posix(): {"bytes": path.stat().st_size, "sha256": checksum(path)}
        for path in sorted(staging.rglob("*"))
        if path.is_file()
    }
    (staging / MARKER).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_assignments(
    staging: Path,
    model: TopicModel,
    batches: Iterator[tuple[pl.Series, pl.DataFrame]],
    info: dict[str, Any],
    place: Callable[[Seen], Any],
) -> dict[str, list[Any]]:
    """Write the tables; give back what the report needs of every text, and its place."""
    done, names = 0, info["columns"]
    seen: dict[str, list[Any]] = {"confidence": [], "date": [], "label": [], "at": []}
    with ParquetWriter(staging / TABLE) as table, CsvWriter(staging / SHEET) as sheet:
        for texts, rows in batches:
            parts = []
            for some in sources.batches(texts):
                looked_at = model._seen(some)
                found = model._answers(looked_at, some)
                parts.append(found.frame())
                seen["confidence"].append(found.confidence)
                seen["at"].append(place(looked_at))
            whole = rows.with_columns(pl.concat(parts).rename(names))
            table.write(whole)
            sheet.write(whole)
            for part in ("date", "label"):
                if info["data"].get(part):
                    seen[part].append(rows[info["data"][part]])
            done += len(rows)
            tell("assigning topics", done, model.n_texts_, "texts")
    return seen


def _versions() -> dict[str, str]:
    found = {"coterie": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _parameters(model: TopicModel) -> dict[str, Any]:
    """The parameters as a person reads them; those that are objects by their spelling."""
    values = model.get_params(deep=False)
    if values["seeds"] is not None:
        values["seeds"] = checked_seeds(values["seeds"])
    if not isinstance(values["language"], str):
        values["language"] = list(values["language"])
    plain = (str, int, float, bool, type(None), list, dict)
    values = {
        name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()
    }
    return {name: value if isinstance(value, plain) else repr(value) for name, value in values.items()}


def _column(texts: Texts, source: TextSource) -> str:
    return source.column if source.column is not None else next(iter(texts.columns))


def _added_names(columns: Iterable[str]) -> dict[str, str]:
    """Names of the columns that are added; those that the input has already get a prefix."""
    taken, names = set(columns), {}
    for name in ADDED:
        free = name
        while free in taken:
            free = f"coterie_{free}"
        names[name] = free
        taken.add(free)
    return names


def _fingerprint(texts: Texts) -> str:
    """A digest of the texts in their order."""
    digest = hashlib.sha256()
    for batch in texts.batches():
        for text in batch.to_list():
            digest.update(repr(text).encode())
    return digest.hexdigest()


def assigned_table(model: TopicModel, rows: pl.DataFrame, texts: pl.Series) -> pl.DataFrame:
    """Rows of any table with the columns that an assignment adds."""
    return rows.with_columns(model.assign(texts).frame().rename(_added_names(rows.columns)))
