"""`coterie topics`: what the topics of a run are, over time, by class, and as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.progress import shown
from coterie.cli.shared import console, json_option, print_json, safe, table, whole_file
from coterie.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from coterie.results import Topic
    from coterie.runs import Run

_TERMS = 8


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--terms",
    metavar="N",
    type=click.IntRange(1, 20),
    default=_TERMS,
    show_default=True,
    help="Terms of each topic.",
)
@click.option(
    "--examples", metavar="N", type=click.IntRange(0, 5), default=0, help="Typical texts of each topic."
)
@click.option("--by", metavar="COLUMN", help="Count the texts of each topic by the values of a column.")
@click.option("--over-time", metavar="COLUMN", help="Count them over the dates in a column.")
@click.option(
    "--every", type=click.Choice(["auto", "day", "week", "month", "quarter", "year"]), default="auto",
    show_default=True, help="Period of --over-time.",
)  # fmt: skip
@click.option("--tree", is_flag=True, help="Show which topics are near each other.")
@click.option(
    "--out", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write the table as CSV."
)
@json_option
def topics(
    run: Path,
    terms: int,
    examples: int,
    by: str | None,
    over_time: str | None,
    every: Any,
    tree: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show the topics of RUN, the folder that coterie fit wrote.

    \b
    Examples:
      coterie topics run
      coterie topics run --examples 2
      coterie topics run --over-time date --every month
      coterie topics run --by team --out by-team.csv
      coterie topics run --tree
    """
    from rich.text import Text

    from coterie.runs import open_run

    if sum([by is not None, over_time is not None, tree]) > 1:
        raise InputError("choose one of --by, --over-time and --tree")
    with shown(as_json):
        found = open_run(run)
        model = found.model
        if tree:
            branch = model.hierarchy()
            print_json(branch) if as_json else console().print(Text(_safe_lines(str(branch))))
            return
        if by is not None or over_time is not None:
            frame = _grouped(found, by, over_time, every)
        else:
            frame = model.topics_frame()
    if out is not None:
        _write(frame, out)
    if as_json:
        print_json(frame.to_dicts() if by or over_time else model.topics)
    elif by is not None or over_time is not None:
        console().print(_grouped_table(frame))
    else:
        console().print(topics_table(model.topics, terms, examples))


def topics_table(topics: Sequence[Topic], terms: int = _TERMS, examples: int = 0) -> Table:
    """Topics as a table, the largest first."""
    ranked = sorted(topics, key=lambda topic: (-topic.size, topic.id))
    headings = ["topic", "texts", "share", "label", "terms", "coherence"]
    rows: list[list[Any]] = []
    for topic in ranked:
        own = ", ".join(topic.terms[:terms])
        named = "" if set(topic.label.split(", ")) <= set(topic.terms) else topic.label
        rows.append([topic.id, topic.size, f"{topic.share:.1%}", named, own, f"{topic.coherence:.2f}"])
        for text in topic.examples[:examples]:
            rows.append(["", "", "", "", f"· {safe(text, 100)}", ""])
    if not any(row[3] for row in rows):  # nothing has a name of its own: the terms say it all
        headings, rows = headings[:3] + headings[4:], [row[:3] + row[4:] for row in rows]
    many = f"{len(topics)} topics" if len(topics) != 1 else "1 topic"
    return table(headings, rows, title=many, right=["share", "coherence"])


def _grouped(run: Run, by: str | None, over_time: str | None, every: Any) -> pl.DataFrame:
    column = by if by is not None else over_time
    rows = run.input()
    if column not in rows.columns:
        raise InputError(
            f"the texts of {run.folder} have no column {column!r}; there are {', '.join(rows.columns)}"
        )
    model = run.with_texts()
    return model.by_class(rows[column]) if by is not None else model.over_time(rows[column], every)


def _grouped_table(frame: pl.DataFrame) -> Table:
    group = frame.columns[2]
    rows = [
        [
            row["topic"],
            row["label"],
            str(row[group]),
            row["texts"],
            f"{row['share']:.1%}",
            ", ".join(row["terms"]),
        ]
        for row in frame.iter_rows(named=True)
        if row["texts"]
    ]
    return table(["topic", "label", group, "texts", "share", "its own terms"], rows, right=["share"], most=60)


def _write(frame: pl.DataFrame, out: Path) -> None:
    from coterie.storage.tables import CsvWriter

    with whole_file(out) as target, CsvWriter(target) as sheet:
        sheet.write(frame)


def _safe_lines(text: str) -> str:
    return "\n".join(safe(line) for line in text.splitlines())
