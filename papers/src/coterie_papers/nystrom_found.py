"""What the trials on statistical semantics found, looked up by what was compared."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from coterie_papers.bench.results import Results
from coterie_papers.bench.trial import Outcome

Clusterer = Literal["spherical", "kmeans", "nmf"]
Variant = Literal["", "uniform", "texts", "raw"]
SEMANTICS = ("nystrom-assc", "nystrom-assc_n", "nystrom-cov", "nystrom-pcor")
#: The two that the paper found best and shows.
SHOWN = ("nystrom-pcor", "nystrom-assc_n")
#: The one followed to large collections.
FOLLOWED = "nystrom-pcor"
#: Semantics that have a sparse form with all terms at full rank.
FULL = ("nystrom-assc", "nystrom-assc_n")
#: Baselines that the paper draws beside each clusterer, and Ncut weights with another scale.
BESIDE: dict[Clusterer, tuple[str, ...]] = {
    "spherical": ("kmeans-idf", "spherical-idf"),
    "kmeans": ("kmeans-idf", "spherical-idf"),
    "nmf": ("nmf-idf", "nmf-ncut", "nmf-ncut-95"),
}
BASELINES = (*BESIDE["spherical"], *BESIDE["nmf"])
#: Those of large collections: the paper's two, and the one that it says is not feasible there.
LARGE_BASELINES = (*BESIDE["spherical"], "nmf-ncut")
CLUSTERERS: dict[Clusterer, str] = {
    "spherical": "spherical k-means",
    "kmeans": "k-means",
    "nmf": "NMF",
}
#: Settings of spaces that are not the usual ones.
VARIANTS: dict[Variant, dict[str, Any]] = {
    "": {},
    "uniform": {"sampling": "uniform"},
    "texts": {"of": "texts"},
    "raw": {"unit_rows": False},
}
_USUAL: dict[str, Any] = dict.fromkeys(("sampling", "of", "unit_rows"))
#: Most iterations of NMF.
ITERATIONS = 50


class Found:
    """The outcomes by collection, semantics, number of terms drawn, rank and clusterer."""

    def __init__(self, results: Results):
        self.results = results
        listed = results.distinct("collection", "nystrom-data")
        #: The samples with NMI over rank, and the two of them with NMF.
        self.ranked = results.distinct("collection", "nystrom-beside")
        self.samples = self.ranked[:2]
        #: Collections by growing size, for each source.
        self.sizes = {
            source: [name for name in listed if name.startswith(source)]
            for source in ("subreddits", "wordnet")
        }
        large = self.sizes["wordnet"][-1]
        self.size_sampled = sorted(results.distinct("sampled", "nystrom", collection=large))
        (self.size_rank,) = results.distinct("rank", "nystrom", collection=large)

    def data(self, name: str) -> dict[str, Any]:
        """Sizes of a collection."""
        return self.results.one("nystrom-data", collection=name)

    def outcomes(
        self, name: str, clusterer: Clusterer = "spherical", variant: Variant = "", **select: Any
    ) -> list[Outcome]:
        """Outcomes of spaces that were made and clustered so."""
        wanted = {"collection": name, **_USUAL, **VARIANTS[variant], **select}
        found = self.results.values("nystrom", **wanted)
        return [one for one in found if f"{clusterer}_nmi" in one.values]

    def sampled(self, name: str, clusterer: Clusterer = "spherical") -> list[int]:
        """Numbers of terms drawn, the fewest first."""
        return sorted({one.trial.setting("sampled") for one in self.outcomes(name, clusterer)})

    def semantics(self, name: str, clusterer: Clusterer = "spherical", **select: Any) -> list[str]:
        """Semantics tried there, in their order."""
        tried = {one.trial.method for one in self.outcomes(name, clusterer, **select)}
        return [semantics for semantics in SEMANTICS if semantics in tried]

    def ranks(self, name: str, semantics: str, sampled: int, clusterer: Clusterer = "spherical") -> list[int]:
        """Ranks tried there."""
        found = self.outcomes(name, clusterer, method=semantics, sampled=sampled)
        return sorted({one.trial.setting("rank") for one in found})

    def at(
        self,
        name: str,
        semantics: str,
        sampled: int,
        rank: int,
        value: str = "nmi",
        clusterer: Clusterer = "spherical",
        variant: Variant = "",
    ) -> tuple[float, float]:
        """Mean and standard deviation over draws."""
        found = self.outcomes(name, clusterer, variant, method=semantics, sampled=sampled, rank=rank)
        numbers = [one.values[f"{clusterer}_{value}"] for one in found]
        if not numbers:
            raise LookupError(f"no space of {semantics} on {name} with ℓ = {sampled} and k = {rank}")
        return float(np.mean(numbers)), float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0

    def draws(self, name: str, semantics: str, sampled: int, clusterer: Clusterer = "spherical") -> int:
        """How many draws of so many terms there were."""
        found = self.outcomes(name, clusterer, method=semantics, sampled=sampled)
        return len({one.trial.seed for one in found})

    def baseline(self, name: str, method: str, value: str = "nmi") -> tuple[float, float]:
        """Mean and standard deviation of a baseline over runs."""
        select: dict[str, Any] = {"collection": name, "method": method}
        return self.results.mean(value, **select), self.results.spread(value, **select)

    def full(self, name: str, semantics: str, value: str = "nmi") -> float:
        """The same with all terms at full rank."""
        return self.results.mean(value, "nystrom-full", collection=name, method=semantics)
