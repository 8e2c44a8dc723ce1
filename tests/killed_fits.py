"""Fits that are killed at random moments and resumed: `make kills` kills fifty and writes what came of it.

The test that runs with the others kills a few. What was found is written to docs/reliability.md.
"""

import datetime as dt
import random
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click

from coterie import __version__
from dask_processes import DEADLINE, fit_command, write_files
from engine_fits import written

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- written by make kills -->\n", "<!-- end of kills -->"
#: What a fit has written once it is past a step, and what it does until then.
_STEPS = {
    "work.json": "while it started or ended",
    "*/texts/read.json": "while texts were read",
    "*/blocks/blocks.json": "while terms were counted",
}
_LAST = "while topics were learned and the run was written"


@dataclass
class Outcome:
    """How often fits were killed, in which step, and how many of them ended with the expected bytes."""

    same: int = 0
    differing: int = 0
    steps: Counter[str] = field(default_factory=Counter)

    @property
    def kills(self) -> int:
        """How often a fit was killed."""
        return self.steps.total()

    def said(self, seed: int) -> str:
        """The outcome in words."""
        steps = ", ".join(f"{self.steps[step]} {step}" for step in [*_STEPS.values(), _LAST])
        day = dt.datetime.now(dt.UTC).date()
        return (
            f"`coterie fit … --memory 2GB --resume` was killed {self.kills} times at random moments: {steps}. Of the "
            f"{self.same + self.differing} fits that came to their end, {self.same} had the bytes of a fit that was "
            f"never killed, and {self.differing} had others. (Seed {seed}, {day}, version {__version__}.)"
        )


def kill_fits(folder: Path, kills: int, draw: random.Random) -> Outcome:
    """Kill fits so many times, then let the last one end. One that ends meanwhile is followed by another."""
    texts = write_files(folder)
    begun = time.monotonic()
    finish(fit_command(texts, folder / "never", "--memory", "2GB"))
    longest, expected = time.monotonic() - begun, written(folder / "never")
    outcome, number = Outcome(), 0
    while True:
        out = folder / f"run-{number}"
        command = fit_command(texts, out, "--memory", "2GB", "--resume")
        if outcome.kills < kills and killed(command, draw.uniform(0, longest)):
            outcome.steps[step_of(out)] += 1
            continue
        finish(command)
        same = written(out) == expected and not out.with_name(f"{out.name}.work").exists()
        outcome.same, outcome.differing = outcome.same + same, outcome.differing + (not same)
        number += 1
        if outcome.kills == kills:
            return outcome


def killed(command: subprocess.Popen[str], seconds: float) -> bool:
    """Kill a command after some seconds, unless it ended before."""
    try:
        command.wait(seconds)
    except subprocess.TimeoutExpired:
        command.kill()
        command.communicate()
        return True
    return False


def finish(command: subprocess.Popen[str]) -> None:
    """Wait for the end of a command, which must be a good one."""
    _, said = command.communicate(timeout=DEADLINE)
    assert command.returncode == 0, said


def step_of(out: Path) -> str:
    """What a fit was doing when it was killed, as far as its files tell."""
    work = out.with_name(f"{out.name}.work")
    return next((step for mark, step in _STEPS.items() if not any(work.glob(mark))), _LAST)


@click.command()
@click.option("--kills", default=50, show_default=True)
@click.option("--seed", default=7, show_default=True)
def main(kills: int, seed: int) -> None:
    """Kill fits and write the outcome to docs/reliability.md."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_fits(Path(folder), kills, random.Random(seed))
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{outcome.said(seed)}\n\n{END}{after}", "utf-8")
    click.echo(outcome.said(seed))
    raise SystemExit(bool(outcome.differing))


if __name__ == "__main__":
    main()
