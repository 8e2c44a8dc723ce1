"""From texts to a fitted method: counts, the space of meanings, the number of topics, the method itself."""

from __future__ import annotations

import shutil
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.utils import check_random_state

from coterie import methods
from coterie.cluster import Coterie
from coterie.cluster.n_topics import NumberOfTopics, choose_n_topics
from coterie.cluster.space import Space, learn_space, terms_that_count
from coterie.cluster.texts import take_sample
from coterie.corpus import Vectorizer
from coterie.corpus.counting import Corpus
from coterie.embeddings import Vectors, vectors_of
from coterie.engines import Block, Engine
from coterie.errors import InputError
from coterie.estimator import TopicEstimator
from coterie.progress import tell
from coterie.topics.placing import NOWHERE, Placing, without_columns
from coterie.topics.reshape import Ints
from coterie.topics.sources import Texts

#: Directions of the space for a method that has none of its own.
_DIMENSIONS = 100


@dataclass(frozen=True)
class Counted:
    """Texts and their counts, kept for edits and questions after the fit.

    `first` is the number of the first text that each distinct row stands for. `folder` holds the row blocks
    of a file; it goes when nobody needs this any more.
    """

    texts: Texts
    corpus: Corpus
    first: Ints
    vectors: Vectors | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.folder is not None:
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def engine(self, banned: Sequence[int] = ()) -> Engine:
        """Row blocks, without the terms that are banned."""
        if not banned:
            return self.corpus.engine
        return self.corpus.engine.mapped(
            lambda block: Block(without_columns(block.X, banned), block.weights, block.start)
        )


def count(source: Any, vectorizer: Vectorizer, embeddings: Any) -> Counted:
    """Count the terms of texts; a file is read in batches, and the counts of a large one lie on disk."""
    texts = source if isinstance(source, Texts) else Texts(source)
    folder = Path(mkdtemp(prefix="coterie-")) if texts.is_large() else None
    try:
        corpus = vectorizer.fit_corpus(texts if texts.memory is None else texts.memory, folder)
        return _counted(texts, corpus, folder, embeddings)
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _counted(texts: Texts, corpus: Corpus, folder: Path | None, embeddings: Any) -> Counted:
    if not corpus.n_texts:
        raise InputError("there are no texts: give at least one")
    if not len(corpus.vocabulary):
        raise InputError(
            f"no word counts in {corpus.n_texts:,} texts: are these the right column and language, and do "
            "words occur in more than one text?"
        )
    first = np.full(corpus.n_distinct, corpus.n_texts, dtype=np.int64)
    np.minimum.at(first, corpus.rows, np.arange(corpus.n_texts))
    vectors = None
    if embeddings is not None:
        everyone = texts.all()
        vectors = vectors_of(embeddings, everyone[first].to_list())
    return Counted(texts, corpus, first, vectors, folder)


def fit_method(
    counted: Counted,
    method: Any,
    n_topics: Any,
    random_state: Any,
    *,
    anchors: Sequence[Ints],
    banned: Sequence[int],
    embeddings: Any,
) -> tuple[Placing, NumberOfTopics | None]:
    """Fit a method, given by name or as an estimator, and order its topics by size."""
    documents = counted.engine(banned)
    estimator = _unfitted(method, n_topics, random_state, embeddings)
    found: NumberOfTopics | None = None
    if isinstance(estimator, Coterie):
        texts = None
        if embeddings is not None:
            texts = counted.texts.all()[counted.first].to_list()
        estimator.fit(documents, texts=texts, anchors=anchors)
        space, found = Space(estimator.term_weights_, estimator.term_vectors_.T), estimator.number_of_topics_
    else:
        space = _space(documents)
        if n_topics == "auto" and isinstance(method, str):
            found = _number_of_topics(documents, space, random_state)
            estimator = methods.make(method, found.n_topics, random_state)
        tell("learning topics", 0)
        if isinstance(estimator, TopicEstimator):
            estimator.fit(documents)
        else:  # steps of a pipeline need a matrix, and know no weights
            estimator.fit(without_columns(counted.corpus.unfolded(), banned))
    return _ordered(documents, estimator, space, counted.vectors), found


