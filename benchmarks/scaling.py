"""Large fits: seconds and memory of each stage, at several numbers of texts and on several engines.

    python benchmarks/scaling.py make FOLDER 1000000     # texts, in Parquet files of 250,000
    python benchmarks/scaling.py fit FOLDER              # one fit, appended to docs/scaling/outcomes.jsonl
    python benchmarks/scaling.py pairs FOLDER            # how many pairs of terms co-occur, appended to docs/scaling/pairs.jsonl
    python benchmarks/scaling.py overhead FOLDER         # what sums in a tree and shared arrays cost on one machine
    python benchmarks/scaling_page.py                    # writes docs/scaling.md from these

Texts are made of the titles of `reddit`: the first third of one title, the second of another and the last of a third one of the same
subreddit, so that words still co-occur as in titles and hardly any text occurs twice. A fit runs in a process of its own. The peak of the
resident set is read for each stage and includes files that are mapped into memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

OUTCOMES = Path(__file__).parents[1] / "docs" / "scaling" / "outcomes.jsonl"
OVERHEAD = OUTCOMES.with_name("overhead.json")
PAIRS = OUTCOMES.with_name("pairs.jsonl")
#: Texts of a file.
_FILE = 250_000
#: Seconds between two looks at the memory of processes.
_LOOK = 0.25
#: Columns of the product that a pass for vectors sums up, and how often each way of summing is measured.
_COLUMNS, _ROUNDS = 110, 7


@cache
def _titles() -> tuple[list[list[str]], Any, Any, Any]:
    """The words of all titles, the subreddit of each, titles in the order of subreddits, and where each begins."""
    from coterie import datasets

    collection = datasets.load("reddit")
    _, group = np.unique(np.asarray(collection.labels), return_inverse=True)
    order = np.argsort(group, kind="stable")
    begins = np.searchsorted(group[order], np.arange(group.max() + 2))
    return [title.split() for title in collection.texts], group, order, begins


def make(folder: Path, n_texts: int) -> None:
    """Write so many texts; a longer collection begins with the texts of a shorter one."""
    _titles()  # once, for all processes
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(0, n_texts, _FILE)
    sizes = [(folder, number, min(_FILE, n_texts - start)) for number, start in enumerate(starts)]
    with get_context("fork").Pool() as pool:
        pool.starmap(_write, sizes, chunksize=1)


def _write(folder: Path, number: int, many: int) -> None:
    words, group, order, begins = _titles()
    rng = np.random.default_rng(number)
    one = rng.integers(0, len(words), many)
    low, high = begins[group[one]], begins[group[one] + 1]
    two, three = (order[low + (rng.random(many) * (high - low)).astype(np.int64)] for _ in range(2))
    texts = [
        " ".join(word for third, at in enumerate(titles) for word in _third(words[at], third))
        for titles in zip(one.tolist(), two.tolist(), three.tolist(), strict=True)
    ]
    pl.DataFrame({"text": texts}).write_parquet(folder / f"part-{number:05d}.parquet")


def _third(words: list[str], number: int) -> list[str]:
    """The first, second or last third of a title; none is empty, so short ones share words."""
    many = len(words)
    return words[many * number // 3 : max(many * (number + 1) // 3, many * number // 3 + 1)]


def fit(folder: Path, outcomes: Path, engine: str, workers: int, memory: int, topics: int) -> None:
    """Fit once, in this process, and append what it took to a file."""
    from coterie.engines import open_executor
    from coterie.progress import listening
    from coterie.runs import fit_run
    from coterie.text import read_texts
    from coterie.topics import TopicModel

    if engine == "threads":  # as many as there are processors
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])
    watch = Stages()
    outcomes.parent.mkdir(parents=True, exist_ok=True)
    out = folder.parent / f"run-{os.getpid()}"
    start = time.perf_counter()
    source = read_texts(str(folder / "*.parquet"))
    try:
        with watch.watching(), listening(watch.heard):
            if engine == "threads":
                run = fit_run(source, out, TopicModel(topics), memory=memory)
                watch.ended()
            else:
                with open_executor(engine, workers) as executor:
                    run = fit_run(source, out, TopicModel(topics), workers=executor, memory=memory)
                    watch.ended()  # before the workers go, and with them what they have used
        seconds = time.perf_counter() - start
        info, written = run.info, sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    finally:
        shutil.rmtree(out, ignore_errors=True)
    outcome = {
        "texts": info["data"]["texts"],
        "distinct": info["distinct"],
        "terms": len(run.model.vectorizer_.vocabulary_.terms),
        "engine": engine,
        "workers": workers,
        "memory": memory,
        "topics": topics,
        "cores": len(os.sched_getaffinity(0)),
        "machine": platform.machine(),
        "seconds": round(seconds, 1),
        "cpu": round(sum(stage["cpu"] for stage in watch.stages), 1),
        "peak": round(max(stage["peak"] for stage in watch.stages), 1),
        "own": round(max(stage["own"] for stage in watch.stages), 1),
        "worker_peak": round(watch.worker_peak, 1),
        "written": written,
        "stages": watch.stages,
    }
    with outcomes.open("a", encoding="utf-8") as file:
        file.write(json.dumps(outcome) + "\n")
    print(json.dumps(outcome, indent=1))


def pairs(folder: Path) -> None:
    """Count all pairs of terms that co-occur, and those that a fit keeps."""
    from coterie.corpus import Vectorizer
    from coterie.engines import Cluster
    from coterie.semantics import MOST_PAIRS, frequent_cooccurrence
    from coterie.text import read_texts

    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        vectorizer = Vectorizer(min_df=2, fix_typos=True, skip_non_answers=True)
        source = read_texts(str(folder / "*.parquet"))
        corpus = vectorizer.fit_corpus(source, Cluster(folder=Path(work)))
        together = frequent_cooccurrence(corpus.engine, most=1 << 40).data
        often = np.bincount(np.minimum(together, 1000).astype(np.int64))
        at_least = together.size - np.concatenate([[0], np.cumsum(often)])
        least = int(np.argmax(at_least <= MOST_PAIRS))
        outcome = {
            "texts": corpus.n_texts,
            "terms": corpus.engine.n_terms,
            "pairs": int(together.size),
            "once": int(often[1]),
            "least": max(least, 1),
            "kept": int(at_least[least]),
        }
    with PAIRS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(outcome) + "\n")
    print(json.dumps(outcome, indent=1))


def overhead(folder: Path) -> None:
    """One pass for vectors, summed up in three ways in turn: one after another, in the tree, and by a worker."""
    from functools import reduce

    from coterie.corpus import Vectorizer
    from coterie.engines import Block, Cluster, open_executor
    from coterie.engines.base import add
    from coterie.engines.disk import DiskEngine
    from coterie.engines.threads import one_blas_thread
    from coterie.text import read_texts

    with tempfile.TemporaryDirectory(dir=folder.parent) as work, open_executor("processes", 1) as worker:
        corpus = Vectorizer(min_df=2).fit_corpus(
            read_texts(str(folder / "*.parquet")), Cluster(folder=Path(work))
        )
        blocks = Path(work) / "blocks"
        engine = DiskEngine(blocks, 1)
        workers = Cluster(worker, folder=Path(work)).engine(blocks)
        Q = np.random.RandomState(0).standard_normal((engine.n_terms, _COLUMNS)).astype(np.float32)

        def product(block: Block) -> Any:
            return block.X.T @ (block.weights[:, None] * (block.X @ Q))

        ways = {
            "one after another": lambda: reduce(add, engine.map(product)),
            "tree": lambda: engine.sum(product),
            "tree, one worker process": lambda: workers.sum(product),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        with one_blas_thread():
            for _ in range(_ROUNDS):
                for name, way in ways.items():
                    start = time.perf_counter()
                    way()
                    seconds[name].append(time.perf_counter() - start)
        outcome = {
            "texts": corpus.n_texts,
            "blocks": engine.n_blocks,
            "terms": engine.n_terms,
            "rounds": _ROUNDS,
            "seconds": {name: round(median(each), 3) for name, each in seconds.items()},
        }
    OVERHEAD.write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(outcome, indent=1))


class Stages:
    """Seconds, seconds of processors, bytes read and written, and the peak of memory in MB, of each stage that is
    reported. Processors and bytes are those of workers, too. `own` is the peak without files that are mapped into
    memory, as seen four times a second.
    """

    def __init__(self) -> None:
        self.stages: list[dict[str, Any]] = []
        self.worker_peak = 0.0
        self._own = 0.0
        self._begun = 0.0
        self._used = _used()

    def heard(self, step: Any) -> None:
        """A stage begins when another one is named."""
        if not self.stages or self.stages[-1]["stage"] != step.stage:
            self.ended()
            self.stages.append({"stage": step.stage, "seconds": 0.0, "peak": 0.0})
            Path("/proc/self/clear_refs").write_text("5")
            self._begun, self._used, self._own = time.perf_counter(), _used(), 0.0
            print(time.strftime("%H:%M:%S"), step.stage, file=sys.stderr, flush=True)

    def ended(self) -> None:
        """Note what the current stage took."""
        if self.stages:
            last = self.stages[-1]
            last["seconds"] = round(time.perf_counter() - self._begun, 2)
            for name, now in _used().items():
                last[name] = round(now - self._used[name], 2)
            last["peak"] = round(_kilobytes("self", "VmHWM") / 1024, 1)
            last["end"] = round(_kilobytes("self", "RssAnon") / 1024, 1)
            last["own"] = round(max(self._own, last["end"]), 1)
            print(
                f"   {last['seconds']} s, {last['cpu']} s of processors, {last['peak']} MB",
                file=sys.stderr,
                flush=True,
            )

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this process and the largest of those that it starts."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(_LOOK):
                self._own = max(self._own, _kilobytes("self", "RssAnon") / 1024)
                for pid in _descendants(os.getpid()):
                    self.worker_peak = max(self.worker_peak, _kilobytes(pid, "VmHWM") / 1024)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _kilobytes(pid: int | str, name: str) -> float:
    """A line of the status of a process; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return float(next((line.split()[1] for line in status.splitlines() if line.startswith(name)), 0))


