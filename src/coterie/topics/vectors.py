"""Where a topic model has the embeddings of texts from: given with them, or made by its encoder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.sparse import csr_matrix

from coterie.embeddings import (
    GIVEN,
    Vectors,
    checked,
    is_auto,
    is_given,
    is_source,
    known_only,
    vectors_of,
)
from coterie.embeddings.named import runs_code
from coterie.embeddings.probe import check_same, probe_texts
from coterie.errors import InputError, shown
from coterie.text.markup import without_gaps
from coterie.topics.collection import BATCH, Collection, as_strings

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

Ints = npt.NDArray[np.integer[Any]]


# --- of fitted texts


def embedded(model: TopicModel, collection: Collection, source: Any, given: Vectors | None) -> Collection:
    """The collection with a vector for each distinct text: those given with the texts, or from the source."""
    model._probe, model._checked_source = None, True
    if is_source(source):
        model._probe = vectors_of(source, probe_texts(model.vectorizer_.vocabulary_.display))
    if given is None:
        return collection.embedded(source, model.vectorizer_)
    if model._probe is not None and model._probe.shape[1] != given.shape[1]:
        raise InputError(
            f"embeddings have {given.shape[1]} columns, but the encoder of the model gives vectors of "
            f"{model._probe.shape[1]} numbers; pass vectors of that encoder"
        )
    corpus = collection.corpus
    if len(given) != corpus.n_texts:
        lost = collection.texts.skipped
        why = (
            f" ({lost:,} of the file skipped, so which vectors belong to the others cannot be told)"
            if lost
            else ""
        )
        raise InputError(
            f"embeddings must have one row for each of the {corpus.n_texts:,} texts, got {len(given):,} rows"
            f"{why}"
        )
    return _with(collection, given)


def embedded_again(model: TopicModel, collection: Collection, kept: Vectors | None) -> Collection:
    """The texts of a fitted model, counted again, with the embeddings that were kept of them."""
    if kept is None and is_given(model.embeddings_):
        raise InputError("the embeddings of the texts were not kept; fit again to edit the topics")
    if kept is None:
        return collection.embedded(model.embeddings_, model.vectorizer_)
    return _with(collection, kept)


def _with(collection: Collection, vectors: Vectors) -> Collection:
    """The collection with the embeddings of its texts, those without a known word left out."""
    corpus = collection.corpus
    means = folded(vectors, corpus.rows, corpus.n_distinct)
    return replace(collection, embeddings=known_only(means, collection.known()))


def folded(vectors: Vectors, rows: Ints, n_distinct: int) -> Vectors:
    """A vector for each distinct text: the mean of those of its copies, whatever their order.

    >>> folded(np.array([[1, 0], [0, 1], [3, 0]], dtype=np.float32), np.array([0, 1, 0]), 2).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(n_distinct + 1))
    means = vectors[order[starts[:-1]]]
    mixed = set()
    for begin in range(0, len(rows), BATCH):
        some = slice(begin, begin + BATCH)
        mixed |= set(rows[some][(vectors[some] != means[rows[some]]).any(axis=1)].tolist())
    for row in mixed:
        copies = vectors[order[starts[row] : starts[row + 1]]]
        # numbers that are added in another order may give another sum
        means[row] = np.sort(copies, axis=0).mean(axis=0, dtype=np.float64)
    return means


# --- of new texts


def with_vectors(
    model: TopicModel, batches: Iterable[pl.Series], embeddings: Any
) -> Iterator[tuple[pl.Series, Vectors | None]]:
    """Batches of texts with their rows of the embeddings that somebody gave for all of them."""
    if embeddings is None:
        yield from ((texts, None) for texts in batches)
        return
    given = RowByRow(checked_for(model, embeddings))
    for texts in batches:
        yield texts, given.take(len(texts))
    given.finish()


class RowByRow:
    """Embeddings handed out in the order of the texts, of which there must be as many."""

    def __init__(self, vectors: Vectors):
        self._vectors, self._taken = vectors, 0

    def take(self, number: int) -> Vectors:
        """The rows of the next texts."""
        rows = self._vectors[self._taken : self._taken + number]
        self._taken += number
        if len(rows) < number:
            self._refuse("or more ")
        return rows

    def finish(self) -> None:
        """Say that there are no more texts."""
        if self._taken < len(self._vectors):
            self._refuse()

    def _refuse(self, more: str = "") -> None:
        raise InputError(
            f"embeddings must have one row for each text, got {len(self._vectors):,} rows for "
            f"{self._taken:,} {more}texts"
        )


