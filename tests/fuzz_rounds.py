"""Fuzz targets round after round, each round with a seed of its own: `make fuzz` runs this.

A target is a file of tests, the same that `make test` runs with seed 0. What was tried and what failed is written into
docs/reliability.md after every target, so a run that is stopped keeps what it has.
"""

import datetime as dt
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

import click

from coterie import __version__

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make fuzz -->\n", "<!-- end -->"
HEAD = "| surface | cases tried | failures | seeds | date | version |\n|---|--:|--:|---|---|---|\n"
#: The files with the targets of each surface, and what a person calls it.
SURFACES = {
    "readers": (
        "damaged files of every format",
        [
            "tests/text/test_readers_fuzz.py",
            "tests/text/test_readers_fuzz_bombs.py",
            "tests/test_embedding_files.py",
        ],
    ),
    "models": (
        "damaged and forged models",
        ["tests/test_model_files.py", "tests/test_model_fuzz.py", "tests/storage/test_storage_fuzz.py"],
    ),
    "runs": ("damaged and forged run folders", ["tests/explore/test_explore_damaged.py"]),
    "api": (
        "requests to the live page",
        ["tests/explore/test_explore_fuzz.py", "tests/explore/test_explore_fuzz_uploads.py"],
    ),
    "commands": ("commands and options", ["tests/cli/test_cli_fuzz.py"]),
    "processes": (
        "processes at once, some killed",
        ["tests/test_runs_together.py", "tests/storage/test_storage_kill.py"],
    ),
}
LONGEST = 3600  # seconds for one target of one round; one that takes longer hangs


@dataclass
class Row:
    """What was tried on one surface so far."""

    tried: int = 0
    seeds: list[int] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, seed, tried, failures):
        self.seeds.append(seed)
        self.tried += tried
        self.failures += failures

    def line(self, about):
        day = dt.datetime.now(dt.UTC).date()
        failed = str(len(self.failures))
        return f"| {about} | {self.tried:,} | {failed} | {spans(self.seeds)} | {day} | {__version__} |"


def spans(seeds):
    """Seeds that follow each other, the first and the last."""
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}–{seeds[-1]}"


def run_target(surface, seed, work, seconds, row):
    """One target with one seed, for at most so many seconds; says whether somebody stopped it."""
    files = SURFACES[surface][1]
    limit = min(seconds, LONGEST)
    with tempfile.TemporaryDirectory() as folder:
        counts, result = Path(folder) / "counts", Path(folder) / "result.xml"
        command = [
            *[sys.executable, "-m", "pytest", "-m", "fuzz", "--tb=short", "--durations=0", "-p", "no:cacheprovider"],
            *[f"--junitxml={result}", f"--basetemp={folder}/files", *files],
        ]  # fmt: skip
        environment = os.environ | {
            "COTERIE_FUZZ_SEED": str(seed), "COTERIE_FUZZ": str(work), "COTERIE_FUZZ_COUNTS": str(counts)
        }  # fmt: skip
        output, end = ended(command, environment, limit)
        tried = sum(map(int, counts.read_text().split())) if counts.exists() else 0
        tests = list(xml.parse(result).iter("testcase")) if result.exists() else []
    failed = [[name_of(test)] for test in tests if [*test.iter("failure"), *test.iter("error")]]
    if (end == "late" and limit == LONGEST) or (end == "ended" and not tests):
        failed.append(files)  # it hangs, or died without a word
    row.add(seed, tried, [repeat(names, seed, work) for names in failed])
    if failed:
        click.echo(output)
    return end == "stopped"


def ended(command, environment, seconds):
    """What a command said, and how it came to its end."""
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        return process.communicate(timeout=seconds)[0], "ended"
    except subprocess.TimeoutExpired:
        return stop(process), "late"
    except KeyboardInterrupt:
        return stop(process), "stopped"


def stop(process):
    """End a process as Ctrl-C does, and all that it started if it does not end."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]


def name_of(case):
    """A test as pytest takes it on the command line."""
    return case.get("classname").replace(".", "/") + ".py::" + case.get("name")


def repeat(names, seed, work):
    return f"COTERIE_FUZZ_SEED={seed} COTERIE_FUZZ={work:g} .venv/bin/python -m pytest -m fuzz {shlex.join(names)}"


def write(rows):
    """The table of the page; a surface that was not tried this time keeps its row."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    table, after = rest.split(END)
    known = {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines()}
    for surface, row in rows.items():
        known[SURFACES[surface][0]] = row.line(SURFACES[surface][0])
    lines = [known[about] for about, _ in SURFACES.values() if about in known]
    PAGE.write_text(before + BEGIN + "\n" + HEAD + "\n".join(lines) + "\n\n" + END + after, encoding="utf-8")


@click.command()
@click.option("--minutes", default=60.0, show_default=True, help="How long.")
@click.option("--work", default=5.0, show_default=True, help="Work of a round; 1 is what make test does.")
@click.option("--seed", type=int, help="Seed of the first round.  [default: random]")
@click.argument("surfaces", nargs=-1, type=click.Choice(list(SURFACES)))
def main(minutes, work, seed, surfaces):
    """Try SURFACES, or all, until the time is up."""
    until = time.monotonic() + 60 * minutes
    seed = random.randrange(1, 1_000_000) if seed is None else seed
    for number in (signal.SIGINT, signal.SIGTERM):  # shells switch the first off in the background
        signal.signal(number, signal.default_int_handler)
    rows = {}
    for surface, number in rounds(surfaces or SURFACES, seed, until):
        row = rows.setdefault(surface, Row())
        stopped = run_target(surface, number, work, until - time.monotonic(), row)
        click.echo(f"{surface}, seed {number}: {row.tried:,} cases, {len(row.failures)} failures")
        write(rows)
        if stopped:
            break
    failures = [failure for row in rows.values() for failure in row.failures]
    click.echo("\n".join(["repeat what failed with:", *failures] if failures else ["nothing failed"]))
    sys.exit(1 if failures else 0)


def rounds(surfaces, seed, until):
    """Surfaces, and a seed for each round, until the time is up."""
    while True:
        for surface in surfaces:
            if time.monotonic() >= until:
                return
            yield surface, seed
        seed += 1


if __name__ == "__main__":
    main()
