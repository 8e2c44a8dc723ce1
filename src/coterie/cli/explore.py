"""`coterie explore`: a run as a live page in the browser."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from coterie.cli.shared import safe
from coterie.errors import InputError


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--folder", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Folder of the runs; by default the one that RUN is in, or the current one.",
)  # fmt: skip
@click.option(
    "--host", metavar="NAME", default="127.0.0.1", show_default=True,
    help="Where to listen; other machines can reach it only if told so here, and need a token.",
)  # fmt: skip
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=8765, show_default=True,
    help="Port; the next free one if it is taken, 0 for any.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--token", metavar="T", help="What the address must hold; made up where other machines can come."
)
@click.option(
    "--limit", metavar="MB", type=click.IntRange(1), default=1024, show_default=True,
    help="Largest file that may be dropped on the page.",
)  # fmt: skip
def explore(
    run: Path | None,
    folder: Path | None,
    host: str,
    port: int,
    no_browser: bool,
    token: str | None,
    limit: int,
) -> None:
    """Look at RUN in the browser: map, topics, texts; search, try, edit, compare, fit.

    Without RUN the page begins with a file to drop on it.

    \b
    Examples:
      coterie explore run
      coterie explore --folder . --no-browser
    """
    try:
        from coterie.explore.server import serve
        from coterie.explore.workspace import Workspace
    except ImportError as error:
        if error.name not in ("fastapi", "uvicorn", "starlette", "pydantic"):
            raise
        raise InputError("coterie explore needs more packages: pip install 'coterie[explore]'") from None
    if token is not None and (not token.isascii() or not token.isprintable() or len(token) < 8):
        raise InputError("--token must be at least 8 letters, digits or signs")
    where, start = _places(run, folder)
    logging.basicConfig(format="coterie: %(message)s", level=logging.WARNING)
    serve(
        Workspace(where, start, limit << 20),
        host=host,
        port=port,
        token=token,
        browser=not no_browser,
        say=lambda sentence: click.echo(safe(sentence)),
    )


def _places(run: Path | None, folder: Path | None) -> tuple[Path, str | None]:
    """The folder of runs, and the one to begin with."""
    where = (folder or Path()).absolute()
    if run is None:
        if not where.is_dir():
            raise InputError(f"there is no folder {where}")
        return where, None
    from coterie.runs.record import MARKER

    place = run.absolute() if run.name not in ("", "..") else run.resolve()
    if not (place / MARKER).is_file():
        raise InputError(f"{run} is no run folder: {MARKER} is missing; coterie fit … --out makes one")
    if folder is not None and place.parent.resolve() != where.resolve():
        raise InputError(f"{run} is not in {folder}; leave --folder out, or name a run of it")
    return place.parent, place.name
