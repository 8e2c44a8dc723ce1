"""`coterie demo`: the built-in sample, from texts to terms, weights and topics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from coterie.corpus import Corpus

_TOPICS = 14
_LANGUAGES = ["english", "french", "german", "chinese"]


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
    from rich.console import Console

    from coterie import datasets
    from coterie.text import Vectorizer

    sample = datasets.load("sample")
    corpus = Vectorizer(_LANGUAGES, min_df=2).fit_corpus(sample.texts)
    vocabulary = _weighted_vocabulary(corpus)
    assignments, topics = _topics(corpus)
    console = Console(highlight=False)
    console.print(f"[bold]{corpus.n_texts:,} support tickets[/bold] of a fictitious shop")
    known = corpus.unfolded().getnnz(axis=1) > 0
    console.print(f"  {corpus.n_distinct:,} different texts, {int((~known).sum())} without a known word")
    console.print(f"  {len(corpus.vocabulary):,} terms, {int(vocabulary['count'].sum()):,} occurrences")
    console.print(_heaviest(vocabulary))
    console.print(_shown(topics))
    out.mkdir(parents=True, exist_ok=True)
    tables = {"vocabulary": vocabulary, "topics": topics, "assignments": assignments}
    for name, table in tables.items():
        table.write_csv(out / f"{name}.csv")
    written = ", ".join(f"{name}.csv" for name in tables)
    console.print(f"Written {written} to: [bold]{out}[/bold]", soft_wrap=True)


def _weighted_vocabulary(corpus: Corpus) -> pl.DataFrame:
    import polars as pl

    from coterie import weights

    return corpus.vocabulary.frame().with_columns(
        idf=pl.Series(weights.idf(corpus.engine)), ncut=pl.Series(weights.ncut(corpus.engine))
    )


def _topics(corpus: Corpus) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A topic for every text, and what the topics are made of."""
    import numpy as np
    import polars as pl

    from coterie import Coterie

    model = Coterie(_TOPICS).fit(corpus.matrix(), sample_weight=corpus.weights())
    labels = model.labels_[corpus.rows]
    sizes = np.bincount(labels, minlength=_TOPICS)
    names = np.array(corpus.vocabulary.display, dtype=object)
    terms = [", ".join(names[best]) for best in model.topic_terms_[:, :8]]
    topics = pl.DataFrame({"topic": range(_TOPICS), "texts": sizes, "terms": terms})
    assignments = pl.DataFrame({"row": range(1, corpus.n_texts + 1), "topic": labels})
    return assignments, topics.sort("texts", "topic", descending=[True, False])


def _heaviest(terms: pl.DataFrame, rows: int = 8) -> Table:
    """The most frequent terms, and those that weigh most or change rank most between idf and Ncut."""
    import polars as pl
    from rich.table import Table
    from rich.text import Text

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


def _shown(topics: pl.DataFrame) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=f"{len(topics)} topics", title_justify="left")
    shown.add_column("texts", justify="right")
    shown.add_column("terms")
    for texts, terms in topics.select("texts", "terms").iter_rows():
        shown.add_row(str(texts), Text(terms))
    return shown
