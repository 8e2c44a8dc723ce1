"""How long a person waits: the command line from a file to a folder, everything included.

`python product.py` prints the report. Seconds are those of the whole process, start of Python included. With
`COTERIE_NOW=path/to/bin/coterie` the command is that of another installation, such as one without the tools of
developers, which slow its start; with `COTERIE_BEFORE` every case runs with both, in turn.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from coterie_papers.bench.markdown import table

_COMMANDS = {"now": os.environ.get("COTERIE_NOW", str(Path(sys.executable).with_name("coterie")))}
if "COTERIE_BEFORE" in os.environ:
    _COMMANDS["before"] = os.environ["COTERIE_BEFORE"]


def _csv(name, folder, rows=None):
    import polars as pl

    from coterie import datasets

    data = datasets.load(name)
    file = folder / f"{name}.csv"
    frame = pl.DataFrame({"id": range(len(data)), "text": data.texts, "label": data.labels})
    frame.head(rows or len(data)).write_csv(file)
    return file


def _timed(command, arguments, folder):
    """Seconds of the wall clock and of processors, and megabytes at the peak, of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    # a process of its own between: the peak of children is that of the largest so far
    code = (
        "import json,resource,subprocess,sys;r=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);"
        "u=resource.getrusage(resource.RUSAGE_CHILDREN);print(json.dumps([r.returncode,u.ru_maxrss/1024]))"
    )
    out = subprocess.run([sys.executable, "-c", code, command, *map(str, arguments)],
                         cwd=folder, capture_output=True, text=True, check=True)  # fmt: skip
    seconds = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    failed, peak = json.loads(out.stdout)
    if failed:
        raise RuntimeError(f"coterie {arguments}: {out.stderr}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, spent, peak


def _rows(cases, folder, repeats):
    rows = []
    for title, arguments in cases.items():
        runs = {version: [] for version in _COMMANDS}
        for _ in range(repeats):
            for version, command in _COMMANDS.items():
                (folder / version).mkdir(exist_ok=True)
                runs[version].append(_timed(command, arguments, folder / version))
        row = [title]
        for version in _COMMANDS:
            seconds, spent, peak = (statistics.median(run[i] for run in runs[version]) for i in range(3))
            row += [f"{seconds:.1f}", f"{spent:.1f}", f"{peak:,.0f}"]
        rows.append(row)
        print(row, file=sys.stderr)
    return rows


def report():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, large = _csv("stackoverflow", folder), _csv("reddit", folder)
        fit = ["fit", small, "--text", "text", "--out", "run"]
        cases = {
            "`coterie fit`, 20,000 rows, 20 topics": [*fit, "--topics", "20"],
            "`coterie fit`, 20,000 rows, estimated number of topics": fit,
            "`coterie assign`, 20,000 rows": ["assign", "run", small, "--out", "assigned.csv"],
            "`coterie topics`": ["topics", "run"],
            "`coterie edit rename`, 20,000 rows": ["edit", "rename", "run", "0", "A name"],
            "`coterie --help`": ["--help"],
        }
        rows = _rows(cases, folder, 3)
        many = {
            "`coterie fit`, 971,100 rows, 100 topics": [
                "fit", large, "--text", "text", "--out", "large", "--topics", "100",
            ],
            "`coterie edit rename`, 971,100 rows": ["edit", "rename", "large", "0", "A name"],
        }  # fmt: skip
        rows += _rows(many, folder, 1)
    head = (
        "## From a file to a folder\n\nThe whole command in a process of its own, from the start of Python to the "
        f"files on disk, on {os.cpu_count()} cores: CSV files made of stackoverflow (question titles) and reddit "
        "(titles). A base install, without extras. Medians of three runs, the largest once.\n\n"
    )
    if "before" in _COMMANDS:
        head += "*Before* is the version before every text was scored once, measured in the same run, in turn.\n\n"
    columns = [
        f"{name}{'' if version == 'now' else ', before'}"
        for version in _COMMANDS
        for name in ("seconds", "of processors", "MB at the peak")
    ]
    return head + table(["", *columns], rows, raw=True)


if __name__ == "__main__":
    print(report())
