"""A vector space of texts in which words are similar if they co-occur with the same words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, eye_array, vstack

from coterie import weights as term_weights
from coterie.cluster.texts import FLOAT, Floats
from coterie.engines import Block, Engine, to_host
from coterie.engines.base import scaled_columns, scaled_rows
from coterie.engines.records import Records
from coterie.linalg.rows import row_product, unit_dense, unit_rows
from coterie.linalg.svd import leading_vectors
from coterie.progress import tell
from coterie.semantics import frequent_cooccurrence, ppmi_slices

Array = npt.NDArray[np.float64]

#: Random vectors by which lengths of enriched texts are estimated, to about 6 %.
_PROBES = 128
#: Rows of random numbers that are drawn at a time.
_ROWS = 4_096
#: Passes over the documents before the one that reads the vectors off.
_ITERATIONS = 4
#: A term in fewer texts has no co-occurrence that another text could share.
LEAST_TEXTS = 2


@dataclass(frozen=True)
class Space:
    """What turns counts into words of unit length and into vectors.

    `weights` is the idf of each term; `vectors` (terms × dimensions) is what a term adds to the direction of
    a text, its weight included.
    """

    weights: Array
    vectors: Array

    def words(self, counts: csr_matrix) -> csr_matrix:
        """Rows of weighted counts at unit length; a text with no word that counts is a row of zeros."""
        return unit_rows(scaled_columns(counts, self.weights))

    def text_vectors(self, counts: csr_matrix) -> Floats:
        """Texts × dimensions, rows of unit length. The length of an enriched text cancels out here."""
        return unit_dense(counts @ self.vectors)


def terms_that_count(documents: Engine) -> npt.NDArray[np.int64]:
    """Columns of terms whose co-occurrence counts: in more than one text, and not in all."""
    df = term_weights.document_frequency(documents)
    total = documents.sum(lambda block: float(block.weights.sum()))
    return np.flatnonzero((df >= LEAST_TEXTS) & (df < total))


def learn_space(documents: Engine, dimensions: int) -> Space:
    """Leading vectors of texts, enriched by the co-occurrence of their words.

    1. Co-occurrence in texts → PPMI → rows at unit length, plus the identity, at unit length again: `P`. A
       term is now itself and what it co-occurs with, in equal parts.
    2. `W`: idf-weighted counts at unit length. The enriched texts are ``W P``, never formed.
    3. Rows of ``W P`` at unit length, by lengths estimated from random vectors; their leading right
       singular vectors `V` by subspace iteration, one pass over the documents each.

    A text then lies in the direction of its row of ``W P V``.
    """
    idf = term_weights.idf(documents)
    enriched = enriched_terms(documents)
    documents = documents.accelerated()
    # the lengths are kept: blocks on disk are scaled anew on every pass
    scales = documents.records(FLOAT)
    _measure(documents, idf, enriched, scales)

    def scaled(block: Block) -> Block:
        return _scaled(block, idf, scales.get(block.start, block.start + block.X.shape[0]))

    texts = documents.mapped(scaled)
    across = enriched.T.tocsr()
    passes = 0

    def product(Q: Array) -> Floats:
        nonlocal passes
        tell("computing vectors", passes, _ITERATIONS + 1, "passes")
        passes += 1
        image = row_product(enriched, Q.astype(FLOAT))
        total = to_host(texts.sum(lambda block: _gram(block, image)))
        return row_product(across, total.astype(FLOAT, copy=False))

    vectors, _ = leading_vectors(product, len(idf), min(dimensions, len(idf)), _ITERATIONS)
    return Space(idf, idf[:, None] * row_product(enriched, vectors))


def _measure(documents: Engine, idf: Array, enriched: csr_matrix, scales: Records) -> None:
    """Record about 1 / length of each enriched text."""
    random, probes = np.random.RandomState(1), np.empty((len(idf), _PROBES), dtype=FLOAT)
    for start in range(0, len(idf), _ROWS):
        some = probes[start : start + _ROWS]
        some[:] = random.standard_normal(some.shape) / np.sqrt(_PROBES)
    probes = row_product(enriched, probes)

    def measure(block: Block) -> None:
        scales.put(block.start, _inverse_length(block, idf, probes))

    for _ in documents.map(measure):
        pass


def enriched_terms(documents: Any, dtype: type[np.floating[Any]] = FLOAT) -> csr_matrix:
    """Terms as themselves and what they co-occur with, in equal parts: terms × terms, sparse, unit rows."""
    enriched, start = [], 0
    for rows in ppmi_slices(frequent_cooccurrence(documents)):
        n_rows, n_terms = rows.shape
        itself = eye_array(n_rows, n_terms, k=start, format="csr")
        enriched.append(unit_rows(csr_matrix(unit_rows(rows) + itself)).astype(dtype))
        start += n_rows
    return vstack(enriched, format="csr")


def _inverse_length(block: Block, idf: Array, probes: Floats) -> Floats:
    """About 1 / length of the enriched rows of a block, 0 for a row of zeros."""
    words = scaled_columns(block.X, idf).astype(FLOAT)
    length = np.sqrt(np.einsum("ij,ij->i", image := words @ probes, image))
    known, scale = length > 0, np.zeros_like(length)
    scale[known] = 1.0 / length[known]
    return scale


def _scaled(block: Block, idf: Array, scale: Floats) -> Block:
    """Weighted counts of a block, with rows scaled."""
    words = scaled_rows(scaled_columns(block.X, idf).astype(FLOAT), scale)
    return replace(block, X=words, weights=block.weights.astype(FLOAT))


def _gram(block: Block, image: Floats) -> Floats:
    product: Floats = block.X.T @ (block.weights[:, None] * (block.X @ image))
    return product
