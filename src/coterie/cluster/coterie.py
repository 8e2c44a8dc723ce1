"""Coterie, the default method: word co-occurrence, text vectors, k-means, and a checked refinement."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags

from coterie.cluster.beginning import Beginning
from coterie.cluster.fusion import View
from coterie.cluster.judging import Embeddings
from coterie.cluster.leave_one_out import Coefficients
from coterie.cluster.n_topics import NumberOfTopics, choose_n_topics
from coterie.cluster.predefined import FREE, Predefined
from coterie.cluster.refining import CountsOfRows, best_of, decision, find_topics, representations
from coterie.cluster.space import Space, learn_space, terms_that_count
from coterie.cluster.texts import MOST_TEXTS, Floats, Ints, Sample, terms_of_sample, with_columns
from coterie.cluster.wording import term_counts, topic_words
from coterie.embeddings import Vectors, embeddings_of_rows, own_array
from coterie.engines import Block, Engine
from coterie.engines.base import csr_view
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError
from coterie.estimator import (
    Array,
    Documents,
    TopicEstimator,
    check_block,
    check_choice,
    check_count,
    random_of,
)
from coterie.linalg.rows import inverse_lengths
from coterie.linalg.spherical import spherical_kmeans
from coterie.progress import tell

#: Sweeps of k-means go on until one adds less than this share: starts that stop early look alike.
_TOLERANCE = 1e-6
#: Below this number of texts there are more starts, up to so many times as many: they cost little there, and
#: the best of few starts is a matter of luck.
_MANY_TEXTS, _MORE_STARTS = 20_000, 5


class Coterie(TopicEstimator):
    """Topics of short texts from the co-occurrence of words.

    1. A term is represented by itself and by what it co-occurs with (PPMI); a text by the sum of its
       idf-weighted terms, projected on the leading vectors of all texts (`coterie.cluster.space`).
    2. Spherical k-means over the vectors, the best of `restarts` starts.
    3. Refinement, twice: a mixture in which the words of a text and its vector both count
       (`coterie.cluster.mixture`), then a linear classifier that puts each text where a fit without it would
       (`coterie.cluster.leave_one_out`).
    4. A new text goes through the same projection and the same classifier as those that were fitted, so it
       gets the same answer alone, in a batch and in `fit`.

    Nothing dense of size terms × terms or texts × texts is formed. Of a large collection the terms are
    learned from all texts and the clusters from a sample of about 131,000.

    Parameters
    ----------
    n_topics
        Number of topics, or "auto": estimated by how well halves of the texts agree (`number_of_topics_`).
    dimensions
        Number of dimensions of the vectors.
    restarts
        Restarts of k-means; the one with the best objective is used. Up to five times as many if there are
        few texts.
    refine
        "auto" refines, but undoes it where evidence on texts left out speaks against the refined topics: the
        embeddings, the stop words, or the words themselves. With `embeddings` it also tries two weights for
        them. True always keeps the refined topics, False stops after k-means.
    embeddings
        Optional embeddings of the texts: an array with a row for each row of X, a function of texts, an
        object with `encode`, or "static" for the small model of the extra ``coterie[words]``. All but the
        array need ``fit(X, texts=…)``. Their weight is chosen by evidence (`share_`).
    random_state
        Seed of the random number generator. The default gives the same topics every time.

    Attributes
    ----------
    components_
        Topics × terms: how likely a word of a topic is each term.
    topic_terms_
        Topics × columns of X, up to 40: distinctive terms that co-occur with each other, the best first.
    labels_
        The topic of each row; absent if an engine was fitted.
    n_topics_
        Number of topics; fewer than requested if some have no texts.
    number_of_topics_
        How the number of topics was chosen, or None if it was given.
    refined_
        Whether the topics are the refined ones.
    share_
        The weight of `embeddings` relative to co-occurrence, from 0 to 0.85; 0 without them.
    decision_
        A sentence about what was chosen and why; empty if there was nothing to choose.
    n_predefined_
        Number of predefined topics given to `fit`; they are topics 0, 1, … in their order.

    >>> X = np.array([[2, 1, 0, 0], [1, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 3], [0, 0, 2, 1], [0, 0, 1, 1]])
    >>> model = Coterie(n_topics=2).fit(X)
    >>> model.labels_[:3].tolist() == [model.labels_[0]] * 3
    True
    >>> bool(model.labels_[0] != model.labels_[5])
    True
    """

    #: Whether texts are vectors in a space of the method's own, which chooses the number of topics by itself
    #: and takes embeddings and predefined topics.
    has_own_space: ClassVar[bool] = True
    _by_column = ("components_", "term_weights_", "term_vectors_", "coefficients_", "term_shares_")

    term_weights_: Array
    term_vectors_: Array
    coefficients_: Array
    axis_coefficients_: Array
    term_shares_: Array
    topic_terms_: Ints
    sizes_: Array
    sharpness_: float
    refined_: bool
    decision_: str = ""
    n_topics_: int
    number_of_topics_: NumberOfTopics | None
    n_predefined_: int = 0
    view_: View | None

    def __init__(
        self,
        n_topics: int | Literal["auto"] = "auto",
        *,
        dimensions: int = 100,
        restarts: int = 10,
        refine: bool | Literal["auto"] = "auto",
        embeddings: Any = None,
        random_state: Any = 0,
    ):
        self.n_topics = n_topics
        self.dimensions = dimensions
        self.restarts = restarts
        self.refine = refine
        self.embeddings = embeddings
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        texts: Sequence[str] | None = None,
        predefined: Predefined | None = None,
        stop_word_counts: csr_matrix | None = None,
    ) -> Self:
        """Learn from documents × terms.

        Parameters
        ----------
        X
            A sparse or dense matrix, or a `coterie.engines.Engine`.
        y
            Ignored.
        sample_weight
            How many texts each row stands for.
        texts
            One a row, where `embeddings` are made of them.
        predefined
            Topics to look for, by their words or texts about them (`coterie.cluster.predefined`). Each is a
            topic of the model, even one that no row goes to. If `n_topics` is their number, there are no
            others.
        stop_word_counts
            Counts of the words that X leaves out, a row for each row of X (`Vectorizer.stop_word_counts`).
            Topics are found without them, so they can tell whether the refinement went wrong.
        """
        vectors = None if self.embeddings is None else embeddings_of_rows(self.embeddings, X, texts)
        documents = self._documents(X, sample_weight)
        engine, folded = documents.engine, _folded(vectors, documents)
        aside = None
        if stop_word_counts is not None:
            aside = _folded(_checked_counts(stop_word_counts, X), documents)
        with one_blas_thread():
            self._learn(
                engine,
                random_of(self.random_state),
                folded,
                None if predefined is None else predefined.of_terms(documents.columns),
                None if aside is None else lambda rows: aside[rows],
            )
            n_topics = len(self.coefficients_)

            def read(block: Block) -> tuple[Array, Array]:
                topics = self._strongest(self.score_rows(block.X, _rows(folded, block))[0])
                return self._sizes(topics, block.weights), term_counts(block, topics, n_topics).toarray()

            self.read_topics(engine, *engine.sum(read))
        self.topic_terms_ = documents.columns[self.topic_terms_]
        self._restore_columns(documents)
        self.__dict__.pop("labels_", None)
        if documents.rows is not None:  # nothing is kept for each row of an engine
            self.labels_ = self.predict(X, embeddings=vectors)
        return self

    def learn(
        self,
        documents: Engine,
        *,
        vectors: Vectors | None = None,
        predefined: Predefined | None = None,
        stop_word_counts: CountsOfRows | None = None,
    ) -> Self:
        """Learn from row blocks as `fit` does, but leave the topics of the documents unread.

        Parameters
        ----------
        documents
            Row blocks of distinct documents.
        vectors
            Embeddings of the documents, a row for each.
        predefined
            As in `fit`.
        stop_word_counts
            A function that gives the counts of some rows, by their numbers.
        """
        engine = self._documents(documents, None).engine
        with one_blas_thread():
            self._learn(engine, random_of(self.random_state), vectors, predefined, stop_word_counts)
        return self

    def score_rows(self, X: csr_matrix, vectors: Vectors | None = None) -> tuple[Array, Floats]:
        """Memberships of documents in topics, and their vectors: one look at the terms gives both.

        `vectors` are the embeddings of the documents, for a model that was fitted with them. Rows of
        memberships sum to 1; they are zero for a document of which nothing is known, neither a term nor an
        embedding.
        """
        words, text_vectors = self._space().words(X), self.vectors_of_rows(X, vectors)
        scores = words @ self.coefficients_.T + text_vectors @ self.axis_coefficients_.T
        scores[:, ~self.open_topics()] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        shares: Array = np.exp(self.sharpness_ * scores)
        shares /= shares.sum(axis=1, keepdims=True)
        without_words = np.bincount(words.nonzero()[0], minlength=words.shape[0]) == 0
        shares[without_words & ~text_vectors.any(axis=1)] = 0.0
        return shares, text_vectors

    def vectors_of_rows(self, X: csr_matrix, vectors: Vectors | None = None) -> Floats:
        """Vectors of documents, as `score_rows` has them."""
        text_vectors = self._space().text_vectors(X)
        if self.view_ is None:
            return text_vectors
        assert vectors is not None
        return self.view_.fused(text_vectors, vectors)

    def _space(self) -> Space:
        return Space(self.term_weights_, self.term_vectors_.T)

    def read_topics(self, documents: Engine, sizes: Array, counts: Array) -> npt.NDArray[np.bool_]:
        """Describe topics by the terms of their documents, and forget new ones that no document went to."""
        used = np.asarray(counts.any(axis=1))
        used[: self.n_predefined_] = True
        used[0] |= not used.any()
        # with the weights of a term side by side: products would copy them on each call otherwise
        self.coefficients_ = np.asfortranarray(self.coefficients_[used])
        self.axis_coefficients_ = self.axis_coefficients_[used]
        self.sizes_, self.n_topics_ = self.sizes_[used], int(used.sum())
        terms = counts[used]
        self.fallback_ = int(np.argmax(sizes[used]))
        self.term_shares_ = terms.sum(axis=0) / max(terms.sum(), 1e-300)
        self.components_ = terms / np.maximum(terms.sum(axis=1, keepdims=True), 1e-300)
        self.topic_terms_ = topic_words(documents, self.components_, self.term_shares_)
        return used

    def predict(
        self, X: Any, *, texts: Sequence[str] | None = None, embeddings: npt.ArrayLike | None = None
    ) -> Ints:
        """The topic of each document; the largest topic for one without a known word.

        A model with `embeddings` needs the `texts`, or their `embeddings`, here too.
        """
        topics = np.concatenate([self._strongest(shares) for shares, _ in self._scored(X, texts, embeddings)])
        return np.where(topics < 0, self.fallback_, topics)

    def transform(
        self, X: Any, *, texts: Sequence[str] | None = None, embeddings: npt.ArrayLike | None = None
    ) -> Array:
        """How much of each document is in each topic, rows that sum to 1; zeros without a known word."""
        return np.concatenate([shares for shares, _ in self._scored(X, texts, embeddings)])

    def embed(
        self, X: Any, *, texts: Sequence[str] | None = None, embeddings: npt.ArrayLike | None = None
    ) -> Array:
        """Documents × dimensions, rows of unit length: close where words co-occur with the same words."""
        return np.concatenate([vectors for _, vectors in self._scored(X, texts, embeddings)])

    def evidence(self, X: Any, topics: Ints, against: Ints) -> csr_matrix:
        """What each term of a document says for one topic and against another: a matrix as sparse as X.

        Rows add up to the difference of the two scores, less what `embeddings` say.
        """
        counts = self._checked(X, reset=False)
        used = np.unique(counts.indices)
        at = np.searchsorted(used, counts.indices)
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        words = counts.data * self.term_weights_[counts.indices]
        by_word = self.coefficients_[:, used]
        by_direction = self.axis_coefficients_[:, : len(self.term_vectors_)] @ self.term_vectors_[:, used]
        own = 1.0 if self.view_ is None else np.sqrt(1.0 - self.view_.share)
        image = counts @ self.term_vectors_.T
        words_scale = inverse_lengths(csr_view(words, counts.indices, counts.indptr, counts.shape))
        axes_scale = own * inverse_lengths(image)
        one, other = topics[row], against[row]
        said = words_scale[row] * words * (by_word[one, at] - by_word[other, at])
        said += axes_scale[row] * counts.data * (by_direction[one, at] - by_direction[other, at])
        return csr_view(said, counts.indices, counts.indptr, counts.shape)

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        texts: Sequence[str] | None = None,
        stop_word_counts: csr_matrix | None = None,
    ) -> Array:
        """Fit, then `transform` the same documents."""
        self.fit(X, sample_weight=sample_weight, texts=texts, stop_word_counts=stop_word_counts)
        return self.transform(X, texts=texts, embeddings=own_array(self.embeddings))

    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        texts: Sequence[str] | None = None,
        stop_word_counts: csr_matrix | None = None,
    ) -> Ints:
        """Fit, and return the topic of each document."""
        self.fit(X, sample_weight=sample_weight, texts=texts, stop_word_counts=stop_word_counts)
        if not isinstance(X, Engine):
            return self.labels_
        return self.predict(X, texts=texts, embeddings=own_array(self.embeddings))

    @property
    def share_(self) -> float:
        """How much `embeddings` say beside co-occurrence."""
        return 0.0 if self.view_ is None else self.view_.share

    def _learn(
        self,
        documents: Engine,
        random: np.random.RandomState,
        vectors: Vectors | None = None,
        predefined: Predefined | None = None,
        aside: CountsOfRows | None = None,
    ) -> None:
        dimensions = check_count("dimensions", self.dimensions, self)
        restarts = check_count("restarts", self.restarts, self)
        check_choice("refine", self.refine, ("auto", True, False), self)
        if not isinstance(self.n_topics, str) or self.n_topics != "auto":
            check_count("n_topics", self.n_topics, self, also="auto")
        tell("counting co-occurrence", 0)
        known = terms_that_count(documents)
        inside = documents if len(known) == documents.n_terms else with_columns(documents, known)
        space = learn_space(inside, dimensions)
        # clusters are learned from a sample: a number for each topic and for each term that the sample does
        # not contain would only take memory
        terms, seen = known, space
        if inside.n_rows > MOST_TEXTS:
            there = terms_of_sample(inside)
            if predefined is not None:
                there |= predefined.of_terms(known).terms()
            some = np.flatnonzero(there)
            terms, inside = known[some], with_columns(inside, some)
            seen = Space(space.weights[some], space.vectors[some])
        views = representations(inside, seen, dimensions, vectors, aside, judged=self.refine == "auto")
        texts = views[0].texts
        self.n_predefined_ = 0 if predefined is None else predefined.n_topics
        n_topics = self._number_of_topics(texts, random)
        starts = restarts * int(np.clip(_MANY_TEXTS // max(texts.n_rows, 1), 1, _MORE_STARTS))
        settings: dict[str, Any] = {"n_init": starts, "tol": _TOLERANCE}
        known_topics = None if predefined is None else predefined.of_terms(terms)
        found = []
        for view in views:
            tell("clustering", 0)
            if known_topics is None:
                centers = spherical_kmeans(view.texts.as_engine(), n_topics, random, **settings).centers
                found.append(find_topics(view, centers, np.full(texts.n_rows, FREE), self.refine))
            else:
                begun = Beginning.of(known_topics, view, seen, n_topics, random, settings)
                found.append(begun.spread(find_topics(view, begun.centers, begun.topics, self.refine, True)))
        best = found[0]
        if len(found) > 1 and (judge := views[0].judge) and isinstance(judge.witness, Embeddings):
            best = best_of(found, judge.witness.trust(judge, n_topics, random))
        self.view_, self.refined_, self.sharpness_ = best.view, best.refined, best.sharpness
        self.decision_ = decision(found, best, vectors is not None)
        self._keep(documents.n_terms, known, space, terms, best.coefficients)

    def _number_of_topics(self, texts: Sample, random: np.random.RandomState) -> int:
        self.number_of_topics_, fewest = None, self.n_predefined_
        if self.n_topics != "auto":
            if int(self.n_topics) < fewest:
                raise InputError(
                    f"n_topics must be at least {fewest}, as many as predefined; got {self.n_topics}"
                )
            with_words = texts.sum(lambda block: int((block.weights > 0).sum()))
            # who asks for new topics gets one, however few texts there are
            return max(min(int(self.n_topics), with_words), fewest + (int(self.n_topics) > fewest))
        text_vectors = texts.gather(lambda block: block.text_vectors)
        self.number_of_topics_ = estimate = choose_n_topics(text_vectors, texts.counts(), random)
        if not estimate.structured and estimate.peaks and not fewest:
            plausible = " or ".join(map(str, estimate.peaks))
            warnings.warn(
                "The texts show no more structure than shuffled texts, so there is one topic. "
                f"Set the number of topics to get more; the most plausible is {plausible}.",
                stacklevel=4,
            )
        return max(estimate.n_topics, fewest)

    def _keep(
        self, n_terms: int, known: Ints, space: Space, sampled: Ints, coefficients: Coefficients
    ) -> None:
        """Set what was learned, over all terms: the space of `known` ones, coefficients of `sampled` ones."""

        def spread(rows: Floats, columns: Ints) -> Array:
            everywhere = np.zeros((*rows.shape[:-1], n_terms), order="F")
            everywhere[..., columns] = rows
            return everywhere

        self.term_weights_ = spread(space.weights, known)
        self.term_vectors_ = spread(space.vectors.T, known)
        self.coefficients_ = spread(coefficients.terms.T, sampled)
        self.axis_coefficients_ = np.ascontiguousarray(coefficients.axes.T, dtype=np.float64)
        self.sizes_ = np.asarray(coefficients.base, dtype=np.float64)
        self.components_ = self.coefficients_  # its number of rows is asked for before it is known

    def _scored(self, X: Any, texts: Any, embeddings: Any) -> Iterator[tuple[Array, Floats]]:
        """Memberships and vectors of documents, block by block."""
        engine = self._blocks(X)
        vectors: Vectors | None = None
        if self.view_ is not None:
            vectors = embeddings_of_rows(self.embeddings, engine, texts, embeddings, fitted=True)
            width = len(self.view_.mean)
            if vectors.shape[1] != width:
                raise InputError(f"embeddings must have {width} columns as in fit, got {vectors.shape[1]}")

        def score(block: Block) -> tuple[Array, Floats]:
            check_block(block, self._non_negative)
            return self.score_rows(block.X, _rows(vectors, block))

        with one_blas_thread():
            yield from engine.map(score)

    def _memberships(self, X: csr_matrix) -> Array:
        return self.score_rows(X)[0]

    def check_shapes(self, n_terms: int) -> None:
        """Whether arrays that were loaded fit each other: a product must not be the first to find out."""
        n_topics, width = len(self.components_), len(self.term_vectors_)
        if self.view_ is not None:
            self.view_.check()
            width += self.view_.axes.shape[1]
        shapes = {
            "term_weights_": (n_terms,),
            "term_shares_": (n_terms,),
            "term_vectors_": (len(self.term_vectors_), n_terms),
            "coefficients_": (n_topics, n_terms),
            "components_": (n_topics, n_terms),
            "axis_coefficients_": (n_topics, width),
            "sizes_": (n_topics,),
        }
        sound = {name: np.shape(getattr(self, name)) == shape for name, shape in shapes.items()}
        sound |= {name: bool(np.isfinite(getattr(self, name)).all()) for name, fits in sound.items() if fits}
        sound["sharpness_"] = isinstance(self.sharpness_, float) and 0 < self.sharpness_ < 1e6
        sound["n_features_in_"] = self.n_features_in_ == n_terms
        sound["sizes_"] = sound["sizes_"] and bool((self.sizes_ >= 0).all())
        for name, fits in sound.items():
            if not fits:
                raise InputError(f"{name} does not fit the model")

    def open_topics(self) -> npt.NDArray[np.bool_]:
        """The topics that some document belongs to."""
        return np.asarray(self.sizes_ > 0) if self.sizes_.any() else np.ones(len(self.sizes_), dtype=bool)


def _rows(vectors: Vectors | None, block: Block) -> Vectors | None:
    """The rows of a block."""
    return None if vectors is None else vectors[block.start : block.start + block.X.shape[0]]


def _folded(vectors: Any, documents: Documents) -> Any:
    """Embeddings or counts of distinct rows: documents that fold share the mean of theirs."""
    if vectors is None or documents.rows is None:
        return vectors
    there = documents.rows >= 0
    n_rows, rows = documents.engine.n_rows, documents.rows[there]
    mean = csr_matrix((np.ones(len(rows)), (rows, np.arange(len(rows)))), (n_rows, len(rows)))
    copies = np.maximum(np.bincount(rows, minlength=n_rows), 1)
    return diags(1.0 / copies) @ (mean @ vectors[there])


def _checked_counts(counts: Any, X: Any) -> csr_matrix:
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if getattr(counts, "shape", (-1,))[0] != n_rows:
        raise InputError(f"stop_word_counts must be a matrix with one row for each of the {n_rows} rows of X")
    return csr_matrix(counts)
