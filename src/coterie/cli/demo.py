"""`coterie demo`: the topics of the built-in sample, and the assignment of a few new texts."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from coterie.cli.fit import show_run
from coterie.cli.progress import shown
from coterie.cli.shared import console, table

_TOPICS = 14
_LANGUAGES = ["en", "fr", "de", "zh"]
_NEW = (
    "Where is my parcel?",
    "the app crashes on my phone",
    "I need an invoice with VAT",
    "Bonjour, où est ma commande ?",
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
    """Find the topics of the built-in sample, 1,500 support tickets of a fictitious shop.

    \b
    Example:
      coterie demo --out run/demo
    """
    from coterie import datasets
    from coterie.runs import fit_run
    from coterie.text import read_texts
    from coterie.topics import TopicModel

    model = TopicModel(_TOPICS, language=_LANGUAGES)
    with shown():
        run = fit_run(
            read_texts(datasets.SAMPLE_FILE, "text"), out, model,
            edits=(), date="date", class_column="category", command="coterie demo",
        )  # fmt: skip
    languages = ",".join(_LANGUAGES)
    typed = f'coterie fit "$(coterie data path sample)" --text text --language {languages} --topics {_TOPICS}'
    typed += " --date date --class-column category"
    click.echo(f"{typed} --out {shlex.quote(str(out))}")
    show_run(run, "the built-in sample")
    assignments = run.model.assign(_NEW)
    rows = [
        [text, assigned.label, f"{assigned.confidence:.2f}", str(assigned.reason)]
        for text, assigned in zip(_NEW, assignments, strict=True)
    ]
    headings = ["new text", "topic", "confidence", "reason"]
    console().print(table(headings, rows, right=["confidence"]))
