"""What can be done with a trial: functions from a trial to values, by name.

Whoever has trials of a kind of its own registers it with `kind`, in a module that the runner imports.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from coterie_papers.bench.trial import Trial

Kind = Callable[[Trial], dict[str, Any]]
T = TypeVar("T")

KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[Kind], Kind]:
    """Register a function as what trials of that kind do."""

    def register(function: Kind) -> Kind:
        KINDS[name] = function
        return function

    return register


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work returns, and the CPU seconds that this process spent on it."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


def make(trial: Trial) -> Any:
    """The estimator of a trial: its method with its number of topics, seed and settings."""
    from coterie_papers.bench.contenders import CONTENDERS

    return CONTENDERS[trial.method].make(trial.k, trial.seed, dict(trial.settings))


def scores(labels: Any, found: Any) -> dict[str, float]:
    """NMI, ARI, purity and accuracy of clusters against labels."""
    from coterie.metrics import clustering_scores

    all_scores = clustering_scores(labels, found)
    return {name: getattr(all_scores, name) for name in ("nmi", "ari", "purity", "accuracy")}


def iterations(model: Any) -> int | None:
    """How many iterations the last step of a fitted estimator or pipeline made, where it says so."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return getattr(last, "n_iter_", None)


@kind("cluster")
def cluster(trial: Trial) -> dict[str, Any]:
    """Cluster the collection and score against its labels.

    `used` is the number of clusters that have a text, `seconds` are CPU seconds of the fit alone.
    """
    from coterie_papers.bench.collections import collection

    data = collection(trial.collection)
    model = make(trial)
    found, seconds = timed(lambda: model.fit_predict(data.X))
    return {
        **scores(data.labels, found),
        "used": len(set(found.tolist())),
        "seconds": seconds,
        "iterations": iterations(model),
    }
