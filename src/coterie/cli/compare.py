"""`coterie compare`: several methods and numbers of topics on one file, as a table and a chart."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from coterie.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from coterie.comparison import Compared, Comparison, Progress

_TITLES = {
    "nmi": "NMI", "ari": "ARI", "accuracy": "accuracy", "purity": "purity",
    "coherence": "NPMI", "diversity": "diversity", "stability": "stability",
}  # fmt: skip
_BAR = 40
#: Behind the best value of a column: it must be told without colours, too.
_BEST = " *"


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--text", metavar="COLUMN", help="Column of the texts; not needed if it is the only one.")
@click.option("--label", metavar="COLUMN", help="Column of known classes to score against.")
@click.option("--topics", metavar="K", multiple=True, help="Numbers of topics; by default that of labels.")
@click.option("--method", metavar="NAME", multiple=True, help="Methods; --list-methods shows all.")
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Starts of a method.",
)
@click.option(
    "--language", metavar="NAME", multiple=True, default=["english"], show_default=True, help="Of the texts."
)
@click.option("--skip-bad", is_flag=True, help="Leave out rows that cannot be read, and say how many.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--list-methods",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, asked: _list_methods(ctx) if asked else None,
    help="Show the methods and exit.",
)
def compare(
    file: str,
    text: str | None,
    label: str | None,
    topics: tuple[str, ...],
    method: tuple[str, ...],
    seeds: int,
    language: tuple[str, ...],
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Compare methods and numbers of topics on the texts of FILE ("-" is standard input).

    With --label: NMI, ARI, accuracy and purity. Without: coherence (NPMI) and diversity of the ten top
    terms of each topic, and stability, the agreement (ARI) between seeds. Seconds are those of one fit.
    Several topics, methods or languages: with commas, or the option again.

    \b
    Examples:
      coterie compare tickets.csv --text subject --topics 10,20
      coterie compare sample.csv --text text --label category --method nmf-idf,term-nmf --seeds 2

    \b
    The built-in sample of the second example lies where this says:
      python -c "from coterie import datasets; print(datasets.describe()['found'][0])"
    """
    from rich.console import Console

    from coterie import comparison
    from coterie.text import Vectorizer

    texts, labels = _read(file, text, label, skip_bad)
    with _progress(as_json) as progress:
        found = comparison.compare(
            texts,
            labels,
            n_topics=_numbers(topics) or None,
            methods=_parts(method) or comparison.DEFAULT_METHODS,
            n_seeds=seeds,
            vectorizer=Vectorizer(_parts(language), min_df=2),
            progress=progress,
        )
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
    else:
        _show(Console(highlight=False), found)


def _parts(values: tuple[str, ...]) -> list[str]:
    """What was given with commas or one by one."""
    return [part for value in values for given in value.split(",") if (part := given.strip())]


def _numbers(values: tuple[str, ...]) -> list[int]:
    parts = _parts(values)
    for part in parts:
        if not part.isdecimal():
            raise InputError(f"--topics must be whole numbers, got {part!r}")
    return [int(part) for part in parts]


def _read(
    file: str, text: str | None, label: str | None, skip_bad: bool
) -> tuple[list[str], list[str | None] | None]:
    """All texts of a file, and their labels; how many rows were left out goes to standard error."""
    import polars as pl

    from coterie.text import read_texts

    texts: list[str] = []
    labels: list[str | None] = []
    source = read_texts(file, text, skip_bad=skip_bad)
    for batch in source:
        if label is not None and label not in batch.table.columns:
            there = ", ".join(batch.table.columns)
            raise InputError(
                f"{source.place} has no column {label!r} for the labels; its columns are {there}"
            )
        texts += batch.texts.to_list()
        labels += batch.table[label].cast(pl.String).to_list() if label is not None else []
    if source.skipped:
        click.echo(f"{source.skipped:,} rows could not be read and were left out", err=True)
    return texts, labels if label is not None else None


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress | None]:
    """A bar on standard error while somebody is looking at it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(console: Console, found: Comparison) -> None:
    from rich.text import Text

    labelled = f", {found.n_labelled:,} with one of {found.n_classes:,} labels" if found.n_labelled else ""
    console.print(f"[bold]{found.n_texts:,} texts[/bold], {found.n_empty:,} without a known term{labelled}")
    console.print(_table(found))
    _chart(console, found)
    for row in found.rows:
        for warning in row.warnings:
            console.print(Text(f"{row.method}, {row.n_topics} topics: {warning}"))


def _table(found: Comparison) -> Table:
    """A row for each method and number of topics; the best value of each column has a star."""
    from rich.table import Table

    columns = [*found.measures, "seconds"]
    best = {name: _best(found.rows, name) for name in columns}
    shown = Table(caption="* the best of its column", caption_justify="left")
    shown.add_column("method")
    shown.add_column("topics", justify="right")
    for name in columns:
        shown.add_column(_TITLES.get(name, name), justify="right")
    for row in found.rows:
        shown.add_row(row.method, f"{row.n_topics}", *(_cell(row, name, best[name]) for name in columns))
    return shown


def _best(rows: tuple[Compared, ...], name: str) -> str | None:
    """The best value as it is shown, so that values that look alike are marked alike."""
    values = [value for row in rows if (value := getattr(row, name)) is not None]
    if not values:
        return None
    return _spelled(min(values) if name == "seconds" else max(values), name)


def _spelled(value: float, name: str) -> str:
    return f"{value:.2f}" if name == "seconds" else f"{value:.3f}"


def _cell(row: Compared, name: str, best: str | None) -> str:
    value = getattr(row, name)
    spelled = "-" if value is None else _spelled(value, name)
    return f"[bold]{spelled}{_BEST}[/bold]" if spelled == best else spelled + " " * len(_BEST)


def _chart(console: Console, found: Comparison) -> None:
    """The main score as bars, the best first."""
    from rich.text import Text

    main = found.measures[0]
    block = "█" if console.encoding.lower().startswith("utf") else "#"
    names = {row: f"{row.method}, {row.n_topics}" for row in found.rows}
    width = max(map(len, names.values()))
    console.print(f"[bold]{_TITLES[main]}[/bold]")
    ordered = sorted(found.rows, key=lambda row: -getattr(row, main))
    longest = getattr(ordered[0], main)
    for row in ordered:
        value = getattr(row, main)
        bar = block * round(_BAR * value / longest) if value > 0 else ""
        console.print(
            Text(f"  {names[row]:<{width}}  {_spelled(value, main):>6}  {bar}".rstrip()), soft_wrap=True
        )


def _list_methods(ctx: click.Context) -> Any:
    from coterie.methods import METHODS

    width = max(map(len, METHODS))
    for method in METHODS.values():
        click.echo(f"{method.name:<{width}}  {method.about}")
    ctx.exit()
