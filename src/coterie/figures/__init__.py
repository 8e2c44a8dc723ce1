"""Figures of a model: ``model.plot.topics()`` and the others, for notebooks, slides and print.

Drawn here as SVG, in the colours of the report and the live page; no other library is needed.
"""

from coterie.figures.figure import Figure
from coterie.figures.plots import Plots

__all__ = ["Figure", "Plots"]
