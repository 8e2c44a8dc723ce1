"""From the names of papers to their pages: trials, store, workers, pages."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coterie.engines.threads import usable_threads
from coterie.errors import InputError
from coterie.storage import locks
from coterie_papers import PAPERS, paper
from coterie_papers.bench.collections import checksums
from coterie_papers.bench.results import Results
from coterie_papers.bench.runner import run
from coterie_papers.bench.store import Store
from coterie_papers.page import Page
from coterie_papers.verdicts import Claim

STORE, PREPARED = "results.jsonl", "prepared"
_QUICK = (
    "**This is the small version** (`--quick`): little data, few runs. It shows that everything works, and "
    "says nothing about the paper."
)


@dataclass(frozen=True, slots=True)
class Written:
    """A page that was written: how many trials are behind it, their CPU seconds, and its claims."""

    paper: str
    path: Path
    trials: int
    seconds: float
    claims: list[Claim]


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
                kinds = ["coterie_papers.later", *(f"coterie_papers.{name}_kinds" for name in chosen)]
                run(trials, store, workers=usable_threads(workers), kinds=kinds, prepared=out / PREPARED)
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


def _clear(out: Path) -> None:
    (out / STORE).unlink(missing_ok=True)
    shutil.rmtree(out / PREPARED, ignore_errors=True)