def _used() -> dict[str, float]:
    """Seconds of processors and megabytes so far, of this process and those that it started."""
    cpu = time.process_time()
    read = written = 0.0
    for pid in [os.getpid(), *_descendants(os.getpid())]:
        with suppress(OSError):
            io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
            read += int(io["rchar"]) / 1e6
            written += int(io["wchar"]) / 1e6
            if pid != os.getpid():
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                cpu += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return {"cpu": cpu, "read": read, "written": written}


def _descendants(pid: int) -> list[int]:
    try:
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    return children + [below for child in children for below in _descendants(child)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("make")
    one.add_argument("folder", type=Path)
    one.add_argument("texts", type=int)
    one = commands.add_parser("fit")
    one.add_argument("folder", type=Path)
    one.add_argument("outcomes", type=Path, nargs="?", default=OUTCOMES)
    one.add_argument("--engine", default="threads")
    one.add_argument("--workers", type=int, default=2)
    one.add_argument("--memory", type=int, default=2_000_000_000)
    one.add_argument("--topics", type=int, default=100)
    for name in ("pairs", "overhead"):
        commands.add_parser(name).add_argument("folder", type=Path)
    given = parser.parse_args()
    if given.command == "make":
        make(given.folder, given.texts)
    elif given.command == "pairs":
        pairs(given.folder)
    elif given.command == "overhead":
        overhead(given.folder)
    else:
        fit(given.folder, given.outcomes, given.engine, given.workers, given.memory, given.topics)


if __name__ == "__main__":
    main()
