"""Whether texts show more than their words dealt out at random."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags

from coterie.cluster.space import enriched_terms
from coterie.estimator import Array
from coterie.linalg.rows import unit_rows
from coterie.weights import idf

#: At or below this ratio of second singular values, texts show no more than shuffled tokens do ...
UNSTRUCTURED = 1.1
#: ... unless this many times as many of them have two words in common.
IN_COMMON = 1.5
#: With fewer distinct texts nothing can be measured.
FEWEST = 20

#: The most words, and pairs of words in a text, that are dealt out anew, and how often.
_WORDS, _PAIRS, _SHUFFLES = 60_000, 1_000_000, 2
#: Shuffles that texts with two words in common are compared with, and a count that makes up for few of them.
_MORE_SHUFFLES, _CHANCE = 8, 4.0
#: Random vectors and power iterations that find the second singular value.
_PROBES, _POWER = 32, 6


def structure_ratio(counts: csr_matrix, random: np.random.RandomState) -> float:
    """Second singular value of the enriched texts over the largest that shuffled tokens gave.

    The first one only says that texts share common words; the second is the strongest contrast among them.
    """
    counts = _affordable(counts, random)
    start = random.standard_normal((counts.shape[1], _PROBES))
    null = max(_second_value(_dealt_out(counts, random), start) for _ in range(_SHUFFLES))
    return _second_value(counts, start) / null if null > 0 else 1.0


def in_common_ratio(counts: csr_matrix, random: np.random.RandomState) -> float:
    """How many texts have two words in common, over the most that shuffled tokens gave."""
    counts = _affordable(counts, random)
    null = max(_in_common(_dealt_out(counts, random)) for _ in range(_MORE_SHUFFLES))
    return _in_common(counts) / (null + _CHANCE)


def _in_common(counts: csr_matrix) -> float:
    """Pairs of texts over all pairs of words that both have, rare words counting more."""
    present = csr_matrix((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    pairs = (present.T @ present).tocoo()
    apart, texts = pairs.row != pairs.col, present.getnnz(axis=0)
    both = pairs.data[apart]
    rare = 1 / np.sqrt(texts[pairs.row[apart]] * texts[pairs.col[apart]].astype(np.float64))
    return float((both * (both - 1) * rare).sum())


def _affordable(counts: csr_matrix, random: np.random.RandomState) -> csr_matrix:
    """As many texts, drawn at random, as the verdict has time for."""
    length = np.diff(counts.indptr).astype(np.float64)
    share = min(_WORDS / max(length.sum(), 1), _PAIRS / max((length**2).sum(), 1))
    if share >= 1:
        return counts
    n_rows = max(round(share * len(length)), FEWEST)
    return counts[np.sort(random.choice(len(length), n_rows, replace=False))]


def _dealt_out(counts: csr_matrix, random: np.random.RandomState) -> csr_matrix:
    """All tokens of the texts dealt out anew over texts of the same lengths."""
    tokens = np.repeat(counts.indices, np.rint(counts.data).astype(np.int64))
    per_row = np.add.reduceat(np.append(counts.data, 0.0), counts.indptr[:-1]) * (np.diff(counts.indptr) > 0)
    ends = np.concatenate([[0], np.cumsum(np.rint(per_row).astype(np.int64))])
    dealt = csr_matrix((np.ones(len(tokens)), random.permutation(tokens), ends), shape=counts.shape)
    dealt.sum_duplicates()
    return dealt


def _second_value(counts: csr_matrix, start: Array) -> float:
    """Second singular value of ``W P̂`` at unit row length: terms enriched by co-occurrence."""
    enriched = enriched_terms(counts, np.float64)
    texts = unit_rows((counts @ diags(idf(counts))).tocsr())
    probes = texts @ (enriched @ start)
    length = np.sqrt((probes**2).mean(axis=1))  # of a row of W P̂, as random vectors see it
    texts = (diags(np.divide(1.0, length, where=length > 0, out=np.zeros_like(length))) @ texts).tocsr()
    back, texts_back = enriched.T.tocsr(), texts.T.tocsr()
    basis = start
    for _ in range(_POWER):
        left, _ = np.linalg.qr(texts @ (enriched @ basis))
        basis, _ = np.linalg.qr(back @ (texts_back @ left))
    values = np.linalg.svd(texts @ (enriched @ basis), compute_uv=False)
    return float(values[1]) if len(values) > 1 else 0.0
