"""Directions from co-occurrence and vectors from elsewhere, side by side, each with a share of the say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.space import learn_space
from coterie.cluster.texts import Floats
from coterie.engines.memory import as_engine
from coterie.errors import InputError
from coterie.linalg.rows import unit_dense

#: Axes kept of vectors from elsewhere.
_AXES = 128
#: The share of the vectors is this less the reliability of the vectors, within these bounds.
_SHARE, _LEAST_SHARE, _MOST_SHARE = 1.25, 0.3, 0.85
#: Another share that is tried: words may be a poor guide, which reliability does not show.
LARGE_SHARE = 0.8
#: Vectors that agree with reliable vectors by less are useless, by this much more are trusted in full.
_NO_AGREEMENT, _TRUSTED = 0.35, 0.10
#: Directions of this reliability cannot judge vectors at all, those with so much more can in full.
_NO_JUDGE, _JUDGE = 0.2, 0.4
#: Texts whose cosines are compared.
_COMPARED = 1_500


@dataclass(frozen=True)
class View:
    """How embeddings are transformed, and how much they count beside the text vectors.

    A vector at unit length, less `mean`, along `axes`, at unit length again.
    """

    mean: Floats
    axes: Floats
    share: float

    def check(self) -> None:
        """Whether arrays that were loaded fit each other."""
        arrays = [isinstance(a, np.ndarray) and bool(np.isfinite(a).all()) for a in (self.axes, self.mean)]
        sound = all(arrays) and self.axes.ndim == 2 and self.mean.shape == self.axes.shape[:1]
        if not sound or not isinstance(self.share, float) or not 0 < self.share < 1:
            raise InputError("embeddings do not fit the model")

    def fused(self, text_vectors: Floats, vectors: Floats) -> Floats:
        """Rows whose inner products mix both cosines by their shares."""
        own = np.sqrt(1.0 - self.share) * text_vectors
        return np.hstack([own, np.sqrt(self.share) * self.turned(vectors)])

    def turned(self, vectors: Floats) -> Floats:
        """Centred vectors along the axes that were kept, at unit length; zeros say nothing and stay zeros."""
        turned = unit_dense((unit_dense(vectors) - self.mean) @ self.axes)
        turned[~vectors.any(axis=1)] = 0
        return turned


def learn_view(counts: csr_matrix, vectors: Floats, weights: Floats, dimensions: int) -> View:
    """Centre vectors, keep their widest axes, and read from the data how much to trust them.

    1. *Reliability* of vectors: learn them from each half of the texts alone, and correlate the cosines
       that both give to the same pairs of texts. Few or scattered texts give less, and vectors then say more.
    2. *Agreement* of vectors with vectors, corrected for that reliability. Vectors of a model that does
       not know the language agree with nothing, and then say nothing. The less reliable the vectors
       are, the less agreement is asked for.
    """
    unit = unit_dense(vectors)
    heard = weights * vectors.any(axis=1)
    mean = heard @ unit / max(float(heard.sum()), 1e-30)  # which single precision has
    centred = unit - mean
    _, axes = np.linalg.eigh((centred * heard[:, None]).T @ centred)
    view = View(mean, np.ascontiguousarray(axes[:, ::-1][:, :_AXES]), 1.0)
    some = np.linspace(0, len(weights) - 1, min(len(weights), _COMPARED)).astype(int)
    halves = [_half_vectors(counts, weights, dimensions, half, some) for half in (0, 1)]
    reliability = max(_correlation(*halves), 0.0)
    turned = view.turned(vectors[some])
    agreement = np.mean([_correlation(half, turned) for half in halves]) / max(np.sqrt(reliability), 1e-9)
    return View(view.mean, view.axes, _share_of(reliability, float(agreement)))


def _share_of(reliability: float, agreement: float) -> float:
    share = np.clip(_SHARE - reliability, _LEAST_SHARE, _MOST_SHARE)
    asked = _NO_AGREEMENT * np.clip((reliability - _NO_JUDGE) / _JUDGE, 0.0, 1.0)
    return float(share * np.clip((agreement - asked) / _TRUSTED, 0.0, 1.0))


def _half_vectors(
    counts: csr_matrix, weights: Floats, dimensions: int, half: int, texts: npt.NDArray[np.int64]
) -> Floats:
    """Directions of some texts in the space that every other text gives."""
    space = learn_space(as_engine(counts[half::2], weights[half::2]), dimensions)
    vectors = space.text_vectors(counts[texts])
    return unit_dense(vectors - vectors.mean(axis=0))


def _correlation(one: Floats, other: Floats) -> float:
    """How alike two sets of vectors see pairs of texts: the correlation of their cosines."""
    if len(one) < 2:
        return 0.0
    pairs = np.triu_indices(len(one), 1)
    a, b = (one @ one.T)[pairs], (other @ other.T)[pairs]
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / size if size > 0 else 0.0
