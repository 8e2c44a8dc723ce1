"""What all tests share: data sets that may be absent, a browser that may be, and settings for hypothesis."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from coterie import datasets
from coterie.errors import InputError

CHROMIUM = Path("/usr/bin/chromium")

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


@pytest.fixture(scope="session")
def browser():
    """Chromium without a network; skips where there is none, unless COTERIE_REQUIRE_BROWSER forbids that."""
    try:
        from playwright.sync_api import sync_playwright

        if not CHROMIUM.exists():
            raise ImportError(f"there is no {CHROMIUM}")
    except ImportError as error:
        if os.environ.get("COTERIE_REQUIRE_BROWSER"):
            raise
        pytest.skip(f"pages are looked at with playwright and {CHROMIUM}: {error}")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=[*quiet, "--disable-component-update", "--disable-sync"]
        )
        yield started
        started.close()
