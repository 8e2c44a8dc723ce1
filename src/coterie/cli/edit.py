"""`coterie edit`: rename, merge and split topics, ban terms, pin texts; kept in a log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coterie.cli.shared import console, print_json, safe, table
from coterie.cli.topics import topics_table
from coterie.progress import shown

if TYPE_CHECKING:
    from coterie.results import Topic
    from coterie.runs import Run
    from coterie.topics import Edit, TopicModel
    from coterie.topics.editing import Edits

#: Terms by which topics are compared.
_SHOWN = 8

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _run_argument(command: Decorated) -> Decorated:
    return click.argument("run", type=click.Path(path_type=Path))(command)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def edit() -> None:
    """Edit the topics of a run. Refer to a topic by its number, its label or the beginning of its label.

    Edits are kept in edits.json in the run folder. The next "coterie fit" into that folder applies them
    again.

    \b
    Examples:
      coterie edit rename run 0 "Deliveries"
      coterie edit merge run 0 1
      coterie edit undo run
    """


@edit.command()
@_run_argument
@click.argument("topic")
@click.argument("label")
def rename(run: Path, topic: str, label: str) -> None:
    """Give TOPIC of RUN a new label.

    \b
    Example:
      coterie edit rename run 0 "Deliveries"
    """
    from coterie.runs.relabel import rename as relabelled

    with shown():
        done = relabelled(run, topic, label)
    click.echo(safe(f"done: {done.edits[0]}"))
    console().print(topics_table(done.changed, title="changed topics"))


@edit.command()
@_run_argument
@click.argument("into")
@click.argument("others", nargs=-1, required=True)
def merge(run: Path, into: str, others: tuple[str, ...]) -> None:
    """Merge the topics OTHERS into the topic INTO.

    \b
    Example:
      coterie edit merge run 0 1
    """
    _edited(run, lambda edits: edits.merge(into, *others))


@edit.command()
@_run_argument
@click.argument("topic")
@click.option(
    "--parts",
    metavar="N",
    type=click.IntRange(2, 100),
    default=2,
    show_default=True,
    help="Number of topics to split it into.",
)
def split(run: Path, topic: str, parts: int) -> None:
    """Split TOPIC into several; the largest part keeps its number.

    \b
    Example:
      coterie edit split run 0 --parts 2
    """
    _edited(run, lambda edits: edits.split(topic, parts))


@edit.command()
@_run_argument
@click.argument("terms", nargs=-1, required=True)
def ban(run: Path, terms: tuple[str, ...]) -> None:
    """Ignore TERMS, in this run and in later fits into its folder.

    \b
    Example:
      coterie edit ban run parcel
    """
    _edited(run, lambda edits: edits.ban(*terms))


@edit.command()
@_run_argument
@click.argument("text")
@click.argument("topic")
def pin(run: Path, text: str, topic: str) -> None:
    """Always assign TEXT, and every identical text, to TOPIC.

    \b
    Example:
      coterie edit pin run "where is my parcel" 0
    """
    saved = _edited(run, lambda edits: edits.pin(text, topic))
    collection = saved.with_texts().collection
    if collection is not None and not collection.texts.where([text])[text]:
        click.echo("the run contains no such text; the pin will apply to new texts", err=True)


@edit.command()
@_run_argument
@click.option(
    "--last",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of edits to undo.",
)
def undo(run: Path, last: int) -> None:
    """Undo the last edit, or the last few.

    \b
    Example:
      coterie edit rename run 0 "Deliveries" && coterie edit undo run
    """
    _edited(run, lambda edits: edits.undo(last), stamp=False)


@edit.command("log")
@_run_argument
@click.option("--json", "as_json", is_flag=True, help="Print the edits as JSON.")
def show_log(run: Path, as_json: bool) -> None:
    """List the edits of RUN in order.

    \b
    Example:
      coterie edit log run
    """
    from coterie.runs import open_run

    edits = tuple(open_run(run).model.edits)
    if as_json:
        print_json(list(edits))
    elif not edits:
        click.echo("no edits yet")
    else:
        rows = [[number, str(edit), edit.made] for number, edit in enumerate(edits, 1)]
        console().print(table(["", "edit", "made"], rows))


def _edited(run: Path, change: Callable[[Edits], Edits], stamp: bool = True) -> Run:
    """Edit a run and show the topics that changed."""
    from coterie.runs import edit_run

    before: dict[int, Topic] = {}
    last: list[Edit] = []

    def changed(model: TopicModel) -> None:
        before.update((topic.id, topic) for topic in model.topics)
        last.extend(model.edits[-1:])
        change(model.edits)
        if stamp:
            model.edits.stamp(datetime.now(UTC).isoformat(timespec="seconds"))

    with shown():
        saved = edit_run(run, changed)
    edits = saved.model.edits
    left = f"{len(edits)} edits left" if len(edits) != 1 else "1 edit left"
    click.echo(safe(f"done: {edits[-1]}" if stamp else f"undone: {last[0]}; {left}"))
    if others := [topic for topic in saved.model.topics if _differs(topic, before.get(topic.id))]:
        console().print(topics_table(others, title="changed topics"))
    return saved


def _differs(after: Topic, before: Topic | None) -> bool:
    """Whether a reader sees another topic: measures and weights change a little with every edit."""
    return before is None or _seen(after) != _seen(before)


def _seen(topic: Topic) -> tuple[str, int, tuple[str, ...]]:
    return topic.label, topic.size, tuple(topic.terms[:_SHOWN])
