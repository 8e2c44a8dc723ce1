"""The experiments of the papers, one definition each: `coterie reproduce` runs them and writes the pages.

A `Trial` says what is done with which collection, method, number of topics and seed. A paper lists its
trials and turns their outcomes into a page; trials run in worker processes and their outcomes are kept, so
that a run that was killed goes on where it stopped. Collections, methods and kinds of work are tables with a
line for each. What is not about a paper is in `coterie_papers.bench`, which `benchmarks/` uses too.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: The papers by name; each is a module here with TITLE, trials(quick) and page(results, page).
PAPERS = ("ncut", "tnmf", "nystrom", "semantic")


def paper(name: str) -> Any:
    """The module of a paper."""
    return import_module(f"coterie_papers.{name}")
