"""The folders that are searched for data sets."""

from __future__ import annotations

import os
from pathlib import Path

from coterie.storage.cache import cache_folder


def folders() -> list[Path]:
    """Folders to search, in this order: ``COTERIE_DATA``, next to a source checkout, the cache."""
    data = os.environ.get("COTERIE_DATA")
    return [
        *([Path(data).expanduser()] if data else []),
        *_beside_checkout(Path(__file__).resolve()),
        cache_folder(),
    ]


def find(file_name: str) -> Path | None:
    """The first file of that name in `folders`, or None."""
    return next((path for folder in folders() if (path := folder / file_name).is_file()), None)


def _beside_checkout(module: Path) -> list[Path]:
    """``../shared/datasets`` of a checkout, if this package is in ``src/`` next to a pyproject.toml."""
    source = module.parents[2]
    if source.name == "src" and (source.parent / "pyproject.toml").is_file():
        return [source.parent.parent / "shared" / "datasets"]
    return []
