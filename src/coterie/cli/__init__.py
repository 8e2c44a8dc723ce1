"""The command line. One thin file a command; everything they do is in the library.

A command is imported when it is asked for: `coterie --help` loads none of them.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from coterie import __version__
from coterie.cli import exits

#: What each command does, in the order of the help page. Command NAME is in module `coterie.cli.NAME`.
COMMANDS = {
    "demo": "See what coterie does, on the built-in sample.",
    "fit": "Find topics in the texts of a file, and keep them in a folder.",
    "topics": "Show the topics of a fitted folder.",
    "explore": "Look at a fitted folder in the browser, and edit it there.",
    "assign": "Give new texts the topics of a fitted folder.",
    "edit": "Rename, merge and split topics, ban terms, pin texts.",
    "evaluate": "Measure how good topics are.",
    "compare": "Compare methods and numbers of topics on a file.",
    "weights": "Compare the weights of terms: idf against Ncut.",
    "data": "List and fetch labelled data sets.",
    "reproduce": "Run the experiments of the papers, and write a page about each.",
    "completion": "Print the script that completes commands in your shell.",
}


class _Commands(click.Group):
    """Commands that are imported on first use, and end with a sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"coterie.cli.{cmd_name}"), cmd_name)
        command.short_help = COMMANDS[cmd_name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            near = get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command '{name}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with exits.told():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with exits.told():
            return super().invoke(ctx)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    epilog=exits.CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="coterie")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Find topics in short texts through the company words keep.

    \b
    Examples:
      coterie demo
      coterie fit tickets.csv --text subject --out tickets
      coterie fit --help
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
