"""The two figures of the Semantic-NMF page that other pages do not have: ways of an objective, and boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coterie_papers.bench.contenders import CONTENDERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What matplotlib calls the parts of a box, and what the summaries do.
_BOX = {"med": "median", "q1": "q1", "q3": "q3", "whislo": "low", "whishi": "high"}
_WIDTH = 0.34  # of a box, in the distance of two K


def convergence(ways: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> Figure:
    """A panel for each collection with a line for each run of each method."""
    from coterie_papers.figures import legend, look, panels

    with look():
        figure, axes = panels(len(ways))
        for ax, (title, methods) in zip(axes, ways.items(), strict=True):
            for name, runs in methods.items():
                known = CONTENDERS[name]
                alpha, width = (1.0, 1.4) if len(runs) < 5 else (0.35, 1.0)
                ax.plot([], [], known.dash, color=known.colour, label=known.label)  # the legend is not faint
                for way in runs:
                    ax.plot(
                        range(1, len(way) + 1), [value / 1e6 for value in way], known.dash,
                        color=known.colour, alpha=alpha, linewidth=width,
                    )  # fmt: skip
            ax.set(title=title, xlabel="iteration", ylabel="objective F(Z, W, S), millions")
        legend(figure, axes)
    return figure


def boxes(
    found: Mapping[str, Mapping[str, Sequence[tuple[int, Mapping[str, float]]]]], *, x: str, y: str
) -> Figure:
    """A panel for each collection with a box for each K and method, side by side."""
    from coterie_papers.figures import legend, look, panels

    with look():
        figure, axes = panels(len(found))
        for ax, (title, methods) in zip(axes, found.items(), strict=True):
            ks = [k for k, _ in next(iter(methods.values()))]
            for number, (name, summaries) in enumerate(methods.items()):
                known = CONTENDERS[name]
                shift = (number - (len(methods) - 1) / 2) * (_WIDTH + 0.05)
                drawn = ax.bxp(
                    [{part: summary[value] for part, value in _BOX.items()} for _, summary in summaries],
                    positions=[i + shift for i in range(len(ks))], widths=_WIDTH, showfliers=False,
                    patch_artist=True, manage_ticks=False,
                    boxprops={"facecolor": known.colour, "alpha": 0.75, "edgecolor": "#333333"},
                    medianprops={"color": "#111111", "linewidth": 1.8},
                )  # fmt: skip
                drawn["boxes"][0].set_label(known.label)
            ax.set_xticks(range(len(ks)), [str(k) for k in ks])
            ax.set(title=title, xlabel=x, ylabel=y, ylim=(-0.02, 1.02), xlim=(-0.6, len(ks) - 0.4))
            ax.grid(axis="x", visible=False)
        legend(figure, axes)
    return figure
