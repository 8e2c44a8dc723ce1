"""Sections of the page on statistical semantics: NMI and time over rank, and over the size of collections."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from coterie_papers.bench.contenders import CONTENDERS
from coterie_papers.bench.markdown import bold, pm
from coterie_papers.figures import Curve, lines
from coterie_papers.nystrom_found import (
    BASELINES,
    BESIDE,
    CLUSTERERS,
    FOLLOWED,
    FULL,
    SEMANTICS,
    Clusterer,
    Found,
)
from coterie_papers.page import Page


def ranks(found: Found, page: Page, clusterer: Clusterer) -> None:
    """NMI and time over rank for one clusterer: a figure and a table for each collection."""
    names = found.ranked if clusterer == "spherical" else found.samples
    page.text(f"## NMI and time over rank, {CLUSTERERS[clusterer]}")
    for name in names:
        listed = found.sampled(name)
        draws = {
            few: len(found.results.distinct("seed", "nystrom", collection=name, sampled=few))
            for few in listed
        }
        runs = len(found.results.distinct("seed", "cluster", collection=name))
        drawn = ", ".join(f"{n} for ℓ = {few:,}" for few, n in draws.items())
        page.figure(
            f"{clusterer}-{name}",
            f"{name}, {CLUSTERERS[clusterer]}: NMI (above) and CPU seconds (below) over rank. Mean and "
            f"standard deviation over draws of terms ({drawn}); baselines over {runs} runs.",
            _rank_figure(found, name, clusterer),
        )
        _too_few_terms(found, page, name)
        _rank_table(found, page, name, clusterer)


def _too_few_terms(found: Found, page: Page, name: str) -> None:
    asked = found.results.distinct("sampled", "nystrom", collection=name)
    terms = found.data(name)["terms"]
    for few in sorted(set(asked) - set(found.sampled(name))):
        page.text(
            f"`{name}` has {terms:,} terms, fewer than ℓ = {few:,}: there is nothing to draw, and "
            "no panel for it."
        )


def _rank_figure(found: Found, name: str, clusterer: Clusterer) -> Any:
    listed = found.sampled(name)
    suffix = "-nmf" if clusterer == "nmf" else ""
    curves: dict[str, list[Curve]] = {}
    for value, what in (("nmi", "ℓ = {:,}"), ("seconds", "ℓ = {:,}, time")):
        for few in listed:
            ranks = found.ranks(name, few, clusterer)
            ends = [ranks[0], ranks[-1]]
            drawn = [
                Curve(m, ends, [found.baseline(name, m, value)[0]] * 2, marker="None")
                for m in BESIDE[clusterer]
            ]
            for semantics in found.semantics(name, few):
                points = [found.at(name, semantics, few, rank, value, clusterer) for rank in ranks]
                means, spreads = zip(*points, strict=True)
                band = spreads if value == "nmi" else None
                drawn.append(Curve(semantics + suffix, ranks, means, band, label=_short(semantics)))
            curves[what.format(few)] = drawn
    names = ["NMI"] * len(listed) + ["CPU seconds"] * len(listed)
    figure = lines(curves, x="rank k", y=names, columns=len(listed), log_x=True)
    _ticks(figure, len(listed), sorted({k for few in listed for k in found.ranks(name, few, clusterer)}))
    return figure


def _ticks(figure: Any, panels: int, at: list[int]) -> None:
    """Ranks as people write them; panels of a row have one scale, logarithmic for time."""
    axes = figure.axes
    shown = [rank for rank in at if len(at) <= 5 or rank in (5, 20, 100, 1000)]
    for ax in axes:
        ax.set_xticks(shown, [f"{rank:,}" for rank in shown])
        ax.minorticks_off()
    for ax in axes[panels:]:
        logarithmic(ax)  # before limits are read: those of a linear axis may lie below zero
    for row in (axes[:panels], axes[panels:]):
        limits = [ax.get_ylim() for ax in row]
        for ax in row:
            ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def logarithmic(ax: Axes) -> None:
    """Seconds on a logarithmic axis, in figures that people read: 0.5, 1, 2."""
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _rank_table(found: Found, page: Page, name: str, clusterer: Clusterer) -> None:
    listed = found.sampled(name)
    columns = [(few, rank) for few in listed for rank in _few(found.ranks(name, few, clusterer))]
    rows: list[list[Any]] = []
    for semantics in SEMANTICS:
        cells: list[Any] = []
        for few, rank in columns:
            known = semantics in found.semantics(name, few)
            cells.append(_score(found.at(name, semantics, few, rank, "nmi", clusterer)) if known else None)
        rows.append([_short(semantics), *cells])
    header = [f"ℓ = {few:,}, k = {rank:,}" for few, rank in columns]
    page.table([f"NMI, {name}", *header], rows)
    beside = ", ".join(f"{CONTENDERS[m].label} {_score(found.baseline(name, m))}" for m in BESIDE[clusterer])
    page.text(f"Baselines on `{name}`: {beside}.")


def _short(semantics: str) -> str:
    return semantics.removeprefix("nystrom-")


def _score(both: tuple[float, float]) -> str:
    """Mean and standard deviation, or the mean alone of a single run."""
    mean, spread = both
    return pm(mean, spread, 3) if spread else f"{mean:.3f}"


def _few(ranks: list[int]) -> list[int]:
    """The lowest, a middle and the highest rank."""
    middle = min(ranks, key=lambda rank: abs(np.log(rank) - np.log(100)))
    return sorted({ranks[0], middle, ranks[-1]})


def full(found: Found, page: Page) -> None:
    """All terms at full rank beside the largest draw."""
    page.text(
        """
