"""`coterie weights`: idf and Ncut weights of the terms of a file, and where they differ."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.shared import (
    check_not_input,
    console,
    input_options,
    json_option,
    open_source,
    print_json,
    report_reading,
    table,
    whole_file,
)
from coterie.errors import InputError
from coterie.progress import shown

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from coterie.corpus.counting import Corpus

#: The lists that are shown: the column to sort by, and whether in descending order.
_LISTS = {
    "largest_by_idf": ("idf", True),
    "largest_by_ncut": ("ncut", True),
    "higher_rank_by_ncut": ("rank_difference", True),
    "higher_rank_by_idf": ("rank_difference", False),
}


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@input_options
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Number of terms in each list.",
)
@click.option(
    "--min-df", metavar="N", type=click.IntRange(1), default=5, show_default=True,
    help="Ignore terms that fewer texts contain.",
)  # fmt: skip
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write all terms to a CSV file.",
)
@json_option
def weights(
    file: str, language: list[str], top: int, min_df: int, out: Path | None, as_json: bool, **reading: Any
) -> None:
    """Compare the idf and Ncut weights of the terms in FILE ("-" for standard input).

    idf is large for terms in few texts. Ncut is large for terms that co-occur with few others: those in few
    and short texts. The output shows the terms with the largest weights, and those whose ranks differ most.

    \b
    Examples:
      coterie weights tickets.csv --text subject
      coterie weights "$(coterie data path sample)" --text text --top 5 --min-df 10
      coterie weights tickets.csv --text subject --out weights.csv
    """
    from coterie.corpus import Vectorizer
    from coterie.storage.tables import CsvWriter

    check_not_input(out, file)
    source = open_source(file, **reading)
    with shown():
        corpus = Vectorizer(language, min_df=min_df).fit_corpus(source)
        report_reading(source)
        if not len(corpus.vocabulary):
            raise InputError(
                f"no term occurs in {min_df} texts of {source.source_name}; use a smaller --min-df"
            )
        terms = _weighted(corpus)
    if out is not None:
        with whole_file(out) as target, CsvWriter(target) as sheet:
            sheet.write(terms)
    if as_json:
        lists = {name: _first(terms, name, top).to_dicts() for name in _LISTS}
        print_json({"n_texts": corpus.n_texts, "n_terms": len(terms), "min_df": min_df} | lists)
    else:
        _show(terms, corpus.n_texts, top, min_df, out)


def _weighted(corpus: Corpus) -> pl.DataFrame:
    """All terms with both weights, their ranks, and how many ranks higher Ncut puts a term."""
    import polars as pl

    from coterie.weights import idf, ncut

    weighted = corpus.vocabulary.frame().with_columns(
        idf=pl.Series(idf(corpus.engine)), ncut=pl.Series(ncut(corpus.engine))
    )
    # terms of equal weight share their mean rank, or the alphabet would decide the difference
    ranked = weighted.with_columns(
        pl.col(name).rank("average", descending=True).alias(f"{name}_rank") for name in ("idf", "ncut")
    )
    return ranked.with_columns(rank_difference=pl.col("idf_rank") - pl.col("ncut_rank")).sort("term")


def _first(terms: pl.DataFrame, name: str, top: int) -> pl.DataFrame:
    """The first terms of a list; for rank differences, only terms that differ in its direction."""
    import polars as pl

    column, largest = _LISTS[name]
    if column == "rank_difference":
        difference = pl.col(column)
        terms = terms.filter(difference > 0 if largest else difference < 0)
    return terms.sort(column, "term", descending=[largest, False]).head(min(top, len(terms)))


def _show(terms: pl.DataFrame, n_texts: int, top: int, min_df: int, out: Path | None) -> None:
    page = console()
    page.print(f"[bold]{len(terms):,} terms[/bold] in at least {min_df:,} of {n_texts:,} texts")
    page.print(_largest(terms, top))
    page.print(_rank_differences(terms, top))
    if out is not None:
        page.print(f"Wrote {out}", markup=False, soft_wrap=True)


def _largest(terms: pl.DataFrame, top: int) -> Table:
    columns = [
        _first(terms, f"largest_by_{name}", top).select("display", name, "document_frequency").rows()
        for name in ("idf", "ncut")
    ]
    rows = [(*by_idf, *by_ncut) for by_idf, by_ncut in zip(*columns, strict=True)]
    return table(["largest by idf", "idf", "texts", "largest by Ncut", "Ncut", "texts"], rows)


def _rank_differences(terms: pl.DataFrame, top: int) -> Table:
    """Terms that rank higher by one weight than by the other, and by how much."""
    lists = []
    for name in ("higher_rank_by_ncut", "higher_rank_by_idf"):
        first = _first(terms, name, top).select("display", "rank_difference", "document_frequency").rows()
        lists.append([(term, round(abs(ranks)), texts) for term, ranks, texts in first])
    rows = [(*left, *right) for left, right in zip_longest(*lists, fillvalue=("", "", ""))]
    return table(["higher rank by Ncut", "ranks", "texts", "higher rank by idf", "ranks", "texts"], rows)
