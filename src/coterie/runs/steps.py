"""Digests of what each step of a fit produced, for run.json: a run that is computed again must have the same.

A digest is a SHA-256 over plain bytes: numbers in little-endian order, texts in UTF-8, each with its length,
so that two different values never have the same bytes. Rows are digested block by block as the engine maps
them, and those digests together; no step needs all texts in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, issparse

from coterie.corpus.counting import Corpus
from coterie.engines import Block
from coterie.methods.state import pack_estimator
from coterie.topics import TopicModel, state
from coterie.topics.answers import assignments
from coterie.topics.collection import BATCH, TextStore

#: What is digested, in the order in which a fit produces it, and what each step is.
STEPS = {
    "texts": "the texts as they were read",
    "counts": "terms, and how often each text has them",
    "embeddings": "embeddings of the texts",
    "vectors": "vectors of terms",
    "topics": "what the method learned, before any edit",
    "described": "sizes, terms, typical texts and names of the topics",
    "labels": "labels and descriptions of the topics",
    "assignments": "topic, confidence, second-best topic and reason of each text",
}
#: Steps that no edit changes.
OF_FIT = ("texts", "counts", "embeddings", "vectors", "topics")
#: What a method with a space of its own keeps of it; a step before the topics.
_OF_SPACE = {"term_weights_", "term_vectors_"}
#: Numbers of so many rows are turned into bytes at a time.
_ROWS = 1 << 20


def fit_steps(model: TopicModel) -> dict[str, str]:
    """The digests of a fit, which edits leave as they are."""
    collection = model.collection
    assert collection is not None
    digests = {"texts": texts_digest(collection.texts), "counts": counts_digest(collection.corpus)}
    if collection.embeddings is not None:
        digests["embeddings"] = digest(collection.embeddings)
    return digests | learned_steps(model)


def learned_steps(model: TopicModel) -> dict[str, str]:
    """The digests of what was learned, which a loaded model has, too."""
    method = model.fitted.scorer.method
    return {
        "vectors": digest([method.space.weights, method.space.vectors]),
        "topics": digest([learned(model), model.fitted.scorer.order]),
    }


def learned(model: TopicModel) -> list[dict[str, Any]]:
    """What the method learned, step by step of a pipeline, without its settings and the vectors of terms."""
    packed = pack_estimator(model.fitted.scorer.method.estimator)
    return [
        {name: value for name, value in step["fitted"].items() if name not in _OF_SPACE}
        for step in packed.get("steps", [packed])
    ]


def described_steps(model: TopicModel) -> dict[str, str]:
    """The digests of the topics as edits have made them."""
    description = state.pack_description(model.state.description)
    examples = [list(topic.examples) for topic in model.state.topics]
    topics = model.state.topics
    ids = [topic.id for topic in topics]
    labels, said = ({t.id: getattr(t, part) for t in topics} for part in ("label", "description"))
    return {
        "described": digest([description, examples, ids]),
        "labels": digest_of_labels(ids, labels, said),
    }


def digest_of_labels(ids: Sequence[int], labels: Mapping[int, str], descriptions: Mapping[int, str]) -> str:
    """The digest of what topics are called and described as, by id."""
    return digest([[topic, labels[topic], descriptions.get(topic, "")] for topic in ids])


def texts_digest(store: TextStore) -> str:
    """The digest of texts in their order, that of a file if they came from one."""
    return store.fingerprint or fingerprint(store.all())


def fingerprint(texts: pl.Series) -> str:
    """A digest of texts in their order, as that of a file."""
    return hashlib.sha256("".join(map(repr, texts.to_list())).encode()).hexdigest()


def counts_digest(corpus: Corpus) -> str:
    """The digest of the vocabulary and of the counts, one block after the other."""
    known = corpus.vocabulary
    whole = hashlib.sha256()
    _add(whole, [list(known.terms), list(known.display), known.document_frequency, known.count])
    for block in corpus.engine.map(_block_digest):
        whole.update(block)
    return whole.hexdigest()


def _block_digest(block: Block) -> bytes:
    part = hashlib.sha256()
    _add(part, [block.X, block.weights])
    return part.digest()


class AssignmentsDigest:
    """The digest of assignments in row order, however many rows come at a time: one for each column."""

    def __init__(self, names: Mapping[str, str]):
        self._names = names
        self._columns = {
            part: hashlib.sha256() for part in ("topic", "confidence", "second", "length", "reason")
        }

    def add(self, rows: pl.DataFrame) -> None:
        """The next rows; `names` says what the columns are called there."""
        reason = rows[self._names["reason"]].fill_null("")
        parts = {
            "topic": _numbers(rows[self._names["topic"]], pl.Int64, -1),
            "confidence": _numbers(rows[self._names["confidence"]], pl.Float64, 0.0),
            "second": _numbers(rows[self._names["second"]], pl.Int64, -1),
            "length": _numbers(reason.str.len_bytes(), pl.Int64, 0),
            "reason": "".join(reason.to_list()).encode(),
        }
        for part, content in parts.items():
            self._columns[part].update(content)

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        return digest([column.hexdigest() for column in self._columns.values()])


def assignments_digest(model: TopicModel) -> str:
    """The digest of the assignments of the fitted texts."""
    found = AssignmentsDigest({name: name for name in ("topic", "confidence", "second", "reason")})
    for rows in assigned(model):
        found.add(rows)
    return found.hexdigest()


def assigned(model: TopicModel) -> Iterable[pl.DataFrame]:
    """The assignments of the fitted texts in their order, some at a time."""
    collection, scores = model.collection, model.state.scores
    assert collection is not None
    assert scores is not None
    answers = assignments(model, scores, collection.corpus.typos).polars()
    rows = collection.corpus.rows
    return (answers[np.asarray(rows[start : start + BATCH])] for start in range(0, len(rows), BATCH))


def _numbers(column: pl.Series, kind: Any, missing: float) -> bytes:
    values = column.cast(kind).fill_null(missing).to_numpy()
    return values.astype("<f8" if kind == pl.Float64 else "<i8", copy=False).tobytes()


# --- plain values as bytes


def digest(value: Any) -> str:
    """The digest of nested lists and dictionaries of texts, numbers and arrays.

    >>> digest([1, "a"]) == digest((1, "a")), digest([1, "a"]) == digest(["1", "a"])
    (True, False)
    """
    whole = hashlib.sha256()
    _add(whole, value)
    return whole.hexdigest()


def _add(whole: Any, value: Any) -> None:
    """Add a value: what it is, how long it is, and its bytes."""
    if isinstance(value, Mapping):
        whole.update(b"{%d" % len(value))
        for key in sorted(value):
            _add(whole, key)
            _add(whole, value[key])
    elif isinstance(value, list | tuple):
        _add_list(whole, value)
    elif issparse(value):
        _add(whole, [list(value.shape), *_parts(csr_matrix(value))])
    elif isinstance(value, np.ndarray):
        _add_array(whole, value)
    elif isinstance(value, np.generic):
        _add(whole, value.item())
    else:
        text = value if isinstance(value, str) else repr(value)
        mark = b"s" if isinstance(value, str) else type(value).__name__.encode()
        encoded = text.encode("utf-8", "surrogatepass")
        whole.update(b"%s%d:" % (mark, len(encoded)) + encoded)


def _add_list(whole: Any, values: Sequence[Any]) -> None:
    whole.update(b"[%d" % len(values))
    if values and all(type(value) is str for value in values):  # a vocabulary has hundreds of thousands
        encoded = [value.encode("utf-8", "surrogatepass") for value in values]
        whole.update(b"s" + np.fromiter(map(len, encoded), "<i8", len(encoded)).tobytes() + b"".join(encoded))
    else:
        for value in values:
            _add(whole, value)


def _parts(counts: csr_matrix) -> list[Any]:
    """The arrays of a matrix, in types that do not depend on where it was kept."""
    if not counts.has_sorted_indices:
        counts = counts.sorted_indices()
    return [
        counts.indptr.astype("<i8", copy=False),
        counts.indices.astype("<i4", copy=False),
        counts.data.astype("<f8", copy=False),
    ]


def _add_array(whole: Any, array: Any) -> None:
    plain = array.dtype.newbyteorder("<")
    whole.update(b"a%s" % plain.str.encode())
    whole.update(np.array(array.shape, dtype="<i8").tobytes())
    for start in range(0, len(array) if array.ndim else 0, _ROWS):
        part = np.ascontiguousarray(array[start : start + _ROWS], dtype=plain)
        whole.update(part.tobytes())
    if not array.ndim:
        whole.update(array.astype(plain).tobytes())
