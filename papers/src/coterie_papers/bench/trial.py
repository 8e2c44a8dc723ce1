"""What an experiment consists of: trials, and what came of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_SCALARS = (int, float, str, bool, type(None))


@dataclass(frozen=True, slots=True)
class Trial:
    """One piece of work: hashable, spelled the same everywhere; its key names it in the store.

    `kind` is one of `KINDS`, `collection` of `COLLECTIONS`, `method` of `CONTENDERS`, or "" where none is
    needed. `settings` are sorted pairs of what else matters.

    >>> trial("cluster", "titles", "nmf-ncut", k=20, seed=3, rank=100).key
    'cluster titles nmf-ncut k=20 seed=3 rank=100'
    """

    kind: str
    collection: str
    method: str = ""
    k: int = 0
    seed: int = 0
    settings: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        words = [self.kind, *(word for word in (self.collection, self.method) if word)]
        words += [name for name, _ in self.settings]
        if any(word != "".join(word.split()) or word in ("", "-") for word in words):
            raise ValueError(f"names in a trial must be words without spaces, got {words}")
        names = [name for name, _ in self.settings]
        if names != sorted(set(names)) or not {"kind", "collection", "method", "k", "seed"}.isdisjoint(names):
            raise ValueError(f"settings must be sorted, each once, and no field of the trial; got {names}")
        for name, value in [("k", self.k), ("seed", self.seed), *self.settings]:
            if type(value) not in _SCALARS:  # the key must be the same when it comes back from JSON
                raise TypeError(f"{name} must be a number, a string or None, got a {type(value).__name__}")

    @property
    def key(self) -> str:
        """Readable and unique."""
        words = [self.kind, self.collection or "-", self.method or "-", f"k={self.k}", f"seed={self.seed}"]
        return " ".join(words + [f"{name}={value!r}" for name, value in self.settings])

    def setting(self, name: str, default: Any = None) -> Any:
        """The setting of that name."""
        return dict(self.settings).get(name, default)


def trial(
    kind: str, collection: str, method: str = "", *, k: int = 0, seed: int = 0, **settings: Any
) -> Trial:
    """A trial with settings given by name."""
    return Trial(kind, collection, method, k, seed, tuple(sorted(settings.items())))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial.

    `values` is what the kind returned: numbers, strings, lists; None where a number is not one. `seconds` are
    the CPU seconds that the worker spent on all of the trial; a kind measures what it calls time itself, and
    returns it among the values. `remarks` are the warnings that were given, each once.
    """

    trial: Trial
    values: dict[str, Any]
    seconds: float
    remarks: tuple[str, ...] = ()


def plain(value: Any) -> Any:
    """A value as JSON has it: arrays are lists, numbers that are none are None.

    >>> plain({"nmi": float("nan"), "sizes": (3, 4)})
    {'nmi': None, 'sizes': [3, 4]}
    """
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a trial returned a {type(value).__name__}, which JSON does not have")
