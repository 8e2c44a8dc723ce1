"""`coterie recommend`: from texts that somebody read to others like them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.shared import (
    console,
    input_options,
    json_option,
    open_source,
    print_json,
    report_reading,
    safe,
    table,
)
from coterie.progress import shown

if TYPE_CHECKING:
    import polars as pl

    from coterie.runs import Run

#: Characters of a text that are shown.
_SHOWN = 80
_FILE = click.Path(dir_okay=False)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--history", metavar="FILE", required=True, type=_FILE, help="File with texts that somebody read."
)
@click.option(
    "--candidates", metavar="FILE", required=True, type=_FILE, help="File with texts to choose from."
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Number of texts to show.",
)
@click.option(
    "--diversity", metavar="SHARE", type=click.FloatRange(0, 1), default=0.3, show_default=True,
    help="How much texts unlike each other are preferred (0 to 1).",
)  # fmt: skip
@input_options
@json_option
def recommend(
    run: Path,
    history: str,
    candidates: str,
    top: int,
    diversity: float,
    language: list[str],
    as_json: bool,
    **reading: Any,
) -> None:
    """Recommend those of the candidates that fit what somebody read, by the vectors of RUN.

    Both files are read alike. Texts are in the same column as in the run unless --text names another.
    Texts of the history and copies are left out. "row" is the row among the candidates, from 0, and "like"
    is the text of the history that is most similar.

    \b
    Examples:
      coterie recommend run --history tickets.csv --candidates tomorrow.csv
      coterie recommend run --history tickets.csv --candidates tomorrow.csv --top 3 --diversity 0 --json
    """
    from coterie.runs import open_run
    from coterie.text.markup import readable

    opened = open_run(run)
    with shown(as_json):
        read, others = (_texts(opened, file, **reading) for file in (history, candidates))
        found = opened.model.recommend(read, others, top, diversity=diversity)
    if as_json:
        print_json(found)
        return
    if not found:
        console().print(f"no text of {safe(candidates)} fits those of {safe(history)}", markup=False)
        return
    rows = [[one.row, one.score, *(safe(readable(t), _SHOWN) for t in (one.text, one.like))] for one in found]
    console().print(table(["row", "score", "text", "like"], rows))


def _texts(opened: Run, file: str, text: str | None, **reading: Any) -> pl.Series:
    """The texts of a file, in the column of the run if it has that one."""
    import polars as pl

    from coterie.runs.parts import expected_column

    source = open_source(file, opened.info["data"]["column"] if text is None else text, **reading)
    batches = source if text is not None else expected_column(source)
    texts = [batch.texts for batch in batches]
    report_reading(source)
    return pl.concat(texts) if texts else pl.Series([], dtype=pl.String)
