"""Base classes of all estimators on documents × terms: checks, canonical order, predictions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie.engines import Engine, as_engine
from coterie.engines.base import Block
from coterie.engines.threads import one_blas_thread
from coterie.errors import InputError, shown
from coterie.linalg.canonical import canonical

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Documents:
    """The documents to learn from: blocks of distinct rows in canonical order.

    `columns[j]` is the input column of column j; `rows[i]` is the distinct row of input row i, −1 for a row
    with weight 0; `rows` is None if the input was an engine.
    """

    engine: Engine
    columns: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64] | None


#: Numbers from here on fit into no index of an array.
_MOST = 1 << 31


class DocumentEstimator(BaseEstimator):
    """Fits documents × terms: a matrix, or an engine whose blocks need not fit into memory.

    A subclass learns in `_learn` from distinct rows in canonical order, so its result cannot depend on the
    order of rows or columns, on duplicates or on threads. Attributes listed in `_by_column` have terms along
    their last axis and are put back into input order.
    """

    _by_column: ClassVar[tuple[str, ...]] = ("components_",)
    _non_negative: ClassVar[bool] = True

    n_features_in_: int

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from documents × terms.

        Parameters
        ----------
        X
            A sparse or dense matrix, or a `coterie.engines.Engine`.
        y
            Ignored.
        sample_weight
            How many texts each row represents.
        """
        documents = self._documents(X, sample_weight)
        with one_blas_thread():
            self._learn(documents.engine, random_of(self.random_state))
            self._restore_columns(documents)
            self._after_fit(X, documents)
        return self

    def learn(self, documents: Engine) -> Self:
        """Learn from row blocks as `fit` does, but leave the topics of the documents unread.

        For a caller who scores every document anyway and hands the sizes of topics to `read_topics`.
        """
        checked = self._documents(documents, None)
        with one_blas_thread():
            self._learn(checked.engine, random_of(self.random_state))
        return self

    def _restore_columns(self, documents: Documents) -> None:
        """Put what was learned in canonical order back into the order of the input."""
        back = np.argsort(documents.columns)
        for name in self._by_column:
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., back]))

    @abstractmethod
    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        """Set the fitted attributes; columns are in the order of `documents`."""

    def _after_fit(self, X: Any, documents: Documents) -> None:
        """Called when the attributes are in input order."""

    def _documents(self, X: Any, sample_weight: npt.ArrayLike | None) -> Documents:
        if isinstance(X, Engine):
            engine = as_engine(X, sample_weight)
            for _ in engine.map(partial(check_block, non_negative=self._non_negative)):
                pass
            self.n_features_in_ = engine.n_terms
            return Documents(engine, np.arange(engine.n_terms), None)
        matrix = self._checked(X, reset=True)
        weights = check_weights(sample_weight, matrix.shape[0])
        used = weights > 0  # a row with weight 0 is ignored
        ordered = canonical(matrix if used.all() else matrix[used], weights[used])
        rows = np.full(len(weights), -1)
        rows[used] = ordered.rows
        return Documents(as_engine(ordered.X, ordered.weights), ordered.columns, rows)

    def _blocks(self, X: Any) -> Engine:
        """Row blocks of new documents."""
        check_is_fitted(self, self._by_column)
        if not isinstance(X, Engine):
            return as_engine(self._checked(X, reset=False))
        if X.n_terms != self.n_features_in_:
            raise InputError(
                f"X has {X.n_terms} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return X

    def _checked(self, X: Any, *, reset: bool) -> csr_matrix:
        """X as a CSR matrix of finite numbers with the fitted columns."""
        if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], str):
            raise InputError(
                f"X must be documents × terms, got texts; use Vectorizer().fit_transform(texts) to get "
                f"counts for {type(self).__name__}"
            )
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_non_negative=self._non_negative,
            reset=reset,
        )
        matrix = csr_matrix(X)
        if not matrix.has_canonical_format:  # do not change the caller's matrix
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._non_negative
        return tags


class DocumentTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocumentEstimator):
    """An estimator that turns each document into a few numbers: `components_` has a row for each of them.

    A subclass provides `_learn` and `_memberships`. The result for a row depends only on the row and the
    fitted model, so a document gets the same result alone, in a batch and in `fit_transform`.
    """

    components_: Array

    @abstractmethod
    def _memberships(self, X: csr_matrix) -> Array:
        """Documents × components for rows with columns as in the input."""

    def transform(self, X: Any) -> Array:
        """Memberships, one row per document."""
        with one_blas_thread():
            return np.concatenate(list(self._accelerated(self._blocks(X)).map(self._block_memberships)))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Array:
        """Fit, then `transform` the same documents."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _accelerated(self, documents: Engine) -> Engine:
        """The documents where `_learn` and `_memberships` can work on them: on a graphics card, if they use
        only products and if the engine has one.
        """
        return documents

    def _block_memberships(self, block: Block) -> Array:
        check_block(block, self._non_negative)
        return self._memberships(block.X)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


class TopicEstimator(ClusterMixin, DocumentTransformer):
    """An estimator with topics: `components_` (topics × terms), and memberships of documents in them.

    A subclass provides `_learn` and `_memberships`, and `_open` if some topics can have no documents.
    """

    labels_: npt.NDArray[np.int64]
    fallback_: int

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The topic with the largest membership of each document; the largest topic if all are 0."""
        with one_blas_thread():
            topics = np.concatenate(list(self._accelerated(self._blocks(X)).map(self._block_topics)))
        return np.where(topics < 0, self.fallback_, topics)

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.int64]:
        """Fit, and return the topic of each document."""
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if not isinstance(X, Engine) else self.predict(X)

    def open_topics(self) -> npt.NDArray[np.bool_]:
        """The topics that documents can be assigned to."""
        return np.ones(len(self.components_), dtype=bool)

    def read_topics(self, documents: Engine, sizes: Array, counts: Array) -> npt.NDArray[np.bool_]:
        """Take over what a pass over the documents found; return which topics are kept.

        Parameters
        ----------
        documents
            The row blocks that `learn` was given.
        sizes
            The weight of the documents in each topic.
        counts
            Topics × terms: how often the documents of each topic use each term.
        """
        self.fallback_ = int(np.argmax(sizes))
        return np.ones(len(sizes), dtype=bool)

    def _block_topics(self, block: Block) -> npt.NDArray[np.int64]:
        """The topic with the largest membership of each document; −1 if all are 0."""
        return self._strongest(self._block_memberships(block))

    def _strongest(self, memberships: Array) -> npt.NDArray[np.int64]:
        closed = ~self.open_topics()
        open_only = np.where(closed, -np.inf, memberships) if closed.any() else memberships
        return np.where(memberships.any(axis=1), open_only.argmax(axis=1), -1)

    def _sizes(self, topics: npt.NDArray[np.int64], weights: Array) -> Array:
        """The weight of the documents of each topic."""
        assigned = topics >= 0
        return np.bincount(topics[assigned], weights[assigned], len(self.components_)).astype(np.float64)

    def _after_fit(self, X: Any, documents: Documents) -> None:
        """Find the largest topic, used for documents without one, and the topic of each document."""
        engine = documents.engine
        if documents.rows is None:  # nothing is kept for each row of an engine
            self.__dict__.pop("labels_", None)
            rows = self._accelerated(engine)
            sizes = rows.sum(lambda block: self._sizes(self._block_topics(block), block.weights))
            self.fallback_ = int(np.argmax(sizes))
            return
        topics = np.concatenate(list(self._blocks(X).map(self._block_topics)))
        # each distinct row once, in canonical order: sums of weights must not depend on the order of X
        number, row = np.unique(documents.rows, return_index=True)
        weights = np.concatenate(list(engine.map(lambda block: block.weights)))
        self.fallback_ = int(np.argmax(self._sizes(topics[row[number >= 0]], weights)))
        self.labels_ = np.where(topics < 0, self.fallback_, topics)


def check_weights(weights: npt.ArrayLike | None, n_rows: int) -> Array:
    """Weights of rows: ones if not given; finite and non-negative."""
    if weights is None:
        return np.ones(n_rows)
    checked = np.asarray(weights, dtype=np.float64)
    if checked.ndim == 0:
        checked = np.full(n_rows, float(checked))
    if checked.shape != (n_rows,):
        raise InputError(
            f"sample_weight must have one number for each of the {n_rows} rows, got shape {checked.shape}"
        )
    if not np.isfinite(checked).all() or (checked < 0).any():
        raise InputError("sample_weight must be finite and non-negative")
    if not checked.any():
        raise InputError("sample_weight must not be zero for every row")
    return checked


def check_block(block: Block, non_negative: bool) -> None:
    """Raise an error if a block has numbers that are not finite, or negative ones where not allowed."""
    values = block.X if isinstance(block.X, np.ndarray) else block.X.data
    if not np.isfinite(values).all():
        raise InputError("X must contain finite numbers, got NaN or infinity in a row block")
    if non_negative and (values < 0).any():
        raise InputError("X must be non-negative, got negative values in a row block")


def random_of(random_state: Any) -> np.random.RandomState:
    """The random numbers of a seed, or of a generator that is given."""
    try:
        return check_random_state(random_state)
    except (ValueError, TypeError):
        raise InputError(
            "random_state must be None, a whole number from 0 to 2**32 - 1 or a RandomState, "
            f"got {shown(random_state)}"
        ) from None


def check_count(name: str, value: Any, owner: object, least: int = 1, also: str = "") -> int:
    """A whole number of at least `least`, which must fit into an index; the caller takes `also` too."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or not least <= value < _MOST:
        kind = f"{f'{also!r} or ' if also else ''}a whole number of at least {least}" + (
            f" and below {_MOST}" if whole and value >= least else ""
        )
        raise InputError(
            f"The parameter {name!r} of {type(owner).__name__} must be {kind}, got {shown(value)}"
        )
    return int(value)


def check_amount(name: str, value: Any, owner: object, least: float = 0.0) -> float:
    """A finite number of at least `least`."""
    number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not number or not least <= value < np.inf:
        kind = f"a finite number of at least {least:g}"
        raise InputError(
            f"The parameter {name!r} of {type(owner).__name__} must be {kind}, got {shown(value)}"
        )
    return float(value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...], owner: object) -> None:
    """One of a few values."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise InputError(
            f"The parameter {name!r} of {type(owner).__name__} must be one of {listed}, got {shown(value)}"
        )


def check_positive(name: str, value: Any, owner: object) -> float:
    """A finite number above 0."""
    if check_amount(name, value, owner) == 0:
        raise InputError(f"The parameter {name!r} of {type(owner).__name__} must be above 0, got {value!r}")
    return float(value)
