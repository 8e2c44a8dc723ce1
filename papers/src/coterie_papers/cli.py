"""The command `coterie reproduce`: the experiments of the papers, and a page about each."""

from __future__ import annotations

from pathlib import Path

import click

from coterie.cli.shared import console, safe
from coterie.progress import shown
from coterie_papers import PAPERS


@click.command(short_help="Run the experiments of the papers, and write a page about each.")
@click.argument("papers", metavar="PAPER...", nargs=-1, required=True, type=click.Choice([*PAPERS, "all"]))
@click.option(
    "--out", metavar="FOLDER", required=True, type=click.Path(path_type=Path),
    help="Folder for the pages, figures and numbers.",
)  # fmt: skip
@click.option("--quick", is_flag=True, help="A small version that takes two minutes, not an hour.")
@click.option(
    "--workers", metavar="N", type=click.IntRange(1), help="Processes; by default as many as cores."
)
@click.option("--fresh", is_flag=True, help="Throw away earlier results of the folder and start anew.")
@click.option("--pages-only", is_flag=True, help="Run nothing: write the pages from results that are there.")
def reproduce(
    papers: tuple[str, ...], out: Path, quick: bool, workers: int | None, fresh: bool, pages_only: bool
) -> None:
    """Run the experiments of the papers behind coterie, and write a page about each.

    PAPER is ncut (CIKM 2012), tnmf (SDM 2013), nystrom (WWW 2015), semantic (SIGIR 2017), or all. A page has
    tables, figures and the raw numbers, and says what became of each claim of the paper. A run that was
    stopped goes on where it was. The data sets come from "coterie data".

    \b
    Examples:
      coterie reproduce ncut --quick --out papers
      coterie reproduce ncut --quick --out papers --pages-only
    """
    from coterie_papers.reproduction import reproduce as work
    from coterie_papers.verdicts import counted

    if fresh and pages_only:
        raise click.UsageError("--fresh throws away what --pages-only needs; give one of them")
    chosen = PAPERS if "all" in papers else papers
    with shown():
        written = work(chosen, out=out, quick=quick, workers=workers, fresh=fresh, pages_only=pages_only)
    page = console()
    for one in written:
        page.print(
            safe(
                f"{one.path}: {one.trials:,} trials, {one.seconds:,.0f} CPU seconds; "
                + counted(one.claims)
                + (" (small version: that says nothing)" if quick else "")
            ),
            markup=False,
            soft_wrap=True,
        )
