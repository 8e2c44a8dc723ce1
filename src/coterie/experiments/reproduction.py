"""From the names of papers to their pages: trials, store, workers, pages."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from coterie.engines.threads import usable_threads
from coterie.errors import InputError
from coterie.experiments import PAPERS, paper
from coterie.experiments.collections import checksums
from coterie.experiments.page import Page
from coterie.experiments.results import Results
from coterie.experiments.runner import run
from coterie.experiments.store import Store
from coterie.experiments.trial import Trial
from coterie.storage import locks

STORE, PREPARED = "results.jsonl", "prepared"
_QUICK = (
    "**This is the small version** (`--quick`): little data, few runs. It shows that everything works, and "
    "says nothing about the paper."
)


@dataclass(frozen=True, slots=True)
class Written:
    """A page that was written: how many trials are behind it, their CPU seconds, and what holds."""

    paper: str
    path: Path
    trials: int
    seconds: float
    claims: list[tuple[str, str, bool | None]]


def reproduce(
    papers: Sequence[str] = PAPERS,
    *,
    out: Path,
    quick: bool = False,
    workers: int | None = None,
    fresh: bool = False,
    pages_only: bool = False,
) -> list[Written]:
    """Run the experiments of papers and write their pages into a folder.

    Parameters
    ----------
    papers
        Names of papers, of `PAPERS`.
    out
        The folder: NAME.md with figures and raw numbers in NAME/ for each paper. Outcomes of trials are kept
        in results.jsonl there, and a run goes on where the last one stopped.
    quick
        The small version: everything is there, on little data.
    workers
        Worker processes; None is as many as there are cores.
    fresh
        Throw away the outcomes that are there, and the prepared data.
    pages_only
        Run nothing; write pages from the outcomes that are there.
    """
    chosen = {name: list(paper(name).trials(quick)) for name in dict.fromkeys(papers)}
    trials = [trial for listed in chosen.values() for trial in listed]
    _check_installed(trials)
    out.mkdir(parents=True, exist_ok=True)
    lock = locks.take(out)
    if lock is None:
        raise InputError(f"another run works in {out}; wait for its end, or name another folder with --out")
    try:
        if fresh:
            _clear(out)
        if pages_only and not (out / STORE).is_file():
            raise InputError(f"{out} holds no {STORE}; run without --pages-only")
        data = {} if pages_only else checksums([trial.collection for trial in trials])
        with Store(out / STORE, data) as store:
            if not pages_only:
                run(trials, store, workers=usable_threads(workers), prepared=out / PREPARED)
            results = {name: Results(listed, store) for name, listed in chosen.items()}
        return [_write(name, found, out, quick) for name, found in results.items()]
    finally:
        lock.release()


def _write(name: str, results: Results, out: Path, quick: bool) -> Written:
    module = paper(name)
    page = Page(out, name, module.TITLE)
    if quick:
        page.text(_QUICK)
    module.page(results, page)
    seconds = sum(outcome.seconds for outcome in results.outcomes)
    return Written(name, page.write(results), len(results.outcomes), seconds, page.claims)


def _check_installed(trials: Sequence[Trial]) -> None:
    """Say what is missing before hours of work, not after."""
    needed = ["matplotlib", *(["tomotopy"] if any(trial.method == "lda" for trial in trials) else [])]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the experiments need {' and '.join(missing)}: pip install 'coterie[reproduce]' brings them"
        )


def _clear(out: Path) -> None:
    (out / STORE).unlink(missing_ok=True)
    shutil.rmtree(out / PREPARED, ignore_errors=True)
