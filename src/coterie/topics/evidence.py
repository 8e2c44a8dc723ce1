"""Why a text is in its topic: words of it that speak for the topic, and words of the topic near to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.cluster.space import Space
from coterie.linalg.rows import unit_dense
from coterie.results import Reason

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Words named in a reason, and words of a topic that are looked at to find related ones.
_WORDS, _RELATED, _LOOKED_AT = 3, 3, 20
#: A word is named if it says at least this part of what the strongest says.
_WORTH_SAYING = 0.15
#: A word is related to a text from this cosine on.
_NEAR = 0.3


def deciding_words(speaks: csr_matrix) -> list[list[int]]:
    """The columns of each row that speak most for its topic, the strongest first.

    Only what is above zero, and not far below the strongest, is worth saying.
    """
    found: list[list[int]] = []
    for start, end in zip(speaks.indptr[:-1], speaks.indptr[1:], strict=True):
        said, columns = speaks.data[start:end], speaks.indices[start:end]
        order = np.argsort(-np.round(said, 9), kind="stable")[:_WORDS]
        least = _WORTH_SAYING * max(said[order[0]], 0.0) if len(order) else 0.0
        found.append([int(columns[i]) for i in order if said[i] > 0 and said[i] >= least])
    return found


def counted_evidence(X: csr_matrix, log_shares: Array, topics: Ints, against: Ints) -> csr_matrix:
    """What each word of a text says for its topic against another, by how often topics use it."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    ratio = log_shares[topics[row], X.indices] - log_shares[against[row], X.indices]
    return csr_matrix((X.data * ratio, X.indices, X.indptr), shape=X.shape)


def related_words(
    X: csr_matrix, directions: Array, topics: Ints, topic_terms: Sequence[Ints], space: Space
) -> list[list[int]]:
    """For each text the terms of its topic that it does not hold and whose company is the text's own."""
    found: list[list[int]] = [[] for _ in range(X.shape[0])]
    for topic in np.unique(topics):
        rows, terms = np.flatnonzero(topics == topic), topic_terms[topic][:_LOOKED_AT]
        if not len(terms):
            continue
        own = unit_dense(directions[rows][:, : space.vectors.shape[1]])  # without vectors from elsewhere
        near = own @ unit_dense(space.vectors[terms]).T
        near[X[rows][:, terms].toarray() > 0] = -1.0
        order = np.argsort(-np.round(near, 9), axis=1, kind="stable")[:, :_RELATED]
        close = np.take_along_axis(near, order, axis=1) >= _NEAR
        for row, columns, there in zip(rows, terms[order], close, strict=True):
            found[row] = columns[there].tolist()
    return found


def reasons(
    words: Sequence[Sequence[int]],
    related: Sequence[Sequence[int]],
    names: Sequence[str],
    notes: Sequence[str],
) -> tuple[Reason, ...]:
    """Reasons as people read them; where there is a note, that is the reason."""
    return tuple(
        Reason(note=note) if note else Reason(tuple(names[c] for c in own), tuple(names[c] for c in near))
        for own, near, note in zip(words, related, notes, strict=True)
    )
