"""Writes the measured part of docs/scaling.md from the outcomes of `benchmarks/scaling.py fit`.

    python benchmarks/scaling_page.py

Cost model, settled before its figures were seen: for each stage, seconds of processors = fixed + rate × texts, from the two smallest
fits in threads, and asked about the largest. What a stage reads and writes is modelled alike.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from scaling import OUTCOMES, OVERHEAD, PAIRS

PAGE = OUTCOMES.parents[1] / "scaling.md"
MARKS = "<!-- written by benchmarks/scaling_page.py -->", "<!-- end of scaling -->"
#: Stages in which the process that was started works alone, whatever the number of workers.
ALONE = (
    "reading texts",
    "clustering",
    "refining topics",
    "drawing the map",
    "writing assignments",
    "writing the report",
)
#: The collection and the cluster of the extrapolation, and rows of a block.
MANY, WORKERS, BLOCK = 1_000_000_000, 64, 65_536
MILLION = 1_000_000


@dataclass(frozen=True)
class Line:
    """A cost that grows with the number of texts along a straight line."""

    fixed: float
    rate: float

    @classmethod
    def through(cls, one: tuple[int, float], other: tuple[int, float]) -> Line:
        rate = (other[1] - one[1]) / (other[0] - one[0])
        return cls(one[1] - rate * one[0], rate)

    def at(self, texts: int) -> float:
        return self.fixed + self.rate * texts


def newest(outcomes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last outcome of each engine, number of workers and of texts, the smallest first."""
    found = {(one["engine"], one["workers"], one["texts"]): one for one in outcomes if "cpu" in one}
    return sorted(found.values(), key=lambda one: (one["engine"] != "threads", -one["workers"], one["texts"]))


def two_threads(outcomes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in outcomes if one["engine"] == "threads" and one["workers"] > 1]


def stage(outcome: dict[str, Any], name: str, value: str) -> float:
    return float(sum(some[value] for some in outcome["stages"] if some["stage"] == name))


def stages_of(outcome: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(some["stage"] for some in outcome["stages"]))


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *rows]]
    return "\n".join([lines[0], "|---" + "|--:" * (len(head) - 1) + "|", *lines[1:]])


def millions(texts: int) -> str:
    return f"{texts / MILLION:g} million"


def name_of(outcome: dict[str, Any]) -> str:
    ways = {"threads": "threads", "processes": "processes", "dask": "Dask workers"}
    way = ways[outcome["engine"]]
    return f"{outcome['workers']} {way}" if outcome["workers"] > 1 else f"1 {way[:-1]}"


def fits(outcomes: list[dict[str, Any]]) -> str:
    rows = [
        [
            millions(one["texts"]),
            name_of(one),
            f"{one['terms']:,}",
            f"{one['seconds']:,.0f}",
            f"{one['texts'] / one['seconds']:,.0f}",
            f"{one['cpu']:,.0f}",
            f"{one['peak']:,.0f}",
            f"{one['own']:,.0f}",
            "–" if one["engine"] == "threads" else f"{one['worker_peak']:,.0f}",
        ]
        for one in outcomes
    ]
    head = ["texts", "engine", "terms", "seconds", "texts per second", "seconds of processors"]
    return table([*head, "peak, MB", "without mapped files", "peak of a worker, MB"], rows)


def stages(outcomes: list[dict[str, Any]]) -> str:
    rows = [
        [
            name,
            *(
                f"{stage(one, name, 'seconds'):,.0f} s, {stage(one, name, 'cpu'):,.0f} s, {stage(one, name, 'peak'):,.0f} MB, "
                f"{(stage(one, name, 'read') + stage(one, name, 'written')) / 1000:,.1f} GB"
                for one in outcomes
            ),
        ]
        for name in stages_of(outcomes[-1])
    ]
    return table(["stage", *(f"{millions(one['texts'])}, {name_of(one)}" for one in outcomes)], rows)


def lines(small: dict[str, Any], middle: dict[str, Any], value: str) -> dict[str, Line]:
    return {
        name: Line.through(
            (small["texts"], stage(small, name, value)), (middle["texts"], stage(middle, name, value))
        )
        for name in stages_of(middle)
    }


