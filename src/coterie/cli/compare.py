"""`coterie compare`: several methods and numbers of topics on one file, as a table and a chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.progress import shown
from coterie.cli.shared import (
    console,
    input_options,
    json_option,
    numbers,
    open_source,
    parts,
    print_json,
    safe,
    table,
    told_skipped,
)
from coterie.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from coterie.comparison import Compared, Comparison, Size
    from coterie.text import TextSource

_TITLES = {
    "nmi": "NMI", "ari": "ARI", "accuracy": "accuracy", "purity": "purity",
    "coherence": "NPMI", "diversity": "diversity", "stability": "stability",
}  # fmt: skip
_BAR = 40
#: Behind the best value of a column: it must be told without colours, too.
_BEST = " *"


def _list_methods(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    from coterie.methods import METHODS

    width = max(map(len, METHODS))
    for method in METHODS.values():
        click.echo(f"{method.name:<{width}}  {method.about}")
    ctx.exit()


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@input_options
@click.option("--label", metavar="COLUMN", help="Column of known classes to score against.")
@click.option(
    "--topics", metavar="K", multiple=True, help="Numbers of topics, or auto; by default that of labels."
)
@click.option("--method", metavar="NAME", multiple=True, help="Methods; --list-methods shows all.")
@click.option(
    "--seeds", metavar="N", type=click.IntRange(1), default=3, show_default=True, help="Starts of a method."
)
@json_option
@click.option(
    "--list-methods", is_flag=True, is_eager=True, expose_value=False, callback=_list_methods,
    help="Show the methods and exit.",
)  # fmt: skip
def compare(
    file: str,
    language: list[str],
    label: str | None,
    topics: tuple[str, ...],
    method: tuple[str, ...],
    seeds: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Compare methods and numbers of topics on the texts of FILE ("-" is standard input).

    With --label: NMI, ARI, accuracy and purity. Without: coherence (NPMI) and diversity of the ten top
    terms of each topic, and stability, the agreement (ARI) between seeds. Seconds are those of one fit.
    Several topics, methods or languages: with commas, or the option again. "--topics auto" reads the number
    from the texts once and uses it for all methods.

    \b
    Examples:
      coterie compare tickets.csv --text subject --topics 4,8 --seeds 2
      coterie compare tickets.csv --text subject --topics auto --method coterie,nmf-ncut
      coterie compare "$(coterie data path sample)" --text text --label category --method nmf-idf,term-nmf
    """
    from coterie import comparison
    from coterie.corpus import Vectorizer

    sizes = _sizes(topics)
    with shown():
        texts, labels = _read(open_source(file, **reading), label)
        found = comparison.compare(
            texts,
            labels,
            n_topics=sizes or None,
            methods=parts(method) or comparison.DEFAULT_METHODS,
            n_seeds=seeds,
            vectorizer=Vectorizer(language, min_df=2),
        )
    if as_json:
        print_json(found)
    else:
        _show(console(), found)


def _sizes(topics: Iterable[str]) -> list[Size]:
    """Numbers, and "auto" where it stands."""
    return ["auto" if part == "auto" else numbers([part], "--topics")[0] for part in parts(topics)]


def _read(source: TextSource, label: str | None) -> tuple[list[str], list[str | None] | None]:
    """All texts of a file, and their labels."""
    import polars as pl

    from coterie.progress import tell

    texts: list[str] = []
    labels: list[str | None] = []
    for batch in source:
        if label is not None and label not in batch.table.columns:
            there = ", ".join(batch.table.columns)
            raise InputError(
                f"{source.place} has no column {label!r} for the labels; its columns are {there}"
            )
        texts += batch.texts.to_list()
        labels += batch.table[label].cast(pl.String).to_list() if label is not None else []
        tell("reading", len(texts), None, "texts")
    told_skipped(source)
    return texts, labels if label is not None else None


def _show(page: Console, found: Comparison) -> None:
    labelled = f", {found.n_labelled:,} with one of {found.n_classes:,} labels" if found.n_labelled else ""
    page.print(f"[bold]{found.n_texts:,} texts[/bold], {found.n_empty:,} without a known term{labelled}")
    if found.read is not None:
        page.print(
            f"{found.read.n_topics:,} topics read from the texts; between {found.read.low:,} and "
            f"{found.read.high:,} are plausible"
        )
    page.print(_scores(found))
    for line in _chart(found, "█" if page.encoding.lower().startswith("utf") else "#"):
        page.print(line, markup=False, soft_wrap=True)
    for row in found.rows:
        for warning in row.warnings:
            page.print(safe(f"{row.method}, {row.n_topics} topics: {warning}"), markup=False, soft_wrap=True)


def _scores(found: Comparison) -> Table:
    """A row for each method and number of topics; the best value of each column has a star."""
    columns = [*found.measures, "seconds"]
    best = {name: _best(found.rows, name) for name in columns}
    rows = [
        (row.method, row.n_topics, *(_cell(row, name, best[name]) for name in columns)) for row in found.rows
    ]
    titles = [_TITLES.get(name, name) for name in columns]
    return table(["method", "topics", *titles], rows, caption="* the best of its column", right=titles)


def _best(rows: tuple[Compared, ...], name: str) -> str | None:
    """The best value as it is shown, so that values that look alike are marked alike."""
    values = [value for row in rows if (value := getattr(row, name)) is not None]
    if not values:
        return None
    return _spelled(min(values) if name == "seconds" else max(values), name)


def _spelled(value: float, name: str) -> str:
    return f"{value:.2f}" if name == "seconds" else f"{value:.3f}"


def _cell(row: Compared, name: str, best: str | None) -> Text:
    from rich.text import Text

    value = getattr(row, name)
    spelled = "-" if value is None else _spelled(value, name)
    return Text(spelled + _BEST, "bold") if spelled == best else Text(spelled + " " * len(_BEST))


def _chart(found: Comparison, block: str) -> Iterator[str]:
    """The main score as bars, the best first."""
    main = found.measures[0]
    names = {row: f"{row.method}, {row.n_topics}" for row in found.rows}
    width = max(map(len, names.values()))
    ordered = sorted(found.rows, key=lambda row: -getattr(row, main))
    longest = getattr(ordered[0], main)
    yield _TITLES[main]
    for row in ordered:
        value = getattr(row, main)
        bar = block * round(_BAR * value / longest) if value > 0 else ""
        yield f"  {names[row]:<{width}}  {_spelled(value, main):>6}  {bar}".rstrip()
