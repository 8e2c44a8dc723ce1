"""Choose words that describe a topic: common in it, rare elsewhere, and often used together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines import Block, Engine
from coterie.semantics import cooccurrence, npmi
from coterie.weights import document_frequency

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Most terms that are named for a topic.
CANDIDATES = 40


def distinctive(shares: Array, everywhere: Array) -> Array:
    """``p(w|k) log(p(w|k) / p(w))``: what a term adds to telling the topic from the rest, topics × terms.

    Nothing tells a topic of all texts from the rest; then it is ``p(w|k)``, and the most frequent terms win.
    """
    scores: Array = shares * np.log(np.maximum(shares, 1e-300) / np.maximum(everywhere, 1e-300))
    of_all = np.abs(shares - everywhere).max(axis=1, initial=0.0) < 1e-9
    scores[of_all] = shares[of_all]
    return scores


def term_counts(block: Block, topics: npt.NDArray[np.integer[Any]], n_topics: int) -> csr_matrix:
    """Counts of terms in the texts of each topic: topics × terms. A text of topic −1 counts nowhere."""
    some = np.flatnonzero(topics >= 0)
    member = csr_matrix((block.weights[some], (topics[some], some)), shape=(n_topics, len(topics)))
    return (member @ block.X).tocsr()


def topic_words(documents: Engine, shares: Array, everywhere: Array) -> Ints:
    """Terms of each topic, the best first: topics × at most `CANDIDATES` columns of the documents.

    Of the most telling terms the first stands first; each next one is the most telling among those that
    co-occur with the ones before. A frequent word that never occurs with the others would only puzzle the
    reader.
    """
    n_best = min(CANDIDATES, shares.shape[1])
    best, scores = np.empty((len(shares), n_best), dtype=np.int64), np.empty((len(shares), n_best))
    for topic, row in enumerate(shares):  # one by one: all numbers of all topics may not fit into memory
        telling = distinctive(row[None], everywhere)[0]
        best[topic] = np.argsort(-telling, kind="stable")[:n_best]
        scores[topic] = telling[best[topic]]
    used = np.unique(best)
    inside = documents.mapped(lambda block: replace(block, X=block.X[:, used]))
    together, alone = cooccurrence(inside), document_frequency(inside)
    n_texts = documents.sum(lambda block: float(block.weights.sum()))
    columns = np.searchsorted(used, best)
    return np.stack(
        [
            row[_by_association(npmi(together[at][:, at].toarray(), alone[at], n_texts), some)]
            for row, at, some in zip(best, columns, scores, strict=True)
        ]
    )


def _by_association(association: Array, scores: Array) -> Ints:
    """An order of candidates: by score and by association with those before, in equal parts."""
    scores = scores / max(scores.max(initial=0.0), 1e-300)
    order = [0] if len(scores) else []
    left = list(range(1, len(scores)))
    met = association[0].copy() if order else np.zeros(0)
    while left:
        gain = scores[left] + met[left] / len(order)
        chosen = left.pop(int(np.argmax(gain)))
        order.append(chosen)
        met += association[chosen]
    return np.array(order, dtype=np.int64)
