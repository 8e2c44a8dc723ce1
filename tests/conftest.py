"""What all tests of the library share: data sets that may be absent, and a browser that may be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fixtures import dataset

__all__ = ["dataset"]

CHROMIUM = Path("/usr/bin/chromium")


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
