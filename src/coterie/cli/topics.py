"""`coterie topics`: the topics of a run, also over time, by class and as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.progress import shown
from coterie.cli.shared import (
    console,
    day_first_option,
    json_option,
    print_json,
    report_note,
    safe,
    safe_lines,
    table,
    whole_file,
)
from coterie.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from coterie.results import Topic
    from coterie.runs import Run
    from coterie.topics import TopicModel

_TERMS = 8
#: Most periods or classes shown side by side.
_MOST_COLUMNS = 13


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--terms",
    metavar="N",
    type=click.IntRange(1, 20),
    default=_TERMS,
    show_default=True,
    help="Terms to show for each topic.",
)
@click.option(
    "--examples",
    metavar="N",
    type=click.IntRange(0, 5),
    default=0,
    help="Typical texts to show for each topic.",
)
@click.option("--by", metavar="COLUMN", help="Count the texts of each topic for each value of a column.")
@click.option(
    "--over-time",
    metavar="COLUMN",
    help="Count the texts of each topic over time, using the dates in a column.",
)
@click.option(
    "--every", type=click.Choice(["auto", "day", "week", "month", "quarter", "year"]), default="auto",
    show_default=True, help="Length of a period for --over-time.",
)  # fmt: skip
@day_first_option
@click.option("--tree", is_flag=True, help="Show the topics as a tree; similar topics are close together.")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the table to a .csv file, or all views to an .xlsx file, a sheet for each.",
)
@json_option
def topics(
    run: Path,
    terms: int,
    examples: int,
    by: str | None,
    over_time: str | None,
    every: Any,
    day_first: bool | None,
    tree: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show the topics of RUN, a folder written by "coterie fit".

    \b
    Examples:
      coterie topics run
      coterie topics run --examples 2
      coterie topics run --over-time date --every month
      coterie topics run --by team --out by-team.csv
      coterie topics run --over-time date --out run/topics.xlsx
      coterie topics run --tree
    """
    from rich.text import Text

    from coterie.runs import open_run, with_run

    if sum([by is not None, over_time is not None, tree]) > 1:
        raise InputError("--by, --over-time and --tree cannot be combined; choose one")
    with shown(as_json):
        if by is not None or over_time is not None:
            model, frame = with_run(run, lambda opened: _grouped(opened, by, over_time, every, day_first))
        else:
            model = open_run(run).model
            frame = model.topics.frame()
        if tree:
            branch = model.hierarchy()
            print_json(branch) if as_json else console().print(Text(safe_lines(str(branch))))
            return
    if out is not None and out.suffix.lower() == ".xlsx":
        _write_views(run, out, by, over_time, every, day_first)
    elif out is not None:
        _write(frame, out)
    if as_json:
        print_json(frame.to_dicts() if by or over_time else model.topics)
    elif by is not None or over_time is not None:
        console().print(_grouped_table(frame))
    else:
        lost = model.n_texts_ - model.n_known_
        console().print(topics_table(model.topics, terms, examples, lost, model.n_texts_))


def _has_default_label(topic: Topic) -> bool:
    """Whether the label is just the first terms of the topic."""
    parts, worded = topic.label.split(", "), [term for term in topic.terms if any(map(str.isalpha, term))]
    return len(parts) >= min(3, len(worded)) and parts == (worded or list(topic.terms))[: len(parts)]


def topics_table(
    topics: Sequence[Topic],
    terms: int = _TERMS,
    examples: int = 0,
    without_words: int = 0,
    n_texts: int = 1,
    title: str | None = None,
) -> Table:
    """Topics as a table, the largest first; texts without a known word have a separate row."""
    ranked = sorted(topics, key=lambda topic: (-topic.size, topic.id))
    headings = ["topic", "texts", "share", "label", "terms", "coherence"]
    rows: list[list[Any]] = []
    for topic in ranked:
        own = ", ".join(topic.terms[:terms])
        named = "" if _has_default_label(topic) else topic.label
        rows.append([topic.id, topic.size, f"{topic.share:.1%}", named, own, f"{topic.coherence:.2f}"])
        for text in topic.examples[:examples]:
            rows.append(["", "", "", "", f"· {safe(text, 100)}", ""])
    if without_words:
        rows.append(["", without_words, f"{without_words / n_texts:.1%}", "", "(no known word)", ""])
    if not any(row[3] for row in rows):  # no topic was named by hand, so the terms are enough
        headings, rows = headings[:3] + headings[4:], [row[:3] + row[4:] for row in rows]
    many = f"{len(topics)} topics" if len(topics) != 1 else "1 topic"
    return table(headings, rows, title=title or many, right=["share", "coherence"])


