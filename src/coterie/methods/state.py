"""Estimators as plain data: settings and fitted attributes of registered classes, nothing that could run."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.pipeline import Pipeline

from coterie.cluster.fusion import View
from coterie.cluster.n_topics import NumberOfTopics
from coterie.embeddings import can_be_saved, saved_as
from coterie.errors import InputError
from coterie.methods import METHODS, Step

_DATACLASSES: dict[str, Any] = {"NumberOfTopics": NumberOfTopics, "View": View}
#: Names of fitted attributes in models of earlier versions.
_EARLIER = {"anchor_topics_": "seed_topics_"}
#: Of fitted attributes those that hold something for each text.
_LEFT_OUT = {"labels_"}


@cache
def _registered() -> dict[str, Step]:
    """What a file may ask to be made, by the name of the class. Nothing else is ever made."""
    return {step.home.partition(":")[2]: step for method in METHODS.values() for step in method.steps}


def pack_estimator(estimator: Any) -> dict[str, Any]:
    """Settings and fitted attributes; steps of a pipeline one by one."""
    if isinstance(estimator, Pipeline):
        return {"class": "Pipeline", "steps": [pack_estimator(step) for _, step in estimator.steps]}
    check_can_be_saved(estimator)
    settings = estimator.get_params(deep=False)
    if "embeddings" in settings:
        settings["embeddings"] = saved_as(settings["embeddings"])
    fitted = {k: v for k, v in vars(estimator).items() if k not in settings and k not in _LEFT_OUT}
    return {
        "class": type(estimator).__name__,
        "settings": {key: pack_value(value) for key, value in settings.items()},
        "fitted": {key: pack_value(value) for key, value in fitted.items()},
    }


def check_can_be_saved(estimator: Any) -> None:
    """Refuse an estimator whose class is not registered: a file could not name it."""
    name = type(estimator).__name__
    if name not in _registered() or type(estimator) is not _registered()[name].load():
        raise InputError(
            f"a model whose method is {name} cannot be saved; these can: {', '.join(sorted(_registered()))}"
        )


def unpack_estimator(state: dict[str, Any]) -> Any:
    """An estimator from data; `state` may come from a stranger."""
    name = state["class"]
    if name == "Pipeline":
        steps = [unpack_estimator(step) for step in state["steps"]]
        return Pipeline([(f"{type(step).__name__.lower()}-{i}", step) for i, step in enumerate(steps)])
    require(name in _registered(), f"a method {name!r} that coterie does not have")
    cls = _registered()[name].load()
    require(set(state["settings"]) <= set(cls._get_param_names()), "settings that the method does not have")
    require(can_be_saved(state["settings"].get("embeddings")), "embeddings of another kind")
    estimator = cls(**{key: unpack_value(value) for key, value in state["settings"].items()})
    for earlier, value in state["fitted"].items():
        key = _EARLIER.get(earlier, earlier)
        # what the class itself defines must not be covered: a method of that name would be gone
        require(key.isidentifier() and not callable(getattr(cls, key, None)), f"an attribute {key!r}")
        setattr(estimator, key, unpack_value(value))
    return estimator


def pack_value(value: Any) -> Any:
    """A setting or a fitted attribute as plain data."""
    if type(value).__name__ in _DATACLASSES and dataclasses.is_dataclass(value):
        fields = {f.name: pack_value(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"dataclass": type(value).__name__, "fields": fields}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return {"tuple": [pack_value(item) for item in value]}
    if isinstance(value, list):
        return [pack_value(item) for item in value]
    return csr_matrix(value) if issparse(value) else value


def unpack_value(value: Any) -> Any:
    """A value that `pack_value` made."""
    if isinstance(value, list):
        return [unpack_value(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"tuple"}:
            return tuple(unpack_value(item) for item in value["tuple"])
        require(value.get("dataclass") in _DATACLASSES, "an object that coterie does not have")
        return _DATACLASSES[value["dataclass"]](**{k: unpack_value(v) for k, v in value["fields"].items()})
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return finite(value)
    return value


def require(holds: bool, otherwise: str) -> None:
    """Raise an error that says what a file has instead."""
    if not holds:
        raise InputError(otherwise)


def finite(array: Any) -> Any:
    """An array of finite numbers."""
    require(isinstance(array, np.ndarray) and bool(np.isfinite(array).all()), "numbers that are not finite")
    return array
