"""`coterie demo`: the built-in sample, from texts to what they are made of."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("run/demo"),
    show_default=True,
    help="Folder to write to.",
)
def demo(out: Path) -> None:
    """Show what is in the built-in sample: 1,500 support tickets of a fictitious shop.

    \b
    Example:
      coterie demo --out run/demo
    """
    import polars as pl
    from rich.console import Console

    from coterie import datasets, weights
    from coterie.text import Vectorizer

    sample = datasets.load("sample")
    corpus = Vectorizer(["english", "french", "german", "chinese"], min_df=2).fit_corpus(sample.texts)
    table = corpus.vocabulary.frame().with_columns(
        idf=pl.Series(weights.idf(corpus.engine)), ncut=pl.Series(weights.ncut(corpus.engine))
    )
    empty = int((corpus.weights() @ (corpus.matrix().getnnz(axis=1) == 0)).item())
    console = Console(highlight=False)
    console.print(f"[bold]{corpus.n_texts:,} support tickets[/bold] of a fictitious shop")
    console.print(f"  {corpus.n_distinct:,} different texts, {empty} without a known word")
    console.print(f"  {len(corpus.vocabulary):,} terms, {int(table['count'].sum()):,} occurrences")
    console.print(_heaviest(table))
    out.mkdir(parents=True, exist_ok=True)
    path = out / "vocabulary.csv"
    table.write_csv(path)
    console.print(f"Every term with its counts and weights: [bold]{path}[/bold]", soft_wrap=True)


def _heaviest(terms: object, rows: int = 10) -> object:
    """Terms as a table: the most frequent, and those that gain and lose most between idf and Ncut."""
    import polars as pl
    from rich.table import Table
    from rich.text import Text

    assert isinstance(terms, pl.DataFrame)
    ranked = terms.with_columns(
        move=pl.col("idf").rank("ordinal", descending=True) - pl.col("ncut").rank("ordinal", descending=True)
    )
    known = ranked.filter(pl.col("document_frequency") >= 10)
    columns = {
        "most frequent": ranked.sort("document_frequency", "term", descending=[True, False]),
        "heaviest by idf": known.sort("idf", "term", descending=[True, False]),
        "heaviest by Ncut": known.sort("ncut", "term", descending=[True, False]),
        "Ncut likes better": known.sort("move", "term", descending=[True, False]),
        "idf likes better": known.sort("move", "term"),
    }
    shown = Table(title="Terms in at least 10 texts", title_justify="left")
    for name in columns:
        shown.add_column(name)
    # Text, not markup: a term is somebody's writing
    for row in zip(*(frame["display"].head(rows) for frame in columns.values()), strict=True):
        shown.add_row(*(Text(term) for term in row))
    return shown
