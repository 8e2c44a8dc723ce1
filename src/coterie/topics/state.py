"""A TopicModel as data: plain values and arrays, no code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from coterie import __version__
from coterie.cluster.space import Space
from coterie.corpus import foreign
from coterie.corpus.foreign import ForeignVectorizer, is_foreign
from coterie.corpus.phrases import Phrases
from coterie.corpus.spelling import Speller
from coterie.corpus.vectorizer import Vectorizer
from coterie.corpus.vocabulary import Vocabulary
from coterie.embeddings import can_be_saved, saved_as
from coterie.embeddings.probe import N_PROBES
from coterie.errors import InputError
from coterie.methods.fitted import BorrowedSpace, FittedMethod, OwnSpace
from coterie.methods.state import (
    finite,
    pack_estimator,
    pack_value,
    require,
    unpack_estimator,
    unpack_value,
)
from coterie.storage.folder import recover, replaced
from coterie.storage.state import VERSION, read_state, write_state
from coterie.text import boilerplate
from coterie.topics import edits as log
from coterie.topics import reshape
from coterie.topics.columns import Columns
from coterie.topics.confidence import N_KEPT, Confidence
from coterie.topics.describe import Description
from coterie.topics.editing import Edited, State, topics_of
from coterie.topics.predefined import checked_topics, plain, said
from coterie.topics.reshape import Change, Drop, Merge, Split
from coterie.topics.scorer import Scorer

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

Model = TypeVar("Model", bound="TopicModel")

_KIND = "model"
#: Number of the format that is written; older ones are read.
FORMAT = VERSION
#: Bytes of the table of topics and terms, which is sparse in a file and dense in memory.
_LARGEST_COUNTS = 1 << 32
#: Files of a saved model; the first says what the folder is.
FILES = ("state.json", "arrays.safetensors")


def save(model: TopicModel, folder: Path) -> None:
    """Replace a folder by the model."""
    state = pack(model)
    with replaced(folder, marker=FILES[0], ours=FILES) as staging:
        write_state(staging, _KIND, state)


def write(model: TopicModel, folder: Path) -> None:
    """Write the model into a folder that is being written anyway."""
    write_state(folder, _KIND, pack(model))


def load(cls: type[Model], folder: Path) -> Model:
    """Read a model: the folder that `save` wrote, or a run folder, in which it lies in ``model``."""
    recover(folder)
    inside = folder / "model"
    where = inside if (inside / FILES[0]).exists() and not (folder / FILES[0]).exists() else folder
    if not (where / FILES[0]).exists():
        raise InputError(
            f"{folder} contains no model: it has no {FILES[0]}; 'coterie fit FILE --out {folder}' makes one"
        )
    state = read_state(where, _KIND)
    try:
        model = unpack(cls, state)
        plain_parameters(model)  # what was loaded can be saved
        # what fits together can answer: the probe walks through every array
        asked = ["", "no such word", " ".join(model.vectorizer_.vocabulary_.display[:50])]
        model.assign(asked, embeddings=_some_vectors(model, len(asked)))
    except InputError as error:
        what = " ".join(str(error).split())  # it may show an array
        raise InputError(f"the model in {where} is inconsistent: {what:.300}; fit again") from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(f"the model in {where} is inconsistent ({error!r:.200}); fit again") from None
    return model


# --- the model


def pack(model: TopicModel) -> dict[str, Any]:
    """The model as data."""
    state, fitted = model.state, model.fitted
    edited, method = state.edited, state.edited.scorer.method
    return {
        "written_by": __version__,
        "parameters": plain_parameters(model),
        "vectorizer": _pack_vectorizer(model.vectorizer_),
        "boilerplate": boilerplate.packed(model.boilerplate_),
        "estimator": pack_estimator(method.estimator),
        "space": _pack_space(method),
        "order": edited.scorer.order,
        "changes": [_pack_change(change) for change in edited.scorer.changes],
        "banned": list(edited.scorer.banned),
        "seed_names": _pack_names(fitted.names),
        "names": _pack_names(edited.names),
        "descriptions": _pack_names(edited.descriptions),
        "pins": [[text, topic] for text, topic in edited.pins.items()],
        "edits": log.dumps(state.log),
        "description": pack_description(state.description),
        "examples": [list(topic.examples) for topic in state.topics],
        "number_of_topics": pack_value(model.number_of_topics_),
        "n_texts": model.n_texts_,
        "n_known": model.n_known_,
        "probe": model._probe,
        "text_column": model.columns.text,
    }


def unpack(cls: type[Model], data: dict[str, Any]) -> Model:
    """A model from data, checked to fit together."""
    model = cls(**unpack_parameters(data["parameters"]))
    model.vectorizer_ = _unpack_vectorizer(data["vectorizer"], model.language)
    if "boilerplate" in data:  # earlier versions left out nothing
        model.vectorizer_.boilerplate_ = boilerplate.unpacked(data["boilerplate"])
    n_terms = len(model.vectorizer_.vocabulary_)
    method = _unpack_method(data, n_terms)
    scorer = Scorer(method, _whole(data["order"]))
    require(len(scorer.order) == method.n_topics, "topics and their order differ")
    require(bool((np.sort(scorer.order) == np.arange(method.n_topics)).all()), "topics without an order")
    descriptions = said(checked_topics(model.predefined))[-1]
    model.fitted = Edited(scorer, _unpack_names(data["seed_names"]), {}, descriptions)
    changes = tuple(_unpack_change(change) for change in data["changes"])
    ids = reshape.check(changes, method.n_topics, method.dimensions)
    banned = tuple(_number(column, n_terms) for column in data["banned"])
    pins = {_string(text): topic for text, topic in data["pins"]}
    require(set(pins.values()) <= set(ids), "a text is pinned to a topic that is not there")
    names, descriptions = (_unpack_names(data.get(part, [])) for part in ("names", "descriptions"))
    edited = Edited(Scorer(method, scorer.order, changes, banned), names, pins, descriptions)
    model._probe, model._checked_source = _unpack_probe(data.get("probe"), method), False
    model.n_texts_ = int(data["n_texts"])
    if data.get("text_column") is not None:  # of texts that came in a table
        model.columns = Columns(text=_string(data["text_column"]))
    model.number_of_topics_ = unpack_value(data["number_of_topics"])
    description = _unpack_description(data["description"], len(ids), n_terms, method.dimensions)
    examples = [tuple(map(_string, texts)) for texts in data["examples"]]
    require(len(examples) == len(ids), "topics and examples differ")
    topics = topics_of(model.vectorizer_.vocabulary_.display, edited, description, examples)
    model.state = State(edited, description, None, topics, log.loads(data["edits"], "the edits of the model"))
    return model


def _pack_space(method: FittedMethod) -> dict[str, Any] | None:
    """The space of a method that has none of its own."""
    if isinstance(method, OwnSpace):
        return None
    return {"weights": method.space.weights, "vectors": method.space.vectors}


def _unpack_method(data: dict[str, Any], n_terms: int) -> FittedMethod:
    estimator = unpack_estimator(data["estimator"])
    if data["space"] is None:
        require(getattr(estimator, "has_own_space", False), "a method without a space")
        estimator.check_shapes(n_terms)
        return OwnSpace.of(estimator)
    space = Space(finite(data["space"]["weights"]), finite(data["space"]["vectors"]))
    require(space.vectors.ndim == 2, "vectors that are none")
    fits = space.weights.shape == (n_terms,) and space.vectors.shape[0] == n_terms
    require(fits, "terms and vectors differ")
    return BorrowedSpace(estimator, space)


def plain_parameters(model: TopicModel) -> dict[str, Any]:
    """The parameters of a model as data, from which `unpack_parameters` makes them again."""
    values = model.get_params(deep=False)
    language = values["language"]
    return {
        **values,
        "embeddings": saved_as(values["embeddings"]),
        "method": values["method"] if isinstance(values["method"], str) else pack_estimator(values["method"]),
        "language": language if isinstance(language, str) else list(language),
        "vectorizer": None if values["vectorizer"] is None else _pack_settings(values["vectorizer"]),
        "predefined": plain(values["predefined"]),
    }


def unpack_parameters(state: dict[str, Any]) -> dict[str, Any]:
    """Parameters for a model, from data."""
    method, vectorizer = state["method"], state["vectorizer"]
    require(can_be_saved(state["embeddings"]), "embeddings of another kind")
    earlier = dict.fromkeys(("seeds", "seed_words"), "predefined")
    renamed = {earlier.get(name, name): value for name, value in state.items()}
    return {
        **renamed,
        "method": method if isinstance(method, str) else unpack_estimator(method),
        "vectorizer": None if vectorizer is None else _unpack_settings(vectorizer),
    }


def _unpack_probe(probe: Any, method: FittedMethod) -> Any:
    """What the encoder said of a few texts; earlier versions did not ask."""
    if probe is None:
        return None
    view = getattr(method.last, "view_", None)
    fits = finite(probe).ndim == 2 and len(probe) == N_PROBES
    require(
        fits and (view is None or probe.shape[1] == len(view.mean)), "vectors of an encoder that are none"
    )
    return probe.astype(np.float32)


def _some_vectors(model: TopicModel, n_rows: int) -> Any:
    """Any embeddings for texts, if the model needs some: its encoder may be missing, or slow to load."""
    view = getattr(model.fitted.scorer.method.last, "view_", None)
    return None if view is None else np.ones((n_rows, len(view.mean)), dtype=np.float32)


def _unpack_settings(settings: dict[str, Any]) -> Any:
    return foreign.unpacked(settings) if "sklearn" in settings else Vectorizer(**settings)


def pack_description(description: Description) -> dict[str, Any]:
    """The description of topics as data, without typical texts and the map."""
    return {
        "fallback": description.fallback,
        "lost": description.lost,
        "sizes": description.sizes,
        "counts": csr_matrix(description.counts),
        "centers": description.centers,
        "terms": [columns.astype(np.int64) for columns in description.terms],
        "coherence": description.coherence,
        "distinctiveness": description.distinctiveness,
        "names": list(description.names),
        "confidence": {
            "centers": description.confidence.centers,
            "company": description.confidence.purity,
            "agreement": description.confidence.agreement,
            "coefficients": list(description.confidence.coefficients),
        },
    }


def _unpack_description(state: dict[str, Any], n_topics: int, n_terms: int, dimensions: int) -> Description:
    require(state["counts"].shape == (n_topics, n_terms), "topics and counts differ")
    size = n_topics * n_terms * 8
    require(size <= _LARGEST_COUNTS, f"{n_topics:,} topics with {n_terms:,} terms, which need {size:,} bytes")
    terms = tuple(_whole(columns) for columns in state["terms"])
    for name in ("sizes", "centers", "coherence", "distinctiveness"):
        finite(state[name])
    require(all(((c >= 0) & (c < n_terms)).all() for c in terms), "a topic names a term that is not there")
    names = tuple(map(_string, state.get("names", [])))
    require(len(names) in (0, n_topics), "topics and names differ")
    lengths = {len(state[name]) for name in ("terms", "sizes", "centers", "coherence", "distinctiveness")}
    require(lengths == {n_topics} and state["centers"].shape[1] == dimensions, "topics and centres differ")
    return Description(
        fallback=_number(state["fallback"], n_topics),
        lost=float(state["lost"]),
        sizes=state["sizes"],
        counts=state["counts"].toarray(),
        centers=state["centers"],
        terms=terms,
        coherence=state["coherence"],
        distinctiveness=state["distinctiveness"],
        examples=(),
        names=names,
        confidence=_unpack_confidence(state["confidence"], n_topics, dimensions),
    )


def _unpack_confidence(state: dict[str, Any], n_topics: int, dimensions: int) -> Confidence:
    confidence = Confidence(
        finite(state["centers"]),
        finite(state["company"]),
        float(state["agreement"]),
        tuple(map(float, state["coefficients"])),
    )
    require(
        len(confidence.coefficients) == N_KEPT
        and bool(np.isfinite(confidence.coefficients).all())
        and np.isfinite(confidence.agreement)
        and confidence.centers.ndim == confidence.purity.ndim == 3
        and confidence.centers.shape[:2] == confidence.purity.shape[:2]
        and confidence.centers.shape[2] == dimensions
        and confidence.purity.shape[2] == n_topics
        and bool(((confidence.purity >= 0) & (confidence.purity <= 1)).all()),
        "clusterings that do not fit the topics",
    )
    return confidence


# --- its parts


def _pack_change(change: Change) -> dict[str, Any]:
    if isinstance(change, Merge):
        return {"kind": "merge", "into": change.into, "others": list(change.others)}
    if isinstance(change, Drop):
        return {"kind": "drop", "topics": list(change.topics)}
    return {"kind": "split", "topic": change.topic, "parts": list(change.parts), "centers": change.centers}


def _unpack_change(state: dict[str, Any]) -> Change:
    if state["kind"] == "merge":
        return Merge(int(state["into"]), tuple(map(int, state["others"])))
    if state["kind"] == "drop":
        return Drop(tuple(map(int, state["topics"])))
    return Split(int(state["topic"]), tuple(map(int, state["parts"])), finite(state["centers"]))


def _pack_names(names: Any) -> list[list[Any]]:
    return [[topic, name] for topic, name in names.items()]


def _unpack_names(state: list[list[Any]]) -> dict[int, str]:
    return {int(topic): _string(name) for topic, name in state}


def _pack_vectorizer(vectorizer: Vectorizer) -> dict[str, Any]:
    vocabulary, speller = vectorizer.vocabulary_, vectorizer.speller_
    return {
        "settings": _pack_settings(vectorizer),
        "terms": list(vocabulary.terms),
        "display": list(vocabulary.display),
        "document_frequency": vocabulary.document_frequency,
        "count": vocabulary.count,
        "n_single": vectorizer.phrases_.n_terms,
        "phrases": list(vectorizer.phrases_.keys),
        "spelling": None if speller is None else {"words": list(speller.words), "columns": speller.columns},
    }


def _pack_settings(vectorizer: Any) -> dict[str, Any]:
    if isinstance(vectorizer, ForeignVectorizer):
        return foreign.packed(vectorizer.vectorizer)
    if is_foreign(vectorizer):
        return foreign.packed(vectorizer)
    settings = vectorizer.get_params(deep=False)
    if callable(settings["tokenizer"]):
        raise InputError("a model with a function as tokenizer cannot be saved: a file must not contain code")
    lists = {"language", "stop_words", "extra_stop_words", "drop"}
    return {
        name: value if value is None or isinstance(value, str) or name not in lists else sorted(value)
        if isinstance(value, (set, frozenset)) else list(value)
        for name, value in settings.items()
    }  # fmt: skip


def _unpack_vectorizer(state: dict[str, Any], language: Any) -> Vectorizer:
    settings = state["settings"]
    plain = (str, int, float, list, type(None))
    require(all(isinstance(value, plain) for value in settings.values()), "settings of texts that are none")
    if "sklearn" in settings:
        vectorizer: Vectorizer = ForeignVectorizer(foreign.unpacked(settings), language)
    else:
        vectorizer = Vectorizer(**{**settings, "threads": None})
    terms, display = (tuple(map(_string, state[name])) for name in ("terms", "display"))
    df, count = _whole(state["document_frequency"]), _whole(state["count"])
    phrases = Phrases(int(state["n_single"]), [_whole(keys) for keys in state["phrases"]])
    require(len({len(terms), len(display), len(df), len(count), phrases.n_columns}) == 1, "terms differ")
    require(all((np.diff(keys) > 0).all() for keys in phrases.keys), "phrases are not in order")
    vectorizer.vocabulary_, vectorizer.phrases_ = Vocabulary(terms, display, df, count), phrases
    vectorizer.n_features_out_ = len(terms)
    vectorizer.speller_ = _unpack_speller(state.get("spelling"), phrases.n_terms)
    return vectorizer


def _unpack_speller(state: dict[str, Any] | None, n_terms: int) -> Speller | None:
    """What matches misspelt words; an earlier version had none."""
    if state is None:
        return None
    words, columns = tuple(map(_string, state["words"])), _whole(state["columns"])
    require(len(words) == len(columns), "words and their columns differ")
    require(bool(((columns >= 0) & (columns < n_terms)).all()), "a word stands for a term that is not there")
    return Speller(words, columns)


# --- checks


def _whole(array: Any) -> Any:
    whole = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"
    require(whole, "something else where whole numbers belong")
    return array.astype(np.int64)


def _number(value: Any, below: int) -> int:
    require(isinstance(value, int) and 0 <= value < below, f"the number {value!r:.40} out of place")
    return int(value)


def _string(value: Any) -> str:
    require(isinstance(value, str), "something else where text belongs")
    return str(value)
