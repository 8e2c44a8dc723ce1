"""`coterie data`: the labelled data sets that coterie knows by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import click

from coterie.cli.progress import shown
from coterie.cli.shared import console, json_option, print_json, table
from coterie.errors import InputError


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from coterie import datasets

    return [name for name in datasets.names() if name.startswith(incomplete)]


@click.group()
def data() -> None:
    """List and fetch labelled data sets, and find their files.

    \b
    Examples:
      coterie data list
      coterie data path sample
    """


@data.command("list")
@json_option
def list_(as_json: bool) -> None:
    """Show the data sets, and which of them are on this machine.

    \b
    Examples:
      coterie data list
      coterie data list --json
    """
    from coterie import datasets

    sets = datasets.describe().to_dicts()
    if as_json:
        print_json(sets)
        return
    headings = ["name", "texts", "classes", "language", "licence", "where"]
    rows = [(*(known[name] for name in headings[:-1]), _where(known)) for known in sets]
    page = console()
    page.print(table(headings, rows))
    page.print("'coterie data path NAME' prints the file of a set that is here", markup=False)


@data.command()
@click.argument("name", shell_complete=_names)
@click.option(
    "--mirror", metavar="URL", envvar="COTERIE_MIRROR", show_envvar=True,
    help="A mirror of raw.githubusercontent.com.",
)  # fmt: skip
def fetch(name: str, mirror: str | None) -> None:
    """Download data set NAME from its public source, and print the path of its file.

    What arrives must have the checksum that coterie knows. The file appears when it is whole, in the folder
    that COTERIE_CACHE names or else in your cache folder; if it is there already, nothing is downloaded.

    \b
    Example:
      coterie data fetch tweet
    """
    from coterie import datasets
    from coterie.progress import tell

    _entry(name)
    with shown():
        tell(f"fetching {name}", 0, None, "bytes")
        try:
            path = datasets.fetch(
                name, base_url=mirror, progress=lambda done: tell(f"fetching {name}", done, None, "bytes")
            )
        except InputError as error:
            # here the argument has another name
            raise InputError(str(error).replace("base_url", "--mirror")) from error
    click.echo(path)


@data.command()
@click.argument("name", shell_complete=_names)
def path(name: str) -> None:
    """Print the path of the file of data set NAME, for use in other commands.

    The sample is a CSV file with a column "text". All others are lines of label, tab and text without a
    header: --no-header --text column_2.

    \b
    Examples:
      coterie data path sample
      coterie weights "$(coterie data path sample)" --text text
    """
    known = _entry(name)
    if known["found"] is None:
        remedy = f"'coterie data fetch {name}' " + (
            "downloads it" if known["fetch"] else "says where to get it"
        )
        raise InputError(f"data set {name!r} is not on this machine; {remedy}")
    click.echo(known["found"])


def _entry(name: str) -> dict[str, Any]:
    from coterie import datasets

    sets = {known["name"]: known for known in datasets.describe().to_dicts()}
    if name not in sets:
        near = get_close_matches(name, sets, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sets)}"
        raise InputError(f"there is no data set {name!r}; {hint}")
    return sets[name]


def _where(known: dict[str, Any]) -> str:
    if known["found"] is not None:
        return "here"
    fetch = f"coterie data fetch {known['name']}"
    return fetch if known["fetch"] else f"to be made: '{fetch}' says how"
