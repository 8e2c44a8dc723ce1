"""The data sets that the experiments need; they may be absent."""

from pathlib import Path

import pytest

from fixtures import dataset

__all__ = ["dataset"]


@pytest.hookimpl(tryfirst=True)  # before -m selects by markers
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.path).is_relative_to(Path(__file__).parent):
            item.add_marker("papers")
