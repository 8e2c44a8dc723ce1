"""From texts to a fitted topic model, step by step."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.corpus.foreign import own_vectorizer
from coterie.corpus.vectorizer import Vectorizer
from coterie.embeddings import (
    STATIC,
    Vectors,
    can_be_saved,
    checked,
    is_auto,
    is_source,
    static_installed,
    static_may_help,
    vectors_of,
)
from coterie.embeddings.named import encoder, is_named
from coterie.engines import Cluster, Engine
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError, check_flag, shown
from coterie.methods.fitted import FittedMethod, fit_method
from coterie.storage.temporary import report_full
from coterie.text.boilerplate import Boilerplate
from coterie.text.recurring import find
from coterie.topics import editing
from coterie.topics.collection import Collection, TextStore, collect, without_columns
from coterie.topics.columns import with_file
from coterie.topics.describe import Reading, read_topics
from coterie.topics.editing import Edited
from coterie.topics.edits import Edit
from coterie.topics.memory import check_memory
from coterie.topics.predefined import Known, checked_topics, columns_of, evidence, said
from coterie.topics.reshape import Array, Ints
from coterie.topics.scorer import Scorer
from coterie.topics.vectors import embedded, source_of

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

#: Predefined topics without a text that a warning names.
_MOST_NAMED = 10


def fit(
    model: TopicModel,
    texts: Any,
    edits: tuple[Edit, ...],
    embeddings: Any = None,
    cluster: Cluster | None = None,
) -> None:
    """Count terms, find topics in the counts, score every distinct text, and apply the edits."""
    _check_parameters(model)
    if cluster is not None and not isinstance(cluster, Cluster):
        raise InputError(f"cluster must be a coterie.engines.Cluster, got {shown(cluster)}")
    given = None if embeddings is None else checked(embeddings)
    source_of(model, given, None)  # says what is missing before anything is counted
    model.collection = collection = _collect(model, texts, cluster)
    if cluster is not None:
        check_memory(cluster, len(collection.corpus.vocabulary), model.n_topics)
    model.columns = with_file(model.columns, collection.texts)
    source = source_of(model, given, _source(model, collection.corpus.n_distinct))
    model.collection = collection = embedded(model, collection, source, given)
    model.n_texts_ = collection.corpus.n_texts
    banned = _columns(model, [term for edit in edits if edit.kind == "ban" for term in edit.terms])
    known = checked_topics(model.predefined)
    by_name = np.array(sorted(range(len(known)), key=lambda number: known[number].name), dtype=np.int64)
    documents = collection.engine(banned)
    method, model.number_of_topics_ = fit_method(
        documents,
        model.method,
        model.n_topics,
        model.random_state,
        # by name: in another order the same topics are found
        predefined=evidence([known[number] for number in by_name], model.vectorizer_, source),
        source=source,
        embeddings=collection.embeddings,
        stop_word_counts=collection.corpus.stop_word_counts,
        unfolded=lambda: without_columns(collection.corpus.unfolded(), banned),
    )
    with one_blas_thread():
        scorer, reading = _scored_once(method, documents, collection.embeddings, np.argsort(by_name))
        model.fitted = Edited(scorer, *said(known))
        _warn_of_empty(known, reading.sizes)
        if isinstance(model.n_topics, int) and len(scorer.ids) < model.n_topics:
            found = "1 topic" if len(scorer.ids) == 1 else f"{len(scorer.ids)} topics"
            warnings.warn(
                f"{found} instead of {model.n_topics}: no text was left for the others", stacklevel=4
            )
        model.state, model._history = editing.described(model, model.fitted, reading), ()
        editing.replay(model, edits)
        if banned:  # before its ban a term was not read: whoever takes the ban back reads the texts again
            model._history = ()


def _check_parameters(model: TopicModel) -> None:
    """Say what is wrong with a parameter before anything is counted."""
    if not is_source(model.embeddings) and not can_be_saved(model.embeddings):
        if isinstance(model.embeddings, list | tuple) or hasattr(model.embeddings, "shape"):
            raise InputError("embeddings of texts go with them: TopicModel().fit(texts, embeddings=E)")
        vectors_of(model.embeddings, [])  # says what embeddings may be
    if is_named(model.embeddings):
        encoder(model.embeddings)  # says what is missing
    if model.vectorizer is not None:
        own_vectorizer(model.vectorizer, model.language)  # says what it may be
    check_flag("keep_boilerplate", model.keep_boilerplate)
    known = len(checked_topics(model.predefined))
    if isinstance(model.n_topics, int) and model.n_topics < known:
        raise InputError(f"n_topics must be at least {known}, as many as predefined; got {model.n_topics}")


def _collect(model: TopicModel, texts: Any, cluster: Cluster | None) -> Collection:
    """Count terms; words of one text alone say nothing, unless there are no others."""
    store = texts if isinstance(texts, TextStore) else TextStore(texts)
    given = model.vectorizer
    if given is None:
        model.vectorizer_ = Vectorizer(model.language, min_df=2, fix_typos=True, skip_non_answers=True)
    else:
        model.vectorizer_ = own_vectorizer(given, model.language)
    left_out = find_boilerplate(model, store)
    collection = collect(store, model.vectorizer_, left_out, cluster)
    if given is None and not len(collection.corpus.vocabulary):
        model.vectorizer_ = Vectorizer(model.language, skip_non_answers=True)
        if cluster is not None:
            cluster.clear()
        collection = collect(store, model.vectorizer_, left_out, cluster)
    if not len(collection.corpus.vocabulary):
        collection.close()
        raise InputError(
            f"no usable words in {collection.corpus.n_texts:,} texts: are these the right column and "
            "language, and do words occur in more than one text?"
        )
    return collection


def find_boilerplate(model: TopicModel, store: TextStore) -> Boilerplate:
    """What is left out of the counts; nothing of texts that came as words."""
    if model.keep_boilerplate or model.vectorizer_.tokenizer != "words":
        return Boilerplate()
    try:
        with report_full():
            return find(store.batches, model.vectorizer_.analyzer().all_stop_words())
    except BaseException:
        store.close()
        raise


def _source(model: TopicModel, n_distinct: int) -> Any:
    """Where embeddings come from; "auto" is the static model, where that is installed and may help."""
    if not is_auto(model.embeddings):
        return model.embeddings
    may_help = static_may_help(model.method, model.language, n_distinct)
    return STATIC if may_help and static_installed() else None


def _columns(model: TopicModel, terms: Iterable[str]) -> tuple[int, ...]:
    """Columns in which terms are counted."""
    columns = columns_of(list(terms), model.vectorizer_)
    return tuple(sorted({int(column) for some in columns for column in some}))


def _warn_of_empty(known: Sequence[Known], sizes: Array) -> None:
    """Name the predefined topics that got no text."""
    empty = [topic.name for topic, size in zip(known, sizes, strict=False) if not size]
    if empty:
        what = "topic" if len(empty) == 1 else "topics"
        names = ", ".join(map(repr, empty[:_MOST_NAMED])) + (", …" if len(empty) > _MOST_NAMED else "")
        warnings.warn(
            f"no text belongs to the predefined {what} {names}; describe it in words of the texts",
            stacklevel=5,
        )


def _scored_once(
    method: FittedMethod, documents: Engine, embeddings: Vectors | None, first: Ints
) -> tuple[Scorer, Reading]:
    """Score every distinct text, and order topics: those that stand `first`, then the others by size.

    Again only where the first look changes what there is to score: if no text went to a topic, which is then
    dropped, or if the order of topics decides between two that are equally good for a text.
    """
    scorer = Scorer(method, np.arange(method.n_topics))
    reading = read_topics(documents, scorer, embeddings=embeddings)
    if not method.read_topics(documents, reading.sizes, reading.counts).all():
        del reading
        scorer = Scorer(method, np.arange(method.n_topics))
        reading = read_topics(documents, scorer, embeddings=embeddings)
    by_size = np.argsort(-reading.sizes[len(first) :], kind="stable") + len(first)
    ordered = replace(scorer, order=np.concatenate([first, by_size]))
    if reading.tied:
        del reading
        return ordered, read_topics(documents, ordered, embeddings=embeddings)
    return ordered, reading.reordered(ordered.order)
