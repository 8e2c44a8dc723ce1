"""`coterie demo`: the topics of a built-in sample, and the assignment of a few new texts."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from coterie.cli.fit import show_next, show_topics
from coterie.cli.shared import console, table
from coterie.progress import shown

_NEW = (
    "the charger stays red",
    "I was billed two times this month",
    "app can not open the lock",
    "the app crashes on my phone",
)


@click.command()
@click.option(
    "--out",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("run/demo"),
    show_default=True,
    help="Folder to write.",
)
def demo(out: Path) -> None:
    """Find the topics of a built-in sample: 3,400 messages to an imaginary bike shop in six months.

    \b
    Example:
      coterie demo --out run/demo
    """
    from coterie import datasets
    from coterie.runs import fit_run
    from coterie.text import read_texts
    from coterie.topics import TopicModel

    with shown():
        run = fit_run(
            read_texts(datasets.BIKES_FILE, "text"), out, TopicModel("auto"),
            edits=(), date="date", class_column="team", command="coterie demo",
        )  # fmt: skip
    typed = 'coterie fit "$(coterie data path bikes)" --text text --date date --class-column team --out'
    click.echo(f"{typed} {shlex.quote(str(out))}\n")
    show_topics(run, "the built-in sample: messages to an imaginary bike shop")
    rows = [
        [text, assigned.label, f"{assigned.confidence:.2f}", str(assigned.reason)]
        for text, assigned in zip(_NEW, run.model.assign(_NEW), strict=True)
    ]
    headings = ["new text", "topic", "confidence", "reason"]
    console().print(table(headings, rows, right=["confidence"]))
    show_next(run)
    click.echo(f"Begin with the report: {(out / 'report.html').resolve().as_uri()}")
