"""Draw the picture of the README: what `coterie demo` prints, as SVG."""

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

QUIET = TerminalTheme(
    (250, 250, 248), (40, 44, 52),
    [(40, 44, 52), (176, 58, 46), (40, 116, 84), (154, 108, 20), (40, 90, 150), (120, 70, 140), (30, 120, 130), (90, 94, 102)],
)  # fmt: skip


def main() -> None:
    """Run the demo in a terminal of 112 columns and save the picture beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run(
            [Path(sys.executable).parent / "coterie", "demo", "--out", "run/demo"],
            cwd=folder, env={"COLUMNS": "112", "PATH": "/usr/bin:/bin", "PYTHONUTF8": "1", "HOME": folder},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    console = Console(record=True, width=112, file=io.StringIO())
    console.print(Text(out.stdout.rstrip("\n")))
    svg = console.export_svg(title="coterie demo", theme=QUIET, unique_id="coterie-demo")
    # a picture fetches nothing: without the fonts it names, the reader's monospace font is used
    svg = re.sub(r"@font-face\s*{.*?}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    Path(__file__).with_name("demo.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
