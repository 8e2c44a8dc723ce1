"""The data sets that the experiments need; they may be absent."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from coterie_papers.bench.collections import keep_in
from fixtures import dataset

__all__ = ["dataset"]


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """Only data sets that the test asks for by name, as if they had been fetched: made-up texts of two classes."""
    folder = tmp_path / "fetched"
    folder.mkdir()
    monkeypatch.setattr("coterie.datasets.locations.folders", lambda: [folder])
    keep_in(None)  # no collection of before

    def add(name: str) -> None:
        random = np.random.default_rng(0)
        lines = [
            f"{row % 2}\t" + " ".join(f"w{number + 30 * (row % 2)}" for number in random.integers(30, size=6))
            for row in range(300)
        ]
        with gzip.open(folder / f"{name}.tsv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    yield add
    keep_in(None)


@pytest.hookimpl(tryfirst=True)  # before -m selects by markers
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.path).is_relative_to(Path(__file__).parent):
            item.add_marker("papers")
