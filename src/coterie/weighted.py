"""Term weights as a step of a scikit-learn pipeline, for methods that take their input as it is."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from coterie import weights


class IdfWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiply each term by its inverse document frequency in the texts that were fitted.

    New texts get the weights of the fitted ones, so a text alone and in a batch becomes the same row.

    Attributes
    ----------
    idf_
        ``log(N / df)`` of each term.

    >>> X = np.array([[2, 1], [1, 0]])
    >>> IdfWeights().fit_transform(X).toarray().round(3)
    array([[0.   , 0.693],
           [0.   , 0.   ]])
    """

    idf_: npt.NDArray[np.float64]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the texts that hold each term."""
        self.idf_ = weights.idf(self._checked(X, reset=True))
        return self

    def transform(self, X: Any) -> csr_matrix:
        """``X·diag(idf)``."""
        check_is_fitted(self, "idf_")
        return weights.weighted(self._checked(X, reset=False), self.idf_, "idf")

    def _checked(self, X: Any, *, reset: bool) -> csr_matrix:
        checked = validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True, reset=reset
        )
        return csr_matrix(checked)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
