"""What all estimators on documents × terms share: checks, canonical order, folding, topics of new rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie.canonical import canonical
from coterie.engines import Engine, as_engine
from coterie.engines.base import Block
from coterie.errors import InputError

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Documents:
    """The documents to learn from: blocks of distinct rows in canonical order.

    `columns[j]` is the input column behind column j; `rows[i]` the distinct row that row i of the input
    became, or None where an engine was given.
    """

    engine: Engine
    columns: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64] | None


class DocumentEstimator(BaseEstimator):
    """Fits documents × terms: a matrix, or an engine whose blocks need not fit into memory.

    A subclass learns in `_learn` from rows that are folded and in canonical order, so its result cannot
    depend on the order of rows or columns, on duplicates or on threads. Attributes it names in
    `_by_column` hold terms along their last axis and are put back into the order of the input.
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
            How many texts each row stands for.
        """
        documents = self._documents(X, sample_weight)
        self._learn(documents.engine, check_random_state(self.random_state))
        back = np.argsort(documents.columns)
        for name in self._by_column:
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[..., back]))
        self._after_fit(X, documents)
        return self

    @abstractmethod
    def _learn(self, documents: Engine, random: np.random.RandomState) -> None:
        """Set the fitted attributes; columns are in the order of `documents`."""

    def _after_fit(self, X: Any, documents: Documents) -> None:
        """What is left to do once attributes are in the order of the input."""

    def _documents(self, X: Any, sample_weight: npt.ArrayLike | None) -> Documents:
        if isinstance(X, Engine):
            self.n_features_in_ = X.n_terms
            return Documents(as_engine(X, sample_weight), np.arange(X.n_terms), None)
        matrix = self._checked(X, reset=True)
        weights = check_weights(sample_weight, matrix.shape[0])
        found = canonical(matrix, weights)
        kept = found.weights > 0  # a row of weight 0 is not there
        engine = as_engine(found.X[kept] if not kept.all() else found.X, found.weights[kept])
        return Documents(engine, found.columns, found.rows)

    def _checked(self, X: Any, *, reset: bool) -> csr_matrix:
        """X as a CSR matrix of finite numbers with the columns that were fitted."""
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_non_negative=self._non_negative,
            reset=reset,
        )
        return csr_matrix(X)


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, DocumentEstimator):
    """An estimator with topics: `components_` (topics × terms), and memberships of documents in them.

    A subclass gives `_learn` and `_memberships`. Memberships of a row follow from the row and the fitted
    topics alone, so a document alone, in a batch and in `fit_transform` gets the same answer.
    """

    components_: Array
    labels_: npt.NDArray[np.int64]

    @abstractmethod
    def _memberships(self, X: csr_matrix) -> Array:
        """Documents × topics for rows with columns as in the input."""

    def transform(self, X: Any) -> Array:
        """Memberships of documents in topics, one row for each document."""
        check_is_fitted(self, "components_")
        blocks = as_engine(X if isinstance(X, Engine) else self._checked(X, reset=False))
        return np.concatenate(list(blocks.map(lambda block: self._memberships(block.X))))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Array:
        """Fit, then `transform` the same documents."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """The topic each document belongs to most; the largest topic for one that belongs to none."""
        return self._strongest(self.transform(X))

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.int64]:
        """Fit, and return the topic of each document."""
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if not isinstance(X, Engine) else self.predict(X)

    def _after_fit(self, X: Any, documents: Documents) -> None:
        self.fallback_ = 0
        sizes = as_engine(documents.engine).sum(self._size_of_topics(documents))
        self.fallback_ = int(np.argmax(sizes))
        if not isinstance(X, Engine):
            self.labels_ = self.predict(X)

    def _size_of_topics(self, documents: Documents) -> Any:
        back = np.argsort(documents.columns)

        def sizes(block: Block) -> Array:
            memberships = self._memberships(block.X[:, back])
            strongest = memberships.argmax(axis=1)
            belongs = memberships.any(axis=1)
            return np.bincount(strongest[belongs], block.weights[belongs], memberships.shape[1]) * 1.0

        return sizes

    def _strongest(self, memberships: Array) -> npt.NDArray[np.int64]:
        strongest = memberships.argmax(axis=1)
        return np.where(memberships.any(axis=1), strongest, self.fallback_)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def check_weights(weights: npt.ArrayLike | None, n_rows: int) -> Array:
    """Weights of rows: ones if not given; finite and not negative."""
    if weights is None:
        return np.ones(n_rows)
    checked = np.asarray(weights, dtype=np.float64)
    if checked.ndim == 0:
        checked = np.full(n_rows, float(checked))
    if checked.shape != (n_rows,):
        raise InputError(
            f"sample_weight must have one number for each of {n_rows} rows, got shape {checked.shape}"
        )
    if not np.isfinite(checked).all() or (checked < 0).any():
        raise InputError("sample_weight must be finite and not negative")
    return checked


def check_count(name: str, value: Any, owner: object, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        kind = f"a whole number of at least {least}"
        raise InputError(f"The parameter {name!r} of {type(owner).__name__} must be {kind}, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...], owner: object) -> None:
    """One of a few values."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise InputError(
            f"The parameter {name!r} of {type(owner).__name__} must be one of {listed}, got {value!r}"
        )
