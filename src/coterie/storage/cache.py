"""The user's own cache folder."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """``COTERIE_CACHE`` if set, otherwise where the system keeps a user's caches; it need not exist."""
    if chosen := os.environ.get("COTERIE_CACHE"):
        return Path(chosen).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):  # on every system, not only where it is the custom
        return Path(xdg) / "coterie"
    return user_cache_path("coterie", appauthor=False)


def private_cache_folder() -> Path:
    """The cache folder, made for this user alone if it was not there; it may still not be writable."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