### All terms at full rank

Nothing drawn and nothing cut, X G Xᵀ of the two semantics that are not centred equals W Wᵀ for W = X A Xᵀ
with a diagonal A: texts × texts, sparse, without eigenvectors. So at this size the matrix of all terms
needs no approximation. The two semantics that are centred have no sparse form and are left out here.
"""
    )
    rows = []
    for name in found.samples:
        for semantics in FULL:
            few = found.most(name, semantics)
            rank = found.ranks(name, few)[-1]
            rows.append(
                (
                    name,
                    _short(semantics),
                    _score(found.full(name, semantics)),
                    f"{found.full(name, semantics, 'seconds')[0]:.1f}",
                    f"ℓ = {few:,}, k = {rank:,}",
                    _score(found.at(name, semantics, few, rank)),
                    f"{found.at(name, semantics, few, rank, 'seconds')[0]:.1f}",
                )
            )
    header = [
        "collection",
        "semantics",
        "NMI, all terms",
        "seconds",
        "most terms drawn",
        "NMI",
        "seconds, drawn",
    ]
    page.table(header, rows)


def space(found: Found, page: Page) -> None:
    """What a space costs at its lowest and highest rank."""
    listed = found.results.values("nystrom-space")
    page.text(
        "### What a space costs\n\nThe space alone, pcor on "
        f"`{listed[0].trial.collection}`. The eigenvectors of ℓ × ℓ numbers take the most, and "
        "their first step, to tridiagonal form, is the same at every rank: a low rank saves less "
        "than few terms do."
    )
    page.table(
        ["ℓ", "rank", "CPU seconds"],
        [
            (one.trial.setting("sampled"), one.trial.setting("rank"), f"{one.values['seconds']:.1f}")
            for one in listed
        ],
    )


# --- size


def sizes(found: Found, page: Page) -> None:
    """NMI and time over the number of texts."""
    page.text(
        f"""
## NMI and time over the size of the collection

