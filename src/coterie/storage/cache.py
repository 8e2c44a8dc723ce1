"""The user's own cache folder."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """``COTERIE_CACHE`` if set, otherwise where the system keeps a user's caches; it need not exist."""
    if chosen := os.environ.get("COTERIE_CACHE"):
        return Path(chosen).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "coterie"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "coterie" / "cache"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "coterie"


def private_cache_folder() -> Path:
    """The cache folder, made for this user alone if it was not there; it may still not be writable."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
