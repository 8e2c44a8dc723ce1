"""The command line: one small module per command; the work is done by the library.

A command is imported on first use, so `coterie --help` loads none of them. Packages that are installed
beside coterie add commands by entry points of the group `coterie.commands`; these are looked up only when a
name is not one of `COMMANDS`, or when all commands are listed.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from coterie import __version__
from coterie.cli import exits
from coterie.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: What each command does, in the order of the help page. Command NAME is in module `coterie.cli.NAME`.
COMMANDS = {
    "demo": "See what coterie does with the built-in sample.",
    "fit": "Find the topics in a file of texts and write them to a run folder.",
    "topics": "Show the topics of a run.",
    "search": "Find the texts of a run that fit a query.",
    "explore": "Explore and edit a run in the browser.",
    "assign": "Assign new texts to the topics of a run.",
    "recommend": "Recommend texts that are like those somebody read.",
    "edit": "Rename, merge or split topics, ban terms, pin texts.",
    "name": "Name topics with a language model of your choice.",
    "evaluate": "Measure the quality of the topics of a run.",
    "verify": "Compute a run again and compare it step by step.",
    "compare": "Compare methods and numbers of topics on a file.",
    "weights": "Compare term weights: idf and Ncut.",
    "data": "List and download labelled data sets.",
}


#: Commands of packages in the same repository: what each does, and how the package is installed.
_BESIDE = {
    "reproduce": (
        "Run the experiments of the papers (package coterie-papers).",
        "'coterie reproduce' is in the package coterie-papers, which is not installed; "
        "in a checkout of coterie, pip install . ./papers installs it",
    ),
}


def _added() -> dict[str, EntryPoint]:
    """Commands of packages that are installed beside this one."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="coterie.commands")}


def _missing(name: str) -> click.Command:
    """Stands for a command whose package is not installed: it says how to install it, whatever is asked."""
    about, advice = _BESIDE[name]

    def say() -> None:
        raise InputError(advice)

    passed = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, passed, say, short_help=about, add_help_option=False)


class _Commands(click.Group):
    """Commands that are imported on first use and end with one sentence and an exit code on failure."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS | _BESIDE | _added())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command: click.Command = getattr(import_module(f"coterie.cli.{cmd_name}"), cmd_name)
            command.short_help = COMMANDS[cmd_name]
            return command
        added = _added()
        if cmd_name in added:
            command = added[cmd_name].load()
            return command
        return _missing(cmd_name) if cmd_name in _BESIDE else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        added = {name: f"Added by {point.module.split('.')[0]}." for name, point in _added().items()}
        beside = {name: about for name, (about, _) in _BESIDE.items()}
        with formatter.section("Commands"):
            formatter.write_dl(list((COMMANDS | added | beside).items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            known = self.list_commands(ctx)
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"available commands: {', '.join(known)}"
                raise click.UsageError(f"there is no command '{name}'; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with exits.reported():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with exits.reported():
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
    """Find topics in short texts, using word co-occurrence.

    \b
    Examples:
      coterie demo
      coterie fit tickets.csv --text subject --out tickets
      coterie fit --help
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
