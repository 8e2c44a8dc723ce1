"""Run one case of a benchmark in a process of its own and read back seconds and memory.

A benchmark file defines functions, one a case, that prepare what is needed and return the function to be
timed. `python FILE CASE` runs one case; `measure` does that several times and takes the median. Memory is the
growth of the peak resident set from just before the timed function to its end.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measured:
    seconds: float
    megabytes: float
    peak_megabytes: float


def measure(file: str, case: str, repeats: int = 3) -> Measured:
    runs = []
    for _ in range(repeats):
        out = subprocess.run([sys.executable, file, case], capture_output=True, text=True, check=False)
        if out.returncode:
            raise RuntimeError(f"{Path(file).name} {case} failed:\n{out.stderr}")
        runs.append(json.loads(out.stdout.splitlines()[-1]))
    return Measured(*(statistics.median(run[key] for run in runs) for key in ("seconds", "growth", "peak")))


def run_case(case: Callable[[], Callable[[], object]]) -> None:
    """Prepare, time, and print one line of JSON."""
    timed = case()
    before = peak_megabytes()
    start = time.perf_counter()
    result = timed()
    seconds = time.perf_counter() - start
    peak = peak_megabytes()
    del result
    print(json.dumps({"seconds": seconds, "growth": peak - before, "peak": peak}))


def peak_megabytes() -> float:
    """Largest resident set of this process so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("memory is read from /proc and this system has none")


def reset_peak() -> None:
    """Forget the peak so far: what preparation took is not what the case takes."""
    Path("/proc/self/clear_refs").write_text("5")
