"""`coterie assign`: assign new texts to the topics of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
    from coterie.text import TextSource
    from coterie.topics import TopicModel
    from coterie.topics.vectors import RowByRow


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(allow_dash=True))
@input_options
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write (.csv, .xlsx, .parquet or .jsonl) instead of printing CSV.",
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
def assign(
    run: Path,
    file: str,
    language: list[str],
    out: Path | None,
    min_confidence: float,
    embeddings: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Assign each text in FILE ("-" for standard input) to a topic of RUN.

    The output has all rows and columns of FILE, plus the topic, its label, the confidence, the second-best
    topic and the reason. A text without a known word has no topic. Texts are read from the same column as in
    the run unless --text names another.

    \b
    Examples:
      coterie assign run tomorrow.csv --out assigned.csv
      coterie assign run tomorrow.csv --out assigned.xlsx
      coterie assign run 'logs/*.csv' --out assigned.csv
      coterie assign run tomorrow.csv | head -3
      echo "where is my parcel" | coterie assign run - --format lines --json
    """
    from coterie.runs import assigned_table, open_run
    from coterie.runs.writing import added_names

    check_not_input(out, file)
    opened = open_run(run)
    vectors = None if embeddings is None else _vectors(opened.model, embeddings)
    text = reading.pop("text")
    done = without = 0
    with spooled(file) as path, shown(out is None):
        source = _source(opened, path, text, reading)
        check_not_read(out, source)
        with _writer(out, as_json) as write:
            for batch in source:
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
        none = f", {without:,} of them without a topic" if without else ""
        click.echo(f"wrote {done:,} texts to {out}{none}", err=True)


def _vectors(model: TopicModel, option: str) -> RowByRow | None:
    """The rows of a file of vectors; None if the option names the encoder, which the model then gets."""
    from coterie.topics.vectors import RowByRow, checked_for, take_encoder

    encoder, vectors = source_and_vectors(option, ())
    if vectors is None:
        take_encoder(model, encoder)
        return None
    return RowByRow(checked_for(model, vectors))


def _source(run: Run, path: str | Path, text: str | None, reading: dict[str, Any]) -> TextSource:
    """The texts of the file, from the column given, else the one used in the run, else the likely one."""
    from coterie.text.inputs import NoColumn
    from coterie.text.readers import TextFiles

    source = open_source(path, text if text is not None else run.info["data"]["column"], **reading)
    if text is None:
        try:
            next(iter(replace(source, on_bad=None)))
        except NoColumn:
            source.column = None
    # what is written has the same columns from the first row to the last
    return source.with_all_columns() if isinstance(source, TextFiles) else source


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