def checked_for(model: TopicModel, embeddings: Any) -> Vectors:
    """Embeddings that somebody gave for new texts, as wide as those of the fit."""
    last = model.fitted.scorer.method.last
    if getattr(last, "embeddings", None) is None:
        raise InputError("this model was fitted without embeddings; leave them out here, too")
    given = checked(embeddings)
    if last.view_ is not None and given.shape[1] != len(last.view_.mean):
        raise InputError(
            f"embeddings must have {len(last.view_.mean)} columns as in the fit, got {given.shape[1]}"
        )
    return given


def new_vectors(model: TopicModel, texts: pl.Series, counts: csr_matrix) -> Vectors | None:
    """Embeddings of new texts from the encoder of the model; None for a model that uses none."""
    source = model.embeddings_
    if source is None:
        return None
    if is_given(source):
        raise InputError(
            "this model was fitted with embeddings, and needs those of new texts, too",
            python="pass embeddings=E with one row for each text; a model that has an encoder makes them "
            "itself: TopicModel(embeddings=encoder), or TopicModel.load(folder, embeddings=encoder)",
            command="'coterie assign RUN FILE --embeddings VECTORS.npy' takes a row for each row of the file",
            page="use 'coterie assign RUN FILE --embeddings VECTORS.npy' in a terminal",
        )
    width = len(model.fitted.scorer.method.last.view_.mean)
    if not len(texts):
        return np.zeros((0, width), dtype=np.float32)
    if not model._checked_source:
        _check_loaded(model, source)
    counted = without_gaps(as_strings(model.vectorizer_.counted_texts(texts)))
    vectors = vectors_of(source, counted.to_list(), np.diff(counts.indptr) > 0)
    if vectors.shape[1] != width:
        raise InputError(
            f"the encoder gives vectors of {vectors.shape[1]} numbers, but gave {width} in the fit; use the "
            "one of the fit"
        )
    return vectors


# --- the encoder of a model that was loaded


def take_encoder(model: TopicModel, source: Any) -> None:
    """Give a model its encoder back; another one than that of the fit is refused."""
    last = model.fitted.scorer.method.last
    if not is_source(source):
        raise InputError(
            f"embeddings must be the encoder of the model here, got {shown(source)}; an array goes with its "
            "texts: assign(texts, embeddings=E)"
        )
    if getattr(last, "embeddings", None) is None:
        raise InputError("this model was fitted without embeddings; leave them out here, too")
    _check_encoder(model, source)
    last.set_params(embeddings=source)
    if model.embeddings is not None and not is_auto(model.embeddings):
        model.embeddings = source


def _check_loaded(model: TopicModel, source: Any) -> None:
    """Check an encoder that a file named, before it is first used."""
    if isinstance(source, str) and runs_code(source):
        raise InputError(
            f"the model names an encoder in a folder, {source!r}, which may contain code",
            python=f"if you trust it, TopicModel.load(folder, embeddings={source!r})",
            command=f"if you trust it, pass --embeddings {source}",
        )
    _check_encoder(model, source)


def _check_encoder(model: TopicModel, source: Any) -> None:
    vectors = vectors_of(source, probe_texts(model.vectorizer_.vocabulary_.display))
    before, view = model._probe, model.fitted.scorer.method.last.view_
    what = f"embeddings={source!r}" if isinstance(source, str) else "the encoder"
    if view is not None:
        check_same(len(view.mean), before, vectors, what)
    model._probe, model._checked_source = vectors if before is None else before, True


def source_of(model: TopicModel, given: Vectors | None, automatic: Any) -> Any:
    """Where embeddings of new texts come from: `automatic` unless the texts of the fit came with theirs."""
    if given is not None:
        return model.embeddings if is_source(model.embeddings) else GIVEN
    if is_given(model.embeddings):
        raise InputError(
            "embeddings='given' needs the embeddings of the texts: pass fit(texts, embeddings=E), with one "
            "row for each"
        )
    return automatic
