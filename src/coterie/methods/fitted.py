"""What a topic model asks of a method, whatever the method: memberships, vectors, evidence, terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import clone

from coterie import methods
from coterie.cluster.n_topics import NumberOfTopics, choose_n_topics
from coterie.cluster.predefined import Predefined
from coterie.cluster.space import Space, learn_space, terms_that_count
from coterie.cluster.texts import take_sample
from coterie.embeddings import Vectors
from coterie.engines import Block, Engine, MemoryEngine
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError, shown
from coterie.estimator import random_of
from coterie.progress import tell

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]

#: Dimensions of the space for a method that has none of its own.
_DIMENSIONS = 100


@dataclass(frozen=True)
class FittedMethod(ABC):
    """A fitted estimator or pipeline, and the space in which its texts are vectors.

    Topics are numbered as the estimator numbers them.
    """

    estimator: Any
    space: Space
    #: Whether `evidence` says what terms of a text count for.
    explains: ClassVar[bool] = False

    @property
    def last(self) -> Any:
        """The estimator, or the last step of a pipeline."""
        return self.estimator.steps[-1][1] if hasattr(self.estimator, "steps") else self.estimator

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.last.components_)

    @property
    def dimensions(self) -> int:
        """Length of the vectors of texts."""
        return int(self.space.vectors.shape[1])

    @property
    def ranked_terms(self) -> Ints | None:
        """Topics × terms, the most distinctive first, if the method has ranked them by what its texts use."""
        return getattr(self.last, "topic_terms_", None)

    @abstractmethod
    def score(self, X: csr_matrix, embeddings: Vectors | None) -> tuple[Array, Array]:
        """Memberships of texts in topics (rows sum to 1, or are zero), and their vectors."""

    def vectors(self, X: csr_matrix, embeddings: Vectors | None) -> Array:
        """The vectors of texts alone, which takes less than to score them."""
        return np.asarray(self.space.text_vectors(X), dtype=np.float64)

    def evidence(self, X: csr_matrix, topics: Ints, against: Ints) -> csr_matrix:
        """What each term of a text says for one topic and against another: a matrix as sparse as X."""
        raise NotImplementedError

    def read_topics(self, documents: Engine, sizes: Array, counts: Array) -> npt.NDArray[np.bool_]:
        """Hand over what one pass over the texts found (`TopicEstimator.read_topics`)."""
        return np.asarray(self.last.read_topics(documents, sizes, counts))


class OwnSpace(FittedMethod):
    """A method that finds topics among vectors of its own (`Coterie`)."""

    explains = True

    @classmethod
    def of(cls, estimator: Any) -> OwnSpace:
        """The method of a fitted estimator."""
        for name in ("coefficients_", "term_vectors_"):  # as right after a fit, also if they come from a file
            setattr(estimator, name, np.asfortranarray(getattr(estimator, name)))
        return cls(estimator, Space(estimator.term_weights_, estimator.term_vectors_.T))

    @property
    def dimensions(self) -> int:
        """Length of the vectors: those of the space, and of embeddings that were given."""
        view = self.estimator.view_
        return super().dimensions + (0 if view is None else int(view.axes.shape[1]))

    def score(self, X: csr_matrix, embeddings: Vectors | None) -> tuple[Array, Array]:
        """Both from one look at the terms."""
        shares, vectors = self.estimator.score_rows(X, embeddings)
        return shares, np.asarray(vectors, dtype=np.float64)

    def vectors(self, X: csr_matrix, embeddings: Vectors | None) -> Array:
        """With embeddings, where the method uses them."""
        return np.asarray(self.estimator.vectors_of_rows(X, embeddings), dtype=np.float64)

    def evidence(self, X: csr_matrix, topics: Ints, against: Ints) -> csr_matrix:
        """Parts of the difference between two scores, which add up to it."""
        return self.estimator.evidence(X, topics, against)


class BorrowedSpace(FittedMethod):
    """Any other method, beside a space that was learned from the same texts."""

    def score(self, X: csr_matrix, embeddings: Vectors | None) -> tuple[Array, Array]:
        """Memberships made to sum to 1, and vectors in the space."""
        shares = np.maximum(np.asarray(self.estimator.transform(X), dtype=np.float64), 0.0)
        shares[:, ~self.last.open_topics()] = 0.0
        shares[np.diff(X.indptr) == 0] = 0.0  # some methods have a topic for a text without a word
        total = shares.sum(axis=1, keepdims=True)
        shares = np.divide(shares, total, where=total > 0, out=np.zeros_like(shares))
        return shares, self.vectors(X, embeddings)


def fit_method(
    documents: Engine,
    method: Any,
    n_topics: Any,
    random_state: Any,
    *,
    predefined: Predefined | None = None,
    source: Any = None,
    embeddings: Vectors | None = None,
    stop_word_counts: Callable[[npt.NDArray[np.int64]], csr_matrix] | None = None,
    unfolded: Callable[[], csr_matrix],
) -> tuple[FittedMethod, NumberOfTopics | None]:
    """Fit a method, given by name or as an estimator, without reading which text is in which topic.

    Parameters
    ----------
    documents
        Row blocks of distinct texts.
    predefined
        What stands for topics that are known beforehand; they come first, in their order.
    source, embeddings
        Where embeddings of new texts come from, and those of `documents`.
    stop_word_counts
        Gives the counts of the stop words of some documents, by their numbers.
    unfolded
        Gives all texts as one matrix, for pipelines, whose steps know no weights.
    """
    estimator = _unfitted(method, n_topics, random_state, source)
    if getattr(estimator, "has_own_space", False):
        estimator.learn(
            documents, vectors=embeddings, predefined=predefined, stop_word_counts=stop_word_counts
        )
        return OwnSpace.of(estimator), estimator.number_of_topics_
    if predefined is not None:
        raise InputError("predefined topics need the method 'coterie'; omit the topics or the method")
    with one_blas_thread():
        space = _space(documents)
    chosen: NumberOfTopics | None = None
    if _is_auto(n_topics) and isinstance(method, str):
        with one_blas_thread():
            chosen = _number_of_topics(documents, space, random_state)
        estimator = methods.make(method, chosen.n_topics, random_state)
    tell("learning topics", 0)
    if hasattr(estimator, "learn"):
        estimator.learn(_in_memory(documents) if getattr(estimator, "needs_memory", False) else documents)
    else:  # steps of a pipeline need a matrix, and know no weights
        estimator.fit(unfolded())
    return BorrowedSpace(estimator, space), chosen


def _unfitted(method: Any, n_topics: Any, random_state: Any, source: Any) -> Any:
    if isinstance(method, str):
        chosen = methods.find(method)
        own = getattr(chosen.steps[-1].load(), "has_own_space", False)
        estimator = chosen.make(1 if _is_auto(n_topics) and not own else n_topics, random_state)
    elif hasattr(method, "fit") and hasattr(method, "transform"):
        estimator = clone(method)
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if not _is_auto(n_topics):
            last.set_params(n_topics=n_topics)
    else:
        raise InputError(
            f"method must be one of {', '.join(methods.names())} or an estimator, got {shown(method)}"
        )
    if getattr(estimator, "has_own_space", False):
        return estimator.set_params(embeddings=source)
    if source is not None:
        raise InputError(f"embeddings need the method 'coterie', got {method!r}")
    return estimator


def _is_auto(n_topics: Any) -> bool:
    return isinstance(n_topics, str) and n_topics == "auto"


def _in_memory(documents: Engine) -> Engine:
    return documents if documents.in_memory else MemoryEngine(list(documents.map(lambda block: block)))


def _space(documents: Engine) -> Space:
    """A space over all terms; those in one text alone, or in all of them, add nothing."""
    known = terms_that_count(documents)
    inside = documents.mapped(lambda block: Block(block.X[:, known], block.weights, block.start))
    learned = learn_space(inside, _DIMENSIONS)
    weights = np.zeros(documents.n_terms)
    vectors = np.zeros((documents.n_terms, learned.vectors.shape[1]))
    weights[known], vectors[known] = learned.weights, learned.vectors
    return Space(weights, vectors)


def _number_of_topics(documents: Engine, space: Space, random_state: Any) -> NumberOfTopics:
    sample = take_sample(documents, space.words, lambda counts, _: space.text_vectors(counts))
    vectors = sample.gather(lambda block: block.text_vectors)
    return choose_n_topics(vectors, sample.counts(), random_of(random_state))
