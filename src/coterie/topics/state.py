"""A TopicModel as data: plain values and arrays, nothing that could run."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.pipeline import Pipeline

from coterie import __version__
from coterie.cluster import Coterie
from coterie.cluster.fusion import View
from coterie.cluster.n_topics import NumberOfTopics
from coterie.cluster.space import Space
from coterie.corpus import Vectorizer
from coterie.corpus.phrases import Phrases
from coterie.corpus.vocabulary import Vocabulary
from coterie.embeddings import STATIC
from coterie.errors import InputError
from coterie.storage.folder import recover, replaced
from coterie.storage.state import VERSION, read_state, write_state
from coterie.topics import edits as log
from coterie.topics import reshape
from coterie.topics.confidence import COEFFICIENTS, Confidence
from coterie.topics.describe import Description
from coterie.topics.editing import Made
from coterie.topics.learning import checked_seeds
from coterie.topics.model import TopicModel
from coterie.topics.placing import Placing
from coterie.topics.reshape import Change, Merge, Split

_KIND = "model"
#: Number of the format that is written; older ones are read.
FORMAT = VERSION
#: Files of a saved model; the first says what the folder is.
FILES = ("state.json", "arrays.safetensors")
#: What a file may ask to be made, and where it lives. Nothing else is ever made.
_ESTIMATORS = {
    "Coterie": "coterie.cluster",
    "GraphNMF": "coterie.baselines",
    "IdfWeights": "coterie.weights",
    "KMeansIdf": "coterie.baselines",
    "NMF": "coterie.factor.nmf",
    "NystromSemantics": "coterie.factor.nystrom",
    "OrthogonalNMF": "coterie.baselines",
    "RLSI": "coterie.baselines",
    "SemanticNMF": "coterie.factor.semantic",
    "SphericalKMeans": "coterie.cluster",
    "SymmetricNMF": "coterie.baselines",
    "TermNMF": "coterie.factor.term",
}
_DATACLASSES: dict[str, Any] = {"NumberOfTopics": NumberOfTopics, "View": View}
#: Of fitted attributes those that hold something for each text.
_LEFT_OUT = {"labels_"}


def save(model: TopicModel, folder: Path) -> None:
    """Replace a folder by the model."""
    state = pack(model)
    with replaced(folder, marker=FILES[0], ours=FILES) as staging:
        write_state(staging, _KIND, state)


def write(model: TopicModel, folder: Path) -> None:
    """Write the model into a folder that is being written anyway."""
    write_state(folder, _KIND, pack(model))


def load(folder: Path) -> TopicModel:
    """Read a model: the folder that `save` wrote, or a run folder, in which it lies in ``model``."""
    recover(folder)
    inside = folder / "model"
    where = inside if (inside / FILES[0]).exists() and not (folder / FILES[0]).exists() else folder
    if not (where / FILES[0]).exists():
        raise InputError(
            f"{folder} holds no model: {FILES[0]} is missing; coterie fit … --out {folder} makes one"
        )
    state = read_state(where, _KIND)
    try:
        model = unpack(state)
        # what fits together can answer: the probe walks through every array
        model.assign(["", "no such word", " ".join(model.vectorizer_.vocabulary_.display[:50])])
    except InputError as error:
        raise InputError(f"{where} holds a model that does not fit together: {error}; fit again") from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(
            f"{where} holds a model that does not fit together ({error!r:.200}); fit again"
        ) from None
    return model


# --- the model


def pack(model: TopicModel) -> dict[str, Any]:
    """Everything a fitted model needs to answer and to be edited, without the texts."""
    placing, found = model._made.placing, model._description
    return {
        "written_by": __version__,
        "parameters": _parameters(model),
        "vectorizer": _pack_vectorizer(model.vectorizer_),
        "estimator": _pack_estimator(placing.estimator),
        "space": None if isinstance(placing.estimator, Coterie) else dataclasses.asdict(placing.space),
        "order": placing.order,
        "changes": [_pack_change(change) for change in placing.changes],
        "banned": list(placing.banned),
        "seed_names": _pack_names(model._fitted.names),
        "names": _pack_names(model._made.names),
        "pins": [[text, topic] for text, topic in model._made.pins.items()],
        "edits": log.dumps(model.edits),
        "description": _pack_description(found),
        "examples": [list(topic.examples) for topic in model._topics],
        "number_of_topics": _pack(model.number_of_topics_),
        "n_texts": model.n_texts_,
        "n_known": model.n_known_,
    }


def unpack(state: dict[str, Any]) -> TopicModel:
    """A model from data, checked to fit together."""
    model = TopicModel(**_unpack_parameters(state["parameters"]))
    model.vectorizer_ = _unpack_vectorizer(state["vectorizer"])
    estimator = _unpack_estimator(state["estimator"])
    n_terms = len(model.vectorizer_.vocabulary_)
    if isinstance(estimator, Coterie):
        _check_coterie(estimator, n_terms)
        space = Space(estimator.term_weights_, estimator.term_vectors_.T)
    else:
        space = Space(_finite(state["space"]["weights"]), _finite(state["space"]["vectors"]))
    _require(space.vectors.ndim == 2, "vectors that are none")
    _require(
        space.weights.shape == (n_terms,) and space.vectors.shape[0] == n_terms, "terms and vectors differ"
    )
    placing = Placing(estimator, space, _whole(state["order"]))
    n_topics = len(_last(estimator).components_)
    _require(sorted(placing.order.tolist()) == list(range(n_topics)), "topics and their order differ")
    model._fitted = Made(placing, _unpack_names(state["seed_names"]), {})
    changes = tuple(_unpack_change(change) for change in state["changes"])
    dimensions = placing.dimensions
    ids = reshape.check(changes, n_topics, dimensions)
    banned = tuple(_number(column, n_terms) for column in state["banned"])
    pins = {_string(text): topic for text, topic in state["pins"]}
    names = _unpack_names(state["names"])
    _require(set(pins.values()) <= set(ids), "a text is pinned to a topic that is not there")
    model._made = Made(dataclasses.replace(placing, changes=changes, banned=banned), names, pins)
    model.edits = log.loads(state["edits"], "the edits of the model")
    model.n_texts_, model.n_known_ = int(state["n_texts"]), int(state["n_known"])
    model.number_of_topics_ = _unpack(state["number_of_topics"])
    found = _unpack_description(state["description"], len(ids), n_terms, dimensions)
    examples = [tuple(map(_string, texts)) for texts in state["examples"]]
    _require(len(examples) == len(ids), "topics and examples differ")
    model._set(found, examples)
    return model


def _parameters(model: TopicModel) -> dict[str, Any]:
    values = model.get_params(deep=False)
    if values["embeddings"] not in (None, STATIC) or not isinstance(values["embeddings"], str | None):
        raise InputError(
            f"a model with embeddings from a function or an object cannot be saved; embeddings={STATIC!r} can"
        )
    language, seeds = values["language"], values["seeds"]
    return {
        **values,
        "method": values["method"]
        if isinstance(values["method"], str)
        else _pack_estimator(values["method"]),
        "language": language if isinstance(language, str) else list(language),
        "vectorizer": None if values["vectorizer"] is None else _pack_settings(values["vectorizer"]),
        "seeds": None if seeds is None else checked_seeds(seeds),
    }


def _unpack_parameters(state: dict[str, Any]) -> dict[str, Any]:
    method, vectorizer = state["method"], state["vectorizer"]
    _require(state["embeddings"] in (None, STATIC), "embeddings of another kind")
    return {
        **state,
        "method": method if isinstance(method, str) else _unpack_estimator(method),
        "vectorizer": None if vectorizer is None else Vectorizer(**vectorizer),
    }


def _pack_description(found: Description) -> dict[str, Any]:
    return {
        "fallback": found.fallback,
        "lost": found.lost,
        "sizes": found.sizes,
        "counts": csr_matrix(found.counts),
        "centers": found.centers,
        "terms": [columns.astype(np.int64) for columns in found.terms],
        "coherence": found.coherence,
        "distinctiveness": found.distinctiveness,
        "confidence": {
            "centers": found.confidence.centers,
            "company": found.confidence.company,
            "agreement": found.confidence.agreement,
            "coefficients": list(found.confidence.coefficients),
        },
    }


def _unpack_description(state: dict[str, Any], n_topics: int, n_terms: int, dimensions: int) -> Description:
    _require(state["counts"].shape == (n_topics, n_terms), "topics and counts differ")
    terms = tuple(_whole(columns) for columns in state["terms"])
    for name in ("sizes", "centers", "coherence", "distinctiveness"):
        _finite(state[name])
    _require(all(((c >= 0) & (c < n_terms)).all() for c in terms), "a topic names a term that is not there")
    lengths = {len(state[name]) for name in ("terms", "sizes", "centers", "coherence", "distinctiveness")}
    _require(lengths == {n_topics} and state["centers"].shape[1] == dimensions, "topics and centres differ")
    return Description(
        places=np.zeros(0, dtype=np.int32),
        fallback=_number(state["fallback"], n_topics),
        lost=float(state["lost"]),
        sizes=state["sizes"],
        counts=state["counts"].toarray(),
        centers=state["centers"],
        terms=terms,
        coherence=state["coherence"],
        distinctiveness=state["distinctiveness"],
        examples=(),
        confidence=_unpack_confidence(state["confidence"], n_topics, dimensions),
    )


def _unpack_confidence(state: dict[str, Any], n_topics: int, dimensions: int) -> Confidence:
    found = Confidence(
        _finite(state["centers"]),
        _finite(state["company"]),
        float(state["agreement"]),
        tuple(map(float, state["coefficients"])),
    )
    _require(
        len(found.coefficients) == len(COEFFICIENTS)
        and bool(np.isfinite(found.coefficients).all())
        and np.isfinite(found.agreement)
        and found.centers.ndim == found.company.ndim == 3
        and found.centers.shape[:2] == found.company.shape[:2]
        and found.centers.shape[2] == dimensions
        and found.company.shape[2] == n_topics
        and bool(((found.company >= 0) & (found.company <= 1)).all()),
        "opinions that do not fit the topics",
    )
    return found


# --- its parts


def _pack_change(change: Change) -> dict[str, Any]:
    if isinstance(change, Merge):
        return {"kind": "merge", "into": change.into, "others": list(change.others)}
    return {"kind": "split", "topic": change.topic, "parts": list(change.parts), "centers": change.centers}


def _unpack_change(state: dict[str, Any]) -> Change:
    if state["kind"] == "merge":
        return Merge(int(state["into"]), tuple(map(int, state["others"])))
    return Split(int(state["topic"]), tuple(map(int, state["parts"])), _finite(state["centers"]))


def _pack_names(names: Any) -> list[list[Any]]:
    return [[topic, name] for topic, name in names.items()]


def _unpack_names(state: list[list[Any]]) -> dict[int, str]:
    return {int(topic): _string(name) for topic, name in state}


def _pack_vectorizer(vectorizer: Vectorizer) -> dict[str, Any]:
    vocabulary = vectorizer.vocabulary_
    return {
        "settings": _pack_settings(vectorizer),
        "terms": list(vocabulary.terms),
        "display": list(vocabulary.display),
        "document_frequency": vocabulary.document_frequency,
        "count": vocabulary.count,
        "n_single": vectorizer._phrases.n_terms,
        "phrases": list(vectorizer._phrases.keys),
    }


def _pack_settings(vectorizer: Vectorizer) -> dict[str, Any]:
    settings = vectorizer.get_params(deep=False)
    if callable(settings["tokenizer"]):
        raise InputError("a model with a function as tokenizer cannot be saved: a file must not hold code")
    lists = {"language", "stop_words", "extra_stop_words", "drop"}
    return {
        name: value if value is None or isinstance(value, str) or name not in lists else sorted(value)
        if isinstance(value, (set, frozenset)) else list(value)
        for name, value in settings.items()
    }  # fmt: skip


def _unpack_vectorizer(state: dict[str, Any]) -> Vectorizer:
    settings = {**state["settings"], "threads": None}
    plain = (str, int, float, list, type(None))
    _require(all(isinstance(value, plain) for value in settings.values()), "settings of texts that are none")
    vectorizer = Vectorizer(**settings)
    terms, display = (tuple(map(_string, state[name])) for name in ("terms", "display"))
    df, count = _whole(state["document_frequency"]), _whole(state["count"])
    phrases = Phrases(int(state["n_single"]), [_whole(keys) for keys in state["phrases"]])
    _require(len({len(terms), len(display), len(df), len(count), phrases.n_columns}) == 1, "terms differ")
    _require(all((np.diff(keys) > 0).all() for keys in phrases.keys), "phrases are not in order")
    vectorizer.vocabulary_, vectorizer._phrases = Vocabulary(terms, display, df, count), phrases
    vectorizer.n_features_out_ = len(terms)
    return vectorizer


def _pack_estimator(estimator: Any) -> dict[str, Any]:
    """Settings and fitted attributes; steps of a pipeline one by one."""
    if isinstance(estimator, Pipeline):
        return {"class": "Pipeline", "steps": [_pack_estimator(step) for _, step in estimator.steps]}
    name = type(estimator).__name__
    if name not in _ESTIMATORS or type(estimator) is not _class(name):
        raise InputError(
            f"a model whose method is {name} cannot be saved; these can: {', '.join(_ESTIMATORS)}"
        )
    settings = estimator.get_params(deep=False)
    fitted = {k: v for k, v in vars(estimator).items() if k not in settings and k not in _LEFT_OUT}
    return {
        "class": name,
        "settings": {key: _pack(value) for key, value in settings.items()},
        "fitted": {key: _pack(value) for key, value in fitted.items()},
    }


def _unpack_estimator(state: dict[str, Any]) -> Any:
    name = state["class"]
    if name == "Pipeline":
        steps = [_unpack_estimator(step) for step in state["steps"]]
        return Pipeline([(f"{type(step).__name__.lower()}-{i}", step) for i, step in enumerate(steps)])
    _require(name in _ESTIMATORS, f"a method {name!r} that coterie does not have")
    cls = _class(name)
    allowed = set(cls._get_param_names())
    _require(set(state["settings"]) <= allowed, "settings that the method does not have")
    estimator = cls(**{key: _unpack(value) for key, value in state["settings"].items()})
    for key, value in state["fitted"].items():
        # what the class itself defines must not be covered: a method of that name would be gone
        _require(key.isidentifier() and not callable(getattr(cls, key, None)), f"an attribute {key!r}")
        setattr(estimator, key, _unpack(value))
    return estimator


def _check_coterie(model: Coterie, n_terms: int) -> None:
    """Whether the arrays of the method fit each other: a product must not be the first to find out."""
    n_topics, width = len(model.components_), len(model.term_vectors_)
    if model.view_ is not None:
        axes, mean = _finite(model.view_.axes), _finite(model.view_.mean)
        share = model.view_.share
        _require(axes.ndim == 2 and mean.shape == axes.shape[:1], "axes of vectors that differ")
        _require(isinstance(share, float) and 0 < share < 1, "a share that is none")
        width += axes.shape[1]
    shapes = {
        "term_weights_": (n_terms,),
        "term_shares_": (n_terms,),
        "term_vectors_": (len(model.term_vectors_), n_terms),
        "coefficients_": (n_topics, n_terms),
        "components_": (n_topics, n_terms),
        "axis_coefficients_": (n_topics, width),
        "sizes_": (n_topics,),
    }
    for name, shape in shapes.items():
        _require(np.shape(_finite(getattr(model, name))) == shape, f"{name} of another shape")
    _require(bool((model.sizes_ >= 0).all()), "sizes that are none")
    _require(isinstance(model.sharpness_, float) and 0 < model.sharpness_ < 1e6, "a sharpness that is none")
    _require(model.n_features_in_ == n_terms, "another number of terms")


def _class(name: str) -> Any:
    return getattr(import_module(_ESTIMATORS[name]), name)


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _pack(value: Any) -> Any:
    if type(value).__name__ in _DATACLASSES and dataclasses.is_dataclass(value):
        fields = {f.name: _pack(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"dataclass": type(value).__name__, "fields": fields}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return (
            {"tuple": [_pack(item) for item in value]}
            if isinstance(value, tuple)
            else list(map(_pack, value))
        )
    return csr_matrix(value) if issparse(value) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"tuple"}:
            return tuple(_unpack(item) for item in value["tuple"])
        _require(value.get("dataclass") in _DATACLASSES, "an object that coterie does not have")
        return _DATACLASSES[value["dataclass"]](**{k: _unpack(v) for k, v in value["fields"].items()})
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return _finite(value)
    return value


# --- checks


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InputError(otherwise)


def _finite(array: Any) -> Any:
    _require(isinstance(array, np.ndarray) and bool(np.isfinite(array).all()), "numbers that are not finite")
    return array


def _whole(array: Any) -> Any:
    whole = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"
    _require(whole, "something else where whole numbers belong")
    return array.astype(np.int64)


def _number(value: Any, below: int) -> int:
    _require(isinstance(value, int) and 0 <= value < below, f"the number {value!r:.40} out of place")
    return int(value)


def _string(value: Any) -> str:
    _require(isinstance(value, str), "something else where text belongs")
    return str(value)