pcor with spherical k-means at rank {found.size_rank}, and the baselines; one run each from the second size
on. The paper goes up to ℓ = k = 10,000. Columns of that many terms and rows of that rank would not fit into
the memory of an ordinary machine at 100,000 texts, so both are bounded here. NMI by chance falls as classes
get more texts, so it is drawn with the others. In the samples of reddit the number of classes grows with the
texts, in those of wordnet it does not.
"""
    )
    curves: dict[str, list[Curve]] = {}
    for value, what in (("nmi", "{}"), ("seconds", "{}, time")):
        for source, names in found.sizes.items():
            texts = [found.data(name)["texts"] for name in names]
            drawn = [Curve(m, texts, [found.baseline(n, m, value)[0] for n in names]) for m in BASELINES]
            for few, dash in zip(found.size_sampled, ("--", "-"), strict=True):
                drawn.append(
                    Curve(FOLLOWED, texts, [_followed(found, name, few, value)[0] for name in names],
                          label=f"pcor, ℓ = {few:,} + spherical k-means", dash=dash)
                )  # fmt: skip
            if value == "nmi":
                chance = [found.data(name)["chance"] for name in names]
                drawn.append(Curve("by chance", texts, chance, colour="#BBBBBB", marker="None", dash="-"))
            curves[what.format(source)] = drawn
    figure = lines(
        curves, x="texts", y=["NMI"] * 2 + ["CPU seconds"] * 2, columns=2, log_x=True, size=(4.6, 3.0)
    )
    for number, ax in enumerate(figure.axes):
        texts = [found.data(name)["texts"] for name in list(found.sizes.values())[number % 2]]
        ax.set_xticks(texts, [f"{n / 1000:.0f}k" for n in texts])
        ax.minorticks_off()
        if number > 1:
            logarithmic(ax)
    page.figure("sizes", "NMI and CPU seconds over the number of texts.", figure)
    for names in found.sizes.values():
        for value, label, digits in (("nmi", "NMI", 3), ("seconds", "CPU seconds", 1)):
            _size_table(found, page, names, value, label, digits)


def _followed(found: Found, name: str, few: int, value: str = "nmi") -> tuple[float, float]:
    return found.at(name, FOLLOWED, few, found.size_rank, value)


def _size_table(found: Found, page: Page, names: list[str], value: str, label: str, digits: int) -> None:
    rows = {CONTENDERS[m].label: [found.baseline(name, m, value)[0] for name in names] for m in BASELINES}
    for few in found.size_sampled:
        rows[f"pcor, ℓ = {few:,}"] = [_followed(found, name, few, value)[0] for name in names]
    pick = max if value == "nmi" else min
    best = [pick(column) for column in zip(*rows.values(), strict=True)]
    page.table(
        [label, *names],
        [
            (
                method,
                *(
                    bold(f"{one:.{digits}f}") if one == top else f"{one:.{digits}f}"
                    for one, top in zip(cells, best, strict=True)
                ),
            )
            for method, cells in rows.items()
        ],
    )


def ncut(found: Found, page: Page) -> None:
    """What Ncut weights and NMF with them cost at scale."""
    page.text(
        """
### NMF with Ncut weights at scale

The paper leaves this out for large collections, as it computes the similarity of all pairs of terms. The
weights need only the sums of its rows, Xᵀ(X·1), two passes over the texts. The matrix itself is sparse, and
the time of forming it is shown for comparison.
"""
    )
    rows = []
    for name in (name for names in found.sizes.values() for name in names):
        data = found.data(name)
        rows.append(
            (
                name,
                f"{data['weights_seconds']:.3f}",
                f"{data['affinity_seconds']:.2f}",
                f"{100 * data['affinity_density']:.2f} %",
                *(f"{found.baseline(name, m, 'seconds')[0]:.1f}" for m in BESIDE["nmf"]),
                f"{found.baseline(name, 'nmf-ncut', 'used')[0]:.0f} of {data['classes']}",
                f"{found.baseline(name, 'nmf-ncut-95', 'used')[0]:.0f} of {data['classes']}",
            )
        )
    labels = [CONTENDERS[m].label for m in BESIDE["nmf"]]
    page.table(
        ["CPU seconds", "Ncut weights", "matrix of terms", "its non-zeros", *labels,
         "clusters used, NMF + Ncut", "with 95th percentile"],
        rows,
    )  # fmt: skip
