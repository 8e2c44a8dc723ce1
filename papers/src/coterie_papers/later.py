"""What came after the papers: later methods for short texts on the data of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.kinds import cluster, kind
from coterie_papers.bench.markdown import bold, pm
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.page import Page

LATER = ("gsdmm", "gsdmm-plus", "btm", "ptm", "anchor-words", "wc-nmtf", "seanmf", "coterie")
#: Those that take long where texts are.
SLOW_FOR_LONG = ("btm", "ptm")
RUNS = 3

# trials of a kind of their own, so that the tables of a page do not take them for their own
kind("later")(cluster)


def later_trials(
    own: tuple[str, ...], sizes: Mapping[str, int], quick: bool, without: tuple[str, ...] = ()
) -> list[Trial]:
    """The paper's own methods and the later ones; `sizes` are the numbers of topics by collection."""
    return [
        trial("later", name, method, k=k, seed=seed)
        for name, k in sizes.items()
        for method in (*own, *LATER)
        if method not in without
        for seed in range(1 if quick else RUNS)
    ]


def later(results: Results, page: Page, remark: str = "") -> None:
    """The section about them."""
    names = results.distinct("collection", "later")
    runs = len(results.distinct("seed", "later"))
    sizes = ", ".join(f"K = {results.distinct('k', 'later', collection=n)[0]} on `{n}`" for n in names)
    page.text(
        f"""
## What came after

Methods for short texts that were published later, and this package's own, on the same counts: {sizes}; mean
± standard deviation of {runs} runs. Nothing was tuned: each has the settings of its authors, or the defaults
of this package, which were chosen on labelled sets, some of these among them. GSDMM and GSDMM+ are mixtures
in which a text has one topic. GSDMM+ merges 500 clusters down to K, and with few topics nearly all texts may
end in one. BTM is the biterm topic model; PTM puts short texts together into longer ones; anchor words,
WC-NMTF and SeaNMF factorise co-occurrence, as the papers here do. [Methods](../methods.md) has the formulas.
{remark}
"""
    )
    best = {
        (value, name): max(_mean(results, value, name, m) for m in results.distinct("method", "later"))
        for value in ("nmi", "ari")
        for name in names
    }
    page.table(
        ["method", *(f"{name}, {shown}" for name in names for shown in ("NMI", "ARI", "CPU s"))],
        [
            [CONTENDERS[m].label, *(cell for name in names for cell in _cells(results, name, m, best))]
            for m in results.distinct("method", "later")
        ],
    )


def _mean(results: Results, value: str, name: str, method: str) -> float:
    return results.mean(value, "later", collection=name, method=method)


def _cells(results: Results, name: str, method: str, best: dict[tuple[str, str], float]) -> list[Any]:
    at = {"collection": name, "method": method}
    cells: list[Any] = []
    for value in ("nmi", "ari"):
        mean = _mean(results, value, name, method)
        cell = pm(mean, results.spread(value, "later", **at))
        cells.append(bold(cell) if mean == best[value, name] else cell)
    return [*cells, f"{results.mean('seconds', 'later', **at):.1f}"]
