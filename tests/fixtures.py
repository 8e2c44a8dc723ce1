"""What the tests of both packages share: data sets that may be absent, and settings for hypothesis."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from coterie import datasets
from coterie.errors import InputError

settings.register_profile(
    "coterie", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("coterie")
# processes of a parallel run are told the width of a screen that their commands do not have
os.environ.pop("COLUMNS", None)


def load_or_skip(name: str) -> datasets.Dataset:
    """A data set; skips where it is absent, unless COTERIE_REQUIRE_DATA forbids that."""
    try:
        return datasets.load(name)
    except InputError as error:
        if os.environ.get("COTERIE_REQUIRE_DATA"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def dataset():
    """`dataset(name)` loads a named data set."""
    return load_or_skip
