"""`coterie data`: labelled data sets, by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import click

from coterie.cli.shared import console, json_option, print_json, table
from coterie.errors import InputError
from coterie.progress import shown


def _names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from coterie import datasets

    return [name for name in datasets.describe()["name"] if name.startswith(incomplete)]


@click.group()
def data() -> None:
    """List and download labelled data sets, and print the paths of their files.

    \b
    Examples:
      coterie data list
      coterie data path bikes
    """


@data.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets and whether each is on this machine.

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
    page.print("'coterie data path NAME' prints the path of a data set on this machine", markup=False)


@data.command()
@click.argument("name", shell_complete=_names)
@click.option(
    "--mirror", metavar="URL", envvar="COTERIE_MIRROR", show_envvar=True,
    help="URL of a mirror of raw.githubusercontent.com.",
)  # fmt: skip
def fetch(name: str, mirror: str | None) -> None:
    """Download data set NAME from its public source and print the path of the file.

    The checksum of the download is verified. The file is stored in the folder given by the environment
    variable COTERIE_CACHE, or else in your cache folder; if it is already there, nothing is downloaded.

    Where no checksum is known, the hash of git is compared, or the number of texts and classes, and the
    checksum of the first download is kept beside the file, as NAME.sha256, for later ones. 'coterie data
    list' has the licences; "none stated" means that the source names none.

    \b
    Examples:
      coterie data fetch tweet
    """
    from coterie import datasets
    from coterie.progress import tell

    _entry(name)
    with shown():
        tell(f"downloading {name}", 0, None, "bytes")
        try:
            path = datasets.fetch(
                name, base_url=mirror, progress=lambda done: tell(f"downloading {name}", done, None, "bytes")
            )
        except InputError as error:
            # on the command line the argument has another name
            raise InputError(str(error).replace("base_url", "--mirror")) from error
    click.echo(path)


@data.command()
@click.argument("name", shell_complete=_names)
def path(name: str) -> None:
    """Print the path of data set NAME, for use in other commands.

    The files "bikes" and "sample" are CSV with a column "text". The others have no header; each line is a
    class, a tab and a text, so read them with --no-header --text column_2. Files of matrices (reuters-matrix,
    ng20-matrix) and of collections with queries (cacm, cisi, cran, med) are for load_matrix and
    load_retrieval of coterie.datasets.

    \b
    Examples:
      coterie data path bikes
      coterie weights "$(coterie data path bikes)" --text text
    """
    known = _entry(name)
    if known["path"] is None:
        remedy = f"'coterie data fetch {name}' " + (
            "downloads it" if known["fetch"] else "explains how to get it"
        )
        raise InputError(f"data set {name!r} is not on this machine; {remedy}")
    click.echo(known["path"])


def _entry(name: str) -> dict[str, Any]:
    from coterie import datasets

    sets = {known["name"]: known for known in datasets.describe().to_dicts()}
    if name not in sets:
        near = get_close_matches(name, sets, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"available data sets: {', '.join(sets)}"
        raise InputError(f"there is no data set {name!r}; {hint}")
    return sets[name]


def _where(known: dict[str, Any]) -> str:
    if known["path"] is not None:
        return "on this machine"
    fetch = f"coterie data fetch {known['name']}"
    return fetch if known["fetch"] else f"'{fetch}' explains how to get it"
