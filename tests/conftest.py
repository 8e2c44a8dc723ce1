"""What all tests of the library share: a browser that may be absent, and work that is done once for all workers."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from filelock import FileLock

# what an assertion in these compared is shown, as in test modules
pytest.register_assert_rewrite(
    "contract", "explore_live", "explore_pages", "explore_runs", "report_models", "storage_saver"
)

from fixtures import dataset  # noqa: E402

__all__ = ["dataset"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # as in a script's background: processes of the tests would ignore Ctrl-C, too
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHROMIUM = Path("/usr/bin/chromium")


@pytest.hookimpl(tryfirst=True)  # before -m selects by markers
def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
        # what every method promises: while working, the default one is enough
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        other = parameters.get("name", "coterie") != "coterie"
        if other and item.path.name.startswith("test_method_contract"):
            item.add_marker("slow")


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


class Tried:
    """Counts the cases of a fuzz target."""

    def __init__(self):
        self.cases = 0

    def __call__(self):
        self.cases += 1


@pytest.fixture
def tried():
    """Called for each case of a fuzz target; `make fuzz` adds up the counts, which COTERIE_FUZZ_COUNTS collects."""
    counted = Tried()
    yield counted
    if "COTERIE_FUZZ_COUNTS" in os.environ:
        with open(os.environ["COTERIE_FUZZ_COUNTS"], "a") as file:
            file.write(f"{counted.cases}\n")
