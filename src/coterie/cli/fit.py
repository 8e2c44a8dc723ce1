"""`coterie fit`: find the topics in a file and write the run folder."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.cli.counting import counting_options, vectorizer_of
from coterie.cli.engines import EngineChoice, engine_options
from coterie.cli.in_short import dated_findings, in_short
from coterie.cli.predefined import number_of_topics, predefined_of, predefined_options
from coterie.cli.shared import (
    RenamedOption,
    Size,
    console,
    day_first_option,
    input_options,
    is_integer,
    json_option,
    open_source,
    print_json,
    report_reading,
    safe,
)
from coterie.cli.topics import topics_table
from coterie.cli.vectors import METAVAR, needed, source_and_vectors
from coterie.errors import InputError
from coterie.progress import shown

if TYPE_CHECKING:
    from coterie.cluster.n_topics import NumberOfTopics
    from coterie.runs import Run
    from coterie.topics import TopicModel


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@input_options
@click.option(
    "--topics", metavar="N", default="auto", show_default=True, help="Number of topics; auto estimates it."
)
@click.option(
    "--out", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path),
    help="Run folder to write. Default: the name of the file with -topics appended.",
)  # fmt: skip
@predefined_options
@click.option(
    "--method",
    metavar="NAME",
    default="coterie",
    show_default=True,
    help="Method; 'coterie compare --list-methods' lists them.",
)
@click.option(
    "--embeddings",
    metavar=METAVAR,
    default="auto",
    show_default=True,
    help="static (needs coterie[words]), model2vec:NAME, sentence-transformers:NAME, none, or a .npy or "
    ".parquet file with a row for each row of FILE; auto: static for up to 2,000 texts in English.",
)
@click.option(
    "--random-state", metavar="N", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
    help="Seed of the random number generator.",
)  # fmt: skip
@counting_options
@click.option(
    "--keep-boilerplate", is_flag=True,
    help="Count what recurs in texts about different things, such as closings and notices.",
)  # fmt: skip
@click.option("--date", metavar="COLUMN", help="Column with dates; adds a timeline to the report.")
@day_first_option
@click.option(
    "--class-column", cls=RenamedOption, former="--label", metavar="COLUMN",
    help="Column with known classes; used in the report, not for fitting.",
)  # fmt: skip
@click.option(
    "--fresh",
    is_flag=True,
    help="Discard the edits, and --keep-boilerplate, of an earlier run in the folder.",
)
@click.option(
    "--memory", metavar="SIZE", type=Size(),
    help="Keep texts, counts and answers on disk, beside the run, and take at most SIZE of memory, such as "
    "2GB: a fit whose terms and topics need more is refused.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Continue a fit with --memory, or on workers, that was stopped.")
@engine_options
@json_option
def fit(
    file: str,
    language: list[str],
    topics: str,
    out: Path | None,
    seed_words: tuple[str, ...],
    predefined: Path | None,
    only_predefined: bool,
    method: str,
    embeddings: str,
    random_state: int,
    stop_words: Path | None,
    drop: str,
    min_df: int,
    ngrams: int,
    keep_boilerplate: bool,
    date: str | None,
    day_first: bool | None,
    class_column: str | None,
    fresh: bool,
    memory: int | None,
    resume: bool,
    engine: EngineChoice,
    as_json: bool,
    **reading: Any,
) -> None:
    """Find the topics of the texts in FILE ("-" for standard input) and write them to a run folder.

    FILE can be CSV, TSV, JSON, JSON Lines, Parquet, Excel or plain text with one text per line, also gzipped.
    A folder, or a pattern in quotes such as 'logs/*.csv', is read as one file, and so is a URL such as
    's3://bucket/logs/*.csv' (needs coterie[remote] and s3fs).
    The column with the texts is detected unless --text names it. The run folder contains report.html,
    topics.csv, an assignment with confidence and reason for every row (assignments.csv and .parquet), the
    model, the edits and run.json. If the folder already contains a run, its edits are applied to the new one.

    \b
    Examples:
      coterie fit tickets.csv
      coterie fit tickets.csv --text subject --topics 4 --out run
      coterie fit 'logs/*.csv' --text subject --topics 4 --out run
      coterie fit logs --text subject --skip-bad --bad-rows bad.csv --topics 4 --out run
      coterie fit tickets.csv --text subject --topics 4 --seed-words "billing: invoice, refund" --out run
      coterie fit tickets.csv --text subject --predefined topics.json --only-predefined --out run
      cut -d, -f3 tickets.csv | coterie fit - --format lines --topics 3 --out run
      coterie fit 'logs/*.csv' --text subject --topics 4 --memory 2GB --out run
      coterie fit tickets.csv --text subject --topics 4 --engine processes --workers 2 --out run
    """
    from coterie.runs import fit_run
    from coterie.runs.record import kept_boilerplate
    from coterie.runs.work import beside, is_begun
    from coterie.topics import TopicModel

    folder = out if out is not None else Path(_stem(file) + "-topics")
    languages = language[0] if len(language) == 1 else language
    encoder, vectors = source_and_vectors(embeddings)
    known = predefined_of(seed_words, predefined)
    model = TopicModel(
        number_of_topics(_number(topics), known, only_predefined),
        method=method,
        language=languages,
        vectorizer=vectorizer_of(languages, stop_words, drop, min_df, ngrams),
        predefined=known,
        embeddings=encoder,
        keep_boilerplate=keep_boilerplate or (not fresh and kept_boilerplate(folder)),
        random_state=random_state,
    )
    source = open_source(file, **reading)
    if resume and not is_begun(beside(folder)):
        missing = f"coterie: there is no stopped fit in {beside(folder)}; this one starts from the beginning"
        click.echo(safe(missing), err=True)
    with _hint_to_resume(folder), shown(as_json), ExitStack() as stack:
        workers = stack.enter_context(engine.open()) if engine.chosen else None
        run = fit_run(
            source,
            folder,
            model,
            embeddings=vectors,
            edits=() if fresh else None,
            date=date,
            day_first=day_first,
            class_column=class_column,
            command=_typed(file),
            vectors_file=None if vectors is None else embeddings,
            workers=workers,
            memory=memory,
            resume=resume,
        )
    report_reading(source)
    if as_json:
        print_json({"folder": str(folder), "run": run.info, "topics": run.model.topics})
    else:
        show_topics(run, source.source_name)
        show_next(run)


@contextmanager
def _hint_to_resume(folder: Path) -> Iterator[None]:
    """Say what a fit that was stopped has left behind, and how it goes on."""
    from coterie.runs.work import beside, is_begun

    try:
        yield
    except BaseException:
        if is_begun(left := beside(folder)):
            click.echo(
                safe(f"coterie: what was computed is in {left}; the same command with --resume goes on"),
                err=True,
            )
        raise


def _stem(file: str) -> str:
    parts = [] if file == "-" else Path(file).parts
    plain = [part for part in parts if not set("*?[") & set(part) or Path(file).exists()]
    return (plain[-1].split(".")[0] if plain else "") or "texts"


def _number(topics: str) -> Any:
    if topics == "auto":
        return topics
    if not is_integer(topics) or int(topics) < 1:
        raise InputError(f"--topics must be auto or an integer of at least 1, got {topics[:60]!r}")
    return int(topics)


def _typed(file: str) -> str:
    """The command as it was typed, for the record."""
    from coterie.text.readers.remote import called

    words = sys.argv[1:] if "fit" in sys.argv[1:2] else ["fit", file]
    return shlex.join(["coterie", *map(called, words)])


def show_topics(run: Run, source_name: str) -> None:
    """Print the topics of a run that has just been fitted, and what changed."""
    from rich.text import Text

    model, out = run.model, console()
    lost = model.n_texts_ - model.n_known_
    unknown = f", {lost:,} without a known word" if lost else ""
    if skipped := run.info.get("non_answers"):
        unknown += f" (non-answers such as 'n/a': {skipped:,})"
    many = "1 text" if model.n_texts_ == 1 else f"{model.n_texts_:,} texts"
    out.print(Text.assemble((many, "bold"), f" in {safe(source_name)}{unknown}"))
    if model.number_of_topics_ is not None:
        out.print(Text(_how_many(model.number_of_topics_, len(model.fitted.scorer.ids))))
    if found := model.boilerplate_:
        parts = "1 text" if found.texts == 1 else f"{found.texts:,} texts"
        said = f"left out of {parts}, because it recurs in texts about different things: {found}"
        out.print(Text(safe(f"{said} (the report lists all; --keep-boilerplate counts it)")))
    if told := _about_embeddings(model):
        out.print(Text(told))
    if applied := run.info.get("edits_applied"):
        edits = "1 edit" if applied == 1 else f"{applied} edits"
        out.print(
            Text(
                f"{edits} applied from the earlier run ('coterie edit log' lists them, --fresh discards them)"
            )
        )
    out.print(topics_table(model.topics, without_words=lost, n_texts=model.n_texts_))
    if len(model.levels) > 1:
        command = f"coterie topics {shlex.quote(str(run.folder))} --levels"
        out.print(Text(safe(f"levels: {model.levels.in_short()} ({command} lists them)")), soft_wrap=True)
    if (changed := in_short(run)) is not None:
        out.print(changed, soft_wrap=True)


def show_next(run: Run) -> None:
    """Print where the run was written, and what to do with it."""
    from rich.text import Text

    out = console()
    seconds = f" in {sum(run.info['seconds'].values()):.1f} s; open "
    page = str(run.folder / "report.html")
    out.print(
        Text.assemble(
            "Wrote ", (safe(str(run.folder)), "bold"), seconds, (safe(page), "bold"), " in a browser"
        )
    )
    folder = shlex.quote(str(run.folder))
    hints = {
        f"coterie explore {folder}": "look at the map, search, read and edit in the browser",
        f"coterie topics {folder} --examples 3": "show typical texts of each topic",
        f"coterie assign {folder} new.csv{needed(run.model)}": "assign new texts to these topics",
        f"coterie edit rename {folder} 0 'A name'": "edit topics; also merge, split, ban, pin, undo",
    }
    if dated_findings(run) is not None:
        date = run.info["data"]["date"]
        hints[f"coterie topics {folder} --over-time {shlex.quote(date)}"] = "show what grew or fell"
    width = max(len(safe(command)) for command in hints)
    for command, about in hints.items():
        out.print(Text(f"  {safe(command):<{width}}  {about}"), soft_wrap=True)


def _about_embeddings(model: TopicModel) -> str:
    """What embeddings did here, or could do, in a line."""
    from coterie.embeddings import is_auto, static_installed, static_may_help

    if is_auto(model.embeddings):
        assert model.collection is not None
        if model.embeddings_ is not None:
            used = "There are few texts, so word embeddings are used too (--embeddings none turns them off)."
            return f"{used} {model.decision_}"
        may_help = static_may_help(model.method, model.language, model.collection.corpus.n_distinct)
        if may_help and not static_installed():
            return (
                'There are few texts: word embeddings may give better topics (pip install "coterie[words]").'
            )
    return model.decision_


def _how_many(number: NumberOfTopics, found: int) -> str:
    """The estimated number of topics, its range, how many have texts, and how to choose another."""
    if not number.structured:
        return "no more structure than in shuffled texts, so there is one topic; --topics N finds N anyway"
    others = [str(peak) for peak in number.peaks if peak != number.n_topics]
    also = f"; {' or '.join(others)} would also fit" if others else ""
    fewer = f", {found} of which have texts" if found < number.n_topics else ""
    plausible = f"plausible range: {number.low} to {number.high}"
    return f"estimated number of topics: {number.n_topics}{fewer} ({plausible}){also}; --topics N sets it"
