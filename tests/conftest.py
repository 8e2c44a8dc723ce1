"""What all tests share: data sets that may be absent, a browser that may be, work that is done once for all workers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock
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


@pytest.hookimpl(tryfirst=True)  # before -m selects by markers
def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


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
def once(tmp_path_factory):
    """`once(name, fill)` is a folder that `fill(folder)` filled, once for all parallel workers; not to be changed."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # the workers of one run have their folders side by side

    def filled(name, fill):
        folder, done = root / name, root / f"{name}.done"
        with FileLock(root / f"{name}.lock"):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return filled


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
