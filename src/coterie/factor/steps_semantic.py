"""One update each of the factorisations that multiply: plain, semantic, and with texts fixed or terms fixed.

`X` is texts × terms, `Z` texts × topics, `W` terms × topics, `M` terms × terms, `S` topics × topics. A
multiplicative update moves each entry by the ratio of what pulls it up (the negative part of the gradient)
to what pulls it down, so an entry that is zero stays zero and none becomes negative.

Functions here take arrays and return arrays. Texts enter the updates of terms only as sums over rows, so
these are the same in memory, from disk and in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from coterie.engines import Block

Array = npt.NDArray[np.float64]

#: A cost below this is none: the entry adds nothing to the product, and a ratio to it would be noise.
_TINY = 1e-200
#: Most rows, and most multiplications in one product, of texts that are inferred together (see `infer`).
_TOGETHER = 256
_PRODUCT = 1 << 17
#: Updates after which the memberships of a text are taken as found.
INFERENCE_STEPS = 100
#: How often an update of terms is shortened to half before it is given up.
_HALVINGS = 12


@dataclass(frozen=True)
class TextSums:
    """What texts tell about terms, summed over rows: ``XᵀZ``, ``ZᵀZ`` and ``‖X‖²``."""

    XtZ: Array
    ZtZ: Array
    squared_norm: float


@dataclass(frozen=True)
class TermFactors:
    """``W`` and ``S`` of ``M ≈ W S Wᵀ``, with the products that updates and the objective share."""

    W: Array
    S: Array
    MW: Array
    WtW: Array

    @classmethod
    def of(cls, W: Array, S: Array, M: Any) -> TermFactors:
        """With ``M W`` computed."""
        return cls(W, S, M @ W, W.T @ W)


def multiplied(factor: Array, gain: Array, cost: Array) -> Array:
    """``factor ∘ gain / cost``; zero where there is no cost.

    Without a cost an entry adds nothing to the product that it is a factor of, whatever its value: setting it
    to zero leaves the objective as it is, where a small number in the denominator could raise it.
    """
    return np.divide(factor * gain, cost, where=cost > _TINY, out=np.zeros_like(factor))


def update_texts(Z: Array, XW: Array, WtW: Array) -> Array:
    """``Z ∘ XW / Z WᵀW``: each row follows from its own row of X."""
    return multiplied(Z, XW, Z @ WtW)


def text_sums(block: Block, Z: Array) -> tuple[Array, Array]:
    """``XᵀZ`` and ``ZᵀZ`` of a block, each row as often as it occurs."""
    weighted = Z * block.weights[:, None]
    return block.X.T @ weighted, weighted.T @ Z


def move_texts(block: Block, Z: Array, terms: TermFactors) -> tuple[Array, tuple[Array, Array]]:
    """New rows of Z, and what they add to ``XᵀZ`` and ``ZᵀZ``."""
    Z = update_texts(Z, block.X @ terms.W, terms.WtW)
    return Z, text_sums(block, Z)


def squared_norm(block: Block) -> float:
    """``‖X‖²`` of a block, each row as often as it occurs."""
    return float(block.weights @ np.asarray(block.X.multiply(block.X).sum(axis=1)).ravel())


def fit_objective(sums: TextSums, W: Array, WtW: Array) -> float:
    """``½‖X − ZWᵀ‖²``, from traces: ``‖X‖² − 2 tr(WᵀXᵀZ) + tr(ZᵀZ WᵀW)``."""
    return 0.5 * (sums.squared_norm - 2.0 * float(np.sum(W * sums.XtZ)) + float(np.sum(sums.ZtZ * WtW)))


def semantic_objective(terms: TermFactors, sums: TextSums, norm_of_m: float) -> float:
    """``½‖X − ZWᵀ‖² + ½‖M − WSWᵀ‖²`` without either difference.

    The second half is ``½(‖M‖² − 2 tr(SᵀWᵀMW) + tr(Sᵀ WᵀW S WᵀW))``; `norm_of_m` is ``‖M‖²``.
    """
    linear = float(np.sum(terms.S * (terms.W.T @ terms.MW)))
    square = float(np.sum(terms.S * (terms.WtW @ terms.S @ terms.WtW)))
    return fit_objective(sums, terms.W, terms.WtW) + 0.5 * (norm_of_m - 2.0 * linear + square)


def update_terms(terms: TermFactors, sums: TextSums, exponent: float = 1.0) -> Array:
    """``W ∘ ((XᵀZ + 2MWS) / W(2S WᵀW S + ZᵀZ)) ^ exponent``; exponent 1 is the update as published."""
    gain = sums.XtZ + 2.0 * terms.MW @ terms.S
    cost = terms.W @ (2.0 * terms.S @ terms.WtW @ terms.S + sums.ZtZ)
    if exponent == 1.0:
        return multiplied(terms.W, gain, cost)
    return terms.W * multiplied(np.ones_like(gain), gain, cost) ** exponent


def update_core(terms: TermFactors) -> Array:
    """``S ∘ WᵀMW / WᵀW S WᵀW``."""
    return multiplied(terms.S, terms.W.T @ terms.MW, terms.WtW @ terms.S @ terms.WtW)


def descend_terms(terms: TermFactors, sums: TextSums, M: Any) -> TermFactors:
    """The published updates of W, then S; that of W shortened where the two would raise the objective.

    The objective is of fourth degree in W and no proof covers the full step: where associations pull hard it
    leaps over the valley. The exponent is then halved until the objective does not rise. A small enough one
    must do: along it the objective changes by ``Σ W (cost − gain) log(gain / cost) ≤ 0``. The update of S
    alone never raises it.
    """
    before = semantic_objective(terms, sums, 0.0)  # but for ‖M‖², which stays
    exponent = 1.0
    for _ in range(_HALVINGS):
        moved = TermFactors.of(update_terms(terms, sums, exponent), terms.S, M)
        moved = replace(moved, S=update_core(moved))
        if semantic_objective(moved, sums, 0.0) <= before:
            return moved
        exponent /= 2.0
    return replace(terms, S=update_core(terms))


def infer(X: csr_matrix, topics: Array, steps: int = INFERENCE_STEPS) -> Array:
    """Memberships in topics (topics × terms) at unit length: ``min ‖X − ZWᵀ‖²``, Z ≥ 0, each row on its own.

    1. Topics are brought to unit length: how they are scaled is of no matter.
    2. The start is ``XW``, the share of each topic if it were alone; what is zero there is zero at the end.
    3. `steps` updates follow.

    Rows are worked on in parts of a fixed number, padded with zeros: a text alone goes through the same
    arithmetic as in a batch and comes out the same, to the last bit. Parts stay in the cache, and are too
    small for a BLAS to deal out to threads that would wait for each other.
    """
    length = np.sqrt(np.einsum("km,km->k", topics, topics))
    unit = np.divide(topics.T, length, where=length > 0, out=np.zeros(topics.T.shape))
    gain, gram = np.asarray(X @ unit), unit.T @ unit
    together = min(max(_PRODUCT // gram.size, 8), _TOGETHER)
    solution = np.empty_like(gain)
    for start in range(0, len(gain), together):
        here = gain[start : start + together]
        part = np.zeros((together, len(topics)))
        part[: len(here)] = here
        Z = part
        for _ in range(steps):
            Z = update_texts(Z, part, gram)
        solution[start : start + len(here)] = Z[: len(here)]
    return solution
