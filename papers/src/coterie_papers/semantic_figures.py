"""The figures of the Semantic-NMF page that other pages do not have: a scheme, curves of many runs, boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coterie_papers.bench.contenders import CONTENDERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What matplotlib calls the parts of a box, and what the summaries do.
_BOX = {"med": "median", "q1": "q1", "q3": "q3", "whislo": "low", "whishi": "high"}
_WIDTH = 0.34  # of a box, in the distance of two K
_POINTS = 120  # of a curve


def curves(ways: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> Figure:
    """A panel for each collection with a line for each run of each method, over iterations on a log scale."""
    from coterie_papers.figures import legend, look, panels

    with look():
        figure, axes = panels(len(ways))
        for ax, (title, methods) in zip(axes, ways.items(), strict=True):
            for name, runs in methods.items():
                known = CONTENDERS[name]
                alpha = 1.0 if len(runs) < 5 else 0.35
                ax.plot([], [], known.dash, color=known.colour, label=known.label)  # the legend is not faint
                for way in runs:
                    at = _spread_out(len(way))
                    ax.plot(
                        at, [way[i - 1] / 1e6 for i in at], known.dash, color=known.colour, alpha=alpha,
                        linewidth=1.0,
                    )  # fmt: skip
            ax.set_xscale("log")
            ax.set(title=title, xlabel="iteration", ylabel="objective F(Z, W, S), millions")
        legend(figure, axes)
    return figure


def _spread_out(n: int) -> list[int]:
    """Iterations up to the last that are evenly far apart on a log scale: a line needs no more.

    >>> _spread_out(5)
    [1, 2, 3, 4, 5]
    """
    return sorted({round(n ** (i / (_POINTS - 1))) for i in range(_POINTS)})


def scheme() -> Figure:
    """The two products of the method, with the factor that they share in one colour."""
    from matplotlib.patches import Rectangle

    from coterie_papers.figures import NEUTRAL, look, panels

    texts, terms, topics, gap = 2.6, 1.8, 0.45, 0.55
    with look():
        figure, (ax,) = panels(1, 1, (7.2, 2.6))
        ax.set(xlim=(-0.4, 10.8), ylim=(-3.3, 0.6), aspect="equal")
        ax.axis("off")

        def box(x: float, width: float, height: float, name: str, colour: str) -> float:
            ax.add_patch(Rectangle((x, -height), width, height, facecolor=colour, edgecolor="#333333"))
            ax.text(x + width / 2, -height / 2, name, ha="center", va="center", fontsize=11)
            return x + width

        def sign(x: float, text: str) -> float:
            ax.text(x + gap / 2, -terms / 2, text, ha="center", va="center", fontsize=14)
            return x + gap

        known, free, shared = "#dddddd", NEUTRAL[4], NEUTRAL[1]
        end = sign(box(0.0, terms, texts, "X", known), "≈")
        end = box(end, topics, texts, "Z", free)
        end = box(end + 0.12, terms, topics, "Wᵀ", shared)
        ax.text(terms / 2, 0.15, "terms", ha="center", fontsize=8)
        ax.text(-0.15, -texts / 2, "texts", va="center", ha="right", fontsize=8, rotation=90)
        second = sign(end, "")
        ax.text(second + terms / 2, 0.15, "terms", ha="center", fontsize=8)
        ax.text(second - 0.15, -terms / 2, "terms", va="center", ha="right", fontsize=8, rotation=90)
        end = sign(box(second, terms, terms, "M", known), "≈")
        end = box(end, topics, terms, "W", shared)
        end = box(end + 0.12, topics, topics, "S", free)
        box(end + 0.12, terms, topics, "Wᵀ", shared)
        ax.text(0.0, -3.05, "tf-idf of the texts", fontsize=9)
        ax.text(second, -3.05, "which terms stand near each other", fontsize=9)
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
