"""What the trials on statistical semantics found, looked up by what was compared."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from coterie_papers.bench.results import Results

Clusterer = Literal["spherical", "nmf"]
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
    "nmf": ("nmf-idf", "nmf-ncut", "nmf-ncut-95"),
}
BASELINES = (*BESIDE["spherical"], *BESIDE["nmf"])
CLUSTERERS: dict[Clusterer, str] = {"spherical": "spherical k-means", "nmf": "NMF"}
#: Most iterations of NMF.
ITERATIONS = 50


class Found:
    """The outcomes by collection, semantics, number of terms drawn, rank and clusterer."""

    def __init__(self, results: Results):
        self.results = results
        listed = results.distinct("collection", "nystrom-data")
        ranked = results.distinct("collection", "nystrom-full")
        glosses = next(name for name in listed if name.startswith("wordnet"))
        #: The two samples of the paper's first experiments, and the collections with NMI over rank.
        self.samples, self.ranked = ranked, [*ranked, glosses]
        #: Collections by growing size, for each source.
        self.sizes = {
            "reddit": [name for name in listed if name.startswith("sub") and name != ranked[1]],
            "wordnet": [name for name in listed if name.startswith("wordnet")],
        }
        self.size_sampled = sorted(results.distinct("sampled", "nystrom", collection=self.sizes["reddit"][1]))
        last = results.values("nystrom", collection=self.sizes["reddit"][-1])[0]
        self.size_rank = int(last.trial.setting("ranks"))

    def data(self, name: str) -> dict[str, Any]:
        """Sizes of a collection."""
        return self.results.one("nystrom-data", collection=name)

    def sampled(self, name: str) -> list[int]:
        """Numbers of terms drawn that were asked for and are less than all terms, the fewest first."""
        asked = sorted(self.results.distinct("sampled", "nystrom", collection=name))
        return [few for few in asked if few < self.data(name)["terms"]]

    def semantics(self, name: str, sampled: int) -> list[str]:
        """Semantics tried there."""
        return self.results.distinct("method", "nystrom", collection=name, sampled=sampled)

    def most(self, name: str, semantics: str) -> int:
        """The most terms drawn there for these semantics."""
        return max(few for few in self.sampled(name) if semantics in self.semantics(name, few))

    def ranks(self, name: str, sampled: int, clusterer: Clusterer = "spherical") -> list[int]:
        """Ranks tried there."""
        found = self.results.values("nystrom", collection=name, sampled=sampled)
        return list(found[0].values[clusterer]["rank"])

    def at(
        self,
        name: str,
        semantics: str,
        sampled: int,
        rank: int,
        value: str = "nmi",
        clusterer: Clusterer = "spherical",
    ) -> tuple[float, float]:
        """Mean and standard deviation over draws."""
        found = self.results.values("nystrom", collection=name, method=semantics, sampled=sampled)
        numbers = [
            outcome.values[clusterer][value][outcome.values[clusterer]["rank"].index(rank)]
            for outcome in found
        ]
        return float(np.mean(numbers)), float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0

    def baseline(self, name: str, method: str, value: str = "nmi") -> tuple[float, float]:
        """Mean and standard deviation of a baseline over runs."""
        select: dict[str, Any] = {"collection": name, "method": method}
        return self.results.mean(value, **select), self.results.spread(value, **select)

    def full(self, name: str, semantics: str, value: str = "nmi") -> tuple[float, float]:
        """The same with all terms at full rank."""
        select: dict[str, Any] = {"collection": name, "method": semantics}
        return (
            self.results.mean(value, "nystrom-full", **select),
            self.results.spread(value, "nystrom-full", **select),
        )
