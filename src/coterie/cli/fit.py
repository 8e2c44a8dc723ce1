"""`coterie fit`: from a file to topics, an assignment for every row, and a folder to hand on."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.progress import shown
from coterie.cli.shared import (
    console,
    input_options,
    json_option,
    open_source,
    print_json,
    safe,
    spooled,
    told_skipped,
)
from coterie.cli.topics import topics_table
from coterie.errors import InputError

if TYPE_CHECKING:
    from coterie.cluster.n_topics import NumberOfTopics
    from coterie.runs import Run


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@input_options
@click.option("--topics", metavar="N", default="auto", show_default=True, help="Number of topics.")
@click.option(
    "--out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write; by default the name of the file with -topics behind it.",
)  # fmt: skip
@click.option(
    "--seed", "seeds", metavar="NAME=WORD,WORD", multiple=True,
    help="A topic to look for, by some of its words; again for more.",
)  # fmt: skip
@click.option(
    "--method",
    metavar="NAME",
    default="coterie",
    show_default=True,
    help="See coterie compare --list-methods.",
)
@click.option(
    "--embeddings", type=click.Choice(["static"]), help="Use word vectors too (needs coterie[words])."
)
@click.option(
    "--random-state", metavar="N", type=int, default=0, show_default=True, help="Seed of the starts."
)
@click.option("--date", metavar="COLUMN", help="Column of dates, for the report.")
@click.option("--label", metavar="COLUMN", help="Column of known classes, for the report; not learned from.")
@click.option("--fresh", is_flag=True, help="Forget the edits of the run that is in the folder.")
@json_option
def fit(
    file: str,
    language: list[str],
    topics: str,
    out: Path | None,
    seeds: tuple[str, ...],
    method: str,
    embeddings: str | None,
    random_state: int,
    date: str | None,
    label: str | None,
    fresh: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Find the topics of the texts in FILE ("-" is standard input), and write them to a folder.

    FILE is CSV, TSV, JSON lines, Parquet, Excel or one text a line, plain or gzip. The folder holds the
    model, topics.csv, an assignment with confidence and reason for every row (assignments.csv and .parquet),
    the log of edits and the record of the run. Edits of a run that is there are applied to the new one.

    \b
    Examples:
      coterie fit tickets.csv --text subject
      coterie fit tickets.csv --text subject --topics 4 --out run
      coterie fit tickets.csv --text subject --topics 4 --seed "billing=invoice,refund" --out run
      cut -d, -f3 tickets.csv | coterie fit - --format lines --topics 3 --out run
    """
    from coterie.runs import fit_run
    from coterie.topics import TopicModel

    folder = out if out is not None else Path(_stem(file) + "-topics")
    model = TopicModel(
        _number(topics),
        method=method,
        language=language[0] if len(language) == 1 else language,
        seeds=_seeds(seeds),
        embeddings=embeddings,
        random_state=random_state,
    )
    with spooled(file) as path:
        source = open_source(path, **reading)
        with shown(as_json):
            run = fit_run(
                source,
                folder,
                model,
                edits=() if fresh else None,
                date=date,
                label=label,
                command=_typed(file),
            )
    told_skipped(source)
    if as_json:
        print_json({"folder": str(folder), "run": run.info, "topics": run.model.topics})
    else:
        show_run(run, "standard input" if file == "-" else file)


def _stem(file: str) -> str:
    name = "texts" if file == "-" else Path(file).name
    return name.split(".")[0] or "texts"


def _number(topics: str) -> Any:
    if topics == "auto":
        return topics
    if not topics.isdecimal() or int(topics) < 1:
        raise InputError(f"--topics must be a whole number of at least 1, or auto; got {topics!r}")
    return int(topics)


def _seeds(seeds: tuple[str, ...]) -> dict[str, list[str]] | None:
    found: dict[str, list[str]] = {}
    for seed in seeds:
        name, separator, words = seed.partition("=")
        listed = [word for part in words.split(",") if (word := part.strip())]
        if not separator or not name.strip() or not listed:
            raise InputError(f"--seed must be like billing=invoice,refund; got {seed!r}")
        found.setdefault(name.strip(), []).extend(listed)
    return found or None


def _typed(file: str) -> str:
    """The command as it was typed, for the record."""
    return (
        shlex.join(["coterie", *sys.argv[1:]])
        if "fit" in sys.argv[1:2]
        else f"coterie fit {shlex.quote(file)}"
    )


def show_run(run: Run, place: str) -> None:
    """What was found, where it lies, and what to do next."""
    from rich.text import Text

    model, out = run.model, console()
    lost = model.n_texts_ - model.n_known_
    unknown = f", {lost:,} without a known word" if lost else ""
    many = "1 text" if model.n_texts_ == 1 else f"{model.n_texts_:,} texts"
    out.print(Text.assemble((many, "bold"), f" of {safe(place)}{unknown}"))
    if model.number_of_topics_ is not None:
        out.print(Text(_how_many(model.number_of_topics_)))
    if applied := run.info.get("edits_applied"):
        edits = "1 edit was" if applied == 1 else f"{applied} edits were"
        out.print(Text(f"{edits} applied again (coterie edit log shows them, --fresh forgets them)"))
    out.print(topics_table(model.topics, without_words=lost, n_texts=model.n_texts_))
    seconds = f" in {sum(run.info['seconds'].values()):.1f} s; the page to open is "
    page = str(run.folder / "report.html")
    out.print(Text.assemble("Written to ", (safe(str(run.folder)), "bold"), seconds, (safe(page), "bold")))
    folder = shlex.quote(str(run.folder))
    for command, about in (
        (f"coterie topics {folder} --examples 3", "typical texts of each topic"),
        (f"coterie assign {folder} new.csv", "topics for other texts"),
        (f"coterie edit rename {folder} 0 'A name'", "also merge, split, ban, pin, undo"),
    ):
        out.print(Text(f"  {safe(command):<{len(folder) + 30}}  {about}"), soft_wrap=True)


def _how_many(found: NumberOfTopics) -> str:
    """What was read from the texts, which number was taken, and how to take another."""
    if not found.structured:
        return "the texts show no structure: there is one topic; --topics N looks for N all the same"
    others = [str(peak) for peak in found.peaks if peak != found.n_topics]
    also = f"; {' or '.join(others)} would be plausible, too" if others else ""
    interval = f"between {found.low} and {found.high}"
    return f"{found.n_topics} topics were read from the texts ({interval}){also}: --topics N takes N"
