"""The outcomes of a paper's trials, looked up and put together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from coterie.errors import InputError
from coterie_papers.bench.store import Store
from coterie_papers.bench.trial import Outcome, Trial

_TRIAL = ("kind", "collection", "method", "k", "seed")


class Results:
    """Outcomes in the order of the paper's trials, so that nothing depends on which was done first."""

    def __init__(self, trials: Iterable[Trial], store: Store):
        wanted = list(dict.fromkeys(trials))
        missing = [trial for trial in wanted if trial not in store]
        if missing:
            raise InputError(
                f"{store.path} lacks {len(missing):,} of {len(wanted):,} trials, the first is "
                f"'{missing[0].key}'; run without --pages-only"
            )
        self.outcomes = [store.outcomes[trial.key] for trial in wanted]

    def values(self, kind: str | None = None, **select: Any) -> list[Outcome]:
        """Outcomes of that kind; `select` are fields of the trial or settings, one value or several each."""
        wanted = select if kind is None else {"kind": kind, **select}
        return [found for found in self.outcomes if _matches(found.trial, wanted)]

    def one(self, kind: str, **select: Any) -> dict[str, Any]:
        """The values of the only outcome selected."""
        found = self.values(kind, **select)
        if len(found) != 1:
            raise LookupError(f"{len(found)} outcomes of kind {kind!r} match {select}, not one")
        return found[0].values

    def distinct(self, field: str, kind: str | None = None, **select: Any) -> list[Any]:
        """The values of a field of the trial, or of a setting, in order of appearance."""
        return list(dict.fromkeys(_field(found.trial, field) for found in self.values(kind, **select)))

    def numbers(self, value: str, kind: str = "cluster", **select: Any) -> npt.NDArray[np.float64]:
        """A number of all outcomes selected; None becomes nan."""
        found = self.values(kind, **select)
        return np.array([_number(outcome.values.get(value)) for outcome in found], dtype=np.float64)

    def mean(self, value: str, kind: str = "cluster", **select: Any) -> float:
        """The mean of a number over all outcomes selected."""
        return float(np.mean(self._some(value, kind, select)))

    def spread(self, value: str, kind: str = "cluster", **select: Any) -> float:
        """The standard deviation (with n − 1) of a number over all outcomes selected; 0 for a single one."""
        found = self._some(value, kind, select)
        return float(np.std(found, ddof=1)) if len(found) > 1 else 0.0

    def best(self, value: str, by: str, kind: str = "cluster", **select: Any) -> float:
        """A number of the outcome with the lowest `by`, such as an objective."""
        found = self.values(kind, **select)
        if not found:
            raise LookupError(f"no outcome of kind {kind!r} matches {select}")
        return _number(min(found, key=lambda outcome: outcome.values[by]).values[value])

    def over(
        self, x: str, value: str, kind: str = "cluster", **select: Any
    ) -> tuple[list[Any], list[float], list[float]]:
        """Along a field of the trial or a setting: its values, means and spreads of a number there."""
        at = self.distinct(x, kind, **select)
        means = [self.mean(value, kind, **{**select, x: point}) for point in at]
        return at, means, [self.spread(value, kind, **{**select, x: point}) for point in at]

    def frame(self, kind: str | None = None, **select: Any) -> pl.DataFrame:
        """A row for each outcome: the trial, its settings, and its values; lists are JSON.

        CPU seconds of the whole trial are `trial_seconds`, as many kinds have `seconds` of their own.
        """
        rows = []
        for found in self.values(kind, **select):
            row: dict[str, Any] = {name: getattr(found.trial, name) for name in _TRIAL}
            row |= dict(found.trial.settings)
            row |= {name: _cell(value) for name, value in found.values.items()}
            rows.append(row | {"trial_seconds": found.seconds, "remarks": "; ".join(found.remarks)})
        return pl.DataFrame(rows, infer_schema_length=None, strict=False) if rows else pl.DataFrame()

    def _some(self, value: str, kind: str, select: dict[str, Any]) -> npt.NDArray[np.float64]:
        found = self.numbers(value, kind, **select)
        if not len(found):
            raise LookupError(f"no outcome of kind {kind!r} matches {select}")
        return found


def _field(trial: Trial, name: str) -> Any:
    if name in _TRIAL:
        return getattr(trial, name)
    return trial.setting(name)


def _matches(trial: Trial, wanted: dict[str, Any]) -> bool:
    for name, value in wanted.items():
        several = isinstance(value, Sequence) and not isinstance(value, str)
        if _field(trial, name) not in (value if several else (value,)):
            return False
    return True


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