def model(small: dict[str, Any], middle: dict[str, Any], large: dict[str, Any]) -> str:
    rows = []
    total = [0.0, 0.0]
    for name, line in lines(small, middle, "cpu").items():
        predicted, measured = line.at(large["texts"]), stage(large, name, "cpu")
        total = [total[0] + predicted, total[1] + measured]
        rows.append(
            [
                name,
                f"{line.fixed:,.0f}",
                f"{line.rate * MILLION:,.1f}",
                f"{predicted:,.0f}",
                f"{measured:,.0f}",
                _off(predicted, measured),
            ]
        )
    rows.append(["all", "", "", f"{total[0]:,.0f}", f"{total[1]:,.0f}", _off(*total)])
    return table(
        [
            "stage",
            "fixed, s",
            "s per million texts",
            f"predicted at {millions(large['texts'])}",
            "measured",
            "off by",
        ],
        rows,
    )


def _off(predicted: float, measured: float) -> str:
    return "–" if measured < 1 else f"{predicted / measured - 1:+.0%}"


def billion(outcomes: list[dict[str, Any]]) -> str:
    threads = two_threads(outcomes)
    large = threads[-1]
    seconds = lines(threads[0], large, "cpu")
    hours = {
        name: max(line.at(MANY), 0.0) / 3600 / (1 if name in ALONE else WORKERS)
        for name, line in seconds.items()
    }
    alone = {name: hours[name] for name in ALONE if name in hours}
    slowest = sorted(alone, key=lambda name: -alone[name])[:2]
    through = sum(
        max(line.at(MANY), 0.0)
        for value in ("read", "written")
        for line in lines(threads[0], large, value).values()
    )
    groups = -(-MANY // BLOCK // 8)
    sums = groups * large["terms"] * 110 * 4 / 1e6  # of one pass for vectors, which is made five times
    return f"""From the same lines through the smallest and the largest fit, on {WORKERS} workers that share nothing else of what they do: about
**{sum(hours.values()):.0f} hours**, of which {sum(alone.values()):.0f} are spent in the one process that was started: {slowest[0]} ({alone[slowest[0]]:.1f} h) and
{slowest[1]} ({alone[slowest[1]]:.1f} h) go through it row by row. **That is where it breaks first**: more workers would change little. About
{through / 1e6:,.1f} TB are read and written in the shared folder, and sums of blocks, {sums / 1e6:,.2f} TB in each of the five passes that learn vectors, come on top. Memory
of that process stays near {large["peak"] / 1000:.1f} GB, as terms and topics decide about it; two things grow: one entry for each of {-(-MANY // BLOCK):,} blocks, and
mapped files, whose pages the system takes back when it needs them. Nobody has run this."""


def page(outcomes: list[dict[str, Any]]) -> str:
    threads = two_threads(outcomes)
    others = [one for one in outcomes if one not in threads]
    small, *_, large = threads
    exponent = _exponent(small, large)
    parts = [
        "## Measured",
        f"Titles of `reddit`, recombined so that hardly any text occurs twice, {large['topics']} topics, `--memory 2GB`, on {large['cores']} cores; Parquet files to a whole run "
        "folder, one fit after another. Seconds of processors are those of all threads and workers together. Peaks are "
        "of the resident set of the process that was started, with and without files that are mapped into memory.",
        fits(outcomes),
        f"From {millions(small['texts'])} to {millions(large['texts'])} texts the time grows with exponent {exponent:.2f}, and "
        f"{large['texts'] / large['seconds'] / (small['texts'] / small['seconds']):.2f} times as many texts are done per second. "
        + _beside(threads, others),
        "Of each stage: seconds, seconds of processors, peak, and bytes read and written (of all processes, page cache included):",
        stages(threads),
    ]
    if one_worker := [one for one in others if one["workers"] == 1]:
        parts += ["The same with one worker:", stages(one_worker)]
    parts += ["### Pairs of terms", pairs()]
    if len(threads) > 2:
        parts += [
            "### A model of the cost",
            "For each stage, seconds of processors are a fixed part and one for each text, from the two smaller fits; asked about the largest one.",
            model(threads[0], threads[1], threads[-1]),
        ]
    parts += ["### A billion texts, on paper", billion(outcomes)]
    parts += ["### What the tree and shared arrays cost on one machine", overhead(threads[0])]
    return "\n\n".join(parts)


def pairs() -> str:
    counted = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    rows = [
        [
            millions(one["texts"]),
            f"{one['terms']:,}",
            f"{one['pairs'] / MILLION:,.1f}",
            f"{one['once'] / one['pairs']:.0%}",
            str(one["least"]),
            f"{one['kept'] / MILLION:,.1f}",
        ]
        for one in sorted({one["texts"]: one for one in counted}.values(), key=lambda one: one["texts"])
    ]
    return (
        "Pairs that occur in some text go on growing with the collection. A fit keeps those that occur in at least so many texts that "
        "16.8 million are left.\n\n"
        + table(["texts", "terms", "pairs, million", "in one text only", "kept from", "kept, million"], rows)
    )


def overhead(fit: dict[str, Any]) -> str:
    measured = json.loads(OVERHEAD.read_text("utf-8"))
    plain = measured["seconds"]["one after another"]
    share = stage(fit, "computing vectors", "seconds") / fit["seconds"]
    rows = [
        [name, f"{seconds:.2f}", f"{seconds / plain:.2f}"] for name, seconds in measured["seconds"].items()
    ]
    return (
        f"One pass for vectors over {millions(measured['texts'])} texts in {measured['blocks']} blocks of a folder, with one thread: sums of blocks added one after "
        f"another, in the tree, and in the tree by one worker process, to which arrays are handed as files. Medians of {measured['rounds']} rounds in turn.\n\n"
        + table(["sums", "seconds", "ratio"], rows)
        + f"\n\nSums are largest in these passes, which take {share:.0%} of the fit of {millions(fit['texts'])} texts: the tree costs that fit about "
        f"{share * (measured['seconds']['tree'] / plain - 1):.1%}."
    )


def _exponent(small: dict[str, Any], large: dict[str, Any]) -> float:
    from math import log

    return log(large["seconds"] / small["seconds"]) / log(large["texts"] / small["texts"])


def _beside(threads: list[dict[str, Any]], others: list[dict[str, Any]]) -> str:
    by_size = {one["texts"]: one for one in threads}
    said = [
        f"At {millions(one['texts'])} texts {name_of(one)} take{'s' if one['workers'] == 1 else ''} {one['seconds'] / by_size[one['texts']]['seconds']:.2f} times as long as {name_of(by_size[one['texts']])}."
        for one in others
        if one["texts"] in by_size
    ]
    said.append("Memory of the process that was started grows with the terms, not with the texts:")
    every = [*threads, *others]
    for way in dict.fromkeys(map(name_of, every)):
        said += [
            f"with {way}, from {millions(less['texts'])} to {millions(more['texts'])} texts, it uses {_more(more['own'] - less['own'], 'MB')} of its own "
            f"and has {_more(more['terms'] - less['terms'], 'terms')};"
            for less, more in pairwise([one for one in every if name_of(one) == way])
        ]
    return " ".join(said).rstrip(";") + "."


def _more(change: float, unit: str) -> str:
    return (
        f"{abs(change):,.0f} {unit} {'more' if change >= 0 else 'less'}"
        if unit == "MB"
        else f"{change:,.0f} more {unit}"
    )


def main() -> None:
    outcomes = newest([json.loads(line) for line in OUTCOMES.read_text("utf-8").splitlines()])
    head, rest = PAGE.read_text("utf-8").split(MARKS[0])
    PAGE.write_text(
        f"{head}{MARKS[0]}\n\n{page(outcomes)}\n\n{MARKS[1]}{rest.split(MARKS[1])[1]}", encoding="utf-8"
    )
    print(PAGE, file=sys.stderr)


if __name__ == "__main__":
    main()
