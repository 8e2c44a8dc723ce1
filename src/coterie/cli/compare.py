"""`coterie compare`: several methods and numbers of topics on one file, as a table and a chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.shared import (
    RenamedOption,
    console,
    input_options,
    json_option,
    numbers,
    open_source,
    parts,
    print_json,
    report_reading,
    safe,
    table,
)
from coterie.progress import shown

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
#: Marks the best value of a column, so that it can be seen without colours.
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
@click.option(
    "--class-column", cls=RenamedOption, former="--label", metavar="COLUMN",
    help="Column with known classes to score the topics against.",
)  # fmt: skip
@click.option(
    "--topics", metavar="K", multiple=True,
    help="Number of topics, or auto; repeatable. Default: the number of classes.",
)  # fmt: skip
@click.option(
    "--method", metavar="NAME", multiple=True, help="Method to compare; repeatable. See --list-methods."
)
@click.option(
    "--restarts", cls=RenamedOption, former="--seeds", metavar="N", type=click.IntRange(1), default=3,
    show_default=True, help="Fits of each method, with random states 0 to N-1; scores are averaged.",
)  # fmt: skip
@json_option
@click.option(
    "--list-methods", is_flag=True, is_eager=True, expose_value=False, callback=_list_methods,
    help="List the methods and exit.",
)  # fmt: skip
def compare(
    file: str,
    language: list[str],
    class_column: str | None,
    topics: tuple[str, ...],
    method: tuple[str, ...],
    restarts: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Compare methods and numbers of topics on the texts in FILE ("-" for standard input).

    With --class-column, the scores are NMI, ARI, accuracy and purity. Without it, they are coherence (NPMI)
    and diversity of the top ten terms of each topic, and stability: the agreement (ARI) between restarts.
    Seconds are the time of one fit. Separate several topics, methods or languages by commas, or repeat the
    option. "--topics auto" estimates the number of topics once and uses it for all methods.

    \b
    Examples:
      coterie compare tickets.csv --text subject --topics 4,8 --restarts 2
      coterie compare tickets.csv --text subject --topics auto --method coterie,nmf-ncut
      coterie compare tickets.csv --text subject --class-column team --method nmf-idf,term-nmf
    """
    from coterie import comparison
    from coterie.corpus import Vectorizer

    sizes = _sizes(topics)
    with shown():
        texts, classes = _read(open_source(file, **reading), class_column)
        result = comparison.compare(
            texts,
            classes,
            n_topics=sizes or None,
            methods=parts(method) or comparison.DEFAULT_METHODS,
            n_restarts=restarts,
            vectorizer=Vectorizer(language, min_df=2),
        )
    if as_json:
        print_json(result)
    else:
        _show(console(), result)


def _sizes(topics: Iterable[str]) -> list[Size]:
    """The numbers of topics given; "auto" stays as it is."""
    return ["auto" if part == "auto" else numbers([part], "--topics")[0] for part in parts(topics)]


def _read(source: TextSource, class_column: str | None) -> tuple[list[str], list[str | None] | None]:
    """All texts of a file, and their classes."""
    import polars as pl

    from coterie.progress import tell
    from coterie.text.inputs import choose_column

    texts: list[str] = []
    classes: list[str | None] = []
    for batch in source:
        if class_column is not None:
            class_column = choose_column(batch.table.columns, class_column, source.source_name)
        texts += batch.texts.to_list()
        classes += batch.table[class_column].cast(pl.String).to_list() if class_column is not None else []
        tell("reading", len(texts), None, "texts")
    report_reading(source)
    return texts, classes if class_column is not None else None


def _show(page: Console, result: Comparison) -> None:
    labelled = f", {result.n_labelled:,} in {result.n_classes:,} known classes" if result.n_labelled else ""
    page.print(f"[bold]{result.n_texts:,} texts[/bold], {result.n_empty:,} without a known word{labelled}")
    if (number := result.number_of_topics) is not None:
        page.print(
            f"estimated number of topics: {number.n_topics:,} "
            f"(plausible range: {number.low:,} to {number.high:,})"
        )
    page.print(_scores(result))
    for line in _chart(result, "█" if page.encoding.lower().startswith("utf") else "#"):
        page.print(line, markup=False, soft_wrap=True)
    for row in result.rows:
        for warning in row.warnings:
            page.print(safe(f"{row.method}, {row.n_topics} topics: {warning}"), markup=False, soft_wrap=True)


def _scores(result: Comparison) -> Table:
    """A row for each method and number of topics; the best value of each column has a star."""
    columns = [*result.measures, "seconds"]
    best = {name: _best(result.rows, name) for name in columns}
    rows = [
        (row.method, row.n_topics, *(_cell(row, name, best[name]) for name in columns)) for row in result.rows
    ]
    titles = [_TITLES.get(name, name) for name in columns]
    return table(["method", "topics", *titles], rows, caption="* best in its column", right=titles)


def _best(rows: tuple[Compared, ...], name: str) -> str | None:
    """The best value as displayed, so that values that look equal are all marked."""
    values = [value for row in rows if (value := getattr(row, name)) is not None]
    if not values:
        return None
    return _formatted(min(values) if name == "seconds" else max(values), name)


def _formatted(value: float, name: str) -> str:
    return f"{value:.2f}" if name == "seconds" else f"{value:.3f}"


def _cell(row: Compared, name: str, best: str | None) -> Text:
    from rich.text import Text

    value = getattr(row, name)
    spelled = "-" if value is None else _formatted(value, name)
    return Text(spelled + _BEST, "bold") if spelled == best else Text(spelled + " " * len(_BEST))


def _chart(result: Comparison, block: str) -> Iterator[str]:
    """The main score as bars, the best first."""
    main = result.measures[0]
    names = {row: f"{row.method}, {row.n_topics}" for row in result.rows}
    width = max(map(len, names.values()))
    ordered = sorted(result.rows, key=lambda row: -getattr(row, main))
    longest = getattr(ordered[0], main)
    yield _TITLES[main]
    for row in ordered:
        value = getattr(row, main)
        bar = block * round(_BAR * value / longest) if value > 0 else ""
        yield f"  {names[row]:<{width}}  {_formatted(value, main):>6}  {bar}".rstrip()
