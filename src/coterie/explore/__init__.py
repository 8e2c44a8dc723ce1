"""`coterie explore`: runs as a live page in the browser, and the JSON API under it.

The server is for one person and their machine. It answers names it serves and no others (`guard`), reads and
writes the runs of one folder (`workspace`), and does whatever takes long beside the requests (`jobs`).
"""

from importlib.util import find_spec

from coterie.errors import InputError

#: What the extra `explore` installs.
_PACKAGES = ("anyio", "fastapi", "pydantic", "starlette", "uvicorn")


def check_installed(what: str) -> None:
    """Say so if the packages of the extra `explore`, which something needs, are not installed."""
    if any(find_spec(package) is None for package in _PACKAGES):
        raise InputError(f"{what} needs additional packages: pip install 'coterie[explore]'")
