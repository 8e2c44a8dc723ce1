"""Labelled short texts for the tests that need real ones."""

import gzip
import os
from pathlib import Path
from typing import NamedTuple

import pytest


class Snippets(NamedTuple):
    labels: list[str]
    texts: list[list[str]]


@pytest.fixture(scope="session")
def snippets() -> Snippets:
    """2,000 search snippets of all classes, as tokens."""
    beside_repository = Path(__file__).resolve().parents[3] / "shared" / "datasets"
    path = Path(os.environ.get("COTERIE_DATA") or beside_repository) / "searchsnippets.tsv.gz"
    if not path.exists():
        reason = f"{path} is missing; set COTERIE_DATA to the folder that has it"
        if os.environ.get("COTERIE_REQUIRE_DATA") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    chosen = rows[:: len(rows) // 2000][:2000]
    return Snippets([label for label, _ in chosen], [text.split() for _, text in chosen])
