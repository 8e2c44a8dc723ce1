"""`coterie assign`: assign new texts to the topics of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.engines import EngineChoice, engine_options
from coterie.cli.shared import (
    check_not_input,
    check_not_read,
    input_options,
    open_source,
    report_reading,
    safe_lines,
    spooled,
    whole_file,
)
from coterie.cli.vectors import METAVAR, source_and_vectors
from coterie.errors import InputError
from coterie.progress import shown, tell

if TYPE_CHECKING:
    import polars as pl

    from coterie.runs import Run
    from coterie.text import Batch
    from coterie.text.readers import TextFiles
    from coterie.topics import TopicModel
    from coterie.topics.vectors import RowByRow


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(allow_dash=True))
@input_options
@click.option(
    "--out",
    metavar="FILE|FOLDER/",
    help="File to write (.csv, .xlsx, .parquet or .jsonl) instead of printing CSV, or a folder, which gets "
    "Parquet parts.",
)
@click.option(
    "--min-confidence",
    metavar="P",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Leave the topic of less certain texts empty (0 to 1).",
)
@click.option(
    "--embeddings",
    metavar=METAVAR,
    help="For a run that was fitted with embeddings: a .npy or .parquet file with a row for each row of "
    "FILE, or the encoder of the fit by its name.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
@engine_options
def assign(
    run: Path,
    file: str,
    language: list[str],
    out: str | None,
    min_confidence: float,
    embeddings: str | None,
    as_json: bool,
    engine: EngineChoice,
    **reading: Any,
) -> None:
    """Assign each text in FILE ("-" for standard input) to a topic of RUN.

    The output has all rows and columns of FILE, plus the topic, its label, the confidence, the second-best
    topic and the reason. A text without a known word has no topic. Texts are read from the same column as in
    the run unless --text names another.

    With a folder as --out, which ends in / or exists, the work is divided among --workers. FILE may then
    stand for many files, such as 'more/*.parquet'. Parts are in the order of the rows, and _SUCCESS is
    written last.

    \b
    Examples:
      coterie assign run tomorrow.csv --out assigned.csv
      coterie assign run tomorrow.csv --out assigned.xlsx
      coterie assign run 'logs/*.csv' --out assigned.csv
      coterie assign run tomorrow.csv | head -3
      coterie assign run tomorrow.csv --out parts/ --engine processes --workers 2
      echo "where is my parcel" | coterie assign run - --format lines --json
    """
    from coterie.runs import open_run

    if _is_folder(out):
        assert out is not None
        assign_to_folder(open_run(run), file, Path(out), min_confidence, embeddings, engine, reading)
        return
    if engine.chosen:
        raise InputError(
            "--engine, --workers and --scheduler divide the work into parts, which need a folder; "
            "use --out parts/"
        )
    path = None if out is None else Path(out)
    check_not_input(path, file)
    _assign_to_file(open_run(run), file, path, min_confidence, embeddings, as_json, reading)


def _is_folder(out: str | None) -> bool:
    """Whether the output is a folder of parts: it ends like one, or exists as one."""
    return out is not None and (out.endswith(("/", os.sep)) or Path(out).is_dir())


def _assign_to_file(
    opened: Run,
    file: str,
    out: Path | None,
    min_confidence: float,
    embeddings: str | None,
    as_json: bool,
    reading: dict[str, Any],
) -> None:
    """The rows of one file, one after another, to a file or to standard output."""
    from coterie.runs import assigned_table
    from coterie.runs.parts import expected_column
    from coterie.runs.writing import added_names
    from coterie.text.readers import TextFiles

    text = reading.pop("text")
    vectors = None if embeddings is None else _vectors(opened.model, embeddings)
    done = without = 0
    with spooled(file) as path, shown(out is None):
        source = open_source(path, opened.info["data"]["column"] if text is None else text, **reading)
        batches: Iterable[Batch] = source if text is not None else expected_column(source)
        if isinstance(source, TextFiles):
            batches = source = _with_all_columns(source, expected=text is None)
        check_not_read(out, source)
        with _writer(out, as_json) as write:
            for batch in batches:
                rows = None if vectors is None else vectors.take(len(batch.texts))
                table = assigned_table(opened.model, batch.table, batch.texts, min_confidence, rows)
                without += table[added_names(batch.table.columns)["topic"]].null_count()
                write(table)
                done += len(batch.texts)
                tell("assigning topics", done, None, "texts")
            if vectors is not None:
                vectors.finish()
    report_reading(source)
    if out is not None:
        click.echo(_summary(done, without, f"{out}"), err=True)


def assign_to_folder(
    opened: Run,
    file: str,
    out: Path,
    min_confidence: float,
    embeddings: str | None,
    engine: EngineChoice,
    reading: dict[str, Any],
) -> None:
    """The rows of one file or many, divided among workers, to Parquet parts in a folder."""
    from coterie.runs.parts import assign_parts

    vectors = None if embeddings is None else _vectors(opened.model, embeddings)
    text = reading.pop("text")
    column = opened.info["data"]["column"] if text is None else text
    with spooled(file) as path, shown(False), engine.open() as workers:
        written = assign_parts(
            opened.model,
            [path] if file == "-" else _files(file),
            out,
            workers,
            lambda path: open_source(path, column, **reading),
            expected=text is None,
            min_confidence=min_confidence,
            encoder=embeddings if vectors is None else None,
            vectors=vectors,
            send=file == "-",
        )
    for source in written.sources:
        report_reading(source)
    click.echo(
        _summary(written.texts, written.without_topic, f"{out}{os.sep}, parts: {len(written.parts):,}"),
        err=True,
    )


def _files(file: str) -> list[str | Path]:
    """The files that a name stands for: itself, or those of a folder or a pattern."""
    from coterie.text import read_texts
    from coterie.text.readers import TextFiles

    if "://" in file:
        raise InputError(f"{file} is not on this machine, which parts need; use --out with a file")
    source = read_texts(file)
    return [Path(place.path) for place in source.files] if isinstance(source, TextFiles) else [Path(file)]


def _summary(texts: int, without: int, where: str) -> str:
    none = f", {without:,} of them without a topic" if without else ""
    return f"wrote {texts:,} texts to {where}{none}"


def _vectors(model: TopicModel, option: str) -> RowByRow | None:
    """The rows of a file of vectors; None if the option names the encoder, which the model then gets."""
    from coterie.topics.vectors import RowByRow, checked_for, take_encoder

    encoder, vectors = source_and_vectors(option, ())
    if vectors is None:
        take_encoder(model, encoder)
        return None
    return RowByRow(checked_for(model, vectors))


def _with_all_columns(source: TextFiles, *, expected: bool) -> TextFiles:
    """Files whose rows all have the same columns, as what is written must have them.

    If the column of the texts is only `expected` and not there, it is looked for.
    """
    from coterie.text.inputs import NoColumn

    try:
        return source.with_all_columns()
    except NoColumn:
        if not expected:
            raise
        return replace(source, column=None).with_all_columns()


@contextmanager
def _writer(out: Path | None, as_json: bool) -> Iterator[Any]:
    """A function that takes tables one after another and writes them to the output."""
    from coterie.storage.tables import CsvWriter, ParquetWriter, TableWriter
    from coterie.storage.workbooks import WorkbookWriter, check_installed

    suffix = ".jsonl" if as_json and out is None else ".csv" if out is None else out.suffix.lower()
    if suffix not in (".csv", ".xlsx", ".parquet", ".jsonl"):
        raise InputError(f"--out must end in .csv, .xlsx, .parquet or .jsonl, got {str(out)!r}")
    if out is None:
        yield _printed(suffix == ".jsonl")
    elif suffix == ".jsonl":
        with whole_file(out) as target, target.open("wb") as file:
            yield lambda frame: frame.write_ndjson(file)
    else:
        writer: type[TableWriter] = CsvWriter if suffix == ".csv" else ParquetWriter
        if suffix == ".xlsx":
            check_installed(out)
            writer = WorkbookWriter
        with whole_file(out) as target, writer(target) as table:
            yield table.write


def _printed(as_json: bool) -> Any:
    """Print tables on standard output; CSV as in files, with formulas made harmless."""
    from coterie.storage.tables import sheet

    first = True

    def write(frame: pl.DataFrame) -> None:
        nonlocal first
        text = frame.write_ndjson() if as_json else sheet(frame).write_csv(include_header=first)
        first = False
        if sys.stdout.isatty():  # which would obey control characters in the texts
            sys.stdout.write(safe_lines(text))
        else:  # UTF-8, as in files, whatever the locale
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8"))
            sys.stdout.buffer.flush()

    return write
