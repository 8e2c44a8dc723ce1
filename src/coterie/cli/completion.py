"""`coterie completion`: the script by which a shell completes commands and options."""

from __future__ import annotations

import os
from pathlib import PurePath

import click
from click.shell_completion import get_completion_class

from coterie.errors import InputError

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
def completion(shell: str | None) -> None:
    """Print the script that completes commands and options in SHELL; by default the one you use.

    \b
    For the shell that is open:
      bash, zsh:  eval "$(coterie completion)"
      fish:       coterie completion | source

    \b
    For every shell to come, put the line into its start file:
      bash        ~/.bashrc
      zsh         ~/.zshrc, below compinit
      fish        ~/.config/fish/config.fish

    \b
    Examples:
      coterie completion bash
      coterie completion zsh
      coterie completion fish
    """
    from coterie.cli import main

    name = shell or _current()
    complete = get_completion_class(name)
    assert complete is not None  # click knows all of them
    click.echo(complete(main, {}, "coterie", "_COTERIE_COMPLETE").source())


def _current() -> str:
    name = PurePath(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        found = f"SHELL names {name!r}" if name else "SHELL is not set"
        raise InputError(
            f"{found}, so say which shell: {', '.join(f'coterie completion {s}' for s in _SHELLS)}"
        )
    return name
