"""`coterie weights`: how much each term counts by idf and by Ncut, and where the two differ."""

from __future__ import annotations

from itertools import zip_longest
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
    table,
    told_skipped,
    whole_file,
)
from coterie.errors import InputError

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from coterie.corpus.counting import Corpus

#: What is shown of all terms: the column they are sorted by, and whether the largest come first.
_LISTS = {
    "heaviest_by_idf": ("idf", True),
    "heaviest_by_ncut": ("ncut", True),
    "ncut_likes_better": ("move", True),
    "idf_likes_better": ("move", False),
}


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@input_options
@click.option(
    "--top", metavar="N", type=click.IntRange(1), default=10, show_default=True, help="Terms of each list."
)
@click.option(
    "--min-df", metavar="N", type=click.IntRange(1), default=5, show_default=True,
    help="Fewest texts that hold a term.",
)  # fmt: skip
@click.option(
    "--out", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write all terms as CSV."
)
@json_option
def weights(
    file: str, language: list[str], top: int, min_df: int, out: Path | None, as_json: bool, **reading: Any
) -> None:
    """Compare the weights of the terms of FILE ("-" is standard input): idf against Ncut.

    idf is large for terms that few texts hold. Ncut is large for terms that keep little company: those whose
    texts are few and short. Shown are the heaviest terms by each, and those whose rank differs most.

    \b
    Examples:
      coterie weights tickets.csv --text subject
      coterie weights "$(coterie data path sample)" --text text --top 5 --min-df 10
      coterie weights tickets.csv --text subject --out weights.csv
    """
    from coterie.corpus import Vectorizer

    source = open_source(file, **reading)
    with shown():
        corpus = Vectorizer(language, min_df=min_df).fit_corpus(source)
        told_skipped(source)
        if not len(corpus.vocabulary):
            raise InputError(f"no term is held by {min_df} texts of {source.place}; give a smaller --min-df")
        terms = _weighted(corpus)
    if out is not None:
        with whole_file(out) as target:
            terms.write_csv(target)
    if as_json:
        lists = {name: _first(terms, name, top).to_dicts() for name in _LISTS}
        print_json({"n_texts": corpus.n_texts, "n_terms": len(terms), "min_df": min_df} | lists)
    else:
        _show(terms, corpus.n_texts, top, min_df, out)


def _weighted(corpus: Corpus) -> pl.DataFrame:
    """All terms with both weights, their ranks, and how many places Ncut lifts a term."""
    import polars as pl

    from coterie.weights import idf, ncut

    weighted = corpus.vocabulary.frame().with_columns(
        idf=pl.Series(idf(corpus.engine)), ncut=pl.Series(ncut(corpus.engine))
    )
    # terms of equal weight share their mean rank, or the alphabet would decide who moves
    ranked = weighted.with_columns(
        pl.col(name).rank("average", descending=True).alias(f"{name}_rank") for name in ("idf", "ncut")
    )
    return ranked.with_columns(move=pl.col("idf_rank") - pl.col("ncut_rank")).sort("term")


def _first(terms: pl.DataFrame, name: str, top: int) -> pl.DataFrame:
    """The first terms of a list; terms that do not move, or the other way, are in no list of moves."""
    import polars as pl

    column, largest = _LISTS[name]
    if column == "move":
        terms = terms.filter(pl.col("move") > 0 if largest else pl.col("move") < 0)
    return terms.sort(column, "term", descending=[largest, False]).head(top)


def _show(terms: pl.DataFrame, n_texts: int, top: int, min_df: int, out: Path | None) -> None:
    page = console()
    page.print(f"[bold]{len(terms):,} terms[/bold] in at least {min_df:,} of {n_texts:,} texts")
    page.print(_heaviest(terms, top))
    page.print(_moves(terms, top))
    if out is not None:
        page.print(f"Written to: {out}", markup=False, soft_wrap=True)


def _heaviest(terms: pl.DataFrame, top: int) -> Table:
    columns = [
        _first(terms, f"heaviest_by_{name}", top).select("display", name, "document_frequency").rows()
        for name in ("idf", "ncut")
    ]
    rows = [(*by_idf, *by_ncut) for by_idf, by_ncut in zip(*columns, strict=True)]
    return table(["heaviest by idf", "idf", "texts", "heaviest by Ncut", "Ncut", "texts"], rows)


def _moves(terms: pl.DataFrame, top: int) -> Table:
    """Who stands how many places higher by which weight."""
    lists = []
    for name in ("ncut_likes_better", "idf_likes_better"):
        found = _first(terms, name, top).select("display", "move", "document_frequency").rows()
        lists.append([(term, round(abs(move)), texts) for term, move, texts in found])
    rows = [(*left, *right) for left, right in zip_longest(*lists, fillvalue=("", "", ""))]
    return table(["Ncut likes better", "places", "texts", "idf likes better", "places", "texts"], rows)
