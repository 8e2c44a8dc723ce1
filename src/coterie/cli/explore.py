"""`coterie explore`: explore a run in the browser."""

from __future__ import annotations

import logging
import os
import secrets
from contextlib import suppress
from pathlib import Path

import click

from coterie.cli.shared import RenamedOption, max_bytes_option, safe
from coterie.errors import InputError

#: Texts of a run from which the page takes gigabytes.
_MANY_TEXTS = 2_000_000


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--folder", metavar="FOLDER", type=click.Path(path_type=Path),
    help="Folder with the runs. Default: the parent folder of RUN, or the current folder.",
)  # fmt: skip
@click.option(
    "--host", metavar="NAME", default="127.0.0.1", show_default=True,
    help="Address to listen on. By default only this machine can connect.",
)  # fmt: skip
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=8765, show_default=True,
    help="Port; if it is in use, the next free one. 0: any free port.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Print the URL without opening a browser.")
@click.option(
    "--token", metavar="T", help="Access token, which is part of the URL. Default: a new random one."
)
@click.option(
    "--no-token", is_flag=True,
    help="Ask for no token: every user of this machine can then read and edit the runs.",
)  # fmt: skip
@click.option(
    "--max-upload", cls=RenamedOption, former="--limit", metavar="MB", type=click.IntRange(1), default=1024,
    show_default=True, help="Largest file that can be uploaded to the page, in megabytes.",
)  # fmt: skip
@max_bytes_option
def explore(
    run: Path | None,
    folder: Path | None,
    host: str,
    port: int,
    no_browser: bool,
    token: str | None,
    no_token: bool,
    max_upload: int,
    max_bytes: int,
) -> None:
    """Explore RUN in the browser: map, topics and texts; search, edit, compare runs, fit new ones.

    Without RUN, the page starts with a place to upload a file.

    \b
    Examples:
      coterie explore run
      coterie explore --folder . --no-browser
    """
    from coterie.explore import check_installed

    check_installed("coterie explore")
    from coterie.explore.connections import FewMessages
    from coterie.explore.guard import is_loopback
    from coterie.explore.server import serve
    from coterie.explore.workspace import Workspace

    if token is not None and (not token.isascii() or not token.isprintable() or len(token) < 8):
        raise InputError("--token must have at least 8 ASCII characters, without control characters")
    if not host.strip():
        raise InputError("--host must be a name or an address, such as 127.0.0.1; got none")
    if no_token and (token is not None or not is_loopback(host)):
        raise InputError("--no-token cannot be combined with --token or a public --host")
    where, start = _folder_and_start(run, folder)
    if start is not None:
        _warn_of_size(where / start)
    logging.basicConfig(format="coterie: %(message)s", level=logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(FewMessages())
    serve(
        Workspace(where, start, max_upload << 20, max_bytes),
        host=host,
        port=port,
        token=None if no_token else token or secrets.token_urlsafe(24),
        browser=not no_browser,
        say=lambda sentence: click.echo(safe(sentence)),
    )


def _folder_and_start(run: Path | None, folder: Path | None) -> tuple[Path, str | None]:
    """The folder with the runs, and the name of the run to open first."""
    where = (folder or Path()).absolute()
    if run is None:
        if not where.is_dir():
            raise InputError(f"folder {where} does not exist")
        return where, None
    from coterie.runs.record import MARKER

    path = run.absolute() if run.name not in ("", "..") else _real(run)
    if not (path / MARKER).is_file():
        raise InputError(
            f"{run} is not a run folder: it has no {MARKER}; 'coterie fit FILE --out {run}' creates one"
        )
    if folder is not None and _real(path.parent) != _real(where):
        raise InputError(f"{run} is not in {folder}; omit --folder, or choose a run in that folder")
    return path.parent, path.name


def _warn_of_size(run: Path) -> None:
    """Say that a very large run will take much memory, before it does."""
    from coterie.runs.record import TABLE, read_record

    table = run / TABLE
    with suppress(InputError, OSError):  # the page says what is wrong with a run
        if (texts := read_record(run)["data"]["texts"]) > _MANY_TEXTS:
            size = table.stat().st_size / 1e9
            click.echo(
                f"coterie: this run has {texts:,} texts; the page reads all of them into memory, which takes "
                f"several times the {size:.1f} GB of {TABLE}",
                err=True,
            )


def _real(path: Path) -> Path:
    """Where a path leads; one of links that lead nowhere stays as it is."""
    return Path(os.path.realpath(path))
