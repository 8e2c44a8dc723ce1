"""`coterie topics`: the topics of a run, also over time, by class and as a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.shared import (
    console,
    day_first_option,
    json_option,
    print_json,
    safe,
    safe_lines,
    table,
    whole_file,
)
from coterie.errors import InputError
from coterie.progress import shown

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from coterie.results import TermTopic, Topic
    from coterie.runs import Run
    from coterie.topics.levels import Levels

_TERMS = 8


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
@click.option(
    "--by",
    metavar="COLUMN",
    help="Count the texts of each topic for each value of a column, or with --over-time those of each value.",
)
@click.option(
    "--over-time",
    metavar="COLUMN",
    help="Count the texts of each topic over time, using the dates in a column, and show what grew or fell.",
)
@click.option(
    "--changes", is_flag=True, help="With --over-time: only what grew or fell, also with --json and --out."
)
@click.option(
    "--sort", type=click.Choice(["size", "growth"]), default="size", show_default=True,
    help="Order of the topics; by growth with --over-time only.",
)  # fmt: skip
@click.option(
    "--every", type=click.Choice(["auto", "day", "week", "month", "quarter", "year"]), default="auto",
    show_default=True, help="Length of a period for --over-time.",
)  # fmt: skip
@day_first_option
@click.option(
    "--of-term", metavar="WORD", help="Show the topics that use a word, and how its uses are shared out."
)
@click.option("--tree", is_flag=True, help="Show the topics as a tree; similar topics are close together.")
@click.option(
    "--levels",
    is_flag=True,
    help="Show groups of topics, from the broadest level to the topics, with the texts in each.",
)
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
    changes: bool,
    sort: str,
    every: Any,
    day_first: bool | None,
    of_term: str | None,
    tree: bool,
    levels: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show the topics of RUN, a folder written by "coterie fit".

    \b
    Examples:
      coterie topics run
      coterie topics run --examples 2
      coterie topics run --over-time date --every month
      coterie topics run --over-time date --changes --sort growth
      coterie topics run --by team --out by-team.csv
      coterie topics run --by team --over-time date
      coterie topics run --over-time date --out run/topics.xlsx
      coterie topics run --of-term refund
      coterie topics run --tree
      coterie topics run --levels --out levels.csv
    """
    from rich.text import Text

    from coterie.cli.grouped import grouped
    from coterie.runs import open_run, with_run
    from coterie.topics import topics_of_term

    if sum([tree, levels, of_term is not None, by is not None or over_time is not None]) > 1:
        raise InputError(
            "--tree, --levels, --of-term, and --by or --over-time cannot be combined; choose one"
        )
    if over_time is None and (changes or sort == "growth"):
        raise InputError("--changes and --sort growth need dates: add --over-time COLUMN")
    with shown(as_json):
        if by is not None or over_time is not None:
            tables = with_run(run, lambda opened: grouped(opened, by, over_time, every, sort, day_first))
            frame = tables.chosen(changes)
            print_json(frame.to_dicts()) if as_json else tables.show(changes)
        else:
            model = open_run(run).model
            frame = model.topics.polars()
            if tree:
                branch = model.hierarchy()
                print_json(branch) if as_json else console().print(Text(safe_lines(str(branch))))
            elif of_term is not None:
                found = topics_of_term(model, of_term)
                frame = _frame_of_term(found)
                print_json(found) if as_json else _show_of_term(found, model.topics, of_term, terms)
            elif levels:
                frame = model.levels.frame()
                print_json(model.levels) if as_json else _show_levels(model.levels)
            elif as_json:
                print_json(model.topics)
            else:
                lost = model.n_texts_ - model.n_known_
                console().print(topics_table(model.topics, terms, examples, lost, model.n_texts_))
    if out is not None and out.suffix.lower() == ".xlsx":
        _write_views(run, out, by, over_time, every, day_first)
    elif out is not None and not tree:
        _write(frame, out)


def _show_of_term(found: list[TermTopic], topics: Sequence[Topic], term: str, terms: int) -> None:
    """Where the uses of a term fall."""
    own = {topic.id: ", ".join(topic.terms[:terms]) for topic in topics}
    rows = [
        [one.topic, one.uses, f"{one.share:.1%}", f"{one.lift:.1f}×", one.label, own[one.topic]]
        for one in found
    ]
    headings = ["topic", "uses", "share", "lift", "label", "terms"]
    uses = sum(one.uses for one in found)
    title = f"{safe(term)}: {uses:,} uses in {len(found)} of {len(topics)} topics"
    console().print(table(headings, rows, title=title, right=["share", "lift"]))


def _frame_of_term(found: list[TermTopic]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([asdict(one) for one in found])


def _show_levels(levels: Levels) -> None:
    """The levels as a tree, and what speaks for each."""
    from rich.text import Text

    out = console()
    out.print(Text(f"levels: {levels.in_short()}", style="bold"))
    for level in levels[:-1]:
        evidence = (
            f"agreement of halves of the vocabulary {level.agreement:.2f}, by chance {level.chance:.2f}"
        )
        out.print(Text(f"{len(level)} groups: {evidence}"))
    if len(levels) == 1:
        out.print(Text("the words of the topics show no groups of topics beyond chance"))
    out.print(Text(safe_lines(str(levels))))


def topics_table(
    topics: Sequence[Topic],
    terms: int = _TERMS,
    examples: int = 0,
    without_words: int = 0,
    n_texts: int = 1,
    title: str | None = None,
) -> Table:
    """Topics as a table, the largest first; texts without a known word have a separate row."""
    from coterie.text.markup import readable

    ranked = sorted(topics, key=lambda topic: (-topic.size, topic.id))
    headings = ["topic", "texts", "share", "label", "terms", "coherence"]
    rows: list[list[Any]] = []
    for topic in ranked:
        own = ", ".join(topic.terms[:terms])
        rows.append([topic.id, topic.size, f"{topic.share:.1%}", topic.label, own, f"{topic.coherence:.2f}"])
        if topic.description:
            rows.append(["", "", "", "", safe(topic.description), ""])
        for text in topic.examples[:examples]:
            rows.append(["", "", "", "", f"· {safe(readable(text), 100)}", ""])
    if without_words:
        rows.append(["", without_words, f"{without_words / n_texts:.1%}", "", "(no known word)", ""])
    many = f"{len(topics)} topics" if len(topics) != 1 else "1 topic"
    return table(headings, rows, title=title or many, right=["share", "coherence"])


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
    from coterie.cli.grouped import grouped
    from coterie.runs import with_run
    from coterie.storage.workbooks import check_installed, write_workbook

    check_installed(out)

    def views(run: Run) -> dict[str, pl.DataFrame]:
        data = run.info["data"]
        topics = run.model.topics.polars()
        sheets = {
            "topics": _joined(topics.drop("examples")),
            "typical texts": topics.select("topic", "label", text="examples").explode("text"),
        }
        if dates := over_time or data.get("date"):
            tables = grouped(run, None, dates, every, "size", day_first)
            sheets |= {"over time": _joined(tables.counts), "what grew": tables.chosen(True)}
        if classes := by or data.get("label"):
            sheets["by class"] = _joined(grouped(run, classes, None, every, "size", day_first).counts)
        return sheets

    with whole_file(out) as target:
        write_workbook(target, with_run(folder, views))
