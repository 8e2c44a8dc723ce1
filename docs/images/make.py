"""Make the pictures of the README from `coterie demo`: what it prints, its report, and the live page.

    make pictures

Needs the Chromium of the machine; nothing is fetched.
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

HERE = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
TOKEN = "pictures-only"
#: Milliseconds a page may take, on a busy machine.
PATIENCE = 60_000
QUIET = TerminalTheme(
    (250, 250, 248), (40, 44, 52),
    [(40, 44, 52), (176, 58, 46), (40, 116, 84), (154, 108, 20), (40, 90, 150), (120, 70, 140), (30, 120, 130), (90, 94, 102)],
)  # fmt: skip


def main() -> None:
    """Run the demo once and make all pictures beside this file."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        printed = coterie(folder, "demo", "--out", "run/demo")
        draw_terminal(printed.replace(Path(folder).resolve().as_uri(), "file:///home/you"))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        photograph_report(browser, Path(folder) / "run/demo/report.html")
        with served(Path(folder) / "run/demo") as url:
            photograph_page(browser, url)
        browser.close()


def coterie(folder: str, *arguments: str) -> str:
    """What the command prints in a terminal of 112 columns."""
    environment = {**os.environ, "COLUMNS": "112", "PYTHONUTF8": "1", "HOME": folder, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "coterie", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout


def draw_terminal(printed: str) -> None:
    """The printed lines as SVG."""
    console = Console(record=True, width=112, file=io.StringIO())
    console.print(Text(printed.rstrip("\n")))
    svg = console.export_svg(title="coterie demo", theme=QUIET, unique_id="coterie-demo")
    # a picture fetches nothing: without the fonts it names, the reader's monospace font is used
    svg = re.sub(r"@font-face\s*{.*?}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    (HERE / "demo.svg").write_text(svg, encoding="utf-8")


def photograph_report(browser: Browser, report: Path) -> None:
    """The first screen of the report."""
    page = browser.new_page(viewport={"width": 1280, "height": 820}, color_scheme="light")
    page.goto(report.resolve().as_uri(), timeout=PATIENCE)
    page.locator("#findings").wait_for(timeout=PATIENCE)
    page.screenshot(path=HERE / "report.png")


def photograph_page(browser: Browser, url: str) -> None:
    """The live page with all topics, when the map has stopped moving."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    page.goto(url, timeout=PATIENCE)
    page.locator("canvas").first.wait_for(timeout=PATIENCE)
    page.wait_for_load_state("networkidle", timeout=PATIENCE)
    page.wait_for_timeout(3_000)
    page.screenshot(path=HERE / "explore.png")


@contextmanager
def served(run: Path) -> Iterator[str]:
    """The address of the live page of a run."""
    command = [
        sys.executable,
        "-m",
        "coterie",
        "explore",
        run,
        "--no-browser",
        "--port",
        "0",
        "--token",
        TOKEN,
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        for line in server.stdout:
            if found := re.search(r"https?://\S+", line):
                yield found[0]
                break
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
