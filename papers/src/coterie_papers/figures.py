"""Figures with one look: lines with bands, and histograms. Equal numbers give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from coterie_papers.bench.contenders import CONTENDERS

_LOOK: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters everywhere
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "legend.fontsize": 8.5,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.0,
    "figure.facecolor": "white",
    "svg.hashsalt": "coterie",
    "svg.fonttype": "path",
    "path.simplify": True,
}
_PANEL = (3.6, 2.9)  # inches
_DPI = 130
#: Rows of a legend below the panels hold so many entries for each panel beside each other.
_LEGEND = 2
#: What numbers from a paper are called in legends.
THEIRS = "as the paper printed"
#: Colours of what is no method.
NEUTRAL = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB")


@dataclass(frozen=True, slots=True)
class Curve:
    """A line: the name of a method, which has its colour everywhere, or of something else.

    `spread` is drawn as a band of that much above and below. `label`, `colour`, `dash` and `marker` replace
    what the name would give. `theirs` are numbers that a paper prints: a thin dashed line with hollow markers
    in the colour of the method, and one entry in the legend for all of them. Beside it ours are solid.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] | None = None
    label: str | None = None
    colour: str | None = None
    dash: str | None = None
    marker: str | None = None
    theirs: bool = False


@contextmanager
def look() -> Iterator[None]:
    """Within it matplotlib draws as all pages do; outside it is as the caller had it."""
    with mpl.rc_context(_LOOK):
        yield


def panels(n: int, columns: int = 3, size: tuple[float, float] = _PANEL) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels, for what the functions below do not draw; call it within `look()`."""
    across = min(columns, n)
    down = ceil(n / across)
    figure = Figure(figsize=(size[0] * across, size[1] * down), layout="constrained")
    FigureCanvasAgg(figure)
    axes = np.atleast_1d(figure.subplots(down, across, squeeze=False)).ravel()
    for unused in axes[n:]:
        unused.remove()
    return figure, list(axes[:n])


def lines(
    curves: Mapping[str, Sequence[Curve]],
    *,
    x: str,
    y: str | Sequence[str],
    columns: int = 3,
    log_x: bool = False,
    log_y: bool = False,
    size: tuple[float, float] = _PANEL,
) -> Figure:
    """A panel for each title, with one legend for all of them; `y` is one name of the axis or one each."""
    with look():
        figure, axes = panels(len(curves), columns, size)
        names = [y] * len(axes) if isinstance(y, str) else list(y)
        numbered: dict[str, int] = {}  # what is no method gets the neutral colours in turn
        solid = any(curve.theirs for drawn in curves.values() for curve in drawn)
        for ax, (title, drawn), name in zip(axes, curves.items(), names, strict=True):
            for curve in drawn:
                _draw(ax, replace(curve, dash=curve.dash or "-") if solid else curve, numbered)
            if log_x:
                ax.set_xscale("log")
            if log_y:
                ax.set_yscale("log")
            ax.set(title=title, xlabel=x, ylabel=name)
        legend(figure, axes)
    return figure


def _draw(ax: Axes, curve: Curve, numbered: dict[str, int]) -> None:
    known = CONTENDERS.get(curve.name)
    if known is None:
        number = numbered.setdefault(curve.name, len(numbered))
        style = (curve.name, NEUTRAL[number % len(NEUTRAL)], "osD^v*P"[number % 7], "-")
    else:
        style = (known.label, known.colour, known.marker, known.dash)
    label, colour, marker, dash = (
        given or usual
        for given, usual in zip((curve.label, curve.colour, curve.marker, curve.dash), style, strict=True)
    )
    at, level = np.asarray(curve.x, float), np.asarray(curve.y, float)
    if curve.theirs:
        hollow: Any = {"markerfacecolor": "white", "linewidth": 1.0, "alpha": 0.8}
        ax.plot(at, level, "--", color=colour, marker=marker, **hollow)
        ax.plot([], [], "--", color="#555555", marker="o", label=THEIRS, **hollow)
        return
    ax.plot(at, level, dash, color=colour, marker=marker if len(at) <= 30 else "", label=label)
    if curve.spread is not None and np.any(curve.spread):
        band = np.asarray(curve.spread, float)
        ax.fill_between(at, level - band, level + band, color=colour, alpha=0.13, linewidth=0)


def legend(figure: Figure, axes: Sequence[Axes], per_panel: int = _LEGEND) -> None:
    """One legend below all panels, each label once."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1:
        across = len({round(ax.get_position().x0, 3) for ax in axes})
        figure.legend(
            list(found.values()),
            list(found),
            loc="outside lower center",
            ncols=ceil(len(found) / ceil(len(found) / (per_panel * across))),  # rows of equal length
            frameon=False,
        )


def histograms(
    values: Mapping[str, npt.ArrayLike | tuple[Sequence[float], Sequence[float]]],
    *,
    x: str | Sequence[str],
    y: str | Sequence[str] = "terms",
    bins: int = 40,
    log_y: bool | Sequence[bool] = False,
    columns: int = 3,
    colours: Sequence[str] = NEUTRAL,
) -> Figure:
    """A panel with a histogram for each title, of values or of (counts, edges) as numpy counts them.

    Names of axes and whether y is logarithmic: one for all, or one for each panel.
    """
    with look():
        figure, axes = panels(len(values), columns)
        below, beside, logarithmic = (
            [given] * len(axes) if isinstance(given, str | bool) else given for given in (x, y, log_y)
        )
        for number, (ax, (title, found)) in enumerate(zip(axes, values.items(), strict=True)):
            counts, edges = (
                found if isinstance(found, tuple) else np.histogram(np.asarray(found, float), bins)
            )
            ax.stairs(counts, edges, fill=True, color=colours[number % len(colours)])
            if logarithmic[number]:
                ax.set_yscale("log")
            ax.set(title=title, xlabel=below[number], ylabel=beside[number])
    return figure


def save(figure: Figure, stem: Path) -> None:
    """Write STEM.svg and STEM.png, without dates or versions in them."""
    with look():
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
        figure.savefig(stem.with_suffix(".png"), dpi=_DPI, metadata={"Software": None})
