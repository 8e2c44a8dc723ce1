"""`coterie name`: names and descriptions of topics from a language model of the user's choice."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coterie.cli.shared import console, safe, safe_lines
from coterie.cli.topics import topics_table
from coterie.errors import InputError
from coterie.progress import shown

if TYPE_CHECKING:
    from coterie.runs.asking import Question

_KEYS = ("COTERIE_API_KEY", "OPENAI_API_KEY")


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--endpoint",
    metavar="URL",
    required=True,
    help="Address of a server that speaks the OpenAI chat completions protocol.",
)
@click.option("--model", metavar="NAME", required=True, help="Name of the language model.")
@click.option(
    "--topic",
    "wanted",
    metavar="TOPIC",
    multiple=True,
    help="Only this topic, by number or label; may be given several times.  "
    "[default: all that were not named by hand]",
)
@click.option("--send-texts", is_flag=True, help="Also send five typical texts of each topic, shortened.")
@click.option("--yes", is_flag=True, help="Send without asking.")
@click.option(
    "--parallel", metavar="N", type=click.IntRange(1, 16), default=4, show_default=True,
    help="Questions sent at the same time.",
)  # fmt: skip
@click.option(
    "--timeout", metavar="SECONDS", type=click.FloatRange(1, 3600), default=60, show_default=True,
    help="Longest wait for one answer.",
)  # fmt: skip
def name(
    run: Path,
    endpoint: str,
    model: str,
    wanted: tuple[str, ...],
    send_texts: bool,
    yes: bool,
    parallel: int,
    timeout: float,
) -> None:
    """Name the topics of RUN with a language model, on this machine or elsewhere.

    Prints what would leave the machine and asks before it is sent: the label and ten terms of each topic, and
    texts only with --send-texts, without markup and boilerplate. E-mail addresses, links and numbers are
    masked; names of people are not. A key, if the server needs one, comes from the environment variable
    COTERIE_API_KEY or OPENAI_API_KEY. Names are edits of the run: "coterie edit undo" takes them back.
    Answers are kept in the run folder, so a command that was stopped goes on where it was.

    \b
    Examples:
      coterie name run --endpoint http://localhost:11434/v1 --model llama3.2
      coterie name run --endpoint http://localhost:11434/v1 --model llama3.2 --send-texts --yes
    """
    from coterie.runs import open_run
    from coterie.runs.asking import ask, give_names, named_by_hand, questions
    from coterie.runs.endpoint import Endpoint
    from coterie.topics.edits import named_topic

    key = next((os.environ[variable] for variable in _KEYS if os.environ.get(variable)), "")
    server = Endpoint(endpoint, model, key, timeout)
    with shown():
        fitted = open_run(run).model
    topics = fitted.topics
    ids = {named_topic(topic, topics).id for topic in wanted}
    ids = ids or {topic.id for topic in topics} - named_by_hand(run, fitted)
    asked = questions(fitted, ids, texts=send_texts)
    if not asked:
        raise InputError("all topics were named by hand; --topic TOPIC asks for one all the same")
    _show(asked, endpoint, model)
    if not yes:
        _ask_for_consent(len(asked), endpoint)
    others = [topic.label for topic in topics if topic.id not in ids]
    with shown():
        answers = ask(run, asked, server, others=others, threads=parallel)
        done = give_names(run, answers, topics)
    for topic in topics:
        if topic.id in answers.refused:
            why = answers.refused[topic.id]
            click.echo(safe(f"topic {topic.id} keeps its name {topic.label!r}: {why}"), err=True)
    if done is None and answers.refused:
        raise InputError("no topic has a new name: no answer could be used")
    if done is None:
        click.echo("no topic has a new name")
        return
    console().print(topics_table(done.changed, title="changed topics"))
    number = len(done.edits)
    click.echo(safe(f"undo with: coterie edit undo {run} --last {number}"))


def _show(asked: Sequence[Question], endpoint: str, model: str) -> None:
    """Print everything that would be sent."""
    from coterie.topics.prompts import SYSTEM

    click.echo(safe(f"to {endpoint}, model {model}, for each topic this message:"), err=True)
    click.echo(f"  {SYSTEM}", err=True)
    click.echo("and its data:", err=True)
    for question in asked:
        click.echo(f"  {safe_lines(question.prompt)}", err=True)


def _ask_for_consent(number: int, endpoint: str) -> None:
    if not sys.stdin.isatty():
        raise InputError("nothing was sent: add --yes to send this without being asked")
    many = f"{number} questions" if number != 1 else "1 question"
    if not click.confirm(safe(f"Send {many} to {endpoint}?"), err=True):
        raise InputError("nothing was sent")
