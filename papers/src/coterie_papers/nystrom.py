"""Statistical semantics with Nyström (WWW 2015): clusters in spaces of sampled terms, 10k to 100k texts."""

from __future__ import annotations

from typing import Any

from coterie_papers import nystrom_kinds  # noqa: F401  # registers the kinds
from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Trial, trial
from coterie_papers.later import later, later_trials
from coterie_papers.nystrom_found import (
    BASELINES,
    FOLLOWED,
    FULL,
    ITERATIONS,
    LARGE_BASELINES,
    SEMANTICS,
    SHOWN,
    VARIANTS,
    Found,
)
from coterie_papers.page import Page

TITLE = "Short text clustering using statistical semantics (WWW 2015)"

RUNS = 10
#: What there is to learn about: the classes of each collection, which is the number of clusters.
CLASSES = {
    "subreddits-2k-a": 5, "subreddits-4k": 10, "subreddits-10k-a": 25, "subreddits-20k": 50,
    "subreddits-50k": 125, "subreddits-100k": 250, "snippets-2k": 8, "snippets-10k": 8,
    "wordnet-2k": 45, "wordnet-4k": 45, "wordnet-10k": 45, "wordnet-20k": 45, "wordnet-50k": 45,
    "wordnet-100k": 45,
}  # fmt: skip
#: Samples of two sizes or more, in this order, for the small version and the full one.
SAMPLES = {
    True: (("snippets-2k", "subreddits-2k-a", "wordnet-2k"), ("subreddits-4k", "wordnet-4k")),
    False: (
        ("snippets-10k", "subreddits-10k-a", "wordnet-10k"),
        (
            *("subreddits-20k", "subreddits-50k", "subreddits-100k"),
            *("wordnet-20k", "wordnet-50k", "wordnet-100k"),
        ),
    ),
}
#: Numbers of terms drawn: few and many, by size; and more than glosses, say, have.
SAMPLED = {True: (100, 500), False: (1000, 5000)}
MOST = {True: 5000, False: 10_000}
#: Ranks for either number of terms, and the one that all experiments at one rank have.
RANKS = {True: ((5, 20), (5, 20, 50)), False: ((5, 20, 100), (5, 20, 100, 200))}
RANK = {True: 20, False: 100}
#: Draws of few terms, of many and of most, for the semantics that the paper shows and for the others.
DRAWS = {True: (2, 1, 1), False: (5, 3, 2)}
OTHER_DRAWS = 2


def trials(quick: bool) -> list[Trial]:
    """All that the page needs; what it needs most first."""
    small, large = SAMPLES[quick]
    few, many = SAMPLED[quick]
    return [
        *(trial("nystrom-data", name) for name in (*small, *large)),
        *_cosines(small[0], few, RANK[quick]),
        *(_baseline(name, m, seed) for name in small for m in BASELINES for seed in range(RUNS)),
        *(one for name in small for one in _rank_trials(quick, name)),
        *(one for name in small for one in _variant_trials(quick, name)),
        *(
            trial("nystrom-beside", name, FOLLOWED, k=CLASSES[name], seed=seed, sampled=many, rank=rank)
            for name in small
            for rank in (5, RANK[quick])
            for seed in range(1 if quick else 5)
        ),
        *_large_trials(quick, large),
        *(
            trial("nystrom-full", name, semantics, k=CLASSES[name])
            for name in small[:2]
            for semantics in FULL
        ),
        *(_space(name, SHOWN[1], 0, many, many) for name in small[:2]),
        *later_trials(("nystrom-pcor",), {name: CLASSES[name] for name in small[:2]}, quick),
    ]


def _cosines(name: str, sampled: int, rank: int) -> list[Trial]:
    return [trial("nystrom-cosines", name, FOLLOWED, k=CLASSES[name], sampled=sampled, rank=rank)]


def _space(
    name: str, semantics: str, seed: int, sampled: int, rank: int, by: str = "spherical", **variant: Any
) -> Trial:
    return trial("nystrom", name, semantics, k=CLASSES[name], seed=seed, sampled=sampled, rank=rank, by=by,
                 iterations=ITERATIONS, **variant)  # fmt: skip


def _rank_trials(quick: bool, name: str) -> list[Trial]:
    """Spaces of few and of many terms at several ranks, and the followed semantics with most of the terms.

    Glosses have no NMF. The first two draws of the semantics that the paper shows have it.
    """
    found = []
    for sampled, ranks, draws in zip(SAMPLED[quick], RANKS[quick], DRAWS[quick], strict=False):
        for semantics in SEMANTICS:
            shown = semantics in SHOWN
            for seed in range(draws if shown else min(draws, OTHER_DRAWS)):
                for rank in ranks:
                    nmf = shown and seed < OTHER_DRAWS and rank <= RANK[quick] and "wordnet" not in name
                    by = "spherical,kmeans,nmf" if nmf else "spherical,kmeans"
                    found.append(_space(name, semantics, seed, sampled, rank, by))
    found += [
        _space(name, FOLLOWED, seed, MOST[quick], rank)
        for seed in range(DRAWS[quick][-1])
        for rank in RANKS[quick][-1]
    ]
    if "wordnet" not in name:  # k = ℓ for few terms
        found += [_space(name, semantics, 0, SAMPLED[quick][0], SAMPLED[quick][0]) for semantics in SHOWN]
    return found


def _variant_trials(quick: bool, name: str) -> list[Trial]:
    """The same with rows of raw length, with a uniform draw, and with a draw of texts."""
    (few, many), rank = SAMPLED[quick], RANK[quick]
    draws = DRAWS[quick]
    return [
        *(
            _space(name, semantics, seed, few, rank, **VARIANTS["uniform"])
            for semantics in SHOWN
            for seed in range(draws[0])
        ),
        *(
            _space(name, FOLLOWED, seed, many, rank, **VARIANTS["uniform"])
            for seed in range(draws[1])
        ),
        *(_space(name, FOLLOWED, seed, few, rank, **VARIANTS["texts"]) for seed in range(draws[0])),
        *(
            _space(name, FOLLOWED, seed, many, other, **VARIANTS["raw"])
            for other in RANKS[quick][0]
            for seed in range(draws[1])
        ),
    ]  # fmt: skip


def _large_trials(quick: bool, names: tuple[str, ...]) -> list[Trial]:
    """The followed semantics at one rank, and the baselines of the paper, in large collections."""
    return [
        one
        for name in names
        for one in (
            *(_space(name, FOLLOWED, 0, sampled, RANK[quick]) for sampled in SAMPLED[quick]),
            *(_baseline(name, m, 0) for m in LARGE_BASELINES),
        )
    ]


def _baseline(name: str, method: str, seed: int) -> Trial:
    settings = {"max_iter": ITERATIONS} if method.startswith("nmf") else {}
    return trial("cluster", name, method, k=CLASSES[name], seed=seed, **settings)


def page(results: Results, page: Page) -> None:
    """Write the page from the results."""
    from coterie_papers import nystrom_sections as sections
    from coterie_papers.nystrom_claims import claims

    found = Found(results)
    sections.method(found, page)
    page.claims_here()
    claims(found, page)
    sections.data(found, page)
    sections.compared(page)
    for clusterer in ("spherical", "kmeans", "nmf"):
        sections.ranks(found, page, clusterer)
    sections.full(found, page)
    sections.draws(found, page)
    sections.times(found, page)
    sections.sizes(found, page)
    sections.ncut(found, page)
    later(results, page)