def _grouped(
    run: Run, by: str | None, over_time: str | None, every: Any, day_first: bool | None
) -> tuple[TopicModel, pl.DataFrame]:
    from coterie.text.inputs import choose_column

    rows = run.input()
    wanted = by if by is not None else over_time
    column = choose_column(rows.columns, wanted, f"the input of {run.folder}")
    model = run.with_texts()
    if by is not None:
        return model, model.by_class(rows[column])
    first = _day_first(run, rows[column], day_first)
    return model, model.over_time(rows[column], every, day_first=first)


def _day_first(run: Run, dates: pl.Series, wanted: bool | None) -> bool | None:
    """Whether the day comes first: as asked, as it was in the run, or as the dates show."""
    from coterie.text.dates import read_dates

    data = run.info["data"]
    if wanted is None and dates.name == data.get("date"):
        wanted = data.get("day_first")
    read = read_dates(dates, wanted)
    if sentence := read.sentence(dates.name):
        report_note(sentence, f"{'--month-first' if read.day_first else '--day-first'} reads them otherwise")
    return read.day_first


def _grouped_table(frame: pl.DataFrame) -> Table:
    """Topics × groups if that is narrow enough, else one row for each pair."""
    group = frame.columns[2]
    groups = frame[group].unique(maintain_order=True).to_list()
    if len(groups) <= _MOST_COLUMNS:
        counts = {(row["topic"], row[group]): row["texts"] for row in frame.iter_rows(named=True)}
        topics = frame.select("topic", "label").unique(maintain_order=True)
        wide = [[topic, label, *(counts[topic, g] for g in groups)] for topic, label in topics.iter_rows()]
        title = f"texts by {group}; --json and --out also give shares and the terms of each topic and {group}"
        return table(["topic", "label", *(_short(g, groups) for g in groups)], wide, title=title, most=40)
    rows = [
        [topic, label, str(value), texts, f"{share:.1%}", ", ".join(terms)]
        for topic, label, value, texts, share, terms in frame.iter_rows()
        if texts
    ]
    headings = ["topic", "label", group, "texts", f"share of {group}", "terms"]
    return table(headings, rows, right=[f"share of {group}"], most=60)


def _short(group: Any, groups: list[Any]) -> str:
    """A group as a heading: dates are cut to the month or year if all are first days of one."""
    if not hasattr(group, "isoformat"):
        return str(group)
    if all(day.day == 1 for day in groups):
        return f"{group:%Y}" if all(day.month == 1 for day in groups) else f"{group:%Y-%m}"
    return str(group)


def _write(frame: pl.DataFrame, out: Path) -> None:
    from coterie.storage.tables import CsvWriter

    if out.suffix.lower() != ".csv":
        raise InputError(f"--out must end in .csv or .xlsx, got {str(out)!r}")
    with whole_file(out) as target, CsvWriter(target) as sheet:
        sheet.write(_joined(frame))


def _joined(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists as a person reads them."""
    from polars import List, String
    from polars import selectors as columns

    return frame.with_columns(columns.by_dtype(List(String)).list.join(", "))


def _write_views(
    folder: Path, out: Path, by: str | None, over_time: str | None, every: Any, day_first: bool | None
) -> None:
    """A workbook with the topics, their typical texts, and their counts over time and by class.

    Columns of dates and classes are those given, else those of the run.
    """
    from coterie.runs import with_run
    from coterie.storage.workbooks import check_installed, write_workbook

    check_installed(out)

    def views(run: Run) -> dict[str, pl.DataFrame]:
        data = run.info["data"]
        topics = run.model.topics.frame()
        sheets = {
            "topics": _joined(topics.drop("examples")),
            "typical texts": topics.select("topic", "label", text="examples").explode("text"),
        }
        if dates := over_time or data.get("date"):
            sheets["over time"] = _joined(_grouped(run, None, dates, every, day_first)[1])
        if classes := by or data.get("label"):
            sheets["by class"] = _joined(_grouped(run, classes, None, every, day_first)[1])
        return sheets

    with whole_file(out) as target:
        write_workbook(target, with_run(folder, views))
