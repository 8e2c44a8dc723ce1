"""Search in the fitted texts. Every way to score them is a sum over the terms of a text.

What a term adds to a score is how much of it the text has, times how much it says for the query. So every
answer can tell through which words a text was found: words of the query, and related ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines import Block, Engine
from coterie.engines.base import csr_view
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError
from coterie.estimator import check_choice, check_count
from coterie.linalg.rows import inverse_lengths, unit_dense
from coterie.results import Found, Related, Similar
from coterie.semantics import Gram, TermGram
from coterie.topics.answers import topic_ids
from coterie.topics.collection import Collection, counts_of, without_columns
from coterie.topics.related import Terms
from coterie.weights import document_frequency, idf

if TYPE_CHECKING:
    from coterie.topics.model import TopicModel

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]

#: Parameters of BM25, as most search engines have them.
_SATURATION, _LENGTH = 1.2, 0.75
#: Related words that an answer names, and the least part of the strongest word's that one must add.
_NAMED, _WORTH_SAYING = 3, 0.15
#: Decimals that count: products with a batch of texts round differently from products with one.
_DECIMALS = 9
#: A score of less than this part of the best one is rounding: vectors are learned in single precision.
_NOISE = 1e-6


@dataclass(frozen=True)
class Counted:
    """What ways to score are made from: the model, its texts in row blocks, and how many hold each term."""

    model: TopicModel
    documents: Engine
    n_texts: float
    n_holding: Array

    @classmethod
    def of(cls, model: TopicModel, collection: Collection) -> Counted:
        """The texts of a model, without banned terms."""
        documents = collection.engine(model.state.edited.scorer.banned)
        n_texts = documents.sum(lambda block: float(block.weights.sum()))
        return cls(model, documents, n_texts, document_frequency(documents))


class Way(ABC):
    """A way to score texts for a query, which is a row of counts."""

    @abstractmethod
    def __init__(self, counted: Counted):
        """Read from the texts what the way needs."""

    @abstractmethod
    def amounts(self, X: csr_matrix) -> csr_matrix:
        """How much of each term a text has: a matrix as sparse as X."""

    @abstractmethod
    def pull(self, query: csr_matrix) -> Array:
        """How much each term of the vocabulary says for a query."""

    @abstractmethod
    def links(self, query: csr_matrix, terms: Ints) -> Array:
        """The same for some terms, divided among the terms of the query: query terms × terms."""


class _ByWords(Way):
    """A way in which only the terms of the query itself count."""

    def links(self, query: csr_matrix, terms: Ints) -> Array:
        same = query.indices[:, None] == np.asarray(terms)[None, :]
        return np.where(same, self.pull(query)[terms], 0.0)


class BM25(_ByWords):
    """BM25: rare terms count more, repeated ones less each time, and terms of a long text less."""

    def __init__(self, counted: Counted):
        n_texts, holding = counted.n_texts, counted.n_holding
        self._idf = np.log1p((n_texts - holding + 0.5) / (holding + 0.5))
        total = counted.documents.sum(lambda block: float(block.weights @ _row_sums(block.X)))
        self._mean_length = max(total / max(n_texts, 1.0), 1e-12)

    def amounts(self, X: csr_matrix) -> csr_matrix:
        """Counts that level off, sooner in a long text."""
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * _row_sums(X) / self._mean_length)
        below = X.data + np.repeat(norm, np.diff(X.indptr))
        return csr_view(X.data * (_SATURATION + 1) / below, X.indices, X.indptr, X.shape)

    def pull(self, query: csr_matrix) -> Array:
        """The idf of each term of the query, as often as it is there."""
        pull = np.zeros(query.shape[1])
        pull[query.indices] = query.data * self._idf[query.indices]
        return pull


class TfIdf(_ByWords):
    """The cosine of counts weighted by idf."""

    def __init__(self, counted: Counted):
        self._idf = idf(counted.documents)

    def amounts(self, X: csr_matrix) -> csr_matrix:
        """Weighted counts, rows of unit length."""
        weighted = csr_view(X.data * self._idf[X.indices], X.indices, X.indptr, X.shape)
        return _scaled(weighted, inverse_lengths(weighted))

    def pull(self, query: csr_matrix) -> Array:
        """The query as a row of unit length."""
        return np.asarray(self.amounts(query).toarray()[0], dtype=np.float64)


class Kernel(TfIdf):
    """The term kernel xᵀGy between texts x and y weighted by idf (`coterie.semantics.TermGram`)."""

    kind: Gram = "cov"

    def __init__(self, counted: Counted):
        super().__init__(counted)
        weighted = counted.documents.mapped(lambda block: replace(block, X=self.amounts(block.X)))
        self._gram = TermGram.of(weighted, self.kind)

    def pull(self, query: csr_matrix) -> Array:
        """``G·x``."""
        return self._gram @ super().pull(query)

    def links(self, query: csr_matrix, terms: Ints) -> Array:
        """``x_i G_ij`` for terms i of the query and some terms j."""
        own = TfIdf.pull(self, query)[query.indices]
        return own[:, None] * self._gram.columns(terms)[query.indices]


class Vectors(Way):
    """The cosine between vectors of texts, in which words that co-occur with the same words are near."""

    def __init__(self, counted: Counted):
        self._vectors = np.asarray(counted.model.state.edited.scorer.method.space.vectors, dtype=np.float64)

    def amounts(self, X: csr_matrix) -> csr_matrix:
        """Counts over the length of the vector."""
        return _scaled(X, inverse_lengths(X @ self._vectors))

    def pull(self, query: csr_matrix) -> Array:
        """How far each term goes in the direction of the query."""
        return np.asarray(self._vectors @ unit_dense(query @ self._vectors)[0])

    def links(self, query: csr_matrix, terms: Ints) -> Array:
        """Products of the vectors of two terms."""
        scale = inverse_lengths(query @ self._vectors)[0] * query.data
        return scale[:, None] * (self._vectors[query.indices] @ self._vectors[terms].T)


class Meaning(Way):
    """Search by meaning as on the live page: terms of the query, and those that are used like them."""

    def __init__(self, counted: Counted):
        self._terms = Terms(counted.model)

    def amounts(self, X: csr_matrix) -> csr_matrix:
        """Whether a text holds each term."""
        return csr_view(np.ones_like(X.data), X.indices, X.indptr, X.shape)

    def pull(self, query: csr_matrix) -> Array:
        """What each term is worth; a text with all terms of the query is worth 1 or more."""
        meaning, pull = self._terms.meaning(query.indices), np.zeros(query.shape[1])
        for column, worth in meaning.worth.items():
            pull[column] = worth / meaning.best
        return pull

    def links(self, query: csr_matrix, terms: Ints) -> Array:
        """A related term belongs to the term of the query that it is nearest to."""
        meaning, pull = self._terms.meaning(query.indices), self.pull(query)
        source = {column: column for column in meaning.known}
        source |= {near.term: near.source for near in meaning.related}
        from_term = np.array([source.get(int(term), -1) for term in terms], dtype=np.int64)
        return np.where(query.indices[:, None] == from_term[None, :], pull[terms], 0.0)


#: The ways that can be asked for; docs/uses.md says why the first is the default.
WAYS: dict[str, Callable[[Counted], Way]] = {
    "vectors": Vectors,
    "meaning": Meaning,
    "kernel": Kernel,
    "bm25": BM25,
    "tf-idf": TfIdf,
}
DEFAULT = "vectors"


class Search:
    """The fitted texts of a model, to be searched with many queries."""

    def __init__(self, model: TopicModel, collection: Collection, by: str = DEFAULT):
        check_choice("by", by, tuple(WAYS), model)
        self._model, self._collection = model, collection
        counted = Counted.of(model, collection)
        self._documents, self._way = counted.documents, WAYS[by](counted)

    def scores(self, queries: csr_matrix) -> Array:
        """Distinct texts × queries, which are rows of counts."""
        pull = np.stack([self._way.pull(query) for query in queries], axis=1)
        with one_blas_thread():
            parts = self._documents.map(lambda block: self._way.amounts(block.X) @ pull)
            return np.round(np.concatenate(list(parts)), _DECIMALS)

    def added(self, query: csr_matrix, X: csr_matrix) -> csr_matrix:
        """What each term of some texts adds to their scores: as sparse as X, rows add up to the scores."""
        said = self._way.amounts(X).data * self._way.pull(query)[X.indices]
        return csr_view(np.round(said, _DECIMALS), X.indices, X.indptr, X.shape)

    def best(self, query: csr_matrix, top: int) -> list[Found]:
        """The texts with the highest scores, all above 0; of equals the one that came first."""
        if not query.nnz:
            return []
        scores = self.scores(query)[:, 0]
        best = np.argsort(-scores, kind="stable")[:top]
        best = best[scores[best] > _NOISE * max(scores[best[0]], 0.0)]
        if not len(best):
            return []
        order = np.argsort(best)
        X = counts_of(self._documents, best[order])[np.argsort(order)]
        numbers, texts, topics = _texts_of(self._model, self._collection, best)
        copies = np.bincount(self._collection.corpus.rows, minlength=len(scores))[best]
        return [
            Found(number, texts[number], int(topic), float(scores[row]), *linked, copies=int(copied))
            for number, topic, row, copied, linked in zip(
                numbers.tolist(), topics, best, copies, self._linked(query, X), strict=True
            )
        ]

    def _linked(self, query: csr_matrix, X: csr_matrix) -> list[tuple[tuple[str, ...], tuple[Related, ...]]]:
        """For each row of X the words of the query that it holds, and the related words that add most."""
        terms, at = np.unique(X.indices, return_inverse=True)
        links = np.round(self._way.links(query, terms), _DECIMALS)
        source, added = query.indices[np.argmax(links, axis=0)][at], self.added(query, X).data
        names = self._model.vectorizer_.vocabulary_.display
        linked = []
        for begin, end in pairwise(X.indptr):
            held, says, origin = X.indices[begin:end], added[begin:end], source[begin:end]
            words = tuple(names[term] for term in query.indices[np.isin(query.indices, held)])
            least = max(_WORTH_SAYING * says.max(), 10.0**-_DECIMALS)
            others = np.flatnonzero((says >= least) & ~np.isin(held, query.indices))
            others = others[np.argsort(-says[others], kind="stable")][:_NAMED]
            related = [Related(names[held[i]], float(says[i]), (names[origin[i]],)) for i in others]
            linked.append((words, tuple(related)))
        return linked


def search(model: TopicModel, collection: Collection, query: str, top: int, by: str) -> list[Found]:
    """What `TopicModel.search` answers."""
    check_count("top", top, model)
    return Search(model, collection, by).best(query_counts(model, query), top)


def expand(model: TopicModel, text: str, top: int) -> list[Related]:
    """What `TopicModel.expand` answers."""
    check_count("top", top, model)
    names = model.vectorizer_.vocabulary_.display
    return [
        Related(names[one.term], one.weight, tuple(names[source] for source in one.sources))
        for one in Terms(model).added(query_counts(model, text), top)
    ]


def query_counts(model: TopicModel, text: str) -> csr_matrix:
    """The known terms of one text, without those that are banned: one row."""
    if not isinstance(text, str):
        raise InputError(f"text must be a string, got {type(text).__name__}")
    counts = model.vectorizer_.counts_and_typos([text])[0]
    counts.sort_indices()
    return without_columns(counts, model.state.edited.scorer.banned)


def similar(model: TopicModel, collection: Collection, text: str, top: int, embeddings: Any) -> list[Similar]:
    """What `TopicModel.similar` answers: the nearest vectors, those of embeddings included."""
    if not isinstance(text, str):
        raise InputError(f"text must be a string, got {type(text).__name__}")
    check_count("top", top, model)
    wanted, scorer = model.embed([text], embeddings=embeddings)[0], model.state.edited.scorer

    def nearest(block: Block) -> tuple[Ints, Array]:
        rows = slice(block.start, block.start + block.X.shape[0])
        own = None if collection.embeddings is None else collection.embeddings[rows]
        near = np.round(scorer.score(block.X, own).vectors @ wanted, _DECIMALS)
        best = np.argsort(-near, kind="stable")[:top]
        return best + block.start, near[best]

    with one_blas_thread():
        parts = list(collection.corpus.engine.map(nearest))
    rows, near = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    best = np.argsort(-near, kind="stable")[:top]
    best = best[near[best] > 0]
    numbers, texts, topics = _texts_of(model, collection, rows[best])
    return [
        Similar(number, texts[number], int(topic), float(cosine))
        for number, topic, cosine in zip(numbers.tolist(), topics, near[best], strict=True)
    ]


def _texts_of(model: TopicModel, collection: Collection, rows: Ints) -> tuple[Ints, dict[int, str], Ints]:
    """Numbers, texts by number, and ids of the topics of some distinct rows."""
    assert model.state.scores is not None
    numbers = collection.first[rows]
    return numbers, collection.texts.at(numbers), topic_ids(model)[model.state.scores.topic[rows]]


def _row_sums(X: csr_matrix) -> Array:
    return np.asarray(X @ np.ones(X.shape[1]))


def _scaled(X: csr_matrix, scale: npt.NDArray[np.floating[Any]]) -> csr_matrix:
    """Rows times a number each, terms in the order of X."""
    return csr_view(X.data * np.repeat(scale, np.diff(X.indptr)), X.indices, X.indptr, X.shape)
