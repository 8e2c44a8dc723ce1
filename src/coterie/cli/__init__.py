"""The command line. One thin file a command; everything they do is in the library."""

from __future__ import annotations

from typing import Any

import click

from coterie import __version__
from coterie.cli.compare import compare
from coterie.cli.demo import demo
from coterie.errors import InputError


class _Commands(click.Group):
    """Tells a person's mistake in one sentence on standard error, with exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            click.echo(f"coterie: {error}", err=True)
            ctx.exit(2)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="coterie")
def main() -> None:
    """Find topics in short texts through the company words keep."""


main.add_command(demo)
main.add_command(compare)