def _unfitted(method: Any, n_topics: Any, random_state: Any, embeddings: Any) -> Any:
    if isinstance(method, str):
        methods.find(method)
        if method == "coterie":
            return Coterie(n_topics, embeddings=embeddings, random_state=random_state)
        if embeddings is not None:
            raise InputError(f"embeddings are for the method 'coterie', not for {method!r}")
        return methods.make(method, 1 if n_topics == "auto" else n_topics, random_state)
    if not hasattr(method, "fit") or not hasattr(method, "transform"):
        raise InputError(
            f"method must be one of {', '.join(methods.names())} or an estimator, got {method!r}"
        )
    estimator = clone(method)
    if n_topics != "auto":
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        last.set_params(n_topics=n_topics)
    if isinstance(estimator, Coterie):
        estimator.set_params(embeddings=embeddings)
    return estimator


def _space(documents: Engine) -> Space:
    """The space of meanings over all terms; those that keep no company add nothing."""
    known = terms_that_count(documents)
    inside = documents.mapped(lambda block: Block(block.X[:, known], block.weights, block.start))
    found = learn_space(inside, _DIMENSIONS)
    weights = np.zeros(documents.n_terms)
    vectors = np.zeros((documents.n_terms, found.vectors.shape[1]))
    weights[known], vectors[known] = found.weights, found.vectors
    return Space(weights, vectors)


def _number_of_topics(documents: Engine, space: Space, random_state: Any) -> NumberOfTopics:
    sample = take_sample(documents, space.words, lambda counts, _: space.directions(counts))
    directions = sample.gather(lambda block: block.directions)
    return choose_n_topics(directions, sample.counts(), check_random_state(random_state))


def _ordered(documents: Engine, estimator: Any, space: Space, vectors: Vectors | None) -> Placing:
    """The fitted method with its topics from the largest to the smallest."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    n_topics = len(last.components_)
    plain = Placing(estimator, space, np.arange(n_topics))

    def sizes(block: Block) -> Any:
        places = plain.see_block(block, vectors).places
        there = places != NOWHERE
        return np.bincount(places[there], block.weights[there], n_topics).astype(np.float64)

    return Placing(estimator, space, np.argsort(-documents.sum(sizes), kind="stable"))


def seed_columns(seeds: Mapping[str, Sequence[str]], vectorizer: Vectorizer) -> dict[str, Ints]:
    """Columns of the words of each seed; a word that no text holds is told."""
    found: dict[str, Ints] = {}
    for name, words in checked_seeds(seeds).items():
        columns = columns_of(list(words), vectorizer)
        unknown = [word for word, held in zip(words, columns, strict=True) if not len(held)]
        if unknown:
            warnings.warn(
                f"the seed {name!r} has words that no topic can be learned from: {', '.join(unknown)}",
                stacklevel=4,
            )
        if not any(map(len, columns)):
            raise InputError(f"none of the words of the seed {name!r} is in the texts: {', '.join(words)}")
        found[name] = np.unique(np.concatenate(columns))
    return found


def checked_seeds(seeds: Any) -> dict[str, list[str]]:
    """Names and lists of words; whatever else is given is told."""
    if not isinstance(seeds, Mapping):
        raise InputError(f"seeds must be like {{'billing': ['invoice', 'refund']}}, got {seeds!r:.100}")
    for name, words in seeds.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"seeds must have names, got {name!r:.100}")
        listed = isinstance(words, Iterable) and not isinstance(words, (str, bytes))
        if not listed or not all(isinstance(word, str) for word in words):
            raise InputError(f"the seed {name!r} must be a list of words, got {words!r:.100}")
    return {str(name): [str(word) for word in words] for name, words in seeds.items()}


def columns_of(words: Sequence[str], vectorizer: Vectorizer) -> list[Ints]:
    """The columns that each word counts in; a run of words that is a term of its own is only that."""
    counts = vectorizer.transform(pl.Series(list(words), dtype=pl.String))
    found = [counts[row].indices.astype(np.int64) for row in range(len(words))]
    terms = vectorizer.vocabulary_.terms
    longest = [max((terms[column].count(" ") for column in columns), default=0) for columns in found]
    return [
        np.array([c for c in columns if terms[c].count(" ") == most], dtype=np.int64)
        for columns, most in zip(found, longest, strict=True)
    ]
