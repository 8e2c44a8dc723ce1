"""Run benchmarks and write docs/benchmarks.md: all of them, or the sections named on the command line.

All take about half an hour on two cores.
"""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

import foundation
import methods
import product
import speed

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SECTIONS = {
    "foundation": foundation.report,
    "methods": methods.report,
    "solvers": methods.report_solvers,
    "coterie": speed.report,
    "product": product.report,
}
HEAD = """# Benchmarks

Written by `make benchmarks`; nothing here is typed by hand. Cases of the speed sections run one after another, each in
a process of its own, the short ones three times (medians). Read ratios, not seconds: the machine has 2 cores and is
noisy."""


def _versions():
    import numpy
    import polars
    import scipy
    import sklearn

    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (numpy, scipy, sklearn, polars))
    return f"Python {platform.python_version()}, {versions}."


def main(names):
    kept = dict(
        re.findall(
            r"<!-- (\w+) -->\n(.*?)(?=\n<!-- |\Z)", PAGE.read_text() if PAGE.exists() else "", re.DOTALL
        )
    )
    for name in names or SECTIONS:
        kept[name] = SECTIONS[name]().strip()
        body = "\n\n".join(f"<!-- {known} -->\n{kept[known].strip()}" for known in SECTIONS if known in kept)
        PAGE.write_text(f"{HEAD} {_versions()}\n\n{body}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
