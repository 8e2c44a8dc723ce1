"""Run all benchmarks and write docs/benchmarks.md. Takes about half an hour on two cores."""

from __future__ import annotations

import platform
from pathlib import Path

import foundation
import methods

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main():
    import numpy
    import polars
    import scipy
    import sklearn

    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (numpy, scipy, sklearn, polars))
    head = (
        "# Benchmarks\n\nWritten by `make benchmarks`; nothing here is typed by hand. Cases run one after another, each in "
        "a process of its own; times are medians of three runs where a case is short. Read ratios, not seconds: "
        f"the machine has 2 cores and is noisy. Python {platform.python_version()}, {versions}."
    )
    PAGE.write_text("\n\n".join([head, foundation.report(), methods.report()]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
